"""The ground that is known: a persistent map of ground latents.

A ground is a value: writing makes another one that shares all unchanged tiles with it. Each group's state holds the
ground as of that group, so that dropping a group drops what it wrote, exactly, and any group can be decoded at any
time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from engine.models.pocket2.cells import CELL, CHANNELS

TILE = 16
"""Cells a side of a tile."""
LIMIT = 1500
"""Tiles that are kept at most; the farthest go first."""

Array = NDArray[np.float32]
Tile = tuple[Array, NDArray[np.bool_]]
"""Latents (CHANNELS, TILE, TILE) and which cells are known; read-only."""


@dataclass(frozen=True)
class Ground:
    """Known cells by tile. Cell (i, j) covers [i, i + 1) x [j, j + 1) times CELL in world units (x, y)."""

    tiles: Mapping[tuple[int, int], Tile] = field(default_factory=dict)

    def window(self, i: int, j: int, width: int, height: int) -> tuple[Array, NDArray[np.bool_]]:
        """Latents (CHANNELS, height, width) of the cells from (i, j) on, zero where unknown, and which are known."""
        out = np.zeros((CHANNELS, height, width), np.float32)
        known = np.zeros((height, width), bool)
        for tj in range(j // TILE, (j + height - 1) // TILE + 1):
            for ti in range(i // TILE, (i + width - 1) // TILE + 1):
                tile = self.tiles.get((ti, tj))
                if tile is None:
                    continue
                x0, y0 = ti * TILE, tj * TILE
                a, b = max(i, x0), min(i + width, x0 + TILE)
                c, d = max(j, y0), min(j + height, y0 + TILE)
                out[:, c - j : d - j, a - i : b - i] = tile[0][:, c - y0 : d - y0, a - x0 : b - x0]
                known[c - j : d - j, a - i : b - i] = tile[1][c - y0 : d - y0, a - x0 : b - x0]
        return out, known

    def written(self, i: int, j: int, values: Array, where: NDArray[np.bool_], near: tuple[float, float]) -> Ground:
        """With the cells from (i, j) on set where `where` says. values: (CHANNELS, h, w). near: the place around
        which cells are kept.
        """
        tiles = dict(self.tiles)
        height, width = where.shape
        for tj in range(j // TILE, (j + height - 1) // TILE + 1):
            for ti in range(i // TILE, (i + width - 1) // TILE + 1):
                x0, y0 = ti * TILE, tj * TILE
                a, b = max(i, x0), min(i + width, x0 + TILE)
                c, d = max(j, y0), min(j + height, y0 + TILE)
                m = where[c - j : d - j, a - i : b - i]
                if not m.any():
                    continue
                old = tiles.get((ti, tj))
                latents = np.zeros((CHANNELS, TILE, TILE), np.float32) if old is None else old[0].copy()
                known = np.zeros((TILE, TILE), bool) if old is None else old[1].copy()
                part = latents[:, c - y0 : d - y0, a - x0 : b - x0]
                part[:, m] = values[:, c - j : d - j, a - i : b - i][:, m]
                known[c - y0 : d - y0, a - x0 : b - x0] |= m
                latents.flags.writeable = known.flags.writeable = False
                tiles[ti, tj] = (latents, known)
        if len(tiles) > LIMIT:
            x, y = near[0] / CELL / TILE - 0.5, near[1] / CELL / TILE - 0.5
            order = sorted(tiles, key=lambda t: (max(abs(t[0] - x), abs(t[1] - y)), t))
            tiles = {t: tiles[t] for t in order[:LIMIT]}
        return Ground(tiles)

    @property
    def cells(self) -> int:
        """How many are known."""
        return sum(int(known.sum()) for _, known in self.tiles.values())
