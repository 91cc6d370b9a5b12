"""A line: messages of bytes both ways, in order, until it is lost. What it is made of is not known here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class LineError(ConnectionError):
    """There is no line. The message says why, for a person."""


class Line(Protocol):
    """One end. From any thread; nothing here waits."""

    def send(self, data: bytes) -> None:
        """A message to the other end. Nothing happens when the line is lost: whoever hears says so."""

    def close(self) -> None:
        """Ends it, after what was sent."""


Heard = Callable[[bytes | None], None]
"""Takes each message that comes, and None when the line is lost. From any thread."""
Dial = Callable[[Heard], Line]
"""Makes a line. Waits; raises LineError."""
