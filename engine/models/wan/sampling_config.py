"""How a checkpoint is sampled, as data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Recipe:
    """How a checkpoint is sampled. solver, shift, guidance, negative: see engine.models.schedulers. history: latents of the prefix at
    most, of which `sink` are the session's first. block: latents that a clean prefill takes at once, as in training.
    context_noise: noise level told of retained latents. keys: 'camera' (PRoPE) or 'words'. image: how an image conditions,
    'clamp' (a clean first latent), 'channels' (extra input channels) or none. keyframes: retained latents of the latent input.
    boundary: noise level from which the first of two experts works."""

    solver: str = "dmd"
    shift: float = 5.0
    guidance: float = 1.0
    negative: str = ""
    history: int = 18
    sink: int = 3
    block: int = 3
    context_noise: float = 0.0
    keys: str = "words"
    image: str | None = None
    keyframes: int = 2
    boundary: float | None = None
