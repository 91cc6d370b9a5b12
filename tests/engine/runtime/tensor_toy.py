"""A toy whose latents are tensors, a function of the request and the condition, so that a session can be made again."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from engine.control.conditions import Condition
from engine.models.interface import Group, Model, Request, StepCallback
from engine.playback.player import Frame
from tests.toy import ToyDecoder, ToySampler


def latent_of(seed: int, position: int, attempt: int, condition: Condition) -> torch.Tensor:
    """Four numbers that differ with anything that a latent depends on."""
    c = condition
    words = f"{seed} {position} {attempt} {c.prompt} {c.keys} {c.tapped} {c.share:.4f}"
    return torch.randn(4, generator=torch.Generator().manual_seed(zlib.crc32(words.encode())))


class TensorSampler(ToySampler):
    """May start from any file, and makes nothing of it but a note."""

    started: Path | None = None

    def sample(self, request: Request, report: StepCallback) -> list[Group]:
        made = super().sample(request, report)
        s, c = request.seed, request.prepared
        return [replace(g, latent=latent_of(s, g.position, request.attempt, c)) for g in made]

    def set_start(self, file: Path | None) -> None:
        self.started = file


class TensorDecoder(ToyDecoder):
    """Paints a group in a colour of its latent."""

    def decode(self, group: Group) -> list[Frame]:
        frame = np.full((2, 4, 3), zlib.crc32(group.latent.numpy().tobytes()) % 256, np.uint8)
        frame.flags.writeable = False
        return [frame] * self.spec.span(group.position)


def tensor_model(seconds: float = 0.0, broken: Sequence[int] = ()) -> Model:
    """seconds: of a call; broken: calls that fail."""
    return Model(TensorSampler(seconds=seconds, broken=broken), TensorDecoder(), "toy-0")
