"""The window's menus: every action of the program, with its keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu

from app.audio_output import device_names
from app.storage.preferences import OWN_KEYS, THEMES
from engine.runtime.keymap import presets

if TYPE_CHECKING:
    from app.window.main_window import MainWindow


class Menus:
    """Makes the menus of one window and keeps the actions that it changes."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self._world()
        self._view()
        self._sound()
        self._keys()
        self._help()

    def _menu(self, name: str) -> QMenu:
        return self._window.menuBar().addMenu(name)

    def _action(self, menu: QMenu, text: str, keys: str, slot: Callable[[], object]) -> QAction:
        action = QAction(text, self._window)
        action.setShortcut(QKeySequence(keys))
        action.triggered.connect(lambda checked=False: slot())
        menu.addAction(action)
        return action

    def _toggle(self, menu: QMenu, text: str, keys: str, on: bool, slot: Callable[[bool], object]) -> QAction:
        action = QAction(text, self._window, checkable=True)
        action.setChecked(on)
        action.setShortcut(QKeySequence(keys))
        action.toggled.connect(slot)
        menu.addAction(action)
        return action

    def _world(self) -> None:
        w, menu = self._window, self._menu("&World")
        self._action(menu, "&Welcome ...", "Ctrl+Shift+W", w.show_welcome)
        self._action(menu, "&Prompt", "Ctrl+L", w.to_prompt)
        self._action(menu, "P&ause or resume", "Ctrl+P", w.toggle_pause)
        self._action(menu, "&New world", "Ctrl+R", lambda: w.new_world(w.settings.seed_box.value()))
        self._action(menu, "&Save this world", "Ctrl+S", w.save_world)
        self._action(menu, "&Begin from a picture or film ...", "Ctrl+O", w.pick_picture)
        self._action(menu, "Begin from n&othing", "Ctrl+Shift+O", lambda: w.begin_from(None))
        self._action(menu, "&Models ...", "Ctrl+M", w.show_models)
        menu.addSeparator()
        self._action(menu, "&Back to the group before", "Ctrl+Backspace", w.step_back)
        self.record = self._toggle(menu, "&Record a film", "Ctrl+Shift+R", False, w.record)
        self._toggle(menu, "Films have the o&verlay", "", w.preferences.film_overlay, w.films_with_overlay)
        self._action(menu, "Film of the &last minutes", "Ctrl+Shift+L", w.takes.film)
        self._action(menu, "S&creenshot", "F12", w.screenshot)
        menu.addSeparator()
        self._action(menu, "&Quit", "Ctrl+Q", w.close)

    def _view(self) -> None:
        w, menu = self._window, self._menu("&View")
        self.overlay = self._toggle(menu, "Speculation &overlay", "F3", False, w.show_overlay)
        self._action(menu, "Switch &commitment", "F4", lambda: w.settings.toggle_commit())
        self._toggle(menu, "&Smooth scaling", "F6", w.viewport.smooth, w.scale_smoothly)
        self._toggle(menu, "&Full screen", "F11", False, w.full_screen)
        for dock, keys in ((w.dock, "F9"), (w.takes_dock, "F7"), (w.metrics_dock, "F8"), (w.score_dock, "F5")):
            action = dock.toggleViewAction()
            action.setShortcut(QKeySequence(keys))
            menu.addAction(action)
        themes = menu.addMenu("&Theme")
        choices = QActionGroup(w)
        for theme in THEMES:
            action = QAction(theme, w, checkable=True, checked=theme == w.preferences.theme)
            action.triggered.connect(lambda checked=False, theme=theme: w.use_theme(theme))
            choices.addAction(action)
            themes.addAction(action)
        self._action(menu, "&Larger text", "Ctrl++", lambda: w.scale_text(w.preferences.text_scale + 0.1))
        self._action(menu, "S&maller text", "Ctrl+-", lambda: w.scale_text(w.preferences.text_scale - 0.1))

    def _sound(self) -> None:
        w, menu = self._window, self._menu("&Sound")
        self.mute = self._toggle(menu, "&Mute", "Ctrl+Shift+M", w.preferences.muted, w.mute)
        self._action(menu, "&Louder", "Ctrl+Up", lambda: w.set_volume(w.sound.volume + 0.1))
        self._action(menu, "&Quieter", "Ctrl+Down", lambda: w.set_volume(w.sound.volume - 0.1))
        self._devices = menu.addMenu("&Device")
        self._devices.aboutToShow.connect(self._list_devices)

    def _list_devices(self) -> None:
        """Devices come and go: the list is made when it is looked at."""
        self._devices.clear()
        for name in ("", *device_names()):
            action = self._devices.addAction(name or "the system's own")
            action.setCheckable(True)
            action.setChecked(name == self._window.sound.device)
            action.triggered.connect(lambda checked=False, name=name: self._window.use_sound(name))

    def _keys(self) -> None:
        self._keys_menu = self._menu("&Keys")
        self.list_keys()
        inputs = self._window.inputs
        inputs.keymap_changed.connect(self.list_keys)
        inputs.gamepad_changed.connect(lambda on: self.gamepad.setChecked(on))
        inputs.global_keys_changed.connect(lambda on: self.global_keys.setChecked(on))

    def list_keys(self) -> None:
        """Layouts, with the one in force marked."""
        w, menu = self._window, self._keys_menu
        menu.clear()
        layouts = QActionGroup(menu)
        tables = dict(presets())
        if w.preferences.keys:
            tables[OWN_KEYS] = w.preferences.keys
        for name, table in tables.items():
            action = QAction(name, menu, checkable=True, checked=dict(table) == dict(w.keyboard.keymap))
            action.triggered.connect(lambda checked=False, name=name: w.inputs.use_keys(name))
            layouts.addAction(action)
            menu.addAction(action)
        menu.addSeparator()
        self._action(menu, "&Edit ...", "", w.inputs.edit_keys)
        self.gamepad = self._toggle(menu, "&Gamepad", "", w.inputs.gamepad is not None, w.inputs.use_gamepad)
        on = w.inputs.global_keys.on
        self.global_keys = self._toggle(
            menu, "G&lobal keys (while other windows are used)", "", on, w.inputs.use_global_keys
        )

    def _help(self) -> None:
        w, menu = self._window, self._menu("&Help")
        self._action(menu, "What the &overlay shows", "F1", w.show_help)
        self._action(menu, "&About Foreland", "", w.show_about)
