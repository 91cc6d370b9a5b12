"""From key events to actions: what is held, robust against auto-repeat, focus loss and layout changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

NAMES: dict[int, str] = {
    Qt.Key.Key_Left: "Left", Qt.Key.Key_Right: "Right", Qt.Key.Key_Up: "Up", Qt.Key.Key_Down: "Down",
    Qt.Key.Key_Space: "Space",
}  # fmt: skip


def key_name(key: int) -> str | None:
    """The name that key maps use, or None for keys that they cannot name."""
    if key in NAMES:
        return NAMES[key]
    if Qt.Key.Key_A <= key <= Qt.Key.Key_Z or Qt.Key.Key_0 <= key <= Qt.Key.Key_9:
        return chr(key)
    return None


class Keyboard:
    """Held keys. A key is known by its scan code, so that a release is understood after a change of layout too."""

    def __init__(self, keymap: Mapping[str, str], press: Callable[[str], None], release: Callable[[str], None], clear: Callable[[], None]) -> None:
        """press, release: called with an action, once for each real change; clear: everything was let go."""
        self.keymap = keymap
        self._press, self._release, self._clear = press, release, clear
        self._held: dict[int, str] = {}

    @property
    def held(self) -> list[str]:
        """Names of held keys, in the order they were pressed."""
        return list(dict.fromkeys(self._held.values()))

    def pressed(self, event: QKeyEvent) -> bool:
        """Whether the event was a mapped key (and is dealt with)."""
        blocked = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
        name = key_name(event.key())
        if name is None or name not in self.keymap or event.modifiers() & blocked:
            return False
        code = self._code(event)
        if not event.isAutoRepeat() and code not in self._held:
            action = self.keymap[name]
            new = action not in (self.keymap[n] for n in self._held.values())
            self._held[code] = name
            if new:
                self._press(action)
        return True

    def released(self, event: QKeyEvent) -> bool:
        code = self._code(event)
        if code not in self._held:
            return False
        if event.isAutoRepeat():
            return True
        action = self.keymap[self._held.pop(code)]
        if action not in (self.keymap[n] for n in self._held.values()):
            self._release(action)
        return True

    def clear(self) -> None:
        """Lets go of everything: focus loss, dialog, pause."""
        if self._held:
            self._held.clear()
            self._clear()

    @staticmethod
    def _code(event: QKeyEvent) -> int:
        return event.nativeScanCode() or event.key()
