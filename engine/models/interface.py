"""What the runtime asks of a model: the classes that every model has, and the protocols of what only some do.

A model is a `Sampler` and a `Decoder`. Both are small abstract classes. What only some models do is a protocol, and the runtime asks
for it by `isinstance` at one place: `PrefillsAhead`, `StartsFromMedia`, `StartsFromFilms`, `NeedsBoundaryFrames`,
`WaitsForFrames` and `Shardable` of samplers, `MakesSound` and `Forks` of decoders. `engine.models.contract` checks that a model keeps
what is promised here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from engine.control.conditions import Condition
from engine.errors import Refused
from engine.playback.player import Frame, Samples

if TYPE_CHECKING:
    from torch import Tensor

    from engine.models.attention import SequenceParallel


Inputs = TypeVar("Inputs")
"""What a sampler makes of a condition."""
Inputs_contra = TypeVar("Inputs_contra", contravariant=True)


class HistoryPolicy(Enum):
    """How the retained prefix conditions the next call; named in the session log."""

    KV_REUSE = "kv-reuse"
    """Keys and values of the sampled chunk are kept as they are."""
    CLEAN_PREFILL = "clean-prefill"
    """Retained latents are run once more, so that a revoked suffix leaves no trace in the keys and values."""
    RECACHE = "recache"
    """Keys and values of the prefix are made again under the new prompt."""
    BOUNDARY_IMAGE = "boundary-image"
    """Each call begins with the frame before the branch, encoded again."""
    LATENT_INPUT = "latent-input"
    """Each call begins with retained latents."""


class ConditionError(Refused):
    """A condition that cannot be used. The message says what to change; the old condition stays in force."""


class Stopped(Exception):
    """Sampling was asked to stop and did, at a step boundary."""


@dataclass(frozen=True)
class ModelSpec:
    """What is fixed about a model, for the controller, the player and the window."""

    name: str
    width: int
    """Of a frame, in pixels."""
    height: int
    fps: float
    """Frames a second of media time."""
    spans: tuple[int, int]
    """Frames that the first group decodes to, and each later one."""
    windows: tuple[int, int]
    """Least and most latents of a call."""
    window: int
    """K, the latents of a call, where nobody says otherwise."""
    steps: int
    """Denoising steps of a call, where nobody says otherwise."""
    history: tuple[HistoryPolicy, ...]
    """The policies it knows, the default first."""
    text_limit: int = 400
    """Characters of a prompt."""
    trained: tuple[int, ...] = ()
    """Values of K that the weights were trained at; empty: all of them."""
    negative: bool = False
    """Whether it takes a negative prompt."""
    notes: tuple[str, ...] = ()
    """What a person should know of it, a sentence each."""
    sound_rate: int = 0
    """Samples a second of its sound, 0 for silent models."""
    grid: tuple[int, int] = (1, 0)
    """Window lengths are K with (K - grid[1]) % grid[0] == 0."""
    phase: int = 1
    """Calls may branch at positions p with (p - phase_offset) % phase == 0, or where the predictions end. 1: anywhere."""
    phase_offset: int = 0
    """The first branch point, when `phase` is more than 1."""
    block: int = 1
    """A later call keeps a whole number of such blocks of the call before it."""
    camera: bool = True
    """Whether keys move a camera; where there is none they are put into words."""
    short_answers: bool = False
    """Whether updates are answered by short calls, and outdated calls stopped, where nobody says otherwise: its pictures were measured
    to be no worse for it (`foreland evaluate --looks`)."""

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
        """Raises Refused for a window length that the model does not do."""
        low, high = self.windows
        if not low <= window <= high:
            raise Refused(f"K = {window} is out of range: {self.name} samples {low} to {high} latents a call")
        if (nearest := self.nearest_window(window)) != window:
            step, rest = self.grid
            raise Refused(
                f"K = {window} is not one of {self.name}'s lengths ({step} n + {rest}): the nearest is {nearest}"
            )

    def answers(self, window: int) -> tuple[int, ...]:
        """Shorter lengths than `window` that a call may have which answers an update: legal ones in whole blocks and, where the
        window was trained, trained ones."""
        low, _ = self.windows
        step, rest = self.grid
        legal = [k for k in range(low, window) if (k - rest) % step == 0 and k % self.block == 0]
        return tuple(k for k in legal if k in self.trained or window not in self.trained)

    def nearest_window(self, window: int) -> int:
        """The legal length nearest to one, the shorter of two."""
        step, rest = self.grid
        low, high = self.windows
        legal = [k for k in range(low, high + 1) if (k - rest) % step == 0]
        return min(legal, key=lambda k: (abs(k - window), k))

    def half(self, window: int) -> int | None:
        """The legal length nearest to half of one; None where there is none that is shorter."""
        nearest = self.nearest_window(window // 2)
        return nearest if nearest < window else None


@dataclass(frozen=True)
class Request(Generic[Inputs]):
    """One call."""

    branch: int
    """Position of its first group."""
    window: int
    """K, latents that it samples together."""
    steps: int
    seed: int
    attempt: int
    """Rises when the same branch is tried again after a failure or a reset, so that the noise differs."""
    prepared: Inputs
    """What `Sampler.prepare` made of the condition."""
    history: HistoryPolicy


@dataclass(frozen=True)
class Group:
    """One sampled group: a latent, and what the model needs to decode it and to continue after it."""

    position: int
    latent: Any
    """The model's own; a tensor or an array is checked when a session is replayed."""
    state: Any
    """The model's own."""
    span: int | None = None
    """Frames that it decodes to, where that is not what the spec says for its position (spans that repeat by call)."""


StepCallback = Callable[[int, int], bool]
"""Called after each step with (steps done, steps in all); answers whether to go on."""


class SamplerHost(Protocol):
    """What a sampler may ask of whoever runs it. Both are safe to call from the sampler's thread."""

    def notify(self, message: str) -> None:
        """Tells the person something."""

    def decode_until(self, position: int) -> None:
        """Decodes the groups up to this position at once; they are locked, so they will play."""


class Sampler(ABC, Generic[Inputs]):
    """Samples K latents jointly. Used from one thread, but for `prepare` where `prepares_slowly` says so."""

    spec: ModelSpec
    host: SamplerHost | None = None
    """Who runs the sampler; see `attach`."""
    prepares_slowly: bool = False
    """Whether `prepare` belongs on a thread of its own; it must then be safe to call beside the rest."""

    @abstractmethod
    def prepare(self, condition: Condition) -> Inputs:
        """Makes a condition's inputs. Raises ConditionError."""

    @abstractmethod
    def sample(self, request: Request[Inputs], report: StepCallback) -> list[Group]:
        """Groups from `branch` on, continuing what `extend` was given below it. Changes nothing that is kept. Noise is a function of
        (seed, position, attempt).

        Raises Stopped when `report` says so, KeyError when the prefix is not there, ValueError for an impossible window.
        """

    @abstractmethod
    def extend(self, groups: Sequence[Group]) -> None:
        """These consecutive groups are the session's from their first position on; what was there before is dropped."""

    @abstractmethod
    def evict_before(self, position: int) -> None:
        """Positions below were delivered: what no branch can need any more is let go."""

    @abstractmethod
    def reset(self) -> None:
        """Forgets all history."""

    def attach(self, host: SamplerHost) -> None:
        """Called once, before sampling."""
        self.host = host

    def close(self) -> None:
        """Frees memory and workers."""
        self.reset()


@runtime_checkable
class PrefillsAhead(Protocol):
    """A sampler that makes what the next call needs while nobody waits for it."""

    def prefill_chunk(self, groups: Sequence[Group], history: HistoryPolicy) -> None:
        """`extend` was given the call's groups, and no other call has begun: makes what the next one needs of them."""

    def prefill_step(self, locked: int, history: HistoryPolicy) -> bool:
        """Nothing is running: one piece of work ahead of the next call, on groups below `locked`. Whether there was one."""


@runtime_checkable
class ComesApart(Protocol):
    """The state of a group that holds more than the group needs by itself, such as its whole call."""

    def apart(self, group: Group) -> Group:
        """The group with this state, as it is kept to be gone back to: off the device, and with nothing of its call's other groups."""

    def joined(self, groups: Sequence[Group]) -> list[Group]:
        """What was kept of a call, as consecutive groups that `Sampler.extend` takes in."""


@runtime_checkable
class KeepsPlaces(Protocol):
    """A sampler whose places can be kept as files that a world begins from (`StartsFromMedia.set_start`)."""

    def place(self, group: Group) -> tuple[str, bytes]:
        """Where a delivered group ends: the file's suffix and its content."""


@runtime_checkable
class StartsFromMedia(Protocol):
    """A sampler whose world can begin from a picture or film."""

    def set_start(self, file: Path | None) -> None:
        """The next world begins from this file; None: as the model does by itself. Raises ConditionError."""


@runtime_checkable
class StartsFromFilms(Protocol):
    """A sampler whose world can begin from more than the last frame of a film."""

    @property
    def start_frames(self) -> int:
        """Frames of the film that it takes, at most."""


@runtime_checkable
class NeedsBoundaryFrames(Protocol):
    """A sampler whose calls may begin with the frame before the branch."""

    def put_boundary_frame(self, position: int, frame: NDArray[np.uint8]) -> None:
        """The last frame, (height, width, 3), of a group that `extend` was given."""


@runtime_checkable
class WaitsForFrames(Protocol):
    """A sampler that may wait for the frame before its branch, which the decode worker makes."""

    def lose_boundary_frame(self, group: Group) -> None:
        """This group cannot be decoded: nobody is to wait for its frame. From any thread."""


@runtime_checkable
class ReadsPrompts(Protocol[Inputs_contra]):
    """A sampler that can say what it understood of a prompt."""

    def reading(self, prepared: Inputs_contra) -> str:
        """In a line, of what `prepare` made: what was understood and what was not. '' for nothing to say."""


Header = dict[str, Any]
"""What of a message is JSON."""
Tensors = dict[str, "Tensor"]
"""What of a message is tensors, by name."""


class Transport(Protocol):
    """How one family's conditions and groups cross a pipe: what they are made of is the model's business.

    `known` names large things that the other side has, such as embeddings of prompts; what is sent is added to it.
    """

    def prepared_out(self, prepared: Any, known: set[str]) -> tuple[Header, Tensors]:
        """What `Sampler.prepare` made."""

    def prepared_in(self, header: Header, tensors: Tensors) -> Any:
        """The inverse, on a rank; it remembers what `known` says."""

    def groups_out(self, groups: Sequence[Group], known: set[str] | None = None) -> tuple[Header, Tensors]:
        """All groups of one call. known: None where the other side has what they refer to."""

    def groups_in(self, header: Header, tensors: Tensors) -> list[Group]:
        """The inverse, on either side."""


@runtime_checkable
class Shardable(Protocol):
    """A sampler whose transformers can run on several ranks together."""

    def shard(self, parallel: Callable[[], SequenceParallel]) -> None:
        """Spreads each transformer with what `parallel` makes. Every rank must then run the same calls."""

    def transport(self) -> Transport:
        """How its inputs and groups cross a pipe."""


class Decoder(ABC):
    """Turns groups into frames in order of position; its state belongs to the session. Used from one thread."""

    independent_groups: ClassVar[bool] = False
    """Whether a group can be decoded without those before it: the first group of a call then comes before what is not due yet."""

    @abstractmethod
    def decode(self, group: Group) -> list[Frame]:
        """The frames of a group, each (height, width, 3) read-only uint8 RGB, as many as `ModelSpec.span_of` says."""

    @abstractmethod
    def rewind(self, position: int) -> None:
        """The next group decoded is `position`, whatever was decoded after it before."""

    @abstractmethod
    def reset(self) -> None:
        """Forgets all state."""

    def evict_before(self, position: int) -> None:
        """Positions below were delivered: no branch goes back before them. From any thread."""
        return

    def resume(self, groups: Sequence[Group]) -> None:
        """Goes on after the last of these groups, which were delivered before, consecutive and oldest first."""
        self.reset()
        if groups:
            self.rewind(groups[-1].position + 1)


@runtime_checkable
class MakesSound(Protocol):
    """A decoder of a model with sound."""

    def sound(self, group: Group, start: int) -> Samples:
        """The sound of a group that was just decoded and that begins at media frame `start`: the samples between those two
        frames' instants, see `engine.playback.player.sample_at`."""


@runtime_checkable
class Forks(Protocol):
    """A decoder that can look back at kept groups while the session goes on."""

    def fork(self) -> Decoder:
        """Another decoder with the same weights and a state of its own, used from one other thread."""


@dataclass(frozen=True)
class Model:
    """A loaded model."""

    sampler: Sampler[Any]
    decoder: Decoder
    identity: str
    """A short name of the weights, for the session log."""

    @property
    def spec(self) -> ModelSpec:
        """The sampler's."""
        return self.sampler.spec

    def prefill_chunk(self, groups: Sequence[Group], history: HistoryPolicy) -> None:
        """See `PrefillsAhead`; nothing for other samplers."""
        if isinstance(self.sampler, PrefillsAhead):
            self.sampler.prefill_chunk(groups, history)

    def prefill_step(self, locked: int, history: HistoryPolicy) -> bool:
        """See `PrefillsAhead`; False for other samplers."""
        return isinstance(self.sampler, PrefillsAhead) and self.sampler.prefill_step(locked, history)

    def set_start(self, file: Path | None) -> None:
        """See `StartsFromMedia`. Raises ConditionError for a file that other samplers cannot begin from."""
        if isinstance(self.sampler, StartsFromMedia):
            self.sampler.set_start(file)
        elif file is not None:
            raise ConditionError(f"{self.spec.name} does not begin from pictures")

    @property
    def start_frames(self) -> int:
        """Frames that a world of this model takes of a film that it begins from, at most; 0 when it begins from none."""
        if isinstance(self.sampler, StartsFromFilms):
            return self.sampler.start_frames
        return 1 if isinstance(self.sampler, StartsFromMedia) else 0

    def fork_decoder(self) -> Decoder | None:
        """See `Forks`; None for other decoders."""
        return self.decoder.fork() if isinstance(self.decoder, Forks) else None


Progress = Callable[[str, float], None]
"""What a loader reports: a stage in words and a share in [0, 1]."""
Loader = Callable[[Progress], Model]
