"""Things that stand on the ground: how large they are, and what lies at one's feet. How they look is learned."""

from __future__ import annotations

from dataclasses import dataclass

VARIANTS = 4
"""Looks of each thing."""


@dataclass(frozen=True)
class Shape:
    """high: least and greatest height in world units; wide: width over height; glow: of emitted light by night; sunk:
    share of the height that is below the ground.
    """

    high: tuple[float, float]
    wide: float
    glow: float = 0.0
    sunk: float = 0.02
    trunk: float = 1.8
    """World units from its middle in which nobody can stand."""


SHAPES: dict[str, Shape] = {
    "broadleaf": Shape((10, 17), 0.85),
    "maple": Shape((10, 17), 0.85),
    "fir": Shape((9, 19), 0.5, trunk=3.0),
    "palm": Shape((10, 15), 0.8),
    "cactus": Shape((4, 8), 0.6, trunk=2.0),
    "deadtree": Shape((7, 12), 0.8),
    "streettree": Shape((6, 9), 0.75),
    "rock": Shape((1.6, 4.5), 1.5, sunk=0.12, trunk=2.4),
    "snowrock": Shape((1.8, 5), 1.5, sunk=0.12, trunk=2.4),
    "lavarock": Shape((1.8, 5), 1.4, 0.5, 0.12, 2.4),
    "mesa": Shape((4, 11), 1.5, sunk=0.1, trunk=4.0),
    "spire": Shape((14, 30), 0.5, 0.25, 0.05, 4.5),
    "crystal": Shape((6, 17), 0.55, 0.75, 0.05, 2.0),
    "obelisk": Shape((12, 20), 0.3, 0.6, 0.03, 3.5),
    "mushroom": Shape((4, 9), 0.9, 0.7, 0.03, 3.0),
    "lamp": Shape((6.2, 7), 0.28, 1.0, 0.0, 0.9),
    "grass": Shape((0.5, 1.1), 1.3, sunk=0.05, trunk=0),
    "flower": Shape((0.6, 1.1), 1.0, sunk=0.05, trunk=0),
    "pebble": Shape((0.25, 0.6), 1.6, sunk=0.2, trunk=0),
    "shard": Shape((0.5, 1.3), 0.8, 0.7, 0.05, 0),
    "drygrass": Shape((0.6, 1.2), 1.2, sunk=0.05, trunk=0),
    "leaves": Shape((0.25, 0.5), 2.2, sunk=0.1, trunk=0),
    "ember": Shape((0.25, 0.5), 1.6, 0.9, 0.2, 0),
    "snowtuft": Shape((0.4, 0.9), 1.4, sunk=0.1, trunk=0),
}
NAMES = tuple(SHAPES)
UNDERFOOT: dict[str, tuple[tuple[str, float], ...]] = {
    "meadow": (("grass", 0.5), ("flower", 0.12), ("pebble", 0.03)),
    "desert": (("drygrass", 0.08), ("pebble", 0.1)),
    "snow": (("snowtuft", 0.14), ("pebble", 0.05)),
    "volcanic": (("pebble", 0.14), ("ember", 0.1)),
    "islands": (("grass", 0.35), ("flower", 0.05), ("pebble", 0.05)),
    "autumn": (("drygrass", 0.3), ("leaves", 0.35)),
    "crystal": (("shard", 0.16), ("pebble", 0.08)),
    "city": (),
}
"""What lies at one's feet, and the share of its places."""
