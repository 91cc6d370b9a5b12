"""The prompt bar: says what the world should be, and how far the last edit has come."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QLineEdit, QWidget

from engine.view import View


class PromptEdit(QLineEdit):
    """Up and Down walk through the history; Escape leaves without applying and keeps the text."""

    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.history: list[str] = []
        self._at = 0
        self._draft = ""

    def remember(self, text: str) -> None:
        if not self.history or self.history[-1] != text:
            self.history.append(text)
        self._at = len(self.history)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 (Qt's name)
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        elif event.key() == Qt.Key.Key_Up:
            self._walk(-1)
        elif event.key() == Qt.Key.Key_Down:
            self._walk(1)
        else:
            super().keyPressEvent(event)

    def _walk(self, by: int) -> None:
        if self._at == len(self.history):
            self._draft = self.text()
        self._at = min(max(self._at + by, 0), len(self.history))
        self.setText(self._draft if self._at == len(self.history) else self.history[self._at])


def status_of(view: View) -> str:
    """How far the newest prompt edit has come, in words."""
    edits = [u for u in view.updates if u.kind == "prompt"]
    if not edits:
        return ""
    u = edits[-1]
    if u.phase == "live":
        return f"live after {u.L:.2f} s"
    return {"received": "received", "generating": "generating ..."}.get(u.phase, u.phase)


class PromptBar(QWidget):
    """Emits `applied` with the text, and `done` when the world should have the focus back."""

    applied = Signal(str)
    done = Signal()

    def __init__(self, prompt: str, presets: Sequence[str], limit: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._limit = limit
        self.edit = PromptEdit(self)
        self.edit.setText(prompt)
        self.edit.remember(prompt)
        self.edit.setPlaceholderText("What should the world be?  Enter applies, Esc leaves")
        self.edit.setAccessibleName("Prompt")
        self.status = QLabel(self)
        self.status.setMinimumWidth(150)
        self.status.setAccessibleName("Prompt status")
        self.presets = QComboBox(self)
        self.presets.setAccessibleName("Preset prompts")
        self.presets.addItem("presets")
        self.presets.addItems(list(presets))
        self.presets.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 6, 8, 6)
        row.addWidget(self.edit, 1)
        row.addWidget(self.status)
        row.addWidget(self.presets)
        self.edit.returnPressed.connect(self._apply)
        self.edit.left.connect(self.done)
        self.presets.activated.connect(self._preset)

    def limit(self, characters: int) -> None:
        """Another model reads another length."""
        self._limit = characters

    def show_view(self, view: View) -> None:
        """Shows how far the last edit has come."""
        pending = self.edit.text().strip() != view.prompt and not self.edit.hasFocus()
        text = "not applied yet" if pending and self.edit.text().strip() else status_of(view)
        if text != self.status.text():
            self.status.setText(text)

    def _preset(self, index: int) -> None:
        if index > 0:
            self.edit.setText(self.presets.itemText(index))
            self.presets.setCurrentIndex(0)
            self._apply()

    def _apply(self) -> None:
        text = self.edit.text().strip()
        if not text:
            self.status.setText("say something first")
            return
        if len(text) > self._limit:
            self.status.setText(f"too long: at most {self._limit} characters")
            return
        self.edit.remember(text)
        self.applied.emit(text)
        self.done.emit()
