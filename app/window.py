"""The main window: puts the viewport, the prompt bar and the settings together and ties them to an engine."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QByteArray, QEvent, Qt, QTimer
from PySide6.QtGui import QAction, QActionGroup, QCloseEvent, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QApplication, QDockWidget, QFileDialog, QLabel, QMainWindow, QVBoxLayout, QWidget

from app import preferences
from app.choice import Choice
from app.keys import Keyboard
from app.models_dialog import ModelsDialog
from app.preferences import THEMES, Preferences
from app.prompt import PromptBar
from app.recording import WindowRecording
from app.settings_panel import SettingsPanel
from app.sound import DEVICES, SoundOut, device_names
from app.viewport import Viewport
from engine.assets import FOLDER
from engine.keymap import load_keymap, presets
from engine.pictures import FILMS, PICTURES
from engine.recorder import RecordingError
from engine.runtime import Engine, Loader, Progress
from engine.sampler import ModelSpec
from engine.session import Model, Settings
from engine.sound import DeviceClock

log = logging.getLogger(__name__)

REFRESH_MS = 60
PREFERENCES = "preferences.json"


class MainWindow(QMainWindow):
    """Owns the engine: closing the window ends its threads."""

    def __init__(
        self, engine: Engine, settings: Settings, spec: ModelSpec, choose: Callable[[str], Choice] | None = None,
        folder: Callable[[], Path | None] = lambda: None, home: Path | None = None, sound: SoundOut | None = None,
    ) -> None:  # fmt: skip
        """choose: makes a choice of a model's name, folder or file; folder: of a new session's log; home: where preferences and
        films are kept, or None for nothing that lasts."""
        super().__init__()
        self._home = home
        self.preferences = preferences.load(home / PREFERENCES) if home is not None else Preferences()
        self.recording = WindowRecording(lambda: (home or Path.cwd()) / "films", self.say)
        self.sound = sound or SoundOut(None, DeviceClock())
        self.sound.say = self.say
        self.engine, self._spec, self._choose, self._new_folder = engine, spec, choose, folder
        self.setWindowTitle(f"Foreland - {spec.name} world")
        self.keyboard = Keyboard(
            presets().get(self.preferences.keymap) or load_keymap(),
            lambda a, t: self.engine.press(a, t), lambda a, t: self.engine.release(a, t),
            lambda: self.engine.release_all(), engine.clock, QTimer.singleShot,
        )
        self.viewport = Viewport(engine, self.keyboard, self)
        self.viewport.on_frame = self.recording.add
        self.viewport.smooth = self.preferences.smooth
        suggestions = json.loads((FOLDER / "presets.json").read_text("utf-8"))
        self.prompt = PromptBar(settings.prompt, suggestions, spec.text_limit, self)
        self.prompt.edit.history[:0] = [p for p in self.preferences.prompts if p != settings.prompt]
        self.prompt.edit.remember(settings.prompt)
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
        self.dock = QDockWidget("Settings", self)
        self.dock.setObjectName("settings")
        self.dock.setWidget(self.settings)
        self.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self.dock)
        self._connect()
        self._connect_settings()
        self._menus(self.dock)
        self._message = self._said = ""
        self._prompt = settings.prompt
        self._restore()
        self.sound.set_volume(self.preferences.volume, self.preferences.muted)
        self.sound.device = self.preferences.sound_device
        self.sound.use(engine.screen)
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._refresh)
        self._timer.start(REFRESH_MS)
        self.viewport.setFocus()

    # -- wiring --------------------------------------------------------------------------------------------------------

    def _connect(self) -> None:
        focus_world = self.viewport.setFocus
        self.viewport.wants_prompt.connect(self._to_prompt)
        self.viewport.dropped.connect(lambda file: self.begin_from(Path(file)))
        self.prompt.applied.connect(lambda text: self.engine.say(text))
        self.prompt.applied.connect(self.preferences.remember)
        self.prompt.done.connect(focus_world)

    def _connect_settings(self) -> None:
        self.settings.changed.connect(lambda changes: self.engine.configure(**changes))
        self.settings.done.connect(self.viewport.setFocus)
        self.settings.pause_wanted.connect(self.toggle_pause)
        self.settings.reset_wanted.connect(self.new_world)

    def _menus(self, dock: QDockWidget) -> None:
        world = self.menuBar().addMenu("&World")
        self._action(world, "&Prompt", "Ctrl+L", self._to_prompt)
        self._action(world, "&Pause or resume", "Ctrl+P", self.toggle_pause)
        self._action(world, "&New world", "Ctrl+R", lambda: self.new_world(self.settings.seed_box.value()))
        self._action(world, "&Begin from a picture or film ...", "Ctrl+O", self.pick_picture)
        self._action(world, "Begin from &nothing", "Ctrl+Shift+O", lambda: self.begin_from(None))
        self._action(world, "&Models ...", "Ctrl+M", self.show_models)
        world.addSeparator()
        self.record_action = self._toggle(world, "&Record a film", "Ctrl+Shift+R", self._record)
        self._action(world, "&Screenshot", "F12", self.screenshot)
        world.addSeparator()
        self._action(world, "&Quit", "Ctrl+Q", self.close)
        view = self.menuBar().addMenu("&View")
        self.overlay_action = self._toggle(view, "Speculation &overlay", "F3", self._overlay)
        self._action(view, "Switch &commitment", "F4", lambda: self.settings.toggle_commit())
        self._toggle(view, "&Smooth scaling", "F6", self._smooth).setChecked(self.viewport.smooth)
        self._toggle(view, "&Full screen", "F11", self._full_screen)
        themes = view.addMenu("&Theme")
        choices = QActionGroup(self)
        for theme in THEMES:
            action = QAction(theme, self, checkable=True, checked=theme == self.preferences.theme)
            action.triggered.connect(lambda checked=False, theme=theme: self.use_theme(theme))
            choices.addAction(action)
            themes.addAction(action)
        self._sound_menu()
        keys = self.menuBar().addMenu("&Keys")
        layouts = QActionGroup(self)
        for name, table in presets().items():
            current = dict(table) == dict(self.keyboard.keymap)
            action = QAction(name, self, checkable=True, checked=current)
            action.triggered.connect(lambda checked=False, name=name: self.use_keys(name))
            layouts.addAction(action)
            keys.addAction(action)
        panel = dock.toggleViewAction()
        panel.setShortcut(QKeySequence("F9"))
        view.addAction(panel)

    def _sound_menu(self) -> None:
        menu = self.menuBar().addMenu("&Sound")
        self.mute_action = self._toggle(menu, "&Mute", "Ctrl+Shift+M", self._mute)
        self.mute_action.setChecked(self.preferences.muted)
        self._action(menu, "&Louder", "Ctrl+Up", lambda: self.set_volume(self.sound.volume + 0.1))
        self._action(menu, "&Quieter", "Ctrl+Down", lambda: self.set_volume(self.sound.volume - 0.1))
        self._devices = menu.addMenu("&Device")
        self._devices.aboutToShow.connect(self._list_devices)

    def _list_devices(self) -> None:
        """Devices come and go: the list is made when it is looked at."""
        self._devices.clear()
        for name in ("", *device_names()):
            action = self._devices.addAction(name or "the system's own")
            action.setCheckable(True)
            action.setChecked(name == self.sound.device)
            action.triggered.connect(lambda checked=False, name=name: self.use_sound(name))

    def use_sound(self, device: str) -> None:
        """Another sound device by name."""
        self.preferences.sound_device = device
        self.sound.choose(device)
        self.viewport.setFocus()

    def set_volume(self, volume: float) -> None:
        """In [0, 1]; also ends a mute."""
        self.mute_action.setChecked(False)
        self.sound.set_volume(round(volume, 2), False)
        self.preferences.volume = self.sound.volume
        self.say(f"volume {self.sound.volume:.0%}")

    def _mute(self, on: bool) -> None:
        self.preferences.muted = on
        self.sound.set_volume(self.sound.volume, on)

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

    # -- what is remembered --------------------------------------------------------------------------------------------

    def _restore(self) -> None:
        """Place, panels and theme as they were; a broken memory of them is no reason not to start."""
        self.use_theme(self.preferences.theme)
        if self.preferences.geometry:
            self.restoreGeometry(QByteArray.fromHex(self.preferences.geometry.encode()))
        if self.preferences.state:
            self.restoreState(QByteArray.fromHex(self.preferences.state.encode()))

    def _remember(self) -> None:
        p = self.preferences
        p.geometry, p.state = (bytes(x.toHex().data()).decode() for x in (self.saveGeometry(), self.saveState()))
        p.overlay, p.smooth = self.viewport.overlay_shown, self.viewport.smooth
        if self._home is not None:
            try:
                preferences.save(p, self._home / PREFERENCES)
            except OSError as e:
                log.warning("the preferences could not be saved: %s", e)

    def use_theme(self, theme: str) -> None:
        """system, dark or light."""
        self.preferences.theme = theme
        schemes = {"dark": Qt.ColorScheme.Dark, "light": Qt.ColorScheme.Light}
        QGuiApplication.styleHints().setColorScheme(schemes.get(theme, Qt.ColorScheme.Unknown))

    def use_keys(self, name: str) -> None:
        """Another key map; all keys are let go first."""
        self.keyboard.clear()
        self.keyboard.keymap = presets()[name]
        self.preferences.keymap = name
        self.viewport.setFocus()

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

    def _record(self, on: bool) -> None:
        if not on:
            self.recording.stop()
        else:
            try:
                self.recording.start(self._spec)
            except RecordingError as e:
                self.record_action.setChecked(False)
                self.say(f"{e}; nothing is recorded")
        self.viewport.setFocus()

    def screenshot(self) -> None:
        """The world as it is shown, with the overlay where that is on, as a PNG."""
        file = (self._home or Path.cwd()) / "pictures" / time.strftime("%Y-%m-%d-%H%M%S.png")
        file.parent.mkdir(parents=True, exist_ok=True)
        saved = self.viewport.grab().save(str(file))
        self.say(f"saved {file}" if saved else f"the picture could not be written to {file}")
        self.viewport.setFocus()

    def begin_from(self, file: Path | None) -> None:
        """A new world from a picture or film, or, with None, as the model begins by itself."""
        self.keyboard.clear()
        text = self.prompt.edit.text().strip()
        self.engine.reset(text or None, self.settings.seed_box.value(), file if file is not None else False)
        self.viewport.setFocus()

    def pick_picture(self) -> None:
        self.keyboard.clear()
        kinds = " ".join(f"*{s}" for s in (*PICTURES, *FILMS))
        file, _ = QFileDialog.getOpenFileName(self, "Begin from a picture or film", "", f"Pictures and films ({kinds})")
        if file:
            self.begin_from(Path(file))

    def show_models(self) -> None:
        """The models dialog; it does not stop the world."""
        self.keyboard.clear()
        self.models = ModelsDialog(self._spec.name, self)
        self.models.chosen.connect(self.open_model)
        self.models.show()

    def open_model(self, name: str) -> None:
        """Opens another model in this window. What cannot be opened is said, and the world goes on."""
        if self._choose is None:
            return
        try:
            choice = self._choose(name)
            settings = Settings(prompt=self.prompt.edit.text().strip() or self._prompt, seed=self.settings.seed_box.value())
            engine = Engine(after(self.engine, choice.load), choice.spec, settings, self._new_folder(), self.engine.clock)
        except (ValueError, OSError) as e:
            self.say(f"{e}; the world goes on as before")
            return
        self.keyboard.clear()
        self.record_action.setChecked(False)  # a film has one size
        self.engine, self._spec = engine, choice.spec
        self.viewport.use(engine)
        self.sound.use(engine.screen)
        self.prompt.limit(choice.spec.text_limit)
        self.settings = SettingsPanel(settings.checked(choice.spec), choice.spec, self)
        self.settings.pause_wanted.connect(self.toggle_pause)
        self.settings.reset_wanted.connect(self.new_world)
        self._connect_settings()
        self.dock.setWidget(self.settings)
        self.setWindowTitle(f"Foreland - {choice.spec.name} world")
        self._said = ""
        engine.start()
        self.viewport.setFocus()

    def say(self, message: str) -> None:
        """A banner of the window's own, until the engine has something newer."""
        self._said = message

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
        self.sound.look()
        self.prompt.show_view(view)
        if self.recording.on:
            minutes, seconds = divmod(int(self.recording.seconds), 60)
            self.record_action.setText(f"&Record a film (recording {minutes}:{seconds:02})")
        elif self.record_action.text() != "&Record a film":
            self.record_action.setText("&Record a film")
        self.viewport.recording = self.recording.on
        self.settings.show_paused(self.engine.screen.paused)
        message = self._said or view.message
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
        self.sound.close()
        self.recording.close()
        self._remember()
        self.engine.close()
        super().closeEvent(event)


def after(old: Engine, load: Loader) -> Loader:
    """Loads in the new engine's thread once the old one has ended, so that the window never waits and memory is free."""

    def both(progress: Progress) -> Model:
        progress("closing the world before", 0.0)
        old.close()
        return load(progress)

    return both


def open_window(
    choice: Choice, settings: Settings, folder: Path, overlay: bool, choose: Callable[[str], Choice],
    new_folder: Callable[[], Path], home: Path, sound: str = "system",
) -> int:  # fmt: skip
    """Runs the program until its window closes; returns the exit status. Raises OSError for an unwritable folder."""
    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)
    app.setApplicationName("Foreland")
    clock = DeviceClock()
    engine = Engine(choice.load, choice.spec, settings, folder, clock)
    speaker = SoundOut(DEVICES.get(sound), clock)
    window = MainWindow(engine, settings, choice.spec, choose, new_folder, home, speaker)
    if not window.preferences.geometry:
        window.resize(1060, 720)
    window.show()
    window.overlay_action.setChecked(overlay or window.preferences.overlay)
    app.processEvents()
    engine.start()
    status = app.exec()
    window.engine.close()
    return status
