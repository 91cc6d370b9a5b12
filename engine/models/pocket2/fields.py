"""A window of ground around the eye, ready to be seen: a smooth surface in texels, what stands on it, and what that
takes of the light and gives.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import conv2d, grid_sample, pad, pixel_shuffle

from engine.models.pocket2.cells import (
    CELL,
    COLOUR,
    COURSE,
    EDGE,
    HEIGHT_SCALE,
    KINDS,
    LANDS,
    SIZE,
    TRACKS,
    WAY,
    even,
    ramp,
    shaped,
    standing,
)
from engine.models.pocket2.cells import HEIGHT as LEVEL
from engine.models.pocket2.ground import Ground
from engine.models.pocket2.things import NAMES, SHAPES

Array = NDArray[Any]
REACH = 34
"""Cells around the eye's that are shown; what is farther is the sky panorama's."""
RANGE = (REACH - 1.5) * CELL
"""World units that are seen."""
FINE = 4
"""Texels a cell."""
BOXES = {"house": 0, "hut": 1, "cabin": 2, "ruin": 3, "tower": 4}


@lru_cache(1)
def _spline() -> Tensor:
    """(FINE ** 2, 1, 5, 5): cubic B-spline weights of cells for the texels of the middle one."""
    t = (torch.arange(FINE) + 0.5) / FINE - 0.5
    d = (t[:, None] - torch.arange(-2, 3)[None]).abs()
    w = torch.where(d < 1, 2 / 3 - d**2 + d**3 / 2, torch.where(d < 2, (2 - d) ** 3 / 6, torch.zeros(())))
    return torch.einsum("ay,bx->abyx", w, w).reshape(FINE * FINE, 1, 5, 5)


def refined(x: Tensor) -> Tensor:
    """Cells (c, h, w) to texels (c, FINE h, FINE w), smooth to the second derivative."""
    return pixel_shuffle(conv2d(pad(x[:, None], (2, 2, 2, 2), mode="replicate"), _spline()), FINE)[:, 0]


def surface(cells: Array, land: int) -> Tensor:
    """Texels (5, FINE h, FINE w) of latents (CHANNELS, h + 2 EDGE, w + 2 EDGE): height with rivers in it, colour, road's
    field.
    """
    name = LANDS[land]
    way = cells[WAY] if name == "city" else even(cells[WAY])
    parts = (cells[LEVEL : LEVEL + 1] * HEIGHT_SCALE, cells[COLOUR], way[None], even(cells[COURSE])[None])
    maps = refined(torch.from_numpy(np.concatenate(parts))).numpy()
    maps[0], maps[4] = shaped(maps[0], maps[4], maps[5], land, FINE)
    if name in TRACKS:
        road = ramp(maps[4], -0.25, 0.35)
        maps[1:4] += (np.array(TRACKS[name], np.float32)[:, None, None] / 127.5 - 1 - maps[1:4]) * road
    edge = EDGE * FINE
    return torch.from_numpy(np.ascontiguousarray(maps[:5, edge:-edge, edge:-edge]))


@dataclass(frozen=True)
class Things:
    """What stands in a window. All (n,) but where (n, 2) world units; foot: height of the ground there; index: into
    NAMES or, from 100 on, BOXES; ident: a number that stays the thing's own; grown: 0 to 1.
    """

    where: Array
    foot: Array
    index: NDArray[np.int64]
    size: Array
    tone: Array
    ident: NDArray[np.int64]
    grown: Array


@dataclass(frozen=True)
class Fields:
    """A window of ground as texels. origin: world units of its corner; extent: of its side; maps: (c, h, w) of
    height, colour, path, slope in x and y; things.
    """

    origin: tuple[float, float]
    extent: float
    maps: Tensor
    things: Things
    shade: Tensor
    """(2, h, w): what things take of the light, and what lamps give."""


def kind_index(land: int, kind: int) -> int:
    name = KINDS[LANDS[land]][kind]
    return 100 + BOXES[name] if name in BOXES else NAMES.index(name)


_TABLE = np.array([[kind_index(i, k) for k in range(3)] for i in range(len(LANDS))])


def hashed(*values: NDArray[Any]) -> NDArray[np.int64]:
    h = np.zeros(values[0].shape, np.uint32)
    with np.errstate(over="ignore"):
        for v in values:
            h = (h ^ v.astype(np.int64).astype(np.uint32)) * np.uint32(2654435761)
            h ^= h >> np.uint32(15)
            h = h * np.uint32(2246822519)
            h ^= h >> np.uint32(13)
    return h.astype(np.int64)


def window_of(x: float, y: float) -> tuple[int, int, int]:
    """First cell (i, j) and side of the window of cells that a picture from (x, y) needs."""
    return int(np.floor(x / CELL)) - REACH, int(np.floor(y / CELL)) - REACH, 2 * REACH + 1


def height_at(maps: Tensor, origin: tuple[float, float], extent: float, x: Array, y: Array) -> Array:
    """Heights (n,) of the surface, land or water, at world units."""
    at = torch.from_numpy(np.stack((x - origin[0], y - origin[1]), -1).astype(np.float32))[None, None] / extent * 2 - 1
    h = grid_sample(maps[None, :1], at, align_corners=False, padding_mode="border")[0, 0, 0]
    return np.maximum(h.numpy(), 0)


def things_of(cells: Array, i: int, j: int, land: int, maps: Tensor) -> Things:
    """cells: (CHANNELS, n + 2 EDGE, n + 2 EDGE) around those from cell (i, j) on."""
    inner = np.s_[..., EDGE:-EDGE, EDGE:-EDGE]
    there, kinds = (x[inner] for x in standing(cells, land))
    cells = cells[inner]
    rows, cols = np.nonzero(there)
    kind = kinds[rows, cols]
    ident = hashed(cols + i, rows + j, np.full(len(cols), land))
    index = _TABLE[land][kind]
    # where in its cell: towers stand in the middle of four cells
    spread = np.where(index >= 100, 0.3, np.where(index == NAMES.index("lamp"), 0.12, 0.8))
    dx = np.where(index == 104, 1.0, ((ident >> 4) % 1024 / 511.5 - 1) * spread)
    dy = np.where(index == 104, 1.0, ((ident >> 14) % 1024 / 511.5 - 1) * spread)
    where = np.stack(((cols + i + 0.5 + 0.5 * dx) * CELL, (rows + j + 0.5 + 0.5 * dy) * CELL), 1).astype(np.float32)
    n = cells.shape[1]
    foot = height_at(maps, (i * CELL, j * CELL), n * CELL, where[:, 0], where[:, 1])
    tone = ((ident >> 20) % 1024 / 511.5 - 1).astype(np.float32)
    return Things(where, foot, index, cells[SIZE][rows, cols], tone, ident, np.ones(len(cols), np.float32))


def box_sizes(index: NDArray[np.int64], size: Array, tone: Array) -> tuple[Array, Array, Array]:
    """Half widths in x and y, and heights, of boxes (n,)."""
    b = index - 100
    s, t = (size + 1) / 2, (tone + 1) / 2
    half_x = np.select([b == 4, b == 3], [5.2 + 2.2 * t, 1.2 + 1.0 * s], 3.4 + 1.4 * s)
    half_y = np.select([b == 4, b == 3], [5.2 + 2.2 * ((t * 7.3) % 1), 1.2 + 1.0 * s], 3.0 + 1.2 * t)
    high = np.select([b == 4, b == 3], [9 + 62 * s**1.6, 4 + 8 * t], 4.2 + 1.6 * s)
    return half_x.astype(np.float32), half_y.astype(np.float32), high.astype(np.float32)


def cells_around(ground: Ground, i: int, j: int, n: int) -> Array:
    """Latents (CHANNELS, n + 2 EDGE, n + 2 EDGE) around the cells from (i, j) on."""
    return ground.window(i - EDGE, j - EDGE, n + 2 * EDGE, n + 2 * EDGE)[0]


def fields_of(ground: Ground, x: float, y: float, land: int) -> Fields:
    """The window around (x, y)."""
    i, j, n = window_of(x, y)
    cells = cells_around(ground, i, j, n)
    maps = surface(cells, land)
    h = maps[0].clamp_min(0)
    step = 2 * CELL / FINE
    gx = torch.zeros_like(h)
    gy = torch.zeros_like(h)
    gx[:, 1:-1] = (h[:, 2:] - h[:, :-2]) / step
    gy[1:-1] = (h[2:] - h[:-2]) / step
    maps = torch.cat((maps, gx[None], gy[None]))
    things = things_of(cells, i, j, land, maps)
    return Fields((i * CELL, j * CELL), n * CELL, maps, things, torch.zeros(0))


def shaded(fields: Fields, azimuth: float) -> Tensor:
    """(2, h, w): shadow that things throw in this light, and light of lamps and windows."""
    t = fields.things
    side = fields.maps.shape[1]
    out = np.zeros((2, side, side), np.float32)
    box = t.index >= 100
    high, wide = np.zeros(len(t.index), np.float32), np.zeros(len(t.index), np.float32)
    glow = np.zeros(len(t.index), np.float32)
    for k, name in enumerate(NAMES):
        m = t.index == k
        if m.any():
            shape = SHAPES[name]
            high[m] = shape.high[0] + (shape.high[1] - shape.high[0]) * (t.size[m] + 1) / 2
            wide[m] = high[m] * shape.wide * 0.5
            glow[m] = shape.glow * (1.6 if name == "lamp" else 0.6)
    if box.any():
        hx, _, hz = box_sizes(t.index[box], t.size[box], t.tone[box])
        wide[box], high[box] = hx, hz
        glow[box] = np.where(t.index[box] == 103, 0, 0.5)
    c, s = float(np.cos(azimuth)), float(np.sin(azimuth))
    far = np.minimum(high * 0.5, 7.0) * t.grown
    texel = CELL / FINE
    for dx, dy, strength in ((0.0, 0.0, 0.5), (-c * 0.5, -s * 0.5, 0.4), (-c, -s, 0.3)):
        _splat(
            out[0],
            (t.where[:, 0] + dx * far - fields.origin[0]) / texel,
            (t.where[:, 1] + dy * far - fields.origin[1]) / texel,
            np.clip(wide / 3, 0.4, 2.2) * strength * t.grown,
        )
    _splat(
        out[1], (t.where[:, 0] - fields.origin[0]) / texel, (t.where[:, 1] - fields.origin[1]) / texel, glow * t.grown
    )
    x = torch.from_numpy(out)[:, None]
    k3 = torch.tensor([0.25, 0.5, 0.25])
    k9 = torch.exp(-((torch.arange(-6, 7) / 2.6) ** 2))
    dark = conv2d(conv2d(x[:1], k3[None, None, None], padding=(0, 1)), k3[None, None, :, None], padding=(1, 0))
    lamp = conv2d(conv2d(x[1:], k9[None, None, None], padding=(0, 6)), k9[None, None, :, None], padding=(6, 0))
    return torch.cat((dark, lamp))[:, 0].clamp(0, 1.5)


def _splat(out: Array, u: Array, v: Array, weight: Array) -> None:
    """Adds weights to the four texels around (u, v)."""
    u, v = u - 0.5, v - 0.5
    i, j = np.floor(u).astype(int), np.floor(v).astype(int)
    a, b = u - i, v - j
    n = out.shape[0]
    for di, dj, w in ((0, 0, (1 - a) * (1 - b)), (1, 0, a * (1 - b)), (0, 1, (1 - a) * b), (1, 1, a * b)):
        ok = (i + di >= 0) & (i + di < n) & (j + dj >= 0) & (j + dj < n)
        at = (j[ok] + dj) * n + i[ok] + di
        out += np.bincount(at, (weight * w)[ok], n * n).reshape(n, n).astype(np.float32)


def between(a: Fields, b: Fields, share: float) -> Fields:
    """On the way from one ground to another: heights and colours between, things sinking and growing."""
    s = float(share * share * (3 - 2 * share))
    t, u = a.things, b.things
    grown = np.concatenate((t.grown * max(0.0, 1 - 2 * s), u.grown * max(0.0, 2 * s - 1)))
    where, foot, index, size, tone, ident = (
        np.concatenate((getattr(t, k), getattr(u, k))) for k in ("where", "foot", "index", "size", "tone", "ident")
    )
    things = Things(where, foot, index, size, tone, ident, grown.astype(np.float32))
    return Fields(b.origin, b.extent, a.maps * (1 - s) + b.maps * s, things, torch.zeros(0))
