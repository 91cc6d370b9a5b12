"""Time, and waiting for it: everything that the engine's threads wait by, so that they run in virtual time as well."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

FOREVER = float("inf")
LONGEST_WAIT = 3600.0
"""Seconds: the standard library refuses to wait for much longer at a time."""


class Clock(Protocol):
    """Tells the time and waits for it. Times are seconds; only differences mean something."""

    def now(self) -> float:
        """The time, which never goes back."""

    def condition(self) -> threading.Condition:
        """A condition variable that `wait` understands."""

    def wait(self, condition: threading.Condition, ready: Callable[[], bool], until: float = FOREVER) -> bool:
        """Waits until `ready` says so or until a time; whether it was `ready`. To be called with the condition held, and
        whoever makes `ready` true notifies the condition."""

    def sleep(self, seconds: float) -> None:
        """Waits for some seconds."""

    def spawn(self, target: Callable[[], None], name: str) -> threading.Thread:
        """Starts a daemon thread that waits by this clock only."""

    def join(self, thread: threading.Thread, seconds: float) -> bool:
        """Waits for the end of a thread of `spawn`; whether it ended within so many seconds."""


class SystemClock:
    """Real time, by the machine's monotonic clock or by another one that runs at the same speed (a sound device's)."""

    def __init__(self, source: Callable[[], float] = time.monotonic) -> None:
        """source: tells the time in seconds and never goes back."""
        self._source = source

    def now(self) -> float:
        """The source's time, seconds."""
        return self._source()

    def condition(self) -> threading.Condition:
        """A condition variable of its own."""
        return threading.Condition()

    def wait(self, condition: threading.Condition, ready: Callable[[], bool], until: float = FOREVER) -> bool:
        """See `Clock.wait`."""
        while not ready():
            left = until - self.now()
            if left <= 0:
                return False
            condition.wait(min(left, LONGEST_WAIT))
        return True

    def sleep(self, seconds: float) -> None:
        """Sleeps."""
        time.sleep(seconds)

    def spawn(self, target: Callable[[], None], name: str) -> threading.Thread:
        """See `Clock.spawn`."""
        thread = threading.Thread(target=target, name=name, daemon=True)
        thread.start()
        return thread

    def join(self, thread: threading.Thread, seconds: float) -> bool:
        """See `Clock.join`."""
        thread.join(None if seconds == FOREVER else seconds)
        return not thread.is_alive()


@dataclass
class _Waiting:
    condition: threading.Condition
    ready: Callable[[], bool]
    until: float


class VirtualClock:
    """Time that stands while any thread works and jumps to what comes next when all of them wait.

    The threads are the one that made the clock and those of `spawn`; they may wait by this clock only. So a session of
    minutes with real threads takes no longer than its work, and with one thread it is the same at every run.
    """

    def __init__(self, start: float = 0.0) -> None:
        """start: the time that it begins at, seconds."""
        self._now = start
        self._lock = threading.RLock()
        self._threads = 1
        self._waiting: dict[int, _Waiting] = {}
        self._alive: set[int] = set()
        self._ended = threading.Condition(self._lock)
        self._quiet = threading.Condition(self._lock)

    def now(self) -> float:
        """The virtual time, seconds."""
        return self._now

    def condition(self) -> threading.Condition:
        """All conditions of this clock share one lock, so that none is missed when time jumps."""
        return threading.Condition(self._lock)

    def wait(self, condition: threading.Condition, ready: Callable[[], bool], until: float = FOREVER) -> bool:
        """See `Clock.wait`. Raises RuntimeError when one thread alone waits for what will never come."""
        if self._threads == 1:
            if not ready():
                if until == FOREVER:
                    raise RuntimeError("waiting for ever: nothing else runs that could end it")
                self._now = max(self._now, until)
                return ready()
            return True
        me = threading.get_ident()
        while not ready():
            if until <= self._now:
                return False
            self._waiting[me] = _Waiting(condition, ready, until)
            self._jump()
            if not ready() and self._now < until:
                condition.wait()
            del self._waiting[me]
        return True

    def _jump(self) -> None:
        """When every thread waits in vain: on to the first time that one of them waits for."""
        waiting = list(self._waiting.values())
        if len(waiting) < self._threads:
            return
        woken = [w for w in waiting if w.ready()]
        if not woken:
            first = min(w.until for w in waiting)
            if first == FOREVER:
                return
            self._now = max(self._now, first)
            woken = [w for w in waiting if w.until <= self._now]
        for w in woken:
            w.condition.notify_all()

    def sleep(self, seconds: float) -> None:
        """Lets virtual time pass."""
        with self._quiet:
            self.wait(self._quiet, lambda: False, self._now + seconds)

    def spawn(self, target: Callable[[], None], name: str) -> threading.Thread:
        """See `Clock.spawn`."""

        def run() -> None:
            try:
                target()
            finally:
                with self._lock:
                    self._threads -= 1
                    self._alive.discard(id(thread))
                    self._ended.notify_all()
                    self._jump()

        thread = threading.Thread(target=run, name=name, daemon=True)
        with self._lock:
            self._threads += 1
            self._alive.add(id(thread))
        thread.start()
        return thread

    def join(self, thread: threading.Thread, seconds: float) -> bool:
        """See `Clock.join`."""
        with self._ended:
            ended = self.wait(self._ended, lambda: id(thread) not in self._alive, self._now + seconds)
        if ended:
            thread.join()
        return ended


Item = TypeVar("Item")


class Inbox(Generic[Item]):
    """A queue from any thread to one; the reader waits by a clock."""

    def __init__(self, clock: Clock) -> None:
        """clock: that the reader waits by."""
        self._clock = clock
        self._change = clock.condition()
        self._items: deque[Item] = deque()

    def put(self, item: Item) -> None:
        """From any thread."""
        with self._change:
            self._items.append(item)
            self._change.notify_all()

    def take(self) -> Item | None:
        """The next item, or None when there is none."""
        with self._change:
            return self._items.popleft() if self._items else None

    def take_last(self) -> Item | None:
        """The newest item, or None when there is none; those before it are dropped."""
        with self._change:
            last = self._items[-1] if self._items else None
            self._items.clear()
            return last

    @property
    def waiting(self) -> tuple[Item, ...]:
        """What was not taken yet, oldest first."""
        with self._change:
            return tuple(self._items)

    def wait(self, until: float = FOREVER) -> bool:
        """Waits for an item until a time; whether there is one."""
        with self._change:
            return self._clock.wait(self._change, self._filled, until)

    def _filled(self) -> bool:
        return bool(self._items)

    @property
    def empty(self) -> bool:
        """Whether there is nothing to take."""
        return not self._items
