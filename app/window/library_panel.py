"""The library panel: recordings and pictures, to play, find, rename and delete."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QFile, QFileSystemWatcher, QSize, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QImage, QKeyEvent, QPixmap, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QInputDialog,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QMessageBox,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.language import tr
from app.storage.library import FOLDERS, Made, made, rename
from app.window.cards import ABOUT, PICTURE, WorldCards
from app.window.flow import Flow
from app.window.posters import Posters

VALUE = Qt.ItemDataRole.UserRole
SETTLE_MS = 300
"""After a change of a folder until it is read: films are written for a while."""


class LibraryPanel(QWidget):
    """Reads the folders while it is seen."""

    messagePosted = Signal(str)

    def __init__(
        self,
        home: Path,
        parent: QWidget | None = None,
        open_url: Callable[[QUrl], bool] = QDesktopServices.openUrl,
    ) -> None:
        """home: of the folders films and pictures. open_url: shows a file or folder by the system's own program."""
        super().__init__(parent)
        self._home, self._open_url = home, open_url
        self.list = QListWidget(self)
        self.list.setAccessibleName(tr("Recordings and pictures"))
        self.list.setViewMode(QListWidget.ViewMode.IconMode)
        self.list.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.list.setMovement(QListWidget.Movement.Static)
        self.list.setUniformItemSizes(True)
        self.list.setMinimumHeight(160)
        self.cards = WorldCards(self.list, moving=False, least=130)
        self.list.setItemDelegate(self.cards)
        self.empty = QLabel(tr("Nothing yet. Ctrl+Shift+R records a video, F12 saves a picture."), self)
        self.empty.setWordWrap(True)
        self.empty.setProperty("role", "dim")
        self.play_button = QPushButton(tr("Play"), self)
        self.folder_button = QPushButton(tr("Open folder"), self)
        self.rename_button = QPushButton(tr("Rename ..."), self)
        self.delete_button = QPushButton(tr("Delete ..."), self)
        column = QVBoxLayout(self)
        column.addWidget(self.empty)
        column.addWidget(self.list, 1)
        column.addLayout(Flow(self.play_button, self.folder_button, self.rename_button, self.delete_button))
        self.posters = Posters(self)
        self.posters.made.connect(self._poster)
        self._watcher = QFileSystemWatcher(self)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(SETTLE_MS)
        self._timer.timeout.connect(self.refresh)
        self._watcher.directoryChanged.connect(lambda _: self._timer.start())
        self.list.itemActivated.connect(lambda item: self.play())
        self.list.currentItemChanged.connect(lambda now, before: self._enable())
        self.play_button.clicked.connect(self.play)
        self.folder_button.clicked.connect(self.open_folder)
        self.rename_button.clicked.connect(self.ask_rename)
        self.delete_button.clicked.connect(self.ask_delete)
        self._enable()

    @property
    def chosen(self) -> Made | None:
        item = self.list.currentItem()
        return item.data(VALUE) if item is not None else None

    def refresh(self) -> None:
        """Reads the folders again; the chosen file stays chosen."""
        before = self.chosen
        folders = [str(self._home / f) for f in FOLDERS if (self._home / f).is_dir()]
        if new := [f for f in folders if f not in self._watcher.directories()]:
            self._watcher.addPaths(new)
        self.list.clear()
        for entry in made(self._home):
            item = QListWidgetItem(entry.file.stem)
            item.setData(VALUE, entry)
            item.setData(PICTURE, str(entry.file))
            when = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.at))
            item.setData(ABOUT, f"{when}  ·  {entry.size / 1e6:.1f} MB")
            item.setToolTip(str(entry.file))
            self.list.addItem(item)
            if entry.film:
                self.posters.ask(entry.file)
            if before is not None and entry.file == before.file:
                self.list.setCurrentItem(item)
        self.empty.setVisible(self.list.count() == 0)
        self._fit()
        self._enable()

    def _poster(self, file: str, image: QImage) -> None:
        self.cards.put(file, QPixmap.fromImage(image))
        self.list.viewport().update()

    def _enable(self) -> None:
        for button in (self.play_button, self.rename_button, self.delete_button):
            button.setEnabled(self.chosen is not None)

    # -- what a person does --------------------------------------------------------------------------------------------

    def play(self) -> None:
        """With the system's own program."""
        if self.chosen is not None:
            self._show(self.chosen.file)

    def open_folder(self) -> None:
        """Of the chosen file, or of recordings where none is chosen."""
        self._show(self.chosen.file.parent if self.chosen is not None else self._home)

    def _show(self, path: Path) -> None:
        if not self._open_url(QUrl.fromLocalFile(str(path))):
            self.messagePosted.emit(tr("No program is there to open {file}", file=path))

    def ask_rename(self) -> None:
        """By a small dialog."""
        entry = self.chosen
        if entry is None:
            return
        name, agreed = QInputDialog.getText(self, tr("Rename"), tr("Name of the file"), text=entry.file.stem)
        if agreed:
            self.rename(name)

    def rename(self, name: str) -> None:
        """The chosen file; what cannot be is a message."""
        assert self.chosen is not None
        try:
            new = rename(self.chosen, name)
        except FileExistsError:
            self.messagePosted.emit(tr("There is a file of this name already; nothing was changed"))
            return
        except (OSError, ValueError) as e:
            self.messagePosted.emit(tr("{error}; nothing was changed", error=e))
            return
        self.refresh()
        for i in range(self.list.count()):
            if self.list.item(i).data(VALUE).file == new:
                self.list.setCurrentRow(i)

    def ask_delete(self) -> None:
        """After a question."""
        entry = self.chosen
        if entry is None:
            return
        question = tr("Delete {name}?", name=entry.file.name)
        if QMessageBox.question(self, tr("Delete"), question) == QMessageBox.StandardButton.Yes:
            self.delete()

    def delete(self) -> None:
        """The chosen file goes to the system's bin, or for good where there is none."""
        assert self.chosen is not None
        file = self.chosen.file
        try:
            if not QFile.moveToTrash(str(file)):
                file.unlink()
        except OSError as e:
            self.messagePosted.emit(tr("{error}; nothing was changed", error=e))
        self.refresh()

    # -- events --------------------------------------------------------------------------------------------------------

    def _fit(self) -> None:
        self.list.setGridSize(self.cards.cell())

    def sizeHint(self) -> QSize:
        return QSize(320, 400)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_F2:
            self.ask_rename()
        elif event.key() == Qt.Key.Key_Delete:
            self.ask_delete()
        else:
            super().keyPressEvent(event)

    def close_threads(self) -> None:
        """Before the window goes."""
        self.posters.close()
