"""Decodes joint calls: pictures group by group, each published only when it is final, and the sound of the same time.

A call is decoded by itself, so a revocation costs nothing: what was revoked is not asked for. Where the sound of one call follows that
of another, the old one fades out under the new one; both are there, since a call's sound goes on past where it was left.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.models.audio_video.call import Call, CallState
from engine.models.boundary_frames import BoundaryFrames
from engine.models.interface import Decoder, Group
from engine.models.loading import empty_cache
from engine.playback.player import Frame, Samples, sample_at

log = logging.getLogger(__name__)

FADE_SECONDS = 0.015
CALLS_KEPT = 3
"""Calls whose decoded state is kept: the one that plays, and those that a branch goes back to."""
PLACES_KEPT = 256


class CallPictures(Protocol):
    """The pictures of one call."""

    def group(self, index: int) -> NDArray[np.uint8]:
        """(n, H, W, 3), the final frames of a latent; decodes no more than it must."""


class AudioVideoDecoder(Decoder):
    """Used from one thread."""

    def __init__(
        self,
        fps: float,
        rate: int,
        pictures: Callable[[Call], CallPictures],
        waveform: Callable[[Tensor], NDArray[np.float32]],
        last_frames: BoundaryFrames,
    ) -> None:
        """pictures: begins to decode a call; waveform: its audio latents to (samples, 2) at `rate`."""
        self._fps, self._rate, self._pictures, self._waveform, self._last = fps, rate, pictures, waveform, last_frames
        self.reset()

    def reset(self) -> None:
        self._open: dict[int, tuple[Call, CallPictures]] = {}
        self._sounds: dict[int, tuple[Call, NDArray[np.float32]]] = {}
        self._ends: dict[int, tuple[Call, int]] = {}

    def rewind(self, position: int) -> None:
        self._ends = {p: x for p, x in self._ends.items() if p < position}

    def resume(self, groups: Sequence[Group]) -> None:
        self.reset()
        for g in groups[-1:]:
            self.decode(g)
            self._mark(g)

    def fork(self) -> Decoder:
        return AudioVideoDecoder(self._fps, self._rate, self._pictures, self._waveform, BoundaryFrames())

    def decode(self, group: Group) -> list[Frame]:
        state: CallState = group.state
        key = id(state.call)
        if key not in self._open or self._open[key][0] is not state.call:
            self._open[key] = (state.call, self._pictures(state.call))
            for old in list(self._open)[:-CALLS_KEPT]:
                del self._open[old]
        try:
            frames = self._frames(state)
        except torch.OutOfMemoryError:
            frames = None
        if (
            frames is None
        ):  # what was decoded of other calls, and the frames that the error held, are let go before it is tried again
            self._open = {key: self._open[key]}
            empty_cache(state.call.video.device)
            log.warning("the device's memory ran out while decoding: what was decoded of earlier calls is let go")
            frames = self._frames(state)
        frames.flags.writeable = False
        out = list(frames)
        self._last.put(group, out[-1])
        return out

    @torch.inference_mode()
    def _frames(self, state: CallState) -> NDArray[np.uint8]:
        return self._open[id(state.call)][1].group(state.index)

    def sound(self, group: Group, start: int) -> Samples:
        state: CallState = group.state
        call, index = state.call, state.index
        n = sample_at(start + call.spans[index], self._fps, self._rate) - sample_at(start, self._fps, self._rate)
        begin = sample_at(call.begin(index), self._fps, self._rate)
        out = _stretch(self._whole(call), begin, n)
        before = self._ends.get(group.position - 1)
        if before is not None and before[0] is not call:
            m = min(n, round(FADE_SECONDS * self._rate))
            old = _stretch(self._whole(before[0]), before[1], m)
            w = np.linspace(0, 1, m, dtype=np.float32)[:, None]
            out[:m] = old * (1 - w) + out[:m] * w
        self._mark(group, begin + n)
        out.flags.writeable = False
        return out

    def _mark(self, group: Group, end: int | None = None) -> None:
        """Where in its call's sound a group ends."""
        call, index = group.state.call, group.state.index
        self._ends[group.position] = (
            call,
            sample_at(call.begin(index + 1), self._fps, self._rate) if end is None else end,
        )
        for p in sorted(self._ends)[:-PLACES_KEPT]:
            del self._ends[p]

    def _whole(self, call: Call) -> NDArray[np.float32]:
        """The sound of a call, decoded once: a join within it cannot click."""
        key = id(call)
        if key not in self._sounds or self._sounds[key][0] is not call:
            with torch.inference_mode():
                self._sounds[key] = (call, self._waveform(call.audio))
            for old in list(self._sounds)[: -2 * CALLS_KEPT]:
                del self._sounds[old]
        return self._sounds[key][1]


def _stretch(x: NDArray[np.float32], begin: int, n: int) -> NDArray[np.float32]:
    """n samples from `begin` on; past the end the last one fades to silence."""
    out = np.zeros((n, 2), np.float32)
    part = x[begin : begin + n]
    out[: len(part)] = part
    if len(part) < n and len(x):
        rest = n - len(part)
        out[len(part) :] = x[-1] * np.linspace(1, 0, rest, dtype=np.float32)[:, None]
    return out


def repeating(pattern: Sequence[int], n: int) -> tuple[int, ...]:
    """The first n of a pattern that repeats."""
    return tuple(pattern[i % len(pattern)] for i in range(n))
