"""Mouse look: with the right button held, the pointer's way from where it went down turns the camera."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QWidget

from app.input.held_keys import HeldKeys

ON, OFF = 18.0, 10.0
"""Pixels from where the button went down at which a direction begins and ends."""
SOURCE = "mouse"


def directions(way: QPointF, before: frozenset[str]) -> frozenset[str]:
    """The actions of a pointer that is `way` off; those of before end later than they begin."""
    out = set()
    for amount, action in (
        (way.x(), "turn_right"),
        (-way.x(), "turn_left"),
        (-way.y(), "look_up"),
        (way.y(), "look_down"),
    ):
        if amount > (OFF if action in before else ON):
            out.add(action)
    return frozenset(out)


class MouseLook(QObject):
    """Watches one widget."""

    def __init__(self, widget: QWidget, keys: HeldKeys) -> None:
        super().__init__(widget)
        self._keys = keys
        self._from: QPointF | None = None
        self._held: frozenset[str] = frozenset()
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if isinstance(event, QMouseEvent):
            if kind == QEvent.Type.MouseButtonPress and event.button() == Qt.MouseButton.RightButton:
                self._from = event.position()
            elif kind == QEvent.Type.MouseMove and self._from is not None:
                if event.buttons() & Qt.MouseButton.RightButton:
                    self._hold(directions(event.position() - self._from, self._held))
                else:
                    self._end()  # the release went to another window
            elif kind == QEvent.Type.MouseButtonRelease and event.button() == Qt.MouseButton.RightButton:
                self._end()
        elif kind in (QEvent.Type.FocusOut, QEvent.Type.Hide):
            self._end()
        return False

    def _end(self) -> None:
        self._from = None
        self._hold(frozenset())

    def _hold(self, actions: frozenset[str]) -> None:
        if actions != self._held:
            self._held = actions
            self._keys.hold(SOURCE, actions)
