"""Key scripts: what a person would do, as data, for headless runs and benchmarks."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

LONGEST_SECONDS = 24 * 3600.0


class ScriptError(ValueError):
    """A script that cannot be run; the message names the place and what is allowed."""


@dataclass(frozen=True)
class ScriptEvent:
    """t: seconds of media time. what: down, up or prompt. value: an action of the key map, or the prompt."""

    t: float
    what: str
    value: str


@dataclass(frozen=True)
class Script:
    """events: in order of time; those of one instant keep their order in the file."""

    prompt: str
    seconds: float
    events: tuple[ScriptEvent, ...]


def parse_script(text: str, keymap: Mapping[str, str]) -> Script:
    """Reads the JSON of a script. Raises ScriptError."""
    try:
        data = json.loads(text)
    except ValueError as e:
        raise ScriptError(f"the script is not JSON: {e}") from e
    if not isinstance(data, dict):
        raise ScriptError("the script must be a JSON object with prompt, seconds and events")
    unknown = set(data) - {"prompt", "seconds", "events"}
    if unknown:
        raise ScriptError(f"the script has unknown entries: {', '.join(sorted(unknown))}")
    prompt = data.get("prompt", "")
    if not isinstance(prompt, str) or not prompt.strip():
        raise ScriptError("the script's prompt must be a text that is not empty")
    seconds = _number(data.get("seconds", 12), "seconds")
    if not 0 < seconds <= LONGEST_SECONDS:
        raise ScriptError(f"seconds = {seconds:g} is out of range: more than 0, at most {LONGEST_SECONDS:g}")
    rows = data.get("events", [])
    if not isinstance(rows, list):
        raise ScriptError("events must be a list")
    events = [_event(row, i, keymap) for i, row in enumerate(rows)]
    return Script(prompt, seconds, tuple(sorted(events, key=lambda e: e.t)))


def _number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ScriptError(f"{what} must be a number")
    return float(value)


def _event(row: Any, i: int, keymap: Mapping[str, str]) -> ScriptEvent:
    where = f"event {i + 1}"
    if not isinstance(row, dict):
        raise ScriptError(f"{where} must be an object with t and either key and action, or prompt")
    t = _number(row.get("t"), f"{where}: t")
    if t < 0:
        raise ScriptError(f"{where}: t = {t:g} is negative; times begin at 0, the first shown frame")
    if set(row) == {"t", "prompt"}:
        if not isinstance(row["prompt"], str) or not row["prompt"].strip():
            raise ScriptError(f"{where}: the prompt must be a text that is not empty")
        return ScriptEvent(t, "prompt", row["prompt"])
    if set(row) == {"t", "key", "action"}:
        key, action = row["key"], row["action"]
        if key not in keymap:
            raise ScriptError(f"{where}: unknown key {key!r}; the key map has {', '.join(keymap)}")
        if action not in ("down", "up"):
            raise ScriptError(f"{where}: action {action!r} must be down or up")
        return ScriptEvent(t, action, keymap[key])
    raise ScriptError(f"{where} must have t and either key and action, or prompt; it has {', '.join(sorted(row))}")
