"""A family of models: one folder of code, found by the name that rows of the catalogue carry. Importing this imports no torch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

from engine.control.conditions import Condition
from engine.models.catalogue import Entry
from engine.models.interface import Decoder, Model, ModelSpec, Progress, Transport
from engine.models.load_options import LoadOptions

if TYPE_CHECKING:
    from engine.models.boundary_frames import BoundaryFrames


class Family(ABC):
    """What loads the models of one family. Its module is imported before anything is checked, so it imports what is heavy in `load`."""

    options: ClassVar[frozenset[str]] = frozenset()
    """Fields of `LoadOptions` that it understands; any other that a person chose is refused by name."""

    def spec(self, entry: Entry, size: tuple[int, int] | None = None) -> ModelSpec:
        """What is fixed about a model: what its row says, and what of that a checkpoint which is here says otherwise. Reads settings
        only. Raises ValueError for a size that the model cannot make."""
        return entry.spec(size)

    @abstractmethod
    def load(self, entry: Entry, spec: ModelSpec, options: LoadOptions, progress: Progress) -> Model:
        """Reads the model of a row. Raises what says to a person what to do: ValueError, HubError, LayoutError, MemoryNeeded."""


@dataclass(frozen=True)
class Frontend:
    """What of a model stays in the engine's process when its transformers are on ranks."""

    prepare: Callable[[Condition], Any]
    """As `Sampler.prepare`."""
    prepares_slowly: bool
    transport: Transport
    decoder: Decoder
    identity: str
    frames: BoundaryFrames | None = None
    """Where its decoder puts last frames, for models that begin calls with one."""
    keyframes: int = 0
    """How many groups before the branch such a frame may be."""


@runtime_checkable
class SpreadsOverRanks(Protocol):
    """A family whose models can run on several ranks. Their samplers are `Shardable`."""

    def heads(self, entry: Entry, options: LoadOptions) -> int:
        """Attention heads of the transformer. Reads settings only. Raises ValueError for a model that cannot be spread."""

    def load_frontend(
        self, entry: Entry, spec: ModelSpec, options: LoadOptions, device: str, progress: Progress
    ) -> Frontend:
        """device: where decoding computes."""


@runtime_checkable
class WritesTiny(Protocol):
    """A family that can write small random checkpoints in the published layouts of its models."""

    def write_tiny(self, entry: Entry, folder: Path) -> dict[str, Any]:
        """Writes the files into a folder that is there and empty. Returns what `foreland.json` is to say beside the model's name.
        Torch's random numbers are seeded."""
