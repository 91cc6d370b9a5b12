"""Looking back: kept groups are decoded again on a thread of its own, beside the world that plays."""

from __future__ import annotations

import logging
import os
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from engine.models.interface import ModelSpec
from engine.playback.recorder import Recorder
from engine.runtime.decode_worker import Decoded, decoded
from engine.runtime.engine import Engine
from engine.runtime.takes import Kept

log = logging.getLogger(__name__)

CLIP_HEIGHT = 320
"""Of a WebP or GIF clip, at most, unless the model's pictures are smaller: those are enlarged to about this."""


class LookBackError(RuntimeError):
    """What was asked for could not be made; the message says why."""


class LookBack(QObject):
    """Takes jobs from the Qt thread; `done` brings their results back to it."""

    done = Signal(int, object)
    """A job's number and its result: frames, a path, or the LookBackError."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs: queue.SimpleQueue[tuple[int, Callable[[], Any]] | None] = queue.SimpleQueue()
        self._next = 0
        self._wanted: set[int] = set()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="foreland-lookback", daemon=True)
        self._thread.start()

    def frames(self, engine: Engine, groups: Sequence[Kept], before: Sequence[Kept] = ()) -> int:
        """The frames of consecutive groups; before: what is kept before them, where the decoder warms up. Returns the job's number."""
        return self._ask(lambda: [f for made in self._decode(engine, groups, before) for f in made.frames])

    def film(
        self, engine: Engine, spec: ModelSpec, groups: Sequence[Kept], file: Path, before: Sequence[Kept] = ()
    ) -> int:
        """An mp4 of consecutive groups, with their sound."""

        def job() -> Path:
            recorder = Recorder(file, spec.width, spec.height, spec.fps, rate=spec.sound_rate, hardware=True)
            try:
                for made in self._decode(engine, groups, before):
                    for frame, sound in made.each():
                        recorder.add(frame, sound)
            finally:
                recorder.close()
            return file

        return self._ask(job)

    def clip(
        self, engine: Engine, spec: ModelSpec, groups: Sequence[Kept], file: Path, before: Sequence[Kept] = ()
    ) -> int:
        """A looping picture, WebP or GIF by the file's name."""

        def job() -> Path:
            from PIL import Image

            pictures = [Image.fromarray(f) for made in self._decode(engine, groups, before) for f in made.frames]
            factor = (
                CLIP_HEIGHT / spec.height if spec.height > CLIP_HEIGHT else max(1, round(CLIP_HEIGHT / spec.height))
            )
            size = (round(spec.width * factor), round(spec.height * factor))
            pictures = [p.resize(size, Image.Resampling.BICUBIC) for p in pictures]
            file.parent.mkdir(parents=True, exist_ok=True)
            each = round(1000 / spec.fps)
            more = {"quality": 80} if file.suffix == ".webp" else {}
            # whole or not at all
            half = file.with_name(f".{file.name}.part")
            kind = file.suffix[1:].upper()
            pictures[0].save(half, kind, save_all=True, append_images=pictures[1:], duration=each, loop=0, **more)
            os.replace(half, file)
            return file

        return self._ask(job)

    def forget(self) -> None:
        """Jobs that have not begun are dropped."""
        self._wanted.clear()

    def close(self) -> None:
        """Waits for the job under way."""
        self._closing.set()
        self._jobs.put(None)
        self._thread.join(20)

    def _ask(self, job: Callable[[], Any]) -> int:
        self._next += 1
        self._wanted.add(self._next)
        self._jobs.put((self._next, job))
        return self._next

    def _decode(self, engine: Engine, groups: Sequence[Kept], before: Sequence[Kept]) -> Iterator[Decoded]:
        decoder = engine.fork_decoder()
        if decoder is None:
            raise LookBackError("the model is not loaded yet")
        if not groups:
            raise LookBackError("nothing of that is kept any more")
        decoder.resume([k.group for k in before])
        for k in groups:
            if self._closing.is_set():
                raise LookBackError("the window was closed before it was complete")
            yield decoded(decoder, k.group, k.start)

    def _run(self) -> None:
        while (item := self._jobs.get()) is not None:
            number, job = item
            if number not in self._wanted:
                continue
            self._wanted.discard(number)
            try:
                result = job()
            except LookBackError as e:
                result = e
            except Exception as e:
                log.exception("looking back failed")
                result = LookBackError(f"it could not be made: {e}")
            try:
                self.done.emit(number, result)
            except RuntimeError:
                return  # the window is gone
