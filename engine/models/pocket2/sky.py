"""The sky's geometry: where sun, stars, clouds and far hills stand. How they look is learned."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.models.pocket2.camera import FOCAL
from engine.models.pocket2.cells import LANDS

Array = NDArray[np.float32]
SKY_ROWS, SKY_COLUMNS = 136, round(2 * np.pi * FOCAL)
"""Of the panorama; row 0 is the horizon, and a column is 1 / FOCAL radians."""
SKY_FEATURES, CLOUD = 9, 1
"""Elevation, cloud, star, nearness to the sun (far and near), disc, two ranges of far hills, a skyline; and which of them the cloud is."""
RISE = (0.13, 0.62, 0.09, 0.34)
"""Elevation of sun or moon at dawn, noon, dusk and night, in radians."""
FAR_HILLS = {
    "meadow": 0.5,
    "desert": 0.35,
    "snow": 1.5,
    "volcanic": 1.2,
    "islands": 0.35,
    "autumn": 0.6,
    "crystal": 1.1,
    "city": 0.0,
}


def direction(mix: Array, azimuth: float) -> tuple[Array, float]:
    """Unit vector towards the sun or moon, and its elevation. mix: (15,) shares of lands, times and weathers."""
    rise = float((mix[8:12] * np.array(RISE, np.float32)).sum())
    c = np.cos(rise)
    return np.array([c * np.cos(azimuth), c * np.sin(azimuth), np.sin(rise)], np.float32), rise


def _periodic(rng: np.random.Generator, rows: int, columns: int, beta: float, stretch: float) -> Array:
    f, g = np.fft.fftfreq(rows)[:, None] * rows * stretch, np.fft.rfftfreq(columns)[None] * columns
    r = np.sqrt(f * f + g * g)
    r[0, 0] = 1
    s = (rng.normal(size=r.shape) + 1j * rng.normal(size=r.shape)) / (r + 3) ** (beta / 2 + 0.5)
    s[0, 0] = 0
    h = np.fft.irfft2(s, s=(rows, columns))
    return (h / h.std()).astype(np.float32)


class Sky:
    """A seeded sky."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng([seed & (2**63 - 1), 53])
        self.azimuth = float(rng.uniform(0, 2 * np.pi))
        self._cloud = _periodic(rng, SKY_ROWS, SKY_COLUMNS, 2.4, 2.2)
        self._star = np.zeros((SKY_ROWS, SKY_COLUMNS), np.float32)
        n = 420
        rows, columns = (rng.random(n) ** 0.8 * (SKY_ROWS - 1)).astype(int), rng.integers(0, SKY_COLUMNS, n)
        self._star[rows, columns] = rng.uniform(0.25, 1.0, n) ** 1.5
        a = np.linspace(0, 2 * np.pi, SKY_COLUMNS, endpoint=False)
        ranges = []
        for first, last, fall in ((2, 60, 0.9), (3, 40, 0.8)):
            h = sum(np.sin(k * a + rng.uniform(0, 6.28)) / k**fall for k in range(first, last))
            ranges.append(((h - h.min()) / (h.max() - h.min())).astype(np.float32))
        self._back, self._hills = ranges
        blocks = np.repeat(rng.random(SKY_COLUMNS // 6 + 1), 6)[:SKY_COLUMNS]
        gaps = np.repeat(rng.random(SKY_COLUMNS // 6 + 1) < 0.75, 6)[:SKY_COLUMNS]
        self._skyline = (blocks**2 * gaps).astype(np.float32)

    def features(self, mix: Array) -> Tensor:
        """(SKY_FEATURES, SKY_ROWS, SKY_COLUMNS)."""
        rows = np.arange(SKY_ROWS, dtype=np.float32)[:, None]
        columns = np.arange(SKY_COLUMNS, dtype=np.float32)[None]
        away = np.abs((columns - self.azimuth * FOCAL + SKY_COLUMNS / 2) % SKY_COLUMNS - SKY_COLUMNS / 2)
        # the disc stands where it can be seen; its light may fall more steeply
        r = np.hypot(away, rows - min(direction(mix, 0.0)[1], 0.44) * FOCAL)
        land = mix[:8]
        high = float(sum(s * FAR_HILLS[n] for s, n in zip(land, LANDS, strict=True)))
        town = float(land[LANDS.index("city")])
        one = np.ones((SKY_ROWS, 1), np.float32)
        hills = [
            np.clip((base + shape * reach * high)[None] - rows, 0, 1) * (high > 0.02)
            for shape, reach, base in ((self._back, 17.0, 1.0), (self._hills, 9.0, 0.0))
        ]
        skyline = np.clip((2 + self._skyline * 30 * town)[None] - rows, 0, 1) * (town > 0.02)
        out = np.stack(
            (
                rows / SKY_ROWS * np.ones_like(r),
                self._cloud,
                self._star,
                np.exp(-r / 60),
                np.exp(-r / 16),
                np.clip(8.5 - r, 0, 1),
                hills[0] * one,
                hills[1] * one,
                skyline * one,
            )
        )
        return torch.from_numpy(out.astype(np.float32))
