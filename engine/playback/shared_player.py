"""The one place where the window, the engine thread and the decode worker meet over frames: a player behind a lock."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from engine.playback.player import Frame, PlaybackEvent, PlaybackEventKind, Player, Samples

Listener = Callable[[Sequence[PlaybackEvent], int], None]


class SharedPlayer:
    """Thread-safe."""

    def __init__(self, fps: float, rate: int = 0, listener: Listener | None = None) -> None:
        """fps: frames a second. rate: samples a second of the sound, 0 without. listener: called, without the lock, from the
        thread that advances the player, with everything that it did and the epoch that it was in."""
        self.fps, self.rate = fps, rate
        self._listener = listener
        self.epoch = 0
        """Rises when a world is left: what was played before that is of no interest any more."""
        self.total_shown = 0
        """Frames shown, over all worlds."""
        self.total_stall = 0.0
        """Seconds of the stalls that are over, over all worlds."""
        self.total_stalls = 0
        """Stalls, over all worlds."""
        self._lock = threading.Lock()
        self._player = Player(fps, rate)

    def advance(self, now: float) -> list[PlaybackEvent]:
        """Everything that became due up to `now`; call it often, from one thread."""
        return self.advance_in(now)[0]

    def advance_in(self, now: float) -> tuple[list[PlaybackEvent], int]:
        """`advance`, with the epoch in which all of it happened."""
        with self._lock:
            before = self._player.stall_seconds, self._player.stalls
            played = self._player.advance(now)
            self.total_shown += sum(p.what is PlaybackEventKind.FRAME for p in played)
            self.total_stall += self._player.stall_seconds - before[0]
            self.total_stalls += self._player.stalls - before[1]
            epoch = self.epoch
        if played and self._listener is not None:
            self._listener(played, epoch)
        return played, epoch

    def put(self, position: int, start: int, frames: list[Frame], sound: Samples | None = None) -> bool:
        """Gives a group's frames and sound; see Player.put."""
        with self._lock:
            return self._player.put(position, start, frames, sound)

    def sound(self, first: int, n: int) -> tuple[Samples, int]:
        """See Player.sound. From the sound device's thread."""
        with self._lock:
            return self._player.sound(first, n)

    def sample_due(self, at: float) -> int | None:
        """See Player.sample_due."""
        with self._lock:
            return self._player.sample_due(at)

    def drop(self, first: int) -> None:
        """Forgets groups from this position on: they were revoked."""
        with self._lock:
            self._player.drop(first)

    @property
    def place(self) -> tuple[int, int, int]:
        """The epoch, and the position and media frame that come next in it."""
        with self._lock:
            return self.epoch, self._player.next_position, self._player.shown

    def group(self, position: int, epoch: int) -> tuple[list[Frame], Samples | None] | None:
        """See Player.group; None too when that epoch is over."""
        with self._lock:
            return self._player.group(position) if epoch == self.epoch else None

    def begin_at(self, at: float) -> None:
        """A world that has not started does not start before this time, seconds."""
        with self._lock:
            self._player.begins_at = at

    def hurry(self, seconds: float) -> None:
        """See Player.hurry."""
        with self._lock:
            self._player.hurry(seconds)

    def restart(self, position: int = 0, frame: int = 0, epoch: int | None = None) -> int:
        """A new world, or another way on from a position and media frame: nothing is shown any more but the last frame. Returns
        the first position that was not shown of the world that is left. epoch: of the new world; None: the next one."""
        with self._lock:
            self.epoch = self.epoch + 1 if epoch is None else epoch
            began = self._player.next_position
            image, paused = self._player.image, self._player.paused
            self._player = Player(self.fps, self.rate, frame, image=image, next_position=position)
            if paused:
                self._player.pause(0.0)
            return began

    def pause(self, now: float) -> None:
        """Holds the clock and the picture. now: seconds, as in all of these."""
        with self._lock:
            self._player.pause(now)

    def resume(self, now: float) -> None:
        """Goes on; deadlines are later by the pause."""
        with self._lock:
            self._player.resume(now)

    @property
    def image(self) -> Frame | None:
        """The frame on show."""
        return self._player.image

    @property
    def paused(self) -> bool:
        """Whether a person holds it."""
        return self._player.paused

    @property
    def stalled(self) -> bool:
        """Whether the next frame is late."""
        return self._player.stalled

    @property
    def next_position(self) -> int:
        """The first group of which no frame was shown."""
        return self._player.next_position

    @property
    def shown(self) -> int:
        """Frames shown of this world."""
        return self._player.shown

    def has(self, position: int) -> bool:
        """Whether a group's frames are there."""
        with self._lock:
            return self._player.has(position)

    def media_time(self, now: float) -> float:
        """Seconds of media played."""
        with self._lock:
            return self._player.media_time(now)

    def due(self, frame: int) -> float | None:
        """When a media frame is due, seconds; None while that is held or not started."""
        with self._lock:
            return self._player.due(frame)

    def next_due(self) -> float | None:
        """When `advance` has something to do next, seconds; None while held."""
        with self._lock:
            return self._player.next_due()

    def stall_seconds(self, now: float) -> float:
        """All stalls so far, the one in progress included."""
        with self._lock:
            return self.total_stall + self._player.stalled_for(now)

    def stalled_for(self, now: float) -> float:
        """See `Player.stalled_for`."""
        with self._lock:
            return self._player.stalled_for(now)
