"""Models by name or by folder, and how to load them into this process. Importing this imports no torch.

`engine.loading` also spreads a model over ranks.
"""

from __future__ import annotations

import importlib
import threading
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from engine.assets import FOLDER
from engine.models.catalogue import find, load_catalogue
from engine.models.family import Family
from engine.models.interface import ModelSpec
from engine.models.load_options import LoadOptions
from engine.models.plugins import BUILT_IN, FAMILIES, points

if TYPE_CHECKING:
    from engine.models.interface import Loader, Model, Progress

LOOK_SECONDS = 0.1


_loading = threading.RLock()


class PluginError(ValueError):
    """A plug-in that cannot be used. The message says which and why, in one line."""


def family(name: str) -> Family:
    """The family of this name; imports its module. Raises PluginError."""
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(":")
        return getattr(importlib.import_module(module), attribute)
    for point in points(FAMILIES):
        if point.name != name:
            continue
        try:
            found = point.load()
        except Exception as e:
            raise PluginError(
                f"the plug-in of the family {name} ({point.value}) cannot be loaded: {type(e).__name__}: {e}"
            ) from e
        if not isinstance(found, Family):
            raise PluginError(f"the plug-in of the family {name}: {point.value} is not an engine.models.family.Family")
        return found
    raise PluginError(f"no plug-in that is installed here brings the family {name}")


def names() -> list[str]:
    """All names of the catalogue."""
    return list(load_catalogue())


def spec_of(name: str, like: str | None = None, size: tuple[int, int] | None = None) -> ModelSpec:
    """What is fixed about a model. Raises ValueError for an unknown name or an impossible size."""
    entry = find(name, like)
    return family(entry.family).spec(entry, size)


def options_of(name: str, like: str | None = None) -> frozenset[str]:
    """Fields of `LoadOptions` that a model understands. Raises ValueError for an unknown model."""
    return family(find(name, like).family).options


def pocket_folder() -> Path:
    """Where the pocket world's weights are."""
    return FOLDER / "pocket"


def loader(
    name: str,
    options: LoadOptions | None = None,
    weights: Path | None = None,
    like: str | None = None,
    size: tuple[int, int] | None = None,
) -> Loader:
    """What loads a model into this process, to be called in the engine thread; torch is not imported before.

    weights: the same as `LoadOptions.weights`. like, size: see `engine.models.catalogue.find` and `Entry.spec`. Raises ValueError for an
    unknown model, an impossible size, and options that are out of range or that the model does not understand.
    """
    options = options or LoadOptions()
    options = (options if weights is None else replace(options, weights=weights)).checked()
    entry = find(name, like)
    code = family(entry.family)
    spec = code.spec(entry, size)
    options.refuse_all_but(code.options, entry.name)
    return partial(_one_at_a_time, partial(code.load, entry, spec, options))


def _one_at_a_time(load: Loader, progress: Progress) -> Model:
    """Loads when no other thread does: diffusers and transformers import their parts on demand, and two threads that do so at once may
    meet half a module. `progress` may end the wait by an exception."""
    while not _loading.acquire(timeout=LOOK_SECONDS):
        progress("waiting for another model", 0.0)
    try:
        return load(progress)
    finally:
        _loading.release()
