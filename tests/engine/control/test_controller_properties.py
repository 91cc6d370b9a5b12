"""Invariants I1 to I8 under random sequences of events, good and bad: other sequences at every run.

FORELAND_SEQUENCES says how many (200 if unset). A failure prints the steps and a `@reproduce_failure` line, which repeats it
when it is put above `TestController`."""

from __future__ import annotations

import os

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from engine.control.events import Commit, Policy, PolicyChanged
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
    )
    def begin(self, window: int, commit: Commit, spans: str, phase: int, block: int) -> None:
        policy = Policy(16.0, window, commit, phase=phase, phase_offset=block % 2, block=block, hard_limit=5.0)
        self.machine = Machine(policy, SPANS[spans])

    @rule(ready=st.booleans())
    def update(self, ready: bool) -> None:
        self.machine.update(ready)

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

    @rule(window=st.integers(1, 9), commit=st.sampled_from(Commit))
    def change_policy(self, window: int, commit: Commit) -> None:
        m = self.machine
        old = m.controller.policy
        m.feed(
            PolicyChanged(m.now, Policy(16.0, window, commit, old.phase, old.phase_offset, old.block, hard_limit=5.0))
        )

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
