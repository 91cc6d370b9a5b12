"""The key map editor: which keys do what, with conflicts shown before they are made."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QMessageBox,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.input.held_keys import action_name
from app.input.key_names import key_of
from app.language import tr
from engine.runtime.keymap import ACTIONS


class KeymapEditor(QDialog):
    """Emits `keymapAccepted` with key name to action. Nothing changes until OK."""

    keymapAccepted = Signal(dict)
    _waiting = False
    """Whether the next key is for the chosen action. Of the class: events come before the instance is made."""

    def __init__(self, keymap: Mapping[str, str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Keys"))
        self.resize(420, 460)
        self.keymap = dict(keymap)
        self.question: QMessageBox | None = None
        """Asks whether a key may be taken away from another action."""
        self.table = QTableWidget(len(ACTIONS), 2, self)
        self.table.setAccessibleName(tr("Actions and their keys"))
        self.table.setHorizontalHeaderLabels([tr("does"), tr("keys")])
        self.table.verticalHeader().setVisible(False)
        self.table.horizontalHeader().setStretchLastSection(True)
        self.table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.table.setSelectionBehavior(QTableWidget.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QTableWidget.SelectionMode.SingleSelection)
        self.note = QLabel(tr("Choose an action, then add a key or remove its keys"), self)
        self.note.setWordWrap(True)
        self.note.setAccessibleName(tr("Note"))
        self.add_button = QPushButton(tr("&Add a key"), self)
        self.remove_button = QPushButton(tr("&Remove its keys"), self)
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
            for j, text in enumerate((action_name(action), keys or "none")):
                self.table.setItem(i, j, QTableWidgetItem(text))
        without = [action_name(a) for a in ACTIONS if a not in self.keymap.values()]
        if without and not self._waiting:
            self.note.setText(tr("without a key: {actions}", actions=", ".join(without)))

    def _wait(self) -> None:
        self._waiting = True
        self.note.setText(tr("Press the key for “{action}”; Esc leaves it", action=action_name(self.action())))
        self.grabKeyboard()

    def _remove(self) -> None:
        action = self.action()
        self.keymap = {k: a for k, a in self.keymap.items() if a != action}
        self._fill()

    def event(self, event: QEvent) -> bool:
        """While a key is waited for, the window's shortcuts do not take it."""
        if self._waiting and event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self._waiting:
            super().keyPressEvent(event)
            return
        if event.key() == Qt.Key.Key_Escape:
            self._done(tr("Nothing was changed"))
            return
        if event.key() in (Qt.Key.Key_Control, Qt.Key.Key_Alt, Qt.Key.Key_AltGr, Qt.Key.Key_Meta):
            return  # the beginning of a shortcut
        key = key_of(event)
        if key is None:
            self.note.setText(tr("This key is the program's own: press another, or Esc"))
            return
        other = self.keymap.get(key.name)
        self._waiting = False
        self.releaseKeyboard()
        if other is not None and other != self.action():
            self._ask(key.name, other)
            return
        self._take(key.name)

    def _ask(self, name: str, other: str) -> None:
        """Whether the key is to be taken away from what it does now."""
        question = tr(
            "{key} is “{other}” now. Make it “{action}”?",
            key=name,
            other=action_name(other),
            action=action_name(self.action()),
        )
        box = QMessageBox(QMessageBox.Icon.Question, tr("Keys"), question, parent=self)
        box.setStandardButtons(QMessageBox.StandardButton.Yes | QMessageBox.StandardButton.No)
        box.accepted.connect(lambda: self._take(name))
        box.rejected.connect(lambda: self._done(tr("Nothing was changed")))
        self.question = box
        box.open()

    def _take(self, name: str) -> None:
        self.keymap[name] = self.action()
        self.question = None
        self._done(tr("{key} is “{action}”", key=name, action=action_name(self.action())))

    def _done(self, note: str) -> None:
        self._waiting = False
        self.releaseKeyboard()
        self.note.setText(note)
        self._fill()

    def _accept(self) -> None:
        self.keymapAccepted.emit(self.keymap)
        self.accept()
