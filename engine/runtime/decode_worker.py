"""The decode worker: turns groups into frames on its own thread, in order and just in time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from engine.models.interface import Decoder, Group, MakesSound
from engine.playback.player import Frame, Samples
from engine.playback.shared_player import SharedPlayer

AHEAD = 3
"""Groups past the one on show that are decoded; more would be thrown away at the next revocation."""


@dataclass(frozen=True)
class Decoded:
    """What a group turned into."""

    frames: list[Frame]
    sound: Samples | None

    def each(self) -> Iterator[tuple[Frame, Samples | None]]:
        """Each frame with its part of the sound."""
        for i, frame in enumerate(self.frames):
            yield frame, part(self.sound, i, len(self.frames))


def part(sound: Samples | None, i: int, n: int) -> Samples | None:
    """The i-th of n even parts of a group's sound."""
    return None if sound is None else sound[i * len(sound) // n : (i + 1) * len(sound) // n]


Done = Callable[[Decoded | None, BaseException | None], None]


def decoded(decoder: Decoder, group: Group, start: int) -> Decoded:
    """A group that begins at media frame `start`, in pictures and sound."""
    frames = decoder.decode(group)
    return Decoded(frames, decoder.sound(group, start) if isinstance(decoder, MakesSound) else None)


@dataclass
class _Work:
    group: Group
    start: int
    urgent: bool
    done: Done | None


class DecodeWorker:
    """Thread-safe. A dropped group is never handed to the player, even when its decode was under way."""

    def __init__(
        self, decoder: Decoder, player: SharedPlayer, failed: Callable[[BaseException], None], ahead: int = AHEAD
    ) -> None:
        """failed: called on the worker's thread when a group that nobody waits for could not be decoded."""
        self._decoder = decoder
        self._player = player
        self._failed = failed
        self._ahead = ahead
        self._work: dict[int, _Work] = {}
        self._at = -1
        self._wanted_until = -1
        self._closing = False
        self._resume: list[Group] | None = None
        self._change = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="foreland-decode", daemon=True)
        self._thread.start()

    def submit(self, groups: list[tuple[Group, int]], done: Done | None = None) -> None:
        """Groups in order with the media frames they begin at. done: gets what the first group decodes to instead of the player,
        so that the controller can hear of the call before any of it plays."""
        with self._change:
            for i, (group, start) in enumerate(groups):
                self._work[group.position] = _Work(group, start, i == 0, done if i == 0 else None)
            self._change.notify()

    def cancel_from(self, first: int) -> None:
        """Positions from `first` on will not play."""
        with self._change:
            self._work = {p: w for p, w in self._work.items() if p < first}
            self._wanted_until = min(self._wanted_until, first - 1)
            self._player.drop(first)

    def decode_until(self, position: int) -> None:
        """A call wants the frames up to this position now (they are locked, so they will play)."""
        with self._change:
            self._wanted_until = position
            self._change.notify()

    def resume(self, groups: list[Group]) -> None:
        """The world goes on after the last of these; what was submitted before is cancelled."""
        with self._change:
            self._work.clear()
            self._wanted_until = -1
            self._resume = groups
            self._change.notify()

    def notify(self) -> None:
        """The player went on: more may be decoded."""
        with self._change:
            self._change.notify()

    def close(self) -> None:
        """Stops the thread and waits for it."""
        with self._change:
            self._closing = True
            self._work.clear()
            self._change.notify()
        self._thread.join()

    def _next(self) -> _Work | None:
        if not self._work:
            return None
        p = min(self._work)
        w = self._work[p]
        return w if w.urgent or p <= max(self._player.next_position + self._ahead, self._wanted_until) else None

    def _run(self) -> None:
        while True:
            with self._change:
                while not self._closing and self._next() is None:
                    self._change.wait()
                if self._closing:
                    return
                work = self._next()
                assert work is not None
                resume, self._resume = self._resume, None
            position = work.group.position
            error: BaseException | None = None
            made: Decoded | None = None
            try:
                if resume is not None:
                    self._decoder.resume(resume)
                    self._at = resume[-1].position if resume else -1
                if position != self._at + 1:
                    self._decoder.rewind(position)
                made = decoded(self._decoder, work.group, work.start)
                self._at = position
            except Exception as e:
                error = e
                self._at = -2
            with self._change:
                wanted = self._work.get(position) is work
                if wanted:
                    del self._work[position]
                    if made is not None and work.done is None:
                        self._player.put(position, work.start, made.frames, made.sound)
            if not wanted:
                continue
            if work.done is not None:
                work.done(made, error)
            elif error is not None:
                self._failed(error)
