"""Three first steps over the picture: walk, say, see the future. Each ends when it is done; it leaves for good."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.language import tr
from app.window.actions import BY_ID
from app.window.key_help import keys_of
from engine.runtime.view import UpdateKind, UpdatePhase, View


@dataclass(frozen=True)
class Step:
    """What to do, why, and whether it is done: told by a view and whether the overlay is shown."""

    title: str
    text: str
    done: Callable[[View, bool], bool]


def live(kind: UpdateKind) -> Callable[[View, bool], bool]:
    """Whether an update of a kind has come into the picture."""
    return lambda view, overlay: any(u.kind is kind and u.phase is UpdatePhase.LIVE for u in view.updates)


def steps(keymap: Mapping[str, str]) -> tuple[Step, ...]:
    """With the keys that do it."""
    move = keys_of(keymap, ("forward", "left", "back", "right"))
    turn = keys_of(keymap, ("turn_left", "turn_right"))
    return (
        Step(
            tr("Walk"),
            tr(
                "Hold {move} to walk and {turn} to turn. The picture follows after a moment: it is sampled as you go.",
                move=move,
                turn=turn,
            ),
            live(UpdateKind.KEY),
        ),
        Step(
            tr("Say"),
            tr(
                "Press Enter, describe another place, time or weather, and press Enter again. You need not stop walking."
            ),
            live(UpdateKind.PROMPT),
        ),
        Step(
            tr("See the future"),
            tr(
                "Press {key}: the boxes right of the line are pictures that are sampled already. A key or a prompt revokes those "
                "that can still be replaced.",
                key=BY_ID["view.overlay"].shortcut,
            ),
            lambda view, overlay: overlay,
        ),
    )


class Coach(QFrame):
    """One step at a time."""

    finished = Signal()
    """All steps were done, or the person skipped them."""

    def __init__(self, keymap: Mapping[str, str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("coach")
        self._steps = steps(keymap)
        self._at = 0
        self.title = QLabel(self)
        self.title.setProperty("role", "title")
        self.text = QLabel(self)
        self.text.setWordWrap(True)
        self.text.setMinimumWidth(self.fontMetrics().averageCharWidth() * 40)
        self.text.setAccessibleName(tr("First steps"))
        self.skip = QPushButton(tr("Skip"), self)
        self.skip.setAccessibleName(tr("Skip the first steps"))
        row = QHBoxLayout()
        row.addWidget(self.title, 1)
        row.addWidget(self.skip)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 12, 14)
        column.addLayout(row)
        column.addWidget(self.text)
        self.skip.clicked.connect(self.end)
        self._show()
        self.hide()

    @property
    def step(self) -> int:
        """From 0; their number when all are done."""
        return self._at

    def watch(self, view: View, overlay: bool) -> None:
        """Goes on when the step is done."""
        if self.isHidden() or self._at >= len(self._steps):
            return
        if self._steps[self._at].done(view, overlay):
            self._at += 1
            if self._at == len(self._steps):
                self.end()
            else:
                self._show()

    def end(self) -> None:
        """Leaves."""
        self._at = len(self._steps)
        self.hide()
        self.finished.emit()

    def _show(self) -> None:
        step = self._steps[self._at]
        self.title.setText(f"{self._at + 1} / {len(self._steps)}  ·  {step.title}")
        self.text.setText(step.text)
        self.updateGeometry()
