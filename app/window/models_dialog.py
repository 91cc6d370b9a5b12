"""The models: what can be run here, pulling with progress, opening one, or a folder of one's own."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QProgressBar,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.window.pull_job import PullJob
from engine.models import hub
from engine.models.catalogue import Entry, load_catalogue

POLL_MS = 100
COLUMNS = ("Model", "Here", "Download", "GPU memory", "K", "Licence")


class ModelsDialog(QDialog):
    """Emits `chosen` with a name, folder or file to open."""

    chosen = Signal(str)

    def __init__(self, current: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Models")
        self.resize(900, 420)
        self._entries: list[Entry | None] = [None, *(e for e in load_catalogue().values() if e.name != "pocket")]
        self.job: PullJob | None = None
        self.table = QTableWidget(len(self._entries), len(COLUMNS), self)
        self.table.setAccessibleName("Models")
        self.table.setHorizontalHeaderLabels(list(COLUMNS))
        self.table.setSelectionBehavior(QTableWidget.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QTableWidget.SelectionMode.SingleSelection)
        self.table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.table.verticalHeader().setVisible(False)
        self.table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.note = QLabel(self)
        self.note.setWordWrap(True)
        self.note.setAccessibleName("About the model")
        self.bar = QProgressBar(self)
        self.bar.setRange(0, 1000)
        self.bar.setVisible(False)
        self.bar.setAccessibleName("Download")
        self.open_button = QPushButton("Open", self)
        self.pull_button = QPushButton("Pull ...", self)
        self.cancel_button = QPushButton("Cancel the pull", self)
        self.folder_button = QPushButton("Open a folder or file ...", self)
        row = QHBoxLayout()
        for button in (self.open_button, self.pull_button, self.cancel_button, self.folder_button):
            row.addWidget(button)
        column = QVBoxLayout(self)
        column.addWidget(self.table, 1)
        column.addWidget(self.note)
        column.addWidget(self.bar)
        column.addLayout(row)
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._poll)
        self.open_button.clicked.connect(self._open)
        self.pull_button.clicked.connect(self._pull)
        self.cancel_button.clicked.connect(self._cancel)
        self.folder_button.clicked.connect(self._folder)
        self.table.itemSelectionChanged.connect(self._selected)
        self.table.itemDoubleClicked.connect(lambda item: self._open())
        self._fill()
        names = [e.name if e else "pocket" for e in self._entries]
        self.table.selectRow(names.index(current) if current in names else 0)

    def _fill(self) -> None:
        for i, e in enumerate(self._entries):
            if e is None:
                cells = ["pocket (ships with Foreland)", "yes", "-", "none", "1 to 21", "-"]
            else:
                download = sum(p.about_gb for p in hub.parts(e))
                here = "yes" if hub.here(e) else "no"
                cells = [
                    e.title,
                    here,
                    f"about {download:.0f} GB",
                    f"{e.memory_gb:g} GB",
                    "/".join(map(str, e.trained)),
                    e.licence,
                ]
            for j, text in enumerate(cells):
                self.table.setItem(i, j, QTableWidgetItem(text))
        self.table.resizeColumnsToContents()
        self._selected()

    @property
    def entry(self) -> Entry | None:
        """The selected one; None is the pocket world."""
        return self._entries[max(0, self.table.currentRow())]

    def _selected(self) -> None:
        e = self.entry
        pulling = self.job is not None and not self.job.state.over
        here = e is None or hub.here(e)
        self.open_button.setEnabled(here)
        self.pull_button.setEnabled(e is not None and not here and not pulling)
        self.cancel_button.setEnabled(pulling)
        if not pulling:
            self.note.setText("" if e is None else "  ".join([e.repo, *e.notes, f"steps: {e.steps}"]))

    def _open(self) -> None:
        e = self.entry
        if self.open_button.isEnabled():
            self.chosen.emit(e.name if e else "pocket")
            self.accept()

    def _folder(self) -> None:
        path = QFileDialog.getExistingDirectory(self, "A checkpoint's folder")
        if path:
            self.chosen.emit(str(Path(path)))
            self.accept()

    def _pull(self) -> None:
        """First press: asks the hub and shows size and licence. Second press: loads."""
        if self.job is not None and self.job.state.plan is not None and not self.job.state.over:
            self.job.agree()
            self.pull_button.setEnabled(False)
            return
        e = self.entry
        if e is None:
            return
        self.job = PullJob(e)
        self.bar.setVisible(True)
        self._timer.start(POLL_MS)
        self._selected()

    def _cancel(self) -> None:
        if self.job is not None:
            self.job.cancel()

    def _poll(self) -> None:
        job = self.job
        if job is None:
            return
        state = job.state
        self.bar.setValue(round(1000 * state.share))
        if state.plan is not None and state.stage == "size and licence":
            p = state.plan
            self.note.setText(
                f"{p.entry.title}: {hub.gb(p.total)}, {hub.gb(p.there)} here already, {hub.gb(p.free)} free in {p.folder}. "
                f"Licence: {p.licence}. Press again to agree and load."
            )
            self.pull_button.setText("Agree and load")
            self.pull_button.setEnabled(p.fits)
        else:
            self.note.setText(state.error or state.stage)
        if state.over:
            self._timer.stop()
            self.pull_button.setText("Pull ...")
            self._fill()
            self.note.setText(state.error or f"{job.entry.title} is here")

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802 (Qt's name)
        self._cancel()
        super().closeEvent(event)

    def reject(self) -> None:
        self._cancel()
        super().reject()

    def keyPressEvent(self, event) -> None:  # type: ignore[no-untyped-def]  # noqa: N802
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.table.hasFocus():
            self._open()
            return
        super().keyPressEvent(event)
