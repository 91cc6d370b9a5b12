"""Single behaviours of the Produce/Consume machine."""

from __future__ import annotations

import pytest

from engine.control.controller import Controller, ProtocolError, State
from engine.control.estimator import Estimator, Work
from engine.control.events import (
    Abandon,
    CallProgressed,
    Change,
    Commit,
    ConditionChanged,
    Event,
    GroupDecoded,
    GroupLost,
    GroupsReady,
    GroupStarted,
    Guessed,
    Hold,
    InputsReady,
    InputsRejected,
    Launch,
    Notice,
    Outcome,
    PlaybackHeld,
    PlaybackReleased,
    Policy,
    PolicyChanged,
    Promote,
    Receipt,
    RequestFinished,
    Restore,
    Revoke,
    SessionClosed,
    SetTimer,
    SlotGranted,
    Take,
    TimerFired,
)
from engine.measure.bench_serving import controller_events


def controller(window: int = 8, commit: Commit = Commit.SPECULATIVE, first: float = 0.5, **more: object) -> Controller:
    c = Controller(Policy(16.0, window, commit, **more), 0.0, estimator=Estimator(cold=first, margin=0.0))  # type: ignore[arg-type]
    return c


def playing(c: Controller, now: float = 0.5) -> Controller:
    """The first call done and group 0 on show."""
    c.handle(TimerFired(0.0))
    c.handle(GroupsReady(now, 0, (4,) * c.policy.window))
    c.handle(RequestFinished(now, 0))
    c.handle(PlaybackReleased(now))
    c.handle(GroupStarted(now, 0))
    return c


def calling(c: Controller) -> Controller:
    """Call 1 runs, from group 3 on, under version 1."""
    playing(c).handle(ConditionChanged(0.6, 1, 0.6, True))
    assert c.state is State.PRODUCE
    return c


def in_consume(at: float) -> tuple[Event, ...]:
    """What can happen while no call is active and version 1 waits for its inputs."""
    return (
        ConditionChanged(at, 2, at),
        InputsReady(at, 1),
        InputsRejected(at, 1, "too long"),
        CallProgressed(at, 0, 1, 4),
        GroupsReady(at, 0, (4,)),
        RequestFinished(at, 0),
        GroupDecoded(at, 7, 0.0),
        GroupLost(at, 0, "played already"),
        TimerFired(at),
        PlaybackHeld(at),
        PlaybackReleased(at),
    )


def replace_policy(event: Event, policy: Policy) -> Event:
    """The same event; a change of policy is to this one."""
    return PolicyChanged(event.at, policy) if isinstance(event, PolicyChanged) else event


def of(kind: type, commands: list) -> list:
    return [x for x in commands if isinstance(x, kind)]


def test_the_first_wake_launches_a_full_window_from_position_0() -> None:
    commands = controller().handle(TimerFired(0.0))
    assert of(Launch, commands) == [Launch(0, 0, 8, 0, "refill")]


def test_an_update_revokes_from_the_first_group_whose_deadline_leaves_time_for_c() -> None:
    c = playing(controller())
    commands = c.handle(ConditionChanged(0.6, 1, 0.6, True))
    # groups start at 0.5 + 0.25 p; C = 0.5 s, so 1.1 s is the earliest: group 3 at 1.25 s
    assert of(Launch, commands) == [Launch(1, 3, 8, 1, "update")]
    assert [e.position for r in of(Revoke, commands) for e in r.entries] == [3, 4, 5, 6, 7]
    assert (c.delivered, c.locked, c.end, c.state) == (1, 3, 3, State.PRODUCE)


def test_the_chunk_baseline_waits_for_the_end_of_the_cache_and_revokes_nothing() -> None:
    c = playing(controller(commit=Commit.CHUNK))
    assert not of(Launch, c.handle(ConditionChanged(0.6, 1, 0.6, True)))
    # 8 groups end at 2.5 s, so the call that answers starts C before it
    launch = of(Launch, c.handle(TimerFired(2.0)))
    assert launch == [Launch(1, 8, 8, 1, "update")]
    assert c.counts.revoked == 0


def test_an_update_without_inputs_launches_nothing_until_they_are_ready() -> None:
    c = playing(controller())
    assert not of(Launch, c.handle(ConditionChanged(0.6, 1, 0.6)))
    assert of(Launch, c.handle(InputsReady(0.7, 1)))[0].version == 1


def test_under_chunk_commitment_inputs_that_come_wait_for_the_end_of_the_cache_too() -> None:
    c = playing(controller(commit=Commit.CHUNK))
    c.handle(ConditionChanged(0.6, 1, 0.6))
    assert not of(Launch, c.handle(InputsReady(0.7, 1)))
    assert of(Launch, c.handle(TimerFired(2.0)))[0].version == 1


def test_a_rejected_update_leaves_the_old_condition_in_force() -> None:
    c = playing(controller())
    c.handle(ConditionChanged(0.6, 1, 0.6))
    receipt = of(Receipt, c.handle(InputsRejected(0.7, 1, "too long")))
    assert [(r.outcome, r.reason) for r in receipt] == [("rejected", "too long")]
    assert of(Launch, c.handle(TimerFired(2.1)))[0].version == 0


def test_updates_during_a_call_fold_into_the_newest_which_launches_when_the_call_ends() -> None:
    c = playing(controller())
    c.handle(ConditionChanged(0.6, 1, 0.6, True))
    for v in (2, 3, 4):
        assert not of(Launch, c.handle(ConditionChanged(0.6 + v / 100, v, 0.6 + v / 100, True)))
    c.handle(GroupsReady(1.1, 1, (4,) * 8))
    launch = of(Launch, c.handle(RequestFinished(1.1, 1)))
    assert launch[0].version == 4
    assert c.state is State.PRODUCE


def test_when_no_branch_is_in_time_the_end_of_the_cache_is_taken_and_the_miss_is_told() -> None:
    c = playing(controller(window=4))
    c.estimator.saw_first(Work(4), 3.0)
    launch = of(Launch, c.handle(ConditionChanged(0.6, 1, 0.6, True)))[0]
    assert launch.branch == 4
    assert launch.late > 0
    assert c.missed_deadlines == 1


def test_latency_is_split_into_wait_generation_and_queue() -> None:
    c = playing(controller())
    c.handle(ConditionChanged(0.6, 1, 0.6, True))
    c.handle(GroupStarted(0.75, 1))
    c.handle(GroupStarted(1.0, 2))
    c.handle(GroupsReady(1.1, 1, (4,) * 8))
    c.handle(RequestFinished(1.1, 1))
    receipt = next(r for r in of(Receipt, c.handle(GroupStarted(1.25, 3))) if r.outcome == "applied")
    assert (receipt.wait, receipt.generate, receipt.queue) == pytest.approx((0.0, 0.5, 0.15))
    assert receipt.position == 3


def test_a_failed_call_gives_back_what_it_revoked_and_is_tried_once_more() -> None:
    c = playing(controller())
    c.handle(ConditionChanged(0.6, 1, 0.6, True))
    commands = c.handle(RequestFinished(0.7, 1, "out of memory"))
    assert [e.position for r in of(Restore, commands) for e in r.entries] == [3, 4, 5, 6, 7]
    assert of(Launch, commands)[0].version == 1
    commands = c.handle(RequestFinished(0.8, 2, "out of memory"))
    assert of(Notice, commands)
    assert not of(Launch, commands)
    assert c.end == 8, "what was predicted before goes on playing"
    assert of(Launch, c.handle(ConditionChanged(0.9, 2, 0.9, True))), "a new condition is a new try"


def test_a_call_past_the_hard_limit_is_abandoned_and_its_late_output_dropped() -> None:
    c = playing(controller(hard_limit=3.0))
    c.handle(ConditionChanged(0.6, 1, 0.6, True))
    assert of(Abandon, c.handle(TimerFired(3.6)))
    predicted = c.counts.predicted
    c.handle(GroupsReady(3.7, 1, (4,) * 8))
    c.handle(RequestFinished(3.7, 1))
    assert c.counts.predicted == predicted


def test_deadlines_stand_still_while_playback_is_held() -> None:
    c = playing(controller())
    c.handle(PlaybackHeld(0.6))
    before = c.deadline(4, 0.6) - 0.6
    assert c.deadline(4, 9.0) - 9.0 == pytest.approx(before)
    assert not of(Launch, c.handle(TimerFired(9.0)))
    c.handle(PlaybackReleased(9.0))
    assert c.deadline(4, 9.0) - 9.0 == pytest.approx(before)


def test_branches_keep_to_the_models_phase() -> None:
    c = playing(controller(phase=5, window=10))
    assert of(Launch, c.handle(ConditionChanged(0.6, 1, 0.6, True)))[0].branch == 5


def test_media_time_is_a_sum_of_spans() -> None:
    c = controller(window=4)
    c.handle(TimerFired(0.0))
    c.handle(GroupsReady(0.5, 0, (1, 4, 4, 4)))
    assert [c.start(p) for p in range(5)] == [0, 1, 5, 9, 13]


def test_coverage_is_bounded_by_lead_and_window_however_many_updates_come() -> None:
    c = playing(controller())
    now = 0.6
    for version in range(1, 201):
        c.handle(ConditionChanged(now, version, now, True))
        if c.in_flight is not None and c.in_flight.launched < now - 0.5:
            c.handle(GroupsReady(now, c.in_flight.call, (4,) * 8))
            c.handle(RequestFinished(now, c.in_flight.call))
        while c.cache and c.deadline(c.delivered, now) <= now:
            c.handle(GroupStarted(c.deadline(c.delivered, now), c.delivered))
        assert len(c.cache) <= 8 + 2 + 1
        now += 0.05


def test_a_branch_keeps_whole_blocks_of_the_call_before() -> None:
    c = playing(controller(block=3, window=9))
    assert of(Launch, c.handle(ConditionChanged(0.6, 1, 0.6, True)))[0].branch == 3
    c = playing(controller(block=4, window=8))
    assert of(Launch, c.handle(ConditionChanged(0.6, 1, 0.6, True)))[0].branch == 4


def test_the_lead_has_a_margin_for_branches_and_refills() -> None:
    c = playing(controller())
    c.estimator.margin = 0.2
    assert of(Launch, c.handle(ConditionChanged(0.6, 1, 0.6, True)))[0].branch == 4, "1.3 s is the earliest, not 1.1 s"
    c = playing(controller())
    c.estimator.margin = 0.2
    assert not of(Launch, c.handle(TimerFired(1.75)))
    assert of(Launch, c.handle(TimerFired(1.8)))


# -- every cell of the table; test_transitions.py changes each and sees one of these fail --------------------------------


def test_what_happens_in_consume_leaves_it_there_while_no_call_is_due() -> None:
    for event in (*in_consume(0.6), PolicyChanged(0.6, Policy(16.0, 4)), GroupStarted(0.75, 1)):
        c = playing(controller())
        c.handle(ConditionChanged(0.55, 1, 0.55))
        c.handle(event)
        assert c.state is (State.PRODUCE if isinstance(event, InputsReady) else State.CONSUME), event


def test_whatever_happens_when_a_refill_is_due_launches_it() -> None:
    for event in (*in_consume(2.2), PolicyChanged(2.2, Policy(16.0, 4)), GroupStarted(2.0, 6)):
        c = playing(controller())
        c.handle(ConditionChanged(0.55, 1, 0.55))
        for position in range(1, 6):
            assert not of(Launch, c.handle(GroupStarted(0.5 + 0.25 * position, position)))
        assert len(of(Launch, c.handle(event))) == 1, event
        assert c.state is State.PRODUCE


def test_what_happens_during_a_call_leaves_it_running() -> None:
    for event in (
        ConditionChanged(0.7, 3, 0.7, True),
        InputsReady(0.7, 2),
        InputsRejected(0.7, 2, "too long"),
        CallProgressed(0.7, 1, 1, 4),
        GroupDecoded(0.7, 1, 0.1),
        GroupLost(0.7, 0, "played already"),
        GroupsReady(0.7, 1, (4,) * 8),
        RequestFinished(0.7, 0),
        GroupStarted(0.75, 1),
        TimerFired(0.7),
        PlaybackHeld(0.7),
        PlaybackReleased(0.7),
        PolicyChanged(0.7, Policy(16.0, 4)),
    ):
        c = calling(controller())
        c.handle(ConditionChanged(0.65, 2, 0.65))
        assert not of(Launch, c.handle(event)), event
        assert c.state is State.PRODUCE


def test_a_call_past_the_limit_is_abandoned_whatever_wakes_the_machine() -> None:
    for event in (
        TimerFired(0.95),
        PlaybackHeld(0.95),
        PlaybackReleased(0.95),
        PolicyChanged(0.95, Policy(16.0, 8, hard_limit=0.3, patience=0.0, attempts=1)),
    ):
        c = calling(controller(hard_limit=0.3, patience=0.0, attempts=1))
        assert [x.call for x in of(Abandon, c.handle(event))] == [1], event
        assert c.state is State.CONSUME, "one attempt only"
        c = calling(controller(hard_limit=0.3, patience=0.0))
        assert [
            x.call for x in of(Launch, c.handle(replace_policy(event, Policy(16.0, 8, hard_limit=0.3, patience=0.0))))
        ] == [2]
        assert c.state is State.PRODUCE, "the second attempt"


def test_during_a_call_as_well_deadlines_stand_still_while_playback_is_held() -> None:
    c = calling(controller())
    before = c.deadline(2, 0.7) - 0.7
    c.handle(PlaybackHeld(0.7))
    assert c.held
    assert c.deadline(2, 3.0) - 3.0 == pytest.approx(before)
    c.handle(PlaybackHeld(1.0))
    c.handle(PlaybackReleased(3.0))
    assert not c.held
    assert c.deadline(2, 3.0) - 3.0 == pytest.approx(before)


def test_only_playback_itself_holds_and_releases_deadlines() -> None:
    for make in (playing, calling):
        for held in (False, True):
            for event in (TimerFired(0.7), GroupsReady(0.7, 0, (4,)), RequestFinished(0.7, 0)):
                c = make(controller())
                if held:
                    c.handle(PlaybackHeld(0.65))
                c.handle(event)
                assert c.held is held, event


def test_a_policy_holds_from_the_next_call_on() -> None:
    c = playing(controller())
    c.handle(PolicyChanged(0.6, Policy(16.0, 5)))
    assert of(Launch, c.handle(ConditionChanged(0.65, 1, 0.65, True)))[0].window == 5
    c.handle(PolicyChanged(0.7, Policy(16.0, 3)))
    c.handle(GroupsReady(1.1, 1, (4,) * 5))
    c.handle(ConditionChanged(1.15, 2, 1.15, True))
    assert of(Launch, c.handle(RequestFinished(1.2, 1)))[0].window == 3


def test_inputs_that_come_during_a_call_are_the_next_calls() -> None:
    c = calling(controller())
    c.handle(ConditionChanged(0.65, 2, 0.65))
    c.handle(InputsReady(0.7, 2))
    c.handle(GroupsReady(1.1, 1, (4,) * 8))
    assert of(Launch, c.handle(RequestFinished(1.1, 1)))[0].version == 2


def test_inputs_that_are_rejected_during_a_call_are_answered() -> None:
    c = calling(controller())
    c.handle(ConditionChanged(0.65, 2, 0.65))
    receipt = of(Receipt, c.handle(InputsRejected(0.7, 2, "too long")))
    assert [(r.version, r.outcome) for r in receipt] == [(2, Outcome.REJECTED)]


def test_a_call_without_an_update_to_answer_ends_in_consume() -> None:
    c = calling(controller())
    c.handle(GroupsReady(1.1, 1, (4,) * 8))
    assert c.end == 11
    c.handle(RequestFinished(1.1, 1))
    assert c.state is State.CONSUME


def test_a_group_that_starts_during_a_call_is_delivered() -> None:
    c = calling(controller())
    c.handle(GroupStarted(0.75, 1))
    assert c.delivered == 2


def test_a_closed_machine_revokes_everything_answers_every_update_and_takes_no_event() -> None:
    for make, version in ((playing, 0), (calling, 1)):
        c = make(controller())
        commands = c.handle(SessionClosed(0.7))
        assert c.state is State.CLOSED
        assert len(of(Abandon, commands)) == version
        assert [r.outcome for r in of(Receipt, commands)] == [Outcome.DROPPED] * version
        assert c.counts.predicted == c.counts.delivered + c.counts.revoked + len(c.cache)
        with pytest.raises(ProtocolError, match="TimerFired cannot happen in closed"):
            c.handle(TimerFired(0.8))


def test_what_cannot_happen_is_refused() -> None:
    c = playing(controller())
    with pytest.raises(ProtocolError, match="group 5 cannot start"):
        c.handle(GroupStarted(0.75, 5))
    c = playing(controller())
    with pytest.raises(ProtocolError, match="not newer"):
        c.handle(ConditionChanged(0.6, 0, 0.6))
    c = calling(controller())
    with pytest.raises(ProtocolError, match="more than its 8 groups"):
        c.handle(GroupsReady(1.0, 1, (4,) * 9))


# -- trouble ------------------------------------------------------------------------------------------------------------


def test_after_some_failures_it_rests_longer_each_time_and_tries_again_by_itself() -> None:
    c = calling(controller())
    c.handle(RequestFinished(0.7, 1, "out of memory"))
    commands = c.handle(RequestFinished(0.8, 2, "out of memory"))
    assert "tried again in 2 s" in of(Notice, commands)[0].message
    assert of(SetTimer, commands)[-1].at == pytest.approx(2.8)
    assert not of(Launch, c.handle(TimerFired(2.7)))
    assert of(Launch, c.handle(TimerFired(2.8)))[0].version == 1
    commands = c.handle(RequestFinished(2.9, 3, "out of memory"))
    assert of(SetTimer, commands)[-1].at == pytest.approx(6.9)
    for call in range(4, 12):
        c.handle(TimerFired(100.0 * call))
        commands = c.handle(RequestFinished(100.0 * call + 1, call, "out of memory"))
    assert of(SetTimer, commands)[-1].at == 1161.0


def test_old_policies_rest_until_a_new_condition_comes() -> None:
    c = calling(controller(retry_after=0.0))
    c.handle(RequestFinished(0.7, 1, "out of memory"))
    assert of(SetTimer, c.handle(RequestFinished(0.8, 2, "out of memory")))[-1].at == float("inf")
    assert not of(Launch, c.handle(TimerFired(900.0)))


def test_a_new_condition_is_a_new_try_only_when_it_can_run() -> None:
    c = calling(controller())
    c.handle(RequestFinished(0.7, 1, "out of memory"))
    c.handle(RequestFinished(0.8, 2, "out of memory"))
    assert not of(Launch, c.handle(ConditionChanged(0.9, 2, 0.9))), "the version that failed is not tried first"
    assert of(Launch, c.handle(InputsReady(1.0, 2)))[0].version == 2


def test_a_limit_is_some_times_the_calls_own_estimate_and_doubles_after_each_that_took_too_long() -> None:
    c = calling(controller(hard_limit=1.0))
    assert not of(Abandon, c.handle(TimerFired(2.5)))
    assert of(Abandon, c.handle(TimerFired(2.6))), "4 x 0.5 s after its launch at 0.6 s"
    assert not of(Abandon, c.handle(TimerFired(2.6 + 3.9)))
    assert of(Abandon, c.handle(TimerFired(2.6 + 4.0)))


def test_a_calls_own_steps_give_it_time_before_anything_was_measured() -> None:
    c = controller(hard_limit=3.0)
    c.handle(TimerFired(0.0))
    c.handle(CallProgressed(0.0, 0, 0, 8))
    assert of(SetTimer, c.handle(CallProgressed(2.0, 0, 1, 8)))[-1].at == 64.0
    assert not of(Abandon, c.handle(TimerFired(60.0)))


def test_a_group_that_is_lost_is_revoked_with_all_after_it_and_made_anew() -> None:
    c = calling(controller())  # groups 1 and 2 are locked, the call is at 3
    commands = c.handle(GroupLost(0.7, 2, "NaN"))
    assert [x.call for x in of(Abandon, commands)] == [1]
    assert [e.position for r in of(Revoke, commands) for e in r.entries] == [2]
    assert [(x.branch, x.version) for x in of(Launch, commands)] == [(2, 1)]
    assert c.failures == 1, "another noise than before"
    c.handle(GroupsReady(1.0, 2, (4,) * 8))
    c.handle(RequestFinished(1.0, 2))
    assert c.failures == 1, "it is not known yet whether these can be decoded"
    c.handle(GroupStarted(1.0, 1))
    c.handle(GroupStarted(1.25, 2))
    assert c.failures == 0


def test_a_group_that_is_lost_while_no_call_runs_is_made_anew_when_it_is_due() -> None:
    c = playing(controller())
    commands = c.handle(GroupLost(0.6, 2, "NaN"))
    assert [x.branch for x in of(Launch, commands)] == [2], "0.4 s before it is due, and C is 0.5 s"
    c = playing(controller())
    assert not of(Launch, c.handle(GroupLost(0.6, 6, "NaN")))
    assert c.end == 6


def test_what_is_made_anew_begins_at_a_branch_point_of_the_model() -> None:
    c = playing(controller(block=4))
    commands = c.handle(GroupLost(0.6, 6, "NaN"))
    assert [e.position for r in of(Revoke, commands) for e in r.entries] == [4, 5, 6, 7]


def test_a_group_that_is_lost_during_a_call_ends_it_though_no_other_may_follow_yet() -> None:
    c = calling(controller(attempts=1))
    assert of(Abandon, c.handle(GroupLost(0.7, 2, "NaN")))
    assert c.state is State.CONSUME


def test_a_group_that_is_lost_again_and_again_is_told_and_rested_for() -> None:
    c = playing(controller())
    c.handle(GroupLost(0.6, 1, "NaN"))
    c.handle(GroupsReady(0.7, 1, (4,) * 8))
    c.handle(RequestFinished(0.7, 1))
    commands = c.handle(GroupLost(0.8, 1, "NaN"))
    assert "decoding failed 2 times: NaN" in of(Notice, commands)[0].message
    assert not of(Launch, commands)
    assert of(Launch, c.handle(TimerFired(2.8)))


def test_a_settle_that_fails_after_the_groups_are_there_does_not_want_them_again() -> None:
    c = calling(controller())
    c.handle(GroupsReady(1.1, 1, (4,) * 8))
    assert not of(Launch, c.handle(RequestFinished(1.2, 1, "no memory for keys")))
    assert c.pending is None


# -- keys, edits and pauses ---------------------------------------------------------------------------------------------


def test_a_press_keeps_the_first_group_that_shows_it_though_the_release_comes_at_once() -> None:
    for change, branch in ((Change.PRESS, 5), (Change.OTHER, 4)):
        c = playing(controller(), now=0.1)
        # groups start at 0.1 + 0.25 p; C = 0.1 s, so from group 4, at 1.1 s, and again from there if the release may
        assert of(Launch, c.handle(ConditionChanged(0.9, 1, 0.9, True, change)))[0].branch == 4
        c.handle(ConditionChanged(0.95, 2, 0.95, True, Change.RELEASE))
        c.handle(GroupsReady(0.99, 1, (4,) * 8))
        assert of(Launch, c.handle(RequestFinished(0.99, 1)))[0].branch == branch


def test_a_press_under_words_that_are_rejected_keeps_its_group_all_the_same() -> None:
    c = playing(controller(), now=0.1)
    c.handle(ConditionChanged(0.8, 1, 0.8, False, Change.PRESS))
    c.handle(InputsRejected(0.85, 1, "no such words"))
    assert of(Launch, c.handle(ConditionChanged(0.9, 2, 0.9, True, Change.OTHER)))[0].branch == 4
    c.handle(ConditionChanged(0.95, 3, 0.95, True, Change.RELEASE))
    c.handle(GroupsReady(0.99, 1, (4,) * 8))
    assert of(Launch, c.handle(RequestFinished(0.99, 1)))[0].branch == 5


def test_an_edit_of_the_words_is_measured_by_itself() -> None:
    c = playing(controller())
    c.handle(ConditionChanged(0.6, 1, 0.6, True, Change.PROMPT))
    c.handle(ConditionChanged(0.7, 2, 0.7, True, Change.PRESS))
    c.handle(GroupsReady(2.6, 1, (4,) * 8))
    assert c.estimator.first(Work(8, edit=True)) == 2.0
    assert c.estimator.first(Work(8)) == 0.5, "the world's first call"
    c.handle(RequestFinished(2.6, 1))
    c.handle(GroupsReady(2.9, 2, (4,) * 8))
    assert c.estimator.first(Work(8)) == 0.5, "the slower of 0.5 and 0.3 s"
    assert c.estimator.first(Work(8, edit=True)) == 2.0


def test_an_edit_that_failed_is_an_edit_at_its_next_try() -> None:
    c = playing(controller())
    c.handle(ConditionChanged(0.6, 1, 0.6, True, Change.PROMPT))
    c.handle(RequestFinished(0.7, 1, "broken"))
    assert c.in_flight is not None and c.in_flight.work.edit


def test_the_time_that_a_person_holds_playback_is_nobodys_latency() -> None:
    for release in (PlaybackReleased(6.7, Hold.PAUSE), PlaybackReleased(7.0, Hold.PAUSE, 6.7)):
        c = playing(controller())
        c.handle(ConditionChanged(0.6, 1, 0.6, True))
        c.handle(PlaybackHeld(0.8, Hold.PAUSE, 0.7))
        c.handle(GroupsReady(1.1, 1, (4,) * 8))
        c.handle(RequestFinished(1.1, 1))
        c.handle(release)
        for position, at in ((1, 6.75), (2, 7.0)):
            c.handle(GroupStarted(at, position))
        receipt = next(r for r in of(Receipt, c.handle(GroupStarted(7.25, 3))) if r.outcome == "applied")
        assert (receipt.wait, receipt.generate, receipt.queue) == pytest.approx((0.0, 0.1, 0.55))
        assert receipt.paused == pytest.approx(6.0)
        assert receipt.arrival + receipt.latency + receipt.paused == pytest.approx(7.25)


def test_a_pause_during_a_stall_ends_without_releasing_what_is_not_there() -> None:
    c = playing(controller())
    c.handle(PlaybackHeld(0.6, Hold.STALL))
    c.handle(PlaybackHeld(0.7, Hold.PAUSE))
    c.handle(PlaybackReleased(0.9, Hold.PAUSE))
    assert c.held
    c.handle(PlaybackReleased(1.0, Hold.STALL))
    assert not c.held
    assert c.deadline(1, 1.0) == pytest.approx(0.75 + 0.4)


def test_a_pause_before_the_first_picture_does_not_release_it() -> None:
    c = controller()
    c.handle(TimerFired(0.0))
    c.handle(PlaybackHeld(0.1, Hold.PAUSE))
    c.handle(PlaybackReleased(0.2, Hold.PAUSE))
    assert c.held


def test_an_update_ends_when_it_is_seen_which_may_be_after_it_was_due() -> None:
    c = calling(controller())
    c.handle(GroupsReady(1.1, 1, (4,) * 8))
    c.handle(RequestFinished(1.1, 1))
    for position, at in ((1, 0.75), (2, 1.0)):
        c.handle(GroupStarted(at, position, 1.6))
    receipt = next(r for r in of(Receipt, c.handle(GroupStarted(1.25, 3, 1.6))) if r.outcome == "applied")
    assert receipt.latency == pytest.approx(1.0)
    assert c.deadline(4, 1.6) == pytest.approx(1.5), "deadlines are the clock's"


# -- decoding -----------------------------------------------------------------------------------------------------------


def test_a_branch_leaves_time_to_decode_the_locked_groups_before_it() -> None:
    c = playing(controller(window=12), now=0.1)
    c.estimator.saw_decode(0.2)
    # group p is due at 0.1 + 0.25 p; at 0.2 s it needs p - 1 groups decoded, 0.2 s each, and its own: up to p = 1 too soon
    assert of(Launch, c.handle(ConditionChanged(0.2, 1, 0.2, True)))[0].branch == 2
    c = playing(controller(window=12), now=0.1)
    c.estimator.saw_decode(0.23)
    assert of(Launch, c.handle(ConditionChanged(0.2, 1, 0.2, True)))[0].branch == 5
    c = playing(controller(window=12), now=0.1)
    c.estimator.saw_decode(0.23)
    c.handle(GroupDecoded(0.2, 1, 0.23))
    assert of(Launch, c.handle(ConditionChanged(0.2, 1, 0.2, True)))[0].branch == 2, "what is decoded costs nothing"


def test_c_is_the_sampling_and_a_decode_and_not_the_wait_for_locked_groups() -> None:
    c = calling(controller())
    c.handle(CallProgressed(0.65, 1, 0, 4))
    c.handle(GroupDecoded(1.5, 3, 0.02))
    c.handle(GroupsReady(2.6, 1, (4,) * 8, 1.05))
    c.handle(RequestFinished(2.6, 1))
    assert c.estimator.first(Work(8)) == pytest.approx(0.5), "the slower of the first call's 0.5 and 0.4 + 0.02 s"
    c.handle(ConditionChanged(2.7, 2, 2.7, True))
    c.handle(CallProgressed(2.7, 2, 0, 4))
    c.handle(GroupsReady(9.0, 2, (4,) * 8, 3.1))
    assert c.estimator.first(Work(8)) == pytest.approx(0.42), "of three the slowest is left out"


# -- beyond the paper ---------------------------------------------------------------------------------------------------


def answering(c: Controller, at: float = 0.6) -> Launch:
    """The call that answers an update which comes at 0.6 s."""
    return of(Launch, c.handle(ConditionChanged(at, 1, at, True)))[0]


def test_an_update_is_answered_by_the_shortest_call_that_lasts_until_a_refill_can_follow() -> None:
    c = playing(controller(answers=(1, 2, 3, 5)))
    c.estimator.saw_first(Work(2), 0.2)
    launch = answering(c)
    # two groups last for 0.5 s, which is C of the full K; their own C of 0.2 s allows group 2, at 1.0 s
    assert (launch.window, launch.branch) == (2, 2)
    c.handle(GroupsReady(0.8, 1, (4, 4)))
    refill = of(Launch, c.handle(RequestFinished(0.8, 1)))
    assert not refill, "the answer lasts until 1.5 s"
    refill = of(Launch, c.handle(TimerFired(1.0)))
    assert [(x.window, x.branch, x.reason) for x in refill] == [(8, 4, "refill")]


def test_what_does_not_last_is_no_answer() -> None:
    c = playing(controller(answers=(1,)))
    assert answering(c).window == 8
    c = playing(controller(answers=(2,), commit=Commit.CHUNK))
    c.handle(ConditionChanged(0.6, 1, 0.6, True))
    assert of(Launch, c.handle(TimerFired(2.0)))[0].window == 8


def test_of_the_answers_that_meet_an_aim_the_longest_is_taken() -> None:
    for aim, window in ((0.0, 2), (0.1, 2), (0.45, 3), (0.6, 5), (9.0, 8)):
        c = playing(controller(answers=(2, 3, 5), aim=aim))
        for k, first in ((2, 0.2), (3, 0.3), (5, 0.4)):
            c.estimator.saw_first(Work(k), first)
        assert answering(c).window == window, aim


def running(step: int, press: bool = False, **more: object) -> Controller:
    """Call 1 of five steps is at a step, at 0.7 s; the cache lasts until 4.5 s."""
    c = playing(controller(**{"window": 16, "preempt": 2, **more}))
    c.handle(ConditionChanged(0.6, 1, 0.6, True, Change.PRESS if press else Change.OTHER))
    c.handle(CallProgressed(0.6, 1, 0, 5))
    c.handle(CallProgressed(0.7, 1, step, 5))
    return c


def test_a_call_that_something_newer_makes_worthless_is_stopped_and_gives_back_what_it_revoked() -> None:
    commands = running(1).handle(ConditionChanged(0.72, 2, 0.72, True))
    kinds = [type(x).__name__ for x in commands]
    assert kinds == ["Receipt", "Abandon", "Restore", "Revoke", "Launch", "SetTimer"]
    assert [(x.call, x.version, x.branch) for x in of(Launch, commands)] == [(2, 2, 3)]


@pytest.mark.parametrize(
    ("c", "why"),
    [
        (running(4), "one step is left"),
        (running(1, preempt=0), "it is the paper's method"),
        (running(1, commit=Commit.CHUNK), "nothing may be revoked"),
    ],
    ids=lambda x: x.replace(" ", "-") if isinstance(x, str) else "",
)
def test_a_call_goes_on_where_a_stop_would_not_pay(c: Controller, why: str) -> None:
    assert not of(Abandon, c.handle(ConditionChanged(0.72, 2, 0.72, True))), why


def test_a_call_with_a_press_that_nobody_saw_is_not_stopped_for_its_release_but_for_another_press() -> None:
    assert not of(Abandon, running(1, press=True).handle(ConditionChanged(0.72, 2, 0.72, True, Change.RELEASE)))
    assert of(Abandon, running(1, press=True).handle(ConditionChanged(0.72, 2, 0.72, True, Change.PRESS)))


def test_a_call_with_a_press_that_was_let_go_before_it_began_is_not_stopped() -> None:
    c = playing(controller(window=16, preempt=2))
    c.handle(ConditionChanged(0.6, 1, 0.6, False, Change.PRESS))
    c.handle(ConditionChanged(0.6, 2, 0.6, True, Change.RELEASE))
    c.handle(CallProgressed(0.6, 1, 1, 5))
    assert c.in_flight is not None and c.in_flight.version == 2
    assert not of(Abandon, c.handle(ConditionChanged(0.72, 3, 0.72, True, Change.PRESS)))


def test_no_more_than_two_calls_in_a_row_are_stopped() -> None:
    c = running(1)
    for version, stopped in ((2, 1), (3, 1), (4, 0)):
        assert len(of(Abandon, c.handle(ConditionChanged(0.72, version, 0.72, True)))) == stopped
        assert c.in_flight is not None
        c.handle(CallProgressed(0.72, c.in_flight.call, 0, 5))
    c.handle(GroupsReady(0.8, 3, (4,) * 16))
    launch = of(Launch, c.handle(RequestFinished(0.8, 3)))[0]
    c.handle(CallProgressed(0.8, launch.call, 0, 5))
    assert of(Abandon, c.handle(ConditionChanged(0.81, 5, 0.81, True))), "groups came between"


def test_a_call_is_not_stopped_where_the_picture_would_stall_or_stands_anyway() -> None:
    c = playing(controller(window=4, preempt=2))
    c.handle(TimerFired(1.0))
    c.handle(CallProgressed(1.0, 1, 0, 5))
    assert not of(Abandon, c.handle(ConditionChanged(1.1, 1, 1.1, True))), "the cache lasts until 1.5 s"
    c = running(1)
    c.handle(PlaybackHeld(0.71))
    assert not of(Abandon, c.handle(ConditionChanged(0.72, 2, 0.72, True)))


@pytest.mark.parametrize(
    "policy",
    [{"fps": 0.0}, {"window": 0}, {"phase": 0}, {"block": 0}, {"attempts": 0}, {"hard_limit": 0.0}, {"patience": -1.0}],
)
def test_impossible_policies_are_refused(policy: dict) -> None:
    with pytest.raises(ValueError, match="impossible policy"):
        Policy(**{"fps": 16.0, "window": 7, **policy})


def test_a_long_flood_of_events_keeps_nothing() -> None:
    figures = controller_events(60_000)
    assert figures["memory_at_end_mb"] - figures["memory_at_10_percent_mb"] < 4


def shared(wait: float = 0.0) -> Controller:
    """Its sampler is other worlds' too; the first call done and group 0 on show."""
    c = controller(wait=wait)
    assert not of(Launch, c.handle(TimerFired(0.0)))
    assert of(Launch, c.handle(SlotGranted(0.0)))
    return playing_on(c)


def playing_on(c: Controller) -> Controller:
    c.handle(GroupsReady(0.5, 0, (4,) * 8))
    c.handle(RequestFinished(0.5, 0))
    c.handle(PlaybackReleased(0.5))
    c.handle(GroupStarted(0.5, 0))
    return c


def test_where_worlds_share_a_sampler_nothing_is_locked_or_revoked_before_it_is_granted() -> None:
    c = shared()
    assert c.want is None
    commands = c.handle(ConditionChanged(0.6, 1, 0.6, True))
    assert not of(Launch, commands) and not of(Revoke, commands) and c.end == 8 and c.locked == 1
    assert c.want is not None and c.want.reason == "update"
    assert c.want.latest == pytest.approx(2.0), "the cache ends at 2.5 s, and C is 0.5 s"
    c.handle(GroupStarted(0.75, 1))
    # granted at 0.9 s: 1.4 s is the earliest, so group 4 at 1.5 s
    assert of(Launch, c.handle(SlotGranted(0.9))) == [Launch(1, 4, 8, 1, "update")]
    assert c.want is None and c.state is State.PRODUCE


def test_a_refill_is_asked_for_as_much_earlier_as_others_may_hold_the_sampler() -> None:
    c = shared(wait=0.6)
    assert of(SetTimer, c.handle(GroupDecoded(0.6, 3, 0.0))) == [] and c.want is None
    assert not of(Launch, c.handle(TimerFired(1.4)))
    assert c.want is not None and c.want.reason == "refill" and c.want.latest == pytest.approx(2.0)
    assert of(Launch, c.handle(SlotGranted(1.7))) == [Launch(1, 8, 8, 0, "refill")]


def test_a_grant_is_for_one_call_that_is_wanted_then() -> None:
    c = shared()
    assert not of(Launch, c.handle(SlotGranted(0.6))), "nothing is wanted"
    assert c.state is State.CONSUME
    c.handle(ConditionChanged(0.7, 1, 0.7, True))
    for late in (
        CallProgressed(0.7, 0, 1, 4),
        GroupsReady(0.7, 0, (4,)),
        RequestFinished(0.7, 0),
        TimerFired(0.7),
        GroupDecoded(0.7, 3, 0.0),
        GroupLost(0.7, 0, "played already"),
        PlaybackHeld(0.7),
        PlaybackReleased(0.7),
        InputsReady(0.7, 1),
        InputsRejected(0.7, 1, "too long"),
        PolicyChanged(0.7, c.policy),
    ):
        assert not of(Launch, c.handle(late)), f"{late} grants nothing"
    assert of(Launch, c.handle(SlotGranted(0.8)))
    with pytest.raises(ProtocolError, match="under way"):
        c.handle(SlotGranted(0.9))


def test_a_closed_machine_wants_nothing() -> None:
    c = shared()
    c.handle(ConditionChanged(0.6, 1, 0.6, True))
    assert c.want is not None
    c.handle(SessionClosed(0.7))
    assert c.want is None


# -- an alternative in idle time ----------------------------------------------------------------------------------------


def guessing(**more: object) -> tuple[Controller, list]:
    """Sixteen groups are cached, until 4.5 s; at 0.6 s the likeliest condition after version 0 is known."""
    c = playing(controller(**{"window": 16, "ahead": 1, **more}))  # type: ignore[arg-type]
    return c, c.handle(Guessed(0.6, 0))


def waiting(**more: object) -> Controller:
    """The alternative is there, at 1.1 s, from group 4 on; group 2 is on show."""
    c, _ = guessing(**more)
    c.handle(GroupStarted(0.75, 1))
    c.handle(GroupStarted(1.0, 2))
    c.handle(GroupsReady(1.1, 1, (4,) * 16))
    c.handle(RequestFinished(1.1, 1))
    return c


def test_in_idle_time_the_likeliest_next_condition_is_sampled_beside_the_cache() -> None:
    c, commands = guessing()
    # as for an update, group 3 at 1.25 s is the first that could be in time; one more is ahead
    assert of(Launch, commands) == [Launch(1, 4, 16, 0, "alternative")]
    assert not of(Revoke, commands)
    assert (c.end, c.locked) == (16, 1)


def test_without_the_policy_a_guess_does_nothing() -> None:
    assert guessing(ahead=0)[1] == []


def test_a_guess_after_an_older_version_does_nothing() -> None:
    c = playing(controller(window=16, ahead=1))
    c.handle(ConditionChanged(0.55, 1, 0.55, False))
    assert not of(Launch, c.handle(Guessed(0.6, 0)))


def test_what_is_guessed_while_a_call_runs_is_sampled_after_it() -> None:
    c = calling(controller(window=16, ahead=1))
    assert not of(Launch, c.handle(Guessed(0.65, 1)))
    c.handle(GroupsReady(1.1, 1, (4,) * 16))
    assert [(x.reason, x.version) for x in of(Launch, c.handle(RequestFinished(1.1, 1)))] == [("alternative", 1)]


def test_the_condition_that_was_guessed_plays_from_where_the_alternative_begins() -> None:
    c = waiting()
    assert c.end == 16
    commands = c.handle(ConditionChanged(1.2, 1, 1.18, True, Change.RELEASE, True))
    assert [e.position for r in of(Revoke, commands) for e in r.entries] == list(range(4, 16))
    (take,) = of(Take, commands)
    assert (take.call, [e.position for e in take.entries]) == (1, list(range(4, 20)))
    assert {e.version for e in take.entries} == {1}
    assert c.locked == 4
    assert not of(Launch, commands)
    c.handle(GroupStarted(1.25, 3))
    (receipt,) = [r for r in of(Receipt, c.handle(GroupStarted(1.5, 4))) if r.version == 1]
    assert receipt.outcome is Outcome.APPLIED
    assert (receipt.wait, receipt.generate, receipt.queue) == pytest.approx((0.02, 0.0, 0.3))
    assert c.counts.predicted == c.counts.delivered + c.counts.revoked + len(c.cache)


def test_a_press_that_was_guessed_keeps_its_first_group() -> None:
    c = waiting()
    c.handle(ConditionChanged(1.2, 1, 1.2, True, Change.PRESS, True))
    assert c.locked == 5


def test_another_condition_drops_the_alternative_and_it_counts_as_revoked() -> None:
    c = waiting()
    commands = c.handle(ConditionChanged(1.2, 1, 1.2, True))
    assert not of(Take, commands)
    assert of(Launch, commands)[0].branch == 5
    assert c.alternative is None
    assert (c.counts.predicted, c.counts.revoked) == (32, 16 + 11)


def test_what_a_new_call_would_show_sooner_is_not_taken() -> None:
    c, _ = guessing(ahead=3)
    c.handle(GroupsReady(0.7, 1, (4,) * 16))
    c.handle(RequestFinished(0.7, 1))
    commands = c.handle(ConditionChanged(0.72, 1, 0.72, True, Change.RELEASE, True))
    assert not of(Take, commands), "the alternative begins with group 6"
    assert of(Launch, commands)[0].branch == 3


def test_the_alternative_in_flight_becomes_the_call_for_the_condition_that_was_guessed() -> None:
    c, _ = guessing()
    c.handle(CallProgressed(0.6, 1, 0, 5))
    c.handle(GroupStarted(0.75, 1))
    c.handle(GroupStarted(1.0, 2))
    commands = c.handle(ConditionChanged(1.02, 1, 1.02, True, Change.PRESS, True))
    assert of(Promote, commands) == [Promote(1, 1)]
    assert [e.position for r in of(Revoke, commands) for e in r.entries] == list(range(4, 16))
    c.handle(GroupsReady(1.1, 1, (4,) * 16))
    assert {x.version for x in c.cache if x.position >= 4} == {1}
    assert c.locked == 5, "it shows a press"
    assert c.estimator.first(Work(16)) == pytest.approx(0.5)


def test_the_alternative_in_flight_makes_room_for_another_condition() -> None:
    c, _ = guessing()
    commands = c.handle(ConditionChanged(0.7, 1, 0.7, True))
    assert [x.call for x in of(Abandon, commands)] == [1]
    assert [(x.call, x.reason) for x in of(Launch, commands)] == [(2, "update")]


def test_the_alternative_in_flight_makes_room_for_a_condition_whose_inputs_are_not_there() -> None:
    c, _ = guessing()
    assert of(Abandon, c.handle(ConditionChanged(0.7, 1, 0.7, False)))
    assert c.state is State.CONSUME


def test_the_alternative_in_flight_makes_room_for_a_refill() -> None:
    c, _ = guessing()
    for p in range(1, 15):
        c.handle(GroupStarted(0.5 + 0.25 * p, p))
    assert c.in_flight is not None and c.in_flight.reason == "alternative"
    commands = c.handle(TimerFired(4.0))  # the cache ends at 4.5 s, and C is 0.5 s
    assert of(Abandon, commands)
    assert of(Launch, commands) == [Launch(2, 16, 16, 0, "refill")]


def test_an_alternative_that_would_delay_a_refill_is_not_begun() -> None:
    for at, begun in ((2.4, True), (2.6, False)):
        c = playing(controller(window=16, ahead=1, first=1.0))
        c.estimator.saw_first(Work(16), 1.0)
        for p in range(1, 9):
            c.handle(GroupStarted(0.5 + 0.25 * p, p))
        # the cache ends at 4.5 s, so the refill begins at 3.5 s; the alternative takes a second
        assert bool(of(Launch, c.handle(Guessed(at, 0)))) is begun


def test_an_alternative_whose_place_has_come_is_dropped_and_one_more_is_sampled_then_none() -> None:
    c = waiting()
    c.handle(GroupStarted(1.25, 3))
    (launch,) = of(Launch, c.handle(GroupStarted(1.5, 4)))
    assert (launch.reason, launch.branch) == ("alternative", 7)
    c.handle(GroupsReady(1.6, 2, (4,) * 16))
    c.handle(RequestFinished(1.6, 2))
    for p in range(5, 12):
        assert not of(Launch, c.handle(GroupStarted(0.5 + 0.25 * p, p)))
    assert c.alternative is None
    assert c.counts.revoked == 32


def test_a_refill_locks_what_an_alternative_would_take_the_place_of() -> None:
    c, commands = guessing(window=8, ahead=4)
    assert of(Launch, commands)[0].branch == 7
    c.handle(GroupsReady(1.1, 1, (4,) * 8))
    c.handle(RequestFinished(1.1, 1))
    for p in range(1, 6):
        c.handle(GroupStarted(0.5 + 0.25 * p, p))
    assert of(Launch, c.handle(TimerFired(2.0))) == [Launch(2, 8, 8, 0, "refill")]
    commands = c.handle(ConditionChanged(2.02, 1, 2.02, True, Change.RELEASE, True))
    assert not of(Take, commands) and not of(Abandon, commands)
    assert c.alternative is None


def test_an_alternative_that_fails_is_no_failure_of_the_world() -> None:
    c, _ = guessing()
    commands = c.handle(RequestFinished(0.7, 1, "out of memory"))
    assert (c.failures, of(Launch, commands), of(Notice, commands)) == (0, [], [])
    assert of(Launch, c.handle(ConditionChanged(0.8, 1, 0.8, True)))


def test_what_is_revoked_before_its_branch_takes_the_alternative_along() -> None:
    c = waiting()
    c.handle(GroupLost(1.2, 3, "NaN"))
    assert c.alternative is None


def test_a_policy_without_alternatives_drops_what_waits_and_stops_what_runs() -> None:
    c = waiting()
    c.handle(PolicyChanged(1.15, Policy(16.0, 16)))
    assert c.alternative is None
    c, _ = guessing()
    assert of(Abandon, c.handle(PolicyChanged(0.7, Policy(16.0, 16))))


def test_a_world_that_is_left_counts_the_alternative_as_revoked() -> None:
    c = waiting()
    c.handle(SessionClosed(1.2))
    assert c.counts.predicted == 32
    assert c.counts.revoked == 32 - 3
