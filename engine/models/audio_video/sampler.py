"""Samples joint calls: the bookkeeping that MiniMax-H3 and LTX-2.3 share. What a family does itself is a `AudioVideoModel`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.control.conditions import Condition
from engine.models.attention import SequenceParallel
from engine.models.audio_video.call import Call, CallState, ConditioningLatents, groups_of
from engine.models.audio_video.conditions import AudioVideoConditions, AudioVideoInputs
from engine.models.audio_video.decoding import CallPictures
from engine.models.audio_video.transport import AudioVideoTransport
from engine.models.boundary_frames import BoundaryFrames
from engine.models.interface import (
    ConditionError,
    Group,
    HistoryPolicy,
    ModelSpec,
    Request,
    Sampler,
    SamplerHost,
    StepCallback,
    Stopped,
)
from engine.models.loading import empty_cache, say_less, wait_for
from engine.models.media_files import read_still
from engine.models.schedulers import noise

KEPT = 12
"""Groups behind the delivered ones that a branch may still need."""
AUDIO_SEED = 0x5EED
"""Sets the noise of sound apart from that of pictures."""


class AudioVideoModel(Protocol):
    """What a family of models does itself."""

    latent: tuple[int, int, int]
    """(channels, h, w) of a video latent."""
    device: torch.device
    """That it samples on."""

    def spans(self, window: int) -> tuple[int, ...]:
        """Frames of each latent of a call."""

    def audio_shape(self, window: int) -> tuple[int, ...]:
        """Of the noise that the sound of a call begins as."""

    def encode(self, frame: NDArray[np.uint8]) -> Tensor:
        """A frame by the VAE's first-frame path: (channels, h, w), normalised."""

    def retained(self, state: CallState) -> ConditioningLatents | None:
        """Latents of a call up to and with a group, in the phase that a call may begin with; None where that cannot be."""

    def shard(self, parallel: SequenceParallel) -> None:
        """Runs its transformer on shards."""

    def denoise(
        self,
        prepared: AudioVideoInputs,
        conditioning: ConditioningLatents | None,
        video: Tensor,
        audio: Tensor,
        steps: int,
        report: Callable[[int, int], None],
    ) -> tuple[Tensor, Tensor]:
        """video: (channels, K, h, w) noise; audio: noise. Returns both, clean; the conditioning's latents stand where they were put."""

    def pictures(self, call: Call) -> CallPictures:
        """Begins to decode a call."""

    def waveform(self, audio: Tensor) -> NDArray[np.float32]:
        """A call's audio latents to (samples, 2) at the model's sample rate."""


class AudioVideoSampler(Sampler[AudioVideoInputs]):
    """Used from one thread, but for `prepare`."""

    prepares_slowly = True

    def __init__(self, spec: ModelSpec, family: AudioVideoModel, conditions: AudioVideoConditions) -> None:
        self.spec, self.family = spec, family
        self.frames = BoundaryFrames()
        self.conditions = conditions
        self._given: Tensor | None = None
        self._groups: dict[int, Group] = {}
        self._longest = spec.windows[1]
        """K at most: less after the device's memory ran out."""
        self._ranked = False
        """Whether it is one of several ranks, which decides nothing by itself."""

    def prepare(self, condition: Condition) -> AudioVideoInputs:
        return self.conditions.prepare(condition)

    def set_start(self, file: Path | None) -> None:
        """From a picture, or the last frame of a film."""
        if file is None:
            self._given = None
            return
        try:
            picture = read_still(file, self.spec)
        except ValueError as e:
            raise ConditionError(str(e)) from e
        with torch.inference_mode():
            self._given = self.family.encode(picture)

    def sample(self, request: Request, report: StepCallback) -> list[Group]:
        self.spec.check_window(request.window)
        while True:
            request = replace(request, window=min(request.window, self._longest))
            try:
                with torch.inference_mode():
                    return self._sample(request, report)
            except torch.OutOfMemoryError as e:
                # without the frames that it went through, which hold what the call had made
                out_of_memory = e.with_traceback(None)
            if not self._take_less(request):
                raise out_of_memory

    def _take_less(self, request: Request) -> bool:
        """After the device's memory ran out: shorter calls from now on. Whether there was something to give up."""
        fewer = self.spec.half(request.window)
        if self._ranked or fewer is None:
            return False
        self._longest = fewer
        empty_cache(self.family.device)
        say_less(self.host, f"K is {fewer}")
        return True

    def _sample(self, request: Request, report: StepCallback) -> list[Group]:
        j, k = request.branch, request.window
        conditioning = self._conditioning(request)
        # at a world's start the given picture is the first frame; later what is repeated is not played
        overlap = len(conditioning.latents) if conditioning is not None and j else 0
        if overlap >= k:
            raise ValueError(f"K = {k} leaves nothing to play after {overlap} retained latents")
        pure = torch.stack([noise(self.family.latent, request.seed, j + i, request.attempt) for i in range(k)], 1)
        sound = noise(self.family.audio_shape(k), request.seed ^ AUDIO_SEED, j, request.attempt)

        def go_on(step: int, steps: int) -> None:
            wait_for(self.family.device)  # a step is reported when it is done, not when it was launched
            if not report(step, steps) and step < steps:
                raise Stopped

        video, audio = self.family.denoise(
            request.prepared,
            conditioning,
            pure.to(self.family.device),
            sound.to(self.family.device),
            request.steps,
            go_on,
        )
        return groups_of(video, audio, j, overlap, self.family.spans(k))

    def _conditioning(self, request: Request) -> ConditioningLatents | None:
        """What the call begins with."""
        j = request.branch
        if j == 0:
            return None if self._given is None else ConditioningLatents((self._given,))
        before = self._groups.get(j - 1)
        if before is None:
            raise KeyError(f"group {j - 1} is not kept: the call at {j} cannot continue it")
        if request.history is HistoryPolicy.LATENT_INPUT:
            conditioning = self.family.retained(before.state)
            if conditioning is not None:
                return conditioning
        frame = self.frames.get(before)
        if frame is None:
            raise KeyError(f"the frame before group {j} was not decoded")
        return ConditioningLatents((self.family.encode(frame),))

    def extend(self, groups: Sequence[Group]) -> None:
        first = groups[0].position
        self._groups = {p: g for p, g in self._groups.items() if p < first} | {g.position: g for g in groups}

    def attach(self, host: SamplerHost) -> None:
        super().attach(host)
        self.frames.ask = host.decode_until

    def put_boundary_frame(self, position: int, frame: NDArray[np.uint8]) -> None:
        self.frames.put(self._groups[position], frame)

    def lose_boundary_frame(self, group: Group) -> None:
        self.frames.lose(group)

    def shard(self, parallel: Callable[[], SequenceParallel]) -> None:
        self._ranked = True
        self.family.shard(parallel())

    def transport(self) -> AudioVideoTransport:
        return AudioVideoTransport(self.conditions, self.family.device)

    def evict_before(self, position: int) -> None:
        self._groups = {p: g for p, g in self._groups.items() if p >= position - KEPT}

    def reset(self) -> None:
        self._groups.clear()
        self.frames.clear()

    def close(self) -> None:
        self.reset()
        self.conditions.close()
