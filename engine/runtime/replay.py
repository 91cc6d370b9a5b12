"""Replay: the controller fed a session's event log gives the same commands, always."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from engine.control import controller as c
from engine.control.estimator import Estimator
from engine.runtime.session_log import SCHEMA, plain

EVENTS: dict[str, type] = {
    k.__name__: k for k in (c.Update, c.InputsReady, c.InputsRejected, c.GroupsReady, c.Finish, c.Tick, c.Wake)
}


class ReplayError(ValueError):
    """The session cannot be replayed; the message says why."""


@dataclass(frozen=True)
class ReplayResult:
    """events and commands that were compared; difference: the first one, in words, or empty."""

    events: int
    commands: int
    difference: str = ""


def _policy(data: dict[str, Any]) -> c.Policy:
    return c.Policy(**{**data, "commit": c.Commit(data["commit"])})


def _event(name: str, data: dict[str, Any]) -> c.Event:
    kind = EVENTS[name]
    values = {f.name: data[f.name] for f in fields(kind)}
    if kind is c.GroupsReady:
        values["spans"] = tuple(values["spans"])
    if kind is c.Wake:
        values["cause"] = c.Cause(values["cause"])
        values["policy"] = None if values["policy"] is None else _policy(values["policy"])
    event: c.Event = kind(**values)
    return event


def read_session(folder: Path) -> list[dict[str, Any]]:
    """The lines of `folder`/events.jsonl, the session's own first. Raises ReplayError."""
    file = folder / "events.jsonl"
    try:
        lines = [json.loads(x) for x in file.read_text(encoding="utf-8").splitlines() if x]
    except OSError as e:
        raise ReplayError(f"cannot read {file}: {e.strerror}") from e
    except ValueError as e:
        raise ReplayError(f"{file} is not a session log: {e}") from e
    if not lines or lines[0].get("kind") != "session":
        raise ReplayError(f"{file} is not a session log: its first line is no session")
    if lines[0].get("schema") != SCHEMA:
        raise ReplayError(f"{file} has schema {lines[0].get('schema')}; this version reads {SCHEMA}")
    return lines


def replay(folder: Path) -> ReplayResult:
    """Feeds the events of `folder`/events.jsonl to a fresh controller and compares every command. Raises ReplayError."""
    lines = read_session(folder)
    head = lines[0]
    known = head["estimator"]
    estimator = Estimator(known["cold"], known["quantile"], known["margin"], known.get("doubt", 0.0))
    machine = c.Controller(_policy(head["policy"]), head["began"], 0, estimator)
    expected: list[dict[str, Any]] = []
    events = commands = 0
    for number, line in enumerate(lines, 1):
        kind = line["kind"]
        if kind == "controller":
            if expected:
                return ReplayResult(
                    events, commands, f"line {number}: {expected[0]['name']} was not sent in the session"
                )
            estimator = Estimator(known["cold"], known["quantile"], known["margin"], known.get("doubt", 0.0))
            policy = _policy(line["policy"])
            where = (line.get("first", 0), line.get("start", 0))
            machine = c.Controller(policy, line["began"], line["version"], estimator, line["first_call"], *where)
        elif kind == "close":
            expected += [_line(x) for x in machine.close(line["closed"])]
        elif kind == "event":
            if expected:
                return ReplayResult(
                    events, commands, f"line {number}: {expected[0]['name']} was not sent in the session"
                )
            events += 1
            expected += [_line(x) for x in machine.handle(_event(line["name"], line["data"]))]
        elif kind == "command":
            commands += 1
            was = {"name": line["name"], "data": line["data"]}
            now = expected.pop(0) if expected else None
            if was != now:
                return ReplayResult(events, commands, f"line {number}: the session has {was}, the replay {now}")
    if expected:
        return ReplayResult(events, commands, f"at the end: {expected[0]['name']} was not sent in the session")
    return ReplayResult(events, commands)


def _line(command: c.Command) -> dict[str, Any]:
    line: dict[str, Any] = json.loads(json.dumps({"name": type(command).__name__, "data": plain(command)}))
    return line
