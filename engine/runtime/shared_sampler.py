"""One sampler's time for several engines of this process. The rules are `engine.control.sharing`'s; this is their lock and their bell."""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import count

from engine.control.controller import Want
from engine.control.sharing import Slot
from engine.runtime.clock import Clock


class SharedSampler:
    """From any thread."""

    def __init__(self, clock: Clock) -> None:
        """clock: of all its engines."""
        self._clock = clock
        self._lock = threading.Lock()
        self._slot = Slot()
        self._bells: dict[int, Callable[[], None]] = {}
        self._numbers = count()

    def join(self, bell: Callable[[], None]) -> Seat:
        """Another world plays. bell: called, from any thread, when the sampler is granted to it."""
        with self._lock:
            who = next(self._numbers)
            self._slot.join(who)
            self._bells[who] = bell
        return Seat(self, who)

    @property
    def people(self) -> int:
        """Worlds that share it."""
        return self._slot.people

    @property
    def wait(self) -> float:
        """See `Slot.wait`."""
        with self._lock:
            return self._slot.wait

    @property
    def too_many(self) -> float | None:
        """Seconds that one more person would make all wait, where that is too long; None: there is room. See `Slot.room`."""
        with self._lock:
            return None if self._slot.room(self._clock.now()) else self._slot.wait_of_one_more()

    def _do(self, change: Callable[[Slot, float], None]) -> None:
        with self._lock:
            now = self._clock.now()
            change(self._slot, now)
            who = self._slot.grant(now)
            bell = None if who is None else self._bells[who]
        if bell is not None:
            bell()

    def _leave(self, who: int) -> None:
        with self._lock:
            known = self._bells.pop(who, None) is not None
        if known:
            self._do(lambda slot, now: slot.leave(who, now))


class Seat:
    """One world's place at it; used by its engine thread."""

    def __init__(self, sampler: SharedSampler, who: int) -> None:
        self._sampler, self._who = sampler, who
        self._asked: Want | None = None

    @property
    def wait(self) -> float:
        """Seconds that others may hold it when a refill is due."""
        return self._sampler.wait

    @property
    def others(self) -> int:
        """Worlds beside this one."""
        return max(0, self._sampler.people - 1)

    def differs(self, want: Want | None) -> bool:
        """Whether that is something else than what was asked for."""
        return want != self._asked

    def ask(self, want: Want | None) -> None:
        """What this world wants now; None: nothing."""
        self._asked = want
        self._sampler._do(lambda slot, now: slot.ask(self._who, want, now))

    def done(self, used: bool) -> None:
        """What it was granted for is over. used: whether a call was launched. What is still wanted has to be asked for again."""
        self._asked = None
        self._sampler._do(lambda slot, now: slot.done(now, used))

    def leave(self) -> None:
        """The world is over. Safe to call twice."""
        self._sampler._leave(self._who)
