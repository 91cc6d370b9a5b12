"""The networks that draw: learned textures of things, and pictures from G-buffers (deferred neural rendering)."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import avg_pool2d, pad, pixel_shuffle

from engine.models.pocket2.render import BASE, DISTANCE, FEATURES, ON_BOX, ON_LAND, ROOF, SORT, TRACK, WALL
from engine.models.pocket2.things import NAMES, VARIANTS

Array = NDArray[np.float32]
TEXELS, CODES = 64, 12
"""Side and channels of a thing's learned code; its texture has twice the side."""
WIDTH, EXTRAS, NEAR, BLOCK = 48, 14, 5, 4096
LIGHTS = 15


class Textures(nn.Module):
    """Codes of all things and looks, and the small decoder that makes textures of them: a linear part and a correction."""

    def __init__(self) -> None:
        super().__init__()
        self.codes = nn.Parameter(torch.zeros(len(NAMES) * VARIANTS, CODES, TEXELS, TEXELS))
        self.linear = nn.Conv2d(CODES, 24, 1)
        self.correction = nn.Sequential(nn.Conv2d(CODES, 32, 3, padding=1), nn.SiLU(), nn.Conv2d(32, 24, 1))
        nn.init.zeros_(self.correction[2].weight)  # type: ignore[arg-type]
        nn.init.zeros_(self.correction[2].bias)  # type: ignore[arg-type]

    def forward(self, which: Tensor) -> Tensor:
        """(n, 6, 128, 128): colour, cover, side (0 to 1) and glow, all but the cover times the cover. which: (n,) indices
        of thing * VARIANTS + look.
        """
        code = self.codes[which]
        return pixel_shuffle(self.linear(code) + self.correction(code), 2)

    @torch.no_grad()
    def atlas(self) -> list[Array]:
        """Textures of everything at 128, 64 ... 8 texels, (things * VARIANTS, 6, n, n); side from -1 to 1."""
        parts = [self(torch.arange(i, min(i + 16, len(self.codes)))) for i in range(0, len(self.codes), 16)]
        weighted = torch.cat(parts).clamp(0, 1)
        out = []
        while True:
            c = weighted[:, 3:4]
            y = torch.cat((weighted[:, :3] / c.clamp_min(1e-3), c, weighted[:, 4:] / c.clamp_min(1e-3)), 1).clamp(0, 1)
            y[:, 4] = y[:, 4] * 2 - 1
            out.append(y.numpy())
            if weighted.shape[-1] == 8:
                return out
            weighted = avg_pool2d(weighted, 2)


class Drawer(nn.Module):
    """G-buffers and the light's shares to pictures: three layers a pixel, modulated by the light, then one of
    neighbourhoods.

    The pixel's layers say what its base colour is multiplied by and what is added; the last one smooths edges. A
    light is the same all over a picture, so it is folded into the layers' weights.
    """

    def __init__(self, width: int = WIDTH) -> None:
        super().__init__()
        self.light = nn.Sequential(nn.Linear(LIGHTS, 48), nn.SiLU(), nn.Linear(48, 6 * width))
        self.layers = nn.ModuleList(
            [nn.Linear(FEATURES + EXTRAS, width), nn.Linear(width, width), nn.Linear(width, width)]
        )
        self.head = nn.Linear(width, 6)
        self.edges = nn.Sequential(nn.Conv2d(3 + NEAR, 16, 3), nn.ReLU(inplace=True), nn.Conv2d(16, 3, 1))
        nn.init.zeros_(self.edges[2].weight)  # type: ignore[arg-type]
        nn.init.zeros_(self.edges[2].bias)  # type: ignore[arg-type]
        scale = torch.ones(FEATURES)
        scale[DISTANCE] = 1 / 260
        self.register_buffer("scale", scale, persistent=False)

    def forward(self, buffers: Tensor, mixes: Tensor) -> Tensor:
        """buffers: (n, FEATURES, h, w); mixes: (n, 15). Returns (n, 3, h, w), 0 to 1 and a little beyond."""
        n, _, h, w = buffers.shape
        if n > 1 and not bool((mixes == mixes[:1]).all()):
            return torch.cat([self(buffers[i : i + 1], mixes[i : i + 1]) for i in range(n)])
        planes = buffers.transpose(0, 1).reshape(FEATURES, -1)
        film = self.light(mixes[:1])[0].chunk(6)
        folded = []
        for k, layer in enumerate(self.layers):
            gain = 1 + film[2 * k]
            folded.append((layer.weight * gain[:, None], (layer.bias * gain + film[2 * k + 1])[:, None]))
        folded[0] = (torch.cat((folded[0][0][:, :FEATURES] * self.scale, folded[0][0][:, FEATURES:]), 1), folded[0][1])
        if self.training:
            near = self._pixels(planes, folded)
        else:
            # so many pixels at a time as a cache holds
            near = torch.empty(3 + NEAR, planes.shape[1])
            for i in range(0, planes.shape[1], BLOCK):
                near[:, i : i + BLOCK] = self._pixels(planes[:, i : i + BLOCK], folded)
        near = near.reshape(3 + NEAR, n, h, w).transpose(0, 1)
        return near[:, :3] + self.edges(pad(near, (1, 1, 1, 1), mode="replicate"))

    def _pixels(self, x: Tensor, folded: list[tuple[Tensor, Tensor]]) -> Tensor:
        """(FEATURES, pixels) to colours and what neighbours are told, (3 + NEAR, pixels)."""
        base = x[BASE]
        extras = positional(x)
        for k, (weight, bias) in enumerate(folded):
            x = torch.addmm(bias, weight[:, :FEATURES], x) if k == 0 else torch.addmm(bias, weight, x)
            if k == 0:
                x = x.addmm(weight[:, FEATURES:], extras)
            x = torch.relu(x) if self.training else torch.relu_(x)
        both = torch.addmm(self.head.bias[:, None], self.head.weight, x)
        return torch.cat((base * both[:3] + both[3:], x[:NEAR]))


def positional(x: Tensor) -> Tensor:
    """Positional features (EXTRAS, pixels) of G-buffers (FEATURES, pixels): distance, place across a road, place on a wall."""
    d, path, land, box = x[DISTANCE], x[TRACK], x[ON_LAND], x[ON_BOX] * (1 - x[ROOF])
    u, v, up, along, seen = x[WALL]
    grey = ((0.14 - (x[BASE].amax(0) - x[BASE].amin(0))) * 30).clamp(0, 1) * land
    tower = x[SORT.stop - 1]
    seen = seen * box
    return torch.stack(
        (
            torch.exp(d * (-1 / 12)),
            torch.exp(d * (-1 / 50)),
            torch.exp(-((d / 170) ** 2)),
            grey,
            _between(path, 0.06, 3, 40) * land,
            torch.exp(-((path / 0.07) ** 2)) * land,
            torch.exp(-(((path - 0.985) / 0.025) ** 2)) * grey,
            _between(u, 0.2, 0.8, 30) * _between(v, 0.28, 0.8, 30) * tower * seen,
            _between(v, -1, 0.12, 30) * tower * seen,
            _between(u, 0.34, 0.66, 30) * _between(v, 0.1, 0.9, 30) * (1 - tower) * seen,
            _between(along, -1, 0.6, 20) * _between(up, -2, 2.4, 20) * box,
            _between((up * 2.2) % 1, -1, 0.15, 20) * seen,
            _between((up * 1.1) % 1, -1, 0.14, 20) * seen,
            torch.exp(-up.clamp_min(0)) * box,
        )
    )


def _between(x: Tensor, low: float, high: float, sharp: float) -> Tensor:
    """1 between two values, 0 beyond, with soft ends."""
    return ((x - low) * sharp + 0.5).clamp(0, 1) * ((high - x) * sharp + 0.5).clamp(0, 1)
