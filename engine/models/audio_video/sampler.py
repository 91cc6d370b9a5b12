"""Samples joint calls: the bookkeeping that MiniMax-H3 and LTX-2.3 share. What a family does itself is a `Family`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.control.conditions import Condition
from engine.models.audio_video.call import JointState, Lead, groups_of
from engine.models.audio_video.conditions import Conditions, Prepared
from engine.models.boundary_frames import LastFrames
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
from engine.models.media_files import read_still
from engine.models.schedulers import noise

KEPT = 12
"""Groups behind the delivered ones that a branch may still need."""
AUDIO_SEED = 0x5EED
"""Sets the noise of sound apart from that of pictures."""


class Family(Protocol):
    """What a family of models does itself."""

    latent: tuple[int, int, int]
    """(channels, h, w) of a video latent."""
    device: torch.device

    def spans(self, window: int) -> tuple[int, ...]:
        """Frames of each latent of a call."""

    def audio_shape(self, window: int) -> tuple[int, ...]:
        """Of the noise that the sound of a call begins as."""

    def encode(self, frame: NDArray[np.uint8]) -> Tensor:
        """A frame by the VAE's first-frame path: (channels, h, w), normalised."""

    def retained(self, state: JointState) -> Lead | None:
        """Latents of a call up to and with a group, in the phase that a call may begin with; None where that cannot be."""

    def denoise(
        self,
        prepared: Prepared,
        lead: Lead | None,
        video: Tensor,
        audio: Tensor,
        steps: int,
        report: Callable[[int, int], None],
    ) -> tuple[Tensor, Tensor]:
        """video: (channels, K, h, w) noise; audio: noise. Returns both, clean; the lead's latents stand where they were put."""


class JointSampler(Sampler):
    """Used from one thread, but for `prepare`."""

    prepares_slowly = True

    def __init__(self, spec: ModelSpec, family: Family, conditions: Conditions) -> None:
        self.spec, self.family = spec, family
        self.frames = LastFrames()
        self.conditions = conditions
        self._given: Tensor | None = None
        self._groups: dict[int, Group] = {}

    def prepare(self, condition: Condition) -> Prepared:
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
        with torch.inference_mode():
            return self._sample(request, report)

    def _sample(self, request: Request, report: StepCallback) -> list[Group]:
        j, k = request.branch, request.window
        lead = self._lead(request)
        # at a world's start the given picture is the first frame; later what is repeated is not played
        overlap = len(lead.latents) if lead is not None and j else 0
        if overlap >= k:
            raise ValueError(f"K = {k} leaves nothing to play after {overlap} retained latents")
        pure = torch.stack([noise(self.family.latent, request.seed, j + i, request.attempt) for i in range(k)], 1)
        sound = noise(self.family.audio_shape(k), request.seed ^ AUDIO_SEED, j, request.attempt)

        def go_on(step: int, steps: int) -> None:
            if not report(step, steps) and step < steps:
                raise Stopped

        video, audio = self.family.denoise(
            request.prepared, lead, pure.to(self.family.device), sound.to(self.family.device), request.steps, go_on
        )
        return groups_of(video, audio, j, overlap, self.family.spans(k))

    def _lead(self, request: Request) -> Lead | None:
        """What the call begins with."""
        j = request.branch
        if j == 0:
            return None if self._given is None else Lead((self._given,))
        before = self._groups.get(j - 1)
        if before is None:
            raise KeyError(f"group {j - 1} is not kept: the call at {j} cannot continue it")
        if request.history is HistoryPolicy.LATENT_INPUT:
            lead = self.family.retained(before.state)
            if lead is not None:
                return lead
        frame = self.frames.get(before)
        if frame is None:
            raise KeyError(f"the frame before group {j} was not decoded")
        return Lead((self.family.encode(frame),))

    def extend(self, groups: Sequence[Group]) -> None:
        first = groups[0].position
        self._groups = {p: g for p, g in self._groups.items() if p < first} | {g.position: g for g in groups}

    def attach(self, host: SamplerHost) -> None:
        super().attach(host)
        self.frames.ask = host.decode_until

    def evict_before(self, position: int) -> None:
        self._groups = {p: g for p, g in self._groups.items() if p >= position - KEPT}

    def reset(self) -> None:
        self._groups.clear()
        self.frames.clear()

    def close(self) -> None:
        self.reset()
        self.conditions.close()
