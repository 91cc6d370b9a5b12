"""Estimates of C, the time from a call's launch to its first deliverable group, and of a group's decode, from measured ones."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

FIXED = 0.25
"""Share of a call's time that does not shrink with its latents or steps: one that was never measured is not taken for shorter
than that. By the paper's forwards a third of K takes 0.26 to 0.38 of the time, on one GPU and on eight. [ours]"""
BEFORE_HISTORY = 2.0
"""A world's first call has no history to attend to; until another was measured, later ones are taken for so much longer. [ours]"""
DECODES = 16
"""Measured decodes that are kept: some seconds of groups."""


class Work(NamedTuple):
    """What a call's time depends on, as far as the controller knows: latents, denoising steps, whether it is the first one
    under other words, and the history policy."""

    window: int
    steps: int = 0
    edit: bool = False
    history: str = ""

    def scale(self, other: Work) -> float:
        """By how much it takes longer than another one, in steps and latents; careful in both directions."""
        out = _scale(self.window / other.window)
        return out * _scale(self.steps / other.steps) if self.steps and other.steps else out

    def distance(self, other: Work) -> tuple[bool, float, float, bool]:
        """How unlike another one it is."""
        steps = abs(math.log(self.steps / other.steps)) if self.steps and other.steps else 0.0
        return self.history != other.history, steps, abs(self.window - other.window), self.edit is not other.edit


def _scale(ratio: float) -> float:
    return ratio if ratio >= 1 else FIXED + (1 - FIXED) * ratio


@dataclass
class Estimator:
    """A high quantile of the last calls of the same kind. A kind that was never measured borrows from its neighbours."""

    cold: float = 1.0
    """Seconds assumed before anything was measured."""
    quantile: float = 0.9
    """Of the kept measurements: what takes longer is covered by the margin, or late. [ours]"""
    margin: float = 0.05
    """Seconds added to the estimate to give the lead: about one frame at 16 fps. [ours]"""
    doubt: float = 0.0
    """Share that is added while there is one measurement, half of it with two, and so on."""
    keep: int = 32
    """Measurements kept of each kind: a few minutes of calls, so that the estimate follows the machine. [ours]"""
    forget_start: int = 0
    """The first call of a world is left out once so many others were measured: it makes a whole place and has no history. 0: never."""
    rule: int = 3
    """1: as in logs before schema 3. Of ten calls or fewer the slowest counts, so that one slow call among them is believed
    for as long, and nothing is taken for shorter than what was measured. 2: as in logs of schema 3: nobody was careful."""
    _first: dict[Work, deque[float]] = field(default_factory=dict)
    _start: dict[Work, float] = field(default_factory=dict)
    _cache: dict[tuple[Work, bool], float] = field(default_factory=dict)
    _decodes: deque[float] = field(default_factory=lambda: deque(maxlen=DECODES))
    _decode: float = 0.0

    def saw_first(self, work: Work, seconds: float, start: bool = False) -> None:
        """Such a call took `seconds` to its first deliverable group. start: it was the first of a world."""
        if start and self.forget_start:
            self._start[work] = seconds
        else:
            self._first.setdefault(work, deque(maxlen=self.keep)).append(seconds)
        self._cache.clear()

    def saw_decode(self, seconds: float) -> None:
        """The frames of one group took `seconds`."""
        self._decodes.append(seconds)
        self._decode = self._high(sorted(self._decodes))

    @property
    def decode(self) -> float:
        """Seconds that the frames of a group take; 0 before any were measured."""
        return self._decode

    def first(self, work: Work, careful: bool = False) -> float:
        """Seconds from launch to the first deliverable group of such a call. careful: for what has to be in time; a kind that was
        never measured is then not taken for quicker than its neighbour."""
        careful = careful and self.rule > 2
        known = self._cache.get((work, careful))
        if known is None:
            known = self._cache[work, careful] = self._estimate(work, careful)
        return known

    def lead(self, work: Work) -> float:
        """Seconds before a deadline at which such a call has to start."""
        return self.first(work, careful=True) + self.margin

    def _estimate(self, work: Work, careful: bool) -> float:
        values = sorted(self._measured(work))
        if values:
            return self._high(values) * (1 + self.doubt / len(values))
        if self.rule > 1 and work in self._start:
            return max(self.cold, self._start[work] * BEFORE_HISTORY)
        known = [*self._first, *self._start]
        if not known:
            return self.cold
        near = min(known, key=work.distance)
        scale = work.scale(near) if self.rule > 1 else work.window / near.window
        return self._estimate(near, careful) * (max(1.0, scale) if careful or self.rule == 1 else scale)

    def _high(self, values: list[float]) -> float:
        """The quantile of sorted values. One slow call of three or more is left out, until there are two."""
        n = len(values)
        if self.rule == 1:
            return values[min(n - 1, int(self.quantile * n))]
        return values[int(self.quantile * (n - 1))] if n > 2 else values[-1]

    def _measured(self, work: Work) -> list[float]:
        values = list(self._first.get(work, ()))
        if self.rule == 1 and len(values) < self.forget_start and work in self._start:
            values.append(self._start[work])
        return values
