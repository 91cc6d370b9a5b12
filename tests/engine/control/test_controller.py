"""Single behaviours of the Produce/Consume machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.control.controller import (
    TABLE,
    Abandon,
    Cause,
    Commit,
    Controller,
    Finish,
    GroupsReady,
    InputsReady,
    InputsRejected,
    Launch,
    Policy,
    Receipt,
    Report,
    Restore,
    Revoke,
    State,
    Tick,
    Update,
    Wake,
)
from engine.control.diagram import markdown
from engine.control.estimator import Estimator
from engine.measure.bench_serving import controller_events


def controller(window: int = 8, commit: Commit = Commit.SPECULATIVE, first: float = 0.5, **more: object) -> Controller:
    c = Controller(Policy(16.0, window, commit, **more), 0.0, estimator=Estimator(cold=first, margin=0.0))  # type: ignore[arg-type]
    return c


def playing(c: Controller, now: float = 0.5) -> Controller:
    """The first call done and group 0 on show."""
    c.handle(Wake(0.0))
    c.handle(GroupsReady(now, 0, (4,) * c.policy.window))
    c.handle(Finish(now, 0))
    c.handle(Wake(now, Cause.RELEASE))
    c.handle(Tick(now, 0))
    return c


def of(kind: type, commands: list) -> list:
    return [x for x in commands if isinstance(x, kind)]


def test_the_first_wake_launches_a_full_window_from_position_0() -> None:
    commands = controller().handle(Wake(0.0))
    assert of(Launch, commands) == [Launch(0, 0, 8, 0, "refill")]


def test_an_update_revokes_from_the_first_group_whose_deadline_leaves_time_for_c() -> None:
    c = playing(controller())
    commands = c.handle(Update(0.6, 1, 0.6, True))
    # groups start at 0.5 + 0.25 p; C = 0.5 s, so 1.1 s is the earliest: group 3 at 1.25 s
    assert of(Launch, commands) == [Launch(1, 3, 8, 1, "update")]
    assert [e.position for r in of(Revoke, commands) for e in r.entries] == [3, 4, 5, 6, 7]
    assert (c.delivered, c.locked, c.end, c.state) == (1, 3, 3, State.PRODUCE)


def test_the_chunk_baseline_waits_for_the_end_of_the_cache_and_revokes_nothing() -> None:
    c = playing(controller(commit=Commit.CHUNK))
    assert not of(Launch, c.handle(Update(0.6, 1, 0.6, True)))
    # 8 groups end at 2.5 s, so the call that answers starts C before it
    launch = of(Launch, c.handle(Wake(2.0)))
    assert launch == [Launch(1, 8, 8, 1, "update")]
    assert c.counts.revoked == 0


def test_an_update_without_inputs_launches_nothing_until_they_are_ready() -> None:
    c = playing(controller())
    assert not of(Launch, c.handle(Update(0.6, 1, 0.6)))
    assert of(Launch, c.handle(InputsReady(0.7, 1)))[0].version == 1


def test_a_rejected_update_leaves_the_old_condition_in_force() -> None:
    c = playing(controller())
    c.handle(Update(0.6, 1, 0.6))
    receipt = of(Receipt, c.handle(InputsRejected(0.7, 1, "too long")))
    assert [(r.outcome, r.reason) for r in receipt] == [("rejected", "too long")]
    assert of(Launch, c.handle(Wake(2.1)))[0].version == 0


def test_updates_during_a_call_fold_into_the_newest_which_launches_when_the_call_ends() -> None:
    c = playing(controller())
    c.handle(Update(0.6, 1, 0.6, True))
    for v in (2, 3, 4):
        assert not of(Launch, c.handle(Update(0.6 + v / 100, v, 0.6 + v / 100, True)))
    c.handle(GroupsReady(1.1, 1, (4,) * 8))
    launch = of(Launch, c.handle(Finish(1.1, 1)))
    assert launch[0].version == 4
    assert c.state is State.PRODUCE


def test_when_no_branch_is_in_time_the_end_of_the_cache_is_taken_and_the_miss_is_told() -> None:
    c = playing(controller(window=4))
    c.estimator.saw_first(4, 3.0)
    launch = of(Launch, c.handle(Update(0.6, 1, 0.6, True)))[0]
    assert launch.branch == 4
    assert launch.late > 0
    assert c.missed_deadlines == 1


def test_latency_is_split_into_wait_generation_and_queue() -> None:
    c = playing(controller())
    c.handle(Update(0.6, 1, 0.6, True))
    c.handle(Tick(0.75, 1))
    c.handle(Tick(1.0, 2))
    c.handle(GroupsReady(1.1, 1, (4,) * 8))
    c.handle(Finish(1.1, 1))
    receipt = next(r for r in of(Receipt, c.handle(Tick(1.25, 3))) if r.outcome == "applied")
    assert (receipt.wait, receipt.generate, receipt.queue) == pytest.approx((0.0, 0.5, 0.15))
    assert receipt.position == 3


def test_a_failed_call_gives_back_what_it_revoked_and_is_tried_once_more() -> None:
    c = playing(controller())
    c.handle(Update(0.6, 1, 0.6, True))
    commands = c.handle(Finish(0.7, 1, "out of memory"))
    assert [e.position for r in of(Restore, commands) for e in r.entries] == [3, 4, 5, 6, 7]
    assert of(Launch, commands)[0].version == 1
    commands = c.handle(Finish(0.8, 2, "out of memory"))
    assert of(Report, commands)
    assert not of(Launch, commands)
    assert c.end == 8, "what was predicted before goes on playing"
    assert of(Launch, c.handle(Update(0.9, 2, 0.9, True))), "a new condition is a new try"


def test_a_call_past_the_hard_limit_is_abandoned_and_its_late_output_dropped() -> None:
    c = playing(controller(hard_limit=3.0))
    c.handle(Update(0.6, 1, 0.6, True))
    assert of(Abandon, c.handle(Wake(3.6)))
    predicted = c.counts.predicted
    c.handle(GroupsReady(3.7, 1, (4,) * 8))
    c.handle(Finish(3.7, 1))
    assert c.counts.predicted == predicted


def test_deadlines_stand_still_while_playback_is_held() -> None:
    c = playing(controller())
    c.handle(Wake(0.6, Cause.HOLD))
    before = c.deadline(4, 0.6) - 0.6
    assert c.deadline(4, 9.0) - 9.0 == pytest.approx(before)
    assert not of(Launch, c.handle(Wake(9.0)))
    c.handle(Wake(9.0, Cause.RELEASE))
    assert c.deadline(4, 9.0) - 9.0 == pytest.approx(before)


def test_branches_keep_to_the_models_phase() -> None:
    c = playing(controller(phase=5, window=10))
    assert of(Launch, c.handle(Update(0.6, 1, 0.6, True)))[0].branch == 5


def test_media_time_is_a_sum_of_spans() -> None:
    c = controller(window=4)
    c.handle(Wake(0.0))
    c.handle(GroupsReady(0.5, 0, (1, 4, 4, 4)))
    assert [c.start(p) for p in range(5)] == [0, 1, 5, 9, 13]


def test_coverage_is_bounded_by_lead_and_window_however_many_updates_come() -> None:
    c = playing(controller())
    now = 0.6
    for version in range(1, 201):
        c.handle(Update(now, version, now, True))
        if c.job is not None and c.job.launched < now - 0.5:
            c.handle(GroupsReady(now, c.job.call, (4,) * 8))
            c.handle(Finish(now, c.job.call))
        while c.cache and c.deadline(c.delivered, now) <= now:
            c.handle(Tick(c.deadline(c.delivered, now), c.delivered))
        assert len(c.cache) <= 8 + 2 + 1
        now += 0.05


def test_every_state_and_event_has_a_row_in_the_table() -> None:
    kinds = (Update, InputsReady, InputsRejected, GroupsReady, Finish, Tick, Wake)
    assert set(TABLE) == {(s, k) for s in State for k in kinds}


@pytest.mark.parametrize("policy", [{"fps": 0.0}, {"window": 0}, {"phase": 0}, {"attempts": 0}, {"hard_limit": 0.0}])
def test_impossible_policies_are_refused(policy: dict) -> None:
    with pytest.raises(ValueError, match="impossible policy"):
        Policy(**{"fps": 16.0, "window": 7, **policy})


def test_the_page_in_the_docs_is_generated_from_the_table() -> None:
    page = Path(__file__).parents[3] / "docs" / "controller.md"
    assert page.read_text(encoding="utf-8") == markdown()


def test_a_long_flood_of_events_keeps_nothing() -> None:
    figures = controller_events(60_000)
    assert figures["memory_at_end_mb"] - figures["memory_at_10_percent_mb"] < 4
