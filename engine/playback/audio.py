"""Sound on its way out: what the device plays is read from the screen's committed groups, by the same clock as the pictures.

Nothing here knows of a device. `DeviceClock` makes the device's own clock the engine's, so that sound and picture cannot drift
apart; `SoundReader` answers the device's question "what now?" without a click, whatever playback does.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np

from engine.playback.player import Samples
from engine.playback.shared_player import SharedPlayer

FADE_SECONDS = 0.01
"""Of fades at pauses, stalls and jumps."""
DRIFT_SECONDS = 0.02
"""Sound that is farther than this from the pictures jumps to where it should be."""
LOST_SECONDS = 0.5
"""A device clock that is off by more was interrupted: its time is taken up where it is."""
PULL, PULL_RATE = 0.2, 0.01
"""Of the loop that follows the device: a second, and a second squared."""


class DeviceClock:
    """Seconds, never backwards, at the speed of the sound device where there is one. Thread-safe."""

    def __init__(self, base: Callable[[], float] = time.monotonic) -> None:
        self._base = base
        self._lock = threading.Lock()
        self._at = self._value = base()
        self._slope, self._drift = 1.0, 0.0
        self._offset: float | None = None

    def __call__(self) -> float:
        with self._lock:
            return self._now(self._base())

    def at(self, base: float) -> float:
        """This clock's time at an instant of the base clock near now."""
        with self._lock:
            return self._now(base)

    def _now(self, base: float) -> float:
        return self._value + (base - self._at) * self._slope

    def observe(self, base: float, played: float) -> None:
        """At `base` of the base clock the device has played `played` seconds since it was opened."""
        with self._lock:
            now = self._now(base)
            if self._offset is None or abs(played + self._offset - now) > LOST_SECONDS:
                self._offset = now - played
            error = played + self._offset - now
            gone = max(base - self._at, 0.0)
            self._at, self._value = base, now
            self._drift = min(max(self._drift + PULL_RATE * error * gone, -0.002), 0.002)
            self._slope = 1 + self._drift + min(max(PULL * error, -0.01), 0.01)

    def lose(self) -> None:
        """The device is gone: time goes on by the base clock."""
        with self._lock:
            base = self._base()
            self._at, self._value = base, self._now(base)
            self._slope, self._drift, self._offset = 1.0, 0.0, None


class SoundReader:
    """Reads one screen's sound for one device. Used from the device's thread; `volume` is set from any."""

    def __init__(self, screen: SharedPlayer) -> None:
        self.screen = screen
        self.rate = screen.rate
        self.volume = 1.0
        self.jumps = 0
        self._next: int | None = None
        self._gain = 0.0
        self._fade = max(2, round(FADE_SECONDS * self.rate))

    def pull(self, at: float, n: int) -> Samples:
        """The n samples that the device plays from `at` of the engine's clock on: (n, 2) float32."""
        due = self.screen.sample_due(at)
        out = np.zeros((n, 2), np.float32)
        if due is None:
            self._end(out)
        else:
            if self._next is not None and abs(due - self._next) > DRIFT_SECONDS * self.rate:
                self._end(out)
                self.jumps += 1
            if self._next is None:
                self._next = due
                fade_in = True
            else:
                fade_in = False
            sound, known = self.screen.sound(self._next, n)
            if fade_in:
                m = min(self._fade, n)
                sound[:m] *= np.linspace(0, 1, m, dtype=np.float32)[:, None]
            out += sound
            self._next += n
            if known < n:
                m = min(self._fade, known)
                out[known - m : known] *= np.linspace(1, 0, m, dtype=np.float32)[:, None]
                self._next = None
        gain = np.linspace(self._gain, self.volume, n, dtype=np.float32)[:, None]
        self._gain = self.volume
        out *= gain
        np.clip(out, -1, 1, out=out)
        return out

    def _end(self, out: Samples) -> None:
        """What was playing ends in a short fade."""
        if self._next is None:
            return
        m = min(self._fade, len(out))
        tail, _ = self.screen.sound(self._next, m)
        out[:m] += tail * np.linspace(1, 0, m, dtype=np.float32)[:, None]
        self._next = None
