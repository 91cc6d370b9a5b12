"""What a joint call leaves behind, and what the next one begins with.

A call samples K video latents and the sound of the same stretch of time together. It knows nothing of history but what it begins
with: the frame before the branch, encoded again, or retained latents. What it repeats of them, `overlap`, is not played.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from torch import Tensor

from engine.models.interface import Group


@dataclass(frozen=True, eq=False)
class Call:
    """video: (channels, K, h, w) normalised latents; audio: as the model has them; first: position of its first played group;
    overlap: latents before that one; spans: frames of each latent."""

    video: Tensor = field(repr=False)
    audio: Tensor = field(repr=False)
    first: int
    overlap: int
    spans: tuple[int, ...]

    def begin(self, index: int) -> int:
        """The call's own frame at which a latent begins."""
        return sum(self.spans[:index])


@dataclass(frozen=True)
class CallState:
    """A group's call and its place in it."""

    call: Call
    index: int


@dataclass(frozen=True)
class ConditioningLatents:
    """Clean normalised latents, each (channels, h, w), that stand at a call's beginning; what they decode to is not played but at a
    world's start."""

    latents: tuple[Tensor, ...]


def groups_of(video: Tensor, audio: Tensor, position: int, overlap: int, spans: Sequence[int]) -> list[Group]:
    """The played groups of a call."""
    call = Call(video, audio, position, overlap, tuple(spans))
    return [
        Group(position + i - overlap, video[:, i], CallState(call, i), spans[i]) for i in range(overlap, video.shape[1])
    ]
