"""Messages over the picture: those of the window for some seconds each, and what the engine has to say for as long as it says it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from app.language import tr

MESSAGE_SECONDS = 10.0
"""How long a message of the window stays."""
MOST = 3
"""Messages that are seen at a time; the newest push out the oldest."""
WIDTH = 560
"""At most, pixels."""


@dataclass(frozen=True)
class Message:
    """What was posted, and when."""

    text: str
    at: float
    lasting: bool = False
    """It is the engine's, and stays until it says something else."""


class Toast(QFrame):
    """One message, with a button that takes it away."""

    def __init__(self, message: Message, dismiss: Callable[[Message], None], parent: QWidget) -> None:
        super().__init__(parent)
        self.message = message
        self.setObjectName("toast")
        self.setProperty("kind", "lasting" if message.lasting else "passing")
        self.label = QLabel(message.text, self)
        self.label.setTextFormat(Qt.TextFormat.PlainText)
        self.label.setWordWrap(True)
        self.label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.label.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.MinimumExpanding)
        self.label.setAccessibleName(tr("Message"))
        close = QToolButton(self)
        close.setText("\N{MULTIPLICATION SIGN}")
        close.setToolTip(tr("Dismiss"))
        close.setAccessibleName(tr("Dismiss"))
        close.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        close.clicked.connect(lambda: dismiss(message))
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 8, 8, 8)
        row.addWidget(self.label, 1)
        row.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)


class Notifications(QWidget):
    """A stack of toasts, the newest at the bottom; hidden while there is none."""

    def __init__(self, parent: QWidget | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(parent)
        self._clock = clock
        self._posted: tuple[Message, ...] = ()
        self._status = Message("", 0.0, lasting=True)
        self._dismissed = ""
        self._shown: tuple[Message, ...] = ()
        self.toasts: list[Toast] = []
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        self.setAccessibleName(tr("Messages"))
        self.hide()

    def post(self, message: str) -> None:
        """A message for `MESSAGE_SECONDS`. From any thread; seen at the next `refresh`."""
        if message:
            same = tuple(m for m in self._posted if m.text != message)
            self._posted = (*same, Message(message, self._clock()))[-MOST:]

    def clear_posted(self) -> None:
        """What was posted is of no interest any more."""
        self._posted = ()
        self.refresh(self._status.text)

    def text(self) -> str:
        """Of the newest message that is seen."""
        return self._shown[-1].text if self._shown else ""

    def refresh(self, status: str) -> None:
        """status: what the engine has to say; '' for nothing."""
        if status != self._status.text:
            self._status, self._dismissed = Message(status, self._clock(), lasting=True), ""
        now = self._clock()
        self._posted = tuple(m for m in self._posted if now - m.at <= MESSAGE_SECONDS)
        lasting = (self._status,) if status and status != self._dismissed else ()
        # The engine's own comes first: a newer word of the window is nearest to where it was asked for.
        self._show((*lasting, *self._posted)[-MOST:])

    def dismiss(self, message: Message) -> None:
        """It is not shown any more."""
        if message.lasting:
            self._dismissed = message.text
        self._posted = tuple(m for m in self._posted if m is not message)
        self.refresh(self._status.text)

    def _show(self, messages: tuple[Message, ...]) -> None:
        if messages == self._shown:
            return
        self._shown = messages
        column = self.layout()
        assert column is not None
        for toast in self.toasts:
            column.removeWidget(toast)
            toast.hide()
            toast.deleteLater()
        self.toasts = [Toast(m, self.dismiss, self) for m in messages]
        for toast in self.toasts:
            column.addWidget(toast)
        self.setVisible(bool(messages))
        self.updateGeometry()
