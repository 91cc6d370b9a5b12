"""Every command line in README, docs and help is one that the program understands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import click
import pytest

from app.cli.main import cli
from engine.runtime.keymap import load_keymap
from engine.runtime.script import parse_script

ROOT = Path(__file__).resolve().parents[3]
FILES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "assets" / "help").glob("*.md"))]
PLACEHOLDERS = {"N": "2", "S": "1.5", "K": "7", "COMMAND": "doctor", "VERB": "list", "KIND": "script"}
"""Words that stand for a number or a name; DIR, FILE and NAME are read as they are."""


def command_lines(text: str) -> Iterator[str]:
    """What follows `foreland` in a block of code or between backticks, to the end of the command."""
    for block in re.findall(r"^```\w*\n(.*?)^```", text, re.M | re.S):
        for line in block.splitlines():
            for part in re.split(r"\s#|&&|\s\|\s", line):
                if found := re.match(r"\s*(?:python packaging/dev\.py )?(foreland .*\S)", part):
                    yield found[1]
    for code in re.findall(r"(?<!`)`([^`]+)`(?!`)", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)):
        code = " ".join(code.split())
        if code.startswith("foreland "):
            yield code


def expanded(line: str) -> list[list[str]]:
    """Placeholders replaced, what is in brackets said; of `a|b|c` a command line each."""
    words = shlex.split(line.replace("[", "").replace("]", "").replace("...", ""))[1:]
    return [[PLACEHOLDERS.get(w, w) for w in chosen] for chosen in product(*(w.split("|") for w in words))]


def understood(words: list[str]) -> None:
    """Parses as the program would, and runs nothing. Raises ClickException."""
    command: click.Command = cli
    parent: click.Context | None = None
    name = "foreland"
    while True:
        try:
            context = command.make_context(name, words, parent=parent)
        except click.exceptions.Exit:
            return  # --help, --version
        if not isinstance(command, click.Group):
            return
        found, sub, words = command.resolve_command(context, [*context._protected_args, *context.args])
        assert sub is not None and found is not None
        name, command, parent = found, sub, context


LINES = [(file.relative_to(ROOT), line) for file in FILES for line in command_lines(file.read_text("utf-8"))]


@pytest.mark.parametrize(("file", "line"), LINES, ids=[f"{f}: {x}" for f, x in LINES])
def test_the_command_line_is_understood(file: Path, line: str) -> None:
    for words in expanded(line):
        understood(words)


def options(command: click.Command, context: click.Context) -> Iterator[str]:
    """All options of a command and of those below it."""
    for parameter in command.get_params(context):
        yield from (*parameter.opts, *parameter.secondary_opts)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from options(below, context)


def test_every_option_that_is_named_exists() -> None:
    known = set(options(cli, click.Context(cli)))
    named = {(file.name, x) for file in FILES for x in re.findall(r"`(--[a-z-]+)", file.read_text("utf-8"))}
    assert len(named) > 10
    assert not [(file, x) for file, x in named if x not in known]


def test_the_scripts_that_are_shown_can_be_played() -> None:
    blocks = [x for file in FILES for x in re.findall(r"```json\n(.*?)```", file.read_text("utf-8"), re.S)]
    shown = [x for x in blocks if '"events"' in x]
    assert shown
    for text in shown:
        assert parse_script(text, load_keymap()).events


def test_the_lines_are_found_and_wrong_ones_are_refused() -> None:
    text = (
        "```\nforeland explore --seconds S && foreland doctor  # why\n```\nsay `foreland\nreplay DIR`, not `foreland`"
    )
    assert list(command_lines(text)) == ["foreland explore --seconds S", "foreland doctor", "foreland replay DIR"]
    assert expanded("foreland bench a|b [--n N]") == [["bench", "a", "--n", "2"], ["bench", "b", "--n", "2"]]
    assert len(LINES) > 40
    for line in ("foreland dance", "foreland explore --sede 1", "foreland bench serve --rate fast", "foreland replay"):
        with pytest.raises(click.ClickException):
            understood(expanded(line)[0])
