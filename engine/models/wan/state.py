"""What a Wan call leaves behind for later ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from engine.models.wan.conditions import Text


@dataclass(frozen=True)
class ConditioningLatents:
    """How an image-conditioned call began."""

    position: int
    """Of its first group that plays."""
    latents: tuple[Tensor, ...]
    """Each (channels, h, w). They are decoded before that group; their frames repeat what was shown."""


@dataclass(frozen=True)
class WanState:
    """What a later call needs of a group."""

    control: NDArray[np.float64]
    """What keys did to the group: the camera's pose, or for a model with buttons which of them were held."""
    text: Text
    """What the group was made under."""
    start: int
    """Position of the first latent of its call."""
    chunk: tuple[Tensor, ...]
    """All latents of its call, each (channels, h, w)."""
    conditioning: ConditioningLatents | None = None
