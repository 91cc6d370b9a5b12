"""The prompt bar: the prompt, how long its transition takes, and how far the last edit has come."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QEnterEvent, QInputMethodEvent, QKeyEvent
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QDoubleSpinBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.language import marked, tr
from engine.runtime.score import LONGEST_TRANSITION
from engine.runtime.view import UpdateKind, UpdatePhase, View

LEAST_CHARACTERS = 18
"""Of a prompt that are seen however narrow the window is."""
RESTING_CHARACTERS, WORKING_CHARACTERS = 56, 108
"""Widths of the bar, in characters: while nobody is at it, and while somebody is."""


class PromptEdit(QLineEdit):
    """Up and Down walk through the history; Escape leaves without applying and keeps the text."""

    escaped = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.history: list[str] = []
        self._at = 0
        self._draft = ""
        self._composing = False

    def remember(self, text: str) -> None:
        if not self.history or self.history[-1] != text:
            self.history.append(text)
        self._at = len(self.history)

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        self._composing = bool(event.preeditString())
        super().inputMethodEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._composing:  # these keys are the input method's: they choose among its candidates
            super().keyPressEvent(event)
        elif event.key() == Qt.Key.Key_Escape:
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


PHASES = {
    UpdatePhase.RECEIVED: marked("received"),
    UpdatePhase.GENERATING: marked("generating ..."),
    UpdatePhase.LIVE: marked("live"),
    UpdatePhase.SUPERSEDED: marked("superseded"),
    UpdatePhase.REJECTED: marked("rejected"),
    UpdatePhase.DROPPED: marked("dropped"),
}


TOLD_FOR = 8.0
"""Seconds of film for which it is said how long an edit took."""


def status_of(view: View) -> str:
    """How far the newest prompt edit has come, in words; some time after it can be seen, nothing."""
    edits = [u for u in view.updates if u.kind is UpdateKind.PROMPT]
    if not edits:
        return ""
    u = edits[-1]
    if u.phase is UpdatePhase.LIVE:
        played = max((g.start + g.span for g in view.groups if g.position < view.delivered), default=u.frame)
        if played - u.frame > TOLD_FOR * view.fps:
            return ""
        return tr("live after {seconds} s", seconds=f"{u.L:.2f}")
    return tr(PHASES[u.phase])


class PromptBar(QFrame):
    """The prompt edit with what belongs to it. Small while nobody is at it; all its controls are there under the pointer or with the
    keyboard."""

    promptApplied = Signal(str, float)
    """A prompt, and the seconds of its transition."""
    favouriteToggled = Signal(str, bool)
    """A prompt was made a favourite, or is none any more."""
    editingFinished = Signal()
    """The viewport should have the keyboard back."""
    restingChanged = Signal(bool)

    def __init__(self, prompt: str, presets: Sequence[str], limit: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("prompt")
        self._limit = limit
        self._refusal: tuple[str, str] | None = None
        """A text that could not be applied, and why: told until the text is another."""
        self.edit = PromptEdit(self)
        self.edit.setText(prompt)
        self.edit.remember(prompt)
        self.edit.setPlaceholderText(tr("Describe the world.  Enter applies, Esc leaves"))
        self.edit.setAccessibleName(tr("Prompt"))
        self.status = QLabel(self)
        self.status.setProperty("role", "dim")
        self.status.setProperty("elided", True)
        self.status.setMinimumWidth(1)  # it gives way to the prompt where there is no room for both
        self.status.setAccessibleName(tr("Prompt status"))
        self.reading = QLabel(self)
        self.reading.setProperty("role", "dim")
        self.reading.setAccessibleName(tr("What the model understood"))
        self.reading.setTextFormat(Qt.TextFormat.PlainText)
        self.reading.setProperty("elided", True)
        self.reading.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.reading.hide()
        self.star = QToolButton(self)
        self.star.setCheckable(True)
        self.star.setText("\N{WHITE STAR}")
        self.star.setToolTip(tr("Keep this prompt as a favourite"))
        self.star.setAccessibleName(tr("Favourite"))
        self.star.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.transition = QDoubleSpinBox(self)
        self.transition.setRange(0, LONGEST_TRANSITION)
        self.transition.setSingleStep(0.5)
        self.transition.setDecimals(1)
        self.transition.setPrefix(tr("Transition: "))
        self.transition.setSuffix(" s")
        self.transition.setSpecialValueText(tr("Transition: none"))
        self.transition.setToolTip(
            tr("How long the change to the next prompt takes. A longer one is made of several calls, and is gentler.")
        )
        self.transition.setAccessibleName(tr("Length of the transition"))
        self.transition.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.presets = QComboBox(self)
        self.presets.setAccessibleName(tr("Preset and favourite prompts"))
        self.presets.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.presets.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.presets.setMinimumContentsLength(7)
        self._presets, self.favourites = list(presets), list[str]()
        self._list()
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.edit, 1)
        row.addWidget(self.star)
        row.addWidget(self.status)
        self._tools = QWidget(self)
        tools = QHBoxLayout(self._tools)
        tools.setContentsMargins(0, 0, 0, 0)
        tools.setSpacing(8)
        tools.addWidget(self.transition)
        tools.addWidget(self.presets)
        tools.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 8, 10, 8)
        column.setSpacing(8)
        column.addLayout(row)
        column.addWidget(self._tools)
        column.addWidget(self.reading)
        self._hovered = False
        self._resting: bool | None = None
        self._breathe()
        self.edit.returnPressed.connect(self._apply)
        self.edit.escaped.connect(self.editingFinished)
        self.presets.activated.connect(self._preset)
        self.star.toggled.connect(self._starred)
        self.edit.textChanged.connect(lambda text: self._show_star())
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._focus_moved)

    # -- breathing -----------------------------------------------------------------------------------------------------

    @property
    def resting(self) -> bool:
        """Whether nobody is at it."""
        return bool(self._resting)

    def wanted_width(self) -> int:
        """Pixels, where there is room."""
        characters = RESTING_CHARACTERS if self._resting else WORKING_CHARACTERS
        return self.fontMetrics().averageCharWidth() * characters

    def enterEvent(self, event: QEnterEvent) -> None:
        self._hovered = True
        self._breathe()
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self._hovered = False
        self._breathe()
        super().leaveEvent(event)

    def _focus_moved(self, before: QObject | None, now: QObject | None) -> None:
        self._breathe()

    def _breathe(self) -> None:
        focused = QApplication.focusWidget()
        within = focused is not None and (self.isAncestorOf(focused) or focused is self)
        popup = self.presets.view().isVisible()
        resting = not (within or self._hovered or popup)
        if resting == self._resting:
            return
        self._resting = resting
        self.setProperty("resting", resting)
        self.style().unpolish(self)
        self.style().polish(self)
        self._tools.setVisible(not resting)
        self.star.setVisible(not resting)
        self.edit.setMinimumWidth(self.fontMetrics().averageCharWidth() * LEAST_CHARACTERS)
        self.updateGeometry()
        self.restingChanged.emit(resting)

    # -- favourites ----------------------------------------------------------------------------------------------------

    def show_favourites(self, favourites: Sequence[str]) -> None:
        """In the list before the presets."""
        self.favourites = list(favourites)
        self._list()
        self._show_star()

    def _list(self) -> None:
        self.presets.blockSignals(True)
        self.presets.clear()
        self.presets.addItem(tr("Presets"))
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

    # -- text ----------------------------------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """The prompt in the box, applied or not."""
        return self.edit.text().strip()

    def focus_text(self) -> None:
        """The keyboard goes to the prompt, which is selected."""
        self.show()
        self.edit.setFocus()
        self.edit.selectAll()

    def set_limit(self, characters: int) -> None:
        """The longest prompt that the model reads."""
        self._limit = characters

    def show_view(self, view: View) -> None:
        """Shows how far the last edit has come; why one was refused stays until its text is another."""
        if self._refusal is not None and self._refusal[0] == self.text:
            text = self._refusal[1]
        else:
            self._refusal = None
            pending = self.text != view.prompt and not self.edit.hasFocus()
            text = tr("not applied yet") if pending and self.text else status_of(view)
            if self._resting and not pending and "understood" in view.reading:
                text = view.reading  # a change that nobody sees must not look like one that was made
        if text != self.status.text():
            self.status.setText(text)
            self.status.setToolTip(text)
        self.status.setVisible(bool(text))
        if view.reading != self.reading.text():
            self.reading.setText(view.reading)
            self.reading.setToolTip(view.reading)
        self.reading.setVisible(bool(view.reading) and not self._resting)

    def _preset(self, index: int) -> None:
        if index > 0:
            self.edit.setText([*self.favourites, *self._presets][index - 1])
            self.presets.setCurrentIndex(0)
            self._apply()

    def _refuse(self, text: str, why: str) -> None:
        self._refusal = (text, why)
        self.status.setText(why)
        self.status.setVisible(True)

    def _apply(self) -> None:
        text = self.text
        if not text:
            self._refuse(text, tr("Enter a prompt"))
            return
        if len(text) > self._limit:
            self._refuse(text, tr("too long: at most {n} characters", n=self._limit))
            return
        self._refusal = None
        self.edit.remember(text)
        self.promptApplied.emit(text, self.transition.value())
        self.editingFinished.emit()
