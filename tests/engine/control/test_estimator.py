"""Estimates of C from measured calls."""

from __future__ import annotations

import pytest

from engine.control.estimator import Estimator


def test_a_worlds_first_call_counts_until_two_others_were_measured() -> None:
    e = Estimator(cold=1.0, forget_start=2)
    e.saw_first(7, 2.0, start=True)
    assert e.first(7) == 2.0
    e.saw_first(7, 0.3)
    assert e.first(7) == 2.0
    e.saw_first(7, 0.4)
    assert e.first(7) == 0.4


def test_it_counts_for_ever_where_that_was_not_asked_for() -> None:
    e = Estimator(cold=1.0)
    for seconds, start in ((2.0, True), (0.3, False), (0.4, False)):
        e.saw_first(7, seconds, start)
    assert e.first(7) == 2.0


def test_a_length_that_was_never_measured_borrows_from_the_nearest() -> None:
    e = Estimator(cold=1.0, forget_start=2)
    e.saw_first(7, 0.5, start=True)
    assert e.first(14) == pytest.approx(1.0)
    assert e.first(3) == pytest.approx(0.5)
