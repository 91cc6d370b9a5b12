"""A score: prompts with the media times at which they are said, to be played by itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

LONGEST = 24 * 3600.0
LONGEST_TRANSITION = 60.0


class ScoreError(ValueError):
    """A score that cannot be played; the message says which line and why."""


@dataclass(frozen=True)
class Line:
    """t: seconds of media time after the score began; seconds: of the transition to the prompt."""

    t: float
    prompt: str
    seconds: float = 0.0


def checked(lines: Sequence[Line]) -> list[Line]:
    """In order of time. Raises ScoreError."""
    for i, x in enumerate(lines, 1):
        if not 0 <= x.t <= LONGEST:
            raise ScoreError(f"line {i}: {x.t:g} s is out of range: 0 to {LONGEST:g}")
        if not x.prompt.strip():
            raise ScoreError(f"line {i} has no prompt")
        if not 0 <= x.seconds <= LONGEST_TRANSITION:
            raise ScoreError(f"line {i}: a transition of {x.seconds:g} s is out of range: 0 to {LONGEST_TRANSITION:g}")
    out = sorted(lines, key=lambda x: x.t)
    for a, b in pairwise(out):
        if a.t == b.t:
            raise ScoreError(f"two prompts at {a.t:g} s: {a.prompt!r} and {b.prompt!r}")
    return out


def parse(text: str) -> list[Line]:
    """From JSON: a list of {"t", "prompt", "seconds"}. Raises ScoreError."""
    try:
        data = json.loads(text)
    except ValueError as e:
        raise ScoreError(f"the score is no JSON: {e}") from e
    if not isinstance(data, list):
        raise ScoreError("a score is a JSON list of lines with t, prompt and, if wanted, seconds")
    out = []
    for i, row in enumerate(data, 1):
        if not isinstance(row, dict) or not isinstance(row.get("prompt"), str):
            raise ScoreError(f"line {i} has no prompt")
        out.append(Line(_number(row, "t", i), row["prompt"], _number(row, "seconds", i, 0.0)))
    return checked(out)


def _number(row: dict[str, Any], name: str, line: int, default: float | None = None) -> float:
    value = row.get(name, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ScoreError(f"line {line}: {name} is no number")
    return float(value)


def text_of(lines: Sequence[Line]) -> str:
    """The inverse of `parse`."""
    return (
        json.dumps([{"t": x.t, "prompt": x.prompt, "seconds": x.seconds} for x in lines], indent=1, ensure_ascii=False)
        + "\n"
    )


class Performance:
    """A score under way."""

    def __init__(self, lines: Sequence[Line], media: float) -> None:
        """media: the media time at which it begins, seconds."""
        self._left = checked(lines)
        self._began = media

    @property
    def over(self) -> bool:
        return not self._left

    def due(self, media: float) -> list[Line]:
        """Lines whose time came; each once."""
        out = []
        while self._left and self._left[0].t <= media - self._began + 1e-9:
            out.append(self._left.pop(0))
        return out

    def next_in(self, media: float) -> float | None:
        """Seconds until the next line."""
        return self._left[0].t - (media - self._began) if self._left else None
