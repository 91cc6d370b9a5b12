"""The settings panel: chunk length, steps, commitment, what answers a key, history, seed, pause, new world."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSlider,
    QSpinBox,
    QWidget,
)

from app.language import tr
from app.window.actions import BY_ID
from app.window.overlay_figures import COMMITS
from engine.control.events import Commit
from engine.models.interface import HistoryPolicy, ModelSpec
from engine.runtime.settings import Settings
from engine.runtime.view import View

AIM_STEP = 0.1
"""Seconds of one step of the slider that says within which time a key should be seen."""
FARTHEST_AIM = 2.0
"""Seconds at its end."""


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
        self.window_box = self._spin(
            spec.windows[0], spec.windows[1], settings.window or spec.window, tr("Chunk length K")
        )
        self.window_box.setSingleStep(spec.grid[0])
        self.window_box.setToolTip(
            tr(
                "K: latents that a call samples together. A longer chunk fills the cache further ahead and costs less for each "
                "picture; a call then takes longer, and so does your key where it has to wait for one."
            )
        )
        self.steps_box = self._spin(1, 50, settings.steps or spec.steps, tr("Denoising steps"))
        self.steps_box.setToolTip(
            tr("Denoising steps of a call. More steps: better pictures, and a call takes longer in proportion.")
        )
        self.seed_box = self._spin(0, 2**31 - 1, settings.seed, tr("Seed"))
        self.seed_box.setToolTip(
            tr(
                "Chooses the noise of the next new world. The same prompt and seed begin at the same place; it costs nothing."
            )
        )
        self.commit_box = self._combo([(c, tr(COMMITS[c])) for c in Commit], settings.commit, tr("Commitment"))
        self.commit_box.setToolTip(
            tr(
                "speculative: a change revokes the predictions that can still be replaced. Short latency, some sampling for nothing.\n"
                "chunk: it waits for the chunk's end, as other engines do. No sampling for nothing, long latency."
            )
        )
        self.answer_box = self._check(_chosen(settings.answer, spec), tr("Short answers"))
        self.answer_box.setToolTip(
            tr(
                "A key or prompt is answered by a shorter call, and a call of the full K follows. Quicker; the first pictures of an answer "
                "are sampled with few others, which can make them weaker."
            )
        )
        self.aim_slider = QSlider(Qt.Orientation.Horizontal, self)
        self.aim_slider.setRange(0, round(FARTHEST_AIM / AIM_STEP))
        self.aim_slider.setValue(round(settings.aim / AIM_STEP))
        self.aim_slider.setAccessibleName(tr("Answer within"))
        self.aim_slider.setToolTip(
            tr("The longest answer that is seen within this time is taken. At the left end: the shortest answer.")
        )
        self.aim_note = QLabel(self)
        self.aim_note.setWordWrap(True)
        self.aim_note.setProperty("role", "dim")
        self.preempt_box = self._check(_chosen(settings.preempt, spec), tr("Stop outdated calls"))
        self.preempt_box.setToolTip(
            tr(
                "A call that a newer key or prompt makes worthless ends at its next denoising step, and a new one begins. Quicker where "
                "calls are long; at most two in a row are stopped."
            )
        )
        self.window_note = QLabel(self)
        self.window_note.setWordWrap(True)
        self.window_note.setProperty("role", "dim")
        policies = [(h, h.value) for h in spec.history]
        self.history_box = self._combo(policies, settings.history or spec.history[0], tr("History policy"))
        self.history_box.setToolTip(
            tr(
                "How what was played conditions the next call. A policy that runs it again costs time and forgets an old prompt sooner; "
                "the session log names it."
            )
        )
        self.notes = QLabel("\n".join(tr(note) for note in spec.notes), self)
        self.notes.setWordWrap(True)
        self.notes.setProperty("role", "dim")
        self.notes.setAccessibleName(tr("About this model"))
        self.negative = QLineEdit(self)
        self.negative.setPlaceholderText(tr("the model's own; Enter applies"))
        self.negative.setAccessibleName(tr("Negative prompt"))
        self.negative.setToolTip(
            tr("What not to show. A call costs twice as much with it, as the model runs with and without.")
        )
        self.pause_button = self._button("")
        self.new_world_button = self._button(BY_ID["world.new"].label)
        self.new_world_button.setToolTip(tr(BY_ID["world.new"].help))
        self.pause_button.setToolTip(tr(BY_ID["world.pause"].help))
        self.show_paused(False)
        form = QFormLayout(self)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.setVerticalSpacing(10)
        for title, box in (
            (tr("Chunk length K"), self.window_box),
            ("", self.window_note),
            (tr("Steps"), self.steps_box),
            (tr("Commitment"), self.commit_box),
            ("", self.answer_box),
            (tr("Answer within"), self.aim_slider),
            ("", self.aim_note),
            ("", self.preempt_box),
            (tr("History"), self.history_box),
            (tr("Seed"), self.seed_box),
            (tr("Negative prompt"), self.negative),
        ):
            if box is self.negative and not spec.negative:
                box.hide()
                continue
            label = QLabel(title, self)
            label.setToolTip(box.toolTip())
            label.setBuddy(box)
            form.addRow(label, box)
        form.addRow(self.pause_button)
        form.addRow(self.new_world_button)
        form.addRow(self.notes)
        self._note(self.window_box.value())
        self.window_box.valueChanged.connect(self._note)
        self.window_box.valueChanged.connect(lambda v: self.settingsChanged.emit({"window": v}))
        self.steps_box.valueChanged.connect(lambda v: self.settingsChanged.emit({"steps": v}))
        self.commit_box.currentIndexChanged.connect(self._commit)
        self.answer_box.toggled.connect(self._answer)
        self.preempt_box.toggled.connect(lambda on: self.settingsChanged.emit({"preempt": on}))
        self.aim_slider.valueChanged.connect(lambda v: self.settingsChanged.emit({"aim": round(v * AIM_STEP, 3)}))
        self._show_answers()
        self.history_box.currentIndexChanged.connect(self._history)
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
        """What the button does now."""
        name = tr("Resume") if paused else tr("Pause")
        self.pause_button.setText(f"{name} ({BY_ID['world.pause'].shortcut})")

    def show_view(self, view: View) -> None:
        """What an answer costs now."""
        aim = self.aim_slider.value() * AIM_STEP
        within = tr("{seconds} s", seconds=f"{aim:.1f}") if aim else tr("the shortest answer")
        text = within
        if view.answer_window:
            seconds = f"{view.answer_seconds:.2f}"
            text += ": " + tr("now K = {k}, seen after some {seconds} s", k=view.answer_window, seconds=seconds)
        if text != self.aim_note.text():
            self.aim_note.setText(text)

    def _answer(self, on: bool) -> None:
        self._show_answers()
        self.settingsChanged.emit({"answer": on})

    def _show_answers(self) -> None:
        self.aim_slider.setEnabled(self.answer_box.isChecked())

    def _commit(self, index: int) -> None:
        self.settingsChanged.emit({"commit": Commit(self.commit_box.itemData(index))})
        self.editingFinished.emit()

    def _history(self, index: int) -> None:
        self.settingsChanged.emit({"history": HistoryPolicy(self.history_box.itemData(index))})
        self.editingFinished.emit()

    def _combo(self, entries: Sequence[tuple[Enum, str]], chosen: Enum, name: str) -> QComboBox:
        """entries: values and what is shown of them."""
        box = QComboBox(self)
        for value, shown in entries:
            box.addItem(shown, value.value)
        box.setCurrentIndex([value for value, _ in entries].index(chosen))
        box.setAccessibleName(name)
        box.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.setMinimumContentsLength(8)
        return box

    def _note(self, k: int) -> None:
        if (near := self._spec.nearest_window(k)) != k:
            self.window_box.setValue(near)  # typed: only some lengths are legal
            return
        seconds = k * self._spec.spans[1] / self._spec.fps
        self.window_note.setText(
            " ".join([tr("{seconds} s per chunk.", seconds=f"{seconds:.2f}"), self._spec.advice(k)])
        )

    def _spin(self, low: int, high: int, value: int, name: str) -> QSpinBox:
        box = QSpinBox(self)
        box.setRange(low, high)
        box.setValue(value)
        box.setAccessibleName(name)
        box.setKeyboardTracking(False)
        return box

    def _check(self, on: bool, text: str) -> QCheckBox:
        box = QCheckBox(text, self)
        box.setChecked(on)
        box.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return box

    def _button(self, text: str) -> QPushButton:
        button = QPushButton(text, self)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return button


def _chosen(wanted: bool | None, spec: ModelSpec) -> bool:
    """None: as the model has it."""
    return spec.short_answers if wanted is None else wanted
