"""Several live engines that take turns to sample, in virtual time."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from engine.models.interface import Group, Request, StepCallback
from engine.runtime.clock import VirtualClock
from engine.runtime.engine import Engine
from engine.runtime.replay import replay
from engine.runtime.settings import Settings
from engine.runtime.shared_sampler import SharedSampler
from tests.toy import SPEC, ToySampler, toy


class Turns:
    """Engines of one clock that share a sampler; who samples when, and what each shows."""

    def __init__(
        self, folder: Path, people: int, seconds: float = 0.3, broken: dict[int, tuple[int, ...]] | None = None
    ) -> None:
        self.clock = VirtualClock()
        self.shared = SharedSampler(self.clock)
        self.calls: list[tuple[int, float, float]] = []
        turns = self

        class Sampler(ToySampler):
            who = 0

            def sample(self, request: Request, report: StepCallback) -> list[Group]:
                began = turns.clock.now()
                try:
                    return super().sample(request, report)
                finally:
                    turns.calls.append((self.who, began, turns.clock.now()))

        self.engines: list[Engine] = []
        self.shown = [0] * people
        for who in range(people):
            sampler = Sampler(SPEC, seconds, (broken or {}).get(who, ()), sleep=self.clock.sleep)
            sampler.who = who
            self.engines.append(
                Engine(toy(sampler), SPEC, Settings(prompt="a"), folder / str(who), self.clock, self.shared)
            )

    def seconds(self, seconds: float) -> None:
        end = self.clock.now() + seconds
        while self.clock.now() < end:
            for who, engine in enumerate(self.engines):
                if engine.running:
                    self.shown[who] += sum(p.image is not None for p in engine.player.advance(self.clock.now()))
            self.clock.sleep(0.004)

    def overlap(self) -> bool:
        spans = sorted((began, end) for _, began, end in self.calls)
        return any(b < end - 1e-6 for (_, end), (b, _) in pairwise(spans))


def test_three_worlds_play_without_a_stall_and_one_call_runs_at_a_time(tmp_path: Path) -> None:
    turns = Turns(tmp_path, 3)
    for engine in turns.engines:
        engine.start()
    turns.seconds(6.0)
    assert [e.view.shared for e in turns.engines] == [2, 2, 2]
    turns.engines[1].press("forward")
    turns.seconds(3.0)
    assert turns.engines[1].view.L50 is not None and turns.engines[1].view.L50 < 0.3 * 3 + 0.5
    turns.engines[0].new_world("b")
    turns.seconds(3.0)
    turns.engines[2].close()
    turns.seconds(3.0)
    assert [e.view.shared for e in turns.engines[:2]] == [1, 1] and turns.shared.people == 2
    assert not turns.overlap()
    assert [e.player.total_stalls for e in turns.engines] == [0, 0, 0]
    assert min(turns.shown[:2]) > 12 * 16
    for engine in turns.engines:
        engine.close()
    for who in range(3):
        assert replay(tmp_path / str(who)).difference == ""


def test_calls_that_fail_and_worlds_that_are_left_keep_nobody_else_waiting(tmp_path: Path) -> None:
    turns = Turns(tmp_path, 2, broken={0: tuple(range(2, 30))})
    for engine in turns.engines:
        engine.start()
    turns.seconds(12.0)
    assert turns.engines[0].view.failures > 0
    assert turns.engines[1].player.total_stalls == 0 and turns.shown[1] > 11 * 16
    turns.engines[0].close()
    shown = turns.shown[1]
    turns.seconds(4.0)
    assert turns.shown[1] > shown + 60
    turns.engines[1].close()
    assert turns.shared.people == 0


def test_too_many_are_not_let_in(tmp_path: Path) -> None:
    turns = Turns(tmp_path, 2, seconds=0.75)
    assert turns.shared.too_many is None
    for engine in turns.engines:
        engine.start()
    turns.seconds(25.0)
    assert turns.shared.too_many == pytest.approx(3 * 0.75, abs=0.3), "two of them take some 0.85 of the time"
    assert turns.shared.wait == pytest.approx(0.75, abs=0.2)
    for engine in turns.engines:
        engine.close()
