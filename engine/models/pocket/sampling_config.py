"""How the pocket world's network is played: figures and steps that sampling and the training that rehearses it share."""

from __future__ import annotations

from torch import Tensor

from engine.models.pocket.codec import CHANNELS

HISTORY_SIGMA = 0.05
"""Noise level that is told of clean history; a middle value of training."""
EMPHASIS = 1.0
"""Factor on what the prompt says. Measured at 0.8, 1, 1.5 and 2.5: a network that a critic trained obeys best as it is told."""
SHIFT, EASE = 1.0, 1.5
"""Of the schedule, see `engine.models.schedulers`: with 4 steps the noise levels are 1, 0.65, 0.35, 0.13."""
HOLD = 0.7
"""How much of what the boundary frame covers is held to it: without it, what is there is averaged away."""
FREE = 0.5
"""Noise level below which nothing is held: detail is the network's."""
LOOSE = (10, 14)
"""Groups after an edit up to which nothing is held, and from which everything is again: the world has to change."""


def firmness(since: Tensor) -> Tensor:
    """How much a group is held, by the groups since the last edit."""
    return HOLD * ((since - LOOSE[0]) / (LOOSE[1] - LOOSE[0])).clamp(0, 1)


def held(clean: Tensor, control: Tensor, sigma: float, hold: Tensor) -> Tensor:
    """Expected clean latents (n, groups, CHANNELS, 10, 16), held to what control latents cover; hold: (n, groups) of `firmness`."""
    if sigma < FREE:
        return clean
    cover = hold[:, :, None, None, None] * control[:, :, CHANNELS:]
    return clean + cover * (control[:, :, :CHANNELS] - clean)
