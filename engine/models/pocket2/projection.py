"""What stands on the ground as pixels: textures that face the eye, boxes, and small things at one's feet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import grid_sample

from engine.models.pocket2.camera import FOCAL, HEIGHT, HORIZON, WIDTH
from engine.models.pocket2.cells import LANDS
from engine.models.pocket2.fields import RANGE, Fields, box_sizes, hashed
from engine.models.pocket2.gbuffer import BASE, BOX, CARD, DISTANCE, FACE, INPUTS, OWN, ROOF, ROW, SHINE, SORT, WALL
from engine.models.pocket2.things import NAMES, SHAPES, UNDERFOOT, VARIANTS

Array = NDArray[Any]
Index = NDArray[np.int64]
FEET, GRID = 26.0, 1.4
"""World units within which small things at one's feet are drawn, and of the grid that they lie on."""
VIEW = (330.0, 130.0, 62.0)
"""World units that are seen in clear, hazy and foggy weather, about."""
LOW, TOP, WIDE, SUNK, GLOW = (
    np.array(v, np.float32)
    for v in zip(*((s.high[0], s.high[1], s.wide, s.sunk, s.glow) for s in SHAPES.values()), strict=True)
)
"""Of `NAMES`; see `Shape`."""


@dataclass(frozen=True)
class Eye:
    """Where from and in which light a picture is seen. x, y, z: world units; yaw: radians; horizon: its row; azimuth: of
    the sun; mix: (15,) shares.
    """

    x: float
    y: float
    z: float
    yaw: float
    horizon: float
    azimuth: float
    mix: Array

    @classmethod
    def of(cls, pose: Array, azimuth: float, mix: Array) -> Eye:
        x, y, z, yaw, pitch = (float(v) for v in pose)
        return cls(x, y, z, yaw, HORIZON + pitch, azimuth, mix)

    def turn_to(self, dx: Array, dy: Array) -> Array:
        """How far right of the view's middle something lies, -pi to pi."""
        return (np.arctan2(dy, dx) - self.yaw + np.pi) % (2 * np.pi) - np.pi


@dataclass(frozen=True)
class Part:
    """Pixels (k,) that things of one sort may cover, the farthest first; how far away the things are there; and what makes
    a layer's values of chosen ones of them.
    """

    sort: int
    pixel: Index
    far: Array
    values: Callable[[Index], Array]


class Atlas:
    """Textures of everything, in all sizes, texel by texel."""

    def __init__(self, levels: Sequence[Array]) -> None:
        """levels: (pictures, 6, n, n) for n of 128, 64 ... 8; see `drawing.Textures.atlas`."""
        self.sides = np.array([a.shape[-1] for a in levels])
        self.starts = np.cumsum([0, *(a.shape[0] * a.shape[-1] ** 2 for a in levels)])[:-1]
        self.texels = np.concatenate([a.transpose(0, 2, 3, 1).reshape(-1, 6) for a in levels])
        self.cover = np.ascontiguousarray(self.texels[:, 3])

    def nearest(self, level: Index, picture: Index, v: Array, u: Array) -> Index:
        """Which texels (k,) places lie in."""
        n = self.sides[level]
        return self.starts[level] + (picture * n + (v * n).astype(int)) * n + (u * n).astype(int)

    def smooth(self, picture: Index, v: Array, u: Array, channels: slice) -> Array:
        """Bilinear texels (k, channels) of the largest size."""
        n = int(self.sides[0])
        y, x = np.clip(v * n - 0.5, 0, n - 1.001), np.clip(u * n - 0.5, 0, n - 1.001)
        j, i = y.astype(int), x.astype(int)
        a, b = (x - i)[:, None].astype(np.float32), (y - j)[:, None].astype(np.float32)
        t, at = self.texels[:, channels], (picture * n + j) * n + i
        top = t[at] * (1 - a) + t[at + 1] * a
        low = t[at + n] * (1 - a) + t[at + n + 1] * a
        return top * (1 - b) + low * b


def parts(fields: Fields, atlas: Atlas, eye: Eye, far: Array) -> list[Part]:
    """All that stands there. far: (HEIGHT, WIDTH), how far away the ground is."""
    t = fields.things
    dx, dy = t.where[:, 0] - eye.x, t.where[:, 1] - eye.y
    distance, turn = np.hypot(dx, dy), eye.turn_to(dx, dy)
    spread = np.where(t.index == 104, 11, 8) / np.maximum(distance, 1)
    view = float(np.exp((eye.mix[12:15] * np.log(VIEW)).sum()))
    keep = (
        (distance < min(RANGE - 4, 2.4 * view))
        & (np.abs(turn) < WIDTH / 2 / FOCAL + np.minimum(spread, 1.6))
        & (t.grown > 0.03)
    )
    some = (
        _cards(fields, atlas, eye, far, keep & (t.index < 100) & (distance > 0.8), distance, turn),
        _boxes(fields, eye, far, keep & (t.index >= 100)),
        _feet(fields, atlas, eye, far),
    )
    return [p for p in some if p is not None]


def _expand(left: Array, top: Array, wide: Array, high: Array) -> tuple[Index, Index, Index] | None:
    """Pixels of rectangles that are cut off at the picture's edge: rectangle, column and row of each."""
    c0, c1 = np.clip(np.floor(left), 0, WIDTH).astype(int), np.clip(np.ceil(left + wide), 0, WIDTH).astype(int)
    r0, r1 = np.clip(np.floor(top), 0, HEIGHT).astype(int), np.clip(np.ceil(top + high), 0, HEIGHT).astype(int)
    w, h = np.maximum(c1 - c0, 0), np.maximum(r1 - r0, 0)
    count = w * h
    total = int(count.sum())
    if not total:
        return None
    which = np.repeat(np.arange(len(count)), count)
    local = np.arange(total) - np.repeat(np.cumsum(count) - count, count)
    row = local // w[which]
    return which, c0[which] + local - row * w[which], r0[which] + row


def _cards(
    fields: Fields, atlas: Atlas, eye: Eye, far: Array, m: NDArray[np.bool_], distance: Array, turn: Array
) -> Part | None:
    """Textures that face the eye."""
    t, k = fields.things, np.nonzero(m)[0]
    if not len(k):
        return None
    i = t.index[k]
    high = (LOW[i] + (TOP[i] - LOW[i]) * (t.size[k] + 1) / 2) * t.grown[k]
    return _card_pixels(
        atlas, eye, far, i, t.ident[k], t.foot[k] - SUNK[i] * high, high, high * WIDE[i], distance[k], turn[k], 0.8
    )


def _card_pixels(
    atlas: Atlas,
    eye: Eye,
    far: Array,
    index: Index,
    ident: Index,
    foot: Array,
    high: Array,
    width: Array,
    d: Array,
    turn: Array,
    slack: float,
) -> Part | None:
    """slack: world units by which the ground may be in front."""
    order = np.argsort(-d, kind="stable")
    index, ident, foot, high, width, turn = (a[order] for a in (index, ident, foot, high, width, turn))
    d = np.maximum(d[order], 0.5)
    per = FOCAL / d
    x = WIDTH / 2 + turn * FOCAL
    bottom = eye.horizon - (foot - eye.z) * per
    top = bottom - high * per
    rects = _expand(x - width * per / 2, top, width * per, high * per)
    if rects is None:
        return None
    which, col, row = rects
    pixel = row * WIDTH + col
    ahead = np.nonzero(d[which] < far.ravel()[pixel] + slack)[0]
    which, col, row, pixel = which[ahead], col[ahead], row[ahead], pixel[ahead]
    u = (col + 0.5 - x[which]) / (width * per)[which] + 0.5
    v = (row + 0.5 - top[which]) / (high * per)[which]
    inside = np.nonzero((u >= 0) & (u < 1) & (v >= 0) & (v < 1))[0]
    which, pixel, u, v = which[inside], pixel[inside], u[inside], v[inside]
    flip = ((ident >> 9) & 1) == 1
    u = np.where(flip[which], 1 - u, u)
    picture = (index * VARIANTS + ident % VARIANTS)[which]
    texels = np.maximum(high, width) * per
    # the size whose texels are about as large as pixels
    level = np.clip(np.floor(np.log2(128 / np.maximum(texels, 1)) + 0.35), 0, len(atlas.sides) - 1).astype(int)[which]
    at = atlas.nearest(level, picture, v, np.minimum(u, 1 - 1e-9))
    cover = atlas.cover[at]
    large = np.nonzero(level == 0)[0]
    cover[large] = atlas.smooth(picture[large], v[large], u[large], slice(3, 4))[:, 0]
    there = np.nonzero(cover > 0.5)[0]
    which, pixel, level, picture, at = (a[there] for a in (which, pixel, level, picture, at))
    u, v = u[there], v[there]
    side = np.sin(eye.azimuth - eye.yaw - turn).astype(np.float32)  # how much the sun stands to the right
    own = ((ident >> 11) % 8 / 8).astype(np.float32)

    def values(k: Index) -> Array:
        texel = atlas.texels[at[k]]
        large = np.nonzero(level[k] == 0)[0]
        q, w = k[large], which[k]
        texel[large] = atlas.smooth(picture[q], v[q], u[q], slice(0, 6))
        out = np.empty((len(INPUTS[CARD]), len(k)), np.float32)
        rows = ROW[CARD]
        out[rows[BASE.start] : rows[BASE.start] + 3] = texel[:, :3].T
        out[rows[FACE]] = np.where(flip[w], -texel[:, 4], texel[:, 4]) * side[w]
        out[rows[SHINE]] = GLOW[index][w] * texel[:, 5]
        out[rows[DISTANCE]] = d[w]
        out[rows[OWN]] = own[w]
        return out

    return Part(CARD, pixel, d[which], values)


@lru_cache(1)
def _square() -> tuple[Index, Index]:
    n = int(FEET / GRID)
    i, j = np.meshgrid(np.arange(-n, n + 1), np.arange(-n, n + 1))
    return i.ravel(), j.ravel()


def _feet(fields: Fields, atlas: Atlas, eye: Eye, far: Array) -> Part | None:
    """Small things near the eye, by a hash of their places."""
    i, j = (q + int(p / GRID) for q, p in zip(_square(), (eye.x, eye.y), strict=True))
    ident = hashed(i, j)
    px = ((i + (ident % 97) / 97) * GRID).astype(np.float32)
    py = ((j + (ident >> 7) % 89 / 89) * GRID).astype(np.float32)
    dx, dy = px - eye.x, py - eye.y
    d, turn = np.hypot(dx, dy), eye.turn_to(dx, dy)
    ok = (d < FEET) & (d > 1.2) & (np.abs(turn) < WIDTH / 2 / FOCAL + 0.2)
    px, py, d, turn, ident = px[ok], py[ok], d[ok], turn[ok], ident[ok]
    dice = ((ident >> 3) % 1009) / 1009
    index = np.full(len(dice), -1)
    base = 0.0
    for name, share in zip(LANDS, eye.mix[:8], strict=True):
        for thing, part in UNDERFOOT[name]:
            index[(dice >= base) & (dice < base + part * float(share))] = NAMES.index(thing)
            base += part * float(share)
    place = np.stack((px - fields.origin[0], py - fields.origin[1]), -1).astype(np.float32)
    at = torch.from_numpy(place)[None, None] / fields.extent * 2 - 1
    m = grid_sample(fields.maps[None, :5], at, align_corners=False, padding_mode="border")[0, :, 0].numpy()
    ok = (index >= 0) & (m[0] > 0.35) & (m[4] < -0.1)
    if not ok.any():
        return None
    index, ident, d, turn, foot = index[ok], ident[ok], d[ok], turn[ok], m[0][ok]
    grow = np.clip((FEET - d) / 8, 0, 1)  # they rise out of the ground as one comes nearer
    high = (LOW[index] + (TOP[index] - LOW[index]) * ((ident >> 13) % 64) / 64) * grow
    return _card_pixels(atlas, eye, far, index, ident, foot - 0.05 * high, high, high * WIDE[index], d, turn, 0.5)


def _boxes(fields: Fields, eye: Eye, far: Array, m: NDArray[np.bool_]) -> Part | None:
    """Houses, ruins and towers: boxes along the axes, found column by column."""
    t, k = fields.things, np.nonzero(m)[0]
    if not len(k):
        return None
    hx, hy, high = box_sizes(t.index[k], t.size[k], t.tone[k])
    sort = t.index[k] - 100
    high = high * t.grown[k]
    bx, by = t.where[k, 0] - eye.x, t.where[k, 1] - eye.y
    a = eye.yaw + (np.arange(WIDTH) + 0.5 - WIDTH / 2) / FOCAL
    ca, sa = np.cos(a), np.sin(a)
    ca, sa = np.where(np.abs(ca) < 1e-5, 1e-5, ca), np.where(np.abs(sa) < 1e-5, 1e-5, sa)
    x0, x1 = (bx - hx)[:, None] / ca, (bx + hx)[:, None] / ca
    y0, y1 = (by - hy)[:, None] / sa, (by + hy)[:, None] / sa
    inx, iny = np.minimum(x0, x1), np.minimum(y0, y1)
    enter, leave = np.maximum(inx, iny), np.minimum(np.maximum(x0, x1), np.maximum(y0, y1))
    which, col = np.nonzero((leave > enter) & (enter > 0.3))
    if not len(which):
        return None
    order = np.argsort(-enter[which, col], kind="stable")
    which, col = which[order], col[order]
    t0, t1 = enter[which, col], leave[which, col]
    on_x = (inx > iny)[which, col]
    base, top = t.foot[k][which] - 1.5, (t.foot[k] + high)[which]
    # a roof over houses: highest in the middle of what is seen of them
    span0, span1 = np.full(len(k), WIDTH), np.zeros(len(k))
    np.minimum.at(span0, which, col)
    np.maximum.at(span1, which, col + 1)
    q = (col + 0.5 - span0[which]) / np.maximum(span1 - span0, 1)[which]
    cut = (span0[which] <= 0) | (span1[which] >= WIDTH)
    q = np.where(cut, 0.5, q)
    pitched = sort[which] < 3
    rise = np.where(pitched, np.clip(1.7 * (1 - np.abs(2 * q - 1)), 0, 1) * 2.6 * t.grown[k][which], 0)
    horizon, z = eye.horizon, eye.z
    wall_row = horizon - (top - z) / t0 * FOCAL
    roof_row = np.where(
        pitched, horizon - (top + rise - z) / t0 * FOCAL, np.minimum(wall_row, horizon - (top - z) / t1 * FOCAL)
    )
    low_row = horizon - (base - z) / t0 * FOCAL
    r0, r1 = np.clip(np.floor(roof_row), 0, HEIGHT).astype(int), np.clip(np.ceil(low_row), 0, HEIGHT).astype(int)
    count = np.maximum(r1 - r0, 0)
    total = int(count.sum())
    if not total:
        return None
    line = np.repeat(np.arange(len(which)), count)
    row = np.arange(total) - np.repeat(np.cumsum(count) - count, count) + r0[line]
    pixel = row * WIDTH + col[line]
    seen = np.nonzero(t0[line] < far.ravel()[pixel] + 0.4)[0]
    line, row, pixel = line[seen], row[seen], pixel[seen]
    along = np.where(on_x, (t0 * sa[col] - by[which]), (t0 * ca[col] - bx[which]))
    half = np.where(on_x, hy[which], hx[which])
    # walls face along an axis; the sun's side is lighter
    facing = np.where(on_x, -np.sign(bx)[which] * np.cos(eye.azimuth), -np.sign(by)[which] * np.sin(eye.azimuth))
    ident, tone, foot = t.ident[k], t.tone[k], t.foot[k]

    def values(q: Index) -> Array:
        n, r = line[q], row[q]
        b, d = which[n], t0[n]
        kind, own = sort[b], ident[b]
        tower = kind == 4
        up = z + (horizon - r - 0.5) * d / FOCAL - foot[b]
        roof = r + 0.5 < wall_row[n]
        # windows: two world units wide on towers, one in each half of a house's wall
        u = (along[n] + half[n]) / np.where(tower, 2.0, half[n])
        v = np.where(tower, up / 2.8, (up - 1.2) / 1.8)
        lit = hashed(
            np.floor(u).astype(int), np.floor(np.where(tower, v, 0)).astype(int), own, on_x[n].astype(int)
        ) % 100 < np.where(tower, 46, 80)
        storeys = np.where(tower, (up < high[b] - 1.0) & (up > 2.0), True)
        out = np.zeros((len(INPUTS[BOX]), len(q)), np.float32)
        rows = ROW[BOX]
        out[rows[ROOF]] = roof
        out[rows[BASE.start] : rows[BASE.start] + 3] = (own % 1000) / 1000, (own >> 10) % 1000 / 1000, tone[b]
        out[rows[FACE]] = np.where(roof, 0.5, facing[n])
        out[rows[SHINE]] = lit
        out[rows[DISTANCE]] = d
        out[rows[SORT.start] + kind, np.arange(len(q))] = 1
        wall = rows[WALL.start]
        out[wall] = u - np.floor(u)
        out[wall + 1] = np.where(tower, np.where(storeys, v - np.floor(v), 0.0), np.clip(v, -0.5, 1.5))
        out[wall + 2] = np.clip(up, -1, 9)
        out[wall + 3] = np.clip(np.abs(along[n]), 0, 8)
        out[wall + 4] = np.clip(1.8 - d / FOCAL * 2.6, 0, 1)
        return out

    return Part(BOX, pixel, t0[line].astype(np.float32), values)


def nearest(some: Sequence[Part]) -> list[tuple[Part, Index]]:
    """Of each part the places in its arrays that are seen: the nearest at each pixel, the last part's of equal ones."""
    far = np.full(HEIGHT * WIDTH, np.inf, np.float32)
    owner = np.full(HEIGHT * WIDTH, -1)
    place = np.zeros(HEIGHT * WIDTH, int)
    for n, part in enumerate(some):
        # of several assignments to one pixel the last one stays, which is the nearest
        mine = np.full(HEIGHT * WIDTH, -1)
        mine[part.pixel] = np.arange(len(part.pixel))
        at = np.nonzero(mine >= 0)[0]
        k = mine[at]
        front = part.far[k] <= far[at]
        at, k = at[front], k[front]
        far[at], owner[at], place[at] = part.far[k], n, k
    return [(part, place[owner == n]) for n, part in enumerate(some)]
