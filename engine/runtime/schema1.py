"""Session logs of schema 1 (Foreland 0.1 and 0.2) in the words of schema 2: the same session, so it replays and regenerates.

What differs: events and commands had other names; `Wake` was four events in one; a closed controller was a line of its own;
a new world and a rewind were notes that their text told apart; what a person did was not recorded.
"""

from __future__ import annotations

from typing import Any

EVENTS = {"Update": "ConditionChanged", "Finish": "RequestFinished", "Tick": "GroupStarted"}
COMMANDS = {"SetWake": "SetTimer", "Report": "Notice"}
WAKES = {"timer": "TimerFired", "hold": "PlaybackHeld", "release": "PlaybackReleased"}


def upgraded(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The lines of a schema-1 log, in the same order, as schema 2 has them; the session's line keeps its own number."""
    return [_line(x) for x in lines]


def _line(line: dict[str, Any]) -> dict[str, Any]:
    kind = line["kind"]
    if kind == "event":
        return {**line, **_event(line["name"], line["data"])}
    if kind == "command":
        return {**line, **_command(line["name"], line["data"])}
    if kind == "close":
        rest = {k: v for k, v in line.items() if k != "closed"}
        return {**rest, "kind": "event", "name": "SessionClosed", "data": {"at": line["closed"]}}
    if kind == "state":
        rest = {k: v for k, v in line.items() if k != "job"}
        return {**rest, "in_flight": line["job"]}
    if kind in ("session", "controller"):
        return {**line, "policy": _policy(line["policy"])}
    if kind == "note" and line["text"] == "reset":
        rest = {k: v for k, v in line.items() if k not in ("text", "begin")}
        return {**rest, "kind": "reset", "start": line.get("begin")}
    if kind == "note" and line["text"] == "rewind":
        return {k: v for k, v in line.items() if k != "text"} | {"kind": "rewind"}
    return line


def _policy(data: dict[str, Any]) -> dict[str, Any]:
    rest = {k: v for k, v in data.items() if k != "offset"}
    return {**rest, "phase_offset": data["offset"], "block": 1}


def _event(name: str, data: dict[str, Any]) -> dict[str, Any]:
    if name != "Wake":
        return {"name": EVENTS.get(name, name), "data": data}
    if data["cause"] == "policy":
        return {"name": "PolicyChanged", "data": {"at": data["at"], "policy": _policy(data["policy"])}}
    return {"name": WAKES[data["cause"]], "data": {"at": data["at"]}}


def _command(name: str, data: dict[str, Any]) -> dict[str, Any]:
    if name == "Revoke" and data["reason"] == "reset":
        data = {**data, "reason": "closed"}
    return {"name": COMMANDS.get(name, name), "data": data}
