"""Estimates of C from measured calls."""

from __future__ import annotations

import pytest

from engine.control.estimator import BEFORE_HISTORY, FIXED, Estimator, Work

SEVEN = Work(7)


def test_what_was_never_measured_is_the_cold_estimate() -> None:
    assert Estimator(cold=1.5).first(SEVEN) == 1.5


def test_a_worlds_first_call_has_no_history_and_is_believed_with_care_until_another_was_measured() -> None:
    e = Estimator(cold=0.6, doubt=0.5, forget_start=2)
    e.saw_first(SEVEN, 0.15, start=True)
    assert e.first(SEVEN) == 0.6
    e.saw_first(SEVEN, 1.0, start=True)
    assert e.first(SEVEN) == BEFORE_HISTORY
    e.saw_first(SEVEN, 0.4)
    assert e.first(SEVEN) == pytest.approx(0.4 * 1.5)


def test_one_slow_call_is_not_believed_among_others() -> None:
    e = Estimator()
    for seconds in (0.4, 0.42, 2.5):
        e.saw_first(SEVEN, seconds)
    assert e.first(SEVEN) == 0.42
    for n in range(4, 12):
        e.saw_first(SEVEN, 0.4)
        assert e.first(SEVEN) == 0.42, n
    e.saw_first(SEVEN, 2.5)
    e.saw_first(SEVEN, 2.5)
    assert e.first(SEVEN) == 2.5, "three of thirteen are no exception"


def test_of_two_calls_the_slower_counts() -> None:
    e = Estimator()
    e.saw_first(SEVEN, 0.4)
    e.saw_first(SEVEN, 0.9)
    assert e.first(SEVEN) == 0.9


def test_what_was_never_measured_borrows_in_both_directions_of_latents_and_steps() -> None:
    e = Estimator()
    e.saw_first(Work(21, 4), 1.2)
    assert e.first(Work(42, 4)) == pytest.approx(2.4)
    assert e.first(Work(21, 8)) == pytest.approx(2.4)
    assert e.first(Work(7, 4)) == pytest.approx(1.2 * (FIXED + (1 - FIXED) / 3))
    assert e.first(Work(21, 2)) == pytest.approx(1.2 * (FIXED + (1 - FIXED) / 2))
    assert e.first(Work(21)) == pytest.approx(1.2), "of unknown steps nothing is said"


def test_what_has_to_be_in_time_relies_on_no_call_that_was_never_measured_to_be_quicker() -> None:
    e = Estimator(margin=0.05)
    e.saw_first(Work(21, 4), 1.2)
    assert e.lead(Work(7, 4)) == e.lead(Work(21, 2)) == pytest.approx(1.25)
    assert e.lead(Work(42, 4)) == pytest.approx(2.45)
    e.saw_first(Work(7, 4), 0.4)
    assert e.lead(Work(7, 4)) == pytest.approx(0.45), "measured now"


def test_it_borrows_from_the_nearest_of_its_own_steps_and_history() -> None:
    e = Estimator()
    e.saw_first(Work(21, 4, history="a"), 1.0)
    e.saw_first(Work(7, 8, history="a"), 9.0)
    e.saw_first(Work(7, 4, history="b"), 9.0)
    assert e.first(Work(21, 4, edit=True, history="a")) == 1.0
    assert e.first(Work(20, 4, history="a")) < 1.0


def test_an_edit_of_the_words_is_measured_by_itself() -> None:
    e = Estimator()
    for _ in range(3):
        e.saw_first(SEVEN, 0.2)
        e.saw_first(Work(7, edit=True), 1.1)
    assert e.first(SEVEN) == 0.2
    assert e.first(Work(7, edit=True)) == 1.1


def test_decodes_are_a_high_quantile_as_well() -> None:
    e = Estimator()
    assert e.decode == 0.0
    for seconds in (0.02, 0.03, 0.5):
        e.saw_decode(seconds)
    assert e.decode == 0.03


def test_the_rule_of_old_logs_believes_the_slowest_and_takes_nothing_for_shorter() -> None:
    e = Estimator(rule=1, forget_start=2)
    e.saw_first(SEVEN, 2.0, start=True)
    assert e.first(SEVEN) == 2.0
    e.saw_first(SEVEN, 0.3)
    assert e.first(SEVEN) == 2.0
    e.saw_first(SEVEN, 0.4)
    assert e.first(SEVEN) == 0.4
    assert e.first(Work(14)) == pytest.approx(0.8)
    assert e.first(Work(3)) == pytest.approx(0.4)
