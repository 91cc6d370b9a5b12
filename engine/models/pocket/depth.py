"""How far away what a frame shows is: a small network, trained on rendered frames, that a walk needs to re-project a picture.

It reads one frame, rendered, sampled or a photograph, and is told where the horizon is. Distances are over the ground, in world
units, as logarithms.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import avg_pool2d, interpolate, pixel_unshuffle

from engine.models.pocket.camera import FOCAL, HEIGHT, HORIZON, WIDTH

NEAREST, FARTHEST = 1.5, 700.0
"""World units; the sky counts as FARTHEST."""
SKY = 450.0
"""From here on a place does not move when the camera walks."""
GUESS = 90.0
"""What the network corrects is flat ground no farther away than this: it has no step at the horizon."""


def flat_ground(pitch: Tensor, eye: float = 17.0) -> Tensor:
    """Logarithms of distances over flat ground `eye` units below the camera: (n,) pitch in pixels to (n, 1, 80, 1)."""
    rows = torch.arange(HEIGHT, device=pitch.device) + 0.5
    below = rows[None] - (HORIZON + pitch[:, None])
    return (eye * FOCAL / below.clamp_min(1e-3)).clamp(NEAREST, FARTHEST).log()[:, None, :, None]


class Block(nn.Module):
    """Two convolutions around what goes past them."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(8, width)
        self.first, self.second = nn.Conv2d(width, width, 3, padding=1), nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.second(nn.functional.silu(self.first(self.norm(x))))


class DepthNet(nn.Module):
    """A small U over the picture, as a correction of flat ground."""

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        w = width
        self.stem = nn.Sequential(nn.Conv2d(3 * 4 + 2, w // 2, 3, padding=1), nn.SiLU())
        self.down = nn.ModuleList([nn.Conv2d(w // 2, w, 3, 2, 1), nn.Conv2d(w, 2 * w, 3, 2, 1)])
        self.middle, self.deep = Block(w), nn.Sequential(Block(2 * w), Block(2 * w))
        self.up = nn.ModuleList([nn.Conv2d(3 * w, w, 1), nn.Conv2d(w + w // 2, w // 2, 1)])
        self.after = nn.ModuleList(
            [Block(w), nn.Sequential(nn.GroupNorm(8, w // 2), nn.Conv2d(w // 2, w // 2, 3, padding=1), nn.SiLU())]
        )
        self.head = nn.Conv2d(w // 2, 4, 3, padding=1)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)  # type: ignore[arg-type]

    def forward(self, frame: Tensor, pitch: Tensor) -> Tensor:
        """frame: (n, 80, 128, 3) in [-1, 1]; pitch: (n,) pixels. Returns (n, 80, 128) logarithms of distances, whose edges are
        where the picture's are."""
        return snapped(self.estimate(frame, pitch), frame)

    def estimate(self, frame: Tensor, pitch: Tensor) -> Tensor:
        """The same, soft at edges."""
        x = pixel_unshuffle(frame.permute(0, 3, 1, 2), 2)
        ground = flat_ground(pitch).clamp_max(math.log(GUESS))
        rows = (torch.arange(HEIGHT // 2, device=frame.device) * 2 + 1 - HORIZON)[None, None, :, None] - pitch.view(
            -1, 1, 1, 1
        )
        half = avg_pool2d(ground, (2, 1))
        extra = torch.cat((rows / 40, half / 4 - 1), 1).expand(-1, -1, -1, WIDTH // 2)
        a = self.stem(torch.cat((x, extra), 1))
        b = self.middle(self.down[0](a))
        c = self.deep(self.down[1](b))
        b = self.after[0](self.up[0](torch.cat((interpolate(c, size=b.shape[-2:]), b), 1)))
        a = self.after[1](self.up[1](torch.cat((interpolate(b, size=a.shape[-2:]), a), 1)))
        out = nn.functional.pixel_shuffle(self.head(a).float(), 2) * 2 + ground
        return out[:, 0].clamp(math.log(NEAREST), math.log(FARTHEST))


def snapped(distance: Tensor, frame: Tensor, reach: int = 2, colour: float = 0.1, rounds: int = 3) -> Tensor:
    """A joint bilateral filter at half resolution: a place takes the distances of its neighbours that look like it.

    distance: (n, 80, 128); frame: (n, 80, 128, 3); reach: of the neighbourhood, in pairs of pixels; colour: the difference that counts.
    """
    x = avg_pool2d(frame.permute(0, 3, 1, 2), 2)
    d = avg_pool2d(distance[:, None], 2)[:, 0]
    h, w = d.shape[1:]
    around = [(i, j) for i in range(2 * reach + 1) for j in range(2 * reach + 1)]
    wide = nn.functional.pad(x, (reach,) * 4, mode="replicate")
    weights = torch.stack(
        [
            torch.exp(
                -(wide[:, :, i : i + h, j : j + w] - x).square().sum(1) / (2 * colour**2)
                - ((i - reach) ** 2 + (j - reach) ** 2) / (2 * reach**2)
            )
            for i, j in around
        ]
    )
    weights = weights / weights.sum(0)
    for _ in range(rounds):
        wide = nn.functional.pad(d[:, None], (reach,) * 4, mode="replicate")[:, 0]
        d = (weights * torch.stack([wide[:, i : i + h, j : j + w] for i, j in around])).sum(0)
    return d.repeat_interleave(2, 1).repeat_interleave(2, 2)
