"""Kept groups are decoded again on a thread of its own, beside the world that plays."""

from __future__ import annotations

import io
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, Protocol

from PySide6.QtCore import QObject, Signal

from app.language import tr
from engine.files import claim_file, drop_empty, write_whole
from engine.models.interface import Decoder, ModelSpec
from engine.playback.player import Frame
from engine.playback.recorder import Recorder
from engine.runtime.decode_worker import Decoded, decoded
from engine.runtime.takes import Kept

log = logging.getLogger(__name__)

CLOSE_SECONDS = 1.0
CLIP_HEIGHT = 320
"""Of a WebP or GIF clip, at most, unless the model's frames are smaller: those are enlarged to about this."""


class DecodeError(RuntimeError):
    """What was asked for could not be made; the message says why."""


class ForksDecoder(Protocol):
    """What decoding needs of an engine."""

    def fork_decoder(self) -> Decoder | None:
        """For one other thread; None before the model is loaded."""


class DecodeJob:
    """One thing to decode, and who hears of it on Qt's thread."""

    def __init__(self, make: Callable[[], Any], done: Callable[[Any], None], failed: Callable[[str], None]) -> None:
        self.make, self.done, self.failed = make, done, failed
        self.cancelled = False

    def cancel(self) -> None:
        """It is not made unless it has begun, and nobody hears of it. From Qt's thread."""
        self.cancelled = True


class DecodeJobs(QObject):
    """Runs one job after the other, each with a decoder of its own.

    `done` gets what was made and `failed` a message why not, both on Qt's thread.
    """

    _finished = Signal(object, object)
    """A job, and what was made or the DecodeError."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._closing = threading.Event()
        self._last: Future[None] | None = None
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="foreland-decode")
        self._finished.connect(self._report)

    def frames(
        self,
        engine: ForksDecoder,
        groups: Sequence[Kept],
        before: Sequence[Kept],
        done: Callable[[list[Frame]], None],
        failed: Callable[[str], None],
    ) -> DecodeJob:
        """The frames of consecutive groups; before: what is kept before them, where the decoder warms up."""
        return self._start(
            lambda: [f for made in self._decode(engine, groups, before) for f in made.frames], done, failed
        )

    def video(
        self,
        engine: ForksDecoder,
        spec: ModelSpec,
        groups: Sequence[Kept],
        before: Sequence[Kept],
        file: Path,
        done: Callable[[Path], None],
        failed: Callable[[str], None],
    ) -> DecodeJob:
        """An mp4 of consecutive groups, with their sound."""

        def make() -> Path:
            whole = claim_file(file)
            recorder = Recorder(whole, spec.width, spec.height, spec.fps, rate=spec.sound_rate, hardware=True)
            try:
                for made in self._decode(engine, groups, before):
                    for frame, sound in made.each():
                        recorder.add(frame, sound)
            finally:
                recorder.close()
                drop_empty(whole)
            return whole

        return self._start(make, done, failed)

    def clip(
        self,
        engine: ForksDecoder,
        spec: ModelSpec,
        groups: Sequence[Kept],
        before: Sequence[Kept],
        file: Path,
        done: Callable[[Path], None],
        failed: Callable[[str], None],
    ) -> DecodeJob:
        """A looping clip, WebP or GIF by the file's name."""

        def make() -> Path:
            from PIL import Image

            images = [Image.fromarray(f) for made in self._decode(engine, groups, before) for f in made.frames]
            factor = (
                CLIP_HEIGHT / spec.height if spec.height > CLIP_HEIGHT else max(1, round(CLIP_HEIGHT / spec.height))
            )
            size = (round(spec.width * factor), round(spec.height * factor))
            images = [p.resize(size, Image.Resampling.BICUBIC) for p in images]
            whole = claim_file(file)
            duration = round(1000 / spec.fps)
            more = {"quality": 80} if file.suffix == ".webp" else {}
            # whole or not at all
            data = io.BytesIO()
            kind = file.suffix[1:].upper()
            try:
                images[0].save(data, kind, save_all=True, append_images=images[1:], duration=duration, loop=0, **more)
                write_whole(whole, data.getvalue())
            finally:
                drop_empty(whole)
            return whole

        return self._start(make, done, failed)

    def close(self) -> None:
        """Stops the job under way at its next group, and waits for it a while."""
        self._closing.set()
        self._pool.shutdown(wait=False, cancel_futures=True)
        if self._last is not None:
            wait([self._last], CLOSE_SECONDS)

    def _start(self, make: Callable[[], Any], done: Callable[[Any], None], failed: Callable[[str], None]) -> DecodeJob:
        job = DecodeJob(make, done, failed)
        self._last = self._pool.submit(self._run, job)
        return job

    def _run(self, job: DecodeJob) -> None:
        """On the worker's thread."""
        if job.cancelled:
            return
        try:
            result = job.make()
        except DecodeError as e:
            result = e
        except Exception as e:
            log.exception("decoding kept groups failed")
            result = DecodeError(tr("it could not be made: {error}", error=e))
        self._finished.emit(job, result)

    def _report(self, job: DecodeJob, result: object) -> None:
        if job.cancelled:
            return
        if isinstance(result, DecodeError):
            job.failed(str(result))
        else:
            job.done(result)

    def _decode(self, engine: ForksDecoder, groups: Sequence[Kept], before: Sequence[Kept]) -> Iterator[Decoded]:
        decoder = engine.fork_decoder()
        if decoder is None:
            raise DecodeError(tr("the model is not loaded yet"))
        if not groups:
            raise DecodeError(tr("nothing of that is kept any more"))
        decoder.resume([k.group for k in before])
        for k in groups:
            if self._closing.is_set():
                raise DecodeError(tr("the window was closed before it was complete"))
            yield decoded(decoder, k.group, k.start)
