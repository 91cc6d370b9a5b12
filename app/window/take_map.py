"""The takes as a map: time from left to right, each take a bar with a picture, joined to the one that it branches from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPalette,
    QPen,
    QPixmap,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.language import tr
from engine.models.interface import ModelSpec
from engine.runtime.takes import TakeMark

LANE = 58.0
PAD = 8.0
PICTURE = QSize(64, 40)


@dataclass(frozen=True)
class Lane:
    """A take on the map: media seconds [start, end)."""

    id: int
    parent: int | None
    start: float
    end: float
    prompt: str
    current: bool


def lanes(marks: Sequence[TakeMark], current: int, spec: ModelSpec) -> list[Lane]:
    """In the order of their ids. A take that has nothing yet begins where it will: after the group that it branches from."""
    out = []
    for m in marks:
        start, end = m.start, m.end
        if start < 0:
            start = end = sum(spec.span(i) for i in range(m.first))
        out.append(Lane(m.id, m.parent, start / spec.fps, end / spec.fps, m.prompt, m.id == current))
    return out


class TakeMap(QWidget):
    """One row a take. Up and Down choose a take, Left and Right an instant."""

    takeChosen = Signal(int)
    instantChosen = Signal(float)
    """Seconds of media time in the chosen take's path."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.lanes: list[Lane] = []
        self.chosen: int | None = None
        self.instant: float | None = None
        self._pictures: dict[int, QPixmap] = {}
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.MinimumExpanding)
        self.setAccessibleName(tr("Takes"))

    def show_lanes(self, shown: Sequence[Lane]) -> None:
        """All takes; the chosen one stays chosen where it is still there."""
        self.lanes = list(shown)
        if self.chosen not in [x.id for x in self.lanes]:
            self.chosen = next((x.id for x in self.lanes if x.current), None)
        self._describe()
        self.updateGeometry()
        self.update()

    def put_picture(self, take: int, picture: QPixmap) -> None:
        """What is seen of a take."""
        self._pictures[take] = picture
        self.update()

    def forget(self) -> None:
        """Another world."""
        self.lanes, self.chosen, self.instant = [], None, None
        self._pictures.clear()
        self.update()

    def choose(self, take: int) -> None:
        """As a click does."""
        if take != self.chosen:
            self.chosen = take
            self._describe()
            self.update()
            self.takeChosen.emit(take)

    def _describe(self) -> None:
        lane = next((x for x in self.lanes if x.id == self.chosen), None)
        self.setAccessibleDescription("" if lane is None else self.words(lane))

    def words(self, lane: Lane) -> str:
        """A take in a line."""
        name = tr("take {n}", n=lane.id + 1) + (" " + tr("(current)") if lane.current else "")
        return f"{name}  ·  {lane.start:.1f} - {lane.end:.1f} s"

    # -- geometry ------------------------------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        return QSize(300, self.minimumSizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(200, int(LANE * max(2, len(self.lanes)) + PAD))

    @property
    def _seconds(self) -> float:
        return max((x.end for x in self.lanes), default=1.0) or 1.0

    def x_of(self, seconds: float) -> float:
        """Pixels."""
        return PAD + seconds / self._seconds * (self.width() - 2 * PAD)

    def bar(self, row: int) -> QRectF:
        """Of the lane in a row."""
        lane = self.lanes[row]
        left, right = self.x_of(lane.start), self.x_of(lane.end)
        return QRectF(left, PAD + row * LANE + 20, max(6.0, right - left), LANE - 28)

    # -- events --------------------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        p = QPainter(self)
        p.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        palette = self.palette()
        rows = {lane.id: i for i, lane in enumerate(self.lanes)}
        for i, lane in enumerate(self.lanes):
            self._join(p, lane, i, rows, palette)
        for i, lane in enumerate(self.lanes):
            self._lane(p, lane, self.bar(i), palette)
        if self.hasFocus():
            p.setPen(QPen(palette.color(QPalette.ColorRole.Highlight), 2))
            p.setBrush(Qt.BrushStyle.NoBrush)
            p.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 7, 7)

    def _join(self, p: QPainter, lane: Lane, row: int, rows: dict[int, int], palette: QPalette) -> None:
        if lane.parent not in rows:
            return
        above, here = self.bar(rows[lane.parent]), self.bar(row)
        x = here.left()
        path = QPainterPath(QPointF(x, above.center().y()))
        path.lineTo(QPointF(x, here.center().y()))
        p.setPen(QPen(palette.color(QPalette.ColorRole.Mid), 2))
        p.drawPath(path)

    def _lane(self, p: QPainter, lane: Lane, bar: QRectF, palette: QPalette) -> None:
        chosen = lane.id == self.chosen
        role = QPalette.ColorRole
        shape = QPainterPath()
        shape.addRoundedRect(bar, 5, 5)
        p.fillPath(shape, palette.color(role.Button))
        if (picture := self._pictures.get(lane.id)) is not None:
            p.save()
            p.setClipPath(shape)
            height = bar.height()
            width = picture.width() * height / max(1, picture.height())
            x = bar.left()
            while x < bar.right():
                p.drawPixmap(QRectF(x, bar.top(), width, height), picture, QRectF(picture.rect()))
                x += width
            p.restore()
        p.setPen(QPen(palette.color(role.Highlight if chosen else role.Mid), 3 if chosen else 1))
        p.drawPath(shape)
        if chosen and self.instant is not None:
            x = self.x_of(self.instant)
            p.setPen(QPen(palette.color(role.Highlight), 2))
            p.drawLine(QPointF(x, bar.top() - 5), QPointF(x, bar.bottom() + 5))
        metrics = QFontMetricsF(p.font())
        p.setPen(palette.color(role.Text))
        text = self.words(lane) + (f"  ·  {lane.prompt}" if lane.prompt else "")
        room = self.width() - 2 * PAD
        left = min(bar.left(), max(PAD, self.width() - PAD - metrics.horizontalAdvance(text)))
        text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, min(room, self.width() - PAD - left))
        p.drawText(QPointF(left, bar.top() - 5), text)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        row = int((event.position().y() - PAD) // LANE)
        if 0 <= row < len(self.lanes):
            self.choose(self.lanes[row].id)
            self._seek(event.position().x())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton and self.chosen is not None:
            self._seek(event.position().x())

    def _seek(self, x: float) -> None:
        share = (x - PAD) / max(1.0, self.width() - 2 * PAD)
        self.instantChosen.emit(min(max(share, 0.0), 1.0) * self._seconds)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        ids = [lane.id for lane in self.lanes]
        step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()))
        if step is None or self.chosen not in ids:
            super().keyPressEvent(event)
            return
        self.choose(ids[min(max(ids.index(self.chosen) + step, 0), len(ids) - 1)])
