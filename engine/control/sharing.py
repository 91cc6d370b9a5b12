"""Who of several worlds gets the one sampler next.

Calls are granted, not queued: a world says what it wants (`Want`), and only when it is granted does it choose its branch and revoke
predictions, by what is true then. A call that waited in a queue would have locked and revoked too early, and what was revoked would be
missing while it waits.

Earliest deadline first: a refill that cannot wait for one more call of somebody else comes first; then updates, oldest first; then other
refills, by their last moment. Fair: updates of who used more than a tenth beyond their share of the last seconds come after everybody
else's, so that who plays the keys like a piano makes only himself wait. Simulated before it was written: `foreland simulate --people`.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from engine.control.controller import Want
from engine.control.events import Reason

REMEMBERED = 20.0
"""Seconds over which shares are counted."""
FAIR = 1.1
"""Share of the sampler, in equal parts, above which updates wait for those of others."""
MOST_AHEAD = 3
"""Calls of others that a refill is asked for ahead of, at most."""
FULL = 0.9
"""Share of the time that the sampler may be busy before nobody else is let in."""
KEPT_CALLS = 32


@dataclass(slots=True)
class _Person:
    want: Want | None = None
    since: float = 0.0
    """When it began to want something."""


class Slot:
    """The sampler. Pure: it is told the times, seconds of one clock."""

    def __init__(self, call: float = 0.0) -> None:
        """call: seconds that a call takes, where that is known before one was seen."""
        self._call = call
        self._people: dict[int, _Person] = {}
        self._used: deque[tuple[int, float, float]] = deque()
        """Who held it, from when to when."""
        self._calls: deque[float] = deque(maxlen=KEPT_CALLS)
        self._holder: int | None = None
        self._granted_at = 0.0

    @property
    def people(self) -> int:
        """Worlds that share it."""
        return len(self._people)

    @property
    def holder(self) -> int | None:
        """Whose call is under way."""
        return self._holder

    @property
    def call(self) -> float:
        """Seconds that a call takes: what three of four of the last ones did not exceed."""
        return sorted(self._calls)[int(0.75 * (len(self._calls) - 1))] if self._calls else self._call

    @property
    def wait(self) -> float:
        """Seconds that others may hold it when a refill is due."""
        return min(self.people - 1, MOST_AHEAD) * self.call

    def join(self, who: int) -> None:
        """Another world."""
        self._people[who] = _Person()

    def leave(self, who: int, now: float) -> None:
        """A world is over."""
        if self._holder == who:
            self.done(now)
        self._people.pop(who, None)

    def ask(self, who: int, want: Want | None, now: float) -> None:
        """What a world wants now; None: nothing."""
        person = self._people[who]
        if person.want is None:
            person.since = now
        person.want = want

    def grant(self, now: float) -> int | None:
        """Who gets it; None while it is held, and when nobody wants it. It is held until `done`."""
        if self._holder is not None:
            return None
        asking = [who for who, person in self._people.items() if person.want is not None]
        if not asking:
            return None
        who = min(asking, key=lambda w: self._order(w, now))
        self._people[who].want = None
        self._holder, self._granted_at = who, now
        return who

    def done(self, now: float, used: bool = True) -> None:
        """Its holder's call is over. used: whether one was launched at all."""
        if self._holder is None:
            return
        if used:
            self._used.append((self._holder, self._granted_at, now))
            self._calls.append(now - self._granted_at)
        self._holder = None

    def _order(self, who: int, now: float) -> tuple[int, float]:
        person = self._people[who]
        want = person.want
        assert want is not None
        update = want.reason is Reason.UPDATE
        over = update and self.share(who, now) > FAIR / self.people
        if want.latest < now + self.call and not (over and want.latest > now):
            return 0, want.latest
        return (2 if over else 1, person.since) if update else (3, want.latest)

    def share(self, who: int, now: float) -> float:
        """Of the last seconds, that a world held it."""
        while self._used and self._used[0][2] < now - REMEMBERED:
            self._used.popleft()
        return sum(end - max(begin, now - REMEMBERED) for w, begin, end in self._used if w == who) / REMEMBERED

    def busy(self, now: float) -> float:
        """Share of the last seconds in which anybody held it."""
        return sum(self.share(who, now) for who in {w for w, _, _ in self._used})

    def room(self, now: float) -> bool:
        """Whether one more like those that are here would find it free often enough."""
        return not self.people or self.busy(now) * (self.people + 1) / self.people <= FULL

    def wait_of_one_more(self) -> float:
        """Seconds that a change of any person would have to wait, at worst, if one more played: a call of each, and the own one."""
        return (self.people + 1) * self.call
