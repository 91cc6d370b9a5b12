"""What a person chose: a model, where and how it runs, how it samples. Plain data for the command line and the window."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from app.storage.paths import embeddings_folder, words_file
from engine.control.events import Commit
from engine.loading import loader
from engine.models.catalogue import DEFAULT
from engine.models.interface import HistoryPolicy, Loader, Model, ModelSpec, Progress
from engine.models.load_options import LoadOptions
from engine.models.media_files import PICTURES, read_start
from engine.models.registry import options_of, spec_of

if TYPE_CHECKING:
    from engine.runtime.clock import Clock
    from engine.runtime.live_engine import LiveEngine
    from engine.runtime.settings import Settings
    from engine.runtime.shared_sampler import SharedSampler

PATIENCE = 60.0
"""Seconds that a new world waits for the end of the one before, whose memory it needs."""


class ChoiceError(ValueError):
    """A choice that cannot be made, in one clear line."""


class WorldChoice(Protocol):
    """A model that was chosen, wherever its engine will run."""

    @property
    def name(self) -> str:
        """What it was chosen by."""

    @property
    def spec(self) -> ModelSpec:
        """What it is."""

    def engine(
        self, settings: Settings, folder: Path | None, clock: Clock, before: LiveEngine | None = None
    ) -> LiveEngine:
        """An engine that is not started yet. folder: of the session's log, or None; before: the engine that it takes the place
        of, which it closes. Raises ValueError for impossible settings, OSError when the folder cannot be written."""


@dataclass(frozen=True)
class Choice:
    """A model for this machine: what it is and how to load it."""

    name: str
    spec: ModelSpec
    load: Loader

    def engine(
        self,
        settings: Settings,
        folder: Path | None,
        clock: Clock,
        before: LiveEngine | None = None,
        shared: SharedSampler | None = None,
    ) -> LiveEngine:
        """See `WorldChoice.engine`. shared: the sampler's time is that of other worlds too."""
        from engine.runtime.engine import Engine

        load = self.load if before is None else loaded_after(before, self.load)
        return Engine(load, self.spec, settings, folder, clock, shared)


def loaded_after(old: LiveEngine, load: Loader) -> Loader:
    """Loads in the new engine's thread once the old one has ended: the window never waits, and memory is free."""

    def both(progress: Progress) -> Model:
        progress("closing the previous world", 0.0)
        old.close(PATIENCE)
        return load(progress)

    return both


@dataclass(frozen=True)
class ModelOptions:
    """Which model, where it computes, and from what a world begins. Files are not looked at before `choose`."""

    model: str = DEFAULT
    """A name of the catalogue, a folder or a file."""
    like: str | None = None
    """The catalogue's entry that a local folder or file is run as."""
    size: tuple[int, int] | None = None
    """Width and height in pixels, or None for the model's own."""
    device: str = "auto"
    dtype: str = "auto"
    text_encoder: str = "auto"
    """Where the text encoder lives: see `LoadOptions.text`."""
    offload: bool = False
    vae_tiling: bool = False
    history_latents: int | None = None
    """Latents of the retained prefix at most."""
    memory: float | None = None
    """Gigabytes of the device that may be taken."""
    lora: Path | None = None
    decoder: Path | None = None
    base: Path | None = None
    image: Path | None = None
    clip: Path | None = None
    gpus: int | Literal["auto"] = 1
    cluster: str | None = None
    """A Ray cluster that has them: see `LoadOptions.cluster`."""
    split: str | None = None
    start: str = "image"
    """What a pocket world begins from: image or noise."""
    threads: int | None = None
    weights: Path | None = None
    """Folder of other weights of the pocket world."""

    def another(self, name: str) -> ModelOptions:
        """The same place to compute for another model: what says how this one is read, and what that one does not understand, is left
        out. Raises ChoiceError for an unknown model."""
        try:
            understood = options_of(name)
        except ValueError as e:
            raise ChoiceError(str(e)) from e
        names = {"text": "text_encoder", "tiled": "vae_tiling", "start_image": "start"}
        kept = {names.get(n, n) for n in understood} - {"weights", "base", "lora", "decoder"}
        shared = {f.name: getattr(self, f.name) for f in fields(self) if f.name in kept}
        return ModelOptions(**shared | {"model": name})

    def choose(self, window: int | None = None) -> Choice:
        """window: K of the session, which the plan has to fit.

        Raises ChoiceError: an unknown model, an impossible size, a file that is not there, an option it does not know.
        """
        if self.cluster is not None and self.gpus == "auto":
            raise ChoiceError("--gpus auto counts the GPUs of this machine: with --cluster give their number")
        options = LoadOptions(
            gpus=gpu_count(self.gpus, self.device),
            cluster=self.cluster,
            split=self.split,
            device=self.device,
            dtype=self.dtype,
            text=self.text_encoder,
            offload=self.offload,
            tiled=self.vae_tiling,
            decoder=self.decoder,
            history_latents=self.history_latents,
            memory=self.memory,
            window=window,
            lora=self.lora,
            image=self.image,
            clip=self.clip,
            words=words_file(),
            embeddings=embeddings_folder(),
            base=self.base,
            threads=self.threads,
            start_image=self.start == "image",
        )
        try:
            spec = spec_of(self.model, self.like, self.size)
            if self.image is not None and self.image.suffix.lower() in ("", *PICTURES):
                read_start(self.image, spec)  # before seconds or minutes of loading; what was read is not read again
            return Choice(self.model, spec, loader(self.model, options, self.weights, self.like, self.size))
        except ValueError as e:
            raise ChoiceError(str(e)) from e


@dataclass(frozen=True)
class SamplingOptions:
    """How a session samples. None: the model's own."""

    seed: int = 0
    window: int | None = None
    """K, latents of a call."""
    steps: int | None = None
    """Denoising steps of a call."""
    commit: Commit = Commit.SPECULATIVE
    history: HistoryPolicy | None = None
    answer: bool | None = None
    """Whether keys and prompts are answered by short calls."""
    preempt: bool | None = None
    """Whether a call is stopped at a step for something newer."""
    aim: float = 0.0
    """Seconds within which an update should be seen."""
    latents: bool = False
    """Whether the latents are kept in the session's folder."""

    def settings(self, prompt: str, spec: ModelSpec) -> Settings:
        """Raises ChoiceError for what the model cannot do."""
        from engine.runtime.settings import Settings

        chosen = Settings(prompt, **asdict(self))
        try:
            return chosen.checked(spec)
        except ValueError as e:
            raise ChoiceError(str(e)) from e


def gpu_count(gpus: int | Literal["auto"], device: str) -> int:
    """How many ranks `gpus` means; auto is every GPU of this machine, and one process on a CPU."""
    if gpus != "auto":
        return gpus
    if device == "cpu":
        return 1
    import torch  # only to count them

    return max(1, torch.cuda.device_count())
