"""The networks that draw: learned textures of things, and pictures from G-buffers (deferred neural rendering)."""

from __future__ import annotations

from functools import lru_cache
from threading import Lock

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import avg_pool2d, pad, pixel_shuffle

from engine.models.pocket2.camera import HEIGHT, WIDTH
from engine.models.pocket2.fields import RANGE
from engine.models.pocket2.gbuffer import (
    AIR,
    BASE,
    BOX,
    CARD,
    DISTANCE,
    FEATURES,
    FLAG,
    INPUTS,
    LAND,
    ON_BOX,
    ON_LAND,
    ROOF,
    ROW,
    SORT,
    TRACK,
    WALL,
    Air,
    Buffer,
)
from engine.models.pocket2.things import NAMES, VARIANTS

Array = NDArray[np.float32]
TEXELS, CODES = 64, 12
"""Side and channels of a thing's learned code; its texture has twice the side."""
HIDDEN, EXTRAS, NEAR, BLOCK = 48, 14, 5, 6144
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

    def __init__(self, width: int = HIDDEN) -> None:
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
        """buffers: (n, FEATURES, h, w); mixes: (n, 15), all equal or n = 1. Returns (n, 3, h, w), 0 to 1 and a little
        beyond. This is what is trained; `LayerDrawer` gives the same of layers.
        """
        n, _, h, w = buffers.shape
        if n > 1 and not bool((mixes == mixes[:1]).all()):
            return torch.cat([self(buffers[i : i + 1], mixes[i : i + 1]) for i in range(n)])
        x = buffers.transpose(0, 1).reshape(FEATURES, -1)
        folded = self.folded(mixes[0])
        hidden = torch.cat((x, positional(x)))
        for weight, bias in folded:
            hidden = torch.relu(torch.addmm(bias, weight, hidden))
        near = self.told(x[BASE], hidden).reshape(3 + NEAR, n, h, w).transpose(0, 1)
        return self.smoothed(near)

    def folded(self, mix: Tensor) -> list[tuple[Tensor, Tensor]]:
        """Weights and biases of the pixel's layers in a light (15,)."""
        film = self.light(mix[None])[0].chunk(6)
        out = []
        for k, layer in enumerate(self.layers):
            gain = 1 + film[2 * k]
            out.append((layer.weight * gain[:, None], (layer.bias * gain + film[2 * k + 1])[:, None]))
        out[0] = (torch.cat((out[0][0][:, :FEATURES] * self.scale, out[0][0][:, FEATURES:]), 1), out[0][1])
        return out

    def told(self, base: Tensor | None, hidden: Tensor) -> Tensor:
        """Colours and what neighbours are told, (3 + NEAR, pixels). base: (3, pixels), None where it is zero."""
        both = torch.addmm(self.head.bias[:, None], self.head.weight, hidden)
        return torch.cat((both[3:] if base is None else base * both[:3] + both[3:], hidden[:NEAR]))

    def smoothed(self, near: Tensor) -> Tensor:
        return near[:, :3] + self.edges(pad(near, (1, 1, 1, 1), mode="replicate"))


class LayerDrawer:
    """Draws layers with a trained drawer: the same pictures as of planes, for less work."""

    def __init__(self, drawer: Drawer) -> None:
        self.drawer = drawer
        self._lock = Lock()
        self._sky: tuple[Tensor, bytes, Tensor] | None = None

    @torch.no_grad()
    def __call__(self, buffer: Buffer, mix: Array) -> Tensor:
        """(3, HEIGHT, WIDTH) of layers. mix: (15,)."""
        folded = self.drawer.folded(torch.from_numpy(np.asarray(mix, np.float32)))
        near = torch.empty(HEIGHT * WIDTH, 3 + NEAR)
        for layer in buffer:
            if isinstance(layer, Air):
                near.index_copy_(0, layer.at, layer.between(self._of_sky(layer.strip, mix, folded)))
            else:
                self._pixels(layer.sort, layer.values, folded, near, layer.at)
        return self.drawer.smoothed(near.view(1, HEIGHT, WIDTH, 3 + NEAR).permute(0, 3, 1, 2))[0]

    def _of_sky(self, strip: Tensor, mix: Array, folded: list[tuple[Tensor, Tensor]]) -> Tensor:
        """What neighbours are told of a strip of sky, (rows * columns, 3 + NEAR); kept for the next picture of it."""
        with self._lock:
            if self._sky is None or self._sky[0] is not strip or self._sky[1] != mix.tobytes():
                values = torch.cat((torch.full((1, *strip.shape[1:]), RANGE), strip)).reshape(len(strip) + 1, -1)
                told = torch.empty(values.shape[1], 3 + NEAR)
                self._pixels(AIR, values, folded, told)
                self._sky = (strip, mix.tobytes(), told)
            return self._sky[2]

    def _pixels(
        self, sort: int, values: Tensor, folded: list[tuple[Tensor, Tensor]], out: Tensor, at: Tensor | None = None
    ) -> None:
        """Colours and what neighbours are told of pixels of a sort, put into rows of `out` (m, 3 + NEAR); at: which."""
        (weight, bias), *rest = folded
        # a sort's own features alone: the others are zero, and its flag is 1
        flag = FLAG[sort]
        own = weight[:, _inputs(sort)].contiguous()
        first = bias if flag is None else bias + weight[:, flag : flag + 1]
        base = None if flag is None else slice(ROW[sort][BASE.start], ROW[sort][BASE.start] + 3)
        n, width = values.shape[1], len(weight)
        room = torch.empty(2, width * min(BLOCK, n))
        for i in range(0, n, BLOCK):
            # so many pixels at a time as a cache holds, in the same memory each time
            x = values[:, i : i + BLOCK]
            hidden, spare = (r[: width * x.shape[1]].view(width, -1) for r in room)
            torch.addmm(first, own, torch.cat((x, extras(sort, x))), out=hidden).relu_()
            for w, b in rest:
                torch.addmm(b, w, hidden, out=spare).relu_()
                hidden, spare = spare, hidden
            told = self.drawer.told(None if base is None else x[base], hidden).T
            if at is None:
                out[i : i + BLOCK] = told
            else:
                out.index_copy_(0, at[i : i + BLOCK], told)


EXTRAS_OF = {LAND: tuple(range(7)), CARD: tuple(range(3)), BOX: (0, 1, 2, *range(7, 14)), AIR: tuple(range(3))}
"""Positional features that a sort has; see `positional`."""


@lru_cache(4)
def _inputs(sort: int) -> Tensor:
    """Columns of the first layer that a sort's features go into."""
    return torch.tensor([*INPUTS[sort], *(FEATURES + e for e in EXTRAS_OF[sort])])


def positional(x: Tensor) -> Tensor:
    """Positional features (EXTRAS, pixels) of G-buffers (FEATURES, pixels): distance, place across a road, place on a wall."""
    return torch.cat(
        (
            _far(x[DISTANCE]),
            _across(x[TRACK], x[BASE]) * x[ON_LAND],
            _on_wall(x[WALL], x[SORT.stop - 1], 1 - x[ROOF]) * x[ON_BOX],
        )
    )


def extras(sort: int, x: Tensor) -> Tensor:
    """Those of `positional` that a sort has, (k, pixels), of a layer's values."""
    row = ROW[sort]
    far = _far(x[row[DISTANCE]])
    if sort == LAND:
        return torch.cat((far, _across(x[row[TRACK]], x[row[BASE.start] : row[BASE.start] + 3])))
    if sort == BOX:
        wall = x[row[WALL.start] : row[WALL.start] + 5]
        return torch.cat((far, _on_wall(wall, x[row[SORT.stop - 1]], 1 - x[row[ROOF]])))
    return far


def _far(d: Tensor) -> Tensor:
    return torch.stack((torch.exp(d * (-1 / 12)), torch.exp(d * (-1 / 50)), torch.exp(-((d / 170) ** 2))))


def _across(path: Tensor, base: Tensor) -> Tensor:
    grey = ((0.14 - (base.amax(0) - base.amin(0))) * 30).clamp(0, 1)
    return torch.stack(
        (
            grey,
            _between(path, 0.06, 3, 40),
            torch.exp(-((path / 0.07) ** 2)),
            torch.exp(-(((path - 0.985) / 0.025) ** 2)) * grey,
        )
    )


def _on_wall(wall: Tensor, tower: Tensor, box: Tensor) -> Tensor:
    """box: 1 on walls, 0 on roofs."""
    u, v, up, along, seen = wall
    seen = seen * box
    return torch.stack(
        (
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
