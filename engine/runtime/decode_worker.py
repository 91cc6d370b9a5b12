"""Decoding of groups into the player: on a thread of its own just in time, or inline in virtual time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from engine.control.conditions import Condition
from engine.models.interface import Decoder, Group, MakesSound
from engine.playback.player import Frame, Samples
from engine.playback.shared_player import SharedPlayer
from engine.runtime.clock import FOREVER, Clock

AHEAD = 3
"""Groups past the one on show that are decoded; more would be thrown away at the next revocation. [ours]"""

FirstDecoded = Callable[[int, BaseException | None], None]
"""Takes the call whose first group is decoded, and the error where it could not be."""
TRIES = 2
"""That a group is decoded before it is given up."""


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


def decoded(decoder: Decoder, group: Group, start: int) -> Decoded:
    """A group that begins at media frame `start`, in pictures and sound."""
    frames = decoder.decode(group)
    return Decoded(frames, decoder.sound(group, start) if isinstance(decoder, MakesSound) else None)


@dataclass
class _Work:
    group: Group
    start: int
    urgent: bool
    call: int | None


@dataclass
class _Held:
    """A call's first group, decoded, until the controller knows of the call."""

    position: int
    start: int
    made: Decoded


class DecodeWorker:
    """A thread. Thread-safe. A cancelled group is never handed to the player, even when its decode was under way."""

    def __init__(
        self,
        decoder: Decoder,
        player: SharedPlayer,
        clock: Clock,
        first_decoded: FirstDecoded,
        failed: Callable[[Group, BaseException], None],
        decoded: Callable[[int, float], None],
    ) -> None:
        """All are called on the worker's thread. first_decoded: for the first group of each call; failed: when another group
        could not be decoded; decoded: with the position and the seconds of each that could."""
        self._decoder = decoder
        self._player = player
        self._clock = clock
        self._first_decoded = first_decoded
        self._failed = failed
        self._decoded = decoded
        self._work: dict[int, _Work] = {}
        self._held: _Held | None = None
        self._at = -1
        self._wanted_until = -1
        self._closing = False
        self._resume: Sequence[Group] | None = None
        self._change = clock.condition()
        self._thread = clock.spawn(self._run, "foreland-decode")

    def submit(self, groups: Sequence[tuple[Group, int]], call: int | None = None) -> None:
        """See `Effects.submit`."""
        with self._change:
            for i, (group, start) in enumerate(groups):
                self._work[group.position] = _Work(group, start, i == 0, call if i == 0 else None)
            self._change.notify_all()

    def present(self, position: int) -> None:
        """See `Effects.present`."""
        with self._change:
            held, self._held = self._held, None
            if held is not None and held.position == position:
                self._player.put(position, held.start, held.made.frames, held.made.sound)

    def cancel_from(self, position: int) -> None:
        """See `Effects.cancel_from`."""
        with self._change:
            self._work = {p: w for p, w in self._work.items() if p < position}
            self._wanted_until = min(self._wanted_until, position - 1)
            if self._held is not None and self._held.position >= position:
                self._held = None
            self._player.drop(position)

    def decode_until(self, position: int) -> None:
        """See `Effects.decode_until`."""
        with self._change:
            self._wanted_until = position
            self._change.notify_all()

    def resume(self, groups: Sequence[Group]) -> None:
        """The world goes on after the last of these; what was submitted before is cancelled."""
        with self._change:
            self._work.clear()
            self._held = None
            self._wanted_until = -1
            self._resume = groups
            self._change.notify_all()

    def notify(self) -> None:
        """The player went on: more may be decoded."""
        with self._change:
            self._change.notify_all()

    def close(self) -> None:
        """Stops the thread and waits for it."""
        with self._change:
            self._closing = True
            self._work.clear()
            self._change.notify_all()
        self._clock.join(self._thread, FOREVER)

    def _next(self) -> _Work | None:
        if not self._work:
            return None
        p = min(self._work)
        w = self._work[p]
        first = next((x for x in self._work.values() if x.call is not None), None)
        if first is not None and self._decoder.independent_groups and p > self._player.next_position:
            # nothing is due before the first group of a call, for which the controller waits
            return first
        # the controller waits for a call's first group, and all before it are locked: they will play
        urgent = -1 if first is None else first.group.position
        return w if w.urgent or p <= max(self._player.next_position + AHEAD, self._wanted_until, urgent) else None

    def _run(self) -> None:
        while True:
            with self._change:
                self._clock.wait(
                    self._change, lambda: self._closing or self._resume is not None or self._next() is not None
                )
                if self._closing:
                    return
                work = self._next()
                resume, self._resume = self._resume, None
            try:
                if resume is not None:  # without work as well: a sampler may wait for the frame before its branch
                    self._at = -2
                    self._decoder.resume(resume)
                    self._at = resume[-1].position if resume else -1
            except Exception as e:
                if work is None:
                    self._failed(resume[-1] if resume else Group(-1, None, None), e)
            if work is not None:
                self._do(work)

    def _do(self, work: _Work) -> None:
        """Decodes one group and hands it on, unless it was cancelled meanwhile."""
        position = work.group.position
        began = self._clock.now()
        made, error = self._made(work)
        with self._change:
            wanted = self._work.get(position) is work
            if wanted:
                del self._work[position]
                if made is not None and work.call is not None:
                    self._held = _Held(position, work.start, made)
                elif made is not None:
                    self._player.put(position, work.start, made.frames, made.sound)
        if made is not None:
            self._decoded(position, self._clock.now() - began)
        if not wanted:
            return
        if work.call is not None:
            self._first_decoded(work.call, error)
        elif error is not None:
            self._failed(work.group, error)

    def _made(self, work: _Work) -> tuple[Decoded | None, BaseException | None]:
        """What a group turned into, or the error of the last try."""
        error: BaseException | None = None
        for _ in range(TRIES):
            try:
                if work.group.position != self._at + 1:
                    self._decoder.rewind(work.group.position)
                made = decoded(self._decoder, work.group, work.start)
                self._at = work.group.position
                return made, None
            except Exception as e:
                error = e
                self._at = -2
        return None, error


class InlineDecoder:
    """Decodes on the caller's thread when frames are needed: for virtual time, in which decoding takes none."""

    def __init__(self, decoder: Decoder, player: SharedPlayer, first_decoded: FirstDecoded) -> None:
        """first_decoded: called as soon as a call's groups are submitted. Errors of the decoder are raised where it decodes."""
        self._decoder, self._player, self._first_decoded = decoder, player, first_decoded
        self._work: dict[int, tuple[Group, int]] = {}

    def submit(self, groups: Sequence[tuple[Group, int]], call: int | None = None) -> None:
        """See `Effects.submit`; nothing is decoded yet."""
        self._work.update((g.position, (g, start)) for g, start in groups)
        if call is not None:
            self._first_decoded(call, None)

    def present(self, position: int) -> None:
        """See `Effects.present`; `decode_until` gives the group to the player."""

    def cancel_from(self, position: int) -> None:
        """See `Effects.cancel_from`."""
        self._work = {p: w for p, w in self._work.items() if p < position}
        self._player.drop(position)

    def decode_until(self, position: int) -> None:
        """Decodes everything from the next group to be played up to this one."""
        for p in range(self._player.next_position, position + 1):
            if p in self._work:
                group, start = self._work.pop(p)
                made = decoded(self._decoder, group, start)
                self._player.put(p, start, made.frames, made.sound)

    def resume_decoder(self, groups: Sequence[Group]) -> None:
        """See `Effects.resume_decoder`."""
        self._work.clear()
        self._decoder.resume(groups)

    def prepare_later(self, condition: Condition) -> bool:
        """See `Effects.prepare_later`: inputs are made at once."""
        return False
