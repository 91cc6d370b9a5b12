"""The pocket world's sound: wind, water, leaves, crickets, steps and more, synthesised group by group.

Not learned, unlike the pictures. A group's sound is a function of its own state and of media time alone: steady sounds are loops of
filtered noise read by the absolute sample, their strengths go linearly from those of the group before to the group's own, and what
rings at a group's end is rung out by the next one. So a suffix is revoked with its sound, and joins have no click.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.models.pocket.camera import FPS, FRAMES_PER_GROUP
from engine.models.pocket.network import ATTRIBUTES
from engine.playback.player import Samples, sample_at

RATE = 48_000
LOOP_SECONDS = 4
MIX = sum(ATTRIBUTES)
"""Strengths of the lands, times and weathers."""
TURN = 0.3
"""Share of the way to a new land that a group goes."""
STRIDE = 3.2
"""World units between two steps."""
RING_SECONDS = 0.24
"""How long an event is heard; no longer than a group."""
LAYERS: dict[str, tuple[float, float, float, float]] = {
    "wind": (60, 520, 0.11, 1.6),
    "leaves": (1400, 6500, 0.17, 0.6),
    "water": (220, 2600, 0.19, 1.0),
    "fire": (24, 150, 0.31, 1.4),
    "town": (70, 420, 0.07, 1.2),
    "grain": (2500, 9000, 0.23, 0.5),
}
"""Of filtered noise: from and to (Hz), speed of its swell (Hz), how much it falls with the frequency."""
TABLE: dict[str, tuple[float, ...]] = {
    # meadow, desert, snow, volcanic, islands, autumn, crystal, city
    "wind": (0.35, 0.55, 0.8, 0.45, 0.4, 0.4, 0.5, 0.22),
    "leaves": (0.3, 0.0, 0.12, 0.0, 0.2, 0.55, 0.0, 0.06),
    "water": (0.25, 0.0, 0.15, 0.0, 0.9, 0.2, 0.3, 0.0),
    "fire": (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0),
    "town": (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.9),
    "grain": (0.0, 0.3, 0.1, 0.06, 0.0, 0.0, 0.0, 0.0),
    "glass": (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.6, 0.0),
    "crickets": (0.7, 0.25, 0.0, 0.0, 0.5, 0.6, 0.1, 0.05),
    "birds": (0.9, 0.05, 0.05, 0.0, 0.6, 0.5, 0.0, 0.15),
    "crackle": (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0),
    "chime": (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0),
    "step": (0.5, 0.7, 0.9, 0.8, 0.6, 0.8, 0.6, 0.9),
}
AT_TIME: dict[str, tuple[float, float, float, float]] = {
    # dawn, noon, dusk, night
    "crickets": (0.0, 0.0, 0.5, 1.0),
    "birds": (1.0, 0.6, 0.25, 0.0),
    "town": (0.7, 1.0, 0.9, 0.45),
}
IN_WEATHER: dict[str, tuple[float, float, float]] = {
    # clear, hazy, foggy
    "wind": (1.0, 0.8, 0.45),
    "leaves": (1.0, 0.7, 0.35),
    "birds": (1.0, 0.7, 0.3),
    "crickets": (1.0, 0.9, 0.6),
}
LOUDNESS = 0.22

Mix = NDArray[np.float32]


@dataclass(frozen=True)
class Hearing:
    """What a group's sound is made of. before, now: (MIX,) strengths at its beginning and end; pace_before, pace: speed over the ground
    then, in world units a frame; way: world units walked before it."""

    before: Mix
    now: Mix
    pace_before: float = 0.0
    pace: float = 0.0
    way: float = 0.0

    def onward(self, aim: Mix, motion: NDArray[np.float32]) -> Hearing:
        """Of the next group, on its way to `aim`, with velocities (4, 5)."""
        now = (self.now + (aim - self.now) * TURN).astype(np.float32)
        speeds = np.hypot(motion[:, 0], motion[:, 1])
        return Hearing(self.now, now, self.pace, float(speeds[-1]), self.way + self.walked)

    def vector(self) -> NDArray[np.float32]:
        """(2 MIX + 3,) for a pipe."""
        return np.concatenate((self.before, self.now, [self.pace_before, self.pace, self.way])).astype(np.float32)

    @classmethod
    def of(cls, vector: NDArray[np.float32]) -> Hearing:
        """The inverse of `vector`."""
        return cls(vector[:MIX], vector[MIX : 2 * MIX], *(float(x) for x in vector[2 * MIX :]))

    @property
    def walked(self) -> float:
        """World units that the group walks."""
        return 0.5 * (self.pace_before + self.pace) * FRAMES_PER_GROUP

    def strengths(self, mix: Mix) -> dict[str, float]:
        """Of every layer and kind of event."""
        land, time, weather = np.split(mix, np.cumsum(ATTRIBUTES)[:-1])
        out = {}
        for name, row in TABLE.items():
            value = float(land @ np.array(row))
            value *= float(time @ np.array(AT_TIME.get(name, (1.0,) * 4)))
            value *= float(weather @ np.array(IN_WEATHER.get(name, (1.0,) * 3)))
            out[name] = value
        return out


def one_of(labels: tuple[int, int, int]) -> Mix:
    """The strengths of one land, time and weather."""
    return np.concatenate([np.eye(n, dtype=np.float32)[i] for i, n in zip(labels, ATTRIBUTES, strict=True)])


QUIET = Hearing(one_of((0, 1, 0)), one_of((0, 1, 0)))
"""What a world begins with when nothing is known of it."""


def aimed(attributes: NDArray[np.float32], before: Mix) -> Mix:
    """Strengths of what a prompt says, (CONDITION,) soft attributes; what it does not say stays as it was."""
    out, i, j = [], 0, 0
    for n in ATTRIBUTES:
        part = np.clip(attributes[i : i + n + 1], 0, None)
        part = part / max(float(part.sum()), 1e-6)
        out.append(part[:n] + part[n] * before[j : j + n])
        i, j = i + n + 1, j + n
    return np.concatenate(out).astype(np.float32)


class Soundscape:
    """Renders groups; holds nothing but its loops."""

    def __init__(self, seed: int = 0) -> None:
        rng = np.random.default_rng([seed, 41])
        self._loops = {name: _noise(rng, *LAYERS[name]) for name in LAYERS}
        t = np.arange(LOOP_SECONDS * RATE) / RATE
        glass = sum(
            np.sin(2 * np.pi * f * t + p) * (0.6 + 0.4 * np.sin(2 * np.pi * s * t + p)) * a
            for f, s, p, a in (
                (262.0, 0.25, 0.0, 0.5),
                (393.0, 0.5, 1.0, 0.4),
                (524.0, 0.75, 2.0, 0.3),
                (786.0, 0.25, 3.0, 0.22),
                (1179.0, 1.0, 4.0, 0.1),
            )
        )
        self._loops["glass"] = np.stack((glass, np.roll(glass, RATE // 3)), 1).astype(np.float32) * 0.35
        pulse = np.clip(np.sin(2 * np.pi * 15 * t), 0, 1) ** 2 * (np.sin(2 * np.pi * 1.25 * t) > 0.1)
        cricket = np.sin(2 * np.pi * 4300 * t) * pulse * 0.2
        self._loops["crickets"] = np.stack((cricket, np.roll(cricket * 0.7, RATE // 5)), 1).astype(np.float32)
        self._burst = _noise(rng, 180, 3000, 0.2, 0.8)[: RATE // 4, 0]
        self._seed = seed

    def render(self, hearing: Hearing, start: int, span: int = FRAMES_PER_GROUP) -> Samples:
        """The group's samples from media frame `start` on: (n, 2), read-only."""
        a, b = sample_at(start, FPS, RATE), sample_at(start + span, FPS, RATE)
        n = b - a
        ramp = np.linspace(0, 1, n, endpoint=False, dtype=np.float32)[:, None]
        old, new = hearing.strengths(hearing.before), hearing.strengths(hearing.now)
        out = np.zeros((n, 2), np.float32)
        index = np.arange(a, b) % (LOOP_SECONDS * RATE)
        for name, loop in self._loops.items():
            u, v = old[name], new[name]
            if name == "wind":
                u, v = u + 0.35 * hearing.pace_before, v + 0.35 * hearing.pace
            if u or v:
                out += loop[index] * (np.float32(u) + np.float32(v - u) * ramp)
        position = start // FRAMES_PER_GROUP
        for back, strengths in ((1, old), (0, new)):
            # of the group before, what rings on; of this one, what begins
            for at, sound in self._events(position - back, strengths, hearing, back):
                _mix_in(out, sound, at - back * n)
        out *= LOUDNESS
        np.tanh(out, out=out)
        out.flags.writeable = False
        return out

    def _events(
        self, position: int, strengths: dict[str, float], hearing: Hearing, back: int
    ) -> list[tuple[int, NDArray[np.float32]]]:
        """Sounds that begin in a group: (sample in it, (n, 2)). The same whether they are asked for by it or by the next one."""
        if position < 0:
            return []
        rng = np.random.default_rng([self._seed, position, 43])
        n = sample_at(FRAMES_PER_GROUP, FPS, RATE)
        out: list[tuple[int, NDArray[np.float32]]] = []
        dice, where, side, tone = rng.random(4), rng.random(4), rng.random(4), rng.random(4)
        if dice[0] < 0.35 * strengths["birds"]:
            out.append(
                (int(where[0] * n * 0.6), _pan(_chirp(2200 + 1800 * tone[0], 1.25 - 0.5 * tone[1]) * 0.5, side[0]))
            )
        if dice[1] < 0.8 * strengths["crackle"]:
            out.append(
                (int(where[1] * n * 0.7), _pan(self._burst[:900] * np.exp(-np.arange(900) / 160) * 1.4, side[1]))
            )
        if dice[2] < 0.3 * strengths["chime"]:
            out.append(
                (int(where[2] * n * 0.3), _pan(_ring(1046.5 * (1, 1.125, 1.25, 1.5)[int(tone[2] * 4)]) * 0.4, side[2]))
            )
        if back == 0:
            first, last = hearing.way / STRIDE, (hearing.way + hearing.walked) / STRIDE
            for k in range(int(np.floor(first)) + 1, int(np.floor(last)) + 1):
                at = int((k - first) / max(last - first, 1e-6) * n * 0.999)
                size = min(3600, n - at)  # a step rings within its group
                step = (
                    self._burst[:size]
                    * np.exp(-np.arange(size) / 700)
                    * np.linspace(1, 0, size)
                    * strengths["step"]
                    * 2.4
                )
                out.append((at, _pan(step.astype(np.float32), 0.4 + 0.2 * (k % 2))))
        return out


def _noise(rng: np.random.Generator, low: float, high: float, swell: float, fall: float) -> NDArray[np.float32]:
    """A stereo loop of noise between two frequencies, which swells and falls a whole number of times in it."""
    n = LOOP_SECONDS * RATE
    f = np.fft.rfftfreq(n, 1 / RATE)
    shape = 1 / (1 + (low / np.maximum(f, 1)) ** 4) / (1 + (f / high) ** 4) / np.maximum(f, 30) ** (fall / 2)
    spectrum = (rng.normal(size=(2, len(f))) + 1j * rng.normal(size=(2, len(f)))) * shape
    x = np.fft.irfft(spectrum, n)
    x /= np.sqrt((x * x).mean()) * 3
    turns = max(1, round(swell * LOOP_SECONDS))
    t = np.arange(n) / n * 2 * np.pi * turns
    return (x * (0.75 + 0.25 * np.sin(np.stack((t, t + 1))))).T.astype(np.float32).copy()


def _chirp(frequency: float, glide: float) -> NDArray[np.float32]:
    n = round(0.16 * RATE)
    t = np.arange(n) / RATE
    f = frequency * glide ** (t / t[-1])
    shape = np.sin(np.pi * np.arange(n) / n) ** 2 * (0.6 + 0.4 * np.sin(2 * np.pi * 22 * t))
    return (np.sin(2 * np.pi * np.cumsum(f) / RATE) * shape).astype(np.float32)


def _ring(frequency: float) -> NDArray[np.float32]:
    n = round(RING_SECONDS * RATE)
    t = np.arange(n) / RATE
    shape = np.exp(-t * 14) * np.minimum(1, t * 400) * np.linspace(1, 0, n)
    return ((np.sin(2 * np.pi * frequency * t) + 0.4 * np.sin(2 * np.pi * 2.76 * frequency * t)) * shape).astype(
        np.float32
    )


def _pan(mono: NDArray[np.float32], side: float) -> NDArray[np.float32]:
    return np.stack((mono * (1 - side), mono * side), 1).astype(np.float32)


def _mix_in(out: NDArray[np.float32], sound: NDArray[np.float32], at: int) -> None:
    """Adds what of a sound that begins at sample `at` lies within `out`."""
    a, b = max(at, 0), min(at + len(sound), len(out))
    if a < b:
        out[a:b] += sound[a - at : b - at]
