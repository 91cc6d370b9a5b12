"""The rendered world that the pocket model learns from: a height-field ray caster with biomes, times and weather.

Training and evaluation only; nothing here runs while a person explores. Needs numba (the `train` extra).
"""

from __future__ import annotations

from dataclasses import dataclass

import numba as nb
import numpy as np

from engine.models.pocket import camera
from engine.models.pocket.camera import FOCAL, FRAMES_PER_GROUP, HEIGHT, WIDTH

N = 512
"""Side of the periodic height field, in world units."""
SCALE = 2
"""Supersampling of the picture."""
SKY_ROWS = 40
SKY_COLUMNS = round(2 * np.pi * FOCAL)

BIOMES: dict[str, dict] = {
    "meadow": dict(
        lo=(70, 122, 46), hi=(158, 178, 92), rock=(120, 112, 98), amp=60, water=0.36, things="trees houses rocks"
    ),
    "desert": dict(
        lo=(206, 162, 92), hi=(244, 208, 142), rock=(182, 120, 74), amp=46, water=0.0, things="cactus rocks ruins"
    ),
    "snow": dict(
        lo=(178, 196, 214), hi=(250, 251, 254), rock=(112, 122, 138), amp=92, water=0.32, things="firs houses floes"
    ),
    "volcanic": dict(lo=(44, 36, 38), hi=(104, 66, 54), rock=(58, 46, 48), amp=100, water=0.33, things="rocks spires"),
    "islands": dict(
        lo=(234, 212, 152), hi=(66, 150, 66), rock=(128, 122, 104), amp=62, water=0.52, things="palms rocks"
    ),
    "autumn": dict(
        lo=(158, 104, 42), hi=(208, 138, 54), rock=(124, 104, 90), amp=62, water=0.3, things="maples houses"
    ),
    "crystal": dict(
        lo=(104, 60, 148), hi=(208, 132, 226), rock=(84, 60, 124), amp=88, water=0.36, things="crystals spires"
    ),
    "city": dict(lo=(84, 86, 92), hi=(104, 106, 112), rock=(90, 90, 96), amp=6, water=0.0, things=""),
}
WATER = {"volcanic": (238, 92, 24), "crystal": (44, 205, 190)}
DULL = ("volcanic",)
"""Lands whose liquid mirrors nothing."""
RIVERS = ("meadow", "autumn", "snow", "volcanic", "crystal")
ROADS = {"meadow": (176, 150, 112), "autumn": (150, 120, 90), "desert": (150, 112, 74), "islands": (214, 196, 150)}
"""Colours of their tracks."""
BANK = 0.014
"""Half the width of a river's bed, and of the strip that a road levels, as a share of the noise that winds it."""


@dataclass(frozen=True)
class Thing:
    """A kind of object on the land. share: of the cells of a coarse grid that have one; reach: half its width in cells; high: its
    height; cone: how much it narrows towards the top; tones: its colours; wet: stands in the water."""

    share: float
    reach: tuple[float, float]
    high: tuple[float, float]
    cone: float
    tones: tuple[tuple[int, int, int], ...]
    square: bool = False
    wet: bool = False


THINGS: dict[str, Thing] = {
    "trees": Thing(0.24, (2.4, 3.6), (9, 15), 0.7, ((38, 96, 36), (60, 120, 44))),
    "firs": Thing(0.22, (2.2, 3.2), (12, 19), 1.0, ((40, 76, 62), (58, 92, 76))),
    "maples": Thing(0.3, (2.4, 3.8), (9, 15), 0.7, ((205, 76, 24), (226, 130, 30), (176, 44, 26))),
    "palms": Thing(0.18, (2.0, 2.8), (9, 14), 0.5, ((44, 124, 52), (70, 140, 60))),
    "cactus": Thing(0.1, (1.3, 1.8), (7, 12), 0.2, ((84, 124, 56),)),
    "crystals": Thing(0.15, (1.8, 3.0), (14, 30), 1.0, ((90, 232, 232), (230, 150, 255))),
    "spires": Thing(0.05, (3.0, 5.0), (22, 40), 1.0, ((70, 56, 66),)),
    "rocks": Thing(0.09, (2.2, 4.0), (3, 7), 0.9, ((126, 118, 108),)),
    "ruins": Thing(0.05, (1.6, 2.2), (10, 18), 0.0, ((206, 178, 132),), square=True),
    "houses": Thing(0.04, (3.0, 4.0), (7, 10), 0.35, ((196, 74, 54), (214, 196, 164)), square=True),
    "floes": Thing(0.1, (2.5, 5.0), (1, 2), 0.1, ((232, 240, 248),), wet=True),
}
GRID = 16
"""Cells of the coarse grid that objects stand on, at most one a place and kind."""
TIMES: dict[str, dict] = {
    "dawn": dict(
        zenith=(105, 125, 190),
        low=(250, 190, 165),
        sun=(1.05, 0.92, 0.86),
        light=0.9,
        disc=(255, 235, 200),
        high=10,
        slope=0.45,
    ),
    "noon": dict(
        zenith=(70, 130, 220),
        low=(185, 215, 242),
        sun=(1.0, 1.0, 1.0),
        light=1.0,
        disc=(255, 255, 240),
        high=30,
        slope=1.3,
    ),
    "dusk": dict(
        zenith=(70, 48, 110),
        low=(248, 128, 70),
        sun=(1.1, 0.72, 0.58),
        light=0.74,
        disc=(255, 205, 130),
        high=6,
        slope=0.4,
    ),
    "night": dict(
        zenith=(8, 12, 38), low=(36, 50, 96), sun=(0.5, 0.62, 0.95), light=0.6, disc=(230, 235, 245), high=22, slope=0.9
    ),
}
WEATHERS: dict[str, dict] = {
    "clear": dict(view=420.0, cloud=0.6, grey=0.0),
    "hazy": dict(view=190.0, cloud=0.3, grey=0.45),
    "foggy": dict(view=110.0, cloud=0.0, grey=0.85),
}
SHADOW = 14
"""Cells that a shadow reaches at most."""
NOWHERE = 1000.0
"""The distance that the sky is said to have."""
BIOME_NAMES, TIME_NAMES, WEATHER_NAMES = tuple(BIOMES), tuple(TIMES), tuple(WEATHERS)


@dataclass
class Scene:
    """What a renderer needs: height, colour and gloss fields (N, N[, 3]), a sky panorama (rows, columns, 3), haze, the colour and
    azimuth of what glints on water, and view."""

    height: np.ndarray
    colour: np.ndarray
    gloss: np.ndarray
    sky: np.ndarray
    haze: np.ndarray
    glint: np.ndarray
    azimuth: float
    view: float

    def mix(self, other: Scene, share: float) -> Scene:
        """This scene on its way to `other`, a view of the same ground; share in [0, 1]."""
        a, b = np.float32(1 - share), np.float32(share)
        return Scene(
            self.height * a + other.height * b,
            self.colour * a + other.colour * b,
            self.gloss * a + other.gloss * b,
            self.sky * a + other.sky * b,
            self.haze * a + other.haze * b,
            self.glint * a + other.glint * b,
            self.azimuth,
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
    dice: np.ndarray
    cloud: np.ndarray
    sun: float
    blocks: np.ndarray
    course: np.ndarray
    """What rivers and roads wind along."""

    @classmethod
    def make(cls, seed: int) -> Ground:
        rng = np.random.default_rng(seed)
        return cls(
            fbm(rng, 2.9),
            fbm(rng, 2.1),
            rng.random((len(THINGS), N // GRID, N // GRID, 6)).astype(np.float32),
            fbm(rng, 2.2, SKY_ROWS, SKY_COLUMNS),
            float(rng.random()),
            rng.random((N // 32, N // 32, 5)),
            fbm(rng, 3.4),
        )

    def _streets(self) -> tuple[np.ndarray, np.ndarray]:
        """Height and colour of the city: towers of flat faces with rows of windows, between wide streets."""
        b = BIOMES["city"]
        height = np.zeros((N, N), np.float32)
        colour = np.tile(np.array(b["lo"], np.float32), (N, N, 1)) * (0.9 + 0.2 * self.detail[..., None])
        for j in range(0, N, 32):
            for i in range(0, N, 32):
                q = self.blocks[j // 32, i // 32]
                if q[0] < 0.8:
                    top = (10 + 62 * q[1]) * (0.5 + self.relief[j, i])
                    c = (90 + 110 * q[2]) * np.array([1, 0.85 + 0.15 * q[3], 0.75 + 0.3 * q[4]], np.float32)
                    height[j + 8 : j + 25, i + 8 : i + 25] = top
                    colour[j + 8 : j + 25, i + 8 : i + 25] = c
                    colour[j + 9 : j + 24 : 4, i + 8 : i + 25] *= np.float32(0.72)
                else:
                    colour[j + 8 : j + 25, i + 8 : i + 25] = (70, 128, 62)
        return height, colour

    def _land(self, biome: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Height, colour and gloss of everything but the city."""
        b = BIOMES[biome]
        lo, hi, rock = (np.array(b[k], np.float32) for k in ("lo", "hi", "rock"))
        level = b["water"]
        relief = self.relief
        if biome == "desert":
            ridge = 0.5 + 0.5 * np.sin(2 * np.pi * (6 * np.arange(N)[None] / N + 2.0 * self.detail + 1.5 * self.relief))
            relief = 0.75 * relief + 0.25 * ridge.astype(np.float32) * relief
        if biome in RIVERS:
            # a bed as deep as the lakes, with banks that slope down to it
            bed = np.clip((np.abs(self.course - 0.42) - BANK) / (5 * BANK), 0, 1)
            relief = np.minimum(relief, level - 0.01 + (np.maximum(relief, level) - level) * bed + 0.02 * bed)
        wet = relief <= level
        height = np.maximum(relief, level) * b["amp"]
        k = np.clip((relief - level) / (1 - level), 0, 1)[..., None]
        steep = (
            np.hypot(np.roll(height, -1, 1) - np.roll(height, 1, 1), np.roll(height, -1, 0) - np.roll(height, 1, 0))
            * 0.5
        )
        cliff = np.clip((steep - 0.9) / 0.5, 0, 1)[..., None]
        colour = ((lo * (1 - k) + hi * k) * (1 - cliff) + rock * cliff) * (0.8 + 0.4 * self.detail[..., None])
        water = np.array(WATER.get(biome, (44, 98, 160)), np.float32)
        if biome in ROADS:
            road = (np.clip(1.5 - np.abs(self.course - 0.58) / (0.7 * BANK), 0, 1) * ~wet)[..., None]
            colour = (
                colour * (1 - road) + np.array(ROADS[biome], np.float32) * (0.9 + 0.2 * self.detail[..., None]) * road
            )
        colour[wet] = water * (0.9 + 0.2 * self.detail[wet][:, None])
        gloss = wet.astype(np.float32) if biome not in DULL else np.zeros((N, N), np.float32)
        base = height.copy()
        for n, (name, thing) in enumerate(THINGS.items()):
            if name in b["things"].split():
                self._put(thing, self.dice[n], wet, base, height, colour, gloss)
        return height, colour, gloss

    def _put(self, thing, dice, wet, base, height, colour, gloss) -> None:  # type: ignore[no-untyped-def]
        """Objects of one kind onto the fields, where the dice and the land allow one."""
        for j, i in zip(*np.nonzero(dice[..., 0] < thing.share), strict=True):
            _, u, v, size, tone, sort = dice[j, i]
            y, x = j * GRID + 3 + u * (GRID - 6), i * GRID + 3 + v * (GRID - 6)
            if bool(wet[int(y), int(x)]) is not thing.wet:
                continue
            reach = thing.reach[0] + (thing.reach[1] - thing.reach[0]) * float(size)
            high = thing.high[0] + (thing.high[1] - thing.high[0]) * float(size)
            n = int(np.ceil(reach))
            rows, cols = np.arange(int(y) - n, int(y) + n + 1), np.arange(int(x) - n, int(x) + n + 1)
            dy, dx = np.abs(rows - y)[:, None], np.abs(cols - x)[None]
            r = np.maximum(dy, dx) / reach if thing.square else np.hypot(dy, dx) / reach
            top = np.where(r <= 1, high * (1 - thing.cone * r), 0).astype(np.float32)
            at = np.ix_(rows % N, cols % N)
            inside = r <= 1
            ground = float(base[int(y) % N, int(x) % N])
            height[at] = np.where(inside, np.maximum(height[at], ground + top), height[at])
            paint = np.array(thing.tones[int(sort * len(thing.tones)) % len(thing.tones)], np.float32)
            shade = (0.72 + 0.4 * (1 - np.clip(r, 0, 1)) + 0.15 * tone)[..., None]
            colour[at] = np.where(inside[..., None], paint * shade, colour[at])
            gloss[at] = np.where(inside, 0, gloss[at])

    def _lit(self, height: np.ndarray, time: str, grey: float) -> np.ndarray:
        """(N, N) share of the light that each place gets: from the side that faces the sun, and from not lying in a shadow."""
        a = self.sun * 2 * np.pi
        c, s = float(np.cos(a)), float(np.sin(a))
        east = (np.roll(height, -1, 1) - np.roll(height, 1, 1)) * 0.5
        south = (np.roll(height, -1, 0) - np.roll(height, 1, 0)) * 0.5
        facing = np.clip(1 - (east * c + south * s) * 0.22, 0.6, 1.3)
        blocked = np.zeros_like(height)
        for k in range(1, SHADOW + 1, 2):
            other = np.roll(height, (-round(k * s), -round(k * c)), (0, 1))
            blocked = np.maximum(blocked, np.clip((other - height - k * TIMES[time]["slope"]) / 2, 0, 1))
        return facing * (1 - 0.42 * blocked * (1 - 0.8 * grey))

    def scene(self, biome: str, time: str, weather: str) -> Scene:
        t, w = TIMES[time], WEATHERS[weather]
        if biome == "city":
            height, colour = self._streets()
            gloss = np.zeros((N, N), np.float32)
        else:
            height, colour, gloss = self._land(biome)
        colour = colour * self._lit(height, time, w["grey"])[..., None]
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
        glint = np.array(t["disc"], np.float32) * (1 - w["grey"])
        return Scene(
            height.astype(np.float32),
            np.ascontiguousarray(colour),
            gloss,
            sky.astype(np.float32),
            haze.astype(np.float32),
            glint.astype(np.float32),
            self.sun * 2 * np.pi,
            w["view"],
        )


@nb.njit(fastmath=True, cache=True)
def _cast(height, colour, gloss, sky, haze, glint, azimuth, view, x, y, z, yaw, horizon, focal, out, far):  # type: ignore[no-untyped-def]
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
                wet = gloss[iy, ix]
                mirror = wet * 0.6 * (1 - np.exp(-d / 90))
                off = np.abs((a - azimuth + np.pi) % (2 * np.pi) - np.pi)
                spark = wet * max(0.0, 1 - off / 0.22) * 0.55
                for j in range(s, top):
                    far[j, i] = d
                for c in range(3):
                    k = (
                        colour[iy, ix, c] * w00
                        + colour[iy, jx, c] * w10
                        + colour[jy, ix, c] * w01
                        + colour[jy, jx, c] * w11
                    )
                    k = k * (1 - mirror) + haze[c] * mirror
                    k = k * (1 - spark) + glint[c] * spark
                    k = k * f + haze[c] * (1 - f)
                    for j in range(s, top):
                        out[j, i, c] = k
                top = s
            d += step
            step *= 1.013
        q = int(a / (2 * np.pi) * sky.shape[1]) % sky.shape[1]
        for j in range(top):
            far[j, i] = 1000.0
            r = int((horizon - j) / up)
            r = min(max(r, 0), sky.shape[0] - 1)
            for c in range(3):
                out[j, i, c] = sky[r, q, c]


class Walker:
    """A camera in a scene: renders what it sees and moves by velocities of `engine.models.pocket.camera`."""

    def __init__(self, rng: np.random.Generator, scene: Scene) -> None:
        spots = rng.uniform(0, N, (12, 2))
        clear = [float(scene.height[int(y) % N, int(x) % N]) for x, y in spots]
        self.x, self.y = spots[int(np.argsort(clear)[rng.integers(3, 9)])]
        self.yaw = rng.uniform(0, 2 * np.pi)
        self.pitch = float(rng.uniform(-6, 6))
        self.clearance = float(rng.uniform(12, 22))
        self.z = self._floor(scene, 4) + self.clearance
        self.velocity = np.zeros(5, np.float32)
        self._buffer = np.zeros((HEIGHT * SCALE, WIDTH * SCALE, 3), np.float32)
        self._far = np.zeros((HEIGHT * SCALE, WIDTH * SCALE), np.float32)

    def _floor(self, scene: Scene, reach: int) -> float:
        r = (-reach, 0, reach)
        return max(float(scene.height[int(self.y + dy) % N, int(self.x + dx) % N]) for dx in r for dy in r)

    def see(self, scene: Scene) -> np.ndarray:
        """(80, 128, 3) uint8."""
        horizon = (camera.HORIZON + self.pitch) * SCALE
        place = (scene.view, self.x, self.y, self.z, self.yaw, horizon, FOCAL * SCALE)
        fields = (scene.height, scene.colour, scene.gloss, scene.sky, scene.haze, scene.glint, scene.azimuth)
        _cast(*fields, *place, self._buffer, self._far)
        small = self._buffer.reshape(HEIGHT, SCALE, WIDTH, SCALE, 3).mean((1, 3))
        return np.clip(small + 0.5, 0, 255).astype(np.uint8)

    def distance(self) -> np.ndarray:
        """(80, 128) float32: how far away is what was seen last, in world units over the ground; NOWHERE for the sky."""
        return self._far.reshape(HEIGHT, SCALE, WIDTH, SCALE).min((1, 3))

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
