"""A score: prompts with the media times at which they are said, to be played by itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

from pydantic import Field, TypeAdapter

from engine.documents import DocumentError, OpenDocument, Text, read_document

LONGEST = 24 * 3600.0
LONGEST_TRANSITION = 60.0


class ScoreError(DocumentError):
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


class LineEntry(OpenDocument):
    """A line of a score as it is in a file."""

    t: Annotated[float, Field(ge=0, le=LONGEST)]
    """Seconds of media time after the score began."""
    prompt: Text
    seconds: Annotated[float, Field(ge=0, le=LONGEST_TRANSITION)] = 0.0
    """Of the transition to the prompt."""


SCORE_FILE = TypeAdapter(list[LineEntry])


def parse(text: str, name: str = "the score") -> list[Line]:
    """From JSON: a list of {"t", "prompt", "seconds"}; `name` is the file's in errors. Raises ScoreError."""
    try:
        entries = read_document(SCORE_FILE, text, name)
    except DocumentError as e:
        raise ScoreError(str(e)) from e
    return checked([Line(x.t, x.prompt, x.seconds) for x in entries])


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
