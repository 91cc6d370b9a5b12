"""The player: one media clock, and the frames that are due by it.

Pure: every call is given the time. Media time is counted in frames from the first shown one; a stall holds the last
frame and shifts all later deadlines, and nothing is caught up afterwards. Frames are uint8 RGB arrays that nobody
writes after they were put in.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from numpy.typing import NDArray

Frame = NDArray[np.uint8]
"""(height, width, 3), read-only."""


Samples = NDArray[np.float32]
"""(samples, 2) stereo in [-1, 1], read-only."""


def sample_at(frame: int, fps: float, rate: int) -> int:
    """The sample at which a media frame begins."""
    return int(np.floor(frame * rate / fps + 0.5))


class PlaybackEventKind(Enum):
    STARTED = "started"
    GROUP = "group"
    FRAME = "frame"
    STALLED = "stalled"
    RESUMED = "resumed"


@dataclass(frozen=True, slots=True)
class PlaybackEvent:
    """What the player did. at: the due time (seconds); shown: when it was done, later than due where nobody looked in time;
    frame: media time in frames; position: of the group; sound: of the frame."""

    what: PlaybackEventKind
    at: float
    shown: float = 0.0
    position: int = -1
    frame: int = -1
    image: Frame | None = None
    sound: Samples | None = None


@dataclass(slots=True)
class _Group:
    start: int
    frames: list[Frame]
    sound: Samples | None


@dataclass
class Player:
    """fps: frames a second; rate: samples a second, 0 without sound. The clock starts with the first group and stands while paused or
    stalled."""

    fps: float
    rate: int = 0
    shown: int = 0
    stall_seconds: float = 0.0
    stalls: int = 0
    image: Frame | None = None
    position: int = -1
    next_position: int = 0
    """The first position whose first frame was not shown; with `shown`, where a player begins."""
    begins_at: float = 0.0
    """It does not start before, seconds."""
    _groups: OrderedDict[int, _Group] = field(default_factory=OrderedDict)
    _origin: float | None = None
    _paused: float | None = None
    _stalled: float | None = None

    @property
    def started(self) -> bool:
        return self._origin is not None

    @property
    def paused(self) -> bool:
        return self._paused is not None

    @property
    def stalled(self) -> bool:
        return self._stalled is not None

    def put(self, position: int, start: int, frames: list[Frame], sound: Samples | None = None) -> bool:
        """Gives the frames of a group, which begins at media frame `start`, and the sound from there to its end. False when it
        has begun to play already."""
        if position < self.next_position:
            return False
        self._groups[position] = _Group(start, frames, sound)
        return True

    def sound(self, first: int, n: int) -> tuple[Samples, int]:
        """Samples [first, first + n) of media time, of the groups on show and next, and how many of them are there before the first
        gap; silence is in the gaps."""
        out, known = np.zeros((n, 2), np.float32), 0
        for position in sorted(self._groups):
            group = self._groups[position]
            if group.sound is None or not self.rate:
                continue
            begin = sample_at(group.start, self.fps, self.rate)
            a, b = max(first, begin), min(first + n, begin + len(group.sound))
            if a < b:
                out[a - first : b - first] = group.sound[a - begin : b - begin]
                if a - first <= known:
                    known = b - first
        return out, known

    def sample_due(self, at: float) -> int | None:
        """The sample of media time that is heard at `at`; None while nothing plays."""
        if self._origin is None or self._paused is not None or self._stalled is not None:
            return None
        return round((at - self._origin) * self.rate)

    def _sound_of(self, group: _Group, index: int) -> Samples | None:
        """What is heard during a frame."""
        if group.sound is None or not self.rate:
            return None
        a, b, c = (sample_at(f, self.fps, self.rate) for f in (index, index + 1, group.start))
        return group.sound[a - c : b - c]

    def group(self, position: int) -> tuple[list[Frame], Samples | None] | None:
        """Frames and sound of a group that plays, has just played or waits; None when it is not here."""
        group = self._groups.get(position)
        return None if group is None else (group.frames, group.sound)

    def hurry(self, seconds: float) -> None:
        """What was not shown yet is due so much earlier."""
        if self._origin is not None:
            self._origin -= seconds

    def has(self, position: int) -> bool:
        return position in self._groups

    def drop(self, first: int) -> None:
        """Forgets groups from `first` on: they were revoked."""
        for p in [p for p in self._groups if p >= max(first, self.next_position)]:
            del self._groups[p]

    def media_time(self, now: float) -> float:
        """Seconds of media played at `now`; stands still while held."""
        if self._origin is None:
            return self.shown / self.fps
        if self._paused is not None:
            now = self._paused
        t = (now - self._origin) * self.fps
        return min(t, float(self.shown)) / self.fps

    def due(self, frame: int) -> float | None:
        """The wall time at which a media frame is due, as things stand; None while that is held or not started."""
        if self._origin is None or self._paused is not None or (self._stalled is not None and frame >= self.shown):
            return None
        return self._origin + frame / self.fps

    def pause(self, now: float) -> None:
        if self._paused is None:
            self._paused = now

    def resume(self, now: float) -> None:
        """Goes on; deadlines are later by the pause."""
        if self._paused is not None:
            if self._origin is not None:
                self._origin += now - self._paused
            if self._stalled is not None:
                self._stalled += now - self._paused
            self._paused = None

    def advance(self, now: float) -> list[PlaybackEvent]:
        """Everything that became due up to `now`, in order."""
        out: list[PlaybackEvent] = []
        if self._paused is not None:
            return out
        if self._origin is None:
            if self.next_position not in self._groups or now < self.begins_at:
                return out
            self._origin = now - self.shown / self.fps
            out.append(PlaybackEvent(PlaybackEventKind.STARTED, now, now, self.next_position, self.shown))
        while (due := self._origin + self.shown / self.fps) <= now + 1e-9:
            frame = self._frame(self.shown)
            if frame is None:
                if self._stalled is None:
                    self._stalled = due
                    self.stalls += 1
                    out.append(PlaybackEvent(PlaybackEventKind.STALLED, due, now, self.next_position, self.shown))
                break
            if self._stalled is not None:
                # the frame came late: it is shown now, and everything after it is due later by the stall
                lost = now - self._stalled
                self.stall_seconds += lost
                self._origin += lost
                self._stalled = None
                due = now
                out.append(PlaybackEvent(PlaybackEventKind.RESUMED, now, now, self.next_position, self.shown))
            position, group = frame
            if self.shown == group.start:
                self.next_position = position + 1
                out.append(PlaybackEvent(PlaybackEventKind.GROUP, due, now, position, self.shown))
                for old in [p for p in self._groups if p < position - 1]:
                    del self._groups[old]
            self.position = position
            self.image = group.frames[self.shown - group.start]
            out.append(
                PlaybackEvent(
                    PlaybackEventKind.FRAME,
                    due,
                    now,
                    position,
                    self.shown,
                    self.image,
                    self._sound_of(group, self.shown),
                )
            )
            self.shown += 1
        return out

    def next_due(self) -> float | None:
        """When `advance` has something to do next; None while held."""
        if self._origin is None or self._paused is not None or self._stalled is not None:
            return None
        return self._origin + self.shown / self.fps

    def stalled_for(self, now: float) -> float:
        """Seconds of the stall in progress."""
        if self._stalled is None:
            return 0.0
        return (self._paused if self._paused is not None else now) - self._stalled

    def _frame(self, index: int) -> tuple[int, _Group] | None:
        for position in (self.next_position - 1, self.next_position):
            group = self._groups.get(position)
            if group is not None and group.start <= index < group.start + len(group.frames):
                return position, group
        return None
