"""A line: messages of bytes both ways, in order, until it is lost. What it is made of is not known here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from engine.runtime.clock import Clock, Inbox


class LineError(ConnectionError):
    """There is no line. The message says why, for a person."""


class Line(Protocol):
    """One end. From any thread; nothing here waits."""

    def send(self, data: bytes) -> None:
        """A message to the other end. Nothing happens when the line is lost: whoever hears says so."""

    def close(self) -> None:
        """Ends it, after what was sent."""


class LineInbox(Inbox[bytes | None]):
    """What came over a line and was not taken yet. Whoever brings more than `most` bytes waits: so does, in the end, who sends it."""

    def __init__(self, clock: Clock, most: int) -> None:
        """clock: that both ends wait by."""
        super().__init__(clock)
        self._most, self._bytes, self._closed = most, 0, False

    def put(self, item: bytes | None) -> None:
        """From the thread that reads the line. Waits for room; what comes after the end is dropped."""
        with self._change:
            self._clock.wait(self._change, lambda: self._bytes < self._most or self._closed or item is None)
            if not self._closed:
                self._bytes += len(item or b"")
                super().put(item)

    def take(self) -> bytes | None:
        """The next message; None at the end of the line, and when there is none."""
        with self._change:
            item = super().take()
            self._bytes -= len(item or b"")
            self._change.notify_all()
            return item

    def close(self) -> None:
        """Nothing more is wanted: nobody waits here any longer."""
        with self._change:
            self._closed = True
            self._change.notify_all()


class Allowance:
    """What one side may send: so much at once, and so much a second. Pure: it is told the times."""

    def __init__(self, messages: float, size: float, burst: float) -> None:
        """messages: a second; size: bytes a second; burst: bytes at once."""
        self._rates, self._most = (messages, size), (messages, burst)
        self._left = list(self._most)
        self._at: float | None = None

    def take(self, size: int, now: float) -> bool:
        """Whether one more message of so many bytes is allowed now."""
        passed = 0.0 if self._at is None else max(0.0, now - self._at)
        self._at = now
        for i, spent in enumerate((1, size)):
            self._left[i] = min(self._most[i], self._left[i] + passed * self._rates[i]) - spent
        return min(self._left) >= 0


Heard = Callable[[bytes | None], None]
"""Takes each message that comes, and None when the line is lost. From any thread."""
Dial = Callable[[Heard], Line]
"""Makes a line. Waits; raises LineError."""
