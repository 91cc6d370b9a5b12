"""Ground latents: what one cell of the ground, 8 world units wide, is made of.

A latent is an orthographic RGB-D picture of the ground with one thing standing on each cell at most. Channels are
scaled to about [-1, 1], so that a flow-matching network can sample them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

CELL = 8.0
"""World units a side."""
HEIGHT = 0
"""Of the ground above the water, world units over HEIGHT_SCALE; below 0 there is water (or lava)."""
COLOUR = slice(1, 4)
"""Of the ground in white light, 2 rgb - 1."""
PATH = 4
"""Positive on roads and streets, falling to -1 away from them."""
KIND = slice(5, 8)
"""How strongly a thing of each of the land's kinds is called for: it stands where this is above 0, the strongest
wins. It is a smooth field of density plus unit noise of the cell's own, so that a few steps of flow matching from
noise make crisp decisions.
"""
SIZE = 8
"""Of the thing, in [-1, 1]."""
CHANNELS = 9
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


def standing(cells: NDArray[np.float32], land: int) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Where something stands, and of which kind, (h, w) each. cells: (CHANNELS, h, w)."""
    g = cells[KIND]
    kind = g.argmax(0)
    there = (g.max(0) > 0) & (cells[HEIGHT] * HEIGHT_SCALE > 0.3)  # nothing stands in the water
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
