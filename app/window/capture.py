"""Videos and screenshots of what the window shows."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.language import tr
from app.storage.preferences import Preferences
from app.storage.recording import WindowRecording
from app.virtual_camera import CameraError, VirtualCamera
from app.window import overlay
from app.window.overlay_export import export_overlay
from app.window.viewport import Viewport
from app.window.world_controller import WorldController
from engine.files import claim_file, drop_empty
from engine.playback.player import Frame, Samples
from engine.playback.recorder import RecordingError


class Capture(QObject):
    """Records the frames that the viewport shows, and saves single ones."""

    recordingChanged = Signal(bool)
    cameraChanged = Signal(bool)
    messagePosted = Signal(str)

    def __init__(
        self,
        viewport: Viewport,
        world: WorldController,
        preferences: Preferences,
        folder: Path,
        post: Callable[[str], None],
    ) -> None:
        """folder: videos and screenshots go to folders in it. post: takes messages from any thread."""
        super().__init__(viewport)
        self._viewport, self._world, self._preferences, self._folder = viewport, world, preferences, folder
        self.recording = WindowRecording(lambda: folder / "films", post)
        self.camera: VirtualCamera | None = None
        viewport.frameShown.connect(self._add)

    def record(self, on: bool) -> None:
        """Starts or ends a video. What is impossible is a message."""
        if on == self.recording.on:
            return
        if on:
            try:
                self.recording.start(self._world.spec)
            except RecordingError as e:
                self.messagePosted.emit(tr("{error}; nothing is recorded", error=e))
        else:
            self.recording.stop()
        self.recordingChanged.emit(self.recording.on)

    def look(self) -> None:
        """Ends a video that cannot be written any more; the reason is posted."""
        if self.recording.error:
            self.record(False)

    def use_camera(self, on: bool, make: Callable[..., VirtualCamera] = VirtualCamera) -> None:
        """The world is a camera of the system, or no more. What is missing is a message."""
        if on == (self.camera is not None):
            return
        if self.camera is not None:
            self.camera.close()
            self.camera = None
        if on:
            spec = self._world.spec
            try:
                self.camera = make(spec.width, spec.height, spec.fps)
                self.messagePosted.emit(
                    tr("Other programs see this world as the camera {name}", name=self.camera.device)
                )
            except CameraError as e:
                self.messagePosted.emit(str(e))
        self.cameraChanged.emit(self.camera is not None)

    def include_overlay(self, on: bool) -> None:
        """Whether videos have the overlay."""
        self._preferences.film_overlay = on

    def screenshot(self) -> None:
        """The world as it is shown, with the overlay where that is on, as a PNG."""
        file = self._folder / "pictures" / time.strftime("%Y-%m-%d-%H%M%S.png")
        try:
            file = claim_file(file)
            saved = self._viewport.grab().save(str(file))
            drop_empty(file)
        except OSError:
            saved = False
        self.messagePosted.emit(
            tr("saved {file}", file=file) if saved else tr("the screenshot could not be written to {file}", file=file)
        )

    def export_overlay(self) -> None:
        """The overlay of this instant, as SVG and PNG."""
        stem = self._folder / "pictures" / time.strftime("overlay-%Y-%m-%d-%H%M%S")
        try:
            files = export_overlay(self._viewport.moment(), claim_file(stem.with_suffix(".svg")))
        except OSError as e:
            self.messagePosted.emit(tr("The overlay could not be saved: {error}", error=e))
            return
        self.messagePosted.emit(tr("saved {file}", file=" , ".join(str(f) for f in files)))

    def _add(self, frame: Frame, sound: Samples | None) -> None:
        if self.camera is not None:
            self.camera.add(frame)
        if not self.recording.on:
            return
        draw = None
        if self._preferences.film_overlay:
            engine, now = self._world.engine, self._world.engine.clock.now()
            draw = overlay.drawing(engine.view, engine.player.media_time(now), now)
        self.recording.add(frame, sound, draw)

    def close(self) -> None:
        """Ends the video under way and waits until every one is complete."""
        self.use_camera(False)
        self.recording.close()
