"""Estimates of C (to the first deliverable group) and of a whole call, from measured calls."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field


@dataclass
class Estimator:
    """High quantiles of the last calls, by window length.

    cold: seconds assumed before anything was measured. quantile: of the kept measurements. margin: seconds added to
    the first-group estimate to give the lead. doubt: share that is added while there is one measurement, half of it with
    two, and so on: a session's first call has no history and is shorter than the next. A window length that was never
    measured borrows from its neighbours.
    """

    cold: float = 1.0
    quantile: float = 0.9
    margin: float = 0.05
    doubt: float = 0.0
    keep: int = 32
    _first: dict[int, deque[float]] = field(default_factory=dict)
    _call: dict[int, deque[float]] = field(default_factory=dict)
    _cache: dict[int, float] = field(default_factory=dict)

    def saw_first(self, window: int, seconds: float) -> None:
        self._first.setdefault(window, deque(maxlen=self.keep)).append(seconds)
        self._cache.clear()

    def saw_call(self, window: int, seconds: float) -> None:
        self._call.setdefault(window, deque(maxlen=self.keep)).append(seconds)

    def first(self, window: int) -> float:
        """Seconds from launch to the first deliverable group of a call of `window` latents."""
        known = self._cache.get(window)
        if known is None:
            known = self._cache[window] = self._of(self._first, window)
        return known

    def call(self, window: int) -> float:
        """Seconds that a call of `window` latents holds its worker."""
        return self._of(self._call, window)

    def lead(self, window: int) -> float:
        return self.first(window) + self.margin

    def _of(self, table: dict[int, deque[float]], window: int) -> float:
        if window in table:
            values = sorted(table[window])
            high = values[min(len(values) - 1, int(self.quantile * len(values)))]
            return high * (1 + self.doubt / len(values))
        if not table:
            return self.cold
        near = min(table, key=lambda k: abs(k - window))
        scale = max(1.0, window / near)
        return self._of(table, near) * scale
