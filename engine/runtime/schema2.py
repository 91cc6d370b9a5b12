"""Session logs of schema 2 in the words of today's: the same session, so it replays and regenerates.

What differs: policies had one limit for every call and no rest after failures; a receipt counted pauses as latency; a new world
"from what the model starts from by itself" was logged like one from what the last one did; a call began where it was launched.
"""

from __future__ import annotations

from typing import Any

POLICY = {"patience": 0.0, "retry_after": 0.0}


def upgraded(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The lines of a schema-2 log, in the same order; the session's line keeps its own number."""
    return [_line(x) for x in lines]


def _line(line: dict[str, Any]) -> dict[str, Any]:
    kind, name = line["kind"], line.get("name")
    if kind in ("session", "controller"):
        return {**line, "policy": {**line["policy"], **POLICY}}
    if kind == "event" and name == "PolicyChanged":
        data = line["data"]
        return {**line, "data": {**data, "policy": {**data["policy"], **POLICY}}}
    if kind == "command" and name == "Receipt":
        return {**line, "data": {**line["data"], "paused": 0.0}}
    if kind == "reset" and line["start"] is not None:
        return {**line, "start": {"path": line["start"]}}
    return line
