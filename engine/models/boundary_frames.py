"""Boundary frames: where the decode worker and a sampler that begins its calls with the frame before the branch meet."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from engine.models.interface import Group

FRAMES_KEPT = 48
"""A branch is at most a window and a lead ahead of what plays."""
WAIT_SECONDS = 60.0
"""For the decode worker; after it the sampler decodes for itself."""


class BoundaryFrames:
    """The last frame of each decoded group. Thread-safe.

    ask: called with a position whose frame is wanted now.
    """

    def __init__(self) -> None:
        self.ask: Callable[[int], None] | None = None
        self._frames: dict[int, tuple[Group, NDArray[np.uint8]]] = {}
        self._lost: Group | None = None
        self._change = threading.Condition()

    def put(self, group: Group, frame: NDArray[np.uint8]) -> None:
        """(height, width, 3) uint8."""
        with self._change:
            self._frames[group.position] = (group, frame)
            for p in sorted(self._frames)[:-FRAMES_KEPT]:
                del self._frames[p]
            self._change.notify_all()

    def lose(self, group: Group) -> None:
        """This group cannot be decoded: who waits for its frame goes on without."""
        with self._change:
            self._lost = group
            self._change.notify_all()

    def get(self, group: Group) -> NDArray[np.uint8] | None:
        """The last frame of exactly this group; waits for the worker where there is one."""

        def there() -> bool:
            entry = self._frames.get(group.position)
            return entry is not None and entry[0] is group

        with self._change:
            if there():
                return self._frames[group.position][1]
            if self.ask is None:
                return None
        self.ask(group.position)
        with self._change:
            self._change.wait_for(lambda: there() or self._lost is group, WAIT_SECONDS)
            if self._lost is group:
                self._lost = None
            return self._frames[group.position][1] if there() else None

    def clear(self) -> None:
        """Forgets all frames."""
        with self._change:
            self._frames.clear()
            self._lost = None
