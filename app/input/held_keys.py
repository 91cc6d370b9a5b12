"""From key events to actions: what is held, robust against auto-repeat, focus loss and layout changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

from app.input.key_names import KeyName, key_of
from app.language import marked, tr

REPEAT_MS = 25
"""How long a release waits for the press that would make it auto-repeat. Only X11's repeats come as such pairs, and
only when the window is too busy to see them together; both have the same time stamp."""


ACTION_NAMES = {
    "forward": marked("forward"),
    "back": marked("back"),
    "left": marked("left"),
    "right": marked("right"),
    "turn_left": marked("turn left"),
    "turn_right": marked("turn right"),
    "look_up": marked("look up"),
    "look_down": marked("look down"),
    "rise": marked("rise"),
    "sink": marked("sink"),
}


def action_name(action: str) -> str:
    """An action of the camera in words."""
    return tr(ACTION_NAMES.get(action, action.replace("_", " ")))


class HeldKeys:
    """The keys that are held. A key is known by its scan code: its release is understood after a layout change too."""

    def __init__(
        self,
        keymap: Mapping[str, str],
        press: Callable[[str, float], None],
        release: Callable[[str, float], None],
        release_all: Callable[[], None],
        clock: Callable[[], float],
        later: Callable[[int, Callable[[], None]], None],
    ) -> None:
        """press, release: called with an action and the time of the event, once for each real change; release_all:
        nothing is held any more; later: calls back after some milliseconds."""
        self.keymap = keymap
        self._press, self._release, self._release_all = press, release, release_all
        self._clock, self._later = clock, later
        self._held: dict[int, KeyName] = {}
        self._leaving: dict[int, tuple[int, float]] = {}
        self._others: dict[str, frozenset[str]] = {}

    @property
    def held(self) -> list[str]:
        """Names of held keys, in the order they were pressed, then what a mouse or a gamepad holds."""
        others = [
            f"{tr(source)}: {action_name(a)}" for source, actions in self._others.items() for a in sorted(actions)
        ]
        return [*dict.fromkeys(key.shown for key in self._held.values()), *others]

    def hold(self, source: str, actions: frozenset[str]) -> None:
        """What another device holds now, all of it; an action that keys or two devices hold is one action."""
        before = self._actions()
        self._others[source] = actions
        if not actions:
            del self._others[source]
        now, t = self._actions(), self._clock()
        for action in sorted(now - before):
            self._press(action, t)
        for action in sorted(before - now):
            self._release(action, t)

    def _actions(self) -> set[str]:
        """Everything that is held, by whatever."""
        out = {self.keymap[k.name] for k in self._held.values() if k.name in self.keymap}
        return out.union(*self._others.values())

    def pressed(self, event: QKeyEvent) -> bool:
        """Whether the event was a mapped key (and is dealt with)."""
        blocked = (
            Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
        )
        key = key_of(event)
        if key is None or key.name not in self.keymap or event.modifiers() & blocked:
            return False
        code = self._code(event)
        if code in self._leaving:
            stamp, arrival = self._leaving.pop(code)
            if event.timestamp() - stamp <= 1:
                return True
            self._let_go(code, arrival)
        if not event.isAutoRepeat() and code not in self._held:
            action = self.keymap[key.name]
            new = action not in self._actions()
            self._held[code] = key
            if new:
                self._press(action, self._clock())
        return True

    def released(self, event: QKeyEvent) -> bool:
        """Whether the event was the end of a held key."""
        code = self._code(event)
        if code not in self._held:
            return False
        if not event.isAutoRepeat():
            entry = (event.timestamp(), self._clock())
            self._leaving[code] = entry
            self._later(REPEAT_MS, lambda: self._expire(code, entry))
        return True

    def clear(self) -> None:
        """Lets go of everything: focus loss, dialog, pause."""
        self._leaving.clear()
        if self._held or self._others:
            self._held.clear()
            self._others.clear()
            self._release_all()

    def _expire(self, code: int, entry: tuple[int, float]) -> None:
        if self._leaving.get(code) == entry:
            del self._leaving[code]
            self._let_go(code, entry[1])

    def _let_go(self, code: int, arrival: float) -> None:
        action = self.keymap[self._held.pop(code).name]
        if action not in self._actions():
            self._release(action, arrival)

    @staticmethod
    def _code(event: QKeyEvent) -> int:
        return event.nativeScanCode() or event.key()
