"""What a joint call leaves behind, and what the next one begins with.

A call samples K video latents and the sound of the same stretch of time together. It knows nothing of history but what it begins
with: the frame before the branch, encoded again, or retained latents. What it repeats of them, `overlap`, is not played.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from engine.sampler import Group

WAIT_SECONDS = 60.0
GROUPS_KEPT = 24
"""Groups whose frames are kept for a branch."""

Pictures = list[NDArray[np.uint8]]


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

    @property
    def frames(self) -> int:
        return sum(self.spans)


@dataclass(frozen=True)
class JointState:
    """A group's call and its place in it."""

    call: Call
    index: int


@dataclass(frozen=True)
class Lead:
    """Clean normalised latents, each (channels, h, w), that stand at a call's beginning; what they decode to is not played but at a
    world's start."""

    latents: tuple[Tensor, ...]


def groups_of(video: Tensor, audio: Tensor, position: int, overlap: int, spans: Sequence[int]) -> list[Group]:
    """The played groups of a call."""
    call = Call(video, audio, position, overlap, tuple(spans))
    return [
        Group(position + i - overlap, video[:, i], JointState(call, i), spans[i]) for i in range(overlap, video.shape[1])
    ]  # fmt: skip


class FrameShelf:
    """Frames of decoded groups: where the decode worker and the sampler meet. Thread-safe.

    ask: called with a position whose frames are wanted now.
    """

    def __init__(self) -> None:
        self.ask: Callable[[int], None] | None = None
        self._frames: dict[int, tuple[Group, Pictures]] = {}
        self._change = threading.Condition()

    def put(self, group: Group, frames: Pictures | NDArray[np.uint8]) -> None:
        """All frames of a group, or its last one."""
        pictures = [frames] if isinstance(frames, np.ndarray) else frames
        with self._change:
            self._frames[group.position] = (group, pictures)
            for p in sorted(self._frames)[:-GROUPS_KEPT]:
                del self._frames[p]
            self._change.notify_all()

    def last(self, group: Group) -> NDArray[np.uint8] | None:
        """The last frame of exactly this group; waits for the worker where there is one."""

        def there() -> bool:
            entry = self._frames.get(group.position)
            return entry is not None and entry[0] is group

        with self._change:
            if not there() and self.ask is None:
                return None
        if not there() and self.ask is not None:
            self.ask(group.position)
        with self._change:
            self._change.wait_for(there, WAIT_SECONDS)
            return self._frames[group.position][1][-1] if there() else None

    get = last

    def clear(self) -> None:
        with self._change:
            self._frames.clear()
