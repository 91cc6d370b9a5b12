"""The start screen in its window: opens and closes it, fills it, and tells what was chosen. The world stands still meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QInputDialog, QMessageBox

from app.language import tr
from app.storage.preferences import Preferences
from app.storage.world_archive import SUFFIX, open_archive
from app.storage.worlds import (
    PastSession,
    World,
    delete_world,
    kept_place,
    read_world,
    rename_world,
    sessions,
    worlds,
)
from app.window.loading import progress_of
from app.window.model_status import model_statuses
from app.window.stage import Stage
from app.window.start_screen import StartScreen
from app.window.world_controller import WorldController


def choices(home: Path | None) -> list[World]:
    """Worlds in the order in which they are proposed: where the person was, their own, those that ship."""
    listed, last = worlds(home), sessions(home, most=1)
    if home is None or not last:
        return listed
    session, name = last[0], tr("Go on where you were")
    if (place := kept_place(home, session)) is not None:
        return [replace(place, name=name, file=None, own=False), *listed]
    again = World(name, session.prompt, session.seed, session.model)
    for w in listed:  # with the picture of a world that began the same way
        if (w.prompt, w.seed, w.model) == (again.prompt, again.seed, again.model):
            return [replace(again, thumbnail=w.thumbnail, loop=w.loop), *listed]
    return [*listed, again]  # without a picture it is not what a person sees first


def first_world(home: Path | None) -> World | None:
    """The one that is chosen when the screen opens."""
    found = choices(home)
    return found[0] if found else None


class StartPage(QObject):
    """Made when it is first opened."""

    worldSelected = Signal(object)
    modelSelected = Signal(str)
    modelsRequested = Signal()
    messagePosted = Signal(str)
    opened = Signal()
    left = Signal()

    def __init__(self, home: Path | None, preferences: Preferences, world: WorldController, stage: Stage) -> None:
        super().__init__(stage)
        self._home, self._preferences, self._world, self._stage = home, preferences, world, stage
        self._paused = False
        self.screen: StartScreen | None = None

    @property
    def is_open(self) -> bool:
        return self.screen is not None and self.screen.isVisible()

    def open(self) -> None:
        """Over the picture; the world is paused while it is there."""
        if self.screen is None:
            self.screen = self._made()
        self._fill()
        if not self._world.paused:
            self._world.toggle_pause()
            self._paused = True
        self._stage.cover = self.screen
        self.screen.show()
        self._stage.arrange()
        self.opened.emit()

    def close(self) -> None:
        """The world goes on as it was."""
        if self.screen is None or self.screen.isHidden():
            return
        self.screen.hide()
        if self._paused:
            self._paused = False
            if self._world.paused:
                self._world.toggle_pause()
        self._stage.viewport.setFocus()
        self.left.emit()

    def refresh(self) -> None:
        """Shows how far the world behind it is."""
        if self.screen is not None and self.screen.isVisible():
            engine = self._world.engine
            if engine.error is not None:
                self.screen.show_progress(engine.error, 0.0)
            elif engine.ready.is_set():
                self.screen.show_progress("", 1.0)
            else:
                self.screen.show_progress(*progress_of(engine))

    def _made(self) -> StartScreen:
        screen = StartScreen(self._preferences.welcome, not self._preferences.still, self._stage)
        self._stage.add(screen)
        screen.worldSelected.connect(self._enter)
        screen.sessionSelected.connect(self._enter_again)
        screen.modelSelected.connect(self._open_model)
        screen.modelsRequested.connect(self.modelsRequested)
        screen.worldFileRequested.connect(self._open_file)
        screen.renameRequested.connect(self._rename)
        screen.deleteRequested.connect(self._delete)
        screen.closed.connect(self.close)
        screen.at_start.toggled.connect(self._keep)
        return screen

    def _fill(self) -> None:
        assert self.screen is not None
        self.screen.fill(choices(self._home), model_statuses(), sessions(self._home))

    def _enter(self, world: World) -> None:
        self.worldSelected.emit(world)
        self.close()

    def _enter_again(self, session: PastSession) -> None:
        self._enter(World(session.folder.name, session.prompt, session.seed, session.model))

    def _open_model(self, name: str) -> None:
        if name != self._world.spec.name:
            self.modelSelected.emit(name)
        self.close()

    def _open_file(self) -> None:
        """A world that somebody sent, or that lies elsewhere. One that cannot be read is said, and the screen stays."""
        title = tr("&Open a world file ...").replace("&", "").removesuffix(" ...")
        file, _ = QFileDialog.getOpenFileName(self.screen, title, "", f"*{SUFFIX} *.json")
        if file:
            self.open_file(Path(file))

    def open_file(self, file: Path) -> None:
        """Enters a world in a file; one that was sent as an archive is among the person's own afterwards."""
        try:
            home = self._home if file.suffix.lower() == SUFFIX else None
            world = read_world(file) if home is None else open_archive(file, home)
        except (OSError, ValueError) as e:
            self.messagePosted.emit(tr("{error}; nothing was changed", error=e))
            return
        self._enter(world)

    def _keep(self, on: bool) -> None:
        self._preferences.welcome = on

    def _rename(self, world: World) -> None:
        name, agreed = QInputDialog.getText(self.screen, tr("Rename"), tr("Name of the world"), text=world.name)
        if agreed and name.strip():
            self._change(lambda: rename_world(world, name.strip()))

    def _delete(self, world: World) -> None:
        question = tr("Delete the world “{name}”? This cannot be undone.", name=world.name)
        if QMessageBox.question(self.screen, tr("Delete"), question) == QMessageBox.StandardButton.Yes:
            self._change(lambda: delete_world(world))

    def _change(self, change: Callable[[], None]) -> None:
        try:
            change()
        except (OSError, ValueError) as e:
            self.messagePosted.emit(tr("{error}; nothing was changed", error=e))
        self._fill()
