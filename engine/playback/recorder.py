"""Writes shown frames and their sound to an mp4 on a thread of its own."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.playback.player import Frame, Samples, sample_at

HARDWARE = ("h264_nvenc", "h264_videotoolbox", "h264_qsv", "h264_amf")
"""Encoders of the hardware, the first that opens is taken; libx264 where none does."""
FALLBACK = "libx264"
KEYFRAME_SECONDS = 1.0
"""Between two keyframes: what a crash may cost, and how finely a film can be wound to."""
OPTIONS: dict[str, dict[str, str]] = {FALLBACK: {"crf": "18", "preset": "veryfast"}}


Draw = Callable[[NDArray[np.uint8]], None]
"""Draws into an enlarged picture (height, width, 3)."""


class RecordingError(RuntimeError):
    """The file could not be written; the message says why. Frames up to then are in the file."""


def video_encoder(hardware: bool, width: int, height: int) -> str:
    """The encoder to take: one of the hardware's that really opens here, or libx264."""
    import av
    from av.error import FFmpegError

    for name in HARDWARE if hardware else ():
        try:
            context: Any = av.CodecContext.create(name, "w")
            context.width, context.height, context.pix_fmt = width, height, "yuv420p"
            context.time_base = Fraction(1, 24)
            context.open()
        except (FFmpegError, ValueError, OSError):
            continue
        return name
    return FALLBACK


class Recorder:
    """`add` costs the caller one hand-over. Picture and sound are stamped by media time, so stalls and pauses do not stretch the film
    and sound cannot drift from the picture.

    Small pictures are enlarged by a whole factor, and sizes are made even, as H.264 wants. The file is fragmented: a crash leaves a film
    that plays. Raises RecordingError from the constructor when the file cannot be opened, and from `close` when writing failed.
    """

    def __init__(
        self,
        path: Path,
        width: int,
        height: int,
        fps: float,
        least_height: int = 480,
        rate: int = 0,
        hardware: bool = False,
    ) -> None:
        """rate: samples a second of the sound, 0 for a silent film. hardware: take an encoder of the hardware where there is one."""
        import av
        from av.error import FFmpegError

        factor = max(1, round(least_height / height))
        self._size = (width * factor + width * factor % 2, height * factor + height * factor % 2)
        self._frames: queue.SimpleQueue[tuple[Frame, Samples | None, Draw | None] | None] = queue.SimpleQueue()
        self._error: BaseException | None = None
        self.path = path
        self._fps, self._rate = fps, rate
        self.encoder = video_encoder(hardware, *self._size)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            fragments = {
                "movflags": "frag_keyframe+empty_moov+default_base_moof",
                "frag_duration": "1000000",
                "flush_packets": "1",
            }
            self._file: Any = av.open(str(path), "w", options=fragments)
            stream: Any = self._file.add_stream(self.encoder, rate=Fraction(fps).limit_denominator(1001))
            self._sound: Any = self._file.add_stream("aac", rate=rate, layout="stereo") if rate else None
        except (OSError, FFmpegError, ValueError) as e:
            raise RecordingError(f"cannot write {path}: {e}") from e
        stream.width, stream.height = self._size
        stream.pix_fmt = "yuv420p"
        stream.options = OPTIONS.get(self.encoder, {})
        stream.codec_context.gop_size = max(1, round(KEYFRAME_SECONDS * fps))
        self._stream = stream
        if self._sound is not None:
            self._sound.bit_rate = 160_000
        self._thread = threading.Thread(target=self._run, name="foreland-recorder", daemon=True)
        self._thread.start()

    def add(self, frame: Frame, sound: Samples | None = None, draw: Draw | None = None) -> None:
        """A shown frame and what is heard during it. draw: draws over the enlarged picture, on the recorder's thread."""
        self._frames.put((frame, sound, draw))

    def close(self) -> None:
        """Finishes the file."""
        self._frames.put(None)
        self._thread.join()
        if self._error is not None:
            raise RecordingError(f"{self.path} is incomplete: {self._error}") from self._error

    def _picture(self, frame: Frame, index: int, draw: Draw | None) -> None:
        import av

        width, height = self._size
        picture = av.VideoFrame.from_ndarray(np.ascontiguousarray(frame), format="rgb24")
        if draw is None:
            big = picture.reformat(width, height, "yuv420p", interpolation="BICUBIC")
        else:
            pixels: Any = picture.reformat(width, height, "rgb24", interpolation="BICUBIC").to_ndarray()
            draw(pixels)
            big = av.VideoFrame.from_ndarray(pixels, format="rgb24").reformat(format="yuv420p")
        big.pts = index
        self._file.mux(self._stream.encode(big))

    def _hear(self, sound: Samples | None, index: int) -> None:
        """The samples of frame `index` of the film; silence where there are none, so that what follows stays in its place."""
        import av

        begin, end = (sample_at(i, self._fps, self._rate) for i in (index, index + 1))
        samples = np.zeros((end - begin, 2), np.float32)
        if sound is not None:
            n = min(len(sound), len(samples))
            samples[:n] = sound[:n]
            # a world whose frames are no whole number of samples: the film counts from its own beginning
            samples[n:] = sound[-1] if len(sound) else 0
        packed = av.AudioFrame.from_ndarray(np.ascontiguousarray(samples.T), format="fltp", layout="stereo")
        packed.sample_rate, packed.pts, packed.time_base = self._rate, begin, Fraction(1, self._rate)
        self._file.mux(self._sound.encode(packed))

    def _run(self) -> None:
        index = 0
        try:
            while (item := self._frames.get()) is not None:
                frame, sound, draw = item
                self._picture(frame, index, draw)
                if self._sound is not None:
                    self._hear(sound, index)
                index += 1
            self._file.mux(self._stream.encode(None))
            if self._sound is not None:
                self._file.mux(self._sound.encode(None))
        except Exception as e:
            self._error = e
        finally:
            try:
                self._file.close()
            except Exception as e:
                self._error = self._error or e
            while self._error is not None and not self._frames.empty():
                self._frames.get()
