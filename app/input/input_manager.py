"""Every device that moves the camera: keys by a key map, the mouse, a gamepad, global keys."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

from app.input.gamepad import Gamepad, GamepadError, Reader, SdlReader
from app.input.global_keys import GlobalKeys, GlobalKeysError
from app.input.held_keys import HeldKeys
from app.input.mouse_look import MouseLook
from app.language import tr
from app.storage.preferences import OWN_KEYS, Preferences
from engine.runtime.keymap import load_keymap, presets

POLL_MS = 12
"""Between two looks at the gamepad."""


def keymap_of(preferences: Preferences, name: str | None = None) -> Mapping[str, str]:
    """By name, the chosen one if left out; the default where there is none of that name."""
    name = preferences.keymap if name is None else name
    if name == OWN_KEYS and preferences.keys:
        return preferences.keys
    return presets().get(name) or load_keymap()


class InputManager(QObject):
    """Connects the devices of one window to its held keys."""

    gamepadChanged = Signal(bool)
    globalKeysChanged = Signal(bool)
    badgeChanged = Signal(str)
    """What must be seen while it is on; empty for nothing."""
    messagePosted = Signal(str)

    def __init__(self, keys: HeldKeys, view: QWidget, preferences: Preferences, window: QWidget) -> None:
        """view: where the mouse looks around; window: a gamepad counts while it is the active one."""
        super().__init__(window)
        self.keys, self._preferences, self._window = keys, preferences, window
        self.gamepad: Gamepad | None = None
        self.global_keys = GlobalKeys(keys, self)
        self.mouse_look = MouseLook(view, keys, lambda: preferences.mouse_sensitivity)
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._poll)

    def keymaps(self) -> dict[str, Mapping[str, str]]:
        """The key maps to choose from, by name."""
        own = {OWN_KEYS: self._preferences.keys} if self._preferences.keys else {}
        return {**presets(), **own}

    def use_keymap(self, name: str) -> None:
        """Another key map; all keys are released first."""
        self.keys.clear()
        self.keys.keymap = keymap_of(self._preferences, name)
        self._preferences.keymap = name

    def use_own_keymap(self, keymap: dict[str, str]) -> None:
        """A key map of the person's own, which is kept."""
        self._preferences.keys = keymap
        self.use_keymap(OWN_KEYS)

    def use_gamepad(self, on: bool, reader: Reader | None = None) -> None:
        """Starts or stops reading a gamepad. reader: SDL's if left out. What is missing is posted as a message."""
        if reader is None and on == (self.gamepad is not None):
            return
        if self.gamepad is not None:
            self.gamepad.close()
            self.gamepad = None
        self._timer.stop()
        if on:
            try:
                self.gamepad = Gamepad(self.keys, reader or SdlReader())
                self._timer.start(POLL_MS)
            except GamepadError as e:
                self.messagePosted.emit(str(e))
        self.gamepadChanged.emit(self.gamepad is not None)

    def _poll(self) -> None:
        if self.gamepad is not None:
            self.gamepad.poll(self._window.isActiveWindow())

    def use_global_keys(self, on: bool) -> None:
        """Mapped keys move the camera while other windows are used, until this is switched off."""
        if not on:
            self.global_keys.stop()
        else:
            try:
                self.global_keys.start()
            except GlobalKeysError as e:
                self.messagePosted.emit(tr("global keys: {reason}", reason=e))
        self.globalKeysChanged.emit(self.global_keys.on)
        self.badgeChanged.emit(tr("global keys on") if self.global_keys.on else "")

    def close(self) -> None:
        """Nothing is listened to any more."""
        self._timer.stop()
        self.global_keys.stop()
        if self.gamepad is not None:
            self.gamepad.close()
