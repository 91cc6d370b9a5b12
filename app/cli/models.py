"""`foreland models`: what can be run, getting it, checking it, and small checkpoints to try every path."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from app.cli.progress import ProgressLine
from app.storage.paths import words_file
from engine.models import hub
from engine.models.catalogue import Entry, UnknownModel, find, load_catalogue


class ModelsError(ValueError):
    """One clear line for the person."""


def add_commands(commands: Any) -> None:
    p = commands.add_parser("models", help="list, pull, verify and locate models; write small ones to try")
    verbs = p.add_subparsers(dest="verb", parser_class=type(p), required=True)
    v = verbs.add_parser("list", help="all models of the catalogue, and which are here")
    v.add_argument("--json", action="store_true", help="as JSON")
    for verb, text in (
        ("pull", "download a model"),
        ("verify", "check a pulled model"),
        ("path", "say where a pulled model is"),
    ):
        v = verbs.add_parser(verb, help=text)
        v.add_argument("name")
        if verb == "pull":
            v.add_argument("--yes", action="store_true", help="do not ask")
    v = verbs.add_parser("tiny", help="write a small random checkpoint in the published layout of a model")
    v.add_argument("name")
    v.add_argument("folder", type=Path)
    v.add_argument("--seed", type=int, default=0)
    verbs.add_parser("words", help="say what keys mean in words, and where to change it")


def run_models(args: argparse.Namespace) -> int:
    """`foreland models VERB`."""
    try:
        return {"list": _list, "pull": _pull, "verify": _verify, "path": _path, "tiny": _tiny, "words": _words}[
            args.verb
        ](args)
    except (hub.HubError, UnknownModel) as e:
        raise ModelsError(str(e)) from e


def row(entry: Entry) -> dict[str, Any]:
    """What a listing says of an entry."""
    return {
        "name": entry.name,
        "title": entry.title,
        "here": hub.here(entry),
        "repo": entry.repo,
        "licence": entry.licence,
        "about_gb": sum(p.about_gb for p in hub.parts(entry)),
        "memory_gb": entry.memory_gb,
        "fps": entry.fps,
        "window": entry.window,
        "trained": list(entry.trained),
        "steps": entry.steps,
        "history": [h.value for h in entry.history],
    }


def _list(args: argparse.Namespace) -> int:
    rows = [row(e) for e in load_catalogue().values()]
    if args.json:
        print(json.dumps(rows, indent=2))
        return 0
    print(f"{'name':<32}{'here':<6}{'download':>9}{'GPU':>7}  {'K':<8}{'history':<16}licence")
    print(f"{'pocket':<32}{'yes':<6}{'ships':>9}{'none':>7}  {'1 to 21':<8}{'clean-prefill':<16}with Foreland")
    for r in rows:
        trained = "/".join(map(str, r["trained"]))
        print(
            f"{r['name']:<32}{'yes' if r['here'] else 'no':<6}{r['about_gb']:>6.0f} GB{r['memory_gb']:>4.0f} GB  {trained:<8}"
            f"{r['history'][0]:<16}{r['licence']}"
        )
    print(
        "K: latents of a call that the weights were trained at; GPU: memory, at least. Pull: foreland models pull NAME"
    )
    return 0


def _entry(name: str) -> Entry:
    if name == "pocket":
        raise ModelsError("the pocket world ships with Foreland: there is nothing to pull")
    return find(name)


def _pull(args: argparse.Namespace) -> int:
    plan = hub.plan(_entry(args.name))
    print(f"{plan.entry.title}: {len(plan.files)} files, {hub.gb(plan.total)}, of which {hub.gb(plan.there)} are here")
    print(f"licence: {plan.licence}")
    print(f"to: {plan.folder} ({hub.gb(plan.free)} free)")
    if not args.yes:
        if not sys.stdin.isatty():
            raise ModelsError("nothing was loaded: say --yes to agree to the size and the licence")
        if input("load it? [y/N] ").strip().lower() not in ("y", "yes"):
            print("nothing was loaded")
            return 1
    line = ProgressLine()

    def report(name: str, done: int, total: int) -> bool:
        line(Path(name).name or "done", done / total if total else 1.0)
        return True

    try:
        folder = hub.pull(plan, report)
    finally:
        line.end()
    print(folder)
    return 0


def _verify(args: argparse.Namespace) -> int:
    entry = _entry(args.name)
    problems = hub.verify(hub.plan(entry))
    for problem in problems:
        print(problem)
    if problems:
        print(f"foreland models pull {entry.name} mends this")
        return 1
    print(f"{entry.name} is complete and as the hub has it")
    return 0


def _path(args: argparse.Namespace) -> int:
    print(hub.locate(_entry(args.name)))
    return 0


def _tiny(args: argparse.Namespace) -> int:
    from engine.models.wan.tiny import TinyError, write_tiny

    try:
        folder = write_tiny(args.name, args.folder, args.seed)
    except (TinyError, OSError) as e:
        raise ModelsError(str(e)) from e
    print(f"a small random {args.name}: what it shows is noise. Try: foreland explore --model {folder} --device cpu")
    print(folder.resolve())
    return 0


def _words(args: argparse.Namespace) -> int:
    from engine.models.wan.load import action_words

    file = words_file()
    try:
        table = action_words(file)
    except ValueError as e:
        raise ModelsError(str(e)) from e
    for action, text in table.items():
        print(f"{action:<12} {text}")
    print(f"change any of them in {file} ({'there' if file.exists() else 'not there yet'}), as JSON of the same form")
    return 0
