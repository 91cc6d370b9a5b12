"""Mouse look: with the right button held the pointer is locked and hidden, and its way turns the camera.

A camera that only knows "turn" and "no turn" is turned for as long as the way is: the way is a debt of turning, which is paid by holding
the action. So a short way is a short turn, a long one a long turn, and the screen has no edge.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from PySide6.QtCore import QEvent, QObject, QPointF, Qt, QTimer
from PySide6.QtGui import QCursor, QGuiApplication, QMouseEvent
from PySide6.QtWidgets import QWidget

from app.input.held_keys import HeldKeys
from app.language import marked

SECONDS_A_PIXEL = 0.006
"""Of turning, at sensitivity 1. [ours: half a screen is a quarter turn of the pocket world]"""
MOST_SECONDS = 1.0
"""Of turning that are owed: the camera stops soon after the mouse."""
LEAST_SECONDS = 0.02
"""Below which nothing begins: a hand is never quite still."""
PAY_MS = 15
SOURCE = marked("mouse")


class Debt:
    """Of one axis: seconds of turning, to the right or down where positive."""

    def __init__(self, less: str, more: str) -> None:
        self.less, self.more = less, more
        self.seconds = 0.0

    def add(self, seconds: float) -> None:
        """Another way; one in the other direction is obeyed at once."""
        if self.seconds * seconds < 0:
            self.seconds = 0.0
        self.seconds = min(max(self.seconds + seconds, -MOST_SECONDS), MOST_SECONDS)

    def pay(self, seconds: float) -> str | None:
        """The action that is to be held for the next `seconds`, None for none."""
        if abs(self.seconds) < LEAST_SECONDS:
            return None
        action = self.more if self.seconds > 0 else self.less
        self.seconds = max(0.0, abs(self.seconds) - seconds) * (1 if self.seconds > 0 else -1)
        return action


class MouseLook(QObject):
    """Watches one widget."""

    def __init__(self, widget: QWidget, keys: HeldKeys, sensitivity: Callable[[], float] = lambda: 1.0) -> None:
        super().__init__(widget)
        self._widget, self._keys, self._sensitivity = widget, keys, sensitivity
        self._from: QPointF | None = None
        """Where the pointer was last, global; None while it is not locked."""
        self._axes = (Debt("turn_left", "turn_right"), Debt("look_up", "look_down"))
        self._held: frozenset[str] = frozenset()
        self._paid = 0.0
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._pay)
        widget.installEventFilter(self)

    @property
    def locked(self) -> bool:
        """Whether the pointer turns the camera."""
        return self._from is not None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if isinstance(event, QMouseEvent):
            right = event.button() == Qt.MouseButton.RightButton
            if kind == QEvent.Type.MouseButtonPress and right:
                self._begin(event.globalPosition())
            elif kind == QEvent.Type.MouseMove and self._from is not None:
                if event.buttons() & Qt.MouseButton.RightButton:
                    self._moved(event.globalPosition())
                    return True
                self._end()  # the release went to another window
            elif kind == QEvent.Type.MouseButtonRelease and right:
                self._end()
        elif kind in (QEvent.Type.FocusOut, QEvent.Type.Hide):
            self._end()
        return False

    def _begin(self, at: QPointF) -> None:
        self._from, self._paid = at, monotonic()
        self._widget.setCursor(Qt.CursorShape.BlankCursor)
        self._timer.start(PAY_MS)

    def _moved(self, at: QPointF) -> None:
        assert self._from is not None
        way = (at - self._from) * SECONDS_A_PIXEL * self._sensitivity()
        self._axes[0].add(way.x())
        self._axes[1].add(way.y())
        if QGuiApplication.platformName().startswith("wayland"):
            self._from = at  # no program may move the pointer there: it stops at the screen's edge
        elif at != self._from:
            QCursor.setPos(self._from.toPoint())
        self._pay()

    def _pay(self) -> None:
        now = monotonic()
        seconds, self._paid = now - self._paid, now
        self._hold(frozenset(a for axis in self._axes if (a := axis.pay(seconds)) is not None))

    def _end(self) -> None:
        if self._from is not None:
            self._widget.unsetCursor()
        self._from = None
        self._timer.stop()
        for axis in self._axes:
            axis.seconds = 0.0
        self._hold(frozenset())

    def _hold(self, actions: frozenset[str]) -> None:
        if actions != self._held:
            self._held = actions
            self._keys.hold(SOURCE, actions)
