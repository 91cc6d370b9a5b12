"""The settings panel: chunk length, steps, seed, commitment, history, pause, new world."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QFormLayout, QLabel, QLineEdit, QPushButton, QSpinBox, QWidget

from app.window.actions import BY_ID
from engine.control.events import Commit
from engine.models.interface import HistoryPolicy, ModelSpec
from engine.runtime.settings import Settings


class SettingsPanel(QWidget):
    """How the model samples, for one model."""

    settingsChanged = Signal(object)
    """A dict of names and values for `Engine.configure`. Not Signal(dict): Qt's maps turn enums into plain strings."""
    pauseRequested = Signal()
    """Pause or resume."""
    newWorldRequested = Signal()
    negativePromptApplied = Signal(str)
    """Empty for the model's own."""
    editingFinished = Signal()
    """The viewport should have the keyboard back."""

    def __init__(self, settings: Settings, spec: ModelSpec, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._spec = spec
        self.window_box = self._spin(spec.windows[0], spec.windows[1], settings.window or spec.window, "Chunk length K")
        self.window_box.setSingleStep(spec.grid[0])
        self.steps_box = self._spin(1, 50, settings.steps or spec.steps, "Denoising steps")
        self.seed_box = self._spin(0, 2**31 - 1, settings.seed, "Seed")
        self.commit_box = QComboBox(self)
        self.commit_box.addItems([c.value for c in Commit])
        self.commit_box.setCurrentText(settings.commit.value)
        self.commit_box.setAccessibleName("Commitment")
        self.commit_box.setToolTip(
            "speculative: a change revokes the predictions that can still be replaced.\n"
            "chunk: it waits for the chunk's end, as other engines do."
        )
        self.commit_box.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.window_note = QLabel(self)
        self.window_note.setWordWrap(True)
        self.history_box = QComboBox(self)
        self.history_box.addItems([h.value for h in spec.history])
        self.history_box.setCurrentText((settings.history or spec.history[0]).value)
        self.history_box.setAccessibleName("History policy")
        self.history_box.setToolTip("How the retained history conditions the next call; named in the session log.")
        self.history_box.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.notes = QLabel("\n".join(spec.notes), self)
        self.notes.setWordWrap(True)
        self.notes.setAccessibleName("About this model")
        self.negative = QLineEdit(self)
        self.negative.setPlaceholderText("the model's own; Enter applies")
        self.negative.setAccessibleName("Negative prompt")
        self.negative.setToolTip("What not to show")
        self.pause_button = self._button("")
        self.new_world_button = self._button(BY_ID["world.new"].label)
        self.new_world_button.setToolTip(BY_ID["world.new"].help)
        self.pause_button.setToolTip(BY_ID["world.pause"].help)
        self.show_paused(False)
        form = QFormLayout(self)
        form.addRow("Chunk length K", self.window_box)
        form.addRow("", self.window_note)
        form.addRow("Steps", self.steps_box)
        form.addRow("Commitment", self.commit_box)
        form.addRow("History", self.history_box)
        form.addRow("Seed", self.seed_box)
        if spec.negative:
            form.addRow("Negative prompt", self.negative)
        else:
            self.negative.hide()
        form.addRow(self.pause_button)
        form.addRow(self.new_world_button)
        form.addRow(self.notes)
        self._note(self.window_box.value())
        self.window_box.valueChanged.connect(self._note)
        self.window_box.valueChanged.connect(lambda v: self.settingsChanged.emit({"window": v}))
        self.steps_box.valueChanged.connect(lambda v: self.settingsChanged.emit({"steps": v}))
        self.commit_box.currentTextChanged.connect(self._commit)
        self.history_box.currentTextChanged.connect(self._history)
        for box in (self.window_box, self.steps_box, self.seed_box):
            box.editingFinished.connect(self.editingFinished)
        self.negative.returnPressed.connect(lambda: self.negativePromptApplied.emit(self.negative.text().strip()))
        self.negative.returnPressed.connect(self.editingFinished)
        self.pause_button.clicked.connect(self.pauseRequested)
        self.new_world_button.clicked.connect(self.newWorldRequested)

    def toggle_commit(self) -> None:
        """Switches to the other commitment policy."""
        self.commit_box.setCurrentIndex(1 - self.commit_box.currentIndex())

    def show_paused(self, paused: bool) -> None:
        self.pause_button.setText(f"{'Resume' if paused else 'Pause'} ({BY_ID['world.pause'].shortcut})")

    def _commit(self, text: str) -> None:
        self.settingsChanged.emit({"commit": Commit(text)})
        self.editingFinished.emit()

    def _history(self, text: str) -> None:
        self.settingsChanged.emit({"history": HistoryPolicy(text)})
        self.editingFinished.emit()

    def _note(self, k: int) -> None:
        if (near := self._spec.nearest_window(k)) != k:
            self.window_box.setValue(near)  # typed: only some lengths are legal
            return
        seconds = k * self._spec.spans[1] / self._spec.fps
        self.window_note.setText(" ".join([f"{seconds:.2f} s per chunk.", self._spec.advice(k)]))

    def _spin(self, low: int, high: int, value: int, name: str) -> QSpinBox:
        box = QSpinBox(self)
        box.setRange(low, high)
        box.setValue(value)
        box.setAccessibleName(name)
        box.setKeyboardTracking(False)
        return box

    def _button(self, text: str) -> QPushButton:
        button = QPushButton(text, self)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return button
