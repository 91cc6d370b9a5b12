"""What loads a model, in this process or spread over ranks. Importing this imports no torch."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from engine.models import registry
from engine.models.load_options import LoadOptions

if TYPE_CHECKING:
    from engine.models.interface import Loader, Model, Progress


def loader(
    name: str,
    options: LoadOptions | None = None,
    weights: Path | None = None,
    like: str | None = None,
    size: tuple[int, int] | None = None,
) -> Loader:
    """As `engine.models.registry.loader`; more than one of `options.gpus`, or a cluster, spreads the model over ranks."""
    options = options or LoadOptions()
    alone = registry.loader(name, options, weights, like, size)  # refuses what cannot be
    if options.gpus == 1 and options.cluster is None:
        return alone
    if weights is not None:
        options = replace(options, weights=weights)
    return partial(_load_parallel, name=name, options=options, like=like, size=size)


def _load_parallel(
    progress: Progress, name: str, options: LoadOptions, like: str | None, size: tuple[int, int] | None
) -> Model:
    progress("importing torch and diffusers", 0.01)
    from engine.distributed.load import load_parallel

    return load_parallel(name, options, like, size, progress)
