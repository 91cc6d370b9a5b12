"""The models: which are installed, downloading with progress, opening one, or a folder of one's own."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QHeaderView,
    QLabel,
    QMessageBox,
    QProgressBar,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.language import marked, tr
from app.window.download_job import DownloadJob
from app.window.flow import Flow
from engine.models import hub
from engine.models.catalogue import Broken, Entry, read_catalogue

POLL_MS = 100
CHECKPOINTS = (".safetensors", ".gguf", ".pt", ".pth", ".ckpt")
COLUMNS = (
    marked("Model"),
    marked("Installed"),
    marked("Download"),
    marked("GPU memory"),
    marked("K"),
    marked("Licence"),
)


class ModelsDialog(QDialog):
    """The catalogue as a table, and what can be done with an entry."""

    modelSelected = Signal(str)
    """A name, folder or file to open."""

    def __init__(self, current: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Models"))
        self.resize(900, 420)
        catalogue = read_catalogue()
        self._entries = list(catalogue.entries.values())
        self._broken = catalogue.broken
        self.job: DownloadJob | None = None
        self.confirmation: QMessageBox | None = None
        """Asks for agreement to a size and a licence."""
        self.table = QTableWidget(len(self._entries) + len(self._broken), len(COLUMNS), self)
        self.table.setAccessibleName(tr("Models"))
        self.table.setHorizontalHeaderLabels([tr(c) for c in COLUMNS])
        self.table.setSelectionBehavior(QTableWidget.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QTableWidget.SelectionMode.SingleSelection)
        self.table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.table.verticalHeader().setVisible(False)
        self.table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.note = QLabel(self)
        self.note.setWordWrap(True)
        self.note.setAccessibleName(tr("About the model"))
        self.bar = QProgressBar(self)
        self.bar.setRange(0, 1000)
        self.bar.setVisible(False)
        self.bar.setAccessibleName(tr("Download"))
        self.open_button = QPushButton(tr("&Open"), self)
        self.download_button = QPushButton(tr("&Download ..."), self)
        self.cancel_button = QPushButton(tr("&Cancel download"), self)
        self.folder_button = QPushButton(tr("Open a &folder ..."), self)
        self.file_button = QPushButton(tr("Open a f&ile ..."), self)
        row = Flow(self.open_button, self.download_button, self.cancel_button, self.folder_button, self.file_button)
        column = QVBoxLayout(self)
        column.addWidget(self.table, 1)
        column.addWidget(self.note)
        column.addWidget(self.bar)
        column.addLayout(row)
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._poll)
        self.open_button.clicked.connect(self._open)
        self.download_button.clicked.connect(self._download)
        self.cancel_button.clicked.connect(self._cancel)
        self.folder_button.clicked.connect(self._folder)
        self.file_button.clicked.connect(self._file)
        self.table.itemSelectionChanged.connect(self._selected)
        self.table.itemDoubleClicked.connect(lambda item: self._open())
        self._fill()
        self.table.selectRow(self.names.index(current) if current in self.names else 0)

    def _fill(self) -> None:
        for i, e in enumerate(self._entries):
            if e.ships:
                cells = [e.title, tr("yes"), "-", tr("none"), f"{e.windows[0]} - {e.windows[1]}", e.licence]
            else:
                download = sum(p.about_gb for p in hub.parts(e))
                here = tr("yes") if hub.here(e) else tr("no")
                cells = [
                    e.title,
                    here,
                    tr("about {n} GB", n=f"{download:.0f}"),
                    f"{e.memory_gb:g} GB",
                    "/".join(map(str, e.trained)),
                    e.licence,
                ]
            for j, text in enumerate(cells):
                self.table.setItem(i, j, QTableWidgetItem(text))
        for i, broken in enumerate(self._broken, len(self._entries)):
            for j, text in enumerate([broken.source, tr("cannot be used"), "-", "-", "-", "-"]):
                self.table.setItem(i, j, QTableWidgetItem(text))
        self.table.resizeColumnsToContents()
        self._selected()

    @property
    def names(self) -> list[str]:
        """Of the rows, in their order."""
        return [e.name for e in self._entries]

    @property
    def entry(self) -> Entry | None:
        """The selected one; None for what cannot be used."""
        row = max(0, self.table.currentRow())
        return self._entries[row] if row < len(self._entries) else None

    @property
    def broken(self) -> Broken | None:
        """The selected one, where it is a plug-in or a row that cannot be used."""
        row = self.table.currentRow() - len(self._entries)
        return self._broken[row] if row >= 0 else None

    def _selected(self) -> None:
        e = self.entry
        downloading = self.job is not None and not self.job.state.over
        here = e is not None and hub.here(e)
        self.open_button.setEnabled(here)
        self.download_button.setEnabled(e is not None and not here and not downloading)
        self.cancel_button.setEnabled(downloading)
        if not downloading:
            about = (
                "" if e is None else "  ".join([*([e.repo] if e.repo else []), *e.notes, tr("steps: {n}", n=e.steps)])
            )
            self.note.setText(about if self.broken is None else str(self.broken))

    def _open(self) -> None:
        e = self.entry
        if e is not None and self.open_button.isEnabled():
            self.modelSelected.emit(e.name)
            self.accept()

    def _folder(self) -> None:
        path = QFileDialog.getExistingDirectory(self, tr("Folder of a checkpoint"))
        if path:
            self.modelSelected.emit(str(Path(path)))
            self.accept()

    def _file(self) -> None:
        """A lone checkpoint."""
        kinds = " ".join(f"*{s}" for s in CHECKPOINTS)
        path, _ = QFileDialog.getOpenFileName(
            self, tr("File of a checkpoint"), "", tr("Checkpoints ({kinds})", kinds=kinds)
        )
        if path:
            self.modelSelected.emit(str(Path(path)))
            self.accept()

    def _download(self) -> None:
        """Asks the hub for size and licence, then the person, then downloads."""
        e = self.entry
        if e is None:
            return
        self.job = DownloadJob(e)
        self.bar.setVisible(True)
        self._timer.start(POLL_MS)
        self._selected()

    def _confirm(self, job: DownloadJob, plan: hub.Plan) -> None:
        """Does not wait for the answer: the world goes on meanwhile."""
        about = (
            tr(
                "{model}: {total}, of which {there} are here already.",
                model=plan.entry.title,
                total=hub.gb(plan.total),
                there=hub.gb(plan.there),
            )
            + "\n"
            + tr("{free} are free in {folder}.", free=hub.gb(plan.free), folder=plan.folder)
            + "\n"
            + tr("Licence: {licence}", licence=plan.licence)
        )
        self.note.setText(about)
        box = QMessageBox(QMessageBox.Icon.Question, tr("Download"), about, parent=self)
        if plan.fits:
            box.setInformativeText(tr("Do you agree to the licence and download it?"))
            agree = box.addButton(tr("Agree and download"), QMessageBox.ButtonRole.AcceptRole)
            agree.clicked.connect(job.agree)
        else:
            box.setInformativeText(tr("It does not fit: free some space, then try again."))
        box.addButton(QMessageBox.StandardButton.Cancel)
        box.rejected.connect(job.cancel)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.confirmation = box
        box.open()

    def _cancel(self) -> None:
        if self.job is not None:
            self.job.cancel()

    def _poll(self) -> None:
        job = self.job
        if job is None:
            return
        state = job.state
        self.bar.setValue(round(1000 * state.share))
        if state.plan is not None and state.asking:
            if self.confirmation is None:
                self._confirm(job, state.plan)
        else:
            self.note.setText(state.error or state.stage)
        if state.over:
            self._timer.stop()
            self.confirmation = None
            self._fill()
            self.note.setText(state.error or tr("{model} is installed", model=job.entry.title))

    def closeEvent(self, event: QCloseEvent) -> None:
        self._cancel()
        super().closeEvent(event)

    def reject(self) -> None:
        self._cancel()
        super().reject()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.table.hasFocus():
            self._open()
            return
        super().keyPressEvent(event)
