"""The main window: puts the viewport, the prompt bar and the settings together and ties them to an engine."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QAction, QCloseEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QDockWidget, QLabel, QMainWindow, QVBoxLayout, QWidget

from app.choice import Choice
from app.keys import Keyboard
from app.prompt import PromptBar
from app.settings_panel import SettingsPanel
from app.viewport import Viewport
from engine.assets import FOLDER
from engine.keymap import load_keymap
from engine.runtime import Engine
from engine.sampler import ModelSpec
from engine.session import Settings

REFRESH_MS = 60


class MainWindow(QMainWindow):
    """Owns the engine: closing the window ends its threads."""

    def __init__(self, engine: Engine, settings: Settings, spec: ModelSpec) -> None:
        super().__init__()
        self.engine = engine
        self.setWindowTitle(f"Foreland - {spec.name} world")
        self.keyboard = Keyboard(
            load_keymap(), engine.press, engine.release, engine.release_all, engine.clock, QTimer.singleShot
        )
        self.viewport = Viewport(engine, self.keyboard, self)
        presets = json.loads((FOLDER / "presets.json").read_text("utf-8"))
        self.prompt = PromptBar(settings.prompt, presets, spec.text_limit, self)
        self.banner = QLabel(self)
        self.banner.setWordWrap(True)
        self.banner.setVisible(False)
        self.banner.setAccessibleName("Message")
        self.banner.setStyleSheet("background: #5a3a12; color: #ffe9c7; padding: 6px 10px;")
        body = QWidget(self)
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.banner)
        column.addWidget(self.viewport, 1)
        column.addWidget(self.prompt)
        self.setCentralWidget(body)
        self.settings = SettingsPanel(settings, spec, self)
        dock = QDockWidget("Settings", self)
        dock.setObjectName("settings")
        dock.setWidget(self.settings)
        self.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
        self._connect()
        self._menus(dock)
        self._message = ""
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._refresh)
        self._timer.start(REFRESH_MS)
        self.viewport.setFocus()

    # -- wiring --------------------------------------------------------------------------------------------------------

    def _connect(self) -> None:
        focus_world = self.viewport.setFocus
        self.viewport.wants_prompt.connect(self._to_prompt)
        self.prompt.applied.connect(self.engine.say)
        self.prompt.done.connect(focus_world)
        self.settings.changed.connect(lambda changes: self.engine.configure(**changes))
        self.settings.done.connect(focus_world)
        self.settings.pause_wanted.connect(self.toggle_pause)
        self.settings.reset_wanted.connect(self.new_world)

    def _menus(self, dock: QDockWidget) -> None:
        world = self.menuBar().addMenu("&World")
        self._action(world, "&Prompt", "Ctrl+L", self._to_prompt)
        self._action(world, "&Pause or resume", "Ctrl+P", self.toggle_pause)
        self._action(world, "&New world", "Ctrl+R", lambda: self.new_world(self.settings.seed_box.value()))
        world.addSeparator()
        self._action(world, "&Quit", "Ctrl+Q", self.close)
        view = self.menuBar().addMenu("&View")
        self.overlay_action = self._toggle(view, "Speculation &overlay", "F3", self._overlay)
        self._action(view, "Switch &commitment", "F4", self.settings.toggle_commit)
        self._toggle(view, "&Smooth scaling", "F6", self._smooth).setChecked(self.viewport.smooth)
        self._toggle(view, "&Full screen", "F11", self._full_screen)
        panel = dock.toggleViewAction()
        panel.setShortcut(QKeySequence("F9"))
        view.addAction(panel)

    def _action(self, menu, text: str, keys: str, slot) -> QAction:  # type: ignore[no-untyped-def]
        action = QAction(text, self)
        action.setShortcut(QKeySequence(keys))
        action.triggered.connect(lambda checked=False: slot())
        menu.addAction(action)
        return action

    def _toggle(self, menu, text: str, keys: str, slot) -> QAction:  # type: ignore[no-untyped-def]
        action = QAction(text, self, checkable=True)
        action.setShortcut(QKeySequence(keys))
        action.toggled.connect(slot)
        menu.addAction(action)
        return action

    # -- what a person does --------------------------------------------------------------------------------------------

    def toggle_pause(self) -> None:
        """Holds or goes on; all keys are let go."""
        self.keyboard.clear()
        if self.engine.screen.paused:
            self.engine.resume()
        else:
            self.engine.pause()
        self.viewport.setFocus()

    def new_world(self, seed: int) -> None:
        """Begins again with what is in the prompt box."""
        self.keyboard.clear()
        text = self.prompt.edit.text().strip()
        self.engine.reset(text or None, seed)
        self.viewport.setFocus()

    def _to_prompt(self) -> None:
        self.prompt.edit.setFocus()
        self.prompt.edit.selectAll()

    def _overlay(self, on: bool) -> None:
        self.viewport.overlay_shown = on
        self.viewport.update()

    def _smooth(self, on: bool) -> None:
        self.viewport.smooth = on
        self.viewport.update()

    def _full_screen(self, on: bool) -> None:
        self.showFullScreen() if on else self.showNormal()
        self.viewport.setFocus()

    def _refresh(self) -> None:
        view = self.engine.view
        self.prompt.show_view(view)
        self.settings.show_paused(self.engine.screen.paused)
        message = view.message
        if self.engine.error is not None:
            message = f"The engine stopped: {self.engine.error}. What was shown and the session log are kept; start again."
        if message != self._message:
            self._message = message
            self.banner.setText(message)
            self.banner.setVisible(bool(message))

    # -- events --------------------------------------------------------------------------------------------------------

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 (Qt's name)
        if event.type() == QEvent.Type.ActivationChange and not self.isActiveWindow():
            self.keyboard.clear()
        super().changeEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802
        self.keyboard.clear()
        self._timer.stop()
        self.viewport.stop()
        self.engine.close()
        super().closeEvent(event)


def open_window(choice: Choice, settings: Settings, folder: Path, overlay: bool) -> int:
    """Runs the program until its window closes; returns the exit status. Raises OSError for an unwritable folder."""
    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)
    app.setApplicationName("Foreland")
    engine = Engine(choice.load, choice.spec, settings, folder)
    window = MainWindow(engine, settings, choice.spec)
    window.resize(1060, 720)
    window.show()
    window.overlay_action.setChecked(overlay)
    app.processEvents()
    engine.start()
    status = app.exec()
    engine.close()
    return status
