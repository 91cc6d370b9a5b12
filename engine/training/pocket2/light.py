"""What lands, times and weathers do to the colours of training pictures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.models.pocket2.cells import LANDS, TIMES, WEATHERS

Array = NDArray[np.float32]
TIME: dict[str, dict[str, tuple[float, ...]]] = {
    # 0 to 1; sun: colour of direct light, from the moon by night; ambient: of the light from everywhere
    "dawn": dict(
        zenith=(0.42, 0.53, 0.80),
        low=(1.0, 0.78, 0.66),
        sun=(0.92, 0.68, 0.50),
        ambient=(0.50, 0.47, 0.55),
        disc=(1.0, 0.93, 0.78),
        night=(0.12,),
    ),
    "noon": dict(
        zenith=(0.24, 0.50, 0.88),
        low=(0.74, 0.87, 0.97),
        sun=(0.72, 0.68, 0.60),
        ambient=(0.46, 0.50, 0.56),
        disc=(1.0, 1.0, 0.94),
        night=(0.0,),
    ),
    "dusk": dict(
        zenith=(0.30, 0.24, 0.48),
        low=(1.0, 0.56, 0.30),
        sun=(0.88, 0.48, 0.26),
        ambient=(0.42, 0.35, 0.44),
        disc=(1.0, 0.80, 0.50),
        night=(0.55,),
    ),
    "night": dict(
        zenith=(0.08, 0.11, 0.26),
        low=(0.22, 0.30, 0.49),
        sun=(0.26, 0.32, 0.46),
        ambient=(0.27, 0.32, 0.47),
        disc=(0.95, 0.96, 1.0),
        night=(1.0,),
    ),
}
WEATHER: dict[str, tuple[float, float, float]] = {
    "clear": (330.0, 0.55, 0.0),
    "hazy": (130.0, 0.4, 0.5),
    "foggy": (62.0, 0.0, 0.9),
}
"""View in world units, share of clouds, and how grey all is."""
FAR_COLOUR = {
    "meadow": (0.34, 0.5, 0.32),
    "desert": (0.78, 0.58, 0.38),
    "snow": (0.86, 0.9, 0.96),
    "volcanic": (0.26, 0.2, 0.2),
    "islands": (0.3, 0.5, 0.36),
    "autumn": (0.56, 0.38, 0.22),
    "crystal": (0.48, 0.32, 0.62),
    "city": (0.5, 0.52, 0.58),
}
LAMPLIGHT = np.array((1.0, 0.74, 0.42), np.float32)
WATER = {
    "meadow": (0.16, 0.36, 0.48),
    "desert": (0.2, 0.46, 0.5),
    "snow": (0.2, 0.36, 0.5),
    "volcanic": (0.95, 0.36, 0.07),
    "islands": (0.10, 0.50, 0.60),
    "autumn": (0.17, 0.30, 0.40),
    "crystal": (0.14, 0.62, 0.62),
    "city": (0.2, 0.34, 0.46),
}


@dataclass(frozen=True)
class Light:
    """Colours are (3,) in 0 to 1. far: of far hills. night: how much lamps and stars show. view: world units. land:
    (8,) shares.
    """

    zenith: Array
    low: Array
    sun: Array
    ambient: Array
    disc: Array
    haze: Array
    far: Array
    night: float
    view: float
    cloud: float
    grey: float
    land: Array

    @classmethod
    def of(cls, mix: Array) -> Light:
        """mix: (15,) shares of lands, times and weathers."""
        land, time, weather = mix[:8], mix[8:12], mix[12:15]
        p = {k: time.astype(np.float32) @ np.array([TIME[n][k] for n in TIMES], np.float32) for k in TIME["noon"]}
        view = float(np.exp((weather * np.log([WEATHER[n][0] for n in WEATHERS])).sum()))
        cloud, grey = (float(sum(s * WEATHER[n][i] for s, n in zip(weather, WEATHERS, strict=True))) for i in (1, 2))
        mist = 0.45 * p["low"] + 0.3 * p["ambient"] + 0.25 * p["low"].mean()
        fire = float(land[LANDS.index("volcanic")])
        glow = np.array((0.30, 0.10, 0.02), np.float32) * fire * (0.4 + 0.6 * float(p["night"][0]))
        low = p["low"] * (1 - 0.35 * fire) + glow
        haze = low * (1 - 0.75 * grey) + mist * 0.75 * grey
        far = land.astype(np.float32) @ np.array([FAR_COLOUR[n] for n in LANDS], np.float32)
        return cls(
            p["zenith"] * (1 - 0.25 * fire),
            low,
            p["sun"] * (1 - 0.75 * grey),
            p["ambient"] + p["sun"] * 0.42 * grey + glow * 0.3,
            p["disc"],
            haze.astype(np.float32),
            far,
            float(p["night"][0]),
            view,
            cloud,
            grey,
            land.astype(np.float32),
        )
