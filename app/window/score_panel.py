"""The score panel: a list of prompts with their times, which plays by itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from engine.errors import Refused
from engine.files import read_text, write_whole
from engine.runtime.score import Line, Performance, ScoreError, checked, parse, text_of


class ScorePanel(QWidget):
    """A table of lines; those whose time comes are emitted."""

    promptDue = Signal(str, float)
    """A line's prompt, and the seconds of its transition."""

    def __init__(self, media: Callable[[], float], parent: QWidget | None = None) -> None:
        """media: the media time now, seconds."""
        super().__init__(parent)
        self._media = media
        self._performance: Performance | None = None
        self.table = QTableWidget(0, 3, self)
        self.table.setAccessibleName("Score")
        self.table.setHorizontalHeaderLabels(["at, s", "prompt", "transition, s"])
        self.table.horizontalHeader().setSectionResizeMode(1, self.table.horizontalHeader().ResizeMode.Stretch)
        self.table.setColumnWidth(0, 60)
        self.table.setColumnWidth(2, 90)
        self.note = QLabel("", self)
        self.note.setWordWrap(True)
        self.note.setAccessibleName("Score status")
        self.play_button = self._button("Play")
        self.add_button, self.remove_button = self._button("Add line"), self._button("Remove line")
        self.open_button, self.save_button = self._button("Open ..."), self._button("Save ...")
        column = QVBoxLayout(self)
        column.addWidget(self.table, 1)
        column.addWidget(self.note)
        for buttons in (
            (self.play_button,),
            (self.add_button, self.remove_button),
            (self.open_button, self.save_button),
        ):
            row = QHBoxLayout()
            for b in buttons:
                row.addWidget(b)
            column.addLayout(row)
        self.play_button.clicked.connect(self.toggle)
        self.add_button.clicked.connect(lambda: self.add_line(Line(self._last() + 10.0, "", 0.0)))
        self.remove_button.clicked.connect(lambda: self.table.removeRow(self.table.currentRow()))
        self.open_button.clicked.connect(self._open)
        self.save_button.clicked.connect(self._save)

    def _button(self, text: str) -> QPushButton:
        b = QPushButton(text, self)
        b.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return b

    def _last(self) -> float:
        try:
            return max((x.t for x in self.lines()), default=-10.0)
        except ScoreError:
            return -10.0

    def add_line(self, line: Line) -> None:
        row = self.table.rowCount()
        self.table.insertRow(row)
        for i, text in enumerate((f"{line.t:g}", line.prompt, f"{line.seconds:g}")):
            self.table.setItem(row, i, QTableWidgetItem(text))

    def show_lines(self, lines: list[Line]) -> None:
        self.table.setRowCount(0)
        for x in lines:
            self.add_line(x)

    def lines(self) -> list[Line]:
        """What the table says. Raises ScoreError."""
        out = []
        for row in range(self.table.rowCount()):
            cells = [item.text() if (item := self.table.item(row, i)) is not None else "" for i in range(3)]
            try:
                out.append(Line(float(cells[0]), cells[1].strip(), float(cells[2] or 0)))
            except ValueError as e:
                raise ScoreError(f"line {row + 1}: {e}") from e
        return checked(out)

    @property
    def playing(self) -> bool:
        return self._performance is not None

    def toggle(self) -> None:
        """Begins, or stops; the prompt in force stays."""
        if self._performance is not None:
            self.stop()
            return
        try:
            lines = self.lines()
            if not lines:
                raise ScoreError("there is no line yet: add one")
        except ScoreError as e:
            self.note.setText(str(e))
            return
        self._performance = Performance(lines, self._media())
        self.play_button.setText("Stop")
        self.tick()

    def stop(self) -> None:
        self._performance = None
        self.play_button.setText("Play")

    def tick(self) -> None:
        """Emits what is due; called by the window now and then."""
        if self._performance is None:
            return
        media = self._media()
        for line in self._performance.due(media):
            self.promptDue.emit(line.prompt, line.seconds)
        left = self._performance.next_in(media)
        self.note.setText("finished" if left is None else f"next in {left:.1f} s")
        if self._performance.over:
            self.stop()

    def _open(self) -> None:
        file, _ = QFileDialog.getOpenFileName(self, "Open a score", "", "Scores (*.json)")
        if file:
            self.open(Path(file))

    def open(self, file: Path) -> None:
        """Reads a score; what was in the table stays when it cannot be read."""
        try:
            self.show_lines(parse(read_text(file), str(file)))
            self.note.setText(f"{file.name}: {self.table.rowCount()} lines")
        except Refused as e:
            self.note.setText(f"{e}; the lines here are as they were")

    def _save(self) -> None:
        file, _ = QFileDialog.getSaveFileName(self, "Save the score", "score.json", "Scores (*.json)")
        if file:
            self.save(Path(file))

    def save(self, file: Path) -> None:
        try:
            write_whole(file, text_of(self.lines()).encode())
            self.note.setText(f"saved {file}")
        except (OSError, ScoreError) as e:
            self.note.setText(f"{e}; nothing was saved")
