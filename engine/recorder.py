"""Writes shown frames to an mp4 on a thread of its own."""

from __future__ import annotations

import queue
import threading
from fractions import Fraction
from pathlib import Path

import numpy as np

from engine.player import Frame


class RecordingError(RuntimeError):
    """The file could not be written; the message says why. Frames up to then are in the file."""


class Recorder:
    """`add` costs the caller one hand-over. The frame rate is that of media time, so stalls do not stretch the film.

    Small pictures are enlarged by a whole factor, and sizes are made even, as H.264 wants. Raises RecordingError from
    the constructor when the file cannot be opened, and from `close` when writing failed.
    """

    def __init__(self, path: Path, width: int, height: int, fps: float, least_height: int = 480) -> None:
        import av
        from av.error import FFmpegError

        factor = max(1, round(least_height / height))
        self._size = (width * factor + width * factor % 2, height * factor + height * factor % 2)
        self._frames: queue.SimpleQueue[Frame | None] = queue.SimpleQueue()
        self._error: BaseException | None = None
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = av.open(str(path), "w", options={"movflags": "frag_keyframe+empty_moov+default_base_moof"})
            self._stream = self._file.add_stream("libx264", rate=Fraction(fps).limit_denominator(1001))
        except (OSError, FFmpegError, ValueError) as e:
            raise RecordingError(f"cannot write {path}: {e}") from e
        self._stream.width, self._stream.height = self._size
        self._stream.pix_fmt = "yuv420p"
        self._stream.options = {"crf": "18", "preset": "veryfast"}
        self._thread = threading.Thread(target=self._run, name="foreland-recorder", daemon=True)
        self._thread.start()

    def add(self, frame: Frame) -> None:
        self._frames.put(frame)

    def close(self) -> None:
        """Finishes the file."""
        self._frames.put(None)
        self._thread.join()
        if self._error is not None:
            raise RecordingError(f"{self.path} is incomplete: {self._error}") from self._error

    def _run(self) -> None:
        import av

        width, height = self._size
        index = 0
        try:
            while (frame := self._frames.get()) is not None:
                picture = av.VideoFrame.from_ndarray(np.ascontiguousarray(frame), format="rgb24")
                big = picture.reformat(width, height, "yuv420p", interpolation="BICUBIC")
                big.pts = index
                index += 1
                self._file.mux(self._stream.encode(big))
            self._file.mux(self._stream.encode(None))
        except Exception as e:
            self._error = e
        finally:
            try:
                self._file.close()
            except Exception as e:
                self._error = self._error or e
            while self._error is not None and not self._frames.empty():
                self._frames.get()
