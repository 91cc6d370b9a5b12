"""Rain and snow: streaks and flakes over a finished picture.

Where each is at a time is a function of its number, the time and where one looks: they fall, drift with the wind, and turn
with the world.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from engine.models.pocket2.camera import FOCAL, HEIGHT, WIDTH

Array = NDArray[np.float32]
RAIN, SNOW = range(2)
AROUND = round(2 * np.pi * FOCAL)
"""Columns all round."""
DROPS, FLAKES = 2400, 3000
"""All round, where it falls as hard as it can."""
LENGTHS = (12, 8, 5)
"""Rows of a near, a middling and a far drop in one picture."""


@lru_cache(2)
def _dice(count: int) -> Array:
    """(4, count) of 0 to 1: place around, phase, size, how soon it is there as it begins to fall."""
    return np.random.default_rng([count, 91]).random((4, count), np.float32)


def put(picture: Array, falling: Array, time: float, pose: Array, brightness: float) -> None:
    """Into a picture (HEIGHT, WIDTH, 3) of 0 to 1. falling: (2,), how hard rain and snow fall, 0 to 1; time in seconds;
    pose: (5,); brightness: of drops and flakes, 0 to 1.
    """
    if falling[RAIN] > 0.01:
        around, phase, size, soon = _dice(DROPS)[:, _dice(DROPS)[3] < falling[RAIN]]
        sort = (size * len(LENGTHS)).astype(int)
        fast = np.array((470.0, 380.0, 300.0), np.float32)[sort]
        high = HEIGHT + LENGTHS[0]
        top = (phase * high + time * fast + pose[4]) % high - LENGTHS[0]
        column = _column(around, pose) + 0.12 * top  # the wind
        for n, length in enumerate(LENGTHS):
            mine = sort == n
            rows = top[mine, None] + np.arange(length)
            columns = column[mine, None] + 0.12 * np.arange(length)
            _blend(picture, rows, columns, 0.34 - 0.07 * n, brightness * np.array((0.86, 0.92, 1.0), np.float32))
    if falling[SNOW] > 0.01:
        around, phase, size, soon = _dice(FLAKES)[:, _dice(FLAKES)[3] < falling[SNOW]]
        top = (phase * HEIGHT + time * (26 + 44 * size) + pose[4]) % HEIGHT
        column = _column(around, pose) + 5 * np.sin(time * (0.7 + soon) + 40 * phase)
        white = brightness * np.array((1.0, 1.0, 1.0), np.float32)
        _blend(picture, top, column, 0.85, white)
        near = size > 0.6
        for dy, dx in ((0, 1), (1, 0), (1, 1)):
            _blend(picture, top[near] + dy, column[near] + dx, 0.6, white)


def _column(around: Array, pose: Array) -> Array:
    return (around * AROUND - float(pose[3]) * FOCAL + WIDTH / 2) % AROUND


def _blend(picture: Array, rows: Array, columns: Array, share: float, colour: Array) -> None:
    r, c = np.floor(rows).astype(int).ravel(), np.floor(columns).astype(int).ravel()
    inside = (r >= 0) & (r < HEIGHT) & (c >= 0) & (c < WIDTH)
    at = np.unique(r[inside] * WIDTH + c[inside])
    flat = picture.reshape(-1, 3)
    flat[at] += (colour - flat[at]) * share
