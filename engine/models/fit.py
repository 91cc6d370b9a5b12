"""What of a model fits into a memory: the plan that would run, or the nearest one. Importing this imports no torch.

A plan is chosen before anything is read. Families say what their parts take (`Parts`), by formulas that a fake device at real size
confirms (`tests/engine/models/test_fit.py`), and in which order they would rather give things up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol, runtime_checkable

from engine.models.catalogue import Entry
from engine.models.interface import ModelSpec
from engine.models.load_options import LoadOptions

GB = 1e9
RESERVE = 0.4 * GB
"""For what no part counts: libraries' workspaces and cached pieces of memory that fit nothing."""
FREELY = 4
"""States of a decoder: where there is room for so many, the decoder's own limit of bytes is what counts."""
WORK_SPARE = 1.05
"""Of what comes and goes: the allocator's pieces are larger than what is asked for."""
RATE, FIXED = 238e12, 0.03
"""FLOPs a second that the paper's forwards of Wan2.1-1.3B reach on an H200, and seconds that none takes less than: its figures at
K = 1 and 3; `engine.measure.scaling` fits the same."""


@dataclass(frozen=True)
class Plan:
    """How a model would run."""

    dtype: str
    window: int
    """K, latents of a call."""
    steps: int
    history: int | None
    """Latents of the retained prefix; None for models that keep none."""
    offload: bool
    decoder: str
    """'vae', 'vae in tiles' or 'tiny'."""
    snapshots: int
    """States of the decoder that are kept to go back to."""
    gpus: int
    bytes: Mapping[str, float]
    """On the fullest device, by part."""
    call_seconds: float | None
    """Expected of a call on an H200 by the paper's figures of Wan; None for models that it says too little of."""
    plays_seconds: float
    """What a call plays."""

    @property
    def total(self) -> float:
        """Bytes on the fullest device, with what no part counts."""
        fixed = sum(v for k, v in self.bytes.items() if k in ("weights", "vae", "text"))
        return fixed + WORK_SPARE * (sum(self.bytes.values()) - fixed) + RESERVE

    def applied(self, options: LoadOptions) -> LoadOptions:
        """The options of a load that follows this plan."""
        return replace(
            options,
            dtype=self.dtype,
            text="device" if "text" in self.bytes else "cpu" if options.text == "auto" else options.text,
            offload=self.offload,
            tiled=self.decoder == "vae in tiles",
            history_latents=self.history,
            snapshots=self.snapshots if 0 < self.snapshots < FREELY else None,
            planned=True,
        )

    def line(self) -> str:
        """The plan in one line."""
        parts = [f"{self.total / GB:.1f} GB", self.dtype, f"K = {self.window}"]
        if self.history is not None:
            parts.append(f"history of {self.history} latents")
        parts.append("blocks brought one by one" if self.offload else "all on the device")
        parts.append({"vae": "full decoder", "vae in tiles": "decoder in tiles", "tiny": "tiny decoder"}[self.decoder])
        if "text" in self.bytes:
            parts.append("text encoder beside them")
        if self.gpus > 1:
            parts.append(f"{self.gpus} GPUs")
        return ", ".join(parts)

    def to_json(self) -> dict[str, Any]:
        """For a report."""
        return asdict(self) | {"bytes": {k: round(v) for k, v in self.bytes.items()} | {"total": round(self.total)}}


@dataclass(frozen=True)
class Fit:
    """Whether what was asked for fits, and the plan that does."""

    asked: Plan
    plan: Plan | None
    """None: nothing fits."""
    free: float
    """Bytes."""

    @property
    def fits(self) -> bool:
        """Whether a plan fits that keeps what was asked for by name: size and K."""
        return self.plan is not None and self.plan.window == self.asked.window and self.plan.gpus == self.asked.gpus

    def say(self, name: str) -> str:
        """In one sentence."""
        if self.plan is None:
            return f"{name} does not fit in {self.free / GB:.1f} GB: the least is {self.asked.line()}"
        if self.plan == self.asked:
            return f"{name} fits: {self.plan.line()}"
        changes = ", ".join(changed(self.asked, self.plan))
        return f"{name} as it is wants {self.asked.total / GB:.1f} GB, {self.free / GB:.1f} are free; with {changes}: {self.plan.line()}"


def changed(asked: Plan, plan: Plan) -> list[str]:
    """What a plan gives up."""
    out = []
    if plan.window != asked.window:
        out.append(f"K = {plan.window} instead of {asked.window}")
    if plan.history != asked.history:
        out.append(f"{plan.history} latents of history instead of {asked.history}")
    if plan.decoder != asked.decoder:
        out.append("the decoder in tiles")
    if plan.snapshots != asked.snapshots:
        out.append(f"{plan.snapshots} decoder states kept instead of {asked.snapshots}")
    if plan.offload != asked.offload:
        out.append("transformer blocks brought one by one, which is slow")
    if plan.gpus != asked.gpus:
        out.append(f"{plan.gpus} GPUs")
    return out


def first_that_fits(plans: Iterable[Plan], free: float) -> Fit:
    """plans: the wanted one first, then what is given up, step by step. Where none fits, `asked` is the smallest of them."""
    asked = None
    last = None
    for plan in plans:
        asked = asked or plan
        if plan.total <= free:
            return Fit(asked, plan, free)
        last = plan if last is None or plan.total < last.total else last
    assert last is not None, "a family has at least one plan"
    return Fit(last, None, free)


def with_text(found: Fit, options: LoadOptions, kind: str, made: Callable[[LoadOptions], Plan]) -> Fit:
    """The fit with the text encoder on the GPU, where nobody said where it is to be and it fits beside a plan that gives nothing up: a new
    prompt then does not wait for the CPU. made: the wanted plan of other options."""
    if options.text != "auto" or kind != "cuda" or found.plan is None or found.plan != found.asked:
        return found
    more = made(replace(options, text="device"))
    return Fit(more, more, found.free) if more.total <= found.free else found


@dataclass(frozen=True)
class Wish:
    """What a plan is to keep, where a person said it."""

    window: int
    steps: int
    gpus: int = 1


@runtime_checkable
class Plans(Protocol):
    """A family that can say what fits before anything is read."""

    def fit(self, entry: Entry, spec: ModelSpec, options: LoadOptions, wish: Wish, free: float, kind: str) -> Fit:
        """free: bytes of each device. kind: of device, 'cuda', 'cpu' or 'mps'. Raises ValueError for a row that says too little."""
