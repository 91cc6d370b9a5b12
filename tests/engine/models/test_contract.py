"""The checks of `foreland models check`: each catches a sampler or decoder that breaks its promise, and passes a good one."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from engine.control.conditions import Condition
from engine.models.contract import Finding, check, same
from engine.models.interface import (
    Decoder,
    Group,
    HistoryPolicy,
    Model,
    ModelSpec,
    Request,
    Sampler,
    StepCallback,
    Stopped,
)
from engine.playback.player import Frame


@pytest.fixture(scope="module", autouse=True)
def quick_collections() -> Iterator[None]:
    """The check of memory collects garbage: what was imported before is left out of it."""
    gc.freeze()
    yield
    gc.unfreeze()


SPEC = ModelSpec("good", 4, 2, 16.0, (1, 4), (1, 9), 4, 3, (HistoryPolicy.LATENT_INPUT,))


class Good(Sampler[tuple[str, ...]]):
    """A latent is the one before it, moved by keys and noise."""

    def __init__(self) -> None:
        self.spec = SPEC
        self.kept: dict[int, Group] = {}

    def prepare(self, condition: Condition) -> tuple[str, ...]:
        return condition.keys

    def noise(self, request: Request[tuple[str, ...]], position: int) -> np.ndarray:
        return np.random.default_rng([request.seed, position, request.attempt]).normal(size=8)

    def before(self, branch: int) -> np.ndarray:
        return self.kept[branch - 1].latent if branch else np.zeros(8)

    def sample(self, request: Request[tuple[str, ...]], report: StepCallback) -> list[Group]:
        z = self.before(request.branch)
        self.denoise(request, report)
        groups = []
        for p in range(request.branch, request.branch + request.window):
            z = 0.5 * z + self.noise(request, p) + len(request.prepared)
            groups.append(Group(p, z, None))
        return groups

    def denoise(self, request: Request[tuple[str, ...]], report: StepCallback) -> None:
        for step in range(1, request.steps + 1):
            if not report(step, request.steps) and step < request.steps:
                raise Stopped

    def extend(self, groups: Sequence[Group]) -> None:
        first = groups[0].position
        self.kept = {p: g for p, g in self.kept.items() if p < first} | {g.position: g for g in groups}

    def evict_before(self, position: int) -> None:
        self.kept = {p: g for p, g in self.kept.items() if p >= position - 1}

    def reset(self) -> None:
        self.kept = {}


class GoodDecoder(Decoder):
    def decode(self, group: Group) -> list[Frame]:
        frames = [np.full((2, 4, 3), i, np.uint8) for i in range(SPEC.span_of(group))]
        for f in frames:
            f.flags.writeable = False
        return frames

    def rewind(self, position: int) -> None:
        return

    def reset(self) -> None:
        return


class SkipsAPosition(Good):
    def sample(self, request: Request[Any], report: StepCallback) -> list[Group]:
        return [Group(g.position + (g.position > 1), g.latent, None) for g in super().sample(request, report)]


class GlobalDice(Good):
    def noise(self, request: Request[Any], position: int) -> np.ndarray:
        return np.random.normal(size=8)


class IgnoresTheSeed(Good):
    def noise(self, request: Request[Any], position: int) -> np.ndarray:
        return np.random.default_rng([position, request.attempt]).normal(size=8)


class IgnoresTheAttempt(Good):
    def noise(self, request: Request[Any], position: int) -> np.ndarray:
        return np.random.default_rng([request.seed, position]).normal(size=8)


class IgnoresThePosition(Good):
    def sample(self, request: Request[Any], report: StepCallback) -> list[Group]:
        z = self.before(request.branch) + self.noise(request, 0)
        return [Group(request.branch + i, z, None) for i in range(request.window)]


class KeepsWhatItSampled(Good):
    """The call after a revocation continues what was revoked."""

    def __init__(self) -> None:
        super().__init__()
        self.last = np.zeros(8)

    def extend(self, groups: Sequence[Group]) -> None:
        super().extend(groups)
        self.last = self.last + groups[-1].latent

    def before(self, branch: int) -> np.ndarray:
        return super().before(branch) + self.last

    def reset(self) -> None:
        super().reset()
        self.last = np.zeros(8)


class NeverStops(Good):
    def denoise(self, request: Request[Any], report: StepCallback) -> None:
        for step in range(1, request.steps + 1):
            report(step, request.steps)


class StopsLate(Good):
    def denoise(self, request: Request[Any], report: StepCallback) -> None:
        if not all([report(step, request.steps) for step in range(1, request.steps + 1)]):
            raise Stopped


class KeepsAStoppedCall(Good):
    def denoise(self, request: Request[Any], report: StepCallback) -> None:
        try:
            super().denoise(request, report)
        except Stopped:
            self.kept = {p: Group(p, g.latent + 1, None) for p, g in self.kept.items()}
            raise


class NeverEvicts(Good):
    def evict_before(self, position: int) -> None:
        return


class RemembersOverReset(Good):
    def reset(self) -> None:
        return


class ShortSpan(GoodDecoder):
    def decode(self, group: Group) -> list[Frame]:
        return super().decode(group)[:1]


class WrongSize(GoodDecoder):
    def decode(self, group: Group) -> list[Frame]:
        return [np.zeros((4, 2, 3), np.uint8) for _ in super().decode(group)]


class Writeable(GoodDecoder):
    def decode(self, group: Group) -> list[Frame]:
        return [f.copy() for f in super().decode(group)]


class KeepsFrames(GoodDecoder):
    def __init__(self) -> None:
        self.frames: list[Frame] = []

    def decode(self, group: Group) -> list[Frame]:
        out = super().decode(group)
        self.frames += out
        return out


def broken(sampler: Sampler[Any], decoder: Decoder) -> list[Finding]:
    return [f for f in check(Model(sampler, decoder, "x")) if not f.kept]


def test_a_good_model_keeps_every_promise() -> None:
    findings = list(check(Model(Good(), GoodDecoder(), "x")))
    assert [str(f) for f in findings if not f.kept] == []
    assert len(findings) == 7


@pytest.mark.parametrize(
    ("sampler", "decoder", "promise", "seen"),
    [
        (SkipsAPosition, GoodDecoder, "follow each other", "gave groups at"),
        (GlobalDice, GoodDecoder, "seed, position and attempt", "second time"),
        (IgnoresTheSeed, GoodDecoder, "seed, position and attempt", "another seed"),
        (IgnoresTheAttempt, GoodDecoder, "seed, position and attempt", "another attempt"),
        (IgnoresThePosition, GoodDecoder, "seed, position and attempt", "two positions"),
        (KeepsWhatItSampled, GoodDecoder, "leaves no trace", "taken back"),
        (NeverStops, GoodDecoder, "stops at a step", "went on to its end"),
        (StopsLate, GoodDecoder, "stops at a step", "2 steps more"),
        (KeepsAStoppedCall, GoodDecoder, "stops at a step", "one that was stopped"),
        (NeverEvicts, GoodDecoder, "let go", "positions more hold"),
        (Good, KeepsFrames, "let go", "positions more hold"),
        (RemembersOverReset, GoodDecoder, "reset forgets", "instead of raising KeyError"),
        (Good, ShortSpan, "span says", "decodes to 1 frames, its span is 4"),
        (Good, WrongSize, "span says", "not uint8 (2, 4, 3)"),
        (Good, Writeable, "span says", "written to"),
    ],
)
def test_a_planted_fault_is_found(
    sampler: Callable[[], Sampler[Any]], decoder: Callable[[], Decoder], promise: str, seen: str
) -> None:
    found = [f for f in broken(sampler(), decoder()) if promise in f.promise]
    assert len(found) == 1
    assert seen in found[0].error


def test_an_exception_is_a_finding_and_the_other_checks_go_on() -> None:
    class Fails(Good):
        def denoise(self, request: Request[Any], report: StepCallback) -> None:
            raise RuntimeError("out of memory")

    findings = list(check(Model(Fails(), GoodDecoder(), "x")))
    assert len(findings) == 7 and "RuntimeError: out of memory" in findings[0].error


def test_equal_means_equal_bit_for_bit() -> None:
    import torch

    z = torch.ones(2)
    assert same([z, {"a": np.ones(3)}], [z.clone(), {"a": np.ones(3)}])
    assert not same(z, z + 1e-7)
    assert not same(np.ones(2), np.ones(2, np.float32))
    assert not same((z,), [z])
