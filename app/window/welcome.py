"""The welcome page: worlds to enter, models that can run here, past sessions, and the first keys."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from app.storage.worlds import PastSession, World, sessions, worlds
from app.window.actions import BY_ID
from engine.models import hub
from engine.models.catalogue import load_catalogue

HINTS = (
    "<b>W A S D</b> move, <b>arrows</b> turn and look, or hold the <b>right mouse button</b> and move the mouse. "
    "<b>Enter</b> goes to the prompt box: describe another place, time or weather while you move. "
    f"<b>{BY_ID['view.overlay'].shortcut}</b> shows what is cached, locked and revoked; "
    f"<b>{BY_ID['help.overlay'].shortcut}</b> explains it."
)
THUMBNAIL = QSize(160, 100)


class Welcome(QDialog):
    """Emits what was selected; the world goes on meanwhile."""

    worldSelected = Signal(object)
    sessionSelected = Signal(object)
    modelSelected = Signal(str)
    modelsRequested = Signal()
    """The models dialog."""

    def __init__(self, home: Path | None, gpu_gb: float, at_start: bool, parent: QWidget | None = None) -> None:
        """gpu_gb: memory of the largest GPU, 0 without one. at_start: whether it is shown at the start."""
        super().__init__(parent)
        self.setWindowTitle("Welcome to Foreland")
        self.resize(760, 520)
        hints = QLabel(HINTS, self)
        hints.setWordWrap(True)
        hints.setAccessibleName("First keys")
        self.worlds = QListWidget(self)
        self.worlds.setAccessibleName("Worlds")
        self.worlds.setViewMode(QListWidget.ViewMode.IconMode)
        self.worlds.setIconSize(THUMBNAIL)
        self.worlds.setGridSize(QSize(THUMBNAIL.width() + 16, THUMBNAIL.height() + 44))
        self.worlds.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.worlds.setMovement(QListWidget.Movement.Static)
        self.worlds.setWordWrap(True)
        for w in worlds(home):
            item = QListWidgetItem(QIcon(str(w.thumbnail)) if w.thumbnail is not None else QIcon(), w.name)
            item.setData(Qt.ItemDataRole.UserRole, w)
            item.setToolTip(f"{w.prompt} (seed {w.seed}, {w.model})")
            self.worlds.addItem(item)
        self.models = QListWidget(self)
        self.models.setAccessibleName("Models")
        self._fill_models(gpu_gb)
        self.sessions = QListWidget(self)
        self.sessions.setAccessibleName("Recent sessions")
        for s in sessions(home):
            item = QListWidgetItem(f"{s.folder.name}   {s.prompt}   ({s.model}, {s.seconds:.0f} s)")
            item.setData(Qt.ItemDataRole.UserRole, s)
            self.sessions.addItem(item)
        self.tabs = QTabWidget(self)
        for widget, name in ((self.worlds, "&Worlds"), (self.models, "&Models"), (self.sessions, "&Recent sessions")):
            self.tabs.addTab(widget, name)
        self.at_start = QCheckBox("Show this at the &start", self)
        self.at_start.setChecked(at_start)
        self.go_button = QPushButton("&Enter", self)
        self.go_button.setDefault(True)
        close = QPushButton("&Close", self)
        row = QHBoxLayout()
        row.addWidget(self.at_start, 1)
        row.addWidget(self.go_button)
        row.addWidget(close)
        column = QVBoxLayout(self)
        column.addWidget(hints)
        column.addWidget(self.tabs, 1)
        column.addLayout(row)
        for box in (self.worlds, self.models, self.sessions):
            box.itemActivated.connect(lambda item: self.enter())
            if box.count():
                box.setCurrentRow(0)
        self.go_button.clicked.connect(self.enter)
        close.clicked.connect(self.close)

    def _fill_models(self, gpu_gb: float) -> None:
        rows: list[tuple[str, str, bool]] = []
        for e in load_catalogue().values():
            if e.ships:
                rows.append((e.name, f"{e.title}: needs no GPU", True))
                continue
            fits = gpu_gb >= e.memory_gb
            here = hub.here(e)
            if fits and here:
                note = "ready"
            elif fits:
                note = "can run here; download it first (World > Models)"
            else:
                has = f"{gpu_gb:.0f} GB" if gpu_gb else "none"
                note = f"needs a GPU with {e.memory_gb:g} GB; here: {has}"
            rows.append((e.name, f"{e.title}: {note}", fits and here))
        for name, text, ready in rows:
            item = QListWidgetItem(text)
            item.setData(Qt.ItemDataRole.UserRole, name)
            item.setData(Qt.ItemDataRole.UserRole + 1, ready)
            self.models.addItem(item)

    def enter(self) -> None:
        """What is chosen on the tab in front."""
        box = self.tabs.currentWidget()
        assert isinstance(box, QListWidget)
        item = box.currentItem()
        if item is None:
            return
        value = item.data(Qt.ItemDataRole.UserRole)
        if isinstance(value, World):
            self.worldSelected.emit(value)
        elif isinstance(value, PastSession):
            self.sessionSelected.emit(value)
        elif item.data(Qt.ItemDataRole.UserRole + 1):
            self.modelSelected.emit(value)
        else:
            self.modelsRequested.emit()
        self.close()


def gpu_memory_gb() -> float:
    """Of the largest GPU, 0 without one. torch is loaded by the engine anyway; before that, no GPU is known of."""
    import sys

    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "cuda") or not torch.cuda.is_available():
        return 0.0
    return max(torch.cuda.get_device_properties(i).total_memory for i in range(torch.cuda.device_count())) / 2**30
