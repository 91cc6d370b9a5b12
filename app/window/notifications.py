"""The banner above the world: messages of the window for some seconds, else what the engine has to say."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtWidgets import QLabel, QWidget

MESSAGE_SECONDS = 10.0
"""How long a message of the window stays."""


class Notifications(QLabel):
    """Shows one message at a time; hidden while there is none."""

    def __init__(self, parent: QWidget | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(parent)
        self._clock = clock
        self._posted: tuple[str, float] = ("", 0.0)
        self.setWordWrap(True)
        self.setVisible(False)
        self.setAccessibleName("Message")
        self.setStyleSheet("background: #5a3a12; color: #ffe9c7; padding: 6px 10px;")

    def post(self, message: str) -> None:
        """A message for `MESSAGE_SECONDS`, in place of an earlier one. From any thread; seen at the next `refresh`."""
        self._posted = (message, self._clock())

    def clear_posted(self) -> None:
        """The message that was posted last is of no interest any more."""
        self._posted = ("", 0.0)

    def refresh(self, status: str) -> None:
        """status: what is shown while no message was posted lately; '' for nothing."""
        message, at = self._posted
        if not message or self._clock() - at > MESSAGE_SECONDS:
            message = status
        if message != self.text():
            self.setText(message)
            self.setVisible(bool(message))
