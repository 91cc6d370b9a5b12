"""The one loop: waits for the first thing that is due, runs everything that is, starts the call that is wanted, and again.

It serves the live engine, headless runs, virtual time and simulation. They differ in the clock (real or virtual), in the
executor (which samples, assumes or only simulates a call), and in the sources: messages, timers, a script, the player.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from engine.control.events import Launch
from engine.models.interface import Group, Stopped
from engine.runtime.clock import FOREVER, Clock, Inbox
from engine.runtime.messages import Message
from engine.runtime.session import Session


class Source(Protocol):
    """Something that becomes due. Times are seconds of the driver's clock."""

    def next_at(self) -> float:
        """When it is due next, as things stand; infinity: not by time."""

    def run(self, now: float) -> None:
        """Does what is due, if anything; called at every round."""


class Executor(Protocol):
    """Runs the calls that are launched."""

    def start_pending(self) -> None:
        """Starts the call that was launched last, if it was not started yet. May block until it is sampled, and then runs
        the driver's `drain` between two steps."""

    def work_ahead(self) -> bool:
        """With nothing due: one piece of work for the next call. Whether there was one."""


class Driver:
    """Sources are run in their order at each round; what they launch is started at once."""

    def __init__(
        self, clock: Clock, inbox: Inbox[Any], sources: Sequence[Source], executor: Executor | None = None
    ) -> None:
        """inbox: what ends a wait early; a source has to take its items."""
        self._clock, self._inbox, self._sources, self._executor = clock, inbox, sources, executor

    def run(self, over: Callable[[], bool], until: float = FOREVER) -> None:
        """Runs until it is over, and waits no further than `until`."""
        self._start()
        while not over():
            self._round(until)

    def drain(self) -> None:
        """Runs what is due now, without waiting and without starting a call: between two steps of a call that runs."""
        now = self._clock.now()
        for source in self._sources:
            source.run(now)

    def _round(self, until: float) -> None:
        at = min([until, *(s.next_at() for s in self._sources)])
        if (
            self._executor is None
            or not self._inbox.empty
            or at <= self._clock.now()
            or not self._executor.work_ahead()
        ):
            self._inbox.wait(at)
        now = self._clock.now()
        for source in self._sources:
            source.run(now)
            self._start()

    def _start(self) -> None:
        if self._executor is not None:
            self._executor.start_pending()


# -- sources -----------------------------------------------------------------------------------------------------------


class Mail:
    """Messages to a session."""

    def __init__(self, inbox: Inbox[Message], session: Session, clock: Clock) -> None:
        """clock: what a message is taken in by; the driver's."""
        self._inbox, self._session, self._clock = inbox, session, clock

    def next_at(self) -> float:
        """Never: a message ends the wait by itself."""
        return FOREVER

    def run(self, now: float) -> None:
        """Takes in everything that has arrived."""
        while (message := self._inbox.take()) is not None:
            self._session.handle(message, self._clock.now())


class Timer:
    """What a session waits for."""

    def __init__(self, session: Session) -> None:
        """session: whose alarm it is."""
        self._session = session

    def next_at(self) -> float:
        """The session's alarm."""
        return self._session.alarm

    def run(self, now: float) -> None:
        """Tells the session when its time has come."""
        if self._session.alarm <= now:
            self._session.alarmed(now)


# -- executors ---------------------------------------------------------------------------------------------------------


class SamplingExecutor:
    """Samples a call on the driver's own thread; between two steps it takes in what has arrived, so that a call that was
    given up stops at its next step."""

    def __init__(self, session: Session, clock: Clock, drain: Callable[[], None], closing: Callable[[], bool]) -> None:
        """drain: runs what is due; closing: whether the session is over."""
        self._session, self._clock, self._drain, self._closing = session, clock, drain, closing
        self.sampling = False
        """Whether the sampler is inside a call, which may have been given up meanwhile."""

    def start_pending(self) -> None:
        """See `Executor.start_pending`; blocks while calls are sampled."""
        while not self._closing() and (launch := self._session.take_launch()) is not None:
            self._sample(launch)

    def _sample(self, launch: Launch) -> None:
        session = self._session
        trouble: list[Exception] = []

        def on_step(step: int, steps: int) -> bool:
            if self._closing():
                return False  # whoever closes may be at the session by now
            try:
                self._drain()
            except Exception as e:  # no fault of the call's, and ranks wait for an answer
                trouble.append(e)
            return not trouble and session.runs(launch) and not self._closing()

        self._drain()  # what is known now is seen before the first step, which may take long
        if not session.runs(launch):
            return
        self.sampling = True
        try:
            groups = session.run(launch, on_step)
        except Stopped:
            if trouble:
                raise trouble[0] from None
            return
        except Exception as e:
            if self._closing():
                return
            session.failed(launch, e, self._clock.now())
            self._drain()  # what failed is seen before the next call, which may first have to restart workers
            return
        finally:
            self.sampling = False
        if trouble:
            raise trouble[0]
        if session.runs(launch) and not self._closing():
            session.sampled(launch, groups)

    def work_ahead(self) -> bool:
        """See `Executor.work_ahead`."""
        return self._session.work_ahead()


class AssumedExecutor:
    """Samples a call at the instant of its launch and hands it over when it is said to have taken its time. A source too."""

    def __init__(self, session: Session, clock: Clock, seconds: float) -> None:
        """seconds: that a call is said to take."""
        self._session, self._clock, self._seconds = session, clock, seconds
        self._flying: tuple[Launch, list[Group]] | None = None
        self._lands_at = FOREVER

    def start_pending(self) -> None:
        """See `Executor.start_pending`. Errors are the sampler's."""
        if (launch := self._session.take_launch()) is not None:
            self._flying = launch, self._session.run(launch, lambda step, steps: True)
            self._lands_at = self._clock.now() + self._seconds

    def work_ahead(self) -> bool:
        """None: it would only move work."""
        return False

    def next_at(self) -> float:
        """When the call in flight lands."""
        return self._lands_at

    def run(self, now: float) -> None:
        """Hands a call over whose time has come."""
        if self._flying is not None and self._lands_at <= now:
            (launch, groups), self._flying = self._flying, None
            self._lands_at = FOREVER
            if self._session.runs(launch):
                self._session.sampled(launch, groups)
