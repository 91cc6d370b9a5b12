"""Models by name or by folder, and how to load them. Importing this imports no torch."""

from __future__ import annotations

import hashlib
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from engine.assets import FOLDER
from engine.models.catalogue import Entry, find, load_catalogue
from engine.models.interface import HistoryPolicy, ModelSpec
from engine.models.load_options import LoadOptions

if TYPE_CHECKING:
    from engine.models.interface import Loader, Model, Progress

POCKET = ModelSpec(
    name="pocket",
    width=128,
    height=80,
    fps=16.0,
    spans=(4, 4),
    windows=(1, 21),
    window=7,
    steps=4,
    history=(HistoryPolicy.CLEAN_PREFILL, HistoryPolicy.BOUNDARY_IMAGE),
    sound_rate=48_000,
)


def names() -> list[str]:
    """All names: the pocket world and the catalogue's."""
    return ["pocket", *load_catalogue()]


def spec_of(name: str, like: str | None = None, size: tuple[int, int] | None = None) -> ModelSpec:
    """What is fixed about a model. Raises ValueError for an unknown name or an impossible size."""
    if name == "pocket":
        if size not in (None, (POCKET.width, POCKET.height)):
            raise ValueError(f"the pocket world is {POCKET.width}x{POCKET.height} and nothing else")
        return POCKET
    return find(name, like).spec(size)


def pocket_folder() -> Path:
    """Where the pocket world's weights are."""
    return Path(str(FOLDER / "pocket"))


def loader(
    name: str,
    options: LoadOptions | None = None,
    weights: Path | None = None,
    like: str | None = None,
    size: tuple[int, int] | None = None,
) -> Loader:
    """What loads a model, to be called in the engine thread; torch is not imported before.

    weights: other weights of the pocket world. like, size: see `engine.models.catalogue.find` and `Entry.spec`. Raises ValueError.
    """
    options = (options or LoadOptions()).checked()
    if options.gpus > 1:
        spec = spec_of(name, like, size)
        return partial(_load_parallel, name=name, spec=spec, options=options, weights=weights, like=like, size=size)
    if name == "pocket":
        return partial(_load_pocket, folder=weights or pocket_folder(), options=options)
    entry = find(name, like)
    load = _load_wan if entry.family == "wan" else _load_joint
    return partial(load, entry=entry, spec=entry.spec(size), options=options)


def default_threads() -> int:
    """Torch threads for sampling: all cores up to 8; more does not help a model this small."""
    return min(8, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 2)


def _load_pocket(progress: Progress, folder: Path, options: LoadOptions) -> Model:
    progress("importing torch", 0.05)
    import torch

    torch.set_num_threads(options.threads or default_threads())
    progress("importing diffusers", 0.3)
    import diffusers.models.transformers.transformer_wan  # noqa: F401

    progress("reading the pocket weights", 0.7)
    from engine.models.interface import Model
    from engine.models.pocket.sampler import PocketDecoder, PocketSampler, PocketWeights

    weights = PocketWeights.load(folder)
    progress("waking the pocket world", 0.9)
    digest = hashlib.sha256((folder / "pocket.safetensors").read_bytes()).hexdigest()[:16]
    sampler = PocketSampler(weights, options.start_image)
    sampler.set_start(options.image or options.clip)
    return Model(sampler, PocketDecoder(weights), f"pocket-{digest}")


def _load_parallel(
    progress: Progress,
    name: str,
    spec: ModelSpec,
    options: LoadOptions,
    weights: Path | None,
    like: str | None,
    size: tuple[int, int] | None,
) -> Model:
    progress("importing torch and diffusers", 0.01)
    from engine.distributed.load import load_parallel

    return load_parallel(name, spec, options, weights, like, size, progress)


def _load_joint(progress: Progress, entry: Entry, spec: ModelSpec, options: LoadOptions) -> Model:
    progress("importing torch and diffusers", 0.01)
    from engine.models.audio_video.load import load_joint

    return load_joint(entry, spec, options, progress)


def _load_wan(progress: Progress, entry: Entry, spec: ModelSpec, options: LoadOptions) -> Model:
    progress("importing torch and diffusers", 0.01)
    from engine.models.wan.load import load_wan

    return load_wan(entry, spec, options, progress)
