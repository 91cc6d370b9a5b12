"""Estimates of C, the time from a call's launch to its first deliverable group, from measured calls."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field


@dataclass
class Estimator:
    """A high quantile of the last calls, by window length. A length that was never measured borrows from its neighbours."""

    cold: float = 1.0
    """Seconds assumed before anything was measured."""
    quantile: float = 0.9
    """Of the kept measurements: one call in ten may take longer and is covered by the margin. [ours]"""
    margin: float = 0.05
    """Seconds added to the estimate to give the lead: about one frame at 16 fps. [ours]"""
    doubt: float = 0.0
    """Share that is added while there is one measurement, half of it with two, and so on: a session's first call has no
    history and is shorter than the next."""
    keep: int = 32
    """Measurements kept for each length: a few minutes of calls, so that the estimate follows the machine. [ours]"""
    forget_start: int = 0
    """The first call of a world is left out once so many others were measured: it makes a whole place and has no history. 0: never."""
    _first: dict[int, deque[float]] = field(default_factory=dict)
    _start: dict[int, float] = field(default_factory=dict)
    _cache: dict[int, float] = field(default_factory=dict)

    def saw_first(self, window: int, seconds: float, start: bool = False) -> None:
        """A call of `window` latents took `seconds` to its first deliverable group. start: it was the first of a world."""
        if start and self.forget_start:
            self._start[window] = seconds
        else:
            self._first.setdefault(window, deque(maxlen=self.keep)).append(seconds)
        self._cache.clear()

    def first(self, window: int) -> float:
        """Seconds from launch to the first deliverable group of a call of `window` latents."""
        known = self._cache.get(window)
        if known is None:
            known = self._cache[window] = self._estimate(window)
        return known

    def lead(self, window: int) -> float:
        """Seconds before a deadline at which a call of `window` latents has to start."""
        return self.first(window) + self.margin

    def _estimate(self, window: int) -> float:
        values = sorted(self._measured(window))
        if values:
            high = values[min(len(values) - 1, int(self.quantile * len(values)))]
            return high * (1 + self.doubt / len(values))
        known = [*self._first, *self._start]
        if not known:
            return self.cold
        near = min(known, key=lambda k: abs(k - window))
        return self._estimate(near) * max(1.0, window / near)

    def _measured(self, window: int) -> list[float]:
        values = list(self._first.get(window, ()))
        if len(values) < self.forget_start and window in self._start:
            values.append(self._start[window])
        return values
