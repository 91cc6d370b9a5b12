"""Times of calls, by a clock that is moved by hand."""

from __future__ import annotations

import mmap

from engine.measure.timing import memory_mb, timed


def test_the_first_call_does_not_count_and_the_median_is_that_of_the_others() -> None:
    now, waits = 0.0, [9.0, 1.0, 5.0, 2.0]

    def call() -> None:
        nonlocal now
        now += waits.pop(0)

    assert timed(call, 3, clock=lambda: now) == {"min": 1.0, "median": 2.0, "max": 5.0}
    assert not waits


def test_memory_that_is_used_is_seen() -> None:
    before = memory_mb()
    with mmap.mmap(-1, 200_000_000) as block:  # of the system's own pages, not of what this process had before
        block.write(b"x" * len(block))
        assert 150 < memory_mb() - before < 450
