"""Virtual time: stands while a thread works, jumps when all wait, and never past what somebody waits for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from engine.runtime.clock import Clock, Inbox, SystemClock, VirtualClock


def test_alone_time_jumps_to_what_is_waited_for_and_to_nowhere_else() -> None:
    clock = VirtualClock(5.0)
    began = time.monotonic()
    clock.sleep(3600.0)
    assert clock.now() == 3605.0
    inbox: Inbox[str] = Inbox(clock)
    assert not inbox.wait(3700.0)
    assert clock.now() == 3700.0
    assert not inbox.wait(10.0), "a time that is over"
    assert clock.now() == 3700.0
    assert time.monotonic() - began < 60, "an hour takes no hour"


def test_waiting_alone_for_what_cannot_come_is_a_fault_and_no_hang() -> None:
    inbox: Inbox[str] = Inbox(VirtualClock())
    with pytest.raises(RuntimeError, match="for ever"):
        inbox.wait()


def test_threads_wake_in_order_of_their_times() -> None:
    clock = VirtualClock()
    woken: list[tuple[str, float]] = []

    def sleeper(name: str, seconds: float) -> Callable[[], None]:
        def run() -> None:
            clock.sleep(seconds)
            woken.append((name, clock.now()))

        return run

    threads = [clock.spawn(sleeper(name, s), name) for name, s in (("c", 3.0), ("a", 1.0), ("b", 2.0))]
    assert all(clock.join(t, 10.0) for t in threads)
    assert woken == [("a", 1.0), ("b", 2.0), ("c", 3.0)]
    assert clock.now() == 3.0


def test_time_stands_while_a_thread_works() -> None:
    clock = VirtualClock()
    go = threading.Event()
    seen: list[float] = []

    def work() -> None:
        go.wait(10.0)  # real work, as the clock sees it
        seen.append(clock.now())

    thread = clock.spawn(work, "work")
    threading.Timer(0.05, go.set).start()
    clock.sleep(100.0)
    assert seen == [0.0]
    assert clock.join(thread, 1.0)


def test_what_arrives_is_taken_at_the_time_it_was_put() -> None:
    clock = VirtualClock()
    inbox: Inbox[int] = Inbox(clock)
    taken: list[tuple[int, float]] = []

    def reader() -> None:
        while inbox.wait() and (item := inbox.take()) is not None and item >= 0:
            taken.append((item, clock.now()))

    thread = clock.spawn(reader, "reader")
    for i in range(200):
        inbox.put(i)
        clock.sleep(0.5)
    inbox.put(-1)
    assert clock.join(thread, 1.0)
    assert taken == [(i, 0.5 * i) for i in range(200)]


@pytest.mark.parametrize("clock", [VirtualClock, pytest.param(SystemClock, marks=pytest.mark.integration)])
def test_a_thread_that_does_not_end_is_said_after_the_limit(clock: Callable[[], Clock]) -> None:
    c = clock()
    inbox: Inbox[str] = Inbox(c)

    def wait() -> None:
        inbox.wait()

    thread = c.spawn(wait, "waits")
    began = c.now()
    assert not c.join(thread, 0.2)
    assert 0.15 < c.now() - began < 5.0
    inbox.put("end")
    assert c.join(thread, 5.0)


@pytest.mark.integration
def test_real_waiting_ends_with_the_item_or_the_time() -> None:
    clock = SystemClock()
    inbox: Inbox[str] = Inbox(clock)
    began = clock.now()
    assert not inbox.wait(began + 0.05)
    assert clock.now() >= began + 0.05
    threading.Timer(0.02, lambda: inbox.put("x")).start()
    assert inbox.wait(clock.now() + 10.0)
    assert (inbox.take(), inbox.take()) == ("x", None)
    assert clock.now() < began + 5.0
