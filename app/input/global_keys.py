"""Global keys for talks and kiosks: mapped keys drive the world while another window has the keyboard. Off by default.

Only keys of the key map are looked at; no other key is kept, logged or shown, and the window says so while this is on.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.input.held_keys import HeldKeys
from app.language import marked, tr

SOURCE = marked("global keys")


class GlobalKeysError(RuntimeError):
    """The system forbids it, or pynput is missing; the message says which and what can be done."""


def forbidden(environment: dict[str, str], platform: str) -> str:
    """Why global keys cannot work here; '' when they can."""
    if platform == "darwin":
        try:
            from ApplicationServices import AXIsProcessTrusted  # comes with pynput's own dependencies there

            if not AXIsProcessTrusted():
                where = "System Settings, Privacy & Security, Accessibility"
                return tr("macOS forbids it until Foreland is allowed under {where}", where=where)
        except ImportError:
            return ""
        return ""
    if platform == "win32":
        return ""
    if environment.get("WAYLAND_DISPLAY") and environment.get("XDG_SESSION_TYPE", "wayland") == "wayland":
        return tr(
            "Wayland lets no program see keys of other windows: start an X11 session, or use the window's own keys"
        )
    if not environment.get("DISPLAY"):
        return tr("there is no X display here")
    return ""


def name_of(key: Any) -> str | None:
    """The key map's name of a pynput key, None for keys that it cannot name."""
    char = getattr(key, "char", None)
    if char:
        return str(char).upper() if len(str(char)) == 1 and str(char).isalnum() else None
    return {"left": "Left", "right": "Right", "up": "Up", "down": "Down", "space": "Space"}.get(
        getattr(key, "name", "") or ""
    )


class GlobalKeys(QObject):
    """Listens while it is started. Keys arrive on pynput's thread and are handed to the Qt thread by a signal."""

    keyChanged = Signal(str, bool)
    """The name of a mapped key, and whether it went down. No other key is handed on."""

    def __init__(self, keys: HeldKeys, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._keys = keys
        self._down: set[str] = set()
        self._listener: Any = None
        self.keyChanged.connect(self._take)

    @property
    def on(self) -> bool:
        return self._listener is not None

    def start(self) -> None:
        """Raises GlobalKeysError."""
        if self.on:
            return
        if reason := forbidden(dict(os.environ), sys.platform):
            raise GlobalKeysError(reason)
        try:
            from pynput import keyboard
        except ImportError as e:
            raise GlobalKeysError(
                tr("global keys need the package pynput ({error}): pip install 'foreland[keys]'", error=e)
            ) from e
        self._listener = keyboard.Listener(
            on_press=lambda k: self._heard(k, True), on_release=lambda k: self._heard(k, False)
        )
        self._listener.daemon = True
        self._listener.start()

    def stop(self) -> None:
        """No key is listened to any more, and none is held."""
        listener, self._listener = self._listener, None
        if listener is not None:
            listener.stop()
        self.clear()

    def clear(self) -> None:
        """Lets go of everything: a pause, a dialog."""
        self._down.clear()
        self._keys.hold(SOURCE, frozenset())

    def _heard(self, key: Any, down: bool) -> None:
        name = name_of(key)
        if name is not None and name in self._keys.keymap:
            self.keyChanged.emit(name, down)

    def _take(self, name: str, down: bool) -> None:
        if not self.on:
            return
        if down:
            self._down.add(name)
        else:
            self._down.discard(name)
        keymap = self._keys.keymap
        self._keys.hold(SOURCE, frozenset(keymap[n] for n in self._down if n in keymap))
