"""The one loop: what is due runs in the order of the sources, and what is launched starts at once."""

from __future__ import annotations

from typing import Any, cast

from engine.control.events import Launch, Reason
from engine.models.interface import Group, StepCallback, Stopped
from engine.runtime.clock import FOREVER, Inbox, VirtualClock
from engine.runtime.driver import Driver, SamplingExecutor

Trace = list[tuple[str, float]]


class At:
    """A source that is due at some times."""

    def __init__(self, name: str, trace: Trace, *times: float) -> None:
        self.name, self.trace, self.times = name, trace, list(times)

    def next_at(self) -> float:
        return self.times[0] if self.times else FOREVER

    def run(self, now: float) -> None:
        while self.times and self.times[0] <= now:
            self.times.pop(0)
            self.trace.append((self.name, now))


class Calls:
    """An executor whose calls are wanted by a source's name."""

    def __init__(self, trace: Trace, work: int = 0) -> None:
        self.trace, self.work = trace, work
        self.seen = 0

    def start_pending(self) -> None:
        fresh = [name for name, _ in self.trace[self.seen :]]
        self.seen = len(self.trace)
        if "a" in fresh:
            self.trace.append(("call", self.trace[-1][1]))
            self.seen += 1

    def work_ahead(self) -> bool:
        self.work -= 1
        return self.work >= 0


def test_sources_run_in_their_order_and_a_call_starts_before_the_next_one() -> None:
    clock, trace = VirtualClock(), []
    sources = [At("a", trace, 1.0, 3.0), At("b", trace, 1.0, 2.0)]
    Driver(clock, Inbox(clock), sources, Calls(trace)).run(lambda: clock.now() >= 3.0)
    assert trace == [("a", 1.0), ("call", 1.0), ("b", 1.0), ("b", 2.0), ("a", 3.0), ("call", 3.0)]


def test_it_waits_no_further_than_it_is_told() -> None:
    clock, trace = VirtualClock(), []
    Driver(clock, Inbox(clock), [At("a", trace, 1.0, 9.0)]).run(lambda: clock.now() >= 5.0, until=5.0)
    assert trace == [("a", 1.0)]
    assert clock.now() == 5.0


def test_draining_runs_what_is_due_and_starts_no_call() -> None:
    clock, trace = VirtualClock(), []
    driver = Driver(clock, Inbox(clock), [At("a", trace, 0.0, 1.0)], Calls(trace))
    driver.drain()
    assert trace == [("a", 0.0)]


def test_work_ahead_is_done_before_time_passes_and_only_then() -> None:
    clock, trace = VirtualClock(), []
    calls = Calls(trace, work=3)
    Driver(clock, Inbox(clock), [At("b", trace, 1.0)], calls).run(lambda: bool(trace))
    assert trace == [("b", 1.0)]
    assert calls.work == -1, "three pieces, and the question that had no more"


def test_an_item_ends_the_wait() -> None:
    clock, trace = VirtualClock(), []
    inbox: Inbox[str] = Inbox(clock)

    class Reader:
        def next_at(self) -> float:
            return FOREVER

        def run(self, now: float) -> None:
            while (item := inbox.take()) is not None:
                trace.append((item, now))

    def post() -> None:
        clock.sleep(2.0)
        inbox.put("x")

    thread = clock.spawn(post, "post")
    Driver(clock, inbox, [Reader(), At("b", trace, 10.0)]).run(lambda: bool(trace))
    assert trace == [("x", 2.0)]
    assert clock.join(thread, 1.0)


def test_a_call_that_is_given_up_between_two_steps_is_not_begun_on_the_next_one() -> None:
    clock = VirtualClock()
    steps: list[int] = []
    wanted = [True]

    class OneCall:
        """A session whose only call has nine steps of a second."""

        def __init__(self) -> None:
            self.pending = [Launch(1, 0, 7, 0, Reason.REFILL)]

        def take_launch(self) -> Launch | None:
            return self.pending.pop() if self.pending else None

        def runs(self, launch: Launch) -> bool:
            return wanted[0]

        def run(self, launch: Launch, report: StepCallback) -> list[Group]:
            for step in range(1, 10):
                clock.sleep(1.0)
                steps.append(step)
                if not report(step, 9):
                    raise Stopped
            return []

    def drain() -> None:
        wanted[0] = clock.now() < 3.0  # what is taken in after the third step ends the call

    SamplingExecutor(cast(Any, OneCall()), clock, drain, lambda: False).start_pending()
    assert steps == [1, 2, 3]
