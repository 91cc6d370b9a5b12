"""How both ends keep up with the line: how good the pictures are, how long the client waits before it shows them.

Pure: every call is told the times.
"""

from __future__ import annotations

import math
from collections import deque

CRFS = (23, 26, 29, 33, 37)
"""x264's, best first: each step is some 30 % fewer bits."""
LATE, EARLY = 0.5, 0.15
"""Groups' lengths by which an arrival is later than the best one: above the first pictures become coarser, below the second finer."""
WORSE_AFTER, BETTER_AFTER = 1.0, 6.0
"""Seconds between two changes to coarser and to finer pictures."""
UNDER_WAY = 2
"""Groups that may wait, beyond those that the line's own delay holds."""
REMEMBERED = 240
"""Arrivals that the best one is taken of."""


class Uplink:
    """The server's: what it sent and the client has not said to have. Times are of one clock."""

    def __init__(self, group_seconds: float) -> None:
        """group_seconds: of media in a group."""
        self._group = group_seconds
        self._sent: dict[int, float] = {}
        self._trips: deque[float] = deque(maxlen=REMEMBERED)
        self._level = 0
        self._changed = -math.inf

    def sent(self, index: int, now: float) -> None:
        """A group went out."""
        self._sent[index] = now

    def got(self, index: int, now: float) -> None:
        """The client has all groups up to this one."""
        at = self._sent.get(index)
        self._sent = {i: t for i, t in self._sent.items() if i > index}
        if at is None:
            return
        trip = now - at
        self._trips.append(trip)
        late = trip - min(self._trips)
        if late > LATE * self._group and now - self._changed > WORSE_AFTER:
            self._set(self._level + 1, now)
        elif late < EARLY * self._group and now - self._changed > BETTER_AFTER:
            self._set(self._level - 1, now)

    def lost(self) -> None:
        """The line was lost: what was measured on it says nothing of the next."""
        self._sent.clear()
        self._trips.clear()

    def _set(self, level: int, now: float) -> None:
        level = min(max(level, 0), len(CRFS) - 1)
        self._level, self._changed = level, now

    @property
    def crf(self) -> int:
        """That pictures are to be encoded with now."""
        return CRFS[self._level]

    @property
    def full(self) -> bool:
        """Whether another group would only wait."""
        delay = min(self._trips, default=0.0)
        return len(self._sent) >= UNDER_WAY + math.ceil(delay / self._group)


FIRST_DELAY = 0.05
"""Seconds that the first group of a world waits before it is shown, for the next ones to be in time."""
SPARE = 0.03
"""Seconds before its time that the latest group should come."""
FASTEST = 0.03
"""Share by which playing is faster than the media while there is too much delay."""
LOOKED_AT = 16
"""Groups of which the latest one counts."""


class Playout:
    """The client's: how much later than they come pictures are shown. A stall adds delay by itself; this takes it away again."""

    def __init__(self, group_seconds: float) -> None:
        """group_seconds: of media in a group."""
        self._group = group_seconds
        self._margins: deque[float] = deque(maxlen=LOOKED_AT)

    def arrived(self, margin: float | None) -> float:
        """A group came so many seconds before it was due; None: while nothing plays. Returns by how many seconds what plays is to
        be earlier."""
        if margin is None:
            self._margins.clear()
            return 0.0
        self._margins.append(margin)
        if len(self._margins) < LOOKED_AT:
            return 0.0
        by = min(min(self._margins) - SPARE, FASTEST * self._group)
        if by <= 0:
            return 0.0
        self._margins = deque((m - by for m in self._margins), LOOKED_AT)
        return by


class RemoteClock:
    """What the other side's clock says, from questions and answers. The answer that came back fastest counts."""

    def __init__(self) -> None:
        self._answers: deque[tuple[float, float]] = deque(maxlen=30)

    def answered(self, sent: float, there: float, now: float) -> None:
        """Asked at `sent`, answered at `there` of the other clock, heard at `now`."""
        self._answers.append((now - sent, there - (sent + now) / 2))

    @property
    def offset(self) -> float:
        """Seconds that the other clock is ahead; 0 before the first answer."""
        return min(self._answers)[1] if self._answers else 0.0

    @property
    def trip(self) -> float | None:
        """Seconds there and back at best; None before the first answer."""
        return min(self._answers)[0] if self._answers else None
