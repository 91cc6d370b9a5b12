"""Invariants I1 to I8 under random sequences of events, good and bad: other sequences at every run.

FORELAND_SEQUENCES says how many (200 if unset). A failure prints the steps and a `@reproduce_failure` line, which repeats it
when it is put above `TestController`."""

from __future__ import annotations

import os
import random
from dataclasses import replace

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from engine.control.controller import Controller
from engine.control.estimator import Estimator
from engine.control.events import (
    CallProgressed,
    Change,
    Commit,
    ConditionChanged,
    Event,
    GroupsReady,
    GroupStarted,
    Launch,
    Outcome,
    PlaybackReleased,
    Policy,
    PolicyChanged,
    Receipt,
    RequestFinished,
    SessionClosed,
    TimerFired,
)
from tests.engine.control.machine import Machine

SEQUENCES = int(os.environ.get("FORELAND_SEQUENCES", "200"))
SPANS = {
    "even": lambda p: 4,
    "wan": lambda p: 1 if p == 0 else 4,
    "h3": lambda p: (1, 4, 4, 4, 4)[p % 5],
}


class ControllerMachine(RuleBasedStateMachine):
    @initialize(
        window=st.integers(1, 9),
        commit=st.sampled_from(Commit),
        spans=st.sampled_from(sorted(SPANS)),
        phase=st.integers(1, 3),
        block=st.integers(1, 3),
        beyond=st.booleans(),
    )
    def begin(self, window: int, commit: Commit, spans: str, phase: int, block: int, beyond: bool) -> None:
        more = {"answers": (2, 3, 5), "preempt": 2, "ahead": 1} if beyond else {}
        policy = Policy(16.0, window, commit, phase, block % 2, block, hard_limit=5.0, **more)  # type: ignore[arg-type]
        self.machine = Machine(policy, SPANS[spans])

    @rule(ready=st.booleans(), change=st.sampled_from(Change), guessed=st.booleans())
    def update(self, ready: bool, change: Change, guessed: bool) -> None:
        self.machine.update(ready, change, guessed)

    @rule()
    def guess(self) -> None:
        self.machine.guess_next()

    @rule(seconds=st.floats(0.001, 0.5))
    def a_group_is_decoded(self, seconds: float) -> None:
        self.machine.decode(seconds)

    @rule(ahead=st.integers(0, 4))
    def a_group_is_lost(self, ahead: int) -> None:
        self.machine.lose(ahead)

    @rule(step=st.integers(0, 4))
    def call_goes_on(self, step: int) -> None:
        m = self.machine
        if m.in_flight is not None:
            m.feed(CallProgressed(m.now, m.in_flight.call, step, 4))

    @rule(good=st.integers(0, 4))
    def inputs(self, good: int) -> None:
        self.machine.inputs(good > 0)

    @rule()
    def call_makes_groups(self) -> None:
        self.machine.groups()

    @rule()
    def call_ends(self) -> None:
        self.machine.finish()

    @rule()
    def call_makes_and_ends(self) -> None:
        self.machine.groups()
        self.machine.finish()

    @rule()
    def call_fails(self) -> None:
        self.machine.finish("broken")

    @rule()
    def late_output(self) -> None:
        self.machine.stale()

    @rule(seconds=st.floats(0.001, 4.0))
    def time_passes(self, seconds: float) -> None:
        self.machine.elapse(seconds)

    @rule()
    def pause(self) -> None:
        self.machine.pause()

    @rule()
    def resume(self) -> None:
        self.machine.resume()

    @rule(
        window=st.integers(1, 9),
        commit=st.sampled_from(Commit),
        preempt=st.integers(0, 2),
        answers=st.sampled_from([(), (1, 2, 4), (3, 5)]),
        ahead=st.integers(0, 2),
    )
    def change_policy(self, window: int, commit: Commit, preempt: int, answers: tuple[int, ...], ahead: int) -> None:
        m = self.machine
        new = {"window": window, "commit": commit, "preempt": preempt, "answers": answers, "ahead": ahead}
        m.feed(PolicyChanged(m.now, replace(m.controller.policy, **new)))  # type: ignore[arg-type]

    def teardown(self) -> None:
        if hasattr(self, "machine"):
            self.machine.end()


ControllerMachine.TestCase.settings = settings(
    max_examples=SEQUENCES,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
TestController = ControllerMachine.TestCase


@pytest.mark.parametrize("seed", range(4))
def test_of_keys_that_are_guessed_every_invariant_holds_and_alternatives_play(seed: int) -> None:
    rng = random.Random(seed)
    m = Machine(Policy(16.0, 9, ahead=1, preempt=2, answers=rng.choice(((), (3, 5)))))
    m.controller.estimator = Estimator(cold=0.2, margin=0.05)
    for _ in range(400):
        x = rng.random()
        if x < 0.25:
            m.update(rng.random() < 0.9, rng.choice((Change.PRESS, Change.RELEASE)), rng.random() < 0.7)
            m.guess_next()
        elif x < 0.3:
            rng.choice((lambda: m.inputs(True), lambda: m.lose(rng.randrange(4)), m.pause, m.stale))()
        m.resume()
        m.elapse(rng.uniform(0.02, 0.2))
        if rng.random() < 0.3:
            m.groups()
            m.finish("broken" if rng.random() < 0.05 else "")
    assert m.taken > 2 and m.promoted > 0
    m.end()


@pytest.mark.parametrize("seed", range(6))
def test_in_a_storm_of_keys_with_failing_calls_every_group_that_came_back_has_its_receipt(seed: int) -> None:
    """A minute of three keys a second, of whose calls one in five fails: what a failed call gives back may be of a call of which
    nothing else is cached."""
    rng = random.Random(seed)
    estimator = Estimator(cold=0.2, margin=0.05)
    c = Controller(Policy(16.0, 7), 0.0, estimator=estimator)
    flying: list[tuple[Launch, float]] = []
    received, ended, version, now = 0, 0, 0, 0.0

    def feed(event: Event) -> None:
        nonlocal received, ended
        for command in c.handle(event):
            if isinstance(command, Launch):
                flying.append((command, now + rng.choice((0.1, 0.2))))
            elif isinstance(command, Receipt):
                received += command.outcome is Outcome.RECEIVED
                ended += command.outcome is not Outcome.RECEIVED

    feed(TimerFired(0.0))
    while now < 60:
        now = round(now + 0.05, 3)
        if c.delivered or c.cache:
            while c.cache and not c.held and c.deadline(c.delivered, now) <= now:
                feed(GroupStarted(c.deadline(c.delivered, now), c.delivered))
        if flying and flying[0][1] <= now:
            launch, _ = flying.pop()
            if rng.random() < 0.2:
                feed(RequestFinished(now, launch.call, "broken"))
            else:
                feed(GroupsReady(now, launch.call, (4,) * 7))
                feed(RequestFinished(now, launch.call))
                if c.held:
                    feed(PlaybackReleased(now))
        if rng.random() < 0.3:
            version += 1
            feed(ConditionChanged(now, version, now, True))
        feed(TimerFired(now))
    feed(SessionClosed(now))
    assert received == version > 200
    assert ended == version + 1, "the first condition's as well"
