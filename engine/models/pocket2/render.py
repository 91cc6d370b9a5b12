"""G-buffers of a ground: re-projection of its RGB-D latents, and of what stands on them, to a 256x160 cylindrical
panorama.

This is geometry only: what is seen where, how far it is, which way it faces. A network makes the picture of it
(`drawing`). Everything is a function of the ground, the pose and the light's shares: the same three give the same
picture, bit by bit.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import conv2d, grid_sample, pad, pixel_shuffle

from engine.models.pocket2.camera import FOCAL, HEIGHT, HORIZON, WIDTH
from engine.models.pocket2.cells import CELL, COLOUR, HEIGHT_SCALE, KINDS, LANDS, PATH, SIZE, standing
from engine.models.pocket2.cells import HEIGHT as LEVEL
from engine.models.pocket2.ground import Ground
from engine.models.pocket2.sky import SKY_COLUMNS, SKY_FEATURES, SKY_ROWS, Sky, direction
from engine.models.pocket2.things import NAMES, SHAPES, UNDERFOOT, VARIANTS

Array = NDArray[Any]
REACH = 34
"""Cells around the eye's that are shown; what is farther is the sky panorama's."""
RANGE = (REACH - 1.5) * CELL
"""World units that are seen."""
FINE = 4
"""Texels a cell."""
DEPTHS = 128
"""Samples along a ray."""
NEAREST = 0.7
BOXES = {"house": 0, "hut": 1, "cabin": 2, "ruin": 3, "tower": 4}
FEET = 26.0
"""World units within which small things at one's feet are drawn."""
VIEW = (330.0, 130.0, 62.0)
"""World units that are seen in clear, hazy and foggy weather, about."""
# channels of a G-buffer
ON_LAND, ON_CARD, ON_BOX, WET, ROOF = range(5)
BASE = slice(5, 8)
"""Ground: its colour. Card: the colour of its texture. Box: two random numbers and the tone, of its own."""
FACE = 8
"""How much it faces the sun: ground 0 to 1.6, else -1 to 1."""
DARK, SHINE = 9, 10
"""Shadow of things; ground: light of lamps, card: what glows, box: whether its window is lit."""
FINE_TEXTURE, MID_TEXTURE, WIDE_TEXTURE = slice(11, 15), slice(15, 19), 19
"""Noise that is anchored to the world, fading with its distance."""
TRACK, DEPTH_, DISTANCE, SLAB = 20, 21, 22, 23
"""Path field; height above the water (-4 to 4 world units); distance in world units; lines between paving slabs."""
SORT = slice(24, 29)
"""Of a box."""
WALL = slice(29, 34)
"""Of a box: place within a window's cell (2), height above the foot, distance from the wall's middle (world units),
how well windows are seen.
"""
SKY = slice(34, 34 + SKY_FEATURES)
OWN = 43
"""A random number of a card's own."""
FEATURES = 44
Draw = Callable[[Tensor, Tensor], Tensor]
"""G-buffers (n, FEATURES, HEIGHT, WIDTH) and shares of lands, times, weathers (n, 15) to pictures (n, 3, HEIGHT,
WIDTH) in 0 to 1.
"""


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


@lru_cache(1)
def textures() -> Tensor:
    """(4, 514, 514) about 0: blotches, blades, ripples, cracks; periodic, with a border of one texel."""
    rng = np.random.default_rng(17)
    n = 512
    f, g = np.fft.fftfreq(n)[:, None] * n, np.fft.rfftfreq(n)[None] * n

    def noise(weight: Array) -> Array:
        s = (rng.normal(size=weight.shape) + 1j * rng.normal(size=weight.shape)) * weight
        s[0, 0] = 0
        h = np.fft.irfft2(s, s=(n, n))
        return (h / h.std()).astype(np.float32)

    r = np.sqrt(f * f + g * g) + 1
    blotch = noise(1 / (r + 8) ** 1.25)
    blade = np.sign(noise(np.exp(-(((f / 150) ** 2) + ((g / 60) ** 2))) * (r > 20))) * 0.5 + 0.6 * noise(
        1 / (r + 40) ** 1.0
    )
    warp = noise(1 / (r + 4) ** 1.9)
    x = np.arange(n)
    ripple = np.sin(2 * np.pi * (x[None] * 24 / n) + 2.2 * warp) * 0.8 + 0.4 * noise(1 / (r + 30) ** 1.0)
    points = rng.uniform(0, n, (180, 2))
    y, xx = np.mgrid[:n, :n]
    one, two = np.full((n, n), 1e9, np.float32), np.full((n, n), 1e9, np.float32)
    for px, py in points:
        dx, dy = np.abs(xx - px), np.abs(y - py)
        d = np.hypot(np.minimum(dx, n - dx), np.minimum(dy, n - dy)).astype(np.float32)
        two = np.minimum(two, np.maximum(one, d))
        one = np.minimum(one, d)
    crack = np.clip(1.2 - (two - one) / 3.0, -0.15, 1) * 1.6
    out = torch.from_numpy(np.stack((blotch, blade.astype(np.float32), ripple.astype(np.float32), crack)))
    return pad(out[None], (1, 1, 1, 1), mode="circular")[0]


def _fetch(texture: Tensor, x: Tensor, y: Tensor, period: float) -> Tensor:
    """Periodic bilinear samples (c, n) of (c, 514, 514) at world units."""
    u, v = (x / period) % 1.0, (y / period) % 1.0
    at = torch.stack((u, v), -1)[None, None] * (2 * 512 / 514) - 512 / 514
    return grid_sample(texture[None], at, mode="bilinear", padding_mode="border", align_corners=False)[0, :, 0]


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


def _hash(*values: NDArray[Any]) -> NDArray[np.int64]:
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
    """cells: (CHANNELS, n, n) from cell (i, j) on."""
    there, kinds = standing(cells, land)
    rows, cols = np.nonzero(there)
    kind = kinds[rows, cols]
    ident = _hash(cols + i, rows + j, np.full(len(cols), land))
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


def fields_of(ground: Ground, x: float, y: float, land: int) -> Fields:
    """The window around (x, y)."""
    i, j, n = window_of(x, y)
    cells, _ = ground.window(i, j, n, n)
    base = torch.from_numpy(
        np.concatenate((cells[LEVEL : LEVEL + 1] * HEIGHT_SCALE, cells[COLOUR], cells[PATH : PATH + 1]))
    )
    maps = refined(base)
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
        np.add.at(out, (j[ok] + dj, i[ok] + di), (weight * w)[ok])


@lru_cache(1)
def _depths() -> Tensor:
    return torch.from_numpy(np.geomspace(NEAREST, RANGE, DEPTHS).astype(np.float32))


def cast(fields: Fields, poses: Array) -> Tensor:
    """Distances (n, HEIGHT, WIDTH) over the ground of what is seen of it; infinite for the sky.

    poses: (n, 5) of x, y, z, yaw, pitch in pixels.
    """
    p = torch.from_numpy(poses.astype(np.float32))
    d = _depths()
    a = p[:, 3:4] + (torch.arange(WIDTH) + 0.5 - WIDTH / 2) / FOCAL
    x = p[:, 0, None, None] - fields.origin[0] + a.cos()[..., None] * d
    y = p[:, 1, None, None] - fields.origin[1] + a.sin()[..., None] * d
    at = torch.stack((x, y), -1) * (2 / fields.extent) - 1
    h = grid_sample(fields.maps[None, :1].expand(len(p), -1, -1, -1), at, align_corners=False, padding_mode="border")[
        :, 0
    ].clamp_min(0)
    slope = (h - p[:, 2, None, None]) / d
    top = slope.cummax(-1).values
    rows = (HORIZON + p[:, 4:5] - (torch.arange(HEIGHT) + 0.5)) / FOCAL
    want = rows[:, None].expand(-1, WIDTH, -1).contiguous()
    k = torch.searchsorted(top, want)
    k1 = k.clamp_max(DEPTHS - 1)
    k0 = (k1 - 1).clamp_min(0)
    s0, s1 = slope.gather(2, k0), slope.gather(2, k1)
    w = ((want - s0) / (s1 - s0).clamp_min(1e-6)).clamp(0, 1)
    out = d[k0] + (d[k1] - d[k0]) * w
    return torch.where(k == DEPTHS, torch.inf, out).transpose(1, 2).contiguous()


class Renderer:
    """Makes frames; keeps nothing but what it can make again. draw: what makes pictures of G-buffers."""

    def __init__(self, atlas: list[Array], draw: Draw) -> None:
        self.atlas, self.draw = atlas, draw
        self._skies: dict[int, Sky] = {}
        self._panoramas: dict[tuple[int, bytes], Tensor] = {}
        self._fields: dict[tuple[Any, ...], Fields] = {}
        self._shades: dict[tuple[Any, ...], Tensor] = {}
        self._held: list[Ground] = []

    def sky(self, seed: int) -> Sky:
        if seed not in self._skies:
            self._skies = {seed: Sky(seed)}
        return self._skies[seed]

    def fields(self, ground: Ground, x: float, y: float, land: int) -> Fields:
        """Cached; see `fields_of`."""
        key = (id(ground), *window_of(x, y), land)
        if key not in self._fields:
            if len(self._fields) >= 4:
                self._fields.pop(next(iter(self._fields)))
                self._held.pop(0)
            self._fields[key] = fields_of(ground, x, y, land)
            self._held.append(ground)  # so that the id stays its own
        return self._fields[key]

    def _panorama(self, seed: int, mix: Array) -> Tensor:
        """Cached; see `Sky.features`."""
        key = (seed, mix.tobytes())
        if key not in self._panoramas:
            if len(self._panoramas) >= 3:
                self._panoramas.pop(next(iter(self._panoramas)))
            self._panoramas[key] = self.sky(seed).features(mix)
        return self._panoramas[key]

    def _shaded(self, fields: Fields, seed: int) -> Tensor:
        key = (id(fields), seed)
        if key not in self._shades:
            self._shades = {key: shaded(fields, self.sky(seed).azimuth)}
        return self._shades[key]

    def frames(
        self,
        ground: Ground,
        land: int,
        poses: Array,
        mixes: Array,
        seed: int,
        old: tuple[Ground, int] | None = None,
        share: tuple[float, float] = (1.0, 1.0),
    ) -> list[NDArray[np.uint8]]:
        """Pictures (HEIGHT, WIDTH, 3) from poses (n, 5), the frames of one group; see `buffers` and `drawn`."""
        buffers, ms = self.buffers(ground, land, poses, mixes, seed, old, share)
        return self.drawn(buffers, ms, poses)

    def buffers(
        self,
        ground: Ground,
        land: int,
        poses: Array,
        mixes: Array,
        seed: int,
        old: tuple[Ground, int] | None = None,
        share: tuple[float, float] = (1.0, 1.0),
    ) -> tuple[Tensor, Array]:
        """G-buffers (n, FEATURES, HEIGHT, WIDTH), and the light's shares of each, (n, 15).

        mixes: (2, 15), the light's shares before and at the end. old, share: another ground and its land, and how far
        the group has come from it, before and at the end.
        """
        n = len(poses)
        x, y = float(poses[0, 0]), float(poses[0, 1])
        fields = self.fields(ground, x, y, land)
        w = (np.arange(1, n + 1, dtype=np.float32) / n)[:, None]
        steady = bool((mixes[0] == mixes[1]).all())
        ms = np.repeat(mixes[1:], n, 0) if steady else mixes[0] + (mixes[1] - mixes[0]) * w
        if old is None:
            parts = [(fields, slice(0, n), self._shaded(fields, seed))]
        else:
            before, parts = self.fields(old[0], x, y, old[1]), []
            for i in range(n):
                both = _between(before, fields, share[0] + (share[1] - share[0]) * float(w[i, 0]))
                parts.append((both, slice(i, i + 1), shaded(both, self.sky(seed).azimuth)))
        out = torch.zeros(FEATURES, n, HEIGHT, WIDTH)  # planes side by side, as the drawer takes them
        ends = [self._panorama(seed, m) for m in (mixes[1:] if steady else mixes)]
        for f, part, shade in parts:
            self._fill(out[:, part], f, poses[part], ms[part], seed, shade)
        for i in range(n):
            panorama = ends[0] if steady else ends[0] * float(1 - w[i, 0]) + ends[1] * float(w[i, 0])
            _put_sky(out[:, i], panorama, poses[i])
        return out.transpose(0, 1), ms

    def drawn(self, buffers: Tensor, mixes: Array, poses: Array) -> list[NDArray[np.uint8]]:
        """The network's pictures of G-buffers, with reflections in still water."""
        image = self.draw(buffers, torch.from_numpy(mixes)).permute(0, 2, 3, 1).contiguous().numpy()
        out = []
        for i, picture in enumerate(image):
            _mirror(picture, buffers[i], poses[i], mixes[i])
            out.append(np.ascontiguousarray((picture.clip(0, 1) * 255 + _grain()).astype(np.uint8)))
        return out

    def _fill(self, out: Tensor, fields: Fields, poses: Array, mixes: Array, seed: int, shade: Tensor) -> None:
        """Ground and things into G-buffers."""
        depth = cast(fields, poses)
        azimuth = self.sky(seed).azimuth
        _put_ground(out, fields, poses, depth, shade, direction(mixes[-1], azimuth)[0], mixes[-1])
        planes = out.numpy()

        def stand(i: int) -> None:
            self._stand(planes[:, i].reshape(FEATURES, -1), depth[i].numpy(), fields, poses[i], mixes[i], azimuth)

        list(_workers().map(stand, range(len(poses))))

    def _stand(self, out: Array, far: Array, fields: Fields, pose: Array, mix: Array, azimuth: float) -> None:
        """What stands on the ground, into a G-buffer (FEATURES, HEIGHT * WIDTH) whose ground is `far` away."""
        t = fields.things
        x, y, z, yaw, pitch = (float(v) for v in pose)
        horizon = HORIZON + pitch
        sun = azimuth - yaw
        dx, dy = t.where[:, 0] - x, t.where[:, 1] - y
        distance = np.hypot(dx, dy)
        turn = (np.arctan2(dy, dx) - yaw + np.pi) % (2 * np.pi) - np.pi
        spread = np.where(t.index == 104, 11, 8) / np.maximum(distance, 1)
        view = float(np.exp((mix[12:15] * np.log(VIEW)).sum()))
        keep = (
            (distance < min(RANGE - 4, 2.4 * view))
            & (np.abs(turn) < WIDTH / 2 / FOCAL + np.minimum(spread, 1.6))
            & (t.grown > 0.03)
        )
        parts = [
            self._cards(t, keep & (t.index < 100) & (distance > 0.8), distance, turn, z, horizon, far, sun),
            self._boxes(t, keep & (t.index >= 100), x, y, z, yaw, horizon, far, azimuth),
            self._feet(fields, x, y, z, yaw, horizon, far, mix, sun),
        ]
        some = [p for p in parts if p is not None]
        if not some:
            return
        pixel = np.concatenate([p[0] for p in some])
        d = np.concatenate([p[1] for p in some])
        # the nearest at each pixel: of several assignments to one place the last one stays
        order = np.argsort(-d, kind="stable")
        winner = np.full(HEIGHT * WIDTH, -1)
        winner[pixel[order]] = order
        at = np.nonzero(winner >= 0)[0]
        k = winner[at]
        out[:, at] = 0
        start = 0
        for _, dist, write in some:
            mine = (k >= start) & (k < start + len(dist))
            if mine.any():
                write(out, at[mine], k[mine] - start)
                out[DISTANCE, at[mine]] = dist[k[mine] - start]
            start += len(dist)

    def _expand(self, left: Array, top: Array, wide: Array, high: Array) -> tuple[Any, ...] | None:
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
        self,
        t: Things,
        m: NDArray[np.bool_],
        distance: Array,
        turn: Array,
        z: float,
        horizon: float,
        far: Array,
        sun: float,
    ) -> Part | None:
        """Textures that face the eye. sun: its azimuth from the view's middle."""
        k = np.nonzero(m)[0]
        if not len(k):
            return None
        low = np.array([SHAPES[n].high[0] for n in NAMES], np.float32)[t.index[k]]
        top = np.array([SHAPES[n].high[1] for n in NAMES], np.float32)[t.index[k]]
        wide = np.array([SHAPES[n].wide for n in NAMES], np.float32)[t.index[k]]
        sunk = np.array([SHAPES[n].sunk for n in NAMES], np.float32)[t.index[k]]
        high = (low + (top - low) * (t.size[k] + 1) / 2) * t.grown[k]
        width = high * wide
        return self._card_pixels(
            t.index[k],
            t.ident[k],
            t.foot[k] - sunk * high,
            high,
            width,
            distance[k],
            turn[k],
            z,
            horizon,
            far,
            0.8,
            sun,
        )

    def _card_pixels(
        self,
        index: Any,
        ident: Any,
        foot: Array,
        high: Array,
        width: Array,
        d: Array,
        turn: Array,
        z: float,
        horizon: float,
        far: Array,
        slack: float,
        sun: float,
    ) -> Part | None:
        d = np.maximum(d, 0.5)
        per = FOCAL / d
        x = WIDTH / 2 + turn * FOCAL
        bottom = horizon - (foot - z) * per
        rects = self._expand(x - width * per / 2, bottom - high * per, width * per, high * per)
        if rects is None:
            return None
        which, col, row = rects
        hidden = d[which] < far[row, col] + slack
        which, col, row = which[hidden], col[hidden], row[hidden]
        u = (col + 0.5 - x[which]) / (width * per)[which] + 0.5
        v = (row + 0.5 - (bottom - high * per)[which]) / (high * per)[which]
        inside = (u >= 0) & (u < 1) & (v >= 0) & (v < 1)
        which, col, row, u, v = which[inside], col[inside], row[inside], u[inside], v[inside]
        flip = (ident >> 9) & 1
        u = np.where(flip[which] == 1, 1 - u, u)
        picture = index * VARIANTS + ident % VARIANTS
        texels = np.maximum(high, width) * per
        # the size whose texels are about as large as pixels
        level = np.clip(np.floor(np.log2(128 / np.maximum(texels, 1)) + 0.35), 0, len(self.atlas) - 1).astype(int)
        cover = np.empty(len(which), np.float32)
        lv = level[which]
        texel = picture[which]
        for i, atlas in enumerate(self.atlas):
            mine = np.nonzero(lv == i)[0]
            n = atlas.shape[-1]
            if i or not len(mine):
                r, c = (v[mine] * n).astype(int), (u[mine] * n).astype(int)
                cover[mine] = atlas[texel[mine], 3, r, c]
            else:
                cover[mine] = _smooth_texels(atlas, texel[mine], v[mine], u[mine], slice(3, 4))[:, 0]
        there = cover > 0.5
        which, col, row, u, v, lv, texel = (
            which[there],
            col[there],
            row[there],
            u[there],
            v[there],
            lv[there],
            texel[there],
        )
        glows = np.array([SHAPES[n].glow for n in NAMES], np.float32)[index]
        side = np.sin(sun - turn).astype(np.float32)  # how much the sun stands to the right
        own = ((ident >> 11) % 8 / 8).astype(np.float32)

        def write(out: Array, at: NDArray[np.int64], k: NDArray[np.int64]) -> None:
            values = np.empty((len(k), 6), np.float32)
            for i, atlas in enumerate(self.atlas):
                mine = np.nonzero(lv[k] == i)[0]
                if len(mine):
                    q = k[mine]
                    if i:
                        n = atlas.shape[-1]
                        values[mine] = atlas[texel[q], :, (v[q] * n).astype(int), (u[q] * n).astype(int)]
                    else:
                        values[mine] = _smooth_texels(atlas, texel[q], v[q], u[q], slice(0, 6))
            w = which[k]
            out[ON_CARD, at] = 1
            out[BASE, at] = values[:, :3].T
            out[FACE, at] = np.where(flip[w] == 1, -values[:, 4], values[:, 4]) * side[w]
            out[SHINE, at] = glows[w] * values[:, 5]
            out[OWN, at] = own[w]

        return row * WIDTH + col, d[which], write

    def _feet(
        self,
        fields: Fields,
        x: float,
        y: float,
        z: float,
        yaw: float,
        horizon: float,
        far: Array,
        mix: Array,
        sun: float,
    ) -> Part | None:
        """Small things on a grid of 1.4 world units near the eye, by a hash of their places."""
        grid = 1.4
        n = int(FEET / grid)
        square = np.meshgrid(np.arange(-n, n + 1) + int(x / grid), np.arange(-n, n + 1) + int(y / grid))
        i, j = (q.ravel() for q in square)
        ident = _hash(i, j)
        px, py = (
            ((i + (ident % 97) / 97) * grid).astype(np.float32),
            ((j + (ident >> 7) % 89 / 89) * grid).astype(np.float32),
        )
        dx, dy = px - x, py - y
        d = np.hypot(dx, dy)
        turn = (np.arctan2(dy, dx) - yaw + np.pi) % (2 * np.pi) - np.pi
        ok = (d < FEET) & (d > 1.2) & (np.abs(turn) < WIDTH / 2 / FOCAL + 0.2)
        px, py, d, turn, ident = px[ok], py[ok], d[ok], turn[ok], ident[ok]
        dice = ((ident >> 3) % 1009) / 1009
        index = np.full(len(dice), -1)
        base = 0.0
        for name, share in zip(LANDS, mix[:8], strict=True):
            for thing, part in UNDERFOOT[name]:
                index[(dice >= base) & (dice < base + part * float(share))] = NAMES.index(thing)
                base += part * float(share)
        at = (
            torch.from_numpy(np.stack((px - fields.origin[0], py - fields.origin[1]), -1).astype(np.float32))[
                None, None
            ]
            / fields.extent
            * 2
            - 1
        )
        m = grid_sample(fields.maps[None, :5], at, align_corners=False, padding_mode="border")[0, :, 0].numpy()
        ok = (index >= 0) & (m[0] > 0.35) & (m[4] < -0.1)
        if not ok.any():
            return None
        index, ident, d, turn, foot = index[ok], ident[ok], d[ok], turn[ok], m[0][ok]
        low = np.array([SHAPES[k].high[0] for k in NAMES], np.float32)[index]
        top = np.array([SHAPES[k].high[1] for k in NAMES], np.float32)[index]
        grow = np.clip((FEET - d) / 8, 0, 1)  # they rise out of the ground as one comes nearer
        high = (low + (top - low) * ((ident >> 13) % 64) / 64) * grow
        width = high * np.array([SHAPES[k].wide for k in NAMES], np.float32)[index]
        return self._card_pixels(index, ident, foot - 0.05 * high, high, width, d, turn, z, horizon, far, 0.5, sun)

    def _boxes(
        self,
        t: Things,
        m: NDArray[np.bool_],
        x: float,
        y: float,
        z: float,
        yaw: float,
        horizon: float,
        far: Array,
        azimuth: float,
    ) -> Part | None:
        """Houses, ruins and towers: boxes along the axes, found column by column."""
        k = np.nonzero(m)[0]
        if not len(k):
            return None
        hx, hy, high = box_sizes(t.index[k], t.size[k], t.tone[k])
        sort = t.index[k] - 100
        high = high * t.grown[k]
        bx, by = t.where[k, 0] - x, t.where[k, 1] - y
        a = yaw + (np.arange(WIDTH) + 0.5 - WIDTH / 2) / FOCAL
        ca, sa = np.cos(a), np.sin(a)
        ca, sa = np.where(np.abs(ca) < 1e-5, 1e-5, ca), np.where(np.abs(sa) < 1e-5, 1e-5, sa)
        x0, x1 = (bx - hx)[:, None] / ca, (bx + hx)[:, None] / ca
        y0, y1 = (by - hy)[:, None] / sa, (by + hy)[:, None] / sa
        inx, iny = np.minimum(x0, x1), np.minimum(y0, y1)
        enter, leave = np.maximum(inx, iny), np.minimum(np.maximum(x0, x1), np.maximum(y0, y1))
        hit = (leave > enter) & (enter > 0.3)
        which, col = np.nonzero(hit)
        if not len(which):
            return None
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
        d = t0[line]
        seen = d < far[row, col[line]] + 0.4
        line, row, d = line[seen], row[seen], d[seen]
        box = which[line]
        along = np.where(on_x, (t0 * sa[col] - by[which]), (t0 * ca[col] - bx[which]))[line]
        half = np.where(on_x, hy[which], hx[which])[line]
        up = z + (horizon - row - 0.5) * d / FOCAL - t.foot[k][box]
        roof = row + 0.5 < wall_row[line]
        # walls face along an axis; the sun's side is lighter
        facing = np.where(on_x[line], -np.sign(bx)[box] * np.cos(azimuth), -np.sign(by)[box] * np.sin(azimuth))
        ident, tone, side = t.ident[k], t.tone[k], on_x[line]

        def write(out: Array, at: NDArray[np.int64], q: NDArray[np.int64]) -> None:
            b = box[q]
            kind, own = sort[b], ident[b]
            tower = kind == 4
            # windows: two world units wide on towers, one in each half of a house's wall
            wide = np.where(tower, 2.0, half[q])
            u, v = (along[q] + half[q]) / wide, np.where(tower, up[q] / 2.8, (up[q] - 1.2) / 1.8)
            lit = _hash(
                np.floor(u).astype(int), np.floor(np.where(tower, v, 0)).astype(int), own, side[q].astype(int)
            ) % 100 < np.where(tower, 46, 80)
            storeys = np.where(tower, (up[q] < high[b] - 1.0) & (up[q] > 2.0), True)
            out[ON_BOX, at] = 1
            out[ROOF, at] = roof[q]
            out[BASE, at] = np.stack(((own % 1000) / 1000, (own >> 10) % 1000 / 1000, tone[b]))
            out[FACE, at] = np.where(roof[q], 0.5, facing[q])
            out[SHINE, at] = lit
            out[SORT.start + kind, at] = 1
            seen = np.clip(1.8 - d[q] / FOCAL * 2.6, 0, 1)
            out[WALL, at] = np.stack(
                (
                    u - np.floor(u),
                    np.where(tower, np.where(storeys, v - np.floor(v), 0.0), np.clip(v, -0.5, 1.5)),
                    np.clip(up[q], -1, 9),
                    np.clip(np.abs(along[q]), 0, 8),
                    seen,
                )
            )

        return row * WIDTH + col[line], d.astype(np.float32), write


Part = tuple[NDArray[np.int64], Array, Callable[[Array, NDArray[np.int64], NDArray[np.int64]], None]]
"""Pixels that things may cover, how far away they are there, and what writes chosen ones of them into a G-buffer at
given places.
"""


def _smooth_texels(atlas: Array, picture: NDArray[np.int64], v: Array, u: Array, channels: slice) -> Array:
    """Bilinear texels (n, channels)."""
    n = atlas.shape[-1]
    y, x = np.clip(v * n - 0.5, 0, n - 1.001), np.clip(u * n - 0.5, 0, n - 1.001)
    j, i = y.astype(int), x.astype(int)
    a, b = (x - i)[:, None].astype(np.float32), (y - j)[:, None].astype(np.float32)
    t = atlas[:, channels]
    top = t[picture, :, j, i] * (1 - a) + t[picture, :, j, i + 1] * a
    low = t[picture, :, j + 1, i] * (1 - a) + t[picture, :, j + 1, i + 1] * a
    return top * (1 - b) + low * b


@lru_cache(1)
def _workers() -> ThreadPoolExecutor:
    """Frames of a group are filled side by side: most of the work is numpy's, which lets other threads run."""
    return ThreadPoolExecutor(2, "pocket")


@lru_cache(1)
def _grain() -> Array:
    """(HEIGHT, WIDTH, 1), 0 to 1: rounds up or down by the pixel, against bands in the sky."""
    return np.random.default_rng(3).random((HEIGHT, WIDTH, 1)).astype(np.float32)


def _put_sky(out: Tensor, panorama: Tensor, pose: Array) -> None:
    """The sky into a G-buffer (FEATURES, HEIGHT, WIDTH), where nothing else is."""
    start = (float(pose[3]) * FOCAL - WIDTH / 2) % SKY_COLUMNS
    c0 = int(start)
    f = start - c0
    if c0 + WIDTH + 1 > SKY_COLUMNS:
        panorama = torch.cat((panorama[:, :, c0:], panorama[:, :, : c0 + WIDTH + 1 - SKY_COLUMNS]), 2)
        c0 = 0
    strip = panorama[:, :, c0 : c0 + WIDTH] * (1 - f) + panorama[:, :, c0 + 1 : c0 + WIDTH + 1] * f
    rows = (HORIZON + float(pose[4])) - (torch.arange(HEIGHT) + 0.5)
    there = 1 - out[ON_LAND] - out[ON_CARD] - out[ON_BOX]
    low = int(there.any(1).nonzero().max()) + 1 if bool(there.any()) else 0
    out[SKY, :low] = strip[:, rows[:low].floor().clamp(0, SKY_ROWS - 1).long()] * there[:low]
    out[DISTANCE] += there * RANGE


def _put_ground(
    out: Tensor, fields: Fields, poses: Array, depth: Tensor, shade: Tensor, sun: Array, mix: Array
) -> None:
    """The ground into G-buffers (FEATURES, n, HEIGHT, WIDTH)."""
    p = torch.from_numpy(poses.astype(np.float32))
    seen = torch.isfinite(depth)
    index = seen.flatten().nonzero()[:, 0]
    d = depth.flatten()[index]
    frame, rest = index // (HEIGHT * WIDTH), index % (HEIGHT * WIDTH)
    a = p[frame, 3] + (rest % WIDTH + 0.5 - WIDTH / 2) / FOCAL
    x, y = p[frame, 0] + a.cos() * d, p[frame, 1] + a.sin() * d
    at = torch.stack((x - fields.origin[0], y - fields.origin[1]), -1)[None, None] * (2 / fields.extent) - 1
    m = grid_sample(torch.cat((fields.maps, shade))[None], at, align_corners=False, padding_mode="border")[0, :, 0]
    level, gx, gy = m[0], m[5], m[6]
    eye = (p[frame, 2] - level.clamp_min(0)).clamp_min(2.0)
    foot = d * d / (eye * FOCAL)  # world units of ground in a pixel's height
    t = textures()
    f1, f2, f3 = (1.6 - foot / 0.30).clamp(0, 1), (1.6 - foot / 1.4).clamp(0, 1), (1.6 - foot / 6.0).clamp(0, 1)
    f = torch.zeros(FEATURES - SKY_FEATURES - 1, len(d))
    f[ON_LAND] = 1
    f[WET] = (level < 0).float()
    f[BASE] = (m[1:4] + 1) / 2
    norm = torch.rsqrt(gx * gx + gy * gy + 1)
    f[FACE] = ((-gx * float(sun[0]) - gy * float(sun[1]) + float(sun[2])) * norm / max(float(sun[2]), 0.35)).clamp(
        0, 1.6
    )
    f[DARK], f[SHINE] = m[7].clamp(0, 1), m[8]
    near = (f1 > 0).nonzero()[:, 0]
    f[FINE_TEXTURE, near] = _fetch(t, x[near], y[near], 23.0) * f1[near]
    near = (f2 > 0).nonzero()[:, 0]
    f[MID_TEXTURE, near] = _fetch(t, x[near], y[near], 97.0) * f2[near]
    f[WIDE_TEXTURE] = _fetch(t[:1], x, y, 421.0)[0] * f3
    f[TRACK], f[DEPTH_], f[DISTANCE] = m[4], level.clamp(-4, 4), d
    if mix[LANDS.index("city")] > 0.01:
        f[SLAB] = (((x / 2.0) % 1 < 0.06) | ((y / 2.0) % 1 < 0.06)) * (1.5 - foot / 0.7).clamp(0, 1)
    flat = out.view(FEATURES, -1) if out.is_contiguous() else torch.zeros(FEATURES, len(poses) * HEIGHT * WIDTH)
    flat[: len(f), index] = f
    if not out.is_contiguous():
        out.copy_(flat.view(out.shape))


def _mirror(picture: Array, buffer: Tensor, pose: Array, mix: Array) -> None:
    """What stands beyond still water, upside down in it; a picture (HEIGHT, WIDTH, 3) is changed."""
    still = 1 - float(mix[LANDS.index("volcanic")])
    rows, cols = np.nonzero(buffer[WET].numpy() > 0)
    if not len(rows) or still < 0.02:
        return
    far = buffer[DISTANCE].numpy()
    horizon = HORIZON + float(pose[4])
    depth = rows + 0.5 - horizon
    d = far[rows, cols]
    a = float(pose[3]) + (cols + 0.5 - WIDTH / 2) / FOCAL
    u, v = (pose[0] + np.cos(a) * d) * 9, (pose[1] + np.sin(a) * d) * 9
    wave = textures()[0].numpy()
    w = wave[(v.astype(int) % 512) + 1, (u.astype(int) % 512) + 1] * np.clip(1.4 - d * d / 810, 0.12, 1)
    r = np.clip(np.round(horizon - depth - 1 + w * np.clip(depth * 0.16, 0.4, 4)).astype(int), 0, HEIGHT - 1)
    c = np.clip(cols + np.round(w * 0.8).astype(int), 0, WIDTH - 1)
    share = (0.22 + 0.55 * np.clip(1 - depth / 75, 0, 1) ** 2) * still * (far[r, c] > d * 0.9) * (depth > 0)
    picture[rows, cols] = picture[rows, cols] * (1 - share[:, None]) + picture[r, c] * share[:, None]


def _between(a: Fields, b: Fields, share: float) -> Fields:
    """On the way from one ground to another: heights and colours between, things sinking and growing."""
    s = float(share * share * (3 - 2 * share))
    t, u = a.things, b.things
    grown = np.concatenate((t.grown * max(0.0, 1 - 2 * s), u.grown * max(0.0, 2 * s - 1)))
    where, foot, index, size, tone, ident = (
        np.concatenate((getattr(t, k), getattr(u, k))) for k in ("where", "foot", "index", "size", "tone", "ident")
    )
    things = Things(where, foot, index, size, tone, ident, grown.astype(np.float32))
    return Fields(b.origin, b.extent, a.maps * (1 - s) + b.maps * s, things, torch.zeros(0))
