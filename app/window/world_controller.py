"""The engine side of the window: starts, replaces and closes the engine, and tells it what the person wants."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.language import tr
from app.options import WorldChoice
from app.storage.world_archive import write_archive
from app.storage.worlds import World, keep_place, save_world
from engine.models.interface import ModelSpec
from engine.runtime.live_engine import LiveEngine
from engine.runtime.settings import Settings, StartFrom
from engine.user_data import private

log = logging.getLogger(__name__)

STEP_BACK = 2
"""Groups that one step back undoes."""


class WorldController(QObject):
    """Owns the engine on show. Another model is another engine; everything else only sends it messages."""

    engineChanged = Signal(object, object)
    """Another engine and its settings, before it starts."""
    interrupted = Signal()
    """Playback is about to be paused, resumed or left: held keys are released first."""
    messagePosted = Signal(str)

    def __init__(
        self,
        engine: LiveEngine,
        settings: Settings,
        spec: ModelSpec,
        choose: Callable[[str], WorldChoice] | None = None,
        new_session: Callable[[], Path | None] = lambda: None,
        parent: QObject | None = None,
    ) -> None:
        """choose: finds a model by its name, folder or file, and raises ValueError where there is none; None where no
        other model can be opened. new_session: the folder of another session's log."""
        super().__init__(parent)
        self.engine, self.spec = engine, spec
        self._choose, self._new_session = choose, new_session
        self._first_prompt = settings.prompt
        self._start_file: Path | None = None

    # -- keys ----------------------------------------------------------------------------------------------------------

    def press(self, action: str, arrival: float) -> None:
        self.engine.press(action, arrival)

    def release(self, action: str, arrival: float) -> None:
        self.engine.release(action, arrival)

    def release_all(self) -> None:
        self.engine.release_all()

    # -- conditions and settings ---------------------------------------------------------------------------------------

    def set_prompt(self, prompt: str, seconds: float = 0.0) -> None:
        """seconds: of the transition to it."""
        self.engine.set_prompt(prompt, seconds=seconds)

    def set_negative_prompt(self, negative: str) -> None:
        """'' for the model's own."""
        self.engine.set_negative_prompt(negative or None)

    def configure(self, changes: dict[str, Any]) -> None:
        """Names and values of `Settings`."""
        self.engine.configure(**changes)

    # -- time ----------------------------------------------------------------------------------------------------------

    @property
    def paused(self) -> bool:
        return self.engine.player.paused

    def media_time(self) -> float:
        """Seconds of this world that were played."""
        return self.engine.player.media_time(self.engine.clock.now())

    def toggle_pause(self) -> None:
        """Pauses or resumes."""
        self.interrupted.emit()
        if self.paused:
            self.engine.resume()
        else:
            self.engine.pause()

    def step_back(self) -> None:
        """Another way on from `STEP_BACK` groups before the one on show."""
        takes = self.engine.takes
        path = takes.path(takes.current)
        if len(path) > STEP_BACK:
            self.engine.rewind(takes.current, path[-1 - STEP_BACK].position)

    def waits_as(self, world: World, seed: int) -> bool:
        """Whether this world is the one on show, and nothing of it was played yet. seed: of the world on show."""
        same = (world.prompt, world.seed, world.model) == (self.engine.view.prompt, seed, self.spec.name)
        return same and world.begin == self._start_file and self.engine.player.shown == 0

    # -- worlds --------------------------------------------------------------------------------------------------------

    def new_world(self, prompt: str, seed: int) -> None:
        """From what this one started from. prompt: '' for the one in force."""
        self.interrupted.emit()
        self.engine.new_world(prompt or None, seed)

    def start_from(self, file: Path | None, prompt: str, seed: int) -> None:
        """A new world from an image or video; None: from what the model starts from by itself."""
        self.interrupted.emit()
        self._start_file = file
        start = StartFrom.model() if file is None else StartFrom.file(file)
        self.engine.new_world(prompt or None, seed, start)

    def stop_reading(self) -> None:
        """The file that is being read for a new world is not wanted any more; nothing when none is."""
        self.engine.cancel_reading()

    def save(self, home: Path, seed: int, thumbnail: bytes) -> None:
        """Saves prompt, seed and model of this world, and the place on the screen, or else its start image. thumbnail: a
        PNG.
        """
        try:
            saved = save_world(home, self._world(seed), thumbnail, self.engine.place())
            self.messagePosted.emit(tr("saved {file}", file=saved))
        except OSError as e:
            self.messagePosted.emit(tr("the world could not be saved: {error}", error=e))

    def share(self, file: Path, seed: int, thumbnail: bytes) -> None:
        """The same as one file, which can be sent."""
        try:
            write_archive(file, self._world(seed), thumbnail, self.engine.place())
            self.messagePosted.emit(tr("saved {file}", file=file))
        except OSError as e:
            self.messagePosted.emit(tr("the world could not be saved: {error}", error=e))

    def keep_place(self, home: Path, seed: int, thumbnail: bytes) -> None:
        """Keeps where the person is, for the next start. What cannot be kept is in the log alone: the window is closing."""
        if private():
            return
        try:
            if (place := self.engine.place()) is not None:
                keep_place(home, self._world(seed), thumbnail, place)
        except (OSError, ValueError, RuntimeError):
            log.warning("the last place could not be kept", exc_info=True)

    def _world(self, seed: int) -> World:
        """The world on show, as it is saved: named after its prompt."""
        prompt = self.engine.view.prompt
        return World(prompt, prompt, seed, self.spec.name, self._start_file)

    def open_model(self, name: str, prompt: str, seed: int) -> None:
        """Replaces the engine by one of another model. What cannot be opened is a message, and the world goes on."""
        if self._choose is None:
            return
        try:
            choice = self._choose(name)
            settings = Settings(prompt=prompt or self._first_prompt, seed=seed)
            engine = choice.engine(settings, self._new_session(), self.engine.clock, self.engine)
        except (ValueError, OSError) as e:
            self.messagePosted.emit(tr("{error}; the world goes on as before", error=e))
            return
        self.interrupted.emit()
        self.engine, self.spec = engine, choice.spec
        self._start_file = None
        self.engineChanged.emit(engine, settings.checked(choice.spec))
        engine.start()

    @property
    def status(self) -> str:
        """What the engine has to say, '' for nothing."""
        if self.engine.error is not None:
            return f"The engine stopped: {self.engine.error}. What was shown and the session log are kept; start again."
        if (reading := self.engine.reading) is not None:
            return tr("reading {name}: {share:.0%} (Esc stops it)", name=reading[0].name, share=reading[1])
        return self.engine.view.message

    def close(self) -> None:
        """Waits for the engine's threads; its log is complete afterwards."""
        self.engine.close()
