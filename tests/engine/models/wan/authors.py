"""Causal rollouts as their authors' code makes them, written anew from it: one sequence, a mask in place of caches.

Source: thu-ml/Causal-Forcing `pipeline/causal_inference.py` and `utils/scheduler.py` (@1fc7bbc19a), from which the others come. What a
cache keeps of a clean block is what the block gives when it is run once more beside the noisy one, at t = 0 and blind to what follows;
so a step is one forward over [clean blocks | noisy block]. Exact as long as nothing was dropped from the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

Forward = Callable[[Tensor, Tensor, Sequence[int]], Tensor]
"""(latents (n, z, h, w), timesteps (n,), latents of each block) to velocities (n, z, h, w)."""


@dataclass(frozen=True)
class Block:
    """Latents that are denoised together."""

    latents: int
    steps: Sequence[int]
    """`denoising_step_list`, before it is warped."""
    clean: Tensor | None = None
    """In place of its first latents, (n, z, h, w), at t = 0 in every step (`first_frame_latents`)."""


def warped(shift: float) -> tuple[Tensor, Tensor]:
    """(timesteps, sigmas) of FlowMatchScheduler(shift, sigma_min=0, extra_one_step=True).set_timesteps(1000)."""
    sigmas = torch.linspace(1.0, 0.0, 1001)[:-1]
    sigmas = shift * sigmas / (1 + (shift - 1) * sigmas)
    return sigmas * 1000, sigmas


def rollout(blocks: Sequence[Block], shift: float, forward: Forward, noise: Callable[[int, int], Tensor]) -> Tensor:
    """All latents (n, z, h, w). noise: of a position, and of the start (0) or after a step (1, 2, ...)."""
    timesteps, sigmas = warped(shift)

    def sigma_of(t: Tensor) -> Tensor:
        return sigmas[(timesteps - t).abs().argmin()]

    made: list[Tensor] = []
    sizes: list[int] = []
    for block in blocks:
        first, n = sum(sizes), block.latents
        given = 0 if block.clean is None else len(block.clean)
        told = torch.cat((timesteps, torch.zeros(1)))[1000 - torch.tensor(block.steps)]
        x = torch.stack([noise(first + i, 0) for i in range(n)])
        sizes.append(n)
        for index, t in enumerate(told):
            if block.clean is not None:
                x[:given] = block.clean
            times = torch.full((n,), float(t))
            times[:given] = 0
            flow = forward(torch.stack([*made, *x]), torch.cat((torch.zeros(first), times)), sizes)[first:]
            x0 = x - sigma_of(t) * flow
            if index + 1 < len(told):
                s = sigma_of(told[index + 1])
                x = (1 - s) * x0 + s * torch.stack([noise(first + i, index + 1) for i in range(n)])
            else:
                x = x0
        if block.clean is not None:
            x[:given] = block.clean
        made += list(x)
    return torch.stack(made)


def causal_mask(sizes: Sequence[int], tokens: int) -> Tensor:
    """(n, n) bool: a token sees its own block and those before it."""
    block = torch.arange(len(sizes)).repeat_interleave(torch.tensor(sizes) * tokens)
    return block[:, None] >= block[None]
