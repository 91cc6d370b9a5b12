"""Recording from the window: a video of what is shown."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from app.language import tr
from engine.files import claim_file, drop_empty
from engine.models.interface import ModelSpec
from engine.playback.player import Frame, Samples
from engine.playback.recorder import Draw, Recorder, RecordingError


def _left_out(recorder: Recorder) -> str:
    if not recorder.left_out:
        return ""
    return tr("; {n} frames are missing in it: the encoder was too slow for this machine", n=recorder.left_out)


class WindowRecording:
    """One video at a time. A frame costs the Qt thread one hand-over; the video is finished on a thread of its own."""

    def __init__(self, folder: Callable[[], Path], post: Callable[[str], None]) -> None:
        """folder: where videos go; post: takes a message, from any thread."""
        self._folder, self._post = folder, post
        self._recorder: Recorder | None = None
        self._began = 0.0
        self._ending: list[threading.Thread] = []
        self.frames = 0
        self.handed = 0.0
        """Seconds that the Qt thread has spent on handing over the frames of this video."""

    @property
    def on(self) -> bool:
        return self._recorder is not None

    @property
    def error(self) -> str:
        """Why the video ended by itself; '' for a video that goes on."""
        return self._recorder.error if self._recorder is not None else ""

    @property
    def seconds(self) -> float:
        """Since the video began."""
        return time.monotonic() - self._began if self.on else 0.0

    def start(self, spec: ModelSpec) -> None:
        """Raises RecordingError."""
        self.stop()
        name = time.strftime(f"{spec.name.replace('/', '-')}-%Y-%m-%d-%H%M%S.mp4")
        try:
            file = claim_file(self._folder() / name)
        except OSError as e:
            raise RecordingError(f"cannot write {self._folder() / name}: {e.strerror}") from e
        self._recorder = Recorder(
            file, spec.width, spec.height, spec.fps, rate=spec.sound_rate, hardware=True, waits=False
        )
        self._began = time.monotonic()
        self.frames, self.handed = 0, 0.0

    def add(self, frame: Frame, sound: Samples | None = None, draw: Draw | None = None) -> None:
        """A frame that was shown, its sound, and what is drawn over it in the video."""
        if self._recorder is not None:
            began = time.perf_counter()
            self._recorder.add(frame, sound, draw)
            self.handed += time.perf_counter() - began
            self.frames += 1

    def stop(self) -> None:
        """Ends the video; its path is posted when it is complete."""
        recorder, self._recorder = self._recorder, None
        if recorder is None:
            return

        def finish() -> None:
            try:
                recorder.close()
                self._post(tr("recorded {file}", file=recorder.path) + _left_out(recorder))
            except RecordingError as e:
                self._post(str(e))
            finally:
                drop_empty(recorder.path)

        thread = threading.Thread(target=finish, name="foreland-recorder-end", daemon=True)
        thread.start()
        self._ending = [t for t in self._ending if t.is_alive()] + [thread]

    def close(self) -> None:
        """Ends the video and waits until all are complete."""
        self.stop()
        for thread in self._ending:
            thread.join(20)
