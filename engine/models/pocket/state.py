"""Inputs of the pocket world's calls, and what a group leaves behind for later ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from engine.models.pocket.memory import Place
from engine.models.pocket.soundscape import QUIET, Hearing


@dataclass(frozen=True)
class PocketInputs:
    """Condition of a call."""

    attributes: Tensor
    """What the prompt says of biome, time and weather, softly: (CONDITION,)."""
    held: np.ndarray
    """The camera command of held keys, (5,) in [-1, 1]."""
    first: np.ndarray
    """That of the call's first group, with what was tapped."""


@dataclass(frozen=True)
class GroupState:
    """Where a group ends, and how it got there."""

    motion: np.ndarray
    """Of the camera in each of its frames, (4, 5)."""
    pitch: float
    """Before it, in pixels."""
    place: Place
    """Where it ends."""
    attributes: Tensor | None = None
    """What the prompt said of it, where it had one."""
    before: Tensor | None = None
    """Of a world's first group: the latent of the place that it began from."""
    hearing: Hearing = QUIET
