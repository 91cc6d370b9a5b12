"""The pocket codec: 4-frame groups to latents and back, a block transform fitted in closed form, and a small refiner.

A group of 4 frames of 80x128 is cut into blocks of 8x8 pixels x 4 frames x 3 colours; a latent holds the leading
principal components of each block, scaled so that strong components stay stronger than weak ones (whitening only in
part: predicting the clean latent is then clearly easier, see the model card).
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from engine.models.pocket.camera import FRAMES_PER_GROUP, HEIGHT, WIDTH

BLOCK = 8
ROWS, COLUMNS = HEIGHT // BLOCK, WIDTH // BLOCK
CHANNELS = 48
VALUES = BLOCK * BLOCK * FRAMES_PER_GROUP * 3
WHITENING = 0.35


def to_blocks(frames: Tensor) -> Tensor:
    """(..., 4, 80, 128, 3) in [-1, 1] to (..., 10, 16, 768)."""
    x = frames.unflatten(-2, (-1, BLOCK)).unflatten(-4, (-1, BLOCK))
    n = x.ndim - 6
    lead = tuple(range(n))
    # axes after lead: frame, row, y, column, x, colour
    return x.permute(*lead, n + 1, n + 3, n, n + 2, n + 4, n + 5).flatten(-4)


def from_blocks(blocks: Tensor) -> Tensor:
    """(..., 10, 16, 768) to (..., 4, 80, 128, 3)."""
    x = blocks.unflatten(-1, (FRAMES_PER_GROUP, BLOCK, BLOCK, 3))
    n = x.ndim - 6
    lead = tuple(range(n))
    # axes after lead: row, column, frame, y, x, colour
    return x.permute(*lead, n + 2, n, n + 3, n + 1, n + 4, n + 5).flatten(-3, -2).flatten(-4, -3)


class Refiner(nn.Module):
    """Removes block borders and restores detail: a small convolutional net over one group's frames, as a residual."""

    def __init__(self, width: int = 64, depth: int = 8) -> None:
        super().__init__()
        c = FRAMES_PER_GROUP * 3 * 4
        self.stem = nn.Conv2d(c, width, 3, padding=1)
        self.body = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in range(depth))
        self.head = nn.Conv2d(width, c, 3, padding=1)
        for parameter in self.head.parameters():
            nn.init.zeros_(parameter)

    def forward(self, frames: Tensor) -> Tensor:
        """(n, 4, rows, columns, 3) to the same."""
        x = frames.permute(0, 1, 4, 2, 3).flatten(1, 2)
        h = torch.nn.functional.silu(self.stem(torch.nn.functional.pixel_unshuffle(x, 2)))
        for layer in self.body:
            h = h + torch.nn.functional.silu(layer(h))
        x = x + torch.nn.functional.pixel_shuffle(self.head(h), 2)
        return x.unflatten(1, (FRAMES_PER_GROUP, 3)).permute(0, 1, 3, 4, 2)


class Codec(nn.Module):
    """Encoder and decoder. Latents are (..., CHANNELS, 10, 16) float32, one a group."""

    mean: Tensor
    basis: Tensor
    deviation: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(VALUES))
        self.register_buffer("basis", torch.zeros(VALUES, CHANNELS))
        self.register_buffer("deviation", torch.ones(CHANNELS))
        self.refiner = Refiner()

    @classmethod
    def fit(cls, groups: np.ndarray) -> Codec:
        """Principal components of (n, 4, 80, 128, 3) uint8 groups."""
        codec = cls()
        total = torch.zeros(VALUES, dtype=torch.float64)
        outer = torch.zeros(VALUES, VALUES, dtype=torch.float64)
        count = 0
        for part in np.array_split(groups, max(1, len(groups) // 32)):
            x = to_blocks(torch.from_numpy(part).float() / 127.5 - 1).reshape(-1, VALUES)
            total += x.sum(0).double()
            outer += (x.T @ x).double()
            count += len(x)
        mean = total / count
        values, vectors = torch.linalg.eigh(outer / count - torch.outer(mean, mean))
        codec.mean.copy_(mean)
        codec.basis.copy_(vectors.flip(1)[:, :CHANNELS])
        codec.deviation.copy_(values.flip(0)[:CHANNELS].clamp_min(1e-9).sqrt())
        return codec

    @property
    def scale(self) -> Tensor:
        """(CHANNELS,) the standard deviations of latents."""
        return (self.deviation / self.deviation[0]) ** WHITENING

    def encode(self, frames: Tensor) -> Tensor:
        """(..., 4, 80, 128, 3) in [-1, 1] to (..., CHANNELS, 10, 16)."""
        z = (to_blocks(frames) - self.mean) @ (self.basis * (self.scale / self.deviation))
        return z.movedim(-1, -3)

    def expand(self, latents: Tensor) -> Tensor:
        """The linear inverse: (..., CHANNELS, 10, 16) to (..., 4, 80, 128, 3), not clipped."""
        z = latents.movedim(-3, -1)
        return from_blocks(z @ (self.basis * (self.deviation / self.scale)).T + self.mean)

    def boundary(self, latents: Tensor) -> Tensor:
        """The last frame of each group as it is shown, in [-1, 1]: (n, CHANNELS, 10, 16) to (n, 80, 128, 3)."""
        return self.refiner(self.expand(latents))[:, -1].clamp(-1, 1)

    def decode(self, latents: Tensor) -> Tensor:
        """(n, CHANNELS, 10, 16) to (n, 4, 80, 128, 3) uint8."""
        x = self.refiner(self.expand(latents))
        return ((x.clamp(-1, 1) + 1) * 127.5 + 0.5).to(torch.uint8)

    def still(self, image: np.ndarray) -> Tensor:
        """The first-frame path: a group in which `image` (80, 128, 3) uint8 stands still, (CHANNELS, 10, 16)."""
        x = torch.from_numpy(np.repeat(image[None], FRAMES_PER_GROUP, 0)).float() / 127.5 - 1
        return self.encode(x)
