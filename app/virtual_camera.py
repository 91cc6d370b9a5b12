"""The world as a camera of the system, for calls and streams, through pyvirtualcam where that is installed."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from typing import Any

from app.language import tr
from engine.playback.player import Frame

log = logging.getLogger(__name__)
WAITING = 2
"""Frames that may wait; what comes while they do is left out, as a camera shows the newest."""


class CameraError(RuntimeError):
    """There is no virtual camera here; the message says what to install."""


class VirtualCamera:
    """Frames in on any thread, without waiting; sent on a thread of its own."""

    def __init__(self, width: int, height: int, fps: float, open_camera: Callable[..., Any] | None = None) -> None:
        """open_camera: pyvirtualcam's `Camera` if left out. Raises CameraError."""
        if open_camera is None:
            try:
                from pyvirtualcam import Camera
            except ImportError as e:
                raise CameraError(
                    tr("a virtual camera needs the package pyvirtualcam: pip install 'foreland[camera]'")
                ) from e
            open_camera = Camera
        try:
            self._camera = open_camera(width=width, height=height, fps=fps)
        except RuntimeError as e:
            raise CameraError(tr("no virtual camera can be opened here: {error}", error=str(e).strip())) from e
        self._frames: queue.Queue[Frame | None] = queue.Queue(WAITING)
        self._shape = (height, width, 3)
        self._thread = threading.Thread(target=self._run, name="foreland-camera", daemon=True)
        self._thread.start()

    @property
    def device(self) -> str:
        """The name under which other programs see it."""
        return str(self._camera.device)

    def add(self, frame: Frame) -> None:
        """The newest frame; one of another size, or one too many, is left out."""
        if frame.shape == self._shape:
            try:
                self._frames.put_nowait(frame)
            except queue.Full:
                return

    def _run(self) -> None:
        while (frame := self._frames.get()) is not None:
            try:
                self._camera.send(frame)
            except RuntimeError as e:
                log.warning("the virtual camera took no frame: %s", e)

    def close(self) -> None:
        """The camera is gone for other programs."""
        self._frames.put(None)
        self._thread.join(2)
        self._camera.close()
