"""What every sampler and decoder promises, checked on a loaded model: `foreland models check`, and for tests of a family.

The checks look at nothing but the interface. A sampler is compared with itself: the same calls in another order, or after others that
were taken back, must give the same latents.
"""

from __future__ import annotations

import gc
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import numpy as np

from engine.control.conditions import Condition
from engine.models.interface import Group, HistoryPolicy, MakesSound, Model, PrefillsAhead, Request, Stopped
from engine.playback.player import sample_at

SEED, OTHER_SEED = 1, 2
POSITIONS = 96
"""Positions that the check of memory plays: more than any history that ships, twice."""
GROWTH = 0.25
"""What the second half of these may add to the memory held, as a share of what the first half added."""
SLACK_OBJECTS = 200
"""Objects that may be added in any case, by caches that have a limit of their own."""


@dataclass(frozen=True)
class Finding:
    """What one check found."""

    promise: str
    error: str = ""
    """What was seen instead; '' when the promise is kept."""

    @property
    def kept(self) -> bool:
        """Whether the promise is kept."""
        return not self.error

    def __str__(self) -> str:
        return f"ok   {self.promise}" if self.kept else f"no   {self.promise}: {self.error}"


class Broken(Exception):
    """A promise that is not kept. The message says what was seen."""


def check(model: Model, window: int | None = None, positions: int = POSITIONS) -> Iterator[Finding]:
    """Each promise in turn. The model's history is forgotten. window: latents of a call; None for few."""
    run = _Run(model, window or _short_window(model), positions)
    checks: list[tuple[str, Callable[[], None]]] = [
        ("groups follow each other from the branch", run.groups_are_consecutive),
        ("the same seed, position and attempt give the same latents, others give others", run.noise_is_a_function),
        ("a revoked call leaves no trace", run.revocation_leaves_no_trace),
        ("sampling stops at a step when it is told to, and leaves no trace", run.stop_is_honoured),
        ("a group decodes to as many frames as its span says", run.groups_decode_to_their_span),
        ("what was delivered is let go", run.memory_is_bounded),
        ("reset forgets", run.reset_forgets),
    ]
    for promise, look in checks:
        try:
            run.world()
            look()
        except Broken as e:
            yield Finding(promise, str(e))
        except Exception as e:
            yield Finding(promise, f"{type(e).__name__}: {e}")
        else:
            yield Finding(promise)


def _short_window(model: Model) -> int:
    """Few latents of a call, but enough to branch within it."""
    return model.spec.nearest_window(max(model.spec.windows[0], min(4, model.spec.windows[1])))


@dataclass
class _Host:
    """Runs a sampler as the engine does: decodes what it asks for."""

    model: Model
    groups: dict[int, Group] = field(default_factory=dict)
    decoded: int = -1

    def notify(self, message: str) -> None:
        return

    def decode_until(self, position: int) -> None:
        for p in range(self.decoded + 1, position + 1):
            self.model.decoder.decode(self.groups[p])
            self.decoded = p

    def extend(self, groups: Sequence[Group]) -> None:
        first = groups[0].position
        if first <= self.decoded:
            self.model.decoder.rewind(first)
            self.decoded = first - 1
        self.groups = {p: g for p, g in self.groups.items() if p < first} | {g.position: g for g in groups}
        self.model.sampler.extend(groups)


class _Run:
    def __init__(self, model: Model, window: int, positions: int) -> None:
        self.model, self.window, self.positions = model, window, positions
        spec = model.spec
        self.steps = max(2, min(spec.steps, 4))
        self.history: HistoryPolicy = spec.history[0]
        self.inputs = [
            model.sampler.prepare(Condition(0, "a quiet valley")),
            model.sampler.prepare(Condition(1, "a quiet valley", ("forward", "turn_right"))),
            model.sampler.prepare(Condition(2, "a desert at dusk", ("back",))),
        ]
        self._new_host()

    def _new_host(self) -> None:
        self.host = _Host(self.model)
        self.model.sampler.attach(self.host)

    def world(self) -> None:
        """A new world."""
        self.model.sampler.reset()
        self.model.decoder.reset()
        self._new_host()

    def call(
        self, branch: int, inputs: int = 0, seed: int = SEED, attempt: int = 0, report: Any = lambda step, steps: True
    ) -> list[Group]:
        """One call; what comes before the branch has been decoded, as it has when it plays."""
        if branch:
            self.host.decode_until(branch - 1)
        request = Request(branch, self.window, self.steps, seed, attempt, self.inputs[inputs], self.history)
        return self.model.sampler.sample(request, report)

    def take(self, groups: list[Group]) -> None:
        """The call's groups are the session's."""
        if isinstance(self.model.sampler, PrefillsAhead):
            self.model.sampler.prefill_chunk(groups, self.history)
        self.host.extend(groups)

    def branch_of(self, groups: Sequence[Group]) -> int:
        """A branch within a call, or at its end where it has one group."""
        phase, offset = self.model.spec.phase, self.model.spec.phase_offset
        middle = groups[0].position + max(1, len(groups) // 2)
        return next(
            (p for p in range(middle, groups[-1].position + 1) if (p - offset) % phase == 0), groups[-1].position + 1
        )

    # -- the promises --------------------------------------------------------------------------------------------------

    def groups_are_consecutive(self) -> None:
        groups = self.call(0)
        self.take(groups)
        self._expect_from(groups, 0)
        branch = self.branch_of(groups)
        self._expect_from(self.call(branch, 1), branch)

    def _expect_from(self, groups: list[Group], branch: int) -> None:
        got = [g.position for g in groups]
        if not got or got != list(range(branch, branch + len(got))) or len(got) > self.window:
            raise Broken(f"a call of {self.window} latents at {branch} gave groups at {got}")

    def noise_is_a_function(self) -> None:
        first = self.call(0)
        if not same(first, self.call(0)):
            raise Broken("the same call gave other latents the second time")
        if len(first) > 1 and same(first[0].latent, first[1].latent):
            raise Broken("two positions of a call have the same latent")
        if same(first, self.call(0, seed=OTHER_SEED)):
            raise Broken("another seed gave the same latents")
        if same(first, self.call(0, attempt=1)):
            raise Broken("another attempt gave the same latents")

    def revocation_leaves_no_trace(self) -> None:
        def last_call(revoked: bool) -> list[Group]:
            self.world()
            groups = self.call(0)
            self.take(groups)
            branch = self.branch_of(groups)
            if revoked:
                self.take(self.call(branch, 1, attempt=1))
                self._prefill(branch)
            out = self.call(branch, 2)
            self.take(out)
            end = out[-1].position + 1
            return [*out, *self.call(end, 2)]

        if not same(last_call(True), last_call(False)):
            raise Broken("a call is another one when something was sampled at its branch before and taken back")

    def _prefill(self, locked: int) -> None:
        if isinstance(self.model.sampler, PrefillsAhead):
            while self.model.sampler.prefill_step(locked, self.history):
                pass

    def stop_is_honoured(self) -> None:
        groups = self.call(0)
        self.take(groups)
        branch = self.branch_of(groups)
        expected = self.call(branch, 1)
        seen: list[tuple[int, int]] = []

        def stop(step: int, steps: int) -> bool:
            seen.append((step, steps))
            return False

        try:
            self.call(branch, 2, report=stop)
        except Stopped:
            pass
        else:
            raise Broken("a call that was told to stop after its first step went on to its end")
        if len(seen) != 1:
            raise Broken(f"a call that was told to stop reported {len(seen) - 1} steps more")
        if not same(expected, self.call(branch, 1)):
            raise Broken("a call is another one after one that was stopped")

    def groups_decode_to_their_span(self) -> None:
        spec, decoder = self.model.spec, self.model.decoder
        first = self.call(0)
        self.take(first)
        start = 0
        for g in [*first, *self._next(first)]:
            frames = decoder.decode(g)
            self.host.decoded = g.position
            if len(frames) != (span := spec.span_of(g)):
                raise Broken(f"group {g.position} decodes to {len(frames)} frames, its span is {span}")
            for f in frames:
                if f.shape != (spec.height, spec.width, 3) or f.dtype != np.uint8:
                    raise Broken(f"a frame is {f.dtype} {f.shape}, not uint8 {(spec.height, spec.width, 3)}")
                if f.flags.writeable:
                    raise Broken("frames can be written to: set flags.writeable to False")
            if bool(spec.sound_rate) != isinstance(decoder, MakesSound):
                raise Broken(f"the spec says {spec.sound_rate} samples a second, the decoder disagrees")
            if isinstance(decoder, MakesSound):
                wanted = sample_at(start + span, spec.fps, spec.sound_rate) - sample_at(
                    start, spec.fps, spec.sound_rate
                )
                if len(got := decoder.sound(g, start)) != wanted:
                    raise Broken(f"group {g.position} has {len(got)} samples of sound, {wanted} are its time")
            start += span

    def _next(self, groups: Sequence[Group]) -> Iterator[Group]:
        """The groups of the call after these, sampled when it is asked for."""
        made = self.call(groups[-1].position + 1, 1)
        self.take(made)
        yield from made

    def memory_is_bounded(self) -> None:
        begin = held(self.model)
        self._play_until(self.positions // 2)
        middle = held(self.model)
        self._play_until(self.positions)
        end = held(self.model)
        for what, unit, slack in (("bytes", "bytes of arrays", 0), ("objects", "objects", SLACK_OBJECTS)):
            first, second = (getattr(b, what) - getattr(a, what) for a, b in ((begin, middle), (middle, end)))
            if second > max(GROWTH * max(first, 0), slack):
                raise Broken(
                    f"{self.positions // 2} positions more hold {second:,} {unit} more, and the first ones {first:,}"
                )

    def _play_until(self, position: int) -> None:
        end = max(self.host.groups, default=-1) + 1
        while end < position:
            groups = self.call(end)
            self.take(groups)
            self.host.decode_until(groups[-1].position)
            end = groups[-1].position + 1
            # all but the last were delivered
            for p in range(groups[0].position, end - 1):
                self.model.sampler.evict_before(p)
                self.model.decoder.evict_before(p)
            self.host.groups = {p: g for p, g in self.host.groups.items() if p >= end - 1}

    def reset_forgets(self) -> None:
        first = self.call(0)
        self.take(first)
        self.take(self.call(self.branch_of(first), 1))
        self.world()
        if not same(first, self.call(0)):
            raise Broken("a new world begins otherwise than the one before with the same seed")
        try:
            self.call_without_history(first[-1].position + 1)
        except KeyError:
            return
        raise Broken(
            "after a reset a call continues groups that the session no longer has, instead of raising KeyError"
        )

    def call_without_history(self, branch: int) -> list[Group]:
        """A call whose prefix is not there."""
        request = Request(branch, self.window, self.steps, SEED, 0, self.inputs[0], self.history)
        return self.model.sampler.sample(request, lambda step, steps: True)


def same(a: Any, b: Any) -> bool:
    """Whether two values are equal bit for bit: arrays, tensors, groups, and what is made of them."""
    if type(a) is not type(b):
        return False
    if hasattr(a, "detach"):
        a, b = a.detach().cpu(), b.detach().cpu()
        return a.shape == b.shape and a.dtype == b.dtype and bool((a == b).all())
    if isinstance(a, np.ndarray):
        return a.shape == b.shape and a.dtype == b.dtype and np.array_equal(a, b)
    if isinstance(a, Group):
        return a.position == b.position and a.span == b.span and same(a.latent, b.latent)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if is_dataclass(a):
        return all(same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    return bool(a == b)


@dataclass(frozen=True)
class Held:
    """What a model keeps alive."""

    bytes: int
    """Of arrays and tensors, each counted once."""
    objects: int


OUTSIDE = (type, types.ModuleType, types.FrameType, types.CodeType)
"""Objects behind which the program lies, not the model's memory."""


def held(model: Model) -> Held:
    """All that can be reached from the sampler and the decoder."""
    gc.collect()
    seen: set[int] = set()
    stores: dict[Any, int] = {}
    waiting: list[Any] = [vars(model.sampler), vars(model.decoder)]
    while waiting:
        x = waiting.pop()
        if id(x) in seen or isinstance(x, (*OUTSIDE, _Host)):
            continue
        seen.add(id(x))
        if isinstance(x, np.ndarray):
            owner = x.base if isinstance(x.base, np.ndarray) else x
            stores[id(owner)] = owner.nbytes
        elif hasattr(x, "untyped_storage"):
            storage = x.untyped_storage()
            stores[storage.data_ptr()] = storage.nbytes()
        elif isinstance(x, types.FunctionType):
            waiting.extend(c.cell_contents for c in x.__closure__ or () if _filled(c))
            continue
        waiting.extend(gc.get_referents(x))
    return Held(sum(stores.values()), len(seen))


def _filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018 (an empty cell raises)
    except ValueError:
        return False
    return True
