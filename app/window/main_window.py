"""The main window: puts the viewport, the prompt bar and the settings together and ties them to an engine."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QBuffer, QByteArray, QEvent, QIODevice, Qt, QTimer
from PySide6.QtGui import QCloseEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QDockWidget, QFileDialog, QLabel, QMainWindow, QVBoxLayout, QWidget

from app.audio_output import DEVICES, SoundOut
from app.input.held_keys import Keyboard
from app.input.input_manager import Inputs, keymap_of
from app.options import Choice
from app.storage import preferences
from app.storage.preferences import Preferences
from app.storage.recording import WindowRecording
from app.storage.worlds import World, save_world
from app.window import overlay
from app.window.actions import Menus
from app.window.help import Page, about_page, help_page
from app.window.models_dialog import ModelsDialog
from app.window.prompt_bar import PromptBar
from app.window.score_panel import ScorePanel
from app.window.settings_panel import SettingsPanel
from app.window.takes_panel import TakesPanel
from app.window.viewport import Viewport
from app.window.welcome import Welcome, gpu_memory_gb
from engine.assets import FOLDER
from engine.models.interface import Loader, Model, ModelSpec, Progress
from engine.models.media_files import FILMS, PICTURES
from engine.playback.audio import DeviceClock
from engine.playback.player import Frame, Samples
from engine.playback.recorder import RecordingError
from engine.runtime.clock import SystemClock
from engine.runtime.engine import Engine
from engine.runtime.settings import Settings, StartFrom

if TYPE_CHECKING:
    from app.window.metrics_panel import MetricsPanel

log = logging.getLogger(__name__)

REFRESH_MS = 60
WELCOME_MS = 400
STEP_BACK = 2
SAID_SECONDS = 10.0
TEXT_POINTS = 10.0
PREFERENCES = "preferences.json"


class MainWindow(QMainWindow):
    """Owns the engine: closing the window ends its threads."""

    def __init__(
        self,
        engine: Engine,
        settings: Settings,
        spec: ModelSpec,
        choose: Callable[[str], Choice] | None = None,
        folder: Callable[[], Path | None] = lambda: None,
        home: Path | None = None,
        sound: SoundOut | None = None,
    ) -> None:
        """choose: makes a choice of a model's name, folder or file; folder: of a new session's log; home: where preferences and
        films are kept, or None for nothing that lasts."""
        super().__init__()
        self._home = home
        self.preferences = preferences.load(home / PREFERENCES) if home is not None else Preferences()
        self.recording = WindowRecording(lambda: (home or Path.cwd()) / "films", self.say)
        self.sound = sound or SoundOut(None, DeviceClock())
        self.sound.say = self.say
        self._begin: Path | None = None
        self.engine, self._spec, self._choose, self._new_folder = engine, spec, choose, folder
        self.setWindowTitle(f"Foreland - {spec.name} world")
        self.keyboard = Keyboard(
            keymap_of(self.preferences),
            lambda a, t: self.engine.press(a, t),
            lambda a, t: self.engine.release(a, t),
            lambda: self.engine.release_all(),
            engine.clock.now,
            QTimer.singleShot,
        )
        self.viewport = Viewport(engine, self.keyboard, self)
        self.viewport.on_frame = self._shown
        self.viewport.smooth = self.preferences.smooth
        suggestions = json.loads((FOLDER / "presets.json").read_text("utf-8"))
        self.prompt = PromptBar(settings.prompt, suggestions, spec.text_limit, self)
        self.prompt.edit.history[:0] = [p for p in self.preferences.prompts if p != settings.prompt]
        self.prompt.edit.remember(settings.prompt)
        self.prompt.show_favourites(self.preferences.favourites)
        if self.preferences.draft:
            self.prompt.edit.setText(self.preferences.draft)
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
        self.dock = QDockWidget("Settings", self)
        self.dock.setObjectName("settings")
        self.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self.dock)
        self._show_settings(settings)
        self._connect()
        self._docks()
        self.inputs = Inputs(self.keyboard, self.viewport, self.preferences, self.say, self)
        self.menus = Menus(self)
        self.overlay_action, self.record_action, self.mute_action = (
            self.menus.overlay,
            self.menus.record,
            self.menus.mute,
        )
        self._message = self._said = ""
        self._said_at = 0.0
        self._prompt = settings.prompt
        self._restore()
        self.sound.set_volume(self.preferences.volume, self.preferences.muted)
        self.sound.device = self.preferences.sound_device
        self.sound.use(engine.player)
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._refresh)
        self._timer.start(REFRESH_MS)
        self.viewport.setFocus()

    # -- wiring --------------------------------------------------------------------------------------------------------

    def _connect(self) -> None:
        focus_world = self.viewport.setFocus
        self.viewport.wants_prompt.connect(self.to_prompt)
        self.viewport.dropped.connect(lambda file: self.begin_from(Path(file)))
        self.prompt.applied.connect(lambda text, seconds: self.engine.set_prompt(text, seconds=seconds))
        self.prompt.applied.connect(lambda text, seconds: self.preferences.remember(text))
        self.prompt.favourite.connect(self._favourite)
        self.prompt.done.connect(focus_world)

    def _show_settings(self, settings: Settings) -> None:
        """A settings panel for the model in play; the one of the model before is deleted."""
        if self.dock.widget() is not None:
            self.dock.widget().deleteLater()
        self.settings = SettingsPanel(settings, self._spec, self)
        self.dock.setWidget(self.settings)
        self.settings.changed.connect(lambda changes: self.engine.configure(**changes))
        self.settings.done.connect(self.viewport.setFocus)
        self.settings.pause_wanted.connect(self.toggle_pause)
        self.settings.reset_wanted.connect(self.new_world)
        self.settings.negative_said.connect(lambda text: self.engine.set_negative_prompt(text or None))

    def _docks(self) -> None:
        """The panels that begin hidden."""
        self.takes = TakesPanel(lambda: self._home or Path.cwd(), self)
        self.takes.use(self.engine, self._spec)
        self.takes.said.connect(self.say)
        self.takes.done.connect(self.viewport.setFocus)
        self.score = ScorePanel(lambda: self.engine.player.media_time(self.engine.clock.now()), self)
        self.score.said.connect(self._perform)
        self.metrics: MetricsPanel | None = None
        self.takes_dock, self.score_dock, self.metrics_dock = (
            self._dock(title, name) for title, name in (("Takes", "takes"), ("Score", "score"), ("Metrics", "metrics"))
        )
        self.takes_dock.setWidget(self.takes)
        self.score_dock.setWidget(self.score)
        self.metrics_dock.visibilityChanged.connect(self._open_metrics)

    def _dock(self, title: str, name: str) -> QDockWidget:
        dock = QDockWidget(title, self)
        dock.setObjectName(name)
        self.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
        dock.hide()
        return dock

    def _open_metrics(self, visible: bool) -> None:
        """The plots are made when they are first looked at."""
        if visible and self.metrics is None:
            from app.window.metrics_panel import MetricsPanel

            self.metrics = MetricsPanel(self)
            self.metrics_dock.setWidget(self.metrics)

    # -- what is remembered --------------------------------------------------------------------------------------------

    def _restore(self) -> None:
        """Place, panels and theme as they were; a broken memory of them is no reason not to start."""
        self.use_theme(self.preferences.theme)
        self._text_size = TEXT_POINTS if QApplication.font().pointSizeF() <= 0 else self._first_text_size()
        self.scale_text(self.preferences.text_scale)
        if self.preferences.geometry:
            self.restoreGeometry(QByteArray.fromHex(self.preferences.geometry.encode()))
        if self.preferences.state:
            self.restoreState(QByteArray.fromHex(self.preferences.state.encode()))

    def _remember(self) -> None:
        p = self.preferences
        p.geometry, p.state = (bytes(x.toHex().data()).decode() for x in (self.saveGeometry(), self.saveState()))
        p.overlay, p.smooth = self.viewport.overlay_shown, self.viewport.smooth
        text = self.prompt.edit.text().strip()
        p.draft = text if text != self.engine.view.prompt else ""
        if self._home is not None:
            try:
                preferences.save(p, self._home / PREFERENCES)
            except OSError as e:
                log.warning("the preferences could not be saved: %s", e)

    @staticmethod
    def _first_text_size() -> float:
        """Of the application before any window scaled it."""
        application = QApplication.instance()
        assert application is not None
        size = application.property("foreland text size")
        if size is None:
            size = QApplication.font().pointSizeF()
            application.setProperty("foreland text size", size)
        return float(size)

    def use_theme(self, theme: str) -> None:
        """system, dark or light."""
        self.preferences.theme = theme
        schemes = {"dark": Qt.ColorScheme.Dark, "light": Qt.ColorScheme.Light}
        QGuiApplication.styleHints().setColorScheme(schemes.get(theme, Qt.ColorScheme.Unknown))

    def scale_text(self, scale: float) -> None:
        """Of everything but the overlay, which goes with the picture's size."""
        self.preferences.text_scale = min(max(round(scale, 1), 0.8), 2.0)
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        font = application.font()
        font.setPointSizeF(self._text_size * self.preferences.text_scale)
        application.setFont(font)

    # -- what a person does --------------------------------------------------------------------------------------------

    def toggle_pause(self) -> None:
        """Holds or goes on; all keys are let go."""
        self.keyboard.clear()
        if self.engine.player.paused:
            self.engine.resume()
        else:
            self.engine.pause()
        self.viewport.setFocus()

    def new_world(self, seed: int) -> None:
        """Begins again with what is in the prompt box."""
        self.keyboard.clear()
        text = self.prompt.edit.text().strip()
        self.engine.new_world(text or None, seed)
        self.viewport.setFocus()

    def step_back(self) -> None:
        """Another way on from two groups before the one on show."""
        path = self.engine.takes.path(self.engine.takes.current)
        if len(path) > STEP_BACK:
            self.engine.rewind(self.engine.takes.current, path[-1 - STEP_BACK].position)
        self.viewport.setFocus()

    def save_world(self) -> None:
        """Prompt, seed, model and start picture, with the picture on show as its thumbnail."""
        home, image = self._home, self.viewport.image()
        if home is None or image is None:
            self.say("there is nothing to save yet")
            return
        data = QByteArray()
        buffer = QBuffer(data)
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        image.save(buffer, "PNG")  # type: ignore[call-overload]
        prompt = self.engine.view.prompt
        world = World(prompt, prompt, self.settings.seed_box.value(), self._spec.name, self._begin)
        try:
            self.say(f"saved {save_world(home, world, bytes(data.data()))}")
        except OSError as e:
            self.say(f"the world could not be saved: {e}")
        self.viewport.setFocus()

    def show_welcome(self) -> None:
        """Worlds, models and sessions; the world goes on meanwhile."""
        self.keyboard.clear()
        self.welcome = Welcome(self._home, gpu_memory_gb(), self.preferences.welcome, self)
        self.welcome.world_chosen.connect(self.enter_world)
        self.welcome.session_chosen.connect(lambda s: self.enter_world(World(s.folder.name, s.prompt, s.seed, s.model)))
        self.welcome.model_chosen.connect(self.open_model)
        self.welcome.models_wanted.connect(self.show_models)
        self.welcome.at_start.toggled.connect(lambda on: setattr(self.preferences, "welcome", on))
        self.welcome.show()

    def enter_world(self, world: World) -> None:
        """Begins a saved world, with its model where that is another one."""
        self.prompt.edit.setText(world.prompt)
        self.prompt.edit.remember(world.prompt)
        self.settings.seed_box.setValue(world.seed)
        if world.model != self._spec.name:
            self.open_model(world.model)
        else:
            self.begin_from(world.begin)

    def show_help(self) -> None:
        self.keyboard.clear()
        self.page = Page("What the overlay shows", help_page(), self)
        self.page.show()

    def show_about(self) -> None:
        self.keyboard.clear()
        self.page = Page("About Foreland", about_page(), self)
        self.page.show()

    def films_with_overlay(self, on: bool) -> None:
        self.preferences.film_overlay = on

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

    def mute(self, on: bool) -> None:
        self.preferences.muted = on
        self.sound.set_volume(self.sound.volume, on)

    def _favourite(self, prompt: str, on: bool) -> None:
        kept = [p for p in self.preferences.favourites if p != prompt]
        self.preferences.favourites = [*kept, prompt] if on else kept
        self.prompt.show_favourites(self.preferences.favourites)

    def _perform(self, prompt: str, seconds: float) -> None:
        """A line of the score: said as if it had been typed; an edit in the box stays."""
        editing = self.prompt.edit.text().strip() != self.engine.view.prompt or self.prompt.edit.hasFocus()
        self.engine.set_prompt(prompt, seconds=seconds)
        if not editing:
            self.prompt.edit.setText(prompt)

    def _shown(self, frame: Frame, sound: Samples | None) -> None:
        """A frame was shown: one hand-over, where a film is made."""
        if self.recording.on:
            draw = None
            if self.preferences.film_overlay:
                now = self.engine.clock.now()
                draw = overlay.drawing(self.engine.view, self.engine.player.media_time(now), now)
            self.recording.add(frame, sound, draw)

    def record(self, on: bool) -> None:
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
        self._begin = file
        start = StartFrom.model() if file is None else StartFrom.file(file)
        self.engine.new_world(text or None, self.settings.seed_box.value(), start)
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
            settings = Settings(
                prompt=self.prompt.edit.text().strip() or self._prompt, seed=self.settings.seed_box.value()
            )
            engine = Engine(
                after(self.engine, choice.load), choice.spec, settings, self._new_folder(), self.engine.clock
            )
        except (ValueError, OSError) as e:
            self.say(f"{e}; the world goes on as before")
            return
        self.keyboard.clear()
        self.record_action.setChecked(False)  # a film has one size
        self.engine, self._spec = engine, choice.spec
        self.viewport.use(engine)
        self.sound.use(engine.player)
        self.takes.use(engine, choice.spec)
        self.score.stop()
        self._begin = None
        self.prompt.limit(choice.spec.text_limit)
        self._show_settings(settings.checked(choice.spec))
        self.setWindowTitle(f"Foreland - {choice.spec.name} world")
        self._said = ""
        engine.start()
        self.viewport.setFocus()

    def say(self, message: str) -> None:
        """A banner of the window's own, for some seconds. From any thread."""
        self._said, self._said_at = message, time.monotonic()

    def to_prompt(self) -> None:
        self.prompt.edit.setFocus()
        self.prompt.edit.selectAll()

    def show_overlay(self, on: bool) -> None:
        self.viewport.overlay_shown = on
        self.viewport.update()

    def scale_smoothly(self, on: bool) -> None:
        self.viewport.smooth = on
        self.viewport.update()

    def full_screen(self, on: bool) -> None:
        self.showFullScreen() if on else self.showNormal()
        self.viewport.setFocus()

    def _refresh(self) -> None:
        view = self.engine.view
        self.sound.look()
        self.score.tick()
        if self.takes_dock.isVisible():
            self.takes.refresh()
        if self.metrics is not None:
            self.metrics.feed(view, self.engine.clock.now())
        self.prompt.show_view(view)
        if self.recording.on:
            minutes, seconds = divmod(int(self.recording.seconds), 60)
            self.record_action.setText(f"&Record a film (recording {minutes}:{seconds:02})")
        elif self.record_action.text() != "&Record a film":
            self.record_action.setText("&Record a film")
        self.viewport.recording = self.recording.on
        self.settings.show_paused(self.engine.player.paused)
        if self._said and time.monotonic() - self._said_at > SAID_SECONDS:
            self._said = ""
        message = self._said or view.message
        if self.engine.error is not None:
            message = (
                f"The engine stopped: {self.engine.error}. What was shown and the session log are kept; start again."
            )
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
        self.inputs.close()
        self.takes.back.close()
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
    choice: Choice,
    settings: Settings,
    folder: Path,
    overlay: bool,
    choose: Callable[[str], Choice],
    new_folder: Callable[[], Path],
    home: Path,
    sound: str = "system",
) -> int:
    """Runs the program until its window closes; returns the exit status. Raises OSError for an unwritable folder."""
    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)
    app.setApplicationName("Foreland")
    clock = DeviceClock()
    engine = Engine(choice.load, choice.spec, settings, folder, SystemClock(clock))
    speaker = SoundOut(DEVICES.get(sound), clock)
    window = MainWindow(engine, settings, choice.spec, choose, new_folder, home, speaker)
    if not window.preferences.geometry:
        window.resize(1060, 720)
    window.show()
    window.overlay_action.setChecked(overlay or window.preferences.overlay)
    app.processEvents()
    engine.start()
    if window.preferences.welcome:
        QTimer.singleShot(WELCOME_MS, window.show_welcome)
    status = app.exec()
    window.engine.close()
    return status
