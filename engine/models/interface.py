"""The interface of samplers and decoders: what the runtime asks of a model, small or large."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from engine.control.conditions import Condition
from engine.playback.player import Frame, Samples

if TYPE_CHECKING:
    from engine.models.attention import CallHolder


class HistoryPolicy(Enum):
    """How the retained prefix conditions the next call; named in the session log."""

    KV_REUSE = "kv-reuse"
    CLEAN_PREFILL = "clean-prefill"
    RECACHE = "recache"
    BOUNDARY_IMAGE = "boundary-image"
    LATENT_INPUT = "latent-input"


class ConditionError(ValueError):
    """A condition that cannot be used. The message says what to change; the old condition stays in force."""


class Stopped(Exception):
    """Sampling was asked to stop and did, at a step boundary."""


@dataclass(frozen=True)
class ModelSpec:
    """What is fixed about a model. spans: frames of the first group and of the later ones. windows: least and most
    latents of a call. history: the policies it knows, the default first. text_limit: characters of a prompt. sound_rate: samples
    a second of its sound, 0 for silent models."""

    name: str
    width: int
    height: int
    fps: float
    spans: tuple[int, int]
    windows: tuple[int, int]
    window: int
    steps: int
    history: tuple[HistoryPolicy, ...]
    text_limit: int = 400
    trained: tuple[int, ...] = ()
    negative: bool = False
    notes: tuple[str, ...] = ()
    sound_rate: int = 0
    grid: tuple[int, int] = (1, 0)
    """Window lengths are K with (K - grid[1]) % grid[0] == 0."""
    phase: int = 1
    """A call may begin at positions p with (p - phase_offset) % phase == 0, or where the predictions end."""
    phase_offset: int = 0
    block: int = 1
    """Latents that the model samples as one block: a later call keeps whole blocks of the one before."""

    def span(self, position: int) -> int:
        """Frames of the group at a position."""
        return self.spans[0] if position == 0 else self.spans[1]

    def span_of(self, group: Group) -> int:
        """Frames of a group."""
        return self.span(group.position) if group.span is None else group.span

    def advice(self, window: int) -> str:
        """What to know of a window length; '' for nothing."""
        if self.trained and window not in self.trained:
            known = " or ".join(str(k) for k in self.trained)
            return f"K = {window} is outside this model's training (K = {known}): expect weaker pictures"
        return ""

    def check_window(self, window: int) -> None:
        """Raises ValueError for a window length that the model does not do."""
        low, high = self.windows
        if not low <= window <= high:
            raise ValueError(f"K = {window} is out of range: {self.name} samples {low} to {high} latents a call")
        if (nearest := self.nearest_window(window)) != window:
            step, rest = self.grid
            raise ValueError(
                f"K = {window} is not one of {self.name}'s lengths ({step} n + {rest}): the nearest is {nearest}"
            )

    def nearest_window(self, window: int) -> int:
        """The legal length nearest to one, the shorter of two."""
        step, rest = self.grid
        low, high = self.windows
        legal = [k for k in range(low, high + 1) if (k - rest) % step == 0]
        return min(legal, key=lambda k: (abs(k - window), k))


@dataclass(frozen=True)
class Request:
    """One call. attempt: rises when the same branch is tried again after a failure or a reset, so noise differs."""

    branch: int
    window: int
    steps: int
    seed: int
    attempt: int
    prepared: Any
    history: HistoryPolicy


@dataclass(frozen=True)
class Group:
    """One sampled group: its position, and what the model needs to decode it and to continue after it.

    span: frames that it decodes to, where that is not what the spec says for its position (spans that repeat by call)."""

    position: int
    latent: Any
    state: Any
    span: int | None = None


StepCallback = Callable[[int, int], bool]
"""Called after each step with (steps done, steps in all); answers whether to go on."""


class SamplerHost(Protocol):
    """What a sampler may ask of whoever runs it. Both are safe to call from the sampler's thread."""

    def notify(self, message: str) -> None:
        """Tells the person something."""

    def decode_until(self, position: int) -> None:
        """Decodes the groups up to this position at once; they are locked, so they will play."""


class Sampler(Protocol):
    """Samples K latents jointly. Used from one thread."""

    spec: ModelSpec
    host: SamplerHost | None = None
    """Who runs the sampler; see `attach`."""
    prepares_slowly: bool = False
    """Whether `prepare` belongs on a thread of its own; it must then be safe to call beside the rest."""

    def prepare(self, condition: Condition) -> Any:
        """Makes a condition's inputs. Raises ConditionError."""

    def set_start(self, file: Path | None) -> None:
        """The next world begins from this picture or film; None: as the model does by itself. Raises ConditionError."""
        if file is not None:
            raise ConditionError(f"{self.spec.name} does not begin from pictures")

    def sample(self, request: Request, report: StepCallback) -> list[Group]:
        """`window` groups from `branch`, continuing what was adopted below it. Changes nothing that is kept.

        Raises Stopped when `report` says so, KeyError when the prefix is not there.
        """

    def extend(self, groups: Sequence[Group]) -> None:
        """These groups are the session's from their first position on; what was there before is dropped."""

    def prefill_chunk(self, groups: Sequence[Group], history: HistoryPolicy) -> None:
        """The call's groups are on their way to the decoder, the slot is still held: time to make what the next call needs."""
        return

    def prefill_step(self, locked: int, history: HistoryPolicy) -> bool:
        """Nothing is running: one piece of work ahead of the next call, on groups below `locked`. Whether there was one."""
        return False

    def attach(self, host: SamplerHost) -> None:
        """host: takes messages for the person and decodes what a call needs before its branch. Called once, before sampling."""
        self.host = host

    def transformers(self) -> list[tuple[Any, CallHolder]]:
        """The models that can be spread over ranks, with where their calls are set."""
        return []

    def evict_before(self, position: int) -> None:
        """Positions below were delivered: what no branch can need any more is let go."""

    def reset(self) -> None:
        """Forgets all history."""

    def close(self) -> None:
        """Frees memory and workers."""


class Decoder(Protocol):
    """Turns groups into frames in order of position; its state belongs to the session. Used from one thread."""

    def decode(self, group: Group) -> list[Frame]:
        """The frames of a group, read-only uint8 RGB."""

    def sound(self, group: Group, start: int) -> Samples | None:
        """The sound of a group that was just decoded and that begins at media frame `start`: the samples between those two
        frames' instants, see `engine.playback.player.sample_at`. None for silent models."""
        return None

    def rewind(self, position: int) -> None:
        """The next group decoded is `position`, whatever was decoded after it before."""

    def evict_before(self, position: int) -> None:
        """Positions below were delivered. From any thread."""
        return

    def resume(self, groups: Sequence[Group]) -> None:
        """Goes on after the last of these groups, which were delivered before, consecutive and oldest first."""
        self.reset()
        if groups:
            self.rewind(groups[-1].position + 1)

    def fork(self) -> Decoder:
        """Another decoder with the same weights and a state of its own, for looking back; used from one other thread."""
        return self

    def reset(self) -> None:
        """Forgets all state."""


@dataclass(frozen=True)
class Model:
    """A loaded model: its sampler and decoder, and a short name of its weights for the log."""

    sampler: Sampler
    decoder: Decoder
    identity: str

    @property
    def spec(self) -> ModelSpec:
        return self.sampler.spec


Progress = Callable[[str, float], None]
"""What a loader reports: a stage in words and a share in [0, 1]."""
Loader = Callable[[Progress], Model]
