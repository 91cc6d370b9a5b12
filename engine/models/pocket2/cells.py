"""Ground latents: what one cell of the ground, 8 world units wide, is made of.

A latent is an orthographic RGB-D picture of the ground with one thing standing on each cell at most. Channels are
scaled to about [-1, 1], so that a flow-matching network can sample them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]

CELL = 8.0
"""World units a side."""
HEIGHT = 0
"""Of the ground above the water, world units over HEIGHT_SCALE; below 0 there is water (or lava)."""
COLOUR = slice(1, 4)
"""Of the ground in white light, 2 rgb - 1."""
WAY = 4
"""A smooth field whose zero level is the road, so that a road never ends; in a town, how near a street is (see `shaped`)."""
KIND = slice(5, 8)
"""How strongly a thing of each of the land's kinds is called for: it stands where this is above 0, the strongest
wins. It is a smooth field of density plus unit noise of the cell's own, so that a few steps of flow matching from
noise make crisp decisions.
"""
SIZE = 8
"""Of the thing, in [-1, 1]."""
COURSE = 9
"""A smooth field whose zero level is the middle of the river; unused where `RIVERS` has none."""
CHANNELS = 10
HEIGHT_SCALE = 16.0

LANDS = ("meadow", "desert", "snow", "volcanic", "islands", "autumn", "crystal", "city")
TIMES = ("dawn", "noon", "dusk", "night")
WEATHERS = ("clear", "hazy", "foggy")
KINDS: dict[str, tuple[str, str, str]] = {
    "meadow": ("broadleaf", "house", "rock"),
    "desert": ("cactus", "ruin", "mesa"),
    "snow": ("fir", "hut", "snowrock"),
    "volcanic": ("deadtree", "spire", "lavarock"),
    "islands": ("palm", "cabin", "rock"),
    "autumn": ("maple", "house", "rock"),
    "crystal": ("crystal", "obelisk", "mushroom"),
    "city": ("tower", "lamp", "streettree"),
}
"""What KIND means in each land."""
BUILT = {"house", "hut", "cabin", "ruin", "obelisk"}
"""Kinds that keep a distance from their like."""


RIVERS = {"meadow", "autumn", "snow", "volcanic", "crystal"}
ROADLESS = {"volcanic"}
ROAD_WIDTH, RIVER_WIDTH = 0.5, 1.3
"""Half of it, in cells."""
BED = -2.0
"""Height of a river's bed in world units."""


TRACKS = {
    "meadow": (186, 160, 116),
    "desert": (168, 128, 88),
    "snow": (168, 160, 158),
    "islands": (222, 200, 152),
    "autumn": (150, 122, 90),
    "crystal": (216, 190, 232),
}
"""Colours of roads."""
EDGE = 6
"""Cells around others that say what these are: so far reaches `even`, and a gradient."""
_EVEN = np.exp(-(np.arange(-5, 6) ** 2) / (2 * 2.0**2)).astype(np.float32)
_EVEN /= _EVEN.sum()


def even(field: Array) -> Array:
    """A sampled field (h, w) of cells without what is finer than some cells, so that its zero level is a clean line."""
    h, w = field.shape
    x = np.pad(field, 5, mode="edge")
    x = sum(k * x[n : n + h] for n, k in enumerate(_EVEN))
    return np.asarray(sum(k * x[:, n : n + w] for n, k in enumerate(_EVEN)), np.float32)


def distance(field: Array, texels: int = 1) -> Array:
    """Cells (h, w) to the nearest zero of a smooth field that has so many texels a cell, about."""
    down, across = np.gradient(field)
    return np.abs(field) / np.maximum(np.hypot(across, down) * texels, 0.03)


def ramp(x: Array, low: float, high: float) -> Array:
    """0 below `low`, 1 above `high`, smooth between."""
    t = np.clip((x - low) / (high - low), 0, 1)
    return t * t * (3 - 2 * t)


def shaped(height: Array, way: Array, course: Array, land: int, texels: int = 1) -> tuple[Array, Array]:
    """The ground's height with the river's bed cut into it, in world units, and the road's field: 1 in a road's middle,
    0 at its edge, falling to -1 away from it. height in world units; all (h, w), so many texels a cell.
    """
    name = LANDS[land]
    if name in RIVERS:
        bed = ramp(1 - distance(course, texels) / RIVER_WIDTH, -1.0, 0.4)
        height = height + (np.minimum(height, BED) - height) * bed
    if name == "city":
        return height, way
    if name in ROADLESS:
        return height, np.full_like(height, -1)
    path = np.clip(1 - distance(way, texels) / ROAD_WIDTH, -1, 1)
    # a road ends at the water's edge
    return height, np.clip(np.minimum(path, height - 0.6), -1, 1)


def shape_of(cells: NDArray[np.float32], land: int) -> tuple[Array, Array]:
    """`shaped` of latents (CHANNELS, h, w)."""
    way = cells[WAY] if LANDS[land] == "city" else even(cells[WAY])
    return shaped(cells[HEIGHT] * HEIGHT_SCALE, way, even(cells[COURSE]), land)


def standing(cells: NDArray[np.float32], land: int) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Where something stands, and of which kind, (h, w) each. cells: (CHANNELS, h, w)."""
    g = cells[KIND]
    kind = g.argmax(0)
    height, path = shape_of(cells, land)
    there = (g.max(0) > 0) & (height > 0.3)  # nothing stands in the water
    if LANDS[land] != "city":
        there &= path < -0.3  # nor on a road
    if KINDS[LANDS[land]][1] in BUILT:
        house = np.pad(np.where(there & (kind == 1), g[1], -9), 1, constant_values=-9)
        h, w = there.shape
        around = np.stack(
            [house[1 + j : 1 + j + h, 1 + i : 1 + i + w] for j in (-1, 0, 1) for i in (-1, 0, 1) if i or j]
        ).max(0)
        mine = house[1:-1, 1:-1]
        there &= ~((kind == 1) & (around > mine))
        kept = np.pad(there & (kind == 1), 1)
        beside = kept[:-2, 1:-1] | kept[2:, 1:-1] | kept[1:-1, :-2] | kept[1:-1, 2:]
        there &= ~(beside & (kind != 1))
    return there, kind
