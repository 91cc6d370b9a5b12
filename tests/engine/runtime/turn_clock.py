"""Virtual time in which threads take turns: one runs at a time, and a seed says which is next. The same seed is the same run."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from engine.runtime.clock import FOREVER


@dataclass
class _Turn:
    """A thread of the clock. What it waits for, and the lock that holds it until it is its turn."""

    ready: Callable[[], bool]
    until: float = FOREVER
    depth: int = 0
    """How often it holds the lock that all conditions share."""
    stop: threading.Lock = field(default_factory=threading.Lock)
    """Held while it is not its turn."""

    def __post_init__(self) -> None:
        self.stop.acquire()


class TurnClock:
    """A `Clock`. A thread runs until it waits by the clock, or lets go of a condition and the seed says so; then another one of
    those that can run has its turn. When none can, time jumps to what comes next.

    All threads are the one that made it and those of `spawn`. They may hold no other lock while they use a condition.
    """

    def __init__(self, start: float, seed: str, switch: float = 0.1) -> None:
        """start: the time that it begins at, seconds. switch: how often the turn passes when a condition is let go."""
        self._now = start
        self._random, self._switch = random.Random(seed), switch
        self._me = _Turn(lambda: True)
        """Whose turn it is."""
        self._turns = [self._me]
        self._alive: dict[int, _Turn] = {}
        self._all_wait = False

    def now(self) -> float:
        """The virtual time, seconds."""
        return self._now

    def condition(self) -> Any:
        """A condition whose lock is the turn."""
        return _Condition(self)

    def wait(self, condition: Any, ready: Callable[[], bool], until: float = FOREVER) -> bool:
        """See `Clock.wait`. Raises RuntimeError when all threads wait for what will never come."""
        me = self._me
        while not ready():
            if until <= self._now:
                return False
            me.ready, me.until = ready, until
            self._pass_on(me)
        return True

    def sleep(self, seconds: float) -> None:
        """Lets virtual time pass."""
        self.wait(None, lambda: False, self._now + seconds)

    def spawn(self, target: Callable[[], None], name: str) -> threading.Thread:
        """See `Clock.spawn`."""
        turn = _Turn(lambda: True)

        def run() -> None:
            turn.stop.acquire()
            try:
                target()
            finally:
                self._turns.remove(turn)
                del self._alive[id(thread)]
                self._me = self._next()
                self._me.stop.release()

        thread = threading.Thread(target=run, name=name, daemon=True)
        self._turns.append(turn)
        self._alive[id(thread)] = turn
        thread.start()
        return thread

    def join(self, thread: threading.Thread, seconds: float) -> bool:
        """See `Clock.join`."""
        ended = self.wait(None, lambda: id(thread) not in self._alive, self._now + seconds)
        if ended:
            thread.join()
        return ended

    def let_go(self) -> None:
        """The thread whose turn it is holds no condition any more."""
        me = self._me
        if len(self._turns) > 1 and self._random.random() < self._switch:
            me.ready, me.until = (lambda: True), FOREVER
            self._pass_on(me)

    def held(self, by: int) -> int:
        """Counts how often the thread whose turn it is holds the lock of the conditions."""
        self._me.depth += by
        return self._me.depth

    def _pass_on(self, me: _Turn) -> None:
        self._me = self._next()
        if self._me is not me:
            self._me.stop.release()
            me.stop.acquire()
        if self._all_wait:
            raise RuntimeError("waiting for ever: nothing else runs that could end it")

    def _next(self) -> _Turn:
        can = [t for t in self._turns if t.until <= self._now or t.ready()]
        if not can:
            first = min(t.until for t in self._turns)
            if first == FOREVER:
                self._all_wait = True
                return self._turns[0]
            self._now = first
            can = [t for t in self._turns if t.until <= first]
        return can[0] if len(can) == 1 else self._random.choice(can)


class _Condition:
    """Nobody is to be notified: whoever has the turn next asks what the others wait for."""

    def __init__(self, clock: TurnClock) -> None:
        self._clock = clock

    def __enter__(self) -> _Condition:
        self._clock.held(+1)
        return self

    def __exit__(self, *error: object) -> None:
        if self._clock.held(-1) == 0:
            self._clock.let_go()

    def notify_all(self) -> None:
        """Nothing is to be done."""
