"""Time, and waiting for it: what the engine's threads wait by, so that they run in virtual time as well."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol


class Clock(Protocol):
    """Tells the time and waits for it. Times are seconds; only differences mean something."""

    def now(self) -> float:
        """The time, which never goes back."""


class SystemClock:
    """Real time, by the machine's monotonic clock or by another one that runs at the same speed (a sound device's)."""

    def __init__(self, source: Callable[[], float] = time.monotonic) -> None:
        """source: tells the time in seconds and never goes back."""
        self._source = source

    def now(self) -> float:
        """The source's time, seconds."""
        return self._source()
