"""A file that a new world begins from, read beside the world that plays."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from engine.models.interface import ModelSpec, Stopped
from engine.models.media_files import MediaError, read_start


class Reading:
    """Reads a picture or film on the thread that runs it; the sampler then finds it read."""

    def __init__(self, file: Path, spec: ModelSpec, frames: int, done: Callable[[], None]) -> None:
        """frames: of a film, at most. done: called when it is read or cannot be, unless it was cancelled; the sampler says why."""
        self.file, self.share, self.over = file, 0.0, False
        self._spec, self._frames, self._done = spec, frames, done
        self._cancelled = threading.Event()

    def cancel(self) -> None:
        """Nothing comes of it. From any thread."""
        self._cancelled.set()

    def run(self) -> None:
        """Reads; raises nothing."""
        try:
            read_start(self.file, self._spec, self._frames, self._watch)
        except (MediaError, Stopped):
            pass
        finally:
            self.over = True
        if not self._cancelled.is_set():
            self._done()

    def _watch(self, share: float) -> None:
        self.share = share
        if self._cancelled.is_set():
            raise Stopped
