"""First pictures of films, read on a thread of their own."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage

from app.window.frame_image import image_of

log = logging.getLogger(__name__)


class Posters(QObject):
    """Asked for by a film's path; answers by a signal on Qt's thread."""

    made = Signal(str, QImage)
    """The path, and its picture."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._asked: set[str] = set()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="foreland-posters")

    def ask(self, file: Path) -> None:
        """Once for each film."""
        if str(file) not in self._asked:
            self._asked.add(str(file))
            self._pool.submit(self._make, file)

    def _make(self, file: Path) -> None:
        import av  # half a second: only for those who look at their films

        try:
            with av.open(str(file)) as box:
                frame = next(box.decode(video=0)).to_ndarray(format="rgb24")
        except (av.FFmpegError, OSError, StopIteration) as e:
            log.info("no picture of %s: %s", file, e)
            return
        self.made.emit(str(file), image_of(np.ascontiguousarray(frame, np.uint8)).copy())

    def close(self) -> None:
        """Waits for the one under way."""
        self._pool.shutdown(cancel_futures=True)
