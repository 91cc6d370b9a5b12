"""A model for tests of threads and bookkeeping: it only takes time, and paints each group in a colour of its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from engine.control.conditions import Condition
from engine.models.interface import (
    ConditionError,
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

SPEC = ModelSpec("toy", 4, 2, 16.0, (4, 4), (1, 21), 7, 4, (HistoryPolicy.CLEAN_PREFILL,))


class ToySampler(Sampler):
    """A latent is (position, version, call number). broken: calls that fail. seconds: of a call; sleep: lets them pass."""

    def __init__(
        self,
        spec: ModelSpec = SPEC,
        seconds: float = 0.04,
        broken: Sequence[int] = (),
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.spec, self.seconds, self.broken, self.sleep = spec, seconds, set(broken), sleep
        self.calls = 0
        self.groups: dict[int, Group] = {}
        self.closed = False

    def prepare(self, condition: Condition) -> Condition:
        if condition.prompt == "bad":
            raise ConditionError("the prompt is bad: say something else")
        return condition

    def sample(self, request: Request, report: StepCallback) -> list[Group]:
        self.calls += 1
        if request.branch and request.branch - 1 not in self.groups:
            raise KeyError(request.branch - 1)
        for i in range(request.steps):
            self.sleep(self.seconds / request.steps)
            if self.calls - 1 in self.broken:
                raise RuntimeError("out of memory")
            if not report(i + 1, request.steps) and i + 1 < request.steps:
                raise Stopped
        version = request.prepared.version
        return [
            Group(request.branch + i, (request.branch + i, version, self.calls), None) for i in range(request.window)
        ]

    def extend(self, groups: Sequence[Group]) -> None:
        first = groups[0].position
        self.groups = {p: g for p, g in self.groups.items() if p < first} | {g.position: g for g in groups}

    def evict_before(self, position: int) -> None:
        self.groups = {p: g for p, g in self.groups.items() if p >= position - 2}

    def reset(self) -> None:
        self.groups.clear()

    def close(self) -> None:
        self.closed = True


class ToyDecoder(Decoder):
    """A frame's pixels are (position, version, frame in the group). broken: positions that cannot be decoded."""

    def __init__(self, spec: ModelSpec = SPEC, broken: Sequence[int] = ()) -> None:
        self.spec, self.broken = spec, set(broken)

    def decode(self, group: Group) -> list[Frame]:
        if group.position in self.broken:
            raise RuntimeError("cannot decode")
        position, version, _ = group.latent
        out = []
        for i in range(self.spec.span(position)):
            frame = np.empty((2, 4, 3), np.uint8)
            frame[:] = (position % 256, version % 256, i)
            frame.flags.writeable = False
            out.append(frame)
        return out

    def rewind(self, position: int) -> None:
        return

    def reset(self) -> None:
        return


def toy(sampler: ToySampler | None = None, decoder: ToyDecoder | None = None):  # type: ignore[no-untyped-def]
    """A loader for an engine."""

    def load(progress) -> Model:  # type: ignore[no-untyped-def]
        progress("toy", 0.5)
        return Model(sampler or ToySampler(), decoder or ToyDecoder(), "toy-0")

    return load
