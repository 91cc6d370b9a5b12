"""The prompt bar: the prompt, how long its transition takes, and how far the last edit has come."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QHBoxLayout, QLabel, QLineEdit, QToolButton, QWidget

from engine.runtime.score import LONGEST_TRANSITION
from engine.runtime.view import UpdateKind, UpdatePhase, View

LEAST_CHARACTERS = 24
"""Of a prompt that are seen however narrow the window is."""


class PromptEdit(QLineEdit):
    """Up and Down walk through the history; Escape leaves without applying and keeps the text."""

    escaped = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.history: list[str] = []
        self._at = 0
        self._draft = ""

    def remember(self, text: str) -> None:
        if not self.history or self.history[-1] != text:
            self.history.append(text)
        self._at = len(self.history)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.escaped.emit()
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
    edits = [u for u in view.updates if u.kind is UpdateKind.PROMPT]
    if not edits:
        return ""
    u = edits[-1]
    if u.phase is UpdatePhase.LIVE:
        return f"live after {u.L:.2f} s"
    return "generating ..." if u.phase is UpdatePhase.GENERATING else u.phase.value


class PromptBar(QWidget):
    """The prompt edit with what belongs to it."""

    promptApplied = Signal(str, float)
    """A prompt, and the seconds of its transition."""
    favouriteToggled = Signal(str, bool)
    """A prompt was made a favourite, or is none any more."""
    editingFinished = Signal()
    """The viewport should have the keyboard back."""

    def __init__(self, prompt: str, presets: Sequence[str], limit: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._limit = limit
        self.edit = PromptEdit(self)
        self.edit.setText(prompt)
        self.edit.remember(prompt)
        self.edit.setPlaceholderText("Describe the world.  Enter applies, Esc leaves")
        self.edit.setAccessibleName("Prompt")
        self.edit.setMinimumWidth(self.edit.fontMetrics().averageCharWidth() * LEAST_CHARACTERS)
        self.status = QLabel(self)
        self.status.setMinimumWidth(150)
        self.status.setAccessibleName("Prompt status")
        self.star = QToolButton(self)
        self.star.setCheckable(True)
        self.star.setText("\N{WHITE STAR}")
        self.star.setToolTip("Keep this prompt as a favourite")
        self.star.setAccessibleName("Favourite")
        self.star.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.transition = QDoubleSpinBox(self)
        self.transition.setRange(0, LONGEST_TRANSITION)
        self.transition.setSingleStep(0.5)
        self.transition.setDecimals(1)
        self.transition.setPrefix("Transition: ")
        self.transition.setSuffix(" s")
        self.transition.setSpecialValueText("Transition: none")
        self.transition.setToolTip("How long the change to the next prompt takes")
        self.transition.setAccessibleName("Length of the transition")
        self.transition.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.presets = QComboBox(self)
        self.presets.setAccessibleName("Preset and favourite prompts")
        self.presets.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._presets, self.favourites = list(presets), list[str]()
        self._list()
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 6, 8, 6)
        row.addWidget(self.edit, 1)
        row.addWidget(self.star)
        row.addWidget(self.transition)
        row.addWidget(self.status)
        row.addWidget(self.presets)
        self.edit.returnPressed.connect(self._apply)
        self.edit.escaped.connect(self.editingFinished)
        self.presets.activated.connect(self._preset)
        self.star.toggled.connect(self._starred)
        self.edit.textChanged.connect(lambda text: self._show_star())

    def show_favourites(self, favourites: Sequence[str]) -> None:
        """In the list before the presets."""
        self.favourites = list(favourites)
        self._list()
        self._show_star()

    def _list(self) -> None:
        self.presets.blockSignals(True)
        self.presets.clear()
        self.presets.addItem("Presets")
        self.presets.addItems([f"\N{BLACK STAR} {p}" for p in self.favourites])
        self.presets.addItems(self._presets)
        self.presets.blockSignals(False)

    def _show_star(self) -> None:
        on = self.text in self.favourites
        self.star.blockSignals(True)
        self.star.setChecked(on)
        self.star.setText("\N{BLACK STAR}" if on else "\N{WHITE STAR}")
        self.star.blockSignals(False)

    def _starred(self, on: bool) -> None:
        if self.text:
            self.favouriteToggled.emit(self.text, on)
        self._show_star()

    @property
    def text(self) -> str:
        """The prompt in the box, applied or not."""
        return self.edit.text().strip()

    def focus_text(self) -> None:
        """The keyboard goes to the prompt, which is selected."""
        self.edit.setFocus()
        self.edit.selectAll()

    def set_limit(self, characters: int) -> None:
        """The longest prompt that the model reads."""
        self._limit = characters

    def show_view(self, view: View) -> None:
        """Shows how far the last edit has come."""
        pending = self.text != view.prompt and not self.edit.hasFocus()
        text = "not applied yet" if pending and self.text else status_of(view)
        if text != self.status.text():
            self.status.setText(text)

    def _preset(self, index: int) -> None:
        if index > 0:
            self.edit.setText([*self.favourites, *self._presets][index - 1])
            self.presets.setCurrentIndex(0)
            self._apply()

    def _apply(self) -> None:
        text = self.text
        if not text:
            self.status.setText("Enter a prompt")
            return
        if len(text) > self._limit:
            self.status.setText(f"too long: at most {self._limit} characters")
            return
        self.edit.remember(text)
        self.promptApplied.emit(text, self.transition.value())
        self.editingFinished.emit()
