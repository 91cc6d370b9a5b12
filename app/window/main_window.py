"""The main window: lays out viewport, prompt bar and panels, and connects them to the world's controller."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QEvent, QIODevice, QLocale, QMimeData, QSize, Qt, QTimer
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QApplication, QMainWindow, QSplitter

from app.audio_output import DEVICES, SoundOut
from app.input.held_keys import HeldKeys
from app.input.input_manager import InputManager, keymap_of
from app.language import tr, use_language
from app.options import WorldChoice
from app.storage.preferences import PreferencesFile
from app.storage.preferences import load as load_preferences
from app.storage.worlds import World
from app.window.actions import BY_ID
from app.window.appearance import Appearance
from app.window.capture import Capture
from app.window.choice_menus import ChoiceMenus
from app.window.coach import Coach
from app.window.dialogs import Dialogs
from app.window.dropped import start_file, world_file
from app.window.hover_bar import HoverBar
from app.window.menus import Menus
from app.window.notifications import Notifications
from app.window.panels import Panels
from app.window.picture_only import PictureOnly
from app.window.prompt_bar import PromptBar
from app.window.score_panel import ScorePanel
from app.window.settings_panel import SettingsPanel
from app.window.side_bar import SideBar
from app.window.signals import closed_by_signals
from app.window.stage import Stage
from app.window.start_page import StartPage, first_world
from app.window.takes_panel import TakesPanel
from app.window.viewport import Viewport
from app.window.volume import Volume
from app.window.world_controller import WorldController
from engine.assets import prompt_presets
from engine.errors import Refused
from engine.files import is_text
from engine.models.interface import ModelSpec
from engine.playback.audio import DeviceClock
from engine.runtime.clock import SystemClock
from engine.runtime.live_engine import LiveEngine
from engine.runtime.settings import Settings
from engine.user_data import private

log = logging.getLogger(__name__)

REFRESH_MS = 60
KEEP_MS = 1000
"""Between two looks whether the preferences have changed."""
PREFERENCES = "preferences.json"
FIRST_SIZE = QSize(1180, 780)
"""Of the window at the first start, where the screen is large enough for it."""
LEAST_SIZE = QSize(560, 380)


class MainWindow(QMainWindow):
    """Closing it ends the engine and its threads."""

    def __init__(
        self,
        engine: LiveEngine,
        settings: Settings,
        spec: ModelSpec,
        choose: Callable[[str], WorldChoice] | None = None,
        new_session: Callable[[], Path | None] = lambda: None,
        home: Path | None = None,
        sound: SoundOut | None = None,
    ) -> None:
        """choose, new_session: see `WorldController`. home: where preferences, worlds and videos are kept, or None for
        preferences that do not last and videos in the working folder."""
        super().__init__()
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        self._home, self._closed = home, False
        self._preferences = PreferencesFile(home / PREFERENCES if home is not None else None, self._say)
        self.preferences = self._preferences.value
        self.world = WorldController(engine, settings, spec, choose, new_session, self)
        self.notifications = Notifications(self)
        self.appearance = Appearance(application, self.preferences)
        self.sound = sound or SoundOut(None, DeviceClock())
        self.volume = Volume(self.sound, self.preferences, self)
        self.keys = HeldKeys(
            keymap_of(self.preferences),
            self.world.press,
            self.world.release,
            self.world.release_all,
            engine.clock.now,
            QTimer.singleShot,
        )
        self.viewport = Viewport(engine, self.keys, self)
        self.viewport.smooth, self.viewport.overlay_full = self.preferences.smooth, self.preferences.overlay_full
        self.viewport.still = self.preferences.still
        self.prompt = self._prompt_bar(settings.prompt, spec)
        self.inputs = InputManager(self.keys, self.viewport, self.preferences, self)
        self.capture = Capture(self.viewport, self.world, self.preferences, home or Path.cwd(), self.notifications.post)
        self.dialogs = Dialogs(
            self.inputs, self.preferences, home, lambda: self.world.spec.name, self.viewport.story, self
        )
        self.side = SideBar(self)
        self.panels = Panels(self.side, home or Path.cwd(), self.world.media_time, lambda: self.appearance.colours)
        self.stage = Stage(self.viewport, self.prompt, self.notifications, self)
        self.start = StartPage(home, self.preferences, self.world, self.stage)
        self._lay_out()
        self.menus = self._make_menus()
        self.stage.corner = self._corner()
        self.coach = Coach(self.keys.keymap, self.stage)
        self.stage.add(self.coach)
        self.stage.guide = self.coach
        self.picture_only = PictureOnly(self, self.stage, self.side, self.stage.corner)
        self._connect()
        self._attach(engine, settings)
        self._restore_layout()
        self._timer = QTimer(self)
        self._timer.timeout.connect(self.refresh)
        self._timer.start(REFRESH_MS)
        self._keeper = QTimer(self)
        self._keeper.timeout.connect(self._keep_preferences)
        self._keeper.start(KEEP_MS)
        self.viewport.setFocus()

    @property
    def engine(self) -> LiveEngine:
        """The one on show."""
        return self.world.engine

    @property
    def settings(self) -> SettingsPanel:
        """Of the model on show."""
        return self.panels.settings

    @property
    def takes(self) -> TakesPanel:
        return self.panels.takes

    @property
    def score(self) -> ScorePanel:
        return self.panels.score

    # -- layout --------------------------------------------------------------------------------------------------------

    def _prompt_bar(self, prompt: str, spec: ModelSpec) -> PromptBar:
        bar = PromptBar(prompt, prompt_presets(), spec.text_limit, self)
        bar.edit.history[:0] = [p for p in self.preferences.prompts if p != prompt]
        bar.edit.remember(prompt)
        bar.show_favourites(self.preferences.favourites)
        if self.preferences.draft:
            bar.edit.setText(self.preferences.draft)
        return bar

    def _lay_out(self) -> None:
        self.setMinimumSize(LEAST_SIZE)
        self._splitter = QSplitter(Qt.Orientation.Horizontal, self)
        self._splitter.setHandleWidth(2)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.addWidget(self.stage)
        self._splitter.addWidget(self.side)
        self._splitter.setStretchFactor(0, 1)
        self._splitter.setStretchFactor(1, 0)
        self.setCentralWidget(self._splitter)

    def _corner(self) -> HoverBar:
        actions = [
            ("pause", self.menus["world.pause"]),
            ("record", self.menus["world.record"]),
            ("panel", self.menus["view.settings"]),
            ("leave", self.menus["view.full_screen"]),
        ]
        bar = HoverBar(self.menus.all, actions, self.stage)
        self.stage.add(bar)
        return bar

    def _make_menus(self) -> Menus:
        menus = Menus(self, self.viewport.setFocus)
        post = self.notifications.post
        ChoiceMenus(menus, self.preferences, self.appearance, self.volume, self.inputs, post)
        menus["view.still"].setChecked(self.preferences.still)
        menus["view.smooth"].setChecked(self.preferences.smooth)
        menus["view.overlay_full"].setChecked(self.preferences.overlay_full)
        menus["world.record_overlay"].setChecked(self.preferences.film_overlay)
        menus["sound.mute"].setChecked(self.preferences.muted)
        return menus

    def _restore_layout(self) -> None:
        room = self.screen().availableSize()
        self.resize(FIRST_SIZE.boundedTo(QSize(round(room.width() * 0.94), round(room.height() * 0.9))))
        if self.preferences.geometry:
            self.restoreGeometry(QByteArray.fromHex(self.preferences.geometry.encode()))
            self.resize(self.size().boundedTo(room))  # it may have been left on a larger screen
        if self.preferences.side_page in self.side.pages:
            self.side.show_page(self.preferences.side_page)
        width = self.preferences.side_width or self.side.sizeHint().width()
        self._splitter.setSizes([max(1, self.width() - width), width])

    def _say(self, message: str) -> None:
        """From any thread."""
        self.notifications.post(message)

    def _keep_preferences(self) -> None:
        """What was changed lately is written; called once in a while, and at the end."""
        p = self.preferences
        p.geometry = bytes(self.saveGeometry().toHex().data()).decode()
        p.side_page, p.side_width = self.side.page, self._splitter.sizes()[1] or p.side_width
        p.overlay, p.smooth = self.viewport.overlay_shown, self.viewport.smooth
        p.overlay_full = self.viewport.overlay_full
        draft = self.prompt.text if self.prompt.text != self.engine.view.prompt else ""
        p.draft = draft if is_text(draft) and not private() else ""
        self._preferences.save()

    # -- connections ---------------------------------------------------------------------------------------------------

    def _connect(self) -> None:
        """Of everything that lasts as long as the window; what changes with the model is connected by `_attach`."""
        focus_viewport, post = self.viewport.setFocus, self.notifications.post
        for source in (
            self.world,
            self.volume,
            self.inputs,
            self.capture,
            self.takes,
            self.sound,
            self.dialogs,
            self.panels.library,
        ):
            source.messagePosted.connect(post)
        for panel in (self.prompt, self.takes):
            panel.editingFinished.connect(focus_viewport)
        self.world.interrupted.connect(self.keys.clear)
        self.world.engineChanged.connect(self._open)
        self.viewport.promptRequested.connect(self.prompt.focus_text)
        self.viewport.dataDropped.connect(self.start_from_dropped)
        self.viewport.escaped.connect(self.world.stop_reading)
        self.prompt.promptApplied.connect(self.world.set_prompt)
        self.prompt.promptApplied.connect(lambda text, seconds: self.preferences.remember(text))
        self.prompt.favouriteToggled.connect(self._keep_favourite)
        self.score.promptDue.connect(self._play_line)
        self.start.worldSelected.connect(self.enter_world)
        self.start.modelSelected.connect(self.open_model)
        self.start.modelsRequested.connect(self.dialogs.show_models)
        self.start.messagePosted.connect(post)
        self.coach.finished.connect(self._coached)
        self.dialogs.modelSelected.connect(self.open_model)
        self.inputs.badgeChanged.connect(self.viewport.set_badge)
        self.inputs.gamepadChanged.connect(self.menus["keys.gamepad"].setChecked)
        self.inputs.globalKeysChanged.connect(self.menus["keys.global"].setChecked)
        self.volume.mutedChanged.connect(self.menus["sound.mute"].setChecked)
        self.capture.cameraChanged.connect(self.menus["world.camera"].setChecked)
        self.capture.recordingChanged.connect(self.menus["world.record"].setChecked)
        self.appearance.changed.connect(self.panels.recolour)
        self.panels.settingsMade.connect(self._connect_settings)
        self.side.pageShown.connect(self.menus.show_panel)
        self.viewport.escaped.connect(lambda: self.menus["view.full_screen"].setChecked(False))

    def _attach(self, engine: LiveEngine, settings: Settings) -> None:
        """Shows an engine and gives its model a settings panel; the panel of the model before is deleted."""
        spec = self.world.spec
        self.setWindowTitle(tr("Foreland - {model} world", model=spec.name))
        self.viewport.set_engine(engine)
        self.sound.set_player(engine.player)
        self.prompt.set_limit(spec.text_limit)
        self.viewport.hint = "" if spec.camera else tr("This model has no camera: held keys become words of its prompt")
        self.panels.use(engine, settings, spec)

    def _connect_settings(self, panel: SettingsPanel) -> None:
        panel.settingsChanged.connect(self.world.configure)
        panel.negativePromptApplied.connect(self.world.set_negative_prompt)
        panel.editingFinished.connect(self.viewport.setFocus)
        panel.pauseRequested.connect(self.menus["world.pause"].trigger)
        panel.newWorldRequested.connect(self.menus["world.new"].trigger)

    def _open(self, engine: LiveEngine, settings: Settings) -> None:
        """Another model takes the place of the one on show."""
        self.menus["world.record"].setChecked(False)  # a video has one size, and so has a camera
        self.menus["world.camera"].setChecked(False)
        self.score.stop()
        self.notifications.clear_posted()
        self._attach(engine, settings)
        self.viewport.setFocus()

    def _coached(self) -> None:
        self.preferences.coached = True
        self.viewport.setFocus()

    def _keep_favourite(self, prompt: str, on: bool) -> None:
        others = [p for p in self.preferences.favourites if p != prompt]
        self.preferences.favourites = [*others, prompt] if on else others
        self.prompt.show_favourites(self.preferences.favourites)

    def _play_line(self, prompt: str, seconds: float) -> None:
        """A line of the score: applied as if it had been typed; an edit in the box stays."""
        editing = self.prompt.text != self.engine.view.prompt or self.prompt.edit.hasFocus()
        self.world.set_prompt(prompt, seconds)
        if not editing:
            self.prompt.edit.setText(prompt)

    # -- worlds: what needs the prompt box and the seed box ------------------------------------------------------------

    @property
    def seed(self) -> int:
        """In the settings panel."""
        return self.settings.seed_box.value()

    def new_world(self) -> None:
        """With the prompt in the box and the seed of the panel."""
        self.world.new_world(self.prompt.text, self.seed)

    def start_from(self, file: Path | None) -> None:
        """A new world from an image or video; None: without a start image."""
        self.world.start_from(file, self.prompt.text, self.seed)
        self.viewport.setFocus()

    def start_from_dropped(self, data: QMimeData) -> None:
        """A new world from what was dropped or pasted; what cannot be a start is said."""
        if (world := world_file(data)) is not None:
            self.start.open_file(world)
            return
        try:
            self.start_from(start_file(data, (self._home or Path.cwd()) / "pictures"))
        except Refused as e:
            self.notifications.post(str(e))

    def clear_start_image(self) -> None:
        self.start_from(None)

    def pick_start_file(self) -> None:
        if (file := self.dialogs.start_file()) is not None:
            self.start_from(file)

    def save_world(self) -> None:
        """With the frame on show as its thumbnail."""
        thumbnail = self._thumbnail()
        if self._home is None or thumbnail is None:
            self.notifications.post(tr("there is nothing to save yet"))
            return
        self.world.save(self._home, self.seed, thumbnail)

    def share_world(self) -> None:
        """As one file, which the person names."""
        thumbnail = self._thumbnail()
        if thumbnail is None:
            self.notifications.post(tr("there is nothing to save yet"))
        elif (file := self.dialogs.shared_file()) is not None:
            self.world.share(file, self.seed, thumbnail)

    def _thumbnail(self) -> bytes | None:
        """The frame on show as a PNG."""
        image = self.viewport.image()
        if image is None:
            return None
        data = QByteArray()
        buffer = QBuffer(data)
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        image.save(buffer, "PNG")  # type: ignore[call-overload]
        return bytes(data.data())

    def enter_world(self, world: World) -> None:
        """Starts a saved world, with its model where that is another one; one that waits at its beginning is gone on with."""
        if self.world.waits_as(world, self.seed):
            self.viewport.setFocus()
            return
        self.prompt.edit.setText(world.prompt)
        self.prompt.edit.remember(world.prompt)
        self.settings.seed_box.setValue(world.seed)
        if world.model != self.world.spec.name:
            self.open_model(world.model)
        else:
            self.start_from(world.begin)

    def open_model(self, name: str) -> None:
        """A name, folder or file."""
        self.world.open_model(name, self.prompt.text, self.seed)

    def keep_still(self, on: bool) -> None:
        """Nothing moves by itself but the world."""
        self.preferences.still = self.viewport.still = on

    def show_full_screen(self, on: bool) -> None:
        """The picture and nothing else, or the window again."""
        self.picture_only.switch(on)

    # -- events --------------------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Shows what the engine says now; called several times a second."""
        view = self.engine.view
        self.sound.poll()
        self.panels.feed(view, self.engine.clock.now())
        self.prompt.show_view(view)
        self.capture.look()
        self._show_recorded()
        self.settings.show_paused(self.world.paused)
        self.notifications.refresh(self.world.status)
        self.start.refresh()
        if (
            not self.preferences.coached
            and self.viewport.painted
            and not self.start.is_open
            and not self.picture_only.on
        ):
            self.coach.show()
            self.coach.watch(view, self.viewport.overlay_shown)

    def _show_recorded(self) -> None:
        """How long the video is, in its menu and over the picture."""
        length = ""
        if self.capture.recording.on:
            minutes, seconds = divmod(int(self.capture.recording.seconds), 60)
            length = f"{minutes}:{seconds:02}"
        self.viewport.recording = length
        title = tr(BY_ID["world.record"].title) + (f" ({length})" if length else "")
        if self.menus["world.record"].text() != title:
            self.menus["world.record"].setText(title)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.ActivationChange and not self.isActiveWindow():
            self.keys.clear()
        super().changeEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._closed:
            return super().closeEvent(event)
        self._closed = True
        self.keys.clear()
        self._timer.stop()
        self._keeper.stop()
        self.viewport.stop()
        self.inputs.close()
        self.takes.jobs.close()
        self.panels.library.close_threads()
        self.sound.close()
        self.capture.close()
        self._keep_preferences()
        self._preferences.close()
        if self._home is not None and (thumbnail := self._thumbnail()) is not None:
            self.world.keep_place(self._home, self.seed, thumbnail)
        self.world.close()
        super().closeEvent(event)


def open_window(
    choice: WorldChoice,
    settings: Settings,
    folder: Path,
    overlay: bool,
    choose: Callable[[str], WorldChoice],
    new_session: Callable[[], Path],
    home: Path,
    sound: str = "system",
    choose_world: bool = True,
) -> int:
    """Runs the program until its window closes; returns the exit status. Raises OSError for an unwritable folder.

    choose_world: the start screen comes first, where a person wants it, and what it proposes is what the engine begins with."""
    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)
    app.setApplicationName("Foreland")
    language = use_language(app, load_preferences(home / PREFERENCES).language)
    app.setLayoutDirection(QLocale(language).textDirection())
    first = first_world(home) if choose_world and load_preferences(home / PREFERENCES).welcome else None
    if first is not None and first.model == choice.spec.name and first.begin is None:
        settings = replace(settings, prompt=first.prompt, seed=first.seed)
    clock = DeviceClock()
    engine = choice.engine(settings, folder, SystemClock(clock))
    speaker = SoundOut(DEVICES.get(sound), clock)
    window = MainWindow(engine, settings, choice.spec, choose, new_session, home, speaker)
    window.show()
    window.menus["view.overlay"].setChecked(overlay or window.preferences.overlay)
    if first is not None:
        window.start.open()
    app.processEvents()
    engine.start()

    def close() -> None:
        window.close()
        app.closeAllWindows()
        app.quit()

    with closed_by_signals(close) as signals:
        status = app.exec()
    window.close()  # where Qt ended its loop by itself: the session of the desktop is over
    return 128 + signals[0] if signals else status
