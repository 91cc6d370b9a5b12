"""The key map editor: which keys do what, with conflicts shown before they are made."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.input.held_keys import key_name
from engine.runtime.keymap import ACTIONS


class KeymapEditor(QDialog):
    """Emits `keymapAccepted` with key name to action. Nothing changes until OK."""

    keymapAccepted = Signal(dict)

    def __init__(self, keymap: Mapping[str, str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keys")
        self.resize(420, 460)
        self.keymap = dict(keymap)
        self._waiting = False
        self._asked: str | None = None
        self.table = QTableWidget(len(ACTIONS), 2, self)
        self.table.setAccessibleName("Actions and their keys")
        self.table.setHorizontalHeaderLabels(["does", "keys"])
        self.table.verticalHeader().setVisible(False)
        self.table.horizontalHeader().setStretchLastSection(True)
        self.table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.table.setSelectionBehavior(QTableWidget.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QTableWidget.SelectionMode.SingleSelection)
        self.note = QLabel("choose an action, then Add a key or Remove its keys", self)
        self.note.setWordWrap(True)
        self.note.setAccessibleName("Note")
        self.add_button = QPushButton("&Add a key", self)
        self.remove_button = QPushButton("&Remove its keys", self)
        self.box = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel, self)
        row = QHBoxLayout()
        row.addWidget(self.add_button)
        row.addWidget(self.remove_button)
        column = QVBoxLayout(self)
        column.addWidget(self.table, 1)
        column.addWidget(self.note)
        column.addLayout(row)
        column.addWidget(self.box)
        self.add_button.clicked.connect(self._wait)
        self.remove_button.clicked.connect(self._remove)
        self.box.accepted.connect(self._accept)
        self.box.rejected.connect(self.reject)
        self.table.selectRow(0)
        self._fill()

    def action(self) -> str:
        """The chosen one."""
        return ACTIONS[max(0, self.table.currentRow())]

    def _fill(self) -> None:
        for i, action in enumerate(ACTIONS):
            keys = ", ".join(k for k, a in self.keymap.items() if a == action)
            for j, text in enumerate((action.replace("_", " "), keys or "none")):
                self.table.setItem(i, j, QTableWidgetItem(text))
        without = [a.replace("_", " ") for a in ACTIONS if a not in self.keymap.values()]
        if without and not self._waiting:
            self.note.setText(f"without a key: {', '.join(without)}")

    def _wait(self) -> None:
        self._waiting, self._asked = True, None
        self.note.setText(f"press the key for {self.action().replace('_', ' ')}; Esc leaves it")
        self.grabKeyboard()

    def _remove(self) -> None:
        action = self.action()
        self.keymap = {k: a for k, a in self.keymap.items() if a != action}
        self._fill()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self._waiting:
            super().keyPressEvent(event)
            return
        if event.key() == Qt.Key.Key_Escape:
            self._done("nothing was changed")
            return
        name = key_name(event.key())
        if name is None:
            self.note.setText("this key cannot be used: letters, digits, arrows and Space can; press another, or Esc")
            return
        other = self.keymap.get(name)
        if other is not None and other != self.action() and self._asked != name:
            self._asked = name
            self.note.setText(
                f"{name} is {other.replace('_', ' ')} now: press it again to take it away from there, or another key"
            )
            return
        self.keymap[name] = self.action()
        self._done(f"{name} is {self.action().replace('_', ' ')}")

    def _done(self, note: str) -> None:
        self._waiting = False
        self.releaseKeyboard()
        self.note.setText(note)
        self._fill()

    def _accept(self) -> None:
        self.keymapAccepted.emit(self.keymap)
        self.accept()
