"""Training pictures of things, painted by code: trees, rocks, crystals, lamps, and tufts at one's feet."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.models.pocket2.things import NAMES, VARIANTS

Array = NDArray[np.float32]
SIZE = 128
"""Texels a side of a painting at full size; there are halves of it down to 8."""


class Canvas:
    """Colour (s, s, 3), cover (s, s), side (s, s): -1 faces left, 1 faces right; and glow (s, s)."""

    def __init__(self, rng: np.random.Generator) -> None:
        s = SIZE * 2
        self.rng = rng
        self.y, self.x = np.mgrid[:s, :s].astype(np.float32)
        self.x, self.y = (self.x + 0.5) / s, 1 - (self.y + 0.5) / s  # y up from the foot
        self.colour = np.zeros((s, s, 3), np.float32)
        self.cover, self.side, self.glow = (np.zeros((s, s), np.float32) for _ in range(3))

    def put(
        self, inside: NDArray[np.bool_], colour: tuple[float, ...] | Array, side: float | Array = 0.0, glow: float = 0.0
    ) -> None:
        self.colour[inside] = np.broadcast_to(np.asarray(colour, np.float32), self.colour.shape)[inside]
        self.cover[inside] = 1
        self.side[inside] = np.broadcast_to(np.asarray(side, np.float32), self.side.shape)[inside]
        self.glow[inside] = glow

    def limb(self, x0: float, y0: float, x1: float, y1: float, w0: float, w1: float, colour: tuple[float, ...]) -> None:
        """A tapering bar."""
        dx, dy = x1 - x0, y1 - y0
        t = np.clip(((self.x - x0) * dx + (self.y - y0) * dy) / (dx * dx + dy * dy + 1e-9), 0, 1)
        px, py = self.x - x0 - t * dx, self.y - y0 - t * dy
        w = w0 + (w1 - w0) * t
        r = np.hypot(px, py) / w
        side = np.clip((self.x - x0 - t * dx) / w, -1, 1)
        grain = 0.85 + 0.3 * ((np.sin(self.y * 160 + self.x * 40) > 0.2) * 0.5)
        self.put(r < 1, np.asarray(colour, np.float32) * grain[..., None], side)

    def dab(
        self,
        x: float,
        y: float,
        rx: float,
        ry: float,
        colour: tuple[float, ...] | Array,
        side: float,
        tilt: float = 0.0,
        glow: float = 0.0,
    ) -> None:
        """An ellipse."""
        s = self.x.shape[0]
        m = max(rx, ry) + 0.01
        a, b = int(max(0, (x - m) * s)), int(min(s, (x + m) * s + 1))
        c, d = int(max(0, (1 - y - m) * s)), int(min(s, (1 - y + m) * s + 1))
        if a >= b or c >= d:
            return
        part = np.s_[c:d, a:b]
        u, v = self.x[part] - x, self.y[part] - y
        cs, sn = np.cos(tilt), np.sin(tilt)
        inside = ((u * cs + v * sn) / rx) ** 2 + ((v * cs - u * sn) / ry) ** 2 < 1
        self.colour[part][inside] = colour
        self.cover[part][inside] = 1
        self.side[part][inside] = side
        self.glow[part][inside] = glow

    def levels(self) -> list[Array]:
        """(6, n, n) of colour, cover, side and glow at SIZE, SIZE / 2 ... 8; colour is weighted by cover."""
        x = np.concatenate(
            (
                self.colour * self.cover[..., None],
                self.cover[..., None],
                (self.side * self.cover)[..., None],
                (self.glow * self.cover)[..., None],
            ),
            2,
        )
        out = []
        while x.shape[0] > 8:
            n = x.shape[0] // 2
            x = x.reshape(n, 2, n, 2, 6).mean((1, 3))
            y = x.copy()
            y[..., [0, 1, 2, 4, 5]] /= np.maximum(x[..., 3:4], 1e-3)
            out.append(y.transpose(2, 0, 1).astype(np.float32))
        return out


def _crown(
    c: Canvas,
    tones: list[tuple[float, float, float]],
    low: float,
    high: float,
    wide: float,
    blobs: int = 7,
    leaves: int = 420,
) -> None:
    """A crown of leaves: lobes, each of dabs that are lighter towards the top."""
    rng = c.rng
    lobes = [
        (
            0.5 + wide * rng.uniform(-0.55, 0.55),
            low + (high - low) * (0.25 + 0.55 * rng.random()),
            wide * rng.uniform(0.42, 0.62),
        )
        for _ in range(blobs)
    ]
    lobes.append((0.5, (low + high) / 2 + 0.06, wide * 0.75))
    spots = []
    for x, y, r in lobes:
        for _ in range(leaves // len(lobes)):
            a, q = rng.uniform(0, 2 * np.pi), np.sqrt(rng.random())
            spots.append((x + np.cos(a) * q * r, y + np.sin(a) * q * r * 0.8, np.cos(a) * q, np.sin(a) * q))
    spots.sort(key=lambda p: p[3] + 0.25 * rng.random())
    for x, y, nx, ny in spots:
        tone = np.array(tones[int(rng.integers(len(tones)))], np.float32)
        lift = 0.62 + 0.30 * (ny * 0.5 + 0.5) + 0.28 * (y - low) / (high - low) + rng.uniform(-0.1, 0.1)
        r = rng.uniform(0.018, 0.036)
        c.dab(
            x,
            y,
            r,
            r * rng.uniform(0.6, 0.9),
            tone * lift,
            float(np.clip(nx + (x - 0.5) / wide * 0.6, -1, 1)),
            rng.uniform(-0.6, 0.6),
        )


def _lump(
    c: Canvas,
    tones: tuple[float, float, float],
    facets: int = 7,
    cap: tuple[float, float, float] | None = None,
    crack: float = 0.0,
) -> None:
    """A rock: a polygon of flat faces."""
    rng = c.rng
    n = 9
    a = np.linspace(0, np.pi, n)
    r = rng.uniform(0.75, 1.0, n)
    angle = np.arctan2(c.y / 0.9, (c.x - 0.5) / 0.48)
    edge = np.interp(angle.ravel(), a, r).reshape(angle.shape)
    inside = np.hypot(c.y / 0.9, (c.x - 0.5) / 0.48) < edge
    points = rng.uniform((0.1, 0.0), (0.9, 0.9), (facets, 2))
    d = np.stack([np.hypot(c.x - x, (c.y - y)) for x, y in points])
    near = d.argmin(0)
    two = np.sort(d, 0)[:2]
    side = np.clip((points[near, 0] - 0.5) * 2.2, -1, 1)
    tone = (
        np.array(tones, np.float32)
        * (0.72 + 0.5 * points[near, 1] + 0.12 * rng.standard_normal(facets)[near])[..., None]
    )
    c.put(inside, tone, side)
    if cap is not None:
        c.put(inside & (c.y > 0.52 + 0.1 * np.sin(c.x * 17)), cap, side)
    if crack:
        line = inside & (two[1] - two[0] < 0.025)
        c.put(line, (1.0, 0.42, 0.1), 0, crack)


def paint(name: str, variant: int) -> list[Array]:
    """A thing's painting at all its sizes."""
    rng = np.random.default_rng([NAMES.index(name), variant, 61])
    c = Canvas(rng)
    bark = (0.36, 0.26, 0.18)
    if name in ("broadleaf", "maple", "streettree"):
        tones = {
            "broadleaf": [(0.26, 0.52, 0.20), (0.34, 0.60, 0.22), (0.42, 0.64, 0.26)],
            "streettree": [(0.24, 0.46, 0.22), (0.32, 0.54, 0.24)],
            "maple": [
                [(0.86, 0.36, 0.12), (0.92, 0.5, 0.14), (0.76, 0.26, 0.1)],
                [(0.92, 0.62, 0.16), (0.95, 0.72, 0.22)],
                [(0.72, 0.2, 0.14), (0.82, 0.3, 0.12)],
                [(0.84, 0.5, 0.2), (0.7, 0.56, 0.22)],
            ][variant % 4],
        }[name]
        c.limb(0.5, 0, 0.5 + rng.uniform(-0.03, 0.03), 0.5, 0.045, 0.03, bark)
        for s in (-1, 1):
            c.limb(0.5, 0.3, 0.5 + s * rng.uniform(0.12, 0.2), 0.55, 0.02, 0.012, bark)
        _crown(c, tones, 0.40, 0.97, 0.40)  # type: ignore[arg-type]
    elif name == "fir":
        c.limb(0.5, 0, 0.5, 0.3, 0.05, 0.04, (0.3, 0.22, 0.17))
        for k in range(11):
            y = 0.1 + 0.82 * k / 11
            w = 0.44 * (1 - k / 11.5) * rng.uniform(0.9, 1.08)
            high = 0.19
            t = (c.y - y) / high
            inside = (
                (t > -0.12 - 0.16 * np.abs(np.sin(c.x * 60 + k)))
                & (t < 1)
                & (np.abs(c.x - 0.5) < w * (1 - np.clip(t, 0, 1)) + 0.004)
            )
            tone = np.array((0.16, 0.36, 0.27), np.float32) * (0.7 + 0.55 * np.clip(t, 0, 1) + 0.02 * k)[..., None]
            c.put(inside, tone, np.clip((c.x - 0.5) / max(w, 0.02), -1, 1))
            for _ in range(int(rng.integers(2, 6))):
                u, level = rng.uniform(-0.75, 0.75), rng.uniform(0.08, 0.5)
                x = 0.5 + u * w * (1 - level)
                c.dab(x, y + high * level, rng.uniform(0.025, 0.05), rng.uniform(0.008, 0.016), (0.93, 0.96, 1.0), u)
    elif name == "palm":
        bend = rng.uniform(-0.14, 0.14)
        for k in range(12):
            t, u = k / 12, (k + 1) / 12
            c.limb(
                0.5 + bend * t * t,
                0.72 * t,
                0.5 + bend * u * u,
                0.72 * u,
                0.034 - 0.012 * t,
                0.03 - 0.012 * t,
                (0.5, 0.38, 0.26) if k % 2 else (0.44, 0.33, 0.22),
            )
        x0, y0 = 0.5 + bend, 0.73
        for k, a in enumerate(np.linspace(-0.5, np.pi + 0.5, 11)):
            tone = np.array((0.2, 0.5, 0.22), np.float32) * (0.7 + 0.5 * np.sin(np.clip(a, 0, np.pi)) + 0.1 * (k % 2))
            reach = rng.uniform(0.34, 0.44)
            for t in np.linspace(0, 1, 26):
                x, y = x0 + np.cos(a) * reach * t, y0 + np.sin(a) * 0.26 * t - 0.28 * t * t + 0.08 * t
                c.dab(x, y, 0.012 + 0.02 * (1 - t), 0.035 * (1 - 0.6 * t), tone, float(np.cos(a)))
        for _ in range(3):
            c.dab(x0 + rng.uniform(-0.04, 0.04), y0 - 0.03, 0.022, 0.022, (0.42, 0.27, 0.14), 0.3)
    elif name == "cactus":
        green = (0.34, 0.52, 0.26)
        c.limb(0.5, 0, 0.5, 0.92, 0.085, 0.08, green)
        for s, h in ((-1, rng.uniform(0.3, 0.5)), (1, rng.uniform(0.35, 0.6))):
            if rng.random() < 0.85:
                c.limb(0.5, h, 0.5 + s * 0.27, h, 0.05, 0.05, green)
                c.limb(0.5 + s * 0.27, h, 0.5 + s * 0.27, h + rng.uniform(0.2, 0.32), 0.055, 0.055, green)
        ribs = (np.sin(c.x * 150) > 0.55) & (c.cover > 0)
        c.colour[ribs] *= 0.78
    elif name == "deadtree":

        def branch(x: float, y: float, a: float, length: float, w: float, depth: int) -> None:
            x1, y1 = x + np.cos(a) * length, y + np.sin(a) * length
            c.limb(x, y, x1, y1, w, w * 0.65, (0.2, 0.16, 0.15))
            if depth:
                for _ in range(2 if depth < 3 else 3):
                    branch(x1, y1, a + rng.uniform(-0.75, 0.75), length * rng.uniform(0.6, 0.8), w * 0.6, depth - 1)

        branch(0.5, 0, np.pi / 2 + rng.uniform(-0.1, 0.1), 0.34, 0.04, 4)
    elif name in ("rock", "pebble", "snowrock", "lavarock", "mesa"):
        tone = {
            "rock": (0.56, 0.53, 0.49),
            "pebble": (0.52, 0.48, 0.44),
            "snowrock": (0.48, 0.51, 0.57),
            "lavarock": (0.22, 0.19, 0.2),
            "mesa": (0.74, 0.46, 0.29),
        }[name]
        _lump(c, tone, 9, (0.95, 0.97, 1.0) if name == "snowrock" else None, 0.9 if name == "lavarock" else 0)
        if name == "mesa":
            band = (c.cover > 0) & (np.sin(c.y * 42 + 1.5 * np.sin(c.x * 9)) > 0.3)
            c.colour[band] *= 0.84
    elif name == "spire":
        w = 0.44 * (1 - c.y) ** 1.4 + 0.03 + 0.02 * np.sin(c.y * 40)
        inside = (np.abs(c.x - 0.5 - 0.03 * np.sin(c.y * 9)) < w) & (c.y < 0.97)
        shade = 0.8 + 0.4 * (np.sin(c.x * 34 + c.y * 12) > 0)
        c.put(inside, np.array((0.24, 0.2, 0.22), np.float32) * shade[..., None], np.clip((c.x - 0.5) / w, -1, 1))
        c.put(inside & (np.abs(c.x - 0.5 - 0.05 * np.sin(c.y * 21)) < 0.012) & (c.y < 0.7), (1.0, 0.42, 0.12), 0, 1.0)
    elif name in ("crystal", "shard"):
        tones = [(0.42, 0.92, 0.94), (0.9, 0.62, 1.0), (0.6, 0.72, 1.0), (0.98, 0.6, 0.82)]
        count = 5 if name == "crystal" else 3
        for k in range(count):
            lean, high, w = (
                rng.uniform(-0.32, 0.32) * (k > 0),
                (0.95 if k == 0 else rng.uniform(0.3, 0.7)),
                rng.uniform(0.09, 0.14),
            )
            tone = np.array(tones[(variant + (k > 1)) % 4], np.float32)
            x0 = 0.5 + (0 if k == 0 else rng.uniform(-0.18, 0.18))
            t = c.y / high
            mid = x0 + lean * c.y
            half = w * np.where(t < 0.78, 0.8 + 0.25 * t, np.clip((1 - t) / 0.22, 0, 1))
            u = (c.x - mid) / np.maximum(half, 1e-4)
            inside = (np.abs(u) < 1) & (t < 1)
            face = np.where(u < -0.25, 0.95, np.where(u < 0.4, 1.12, 0.7))
            c.put(
                inside,
                np.clip(tone * face[..., None] * (0.7 + 0.35 * t[..., None]), 0, 1),
                np.where(u < -0.25, -0.7, np.where(u < 0.4, 0, 0.8)),
                0.8,
            )
    elif name == "obelisk":
        half = np.where(c.y < 0.88, 0.34 - 0.16 * c.y, np.clip((1 - c.y) / 0.12, 0, 1) * 0.2)
        u = (c.x - 0.5) / np.maximum(half, 1e-3)
        c.put(
            np.abs(u) < 1,
            np.where((u < 0.25)[..., None], (0.3, 0.24, 0.42), (0.2, 0.15, 0.3)),
            np.where(u < 0.25, -0.5, 0.8),
        )
        mark = (np.abs(u) < 0.7) & (np.sin(c.y * 58 + variant) > 0.82) & (c.y < 0.8)
        c.put(mark, (0.45, 1.0, 0.92), 0, 1.0)
    elif name == "mushroom":
        c.limb(0.5, 0, 0.5 + rng.uniform(-0.05, 0.05), 0.6, 0.07, 0.05, (0.86, 0.82, 0.9))
        tone = np.array(
            [(0.3, 0.82, 0.9), (0.92, 0.42, 0.76), (0.64, 0.5, 0.96), (0.98, 0.66, 0.5)][variant % 4], np.float32
        )
        v = (c.y - 0.55) / 0.38
        inside = (v > 0) & (((c.x - 0.5) / 0.45) ** 2 + v**2 < 1)
        c.put(inside, tone * (0.75 + 0.4 * v[..., None]), np.clip((c.x - 0.5) * 2, -1, 1), 0.45)
        for _ in range(9):
            x, y = 0.5 + rng.uniform(-0.33, 0.33), 0.6 + rng.uniform(0.02, 0.26)
            if ((x - 0.5) / 0.4) ** 2 + ((y - 0.55) / 0.34) ** 2 < 0.9:
                c.dab(x, y, 0.03, 0.024, (1, 1, 0.92), 0, glow=0.9)
    elif name == "lamp":
        c.limb(0.5, 0, 0.5, 0.86, 0.045, 0.03, (0.2, 0.21, 0.24))
        c.limb(0.42, 0.0, 0.58, 0.0, 0.05, 0.05, (0.2, 0.21, 0.24))
        c.dab(0.5, 0.9, 0.16, 0.055, (1.0, 0.93, 0.72), 0, glow=1.0)
        c.limb(0.36, 0.96, 0.64, 0.96, 0.02, 0.02, (0.2, 0.21, 0.24))
    elif name in ("grass", "drygrass", "flower", "snowtuft"):
        tone = {
            "grass": (0.36, 0.58, 0.22),
            "flower": (0.34, 0.56, 0.22),
            "drygrass": (0.7, 0.56, 0.28),
            "snowtuft": (0.62, 0.66, 0.62),
        }[name]
        for _ in range(15 if name != "flower" else 9):
            x = 0.5 + rng.uniform(-0.28, 0.28)
            t = np.array(tone, np.float32) * rng.uniform(0.75, 1.25)
            c.limb(x, 0, x + rng.uniform(-0.2, 0.2), rng.uniform(0.5, 0.95), 0.022, 0.004, tuple(t))
        if name == "flower":
            bloom = [(0.98, 0.86, 0.3), (0.95, 0.95, 0.98), (0.9, 0.36, 0.42), (0.72, 0.5, 0.92)][variant % 4]
            for _ in range(6):
                c.dab(0.5 + rng.uniform(-0.3, 0.3), rng.uniform(0.5, 0.92), 0.06, 0.06, bloom, 0)
    elif name == "leaves":
        for _ in range(40):
            t = [(0.86, 0.4, 0.12), (0.9, 0.6, 0.18), (0.66, 0.24, 0.12)][int(rng.integers(3))]
            c.dab(
                0.5 + rng.uniform(-0.45, 0.45),
                rng.uniform(0.02, 0.6) ** 1.5,
                0.05,
                0.06,
                np.array(t, np.float32) * np.float32(rng.uniform(0.8, 1.1)),
                0,
            )
    elif name == "ember":
        _lump(c, (0.18, 0.14, 0.14), 6, None, 1.0)
    return c.levels()


class Atlas:
    """All paintings: per size (things * VARIANTS, 6, n, n)."""

    def __init__(self) -> None:
        every = [paint(name, v) for name in NAMES for v in range(VARIANTS)]
        self.levels = [np.stack(x) for x in zip(*every, strict=True)]
