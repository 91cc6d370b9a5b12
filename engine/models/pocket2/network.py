"""The ground sampler's network: a small convolutional U-Net that predicts clean ground latents from noisy ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import interpolate, pixel_shuffle, pixel_unshuffle, silu

from engine.models.pocket2.cells import CHANNELS, COLOUR, COURSE, HEIGHT, KIND, LANDS, SIZE, WAY

GAIN, SHIFT, SPREAD = torch.ones(CHANNELS), torch.zeros(CHANNELS), torch.full((CHANNELS,), 0.6)
GAIN[HEIGHT], GAIN[COLOUR], GAIN[KIND] = 1.6, 2.5, 0.8
SHIFT[HEIGHT], SHIFT[KIND] = 0.5, -2.0
SPREAD[HEIGHT], SPREAD[KIND], SPREAD[WAY], SPREAD[COURSE] = 0.8, 1.0, 1.0, 1.0
"""Noise is added to (latents - SHIFT) * GAIN, whose deviation is about SPREAD."""


def scaled(x: Tensor) -> Tensor:
    """Latents (n, CHANNELS, h, w) as the network takes them."""
    return (x - SHIFT[None, :, None, None]) * GAIN[None, :, None, None]


def unscaled(x: Tensor) -> Tensor:
    """The inverse of `scaled`."""
    return x / GAIN[None, :, None, None] + SHIFT[None, :, None, None]


def skips(sigma: Tensor) -> tuple[Tensor, Tensor]:
    """Shares (n, CHANNELS, 1, 1) of noisy latents and of the network's output in the clean ones.

    Channels that hold noise of their own pass it on, so that the output's target has unit variance; smooth ones are
    predicted whole.
    """
    s, d = sigma[:, None], SPREAD[None]
    total = ((1 - s) * d) ** 2 + s**2
    own = torch.zeros(1, CHANNELS)
    own[:, KIND] = own[:, SIZE] = 1
    keep, new = (1 - s) * d**2 / total * own, s * d / total.sqrt() * own + d * (1 - own)
    return keep[..., None, None], new[..., None, None]


@dataclass(frozen=True)
class NetworkConfig:
    """Widths of the two levels (2 and 4 cells a place); blocks on the way down, at the bottom and on the way up."""

    widths: tuple[int, int] = (96, 160)
    blocks: tuple[int, int, int] = (1, 3, 1)
    embedding: int = 128

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class Block(nn.Module):
    """Two convolutions with a residual, modulated by the noise level and the land."""

    def __init__(self, width: int, embedding: int, dilation: int = 1) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(16, width)
        self.first = nn.Conv2d(width, width, 3, padding=dilation, dilation=dilation)
        self.second = nn.Conv2d(width, width, 3, padding=1)
        self.modulate = nn.Linear(embedding, 2 * width)
        nn.init.zeros_(self.second.weight)  # type: ignore[arg-type]
        nn.init.zeros_(self.second.bias)  # type: ignore[arg-type]

    def forward(self, x: Tensor, e: Tensor) -> Tensor:
        scale, shift = self.modulate(e)[:, :, None, None].chunk(2, 1)
        h = silu(self.norm(x) * (1 + scale) + shift)
        return x + self.second(silu(self.first(h)))


class GroundNet(nn.Module):
    """Noisy latents, known latents with their mask, and a land to clean latents, all of them scaled."""

    def __init__(self, config: NetworkConfig | None = None) -> None:
        super().__init__()
        self.config = config = config or NetworkConfig()
        a, b = config.widths
        e = config.embedding
        self.embed = nn.Sequential(nn.Linear(32, e), nn.SiLU(), nn.Linear(e, e))
        self.land = nn.Linear(len(LANDS), e, bias=False)
        self.stem = nn.Conv2d(4 * (2 * CHANNELS + 1) + len(LANDS) + 8, a, 3, padding=1)
        self.fine_in = nn.ModuleList(Block(a, e) for _ in range(config.blocks[0]))
        self.down = nn.Conv2d(a, b, 2, 2)
        self.deep = nn.ModuleList(Block(b, e, 1 + i % 2) for i in range(config.blocks[1]))
        self.up = nn.Conv2d(b, a, 1)
        self.fine_out = nn.ModuleList(Block(a, e) for _ in range(config.blocks[2]))
        self.last = nn.GroupNorm(16, a)
        self.head = nn.Conv2d(a, 4 * CHANNELS, 3, padding=1)

    def forward(self, z: Tensor, known: Tensor, mask: Tensor, land: Tensor, sigma: Tensor, origin: Tensor) -> Tensor:
        """z, known: (n, CHANNELS, h, w), h and w multiples of 4; mask: (n, 1, h, w), 1 where known; land: (n, 8) shares;
        sigma: (n,); origin: (n, 2), the first cell (i, j), even numbers.

        Returns clean latents like z.
        """
        f = torch.exp(torch.arange(16) * -0.4)[None] * sigma[:, None] * 60
        e = silu(self.embed(torch.cat((f.sin(), f.cos()), 1)) + self.land(land))
        x = pixel_unshuffle(torch.cat((z, known * mask, mask), 1), 2)
        x = torch.cat((x, land[:, :, None, None].expand(-1, -1, *x.shape[2:]), blocks(origin, *x.shape[2:])), 1)
        x = self.stem(x.contiguous(memory_format=torch.channels_last))
        for block in self.fine_in:
            x = block(x, e)
        d = self.down(x)
        for block in self.deep:
            d = block(d, e)
        x = x + interpolate(self.up(d), scale_factor=2, mode="nearest")
        for block in self.fine_out:
            x = block(x, e)
        keep, new = skips(sigma)
        return z * keep + pixel_shuffle(self.head(silu(self.last(x))), 2) * new


def blocks(origin: Tensor, rows: int, columns: int) -> Tensor:
    """(n, 8, rows, columns): where places of two cells lie in a town's blocks of eight, as waves along x and y."""
    out = []
    for axis, n in ((0, columns), (1, rows)):
        at = origin[:, axis, None] + 2 * torch.arange(n)
        for period in (8, 4):
            phase = at * (2 * torch.pi / period)
            for wave in (phase.sin(), phase.cos()):
                out.append((wave[:, None, :] if axis == 0 else wave[:, :, None]).expand(-1, rows, columns))
    return torch.stack(out, 1).float()


def schedule(steps: int, shift: float = 3.0) -> list[float]:
    """Noise levels before each step and after the last, falling from 1 to 0."""
    u = [1 - i / steps for i in range(steps + 1)]
    return [shift * x / (1 + (shift - 1) * x) for x in u]


def sample(
    net: Callable[..., Tensor],
    known: Tensor,
    mask: Tensor,
    land: Tensor,
    noise: Tensor,
    steps: int,
    origin: Tensor,
    report: Callable[[int], None] = lambda done: None,
    start: Tensor | None = None,
    level: float = 1.0,
) -> Tensor:
    """Flow matching in the scaled space by a multistep solver of second order in the log-SNR (DPM-Solver++ 2M, Lu et al.
    2022): Euler steps of that number come out too flat, with few rivers and no houses. All arguments and the result are
    unscaled latents, as GroundNet's.

    start, level: begin from these latents at this noise level instead of from noise. report: told the steps done.
    """
    levels = [s * level for s in schedule(steps)]
    given = scaled(known)
    z = noise if start is None else (1 - level) * scaled(start) + level * noise
    clean = z
    for i in range(steps):
        s, after = levels[i], levels[i + 1]
        last = clean
        clean = net(z, given, mask, land, torch.full((len(z),), s), origin)
        clean = clean * (1 - mask) + given * mask
        aim = clean
        if i > 0 and levels[i - 1] < 1 and after > 0:
            # the log-SNR is infinite before the first step and after the last one: these are Euler's
            aim = clean + (clean - last) * (0.5 * (_snr(after) - _snr(s)) / (_snr(s) - _snr(levels[i - 1])))
        z = aim + (z - aim) * (after / s)
        report(i + 1)
    return settled(unscaled(clean)) * (1 - mask) + known * mask


def _snr(level: float) -> float:
    """Logarithm of signal over noise."""
    return math.log((1 - level) / level)


def settled(x: Tensor) -> Tensor:
    """Latents within their range. x: (n, CHANNELS, h, w)."""
    x = x.clone()
    x[:, COLOUR] = x[:, COLOUR].clamp(-1, 1)
    x[:, SIZE] = x[:, SIZE].clamp(-1, 1)
    return x
