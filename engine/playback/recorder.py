"""Writes shown frames and their sound to an mp4 on a thread of its own."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.files import refuse_unwritable
from engine.playback.player import Frame, Samples, sample_at

HARDWARE = ("h264_nvenc", "h264_videotoolbox", "h264_qsv", "h264_amf")
"""Encoders of the hardware, the first that opens is taken; libx264 where none does."""
FALLBACK = "libx264"
KEYFRAME_SECONDS = 1.0
"""Between two keyframes: how finely a film can be wound to."""
FRAGMENT_SECONDS = 0.5
"""What a crash may cost."""
OPTIONS: dict[str, dict[str, str]] = {FALLBACK: {"crf": "18", "preset": "veryfast", "tune": "zerolatency"}}
"""zerolatency: the encoder holds no frames back, which a crash would lose."""
WAITING_SECONDS, WAITING_BYTES = 4.0, 256_000_000
"""Frames that wait for the encoder: at most of so many seconds, and of so many bytes."""
BT709 = 1
"""In H.273, for primaries, transfer and matrix."""
LIMITED = 1
"""Range of the samples, in ffmpeg's numbers."""


Draw = Callable[[NDArray[np.uint8]], None]
"""Draws into an enlarged picture (height, width, 3)."""
LOOK_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class _Frame:
    """index: of the film's frames."""

    index: int
    picture: Frame
    sound: Samples | None
    draw: Draw | None


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

    Small pictures are enlarged by a whole factor, and sizes are made even, as H.264 wants. Colours are those of BT.709, and the film
    says so. The file is fragmented while it is written, so that a crash leaves a film that plays, and is a plain MP4 with its length in
    the header when it ends well. Raises RecordingError from the constructor when the file cannot be written, and from `close` when
    writing failed; `error` tells at once.
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
        waits: bool = True,
    ) -> None:
        """rate: samples a second of the sound, 0 for a silent film. hardware: take an encoder of the hardware where there is one.
        waits: whether `add` waits for an encoder that is too slow; otherwise frames are left out, and counted."""
        import av
        from av.error import FFmpegError

        factor = max(1, round(least_height / height))
        self._size = (width * factor + width * factor % 2, height * factor + height * factor % 2)
        room = min(WAITING_SECONDS * fps, WAITING_BYTES / (3 * width * height))
        self._frames: queue.Queue[_Frame | None] = queue.Queue(max(4, int(room)))
        self._waits, self._count = waits, 0
        self._error: BaseException | None = None
        self.path = path
        self.left_out = 0
        """Frames that the encoder was too slow for."""
        self.written = 0
        """Frames that the encoder has taken."""
        self._fps, self._rate = fps, rate
        self.encoder = video_encoder(hardware, *self._size)
        try:
            refuse_unwritable(path)
            fragments = {
                "movflags": "hybrid_fragmented+frag_keyframe+default_base_moof+delay_moov",
                "frag_duration": str(round(1e6 * FRAGMENT_SECONDS)),
                "flush_packets": "1",
            }
            self._file: Any = av.open(str(path), "w", options=fragments)
            stream: Any = self._file.add_stream(self.encoder, rate=Fraction(fps).limit_denominator(1001))
            self._sound: Any = self._file.add_stream("aac", rate=rate, layout="stereo") if rate else None
        except (OSError, FFmpegError, ValueError) as e:
            reason = e.strerror if isinstance(e, OSError) and e.strerror else e
            raise RecordingError(f"cannot write {path}: {reason}") from e
        stream.width, stream.height = self._size
        stream.pix_fmt = "yuv420p"
        stream.options = OPTIONS.get(self.encoder, {})
        context = stream.codec_context
        context.gop_size = max(1, round(KEYFRAME_SECONDS * fps))
        context.color_primaries = context.color_trc = context.colorspace = BT709
        context.color_range = LIMITED
        self._stream = stream
        if self._sound is not None:
            self._sound.bit_rate = 160_000
        self._thread = threading.Thread(target=self._run, name="foreland-recorder", daemon=True)
        self._thread.start()

    def add(self, frame: Frame, sound: Samples | None = None, draw: Draw | None = None) -> None:
        """A shown frame and what is heard during it. draw: draws over the enlarged picture, on the recorder's thread. Nothing once
        writing has failed."""
        item = _Frame(self._count, frame, sound, draw)
        self._count += 1
        if not self._put(item, self._waits):
            self.left_out += 1

    def _put(self, item: _Frame | None, wait: bool) -> bool:
        while self._error is None:
            try:
                self._frames.put(item, wait, LOOK_SECONDS)
                return True
            except queue.Full:
                if not wait:
                    return False
        return False

    @property
    def error(self) -> str:
        """Why the film ends before it was closed; '' while it goes on."""
        if self._error is None:
            return ""
        reason = self._error.strerror if isinstance(self._error, OSError) else ""
        return f"{self.path} is incomplete: {reason or self._error}"

    def close(self) -> None:
        """Finishes the file."""
        self._put(None, True)
        self._thread.join()
        if self._error is not None:
            raise RecordingError(self.error) from self._error

    def _picture(self, frame: Frame, index: int, draw: Draw | None) -> None:
        import av

        width, height = self._size
        picture = av.VideoFrame.from_ndarray(np.ascontiguousarray(frame), format="rgb24")
        if draw is not None:
            pixels: Any = picture.reformat(width, height, "rgb24", interpolation="BICUBIC").to_ndarray()
            draw(pixels)
            picture = av.VideoFrame.from_ndarray(pixels, format="rgb24")
        big = picture.reformat(
            width, height, "yuv420p", dst_colorspace=BT709, dst_color_range=LIMITED, interpolation="BICUBIC"
        )
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
        heard = 0
        try:
            while (item := self._frames.get()) is not None:
                self._picture(item.picture, item.index, item.draw)
                self.written += 1
                if self._sound is not None:
                    for left_out in range(heard, item.index):
                        self._hear(None, left_out)
                    self._hear(item.sound, item.index)
                    heard = item.index + 1
            if self.written:
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
                self._frames.get_nowait()
