"""What a person moves the world with: key maps, the mouse, a gamepad, global keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

from app.input.gamepad import Gamepad, GamepadError, SdlReader
from app.input.global_keys import GlobalKeys, GlobalKeysError
from app.input.held_keys import Keyboard
from app.input.mouse_look import MouseLook
from app.storage.preferences import OWN_KEYS, Preferences
from app.window.keymap_editor import KeymapEditor
from app.window.viewport import Viewport
from engine.runtime.keymap import load_keymap, presets

PAD_MS = 12


def keymap_of(preferences: Preferences, name: str | None = None) -> Mapping[str, str]:
    """By name, the chosen one if left out; the usual one where there is none of that name."""
    name = preferences.keymap if name is None else name
    if name == OWN_KEYS and preferences.keys:
        return preferences.keys
    return presets().get(name) or load_keymap()


class Inputs(QObject):
    """Everything that holds actions of one window's keyboard."""

    keymap_changed = Signal()
    gamepad_changed = Signal(bool)
    global_keys_changed = Signal(bool)

    def __init__(
        self,
        keyboard: Keyboard,
        viewport: Viewport,
        preferences: Preferences,
        say: Callable[[str], None],
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self.keyboard, self._viewport, self._preferences, self._say, self._window = (
            keyboard,
            viewport,
            preferences,
            say,
            parent,
        )
        self.gamepad: Gamepad | None = None
        self.global_keys = GlobalKeys(keyboard, self)
        MouseLook(viewport, keyboard)
        self.pad_timer = QTimer(self)
        self.pad_timer.timeout.connect(self._poll)

    def use_keys(self, name: str) -> None:
        """Another key map; all keys are let go first."""
        self.keyboard.clear()
        self.keyboard.keymap = keymap_of(self._preferences, name)
        self._preferences.keymap = name
        self._viewport.setFocus()

    def edit_keys(self) -> None:
        """The editor; its map becomes the person's own."""
        self.keyboard.clear()
        self.editor = KeymapEditor(self.keyboard.keymap, self._window)
        self.editor.accepted_map.connect(self._own)
        self.editor.show()

    def _own(self, keymap: dict[str, str]) -> None:
        self._preferences.keys = keymap
        self.use_keys(OWN_KEYS)
        self.keymap_changed.emit()

    def use_gamepad(self, on: bool) -> None:
        """Begins or ends to read a gamepad; what is missing is said."""
        if self.gamepad is not None:
            self.gamepad.close()
            self.gamepad = None
        self.pad_timer.stop()
        if on:
            try:
                self.gamepad = Gamepad(self.keyboard, SdlReader())
                self.pad_timer.start(PAD_MS)
            except GamepadError as e:
                self._say(str(e))
                self.gamepad_changed.emit(False)
        self._viewport.setFocus()

    def _poll(self) -> None:
        if self.gamepad is not None:
            self.gamepad.poll(self._window.isActiveWindow())

    def use_global_keys(self, on: bool) -> None:
        """Mapped keys drive the world while other windows are used, until this is switched off."""
        if not on:
            self.global_keys.stop()
        else:
            try:
                self.global_keys.start()
            except GlobalKeysError as e:
                self._say(f"global keys: {e}")
                self.global_keys_changed.emit(False)
        self._viewport.notice = "global keys on" if self.global_keys.on else ""
        self._viewport.setFocus()

    def close(self) -> None:
        """Nothing is listened to any more."""
        self.pad_timer.stop()
        self.global_keys.stop()
        if self.gamepad is not None:
            self.gamepad.close()
