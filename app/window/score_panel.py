"""The score panel: a list of prompts with their times, which plays by itself."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFileDialog,
    QLabel,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.language import tr
from app.window.flow import Flow
from app.window.timeline import Timeline
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
        self._began = 0.0
        self.timeline = Timeline(self)
        self.empty = QLabel(tr("A score says prompts by itself, each at its time. Add a line to begin."), self)
        self.empty.setWordWrap(True)
        self.empty.setProperty("role", "dim")
        self.table = QTableWidget(0, 3, self)
        self.table.setAccessibleName(tr("Score"))
        self.table.setHorizontalHeaderLabels([tr("at, s"), tr("prompt"), tr("transition, s")])
        self.table.setMinimumHeight(120)
        self.table.horizontalHeader().setSectionResizeMode(1, self.table.horizontalHeader().ResizeMode.Stretch)
        self.table.setColumnWidth(0, 60)
        self.table.setColumnWidth(2, 90)
        self.note = QLabel("", self)
        self.note.setWordWrap(True)
        self.note.setAccessibleName(tr("Score status"))
        self.play_button = self._button(tr("Play"))
        self.add_button, self.remove_button = self._button(tr("Add line")), self._button(tr("Remove line"))
        self.open_button, self.save_button = self._button(tr("Open ...")), self._button(tr("Save ..."))
        column = QVBoxLayout(self)
        column.addWidget(self.empty)
        column.addWidget(self.timeline)
        column.addWidget(self.table, 1)
        column.addWidget(self.note)
        column.addLayout(
            Flow(self.play_button, self.add_button, self.remove_button, self.open_button, self.save_button)
        )
        self.timeline.linesDragged.connect(self.show_lines)
        self.timeline.lineChosen.connect(self._choose)
        self.table.itemChanged.connect(lambda item: self._draw())
        self.play_button.clicked.connect(self.toggle)
        self.add_button.clicked.connect(lambda: self.add_line(Line(self._last() + 10.0, "", 0.0)))
        self.remove_button.clicked.connect(self._remove)
        self._draw()
        self.open_button.clicked.connect(self._open)
        self.save_button.clicked.connect(self._save)

    def _button(self, text: str) -> QPushButton:
        b = QPushButton(text, self)
        b.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return b

    def _remove(self) -> None:
        self.table.removeRow(self.table.currentRow())
        self._draw()

    def _choose(self, line: int) -> None:
        """Lines of the timeline are in order of time, as those of the table are after a drag."""
        if line < self.table.rowCount():
            self.table.selectRow(line)

    def _draw(self) -> None:
        """The timeline shows what the table says, as far as it can be played."""
        self.empty.setVisible(not self.table.rowCount())
        self.timeline.setVisible(bool(self.table.rowCount()))
        try:
            self.timeline.show_lines(self.lines())
        except ScoreError:
            return  # half a line, while it is typed

    def _last(self) -> float:
        """Where the last line begins, whether or not its other cells can be read; -10 where there is none."""
        out = -10.0
        for row in range(self.table.rowCount()):
            item = self.table.item(row, 0)
            with suppress(ValueError):
                out = max(out, float(item.text() if item is not None else ""))
        return out

    def add_line(self, line: Line) -> None:
        row = self.table.rowCount()
        self.table.insertRow(row)
        for i, text in enumerate((f"{line.t:g}", line.prompt, f"{line.seconds:g}")):
            self.table.setItem(row, i, QTableWidgetItem(text))
        self.table.setCurrentCell(row, 1)
        self._draw()

    def show_lines(self, lines: list[Line]) -> None:
        """In the place of those that are there."""
        self.table.setRowCount(0)
        for x in lines:
            self.add_line(x)
        self._draw()

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
                raise ScoreError(tr("there is no line yet: add one"))
        except ScoreError as e:
            self.note.setText(str(e))
            return
        self._began = self._media()
        self._performance = Performance(lines, self._began)
        self.play_button.setText(tr("Stop"))
        self.tick()

    def stop(self) -> None:
        self._performance = None
        self.play_button.setText(tr("Play"))
        self.timeline.playing_at = None
        self.timeline.update()

    def tick(self) -> None:
        """Emits what is due; called by the window now and then."""
        if self._performance is None:
            return
        media = self._media()
        self.timeline.playing_at = media - self._began
        self.timeline.update()
        for line in self._performance.due(media):
            self.promptDue.emit(line.prompt, line.seconds)
        left = self._performance.next_in(media)
        self.note.setText(tr("finished") if left is None else tr("next in {seconds} s", seconds=f"{left:.1f}"))
        if self._performance.over:
            self.stop()

    def _open(self) -> None:
        file, _ = QFileDialog.getOpenFileName(self, tr("Open a score"), "", tr("Scores (*.json)"))
        if file:
            self.open(Path(file))

    def open(self, file: Path) -> None:
        """Reads a score; what was in the table stays when it cannot be read."""
        try:
            self.show_lines(parse(read_text(file), str(file)))
            self.note.setText(tr("{file}: {n} lines", file=file.name, n=self.table.rowCount()))
        except Refused as e:
            self.note.setText(tr("{error}; the lines here are as they were", error=e))

    def _save(self) -> None:
        file, _ = QFileDialog.getSaveFileName(self, tr("Save the score"), "score.json", tr("Scores (*.json)"))
        if file:
            self.save(Path(file))

    def save(self, file: Path) -> None:
        try:
            write_whole(file, text_of(self.lines()).encode())
            self.note.setText(tr("saved {file}", file=file))
        except (OSError, ScoreError) as e:
            self.note.setText(tr("{error}; nothing was saved", error=e))
