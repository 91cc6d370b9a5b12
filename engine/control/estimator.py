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
    _first: dict[int, deque[float]] = field(default_factory=dict)
    _cache: dict[int, float] = field(default_factory=dict)

    def saw_first(self, window: int, seconds: float) -> None:
        """A call of `window` latents took `seconds` to its first deliverable group."""
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
        if window in self._first:
            values = sorted(self._first[window])
            high = values[min(len(values) - 1, int(self.quantile * len(values)))]
            return high * (1 + self.doubt / len(values))
        if not self._first:
            return self.cold
        near = min(self._first, key=lambda k: abs(k - window))
        return self._estimate(near) * max(1.0, window / near)
