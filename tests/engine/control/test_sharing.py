"""Who of several worlds gets the sampler next."""

from __future__ import annotations

import pytest

from engine.control.controller import Want
from engine.control.events import Reason
from engine.control.sharing import REMEMBERED, Slot

UPDATE, REFILL = Reason.UPDATE, Reason.REFILL


def slot(*wants: Want | None, call: float = 1.0, at: float = 100.0) -> Slot:
    """Worlds 0, 1, ... ask for these one after the other, a tenth of a second apart, before `at`."""
    s = Slot(call)
    for who, want in enumerate(wants):
        s.join(who)
        s.ask(who, want, at - 0.1 * (len(wants) - who))
    return s


def test_a_refill_that_cannot_wait_for_another_call_comes_before_updates_and_these_before_other_refills() -> None:
    s = slot(Want(REFILL, 105.0), Want(UPDATE, 104.0), Want(UPDATE, 103.0), Want(REFILL, 100.5), Want(REFILL, 104.9))
    order = []
    for _ in range(5):
        who = s.grant(100.0)
        assert who is not None
        order.append(who)
        assert s.grant(100.0) is None, "one call at a time"
        s.done(100.0)
    assert order == [3, 1, 2, 4, 0]
    assert s.grant(100.0) is None, "nobody wants it"


def test_updates_of_who_used_more_than_a_fair_share_wait_for_those_of_others_but_nobody_runs_dry() -> None:
    s = slot(None, None, call=1.0)
    for i in range(6):
        s.ask(0, Want(UPDATE, 200.0), 80.0 + 3 * i)
        assert s.grant(80.0 + 3 * i) == 0
        s.done(82.0 + 3 * i)
    assert s.share(0, 100.0) == pytest.approx(12 / REMEMBERED)
    s.ask(0, Want(UPDATE, 110.0), 99.0)
    s.ask(1, Want(UPDATE, 110.0), 99.5)
    assert s.grant(100.0) == 1, "though it asked later"
    s.done(100.0)
    s.ask(1, Want(UPDATE, 110.0), 100.0)
    s.ask(0, Want(UPDATE, 99.9), 100.0)
    assert s.grant(100.0) == 0, "its cache runs dry"


def test_who_leaves_holds_nothing_and_wants_nothing() -> None:
    s = slot(Want(UPDATE, 101.0), Want(UPDATE, 109.0))
    assert s.grant(100.0) == 0
    s.leave(0, 101.0)
    assert s.people == 1 and s.grant(101.0) == 1
    s.ask(1, None, 101.0)
    s.done(102.0)
    assert s.grant(102.0) is None


def test_how_long_others_may_hold_it_and_whether_there_is_room_is_measured() -> None:
    s = slot(None, call=2.0)
    assert s.wait == 0.0 and s.call == 2.0 and s.room(100.0)
    s.join(1)
    assert s.wait == 2.0 and s.wait_of_one_more() == 6.0
    for i in range(20):
        s.ask(0, Want(UPDATE, 1000.0), 80.0 + i)
        s.grant(80.0 + i)
        s.done(80.5 + i)
    assert s.wait == pytest.approx(0.5) and s.busy(100.0) == pytest.approx(0.5) and s.room(100.0)
    for who in (2, 3, 4, 5):
        s.join(who)
    assert s.wait == pytest.approx(1.5), "of three calls at most"
    for i in range(20):
        s.ask(0, Want(UPDATE, 1000.0), 100.0 + i)
        s.grant(100.0 + i)
        s.done(100.9 + i)
    assert not s.room(120.0)
