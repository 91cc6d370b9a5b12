"""What is done in one case: a broken file is read, or a broken command line is run."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from tests.fuzz import files, hub

WORDS = (
    *("", " ", "0", "-1", "1", "7", "1e308", "nan", "inf", "-inf", "1e-400", "9" * 30, "²", "٣", "1_0", "0x10", "+5"),
    *(
        "x" * 5000,
        "a\x00b",
        "\ud800",
        "\x1b[31m",
        "../..",
        "/",
        "/dev/null",
        "/dev/full",
        "/proc/self/mem",
        "~nobody/x",
    ),
    *(
        "1x1",
        "0x0",
        "99999999x9",
        "2x1",
        "1,2,3",
        ",",
        "1,nan",
        "auto",
        "cuda",
        "cpu",
        "pocket",
        "wan2.1-t2v-1.3b",
        "--",
        "-",
    ),
)
RUNS = ("run", "soak", "evaluate")
"""Commands that take minutes when nothing is wrong: they get a word that is."""
NEED_TORCH = (("doctor",), ("models", "tiny"), ("models", "check"))
LEFT_OUT = (("models", "pull"), ("models", "verify"))
"""They ask the hub: `tests.fuzz.hub` is one."""


@dataclass(frozen=True)
class Case:
    """One thing to try in a process of its own. run: returns what it found; errors that a person may see are Refused or UserError."""

    name: str
    run: Callable[[Path], Any]
    lines: int = 3
    """That a person is told at most."""


def cases(seed: int, n: int, light: bool = False) -> Iterator[Case]:
    """n of them, half of each sort. light: without what needs torch."""
    r = random.Random(seed)
    documents = files.good_documents()
    if light:
        documents = {kind: x for kind, x in documents.items() if kind not in ("shards", "config")}
    media: dict[str, bytes] = {} if light else files.good_media()
    for i in range(n):
        one = random.Random(r.random())
        if i % 2:
            yield command_line(one, light)
        elif not light and one.random() < 0.1:
            yield Case(*hub.case(one), lines=hub.MOST_LINES)
        elif media and one.random() < 0.4:
            end = one.choice(list(media))
            yield binary(one, end, media[end])
        else:
            kind = one.choice([*documents, "log", "log"])
            yield Case(f"{kind} file", lambda home, kind=kind, one=one: read(one, kind, documents.get(kind), home))


def read(r: random.Random, kind: str, document: Any, home: Path) -> Any:
    """Breaks a document and reads it as the program does."""
    if kind == "log":
        from engine.runtime.replay import replay

        lines = files.good_log(home / "s")
        file = home / "s" / "events.jsonl"
        file.unlink()
        if r.random() < 0.7:
            i = r.randrange(min(len(lines), 30))
            rows = [json.dumps(x).encode() for x in lines]
            rows[i] = files.broken_text(r, lines[i])
            data = b"\n".join(rows)
        else:
            data = files.broken_bytes(r, "\n".join(map(json.dumps, lines)).encode())
        files.place(r, file, data)
        return replay(home / "s")
    file = home / {"mark": "foreland.json", "index": "model_index.json"}.get(kind, f"{kind}.json")
    if kind == "rows":
        (home / "models.d").mkdir()
        file = home / "models.d" / "rows.json"
    if kind == "shards":
        file = home / "diffusion_pytorch_model.safetensors.index.json"
    files.place(r, file, files.broken_text(r, document))
    return READERS[kind](file)


def _script(file: Path) -> Any:
    from app.cli.explore import load_script

    return load_script(file)


def _score(file: Path) -> Any:
    from engine.files import read_text
    from engine.runtime.score import parse

    return parse(read_text(file), str(file))


def _keymap(file: Path) -> Any:
    from engine.files import read_text
    from engine.runtime.keymap import load_keymap

    return load_keymap(read_text(file))


def _world(file: Path) -> Any:
    from app.storage.worlds import read_world

    return read_world(file)


def _preferences(file: Path) -> Any:
    from app.storage.preferences import load, save

    save(load(file), file.with_name("again.json"))


def _words(file: Path) -> Any:
    from engine.models.action_words import action_words

    return action_words(file)


def _folder(file: Path) -> Any:
    from engine.models.catalogue import find

    return find(str(file.parent)).spec()


def _rows(file: Path) -> Any:
    from engine.models.catalogue import read_catalogue

    found = read_catalogue()
    assert "pocket" in found.entries, "one bad file hides no other"
    for entry in found.entries.values():
        entry.spec()


def _summary(file: Path) -> Any:
    from app.storage.worlds import sessions

    folder = file.parent / "sessions" / "a"
    folder.mkdir(parents=True)
    (folder / "events.jsonl").write_text('{"model": "pocket", "prompt": "x", "seed": 1}\n')
    if not file.is_symlink() and file.is_file():
        (folder / "summary.json").write_bytes(file.read_bytes())
    assert len(sessions(file.parent)) == 1


def _shards(file: Path) -> Any:
    from engine.models.checkpoints import read_folder

    return read_folder(file.parent)


def _config(file: Path) -> Any:
    from engine.models.checkpoints import read_json

    return read_json(file)


READERS: dict[str, Callable[[Path], Any]] = {
    "script": _script,
    "score": _score,
    "keymap": _keymap,
    "world": _world,
    "preferences": _preferences,
    "words": _words,
    "mark": _folder,
    "index": _folder,
    "rows": _rows,
    "summary": _summary,
    "shards": _shards,
    "config": _config,
}


def binary(r: random.Random, end: str, data: bytes) -> Case:
    """A picture, a film, or weights."""
    broken = files.broken_bytes(r, data)

    def run(home: Path) -> Any:
        file = home / f"a{end}"
        files.place(r, file, broken)
        if end in (".safetensors", ".pt", ".pth"):
            from engine.models.checkpoints import read_file

            return read_file(file)
        from engine.models.media_files import read_start
        from tests.toy import SPEC

        return read_start(file, SPEC, 5)

    return Case(f"{end} file", run)


# -- command lines -----------------------------------------------------------------------------------------------------


def _commands() -> list[tuple[tuple[str, ...], click.Command]]:
    from app.cli.main import COMMANDS, cli

    out: list[tuple[tuple[str, ...], click.Command]] = []
    for name in COMMANDS:
        found = cli.get_command(click.Context(cli), name)
        assert found is not None
        if isinstance(found, click.Group):
            out += [((name, verb), command) for verb, command in found.commands.items()]
        else:
            out.append(((name,), found))
    return [(path, command) for path, command in out if path not in LEFT_OUT]


def command_line(r: random.Random, light: bool = False) -> Case:
    """One of the program's commands with odd values; what would run for minutes is given one more that cannot be."""
    path, command = r.choice([x for x in _commands() if not (light and x[0] in NEED_TORCH)])
    words = list(path)
    options = [p for p in command.params if isinstance(p, click.Option) and "--help" not in p.opts]
    for p in command.params:
        if isinstance(p, click.Argument):
            words.append(r.choice(WORDS))
    for p in r.sample(options, min(len(options), r.randrange(1, 5))):
        words.append(p.opts[0])
        if not p.is_flag:
            words.append(r.choice([w for w in WORDS if not (light and w == "auto")]))
    if path[0] in ("bench", "simulate", "explore", "serve", *RUNS):
        words.append(
            "--no-such-option" if r.random() < 0.05 else r.choice(("--seed=-1", "--model=", "--device=\x00", "--x"))
        )

    def run(home: Path) -> Any:
        from app.cli.main import main

        return main(words)

    return Case(" ".join(repr(w) if len(w) < 40 else f"{w[:10]!r}..." for w in words), run)
