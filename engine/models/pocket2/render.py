"""Projection of a ground and of what stands on it to G-buffers of a 256x160 cylindrical panorama, and from there to
pictures.

This is geometry only: what is seen where, how far it is, which way it faces. A network makes the picture of it
(`drawing`). Everything is a function of the ground, the pose, the light's shares and the time: the same four give the
same picture, bit by bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import grid_sample, pad

from engine.models.pocket2.camera import FOCAL, FPS, HEIGHT, HORIZON, WIDTH
from engine.models.pocket2.cells import LANDS, TIMES
from engine.models.pocket2.falling import put
from engine.models.pocket2.fields import RANGE, Fields, between, fields_of, shaded, window_of
from engine.models.pocket2.gbuffer import (
    BASE,
    DARK,
    DEPTH_,
    DISTANCE,
    FACE,
    FINE_TEXTURE,
    INPUTS,
    LAND,
    MID_TEXTURE,
    ROW,
    SHINE,
    SLAB,
    TRACK,
    WET,
    WIDE_TEXTURE,
    Air,
    Buffer,
    Layer,
    Solid,
    plane,
)
from engine.models.pocket2.ground import Ground
from engine.models.pocket2.projection import Atlas, Eye, nearest, parts
from engine.models.pocket2.sky import CLOUD, SKY_COLUMNS, SKY_ROWS, Sky, direction

Array = NDArray[Any]
DEPTHS = 128
"""Samples along a ray."""
NEAREST = 0.7
POINT_REACH = 110
"""Texels around a point of the cracked texture that it may be one of the two nearest to."""
WAVES, CLOUDS = 1.1, 1.5
"""World units a second that waves run, and columns that clouds drift."""
DRY = np.zeros((2, 2), np.float32)
Draw = Callable[[Buffer, Array], Tensor]
"""A buffer and shares of lands, times, weathers (15,) to a picture (3, HEIGHT, WIDTH) in 0 to 1."""


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
    one, two = np.full((n, n), 1e9, np.float32), np.full((n, n), 1e9, np.float32)
    for px, py in points:
        # no texel's two nearest points are farther than this
        around = np.arange(-POINT_REACH, POINT_REACH + 1)
        cols, rows = (int(px) + around) % n, (int(py) + around) % n
        dx, dy = np.abs(cols - px), np.abs(rows - py)
        d = np.hypot(np.minimum(dx, n - dx)[None], np.minimum(dy, n - dy)[:, None]).astype(np.float32)
        part = np.ix_(rows, cols)
        two[part] = np.minimum(two[part], np.maximum(one[part], d))
        one[part] = np.minimum(one[part], d)
    crack = np.clip(1.2 - (two - one) / 3.0, -0.15, 1) * 1.6
    out = torch.from_numpy(np.stack((blotch, blade.astype(np.float32), ripple.astype(np.float32), crack)))
    return pad(out[None], (1, 1, 1, 1), mode="circular")[0]


def _fetch(texture: Tensor, x: Tensor, y: Tensor, period: float) -> Tensor:
    """Periodic bilinear samples (c, n) of (c, 514, 514) at world units."""
    u, v = (x / period) % 1.0, (y / period) % 1.0
    at = torch.stack((u, v), -1)[None, None] * (2 * 512 / 514) - 512 / 514
    return grid_sample(texture[None], at, mode="bilinear", padding_mode="border", align_corners=False)[0, :, 0]


@lru_cache(1)
def _depths() -> Tensor:
    return torch.from_numpy(np.geomspace(NEAREST, RANGE, DEPTHS).astype(np.float32))


def cast(fields: Fields, pose: Array) -> Tensor:
    """Distances (HEIGHT, WIDTH) over the ground of what is seen of it; infinite for the sky. pose: (5,) of x, y, z, yaw,
    pitch in pixels.
    """
    d = _depths()
    a = float(pose[3]) + (torch.arange(WIDTH) + 0.5 - WIDTH / 2) / FOCAL
    x = float(pose[0]) - fields.origin[0] + a.cos()[:, None] * d
    y = float(pose[1]) - fields.origin[1] + a.sin()[:, None] * d
    at = torch.stack((x, y), -1)[None] * (2 / fields.extent) - 1
    h = grid_sample(fields.maps[None, :1], at, align_corners=False, padding_mode="border")[0, 0].clamp_min(0)
    slope = (h - float(pose[2])) / d
    top = slope.cummax(-1).values
    rows = (HORIZON + float(pose[4]) - (torch.arange(HEIGHT) + 0.5)) / FOCAL
    k = torch.searchsorted(top, rows.expand(WIDTH, -1).contiguous())
    k1 = k.clamp_max(DEPTHS - 1)
    k0 = (k1 - 1).clamp_min(0)
    s0, s1 = slope.gather(1, k0), slope.gather(1, k1)
    w = ((rows - s0) / (s1 - s0).clamp_min(1e-6)).clamp(0, 1)
    out = d[k0] + (d[k1] - d[k0]) * w
    return torch.where(k == DEPTHS, torch.inf, out).T.contiguous()


def ground(
    fields: Fields, lit: Tensor, pose: Array, depth: Tensor, free: Tensor, sun: Array, mix: Array, time: float
) -> Layer:
    """What is seen of the ground. lit: (9, h, w), the fields' maps with shadow and lamps; depth: (HEIGHT, WIDTH); free:
    (HEIGHT * WIDTH,), where nothing stands in front; sun: unit vector to it; time: seconds.
    """
    flat = depth.flatten()
    index = (torch.isfinite(flat) & free).nonzero()[:, 0]
    d = flat.index_select(0, index)
    column = index % WIDTH
    a = float(pose[3]) + (torch.arange(WIDTH) + 0.5 - WIDTH / 2) / FOCAL
    x = float(pose[0]) + a.cos().index_select(0, column) * d
    y = float(pose[1]) + a.sin().index_select(0, column) * d
    at = torch.stack((x - fields.origin[0], y - fields.origin[1]), -1)[None, None] * (2 / fields.extent) - 1
    m = grid_sample(lit[None], at, align_corners=False, padding_mode="border")[0, :, 0]
    level, gx, gy = m[0], m[5], m[6]
    eye = (float(pose[2]) - level.clamp_min(0)).clamp_min(2.0)
    foot = d * d / (eye * FOCAL)  # world units of ground in a pixel's height
    t = textures()
    f1, f2, f3 = (1.6 - foot / 0.30).clamp(0, 1), (1.6 - foot / 1.4).clamp(0, 1), (1.6 - foot / 6.0).clamp(0, 1)
    f = torch.zeros(len(INPUTS[LAND]), len(d))
    row = ROW[LAND]
    wet = (level < 0).float()
    f[row[WET]] = wet
    f[row[BASE.start] : row[BASE.start] + 3] = (m[1:4] + 1) / 2
    norm = torch.rsqrt(gx * gx + gy * gy + 1)
    facing = (-gx * float(sun[0]) - gy * float(sun[1]) + float(sun[2])) * norm / max(float(sun[2]), 0.35)
    f[row[FACE]] = facing.clamp(0, 1.6)
    f[row[DARK]], f[row[SHINE]] = m[7].clamp(0, 1), m[8]
    for channels, fade, period in ((FINE_TEXTURE, f1, 23.0), (MID_TEXTURE, f2, 97.0)):
        near = (fade > 0).nonzero()[:, 0]
        first = row[channels.start]
        # waves run with the wind; what is dry stays
        drift = wet.index_select(0, near) * (time * WAVES)
        u, v = x.index_select(0, near) + drift, y.index_select(0, near) + 0.6 * drift
        values = _fetch(t, u, v, period) * fade.index_select(0, near)
        f[first : first + 4].index_copy_(1, near, values)
    f[row[WIDE_TEXTURE]] = _fetch(t[:1], x, y, 421.0)[0] * f3
    f[row[TRACK]], f[row[DEPTH_]], f[row[DISTANCE]] = m[4], level.clamp(-4, 4), d
    if mix[LANDS.index("city")] > 0.01:
        f[row[SLAB]] = (((x / 2.0) % 1 < 0.06) | ((y / 2.0) % 1 < 0.06)) * (1.5 - foot / 0.7).clamp(0, 1)
    return Solid(LAND, index, f)


def strip(panorama: Tensor, poses: Array, time: float) -> tuple[Tensor, int]:
    """The part (SKY_FEATURES, rows, columns) of a panorama of the sky that is seen from poses (n, 5), and its first
    column, counted from azimuth 0. Clouds have drifted for `time` seconds.
    """
    start = poses[:, 3].astype(np.float64) * FOCAL - WIDTH / 2
    first, last = int(np.floor(start.min())), int(np.floor(start.max())) + WIDTH + 1
    rows = min(max(int(HORIZON + float(poses[:, 4].max()) + 0.5), 1), SKY_ROWS)
    columns = torch.arange(first, last + 1)
    out = panorama[:, :rows, columns % SKY_COLUMNS]
    way = time * CLOUDS
    whole = int(np.floor(way))
    cloud = panorama[CLOUD, :rows]
    out[CLOUD] = torch.lerp(
        cloud[:, (columns - whole) % SKY_COLUMNS], cloud[:, (columns - whole - 1) % SKY_COLUMNS], way - whole
    )
    return out, first


def air(sky: Tensor, first: int, pose: Array, free: Tensor) -> Layer:
    """What is seen of the sky. sky, first: see `strip`; free: (HEIGHT * WIDTH,), where there is nothing else."""
    start = float(pose[3]) * FOCAL - WIDTH / 2
    column = int(np.floor(start))
    index = free.nonzero()[:, 0]
    row = (HORIZON + float(pose[4]) - (torch.arange(HEIGHT) + 0.5)).floor().clamp(0, sky.shape[1] - 1).long()
    return Air(index, sky, row[index // WIDTH], index % WIDTH + (column - first), start - column)


class Renderer:
    """Makes frames; keeps nothing but what it can make again. draw: what makes pictures of buffers."""

    def __init__(self, levels: Sequence[Array], draw: Draw) -> None:
        self.atlas, self.draw = Atlas(levels), draw
        self._skies: dict[int, Sky] = {}
        self._panoramas: dict[tuple[int, bytes], Tensor] = {}
        self._fields: dict[tuple[Any, ...], Fields] = {}
        self._lit: dict[tuple[Any, ...], Tensor] = {}
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

    def _lighted(self, fields: Fields, seed: int) -> Tensor:
        """Cached; the fields' maps and `shaded`."""
        key = (id(fields), seed)
        if key not in self._lit:
            self._lit = {key: torch.cat((fields.maps, shaded(fields, self.sky(seed).azimuth)))}
        return self._lit[key]

    def frames(
        self,
        ground: Ground,
        land: int,
        poses: Array,
        mixes: Array,
        seed: int,
        old: tuple[Ground, int] | None = None,
        share: tuple[float, float] = (1.0, 1.0),
        start: float = 0.0,
        falling: Array = DRY,
    ) -> list[NDArray[np.uint8]]:
        """Pictures (HEIGHT, WIDTH, 3) from poses (n, 5), the frames of one group; see `buffers` and `drawn`. falling: (2, 2),
        how hard rain and snow fall, before and at the end.
        """
        n = len(poses)
        buffer, ms = self._prepared(ground, land, poses, mixes, seed, old, share, start)

        def made(i: int) -> NDArray[np.uint8]:
            fall = falling[0] + (falling[1] - falling[0]) * np.float32((i + 1) / n)
            return self.drawn(buffer(i), ms[i], poses[i], start + i / FPS, fall)

        return list(_workers().map(made, range(n)))

    def buffers(
        self,
        ground: Ground,
        land: int,
        poses: Array,
        mixes: Array,
        seed: int,
        old: tuple[Ground, int] | None = None,
        share: tuple[float, float] = (1.0, 1.0),
        start: float = 0.0,
    ) -> tuple[list[Buffer], Array]:
        """A buffer from each pose, and the light's shares of each, (n, 15).

        mixes: (2, 15), the light's shares before and at the end. old, share: another ground and its land, and how far
        the group has come from it, before and at the end. start: seconds of media time of the first; water and clouds
        are where they are then.
        """
        buffer, ms = self._prepared(ground, land, poses, mixes, seed, old, share, start)
        return list(_workers().map(buffer, range(len(poses)))), ms

    def _prepared(
        self,
        ground: Ground,
        land: int,
        poses: Array,
        mixes: Array,
        seed: int,
        old: tuple[Ground, int] | None,
        share: tuple[float, float],
        start: float,
    ) -> tuple[Callable[[int], Buffer], Array]:
        """What all pictures of a group share, made here: what makes the buffer of each, on any thread, and the light's shares."""
        n = len(poses)
        x, y = float(poses[0, 0]), float(poses[0, 1])
        fields = self.fields(ground, x, y, land)
        w = np.arange(1, n + 1, dtype=np.float32) / n
        steady = bool((mixes[0] == mixes[1]).all())
        ms = np.repeat(mixes[1:], n, 0) if steady else mixes[0] + (mixes[1] - mixes[0]) * w[:, None]
        panoramas = [self._panorama(seed, m) for m in (mixes[1:] if steady else mixes)]
        skies = [strip(p, poses, start) for p in panoramas]
        before = None if old is None else self.fields(old[0], x, y, old[1])
        lit = None if before is not None else self._lighted(fields, seed)

        def one(i: int) -> Buffer:
            f, maps = fields, lit
            if before is not None:
                f = between(before, fields, share[0] + (share[1] - share[0]) * float(w[i]))
            if maps is None:
                maps = torch.cat((f.maps, shaded(f, self.sky(seed).azimuth)))
            sky, first = skies[0]
            if not steady:
                sky = torch.lerp(sky, skies[1][0], float(w[i]))
            return self._buffer(f, maps, (sky, first), poses[i], ms[i], seed, start + i / FPS)

        return one, ms

    def _buffer(
        self, fields: Fields, lit: Tensor, sky: tuple[Tensor, int], pose: Array, mix: Array, seed: int, time: float
    ) -> Buffer:
        azimuth = self.sky(seed).azimuth
        depth = cast(fields, pose)
        out: Buffer = []
        free = torch.ones(HEIGHT * WIDTH, dtype=torch.bool)
        for part, k in nearest(parts(fields, self.atlas, Eye.of(pose, azimuth, mix), depth.numpy())):
            if len(k):
                at = torch.from_numpy(part.pixel[k])
                out.append(Solid(part.sort, at, torch.from_numpy(part.values(k))))
                free[at] = False
        out.append(ground(fields, lit, pose, depth, free, direction(mix, azimuth)[0], mix, time))
        out.append(air(*sky, pose, free & ~torch.isfinite(depth).flatten()))
        return [layer for layer in out if len(layer.at)]

    def drawn(
        self, buffer: Buffer, mix: Array, pose: Array, time: float = 0.0, falling: Array = DRY[0]
    ) -> NDArray[np.uint8]:
        """The network's picture of a buffer, with reflections in water and what falls."""
        picture = self.draw(buffer, mix).permute(1, 2, 0).contiguous().numpy()
        _mirror(picture, buffer, pose, mix, time)
        put(picture, falling, time, pose, 0.95 - 0.4 * float(mix[8 + TIMES.index("night")]))
        return np.ascontiguousarray((picture.clip(0, 1) * 255 + _grain()).astype(np.uint8))


class _Workers:
    """Frames of a group are made side by side: most of the work is numpy's and torch's, which let other threads run."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(2, "pocket")

    def map(self, work: Callable[..., Any], *each: Iterable[Any]) -> Iterable[Any]:
        def quiet(*arguments: Any) -> Any:
            with torch.inference_mode():  # each thread has its own
                return work(*arguments)

        return self._pool.map(quiet, *each)


@lru_cache(1)
def _workers() -> _Workers:
    return _Workers()


@lru_cache(1)
def _grain() -> Array:
    """(HEIGHT, WIDTH, 1), 0 to 1: rounds up or down by the pixel, against bands in the sky."""
    return np.random.default_rng(3).random((HEIGHT, WIDTH, 1)).astype(np.float32)


def _mirror(picture: Array, buffer: Buffer, pose: Array, mix: Array, time: float) -> None:
    """What stands beyond water, upside down in it; a picture (HEIGHT, WIDTH, 3) is changed."""
    still = 1 - float(mix[LANDS.index("volcanic")])
    if still < 0.02:
        return
    wet = [layer.at[layer.row(WET) > 0].numpy() for layer in buffer if layer.sort == LAND]
    at = np.concatenate(wet) if wet else np.zeros(0, int)
    if not len(at):
        return
    far = plane(buffer, DISTANCE).view(-1).numpy()
    row, column = (v.astype(np.float32) for v in np.divmod(at, WIDTH))
    horizon = np.float32(HORIZON + float(pose[4]))
    depth = row + np.float32(0.5) - horizon
    d = far.take(at)
    a = np.float32(pose[3]) + (column + np.float32(0.5 - WIDTH / 2)) * np.float32(1 / FOCAL)
    u = (np.float32(pose[0]) + np.cos(a) * d) * 9 + np.float32(time * 9 * WAVES)
    v = (np.float32(pose[1]) + np.sin(a) * d) * 9 + np.float32(time * 5.4 * WAVES)
    wave = textures()[0].numpy()
    place = (v.astype(np.int32) % 512 + 1) * wave.shape[1] + u.astype(np.int32) % 512 + 1
    w = wave.ravel().take(place) * np.clip(np.float32(1.4) - d * d * np.float32(1 / 810), 0.12, 1)
    r = np.round(horizon - depth - 1 + w * np.clip(depth * np.float32(0.16), 0.4, 4)).clip(0, HEIGHT - 1)
    c = (column + np.round(w * np.float32(0.8))).clip(0, WIDTH - 1)
    source = r.astype(np.int32) * WIDTH + c.astype(np.int32)
    share = np.float32(0.22) + np.float32(0.55) * np.clip(1 - depth * np.float32(1 / 75), 0, 1) ** 2
    share = (share * np.float32(still) * (far.take(source) > d * np.float32(0.9)) * (depth > 0))[:, None]
    flat = picture.reshape(-1, 3)
    flat[at] = flat.take(at, 0) * (1 - share) + flat.take(source, 0) * share
