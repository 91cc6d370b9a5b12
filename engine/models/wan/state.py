"""What a Wan call leaves behind for later ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from engine.models.interface import Group
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
    """What keys did to the group: the camera's pose or motion, or for a model with buttons which of them were held."""
    text: Text
    """What the group was made under."""
    start: int
    """Position of the first latent of its call."""
    chunk: tuple[Tensor, ...]
    """All latents of its call, each (channels, h, w); none for a group that is kept apart from it."""
    conditioning: ConditioningLatents | None = None

    def apart(self, group: Group) -> Group:
        """See `engine.models.interface.ComesApart`."""
        return replace(group, latent=group.latent.to("cpu", copy=True), state=replace(self, chunk=()))

    def joined(self, groups: Sequence[Group]) -> list[Group]:
        """See `engine.models.interface.ComesApart`."""
        chunk, start = tuple(g.latent for g in groups), groups[0].position
        return [replace(g, state=replace(g.state, start=start, chunk=chunk)) for g in groups]
