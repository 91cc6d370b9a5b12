"""The start screen, over the picture in the window itself: worlds to enter, models that can run here, past sessions.

The world that is chosen first is loading behind it: entering that one computes nothing twice.
"""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QTabWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.language import tr
from app.storage.worlds import PastSession, World
from app.window.cards import ABOUT, CHIP, LOOP, PICTURE, StatusRows, WorldCards
from app.window.flow import Flow
from app.window.model_status import ModelStatus

VALUE = Qt.ItemDataRole.UserRole


class StartScreen(QWidget):
    """Emits what was chosen; whoever shows it hides it."""

    worldSelected = Signal(object)
    sessionSelected = Signal(object)
    modelSelected = Signal(str)
    modelsRequested = Signal()
    """The models dialog: what was chosen is not there yet."""
    worldFileRequested = Signal()
    """A world in a file."""
    renameRequested = Signal(object)
    deleteRequested = Signal(object)
    closed = Signal()
    """Nothing was chosen."""

    def __init__(self, at_start: bool, moving: bool, parent: QWidget) -> None:
        """at_start: whether it is shown at the start. moving: whether the chosen world's picture moves."""
        super().__init__(parent)
        self.setObjectName("start")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        title = QLabel(tr("Where to?"), self)
        font = title.font()
        font.setPointSizeF(font.pointSizeF() * 1.8)
        title.setFont(font)
        self.close_button = QToolButton(self)
        self.close_button.setText("\N{MULTIPLICATION SIGN}")
        self.close_button.setToolTip(tr("Back to the world (Esc)"))
        self.close_button.setAccessibleName(tr("Close"))
        self.worlds = self._list(tr("Worlds"))
        self.worlds.setViewMode(QListWidget.ViewMode.IconMode)
        self.worlds.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.worlds.setMovement(QListWidget.Movement.Static)
        self.worlds.setUniformItemSizes(True)
        self.worlds.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.cards = WorldCards(self.worlds, moving)
        self.worlds.setItemDelegate(self.cards)
        self.models, self.sessions = self._list(tr("Models")), self._list(tr("Recent sessions"))
        for rows in (self.models, self.sessions):
            rows.setItemDelegate(StatusRows(rows))
            rows.setSpacing(2)
        self.tabs = QTabWidget(self)
        self.tabs.setDocumentMode(True)
        self.tabs.tabBar().setDrawBase(False)
        self.tabs.tabBar().setAccessibleName(tr("Worlds, models, sessions"))
        for widget, name in (
            (self.worlds, tr("&Worlds")),
            (self.models, tr("&Models")),
            (self.sessions, tr("&Recent")),
        ):
            self.tabs.addTab(widget, name)
        self.stage = QLabel(self)
        self.stage.setProperty("role", "dim")
        self.stage.setProperty("elided", True)
        self.stage.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.stage.setAccessibleName(tr("Loading"))
        self.bar = QProgressBar(self)
        self.bar.setRange(0, 1000)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(tr("Loading"))
        self.at_start = QCheckBox(tr("Show at the &start"), self)
        self.at_start.setChecked(at_start)
        self.rename_button = QPushButton(tr("Rename ..."), self)
        self.delete_button = QPushButton(tr("Delete ..."), self)
        self.open_button = QPushButton(tr("&Open a world file ..."), self)
        self.go_button = QPushButton(tr("&Enter"), self)
        self.go_button.setDefault(True)
        head = QHBoxLayout()
        head.addWidget(title, 1)
        head.addWidget(self.close_button)
        row = QHBoxLayout()
        row.addLayout(Flow(self.at_start, self.open_button, self.rename_button, self.delete_button), 1)
        row.addWidget(self.go_button, 0, Qt.AlignmentFlag.AlignBottom)
        foot = QHBoxLayout()
        foot.addWidget(self.stage, 1)
        foot.addWidget(self.bar, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 14, 20, 14)
        column.addLayout(head)
        column.addWidget(self.tabs, 1)
        column.addLayout(foot)
        column.addLayout(row)
        for box in (self.worlds, self.models, self.sessions):
            box.itemActivated.connect(lambda item: self.enter())
        self.worlds.currentItemChanged.connect(lambda now, before: self._own())
        self.tabs.currentChanged.connect(lambda _: self._own())
        self.go_button.clicked.connect(self.enter)
        self.close_button.clicked.connect(self.closed)
        self.open_button.clicked.connect(self.worldFileRequested)
        self.rename_button.clicked.connect(lambda: self.renameRequested.emit(self.world))
        self.delete_button.clicked.connect(lambda: self.deleteRequested.emit(self.world))
        self._own()

    def _list(self, name: str) -> QListWidget:
        box = QListWidget(self)
        box.setAccessibleName(name)
        box.setMouseTracking(True)
        return box

    # -- contents ------------------------------------------------------------------------------------------------------

    def fill(self, worlds: Iterable[World], models: Iterable[ModelStatus], sessions: Iterable[PastSession]) -> None:
        """The first of each is chosen, unless the one that was is still there."""
        before = self.world
        self.worlds.clear()
        for w in worlds:
            item = self._add(self.worlds, w.name, w.prompt, w)
            item.setData(PICTURE, str(w.thumbnail or ""))
            item.setData(LOOP, str(w.loop or ""))
            item.setToolTip(tr("{prompt} (seed {seed}, {model})", prompt=w.prompt, seed=w.seed, model=w.model))
            if w == before:
                self.worlds.setCurrentItem(item)
        self.models.clear()
        for m in models:
            item = self._add(self.models, m.title, m.about, m)
            item.setData(CHIP, (m.kind, m.words))
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{m.title}: {m.words}")
        self.sessions.clear()
        for s in sessions:
            minutes, seconds = divmod(round(s.seconds), 60)
            item = self._add(self.sessions, s.prompt, f"{s.folder.name}  ·  {s.model}", s)
            item.setData(CHIP, ("plain", f"{minutes}:{seconds:02}"))
        for box in (self.worlds, self.models, self.sessions):
            if box.count() and box.currentRow() < 0:
                box.setCurrentRow(0)
        self._fit()

    def _add(self, box: QListWidget, name: str, about: str, value: object) -> QListWidgetItem:
        item = QListWidgetItem(name)
        item.setData(VALUE, value)
        item.setData(ABOUT, about)
        box.addItem(item)
        return item

    @property
    def world(self) -> World | None:
        """The chosen one, while worlds are in front."""
        item = self.worlds.currentItem()
        value = item.data(VALUE) if item is not None else None
        return value if isinstance(value, World) else None

    def _own(self) -> None:
        """A person's own worlds can be renamed and deleted."""
        world = self.world if self.tabs.currentWidget() is self.worlds else None
        for button in (self.rename_button, self.delete_button):
            button.setVisible(world is not None and world.own)

    def show_progress(self, words: str, share: float) -> None:
        """How far the world behind this page is; at 1 it can be entered at once."""
        ready = share >= 1
        text = tr("Ready") if ready else words
        if self.stage.text() != text:
            self.stage.setText(text)
            self.stage.setToolTip(text)
        self.bar.setVisible(not ready)
        self.bar.setValue(round(1000 * share))

    def enter(self) -> None:
        """What is chosen on the tab in front."""
        box = self.tabs.currentWidget()
        assert isinstance(box, QListWidget)
        item = box.currentItem()
        if item is None:
            return
        value = item.data(VALUE)
        if isinstance(value, World):
            self.worldSelected.emit(value)
        elif isinstance(value, PastSession):
            self.sessionSelected.emit(value)
        elif isinstance(value, ModelStatus) and value.ready:
            self.modelSelected.emit(value.name)
        else:
            self.modelsRequested.emit()

    # -- events --------------------------------------------------------------------------------------------------------

    def _fit(self) -> None:
        cell = self.cards.cell()
        if cell != self.worlds.gridSize():
            self.worlds.setGridSize(cell)

    def sizeHint(self) -> QSize:
        return QSize(960, 600)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fit()
        self.cards.pause(False)
        box = self.tabs.currentWidget()
        assert box is not None
        box.setFocus()

    def hideEvent(self, event: QHideEvent) -> None:
        self.cards.pause(True)
        super().hideEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
            return
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.enter()
            return
        super().keyPressEvent(event)
