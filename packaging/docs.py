"""The pages of the documentation that are made from the program, and the site that is built of all pages.

python packaging/docs.py pages [FOLDER]   writes cli.md and formats.md (to docs/)
python packaging/docs.py site [FOLDER]    builds the site (to build/site), with search, for use without a network

Needs the test environment: `python packaging/dev.py test` makes it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import click

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 96
"""Columns of the command line's help."""
MADE = "<!-- made by `python packaging/docs.py pages` -->\n"

KINDS = {
    "script": (
        "Key script",
        "What is pressed and said when: `foreland explore --script FILE`. Times are seconds of media time.",
        {
            "prompt": "snowy mountains at noon",
            "seconds": 12,
            "events": [
                {"t": 1.0, "key": "D", "action": "down"},
                {"t": 3.0, "key": "D", "action": "up"},
                {"t": 5.0, "prompt": "desert at dusk"},
            ],
        },
    ),
    "score": (
        "Score",
        "Prompts with times, which the score panel (F5) opens, plays and saves.",
        [{"t": 0, "prompt": "green meadow at noon"}, {"t": 8, "prompt": "green meadow at dusk", "seconds": 4}],
    ),
    "world": (
        "World",
        "What Ctrl+S saves; it opens on the start screen and when it is dropped on the window.",
        {"name": "The pond", "prompt": "green meadow at noon", "seed": 7, "model": "pocket2"},
    ),
    "keymap": (
        "Key map",
        "Key to action, as in `assets/keymap.json`; Keys > Edit in the window makes one of your own, which the preferences hold.",
        {"W": "forward", "S": "back", "A": "turn_left", "D": "turn_right"},
    ),
    "words": (
        "What keys mean in words",
        "For models without a camera: the words that a held key adds to the prompt. `foreland models words` prints the table.",
        {"forward": "the camera moves forward"},
    ),
    "preferences": (
        "Preferences",
        "What the window remembers, written when it changes. An entry of a wrong kind is as at the first start.",
        {"theme": "dark"},
    ),
}
"""Kind of file, as `foreland schema` names it: its heading, what it is for, and an example."""


SHARED = """\
`NAME.foreland` (Ctrl+Shift+S) is a zip archive with `world.json` (a world, as above; `model` is a name, never a path),
`thumbnail.png` (PNG) and, where `begin` names it, `begin.png`, `begin.mp4` or another picture or film, or `begin.place`
(safetensors: a place of the pocket world). Other members are passed over, and no name in it is used as a path. `world.json`
may have 64 KiB, the thumbnail 16 MB and the beginning 512 MB.
"""


def cli_page() -> str:
    """The help of every command and sub-command."""
    from app.cli.main import cli

    parts = ["# Command line\n", MADE, "Every command with its options, as `foreland COMMAND --help` prints them.\n"]
    parts += [f"## {x.command_path}\n\n```text\n{x.get_help()}\n```\n" for x in contexts(cli, "foreland", None)]
    return "\n".join(parts)


def contexts(command: click.Command, name: str, parent: click.Context | None) -> list[click.Context]:
    """Of a command and of all that are below it."""
    context = click.Context(command, parent, name, terminal_width=WIDTH, **command.context_settings)
    found = [context]
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            sub = command.get_command(context, below)
            assert sub is not None
            found += contexts(sub, below, context)
    return found


def formats_page() -> str:
    """The files that a person may write, by the schemas that read them, and the session log."""
    from app.cli.schema import KINDS as SCHEMAS
    from engine.runtime import session_log

    parts = ["# Files\n", MADE]
    parts.append(
        "Every file is JSON in UTF-8. `foreland schema KIND` prints its JSON schema for editors and validators.\n"
    )
    for kind, (heading, use, example) in KINDS.items():
        SCHEMAS[kind].validate_python(example)
        parts += [f"## {heading}\n", use + "\n", f"```json\n{json.dumps(example, indent=2)}\n```\n"]
        parts.append(tables(SCHEMAS[kind].json_schema()))
    parts += ["## Shared world\n", SHARED]
    text = str(session_log.__doc__).partition("Schema version")
    parts += [
        "## Session log\n",
        f"A folder with `events.jsonl` and `summary.json`.\n\n```text\n{text[1]}{text[2].rstrip()}\n```\n",
    ]
    return "\n".join(parts)


def tables(schema: dict[str, Any]) -> str:
    """The fields of a schema and of what it refers to."""
    text = ""
    for name, part in [("", schema), *schema.get("$defs", {}).items()]:
        if "properties" not in part:
            continue
        said = part.get("description", "").partition("\n")[0]
        text += f"`{name}`: {said}\n\n" if name else ""
        text += "| field | type | default | meaning |\n| --- | --- | --- | --- |\n"
        for field, about in part["properties"].items():
            default = f"`{json.dumps(about['default'])}`" if "default" in about else ""
            default = "required" if field in part.get("required", []) else default
            meaning = about.get("description", "").replace("|", "\\|").replace("\n", " ")
            text += f"| `{field}` | {type_of(about)} | {default} | {meaning} |\n"
        text += "\n"
    return text


def type_of(about: dict[str, Any]) -> str:
    """A type of JSON schema in words."""
    if "$ref" in about:
        return f"`{about['$ref'].rpartition('/')[2]}`"
    if parts := about.get("anyOf") or about.get("oneOf"):
        return " or ".join(dict.fromkeys(type_of(x) for x in parts))
    if "enum" in about:
        return " or ".join(f"`{json.dumps(x)}`" for x in about["enum"])
    if about.get("type") == "array":
        return f"list of {type_of(about.get('items', {}))}"
    limits = [
        f"from {about['minimum']:g}" if "minimum" in about else "",
        f"to {about['maximum']:g}" if "maximum" in about else "",
    ]
    return " ".join([str(about.get("type", "any")), *filter(None, limits)])


def write_pages(folder: Path) -> None:
    for name, page in (("cli.md", cli_page), ("formats.md", formats_page)):
        (folder / name).write_text(page(), "utf-8")


def build_site(folder: Path) -> int:
    """The exit status of mkdocs, which is strict: a warning is an error."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
    return subprocess.run([*command, "-f", str(ROOT / "packaging/mkdocs.yml"), "-d", str(folder)]).returncode


def main(words: list[str]) -> int:
    if words[:1] == ["pages"] and len(words) < 3:
        write_pages(Path(words[1]) if len(words) == 2 else ROOT / "docs")
        return 0
    if words[:1] == ["site"] and len(words) < 3:
        return build_site(Path(words[1]).resolve() if len(words) == 2 else ROOT / "build/site")
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main(sys.argv[1:]))
