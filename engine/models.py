"""Models by name, and how to load them."""

from __future__ import annotations

import hashlib
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from engine.assets import FOLDER
from engine.sampler import HistoryPolicy, ModelSpec

if TYPE_CHECKING:
    from engine.runtime import Loader, Progress
    from engine.session import Model

POCKET = ModelSpec(
    name="pocket", width=128, height=80, fps=16.0, spans=(4, 4), windows=(1, 21), window=7, steps=4,
    history=(HistoryPolicy.CLEAN_PREFILL, HistoryPolicy.BOUNDARY_IMAGE),
)  # fmt: skip
SPECS = {"pocket": POCKET}


def spec_of(name: str) -> ModelSpec:
    """Raises ValueError for an unknown name."""
    if name not in SPECS:
        raise ValueError(f"unknown model {name!r}; known: {', '.join(SPECS)}")
    return SPECS[name]


def pocket_folder() -> Path:
    """Where the pocket world's weights are."""
    return Path(str(FOLDER / "pocket"))


def loader(name: str, threads: int | None = None, folder: Path | None = None, start_image: bool = True) -> Loader:
    """What loads a model, to be called in the engine thread; torch is not imported before.

    threads: of torch. start_image: begin from a start image that suits the prompt rather than from noise alone.
    """
    spec_of(name)
    return partial(_load_pocket, folder=folder or pocket_folder(), threads=threads or default_threads(), start_image=start_image)


def default_threads() -> int:
    """Torch threads for sampling: all cores up to 8; more does not help a model this small."""
    return min(8, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 2)


def _load_pocket(progress: Progress, folder: Path, threads: int, start_image: bool) -> Model:
    progress("importing torch", 0.05)
    import torch

    torch.set_num_threads(threads)
    progress("importing diffusers", 0.3)
    import diffusers.models.transformers.transformer_wan  # noqa: F401

    progress("reading the pocket weights", 0.7)
    from engine.pocket.model import PocketDecoder, PocketSampler, PocketWeights
    from engine.session import Model

    weights = PocketWeights.load(folder)
    progress("waking the pocket world", 0.9)
    digest = hashlib.sha256((folder / "pocket.safetensors").read_bytes()).hexdigest()[:16]
    return Model(PocketSampler(weights, start_image), PocketDecoder(weights), f"pocket-{digest}")
