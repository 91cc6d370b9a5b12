"""True grounds: seeded, periodic maps of eight lands, from which the ground sampler learns and against which it is
judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.models.pocket2 import cells
from engine.models.pocket2.cells import (
    CHANNELS,
    COLOUR,
    COURSE,
    HEIGHT,
    HEIGHT_SCALE,
    KIND,
    LANDS,
    RIVERS,
    ROAD_WIDTH,
    SIZE,
    TRACKS,
    WAY,
    distance,
    even,
    ramp,
    shape_of,
)

Array = NDArray[np.float32]
SIDE = 256
"""Cells a side of a true ground; it is periodic."""
PALETTE: dict[str, tuple[tuple[int, int, int], ...]] = {
    # low, high, steep, shore
    "meadow": ((92, 150, 58), (150, 182, 84), (124, 116, 100), (176, 166, 116)),
    "desert": ((214, 166, 100), (242, 204, 138), (186, 116, 76), (210, 180, 120)),
    "snow": ((184, 198, 218), (212, 222, 236), (118, 126, 142), (190, 208, 224)),
    "volcanic": ((62, 52, 52), (104, 76, 66), (48, 40, 42), (150, 66, 34)),
    "islands": ((86, 160, 74), (60, 136, 60), (126, 120, 108), (240, 220, 164)),
    "autumn": ((164, 116, 50), (196, 142, 62), (120, 102, 90), (150, 130, 96)),
    "crystal": ((122, 78, 172), (186, 122, 216), (84, 62, 128), (150, 170, 210)),
    "city": ((92, 128, 74), (108, 144, 84), (120, 120, 120), (120, 120, 120)),
}
"""Ground colours."""


def waves(rng: np.random.Generator, longest: float, beta: float = 2.6, side: int = SIDE) -> Array:
    """Periodic noise (side, side) of mean 0 and deviation 1; wavelengths up to `longest` cells, amplitudes falling
    with frequency.
    """
    f, g = np.fft.fftfreq(side)[:, None], np.fft.rfftfreq(side)[None]
    r = np.sqrt(f * f + g * g)
    s = rng.normal(size=r.shape) + 1j * rng.normal(size=r.shape)
    s *= (np.maximum(r, 1e-6) + 0.35 / longest) ** (-beta / 2 - 0.5) * np.clip(r * longest * 1.4, 0, 1) ** 2
    h = np.fft.irfft2(s, s=(side, side))
    return ((h - h.mean()) / h.std()).astype(np.float32)


@dataclass
class Noise:
    """The seeded noise that all lands of one world share."""

    broad: Array
    mid: Array
    course: Array
    way: Array
    grove: Array
    tint: Array
    dice: Array
    """(SIDE, SIDE, 4) unit noise: of three kinds of things, and of sizes."""

    @classmethod
    def make(cls, seed: int) -> Noise:
        rng = np.random.default_rng([seed, 71])
        return cls(
            waves(rng, 48, 5.0),
            waves(rng, 14, 4.0),
            waves(rng, 60, 6.0),
            waves(rng, 52, 6.0),
            waves(rng, 14, 2.4),
            waves(rng, 12, 2.0),
            rng.standard_normal((SIDE, SIDE, 4)).astype(np.float32),
        )


def _gradient(x: Array) -> tuple[Array, Array]:
    """Per cell, along columns (x) and rows (y)."""
    across, down = (np.roll(x, -1, 1) - np.roll(x, 1, 1)) / 2, (np.roll(x, -1, 0) - np.roll(x, 1, 0)) / 2
    return across.astype(np.float32), down.astype(np.float32)


def _relief(land: str, n: Noise) -> Array:
    """Ground height in world units; below 0 there is water."""
    b, m = n.broad, n.mid
    if land == "meadow":
        return 9 + 7.5 * b + 1.6 * m
    if land == "desert":
        bend = np.arange(SIDE)[None] * (2 * np.pi * 20 / SIDE) + 1.6 * n.broad + 1.1 * n.mid
        ridge = 1 - np.abs(np.sin(bend / 2 + np.arange(SIDE)[:, None] * (2 * np.pi * 4 / SIDE)))
        return 12 + 5 * b + 7.5 * ridge.astype(np.float32) * ramp(n.course, -1.0, 1.0) + 0.6 * m
    if land == "snow":
        ridge = 1 - np.abs(b)
        return 13 + 11 * b + 16 * ridge * ramp(b, -0.5, 1.0) + 3.5 * m
    if land == "volcanic":
        ridge = 1 - np.abs(n.mid * 0.8 + 0.3 * n.broad)
        return 9 + 9 * b + 10 * ridge * ramp(b, -0.6, 0.9) + 1.8 * m
    if land == "islands":
        # an archipelago: many islands, and a shelf between them
        h = 0.6 + 5 * b + 3 * m
        return np.where(h < 0, 6 * np.expm1(h / 6), h)
    if land == "autumn":
        return 10 + 8.5 * b + 1.8 * m
    if land == "crystal":
        step = np.round((b + 0.25 * m) * 1.6) / 1.6
        return 12 + 6 * b + 7 * step + 1.5 * m
    return 4.0 + 0.5 * b


def _streets(seed: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """City: street field, lot number of each cell (0 to 3 within a lot of two by two, -1 on streets), park mask, lamp
    places.
    """
    rng = np.random.default_rng([seed, 72])
    i, j = np.arange(SIDE), np.arange(SIDE)
    x, y = i % 8, j % 8
    away = np.minimum(
        np.minimum(np.abs(x - 0.5), np.abs(x - 8.5))[None], np.minimum(np.abs(y - 0.5), np.abs(y - 8.5))[:, None]
    )
    street = np.clip(1 - away, -1, 1).astype(np.float32)
    inside = (x >= 2)[None] & (y >= 2)[:, None]
    lot = np.where(inside, ((y - 2) % 2)[:, None] * 2 + ((x - 2) % 2)[None], -1)
    blocks = rng.random((SIDE // 8, SIDE // 8))
    park = blocks[(j // 8)[:, None], (i // 8)[None]] < 0.13
    edge = ((x == 2) | (x == 7))[None] & ((y == 2) | (y == 4) | (y == 6))[:, None]
    edge |= ((y == 2) | (y == 7))[:, None] & ((x == 2) | (x == 4) | (x == 6))[None]
    return street, lot.astype(np.float32), park, edge


def ground(land: str, seed: int, noise: Noise | None = None) -> Array:
    """(CHANNELS, SIDE, SIDE) cells of a land."""
    n = noise or Noise.make(seed)
    out = np.zeros((CHANNELS, SIDE, SIDE), np.float32)
    low, high, steep, shore = (np.array(c, np.float32) / 127.5 - 1 for c in PALETTE[land])
    h = _relief(land, n).astype(np.float32)
    out[WAY], out[COURSE] = n.way, (n.course - 0.4 if land in RIVERS else 0)
    street = park = lamps = lot = None
    if land == "city":
        street, lot, park, lamps = _streets(seed)
        out[WAY] = street
    else:
        # roads lie level across
        flat = np.stack([np.roll(h, s, a) for a in (0, 1) for s in (-1, 0, 1)]).mean(0)
        h = h + (flat - h) * ramp(1 - distance(even(n.way)) / ROAD_WIDTH, -1.0, 0.3)
    out[HEIGHT] = h / HEIGHT_SCALE
    h, path = shape_of(out, land_index(land))
    beside = np.full((SIDE, SIDE), 9, np.float32) if land in ("volcanic", "city") else distance(even(n.way))
    gx, gy = _gradient(h)
    slope = np.hypot(gx, gy) / cells.CELL
    k = ramp(h + 5 * n.tint, 2, 30)[None]
    colour = low[:, None, None] * (1 - k) + high[:, None, None] * k
    cliff = ramp(slope + 0.06 * n.tint, 0.55, 0.9)[None]
    colour = colour * (1 - cliff) + steep[:, None, None] * cliff
    beach = (ramp(-h, -2.6, -1.0) if land == "islands" else 0.8 * ramp(-h, -1.2, -0.2))[None]
    colour = colour * (1 - beach) + shore[:, None, None] * beach
    colour = colour + 0.09 * n.tint[None]
    if park is not None:
        pave = np.where(park[None], colour, np.float32(0.18) + 0.05 * n.tint[None])
        colour = pave
    elif land in TRACKS:
        road = ramp(path, -0.25, 0.35)[None]
        track = np.array(TRACKS[land], np.float32)[:, None, None] / 127.5 - 1
        colour = colour * (1 - road) + track * road
    out[COLOUR] = np.clip(colour, -1, 1)
    _things(land, n, h, slope, path, beside, lot, park, lamps, out)
    return out


def _things(land, n, h, slope, path, beside, lot, park, lamps, out) -> None:  # type: ignore[no-untyped-def]
    """What stands on the cells, put into `out`."""
    chance = np.zeros((3, SIDE, SIDE), np.float32)
    dry, free = h > 0.8, path < -0.35
    size = 0.55 * n.dice[..., 3]
    if land == "city":
        district = ramp(n.grove, -1.2, 1.6)
        chance[0] = np.where((lot == 0) & ~park, 0.87, 0)
        chance[1] = np.where(lamps & (lot > 0), 0.7, 0)
        chance[2] = np.where(park & (lot >= 0), 0.4, np.where(lamps & (lot > 0), 0.2, 0))
        size = 1.5 * district - 0.9 + 0.3 * n.dice[..., 3]
    else:
        plants = {
            "meadow": 0.2,
            "desert": 0.1,
            "snow": 0.26,
            "volcanic": 0.13,
            "islands": 0.26,
            "autumn": 0.42,
            "crystal": 0.2,
        }[land]
        rocks = {
            "meadow": 0.02,
            "desert": 0.035,
            "snow": 0.03,
            "volcanic": 0.07,
            "islands": 0.03,
            "autumn": 0.02,
            "crystal": 0.09,
        }[land]
        built = {
            "meadow": 0.3,
            "desert": 0.16,
            "snow": 0.26,
            "islands": 0.3,
            "autumn": 0.26,
            "crystal": 0.14,
            "volcanic": 0,
        }[land]
        grove = ramp(n.grove, -0.6, 1.3)
        steep = 1 - ramp(slope, 0.6, 0.85)
        chance[0] = plants * (0.12 + 1.9 * grove) * steep * (dry & free)
        if land == "islands":
            chance[0] *= 1 - ramp(h, 7, 11)
        chance[2] = rocks * (dry & free) if land != "volcanic" else rocks * (free & (h > 0.2))
        if land == "volcanic":
            chance[1] = 0.03 * (0.3 + 1.5 * ramp(h, 8, 22)) * dry
        else:
            near = (beside > 1.1) & (beside < 2.6)
            chance[1] = built * ramp(n.tint, -0.6, 0.6) * (dry & near & (slope < 0.35))
    out[KIND] = np.clip(n.dice[..., :3].transpose(2, 0, 1) + _probit(chance), -4, 4)
    out[SIZE] = np.clip(size, -1, 1)


def _probit(p: Array) -> Array:
    """What must be added to unit noise so that it is above 0 with these chances."""
    grid = np.linspace(-3.2, 3.2, 1281)
    below = np.cumsum(np.exp(-(grid**2) / 2))
    return np.interp(p, below / below[-1], grid).astype(np.float32)


def land_index(land: str) -> int:
    return LANDS.index(land)
