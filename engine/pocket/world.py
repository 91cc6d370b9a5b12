"""The rendered world that the pocket model learns from: a height-field ray caster with biomes, times and weather.

Training and evaluation only; nothing here runs while a person explores. Needs numba (the `train` extra).
"""

from __future__ import annotations

from dataclasses import dataclass

import numba as nb
import numpy as np

from engine.pocket import camera
from engine.pocket.camera import FOCAL, FRAMES_PER_GROUP, HEIGHT, WIDTH

N = 512
"""Side of the periodic height field, in world units."""
SCALE = 2
"""Supersampling of the picture."""
SKY_ROWS = 40
SKY_COLUMNS = round(2 * np.pi * FOCAL)

BIOMES: dict[str, dict] = {
    "meadow": dict(lo=(60, 110, 40), hi=(150, 170, 90), amp=55, water=0.33, trees=0.004, tree=(30, 80, 30)),
    "desert": dict(lo=(200, 160, 90), hi=(240, 205, 140), amp=48, water=0.0, trees=0.0006, tree=(90, 120, 50)),
    "snow": dict(lo=(165, 185, 205), hi=(248, 250, 253), amp=85, water=0.3, trees=0.003, tree=(40, 70, 60)),
    "volcanic": dict(lo=(35, 28, 30), hi=(95, 60, 50), amp=95, water=0.32, trees=0.0, tree=(0, 0, 0)),
    "islands": dict(lo=(225, 205, 150), hi=(60, 140, 60), amp=58, water=0.55, trees=0.003, tree=(40, 110, 50)),
    "autumn": dict(lo=(150, 95, 35), hi=(205, 125, 45), amp=62, water=0.28, trees=0.012, tree=(200, 70, 20)),
    "crystal": dict(lo=(95, 50, 140), hi=(205, 120, 225), amp=90, water=0.35, trees=0.003, tree=(80, 230, 230)),
    "city": dict(lo=(70, 72, 78), hi=(95, 98, 104), amp=6, water=0.0, trees=0.0, tree=(0, 0, 0)),
}
WATER = {"volcanic": (235, 85, 20), "crystal": (40, 205, 190)}
TIMES: dict[str, dict] = {
    "dawn": dict(zenith=(105, 125, 190), low=(250, 190, 165), sun=(1.05, 0.9, 0.85), light=0.85, disc=(255, 235, 200), high=10),
    "noon": dict(zenith=(70, 130, 220), low=(185, 215, 242), sun=(1.0, 1.0, 1.0), light=1.0, disc=(255, 255, 240), high=30),
    "dusk": dict(zenith=(60, 40, 95), low=(245, 115, 60), sun=(1.05, 0.68, 0.55), light=0.68, disc=(255, 200, 120), high=6),
    "night": dict(zenith=(6, 9, 30), low=(30, 42, 84), sun=(0.5, 0.6, 0.9), light=0.58, disc=(225, 230, 240), high=22),
}
WEATHERS: dict[str, dict] = {
    "clear": dict(view=420.0, cloud=0.5, grey=0.0),
    "hazy": dict(view=200.0, cloud=0.3, grey=0.5),
    "foggy": dict(view=100.0, cloud=0.0, grey=0.85),
}
BIOME_NAMES, TIME_NAMES, WEATHER_NAMES = tuple(BIOMES), tuple(TIMES), tuple(WEATHERS)


@dataclass
class Scene:
    """What a renderer needs: height and colour fields (N, N[, 3]), a sky panorama (rows, columns, 3), haze and view."""

    height: np.ndarray
    colour: np.ndarray
    sky: np.ndarray
    haze: np.ndarray
    view: float

    def mix(self, other: Scene, share: float) -> Scene:
        """This scene on its way to `other`, share in [0, 1]."""
        a, b = np.float32(1 - share), np.float32(share)
        return Scene(
            self.height * a + other.height * b,
            self.colour * a + other.colour * b,
            self.sky * a + other.sky * b,
            self.haze * a + other.haze * b,
            float(np.exp(np.log(self.view) * a + np.log(other.view) * b)),
        )


def fbm(rng: np.random.Generator, beta: float, rows: int = N, columns: int = N) -> np.ndarray:
    """Periodic fractal noise in [0, 1] with a power spectrum of r ** -(beta + 1)."""
    f, g = np.fft.fftfreq(rows)[:, None] * rows, np.fft.rfftfreq(columns)[None] * columns
    r = np.sqrt(f * f + g * g)
    r[0, 0] = 1
    s = (rng.normal(size=r.shape) + 1j * rng.normal(size=r.shape)) / r ** (beta / 2 + 0.5)
    s[0, 0] = 0
    h = np.fft.irfft2(s, s=(rows, columns))
    return ((h - h.min()) / (h.max() - h.min())).astype(np.float32)


@dataclass
class Ground:
    """The seeded noise that every biome of one world shares, so that an edit transforms the land in view."""

    relief: np.ndarray
    detail: np.ndarray
    tree_dice: np.ndarray
    tree_tone: np.ndarray
    cloud: np.ndarray
    sun: float
    blocks: np.ndarray

    @classmethod
    def make(cls, seed: int) -> Ground:
        rng = np.random.default_rng(seed)
        return cls(
            fbm(rng, 2.5),
            fbm(rng, 1.5),
            rng.random((N, N)),
            rng.random((N, N, 2)).astype(np.float32),
            fbm(rng, 1.9, SKY_ROWS, SKY_COLUMNS),
            float(rng.random()),
            rng.random((N // 16, N // 16, 5)),
        )

    def scene(self, biome: str, time: str, weather: str) -> Scene:
        b, t, w = BIOMES[biome], TIMES[time], WEATHERS[weather]
        lo, hi = np.array(b["lo"], np.float32), np.array(b["hi"], np.float32)
        if biome == "city":
            height = np.zeros((N, N), np.float32)
            colour = np.tile(lo, (N, N, 1)) * (0.9 + 0.2 * self.detail[..., None])
            for j in range(0, N, 16):
                for i in range(0, N, 16):
                    q = self.blocks[j // 16, i // 16]
                    if q[0] < 0.75:
                        height[j + 4 : j + 13, i + 4 : i + 13] = (8 + 62 * q[1]) * (0.4 + self.relief[j, i])
                        c = (80 + 110 * q[2]) * np.array([1, 0.85 + 0.15 * q[3], 0.75 + 0.3 * q[4]], np.float32)
                        colour[j + 4 : j + 13, i + 4 : i + 13] = c
                        colour[j + 4 : j + 13 : 3, i + 4 : i + 13] *= np.float32(0.7)
        else:
            level = b["water"]
            height = np.maximum(self.relief, level) * b["amp"]
            k = np.clip((self.relief - level) / (1 - level), 0, 1)[..., None]
            colour = (lo * (1 - k) + hi * k) * (0.7 + 0.6 * self.detail[..., None])
            wet = self.relief <= level
            water = np.array(WATER.get(biome, (40, 90, 150)), np.float32)
            colour[wet] = water * (0.85 + 0.3 * self.detail[wet][:, None])
            slope = np.roll(height, -1, 1) - np.roll(height, 1, 1)
            colour *= np.where(wet, 1, np.clip(1 - slope * 0.16, 0.45, 1.45))[..., None]
            for j, i in zip(*np.nonzero((self.tree_dice < b["trees"]) & ~wet), strict=True):
                size, tone = self.tree_tone[j, i]
                ring = np.ix_(np.arange(j, j + 2) % N, np.arange(i, i + 2) % N)
                height[ring] += 5 + 4 * size
                colour[ring] = np.array(b["tree"], np.float32) * (0.7 + 0.6 * tone)
        colour = np.clip(colour * np.array(t["sun"], np.float32) * t["light"], 0, 255).astype(np.float32)
        zenith, low = np.array(t["zenith"], np.float32), np.array(t["low"], np.float32)
        k = (np.arange(SKY_ROWS, dtype=np.float32) / SKY_ROWS)[:, None, None] ** 0.8
        sky = np.tile(zenith * k + low * (1 - k), (1, SKY_COLUMNS, 1))
        cover = np.clip((self.cloud - 0.5) * 4, 0, 1)[..., None] * w["cloud"] * np.clip(k * 5, 0, 1)
        sky = sky * (1 - cover) + cover * (low * 0.5 + 127 * t["light"])
        rows, cols = np.arange(SKY_ROWS)[:, None], np.arange(SKY_COLUMNS)[None]
        away = np.abs((cols - self.sun * SKY_COLUMNS + SKY_COLUMNS / 2) % SKY_COLUMNS - SKY_COLUMNS / 2)
        disc = np.exp(-np.maximum(np.hypot(away, rows - t["high"]) - 3, 0) / 3)[..., None] * (1 - w["grey"])
        sky = sky * (1 - disc) + disc * np.array(t["disc"], np.float32)
        mist = sky.mean((0, 1)) * 0.4 + 150 * t["light"] * 0.6
        sky = sky * (1 - w["grey"]) + mist * w["grey"]
        haze = low * (1 - w["grey"]) + mist * w["grey"]
        return Scene(height, np.ascontiguousarray(colour), sky.astype(np.float32), haze.astype(np.float32), w["view"])


@nb.njit(fastmath=True, cache=True)
def _cast(height, colour, sky, haze, view, x, y, z, yaw, horizon, focal, out):  # type: ignore[no-untyped-def]
    rows, columns = out.shape[0], out.shape[1]
    n = height.shape[0]
    up = out.shape[0] / 80.0
    for i in range(columns):
        a = yaw + (i + 0.5 - columns / 2) / focal
        ca = np.cos(a)
        sa = np.sin(a)
        top = rows
        d = 1.0
        step = 0.5
        while d < view * 1.7 and top > 0:
            px = x + ca * d
            py = y + sa * d
            fx = np.floor(px)
            fy = np.floor(py)
            ix = int(fx) % n
            iy = int(fy) % n
            jx = (ix + 1) % n
            jy = (iy + 1) % n
            u = px - fx
            v = py - fy
            w00 = (1 - u) * (1 - v)
            w10 = u * (1 - v)
            w01 = (1 - u) * v
            w11 = u * v
            h = height[iy, ix] * w00 + height[iy, jx] * w10 + height[jy, ix] * w01 + height[jy, jx] * w11
            s = int(horizon + (z - h) / d * focal)
            if s < 0:
                s = 0
            if s < top:
                f = np.exp(-((d / view) ** 2) * 1.6)
                for c in range(3):
                    k = colour[iy, ix, c] * w00 + colour[iy, jx, c] * w10 + colour[jy, ix, c] * w01 + colour[jy, jx, c] * w11
                    k = k * f + haze[c] * (1 - f)
                    for j in range(s, top):
                        out[j, i, c] = k
                top = s
            d += step
            step *= 1.013
        q = int(a / (2 * np.pi) * sky.shape[1]) % sky.shape[1]
        for j in range(top):
            r = int((horizon - j) / up)
            r = min(max(r, 0), sky.shape[0] - 1)
            for c in range(3):
                out[j, i, c] = sky[r, q, c]


class Walker:
    """A camera in a scene: renders what it sees and moves by velocities of `engine.pocket.camera`."""

    def __init__(self, rng: np.random.Generator, scene: Scene) -> None:
        spots = rng.uniform(0, N, (12, 2))
        clear = [float(scene.height[int(y) % N, int(x) % N]) for x, y in spots]
        self.x, self.y = spots[int(np.argsort(clear)[rng.integers(0, 6)])]
        self.yaw = rng.uniform(0, 2 * np.pi)
        self.pitch = float(rng.uniform(-6, 6))
        self.clearance = float(rng.uniform(12, 22))
        self.z = self._floor(scene, 4) + self.clearance
        self.velocity = np.zeros(5, np.float32)
        self._buffer = np.zeros((HEIGHT * SCALE, WIDTH * SCALE, 3), np.float32)

    def _floor(self, scene: Scene, reach: int) -> float:
        r = (-reach, 0, reach)
        return max(float(scene.height[int(self.y + dy) % N, int(self.x + dx) % N]) for dx in r for dy in r)

    def see(self, scene: Scene) -> np.ndarray:
        """(80, 128, 3) uint8."""
        horizon = (camera.HORIZON + self.pitch) * SCALE
        args = (scene.view, self.x, self.y, self.z, self.yaw, horizon, FOCAL * SCALE, self._buffer)
        _cast(scene.height, scene.colour, scene.sky, scene.haze, *args)
        small = self._buffer.reshape(HEIGHT, SCALE, WIDTH, SCALE, 3).mean((1, 3))
        return np.clip(small + 0.5, 0, 255).astype(np.uint8)

    def move(self, scene: Scene, command: np.ndarray) -> np.ndarray:
        """One frame under `command` (5,); returns the velocity that was used."""
        v = camera.integrate(self.velocity, command[None])[0]
        self.velocity = v
        f, s, w, p, lift = v.astype(np.float64)
        self.yaw += w * camera.YAW_STEP
        c, n = np.cos(self.yaw), np.sin(self.yaw)
        self.x += (c * f - n * s) * camera.MOVE_STEP
        self.y += (n * f + c * s) * camera.MOVE_STEP
        self.pitch = float(np.clip(self.pitch + p * camera.PITCH_STEP, -camera.PITCH_LIMIT, camera.PITCH_LIMIT))
        self.clearance = float(np.clip(self.clearance + lift * camera.LIFT_STEP, 9, 40))
        aim = self._floor(scene, 4) + self.clearance
        self.z += (aim - self.z) * 0.12 + lift * camera.LIFT_STEP * 0.88
        self.z = max(self.z, self._floor(scene, 1) + 4)
        return v


def wander(rng: np.random.Generator, frames: int) -> np.ndarray:
    """A random key script: (frames, 5) of commands in {-1, 0, 1}, changing at group borders."""
    out = np.zeros((frames, 5), np.float32)
    t = 0
    while t < frames:
        hold = int(rng.choice([1, 2, 3, 4, 6, 8])) * FRAMES_PER_GROUP
        a = np.zeros(5, np.float32)
        a[0] = rng.choice([1, -1, 0], p=[0.6, 0.08, 0.32])
        a[1] = rng.choice([1, -1, 0], p=[0.08, 0.08, 0.84])
        a[2] = rng.choice([1, -1, 0], p=[0.28, 0.28, 0.44])
        a[3] = rng.choice([1, -1, 0], p=[0.06, 0.06, 0.88])
        a[4] = rng.choice([1, -1, 0], p=[0.06, 0.06, 0.88])
        out[t : t + hold] = a
        t += hold
    return out
