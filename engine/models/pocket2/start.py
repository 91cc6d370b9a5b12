"""What a world may begin from: a picture, of which land, time and weather are read, or a place that was saved.

A picture is compared by its colours with what this world looks like: those of its sky, of what is at the horizon and of
the ground, in each land, at each time, in each weather.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.models.interface import ConditionError, Group
from engine.models.pocket2.cells import CHANNELS, LANDS, TIMES
from engine.models.pocket2.fields import window_of
from engine.models.pocket2.ground import Ground

Array = NDArray[np.float32]
SUFFIX = ".place"
MARGIN = 8
"""Cells beyond what is seen that a saved place holds."""
BANDS = ((0.0, 0.3), (0.36, 0.46), (0.68, 1.0))
"""Shares of a picture's height: sky, horizon, ground."""
COLOURS = 6 * len(BANDS)
STRANGE, FLAT = 0.36, 0.03
"""Distance of colours from which on a picture is none of this world's (pictures of other places of it: 0.12, at most 0.34), and
deviation of brightness below which nothing is to be seen on it.
"""


@dataclass(frozen=True)
class Likeness:
    """What a picture shows: indices of land, time and weather."""

    land: int
    time: int
    weather: int


@dataclass(frozen=True)
class Place:
    """A saved place. pose: (5,); lift: above eye height; light: (15,); falling: (2,), how hard rain and snow fall."""

    ground: Ground
    land: int
    pose: Array
    lift: float
    light: Array
    falling: Array


def colours(picture: NDArray[np.uint8]) -> Array:
    """(COLOURS,): brightness, red against green, and blue against yellow of the bands of a picture (h, w, 3), and how much
    each of these varies there.
    """
    h = picture.shape[0]
    out = []
    for a, b in BANDS:
        r, g, blue = picture[int(a * h) : int(b * h)].reshape(-1, 3).astype(np.float32).T / 255
        axes = np.stack((0.6 * (r + g + blue) / 3, r - g, blue - (r + g) / 2))
        out += [*axes.mean(1), *axes.std(1)]
    return np.array(out, np.float32)


def likeness(picture: NDArray[np.uint8], palettes: Tensor) -> Likeness:
    """What a picture looks like most. palettes: (lands, times, weathers, looks, COLOURS). Raises ConditionError."""
    apart = (palettes.float() - torch.from_numpy(colours(picture))).norm(dim=-1).amin(-1)
    if float(apart.min()) > STRANGE or picture.mean(2).std() / 255 < FLAT:
        raise ConditionError(
            "this picture is like none of the places that this world can make: a view over land under a sky can begin it ("
            f"{', '.join(LANDS)}; {', '.join(TIMES)}), or a prompt"
        )
    land, time, weather = np.unravel_index(int(apart.argmin()), apart.shape)
    return Likeness(int(land), int(time), int(weather))


def place_bytes(group: Group) -> bytes:
    """The place where a group ends, as a file's content."""
    from safetensors.numpy import save

    s = group.state
    pose = s.poses[-1]
    i, j, n = window_of(float(pose[0]), float(pose[1]))
    i, j, n = i - MARGIN, j - MARGIN, n + 2 * MARGIN
    cells, known = s.ground.window(i, j, n, n)
    return save(
        {
            "cells": cells,
            "known": known.astype(np.uint8),
            "corner": np.array([i, j], np.int64),
            "pose": np.append(pose, s.lift).astype(np.float32),
            "light": s.light[1].astype(np.float32),
            "falling": s.falling[1].astype(np.float32),
            "land": np.array([s.land], np.int64),
        }
    )


def read_place(file: Path) -> Place:
    """Raises ConditionError."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        t = load_file(str(file))
        cells, known, land = t["cells"], t["known"] > 0, int(t["land"][0])
        (i, j), pose = (int(v) for v in t["corner"]), t["pose"]
        right = cells.shape == (CHANNELS, *known.shape) and pose.shape == (6,) and t["light"].shape == (15,)
        right = right and t["falling"].shape == (2,) and 0 <= land < len(LANDS)
        right = right and all(bool(np.isfinite(t[n]).all()) for n in ("cells", "pose", "light", "falling"))
        if not right:
            raise ValueError("not of this version of Foreland")
    except (SafetensorError, OSError, KeyError, ValueError, IndexError) as e:
        raise ConditionError(f"{file} cannot be read as a saved place ({e})") from e
    x, y = float(pose[0]), float(pose[1])
    ground = Ground().written(i, j, cells.astype(np.float32), known, (x, y))
    return Place(ground, land, pose[:5].astype(np.float32), float(pose[5]), t["light"], t["falling"])
