"""Replay: the controller fed a session's event log gives the same commands, always."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from engine.control import events
from engine.control.controller import Controller
from engine.control.estimator import Estimator
from engine.errors import Refused
from engine.files import FileError, read_text
from engine.runtime import schema1, schema2
from engine.runtime.log_rows import RowReader
from engine.runtime.session_log import LOG, SCHEMA, plain

log = logging.getLogger(__name__)

MOST_LOG = 1_000_000_000
"""Bytes of a log that is read: days of play."""
EVENTS: dict[str, type[events.Event]] = {kind.__name__: kind for kind in get_args(events.Event)}


class ReplayError(Refused):
    """The session cannot be replayed; the message says why."""


@dataclass(frozen=True)
class ReplayResult:
    """events and commands that were compared; difference: the first one, in words, or empty."""

    events: int
    commands: int
    difference: str = ""


FIELDS: dict[str, Callable[[Any], Any]] = {
    "spans": tuple,
    "change": events.Change,
    "why": lambda why: None if why is None else events.Hold(why),
    "policy": lambda data: _policy(data),
}
"""What JSON does not say of an event's fields."""


def _policy(data: dict[str, Any]) -> events.Policy:
    answers = tuple(data.get("answers", ()))
    return events.Policy(**{**data, "commit": events.Commit(data["commit"]), "answers": answers})


def _event(name: str, data: dict[str, Any]) -> events.Event:
    return EVENTS[name](**{k: FIELDS[k](v) if k in FIELDS else v for k, v in data.items()})


def read_session(folder: Path) -> list[dict[str, Any]]:
    """The lines of `folder`/events.jsonl as today's schema has them, the session's own first. Raises ReplayError."""
    file = folder / LOG
    lines = _lines(file)
    if not lines:
        _check_head(file, {})
    schema = lines[0]["schema"]
    try:
        if schema == 1:
            lines = schema1.upgraded(lines)
        return schema2.upgraded(lines) if schema <= 2 else lines
    except Exception as e:  # as in `replay`
        log.info("%s", file, exc_info=e)
        raise ReplayError(f"{file} is not a session log of schema {schema} ({type(e).__name__}: {_short(e)})") from e


def _lines(file: Path) -> list[dict[str, Any]]:
    """All lines but a last one that a full disk or a loss of power cut short. Raises ReplayError."""
    try:
        text = read_text(file, MOST_LOG)
    except FileError as e:
        raise ReplayError(str(e)) from e
    rows = text.split("\n")
    lines: list[dict[str, Any]] = []
    reader = RowReader()
    for number, row in enumerate(rows, 1):
        if not row.strip():
            continue
        try:
            line = json.loads(row)
        except (ValueError, RecursionError) as e:
            if number == len(rows) and lines:
                log.warning("%s: its last line is cut short and is left out", file)
                break
            raise ReplayError(f"{file} is not a session log: line {number} is not JSON ({_short(e)})") from e
        if not isinstance(line, (dict, list)) or (isinstance(line, dict) and not isinstance(line.get("kind"), str)):
            raise ReplayError(f"{file} is not a session log: line {number} is neither a row nor an object with a kind")
        try:
            line = reader.line(line)
        except Exception as e:  # as in `replay`
            log.info("%s: line %d", file, number, exc_info=e)
            raise ReplayError(f"{file}: line {number} is not a row of a session log ({_short(e)})") from e
        if not lines:
            _check_head(file, line)
        lines.append(line)
    return lines


def _check_head(file: Path, line: dict[str, Any]) -> None:
    """Whether a log that begins so can be read: before its rows are, which another schema may have others of."""
    if line.get("kind") != "session":
        raise ReplayError(f"{file} is not a session log: its first line is not a session")
    schema = line.get("schema")
    if not isinstance(schema, int) or not 1 <= schema <= SCHEMA:
        raise ReplayError(f"{file} has schema {schema!r:.40}; this version reads 1 to {SCHEMA}")


def _short(error: BaseException) -> str:
    return (str(error) or type(error).__name__)[:200]


def _estimator(head: dict[str, Any]) -> Estimator:
    known = head["estimator"]
    doubt, forget_start = known.get("doubt", 0.0), known.get("forget_start", 0)
    rule = known.get("rule", 1)
    return Estimator(known["cold"], known["quantile"], known["margin"], doubt, forget_start=forget_start, rule=rule)


def replay(folder: Path) -> ReplayResult:
    """Feeds the events of `folder`/events.jsonl to a fresh controller and compares every command. Raises ReplayError."""
    lines = read_session(folder)
    at = [1]
    try:
        return _replayed(lines, at)
    except Exception as e:
        # a line of another program, or one that was changed by hand: its values may be of any kind, and impossible in any way
        log.info("%s: line %d", folder, at[0], exc_info=e)
        words = f"{type(e).__name__}: {_short(e)}"
        raise ReplayError(f"{folder / LOG}: line {at[0]} is not one of a session's ({words})") from e


def _replayed(lines: list[dict[str, Any]], at: list[int]) -> ReplayResult:
    """at: is kept at the line that is read."""
    head = lines[0]
    estimator = _estimator(head)
    machine = Controller(_policy(head["policy"]), head["began"], 0, estimator)
    expected: list[dict[str, Any]] = []
    fed = commands = 0
    for number, line in enumerate(lines, 1):
        at[0] = number
        kind = line["kind"]
        if kind == "controller":
            if expected:
                return ReplayResult(fed, commands, f"line {number}: {expected[0]['name']} was not sent in the session")
            if head["schema"] <= 2:
                estimator = _estimator(head)  # each world of a session measured for itself
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
