"""Replay: the controller fed a session's event log gives the same commands, always."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from engine.control import events
from engine.control.controller import Controller
from engine.control.estimator import Estimator
from engine.runtime.schema1 import upgraded
from engine.runtime.session_log import SCHEMA, plain

EVENTS: dict[str, type[events.Event]] = {kind.__name__: kind for kind in get_args(events.Event)}


class ReplayError(ValueError):
    """The session cannot be replayed; the message says why."""


@dataclass(frozen=True)
class ReplayResult:
    """events and commands that were compared; difference: the first one, in words, or empty."""

    events: int
    commands: int
    difference: str = ""


def _policy(data: dict[str, Any]) -> events.Policy:
    return events.Policy(**{**data, "commit": events.Commit(data["commit"])})


def _event(name: str, data: dict[str, Any]) -> events.Event:
    values = dict(data)
    if "spans" in values:
        values["spans"] = tuple(values["spans"])
    if "policy" in values:
        values["policy"] = _policy(values["policy"])
    return EVENTS[name](**values)


def read_session(folder: Path) -> list[dict[str, Any]]:
    """The lines of `folder`/events.jsonl as schema 2 has them, the session's own first. Raises ReplayError."""
    file = folder / "events.jsonl"
    try:
        lines = [json.loads(x) for x in file.read_text(encoding="utf-8").splitlines() if x]
    except OSError as e:
        raise ReplayError(f"cannot read {file}: {e.strerror}") from e
    except ValueError as e:
        raise ReplayError(f"{file} is not a session log: {e}") from e
    if not lines or lines[0].get("kind") != "session":
        raise ReplayError(f"{file} is not a session log: its first line is no session")
    schema = lines[0].get("schema")
    if schema == 1:
        return upgraded(lines)
    if schema != SCHEMA:
        raise ReplayError(f"{file} has schema {schema}; this version reads 1 to {SCHEMA}")
    return lines


def _estimator(head: dict[str, Any]) -> Estimator:
    known = head["estimator"]
    doubt, forget_start = known.get("doubt", 0.0), known.get("forget_start", 0)
    return Estimator(known["cold"], known["quantile"], known["margin"], doubt, forget_start=forget_start)


def replay(folder: Path) -> ReplayResult:
    """Feeds the events of `folder`/events.jsonl to a fresh controller and compares every command. Raises ReplayError."""
    lines = read_session(folder)
    head = lines[0]
    estimator = _estimator(head)
    machine = Controller(_policy(head["policy"]), head["began"], 0, estimator)
    expected: list[dict[str, Any]] = []
    fed = commands = 0
    for number, line in enumerate(lines, 1):
        kind = line["kind"]
        if kind == "controller":
            if expected:
                return ReplayResult(fed, commands, f"line {number}: {expected[0]['name']} was not sent in the session")
            estimator = _estimator(head)
            policy = _policy(line["policy"])
            where = (line.get("first", 0), line.get("start", 0))
            machine = Controller(policy, line["began"], line["version"], estimator, line["first_call"], *where)
        elif kind == "event":
            if expected:
                return ReplayResult(fed, commands, f"line {number}: {expected[0]['name']} was not sent in the session")
            fed += 1
            expected += [_line(x) for x in machine.handle(_event(line["name"], line["data"]))]
        elif kind == "command":
            commands += 1
            was = {"name": line["name"], "data": line["data"]}
            now = expected.pop(0) if expected else None
            if was != now:
                return ReplayResult(fed, commands, f"line {number}: the session has {was}, the replay {now}")
    if expected:
        return ReplayResult(fed, commands, f"at the end: {expected[0]['name']} was not sent in the session")
    return ReplayResult(fed, commands)


def _line(command: events.Command) -> dict[str, Any]:
    line: dict[str, Any] = json.loads(json.dumps({"name": type(command).__name__, "data": plain(command)}))
    return line
