"""The lines of a score as a timeline: each prompt a block whose beginning can be dragged, with its transition as a slope."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QMouseEvent, QPainter, QPaintEvent, QPalette, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.language import tr
from app.window.overlay_ribbon import version_colour
from engine.runtime.score import LONGEST, Line

REACH = 6.0
"""Pixels from an edge within which it is taken."""
TAIL = 10.0
"""Seconds that the last line is drawn for."""
LEAST = 0.5
"""Seconds between two lines, at least, where one is dragged."""
PAD = 8.0
HEIGHT = 64


class Timeline(QWidget):
    """Shows lines in order of time; what is dragged is told when it is let go. The table beside it says the same by keys."""

    linesDragged = Signal(object)
    """The lines with another time or transition."""
    lineChosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.lines: list[Line] = []
        self.playing_at: float | None = None
        """Seconds since the score began, None while it does not play."""
        self._dragged: tuple[int, str] | None = None
        self.setMouseTracking(True)
        self.setMinimumHeight(HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Timeline"))
        self.setToolTip(tr("Drag the beginning of a prompt, or the end of its slope to make the transition longer"))

    def sizeHint(self) -> QSize:
        return QSize(300, HEIGHT)

    def show_lines(self, lines: Sequence[Line]) -> None:
        """Ordered by time."""
        self.lines = sorted(lines, key=lambda x: x.t)
        self.update()

    @property
    def _seconds(self) -> float:
        return (self.lines[-1].t if self.lines else 0.0) + TAIL

    def x_of(self, seconds: float) -> float:
        """Pixels."""
        return PAD + seconds / self._seconds * (self.width() - 2 * PAD)

    def _at(self, x: float) -> float:
        return min(max((x - PAD) / max(1.0, self.width() - 2 * PAD), 0.0), 1.0) * self._seconds

    def _block(self, i: int) -> QRectF:
        end = self.lines[i + 1].t if i + 1 < len(self.lines) else self._seconds
        left = self.x_of(self.lines[i].t)
        return QRectF(left, PAD + 14, self.x_of(end) - left, HEIGHT - 2 * PAD - 14)

    def handle_at(self, x: float) -> tuple[int, str] | None:
        """The line whose beginning or end of transition lies at x."""
        for i, line in enumerate(self.lines):
            if line.seconds and abs(self.x_of(line.t + line.seconds) - x) <= REACH:
                return i, "seconds"
            if abs(self.x_of(line.t) - x) <= REACH:
                return i, "t"
        return None

    def paintEvent(self, event: QPaintEvent) -> None:
        p = QPainter(self)
        p.setRenderHint(QPainter.RenderHint.Antialiasing)
        palette, metrics = self.palette(), QFontMetricsF(p.font())
        role = QPalette.ColorRole
        p.fillRect(self.rect(), palette.color(role.Base))
        for i, line in enumerate(self.lines):
            block = self._block(i)
            p.fillRect(block, version_colour(i, 120))
            slope = self.x_of(line.t + line.seconds) - block.left()
            if line.seconds:
                p.setPen(Qt.PenStyle.NoPen)
                p.setBrush(palette.color(role.Base))
                p.drawPolygon(
                    QPolygonF([block.topLeft(), QPointF(block.left() + slope, block.top()), block.bottomLeft()])
                )
            p.setPen(QPen(palette.color(role.Text), 2))
            p.drawLine(block.topLeft(), block.bottomLeft())
            p.drawText(QPointF(block.left() + 3, block.top() - 3), f"{line.t:g} s")
            room = block.adjusted(6 + slope * 0.5, 0, -4, 0)
            text = metrics.elidedText(line.prompt, Qt.TextElideMode.ElideRight, max(0.0, room.width()))
            p.drawText(room, Qt.AlignmentFlag.AlignVCenter, text)
        if self.playing_at is not None:
            x = self.x_of(min(self.playing_at, self._seconds))
            p.setPen(QPen(palette.color(role.Highlight), 2))
            p.drawLine(QPointF(x, 0), QPointF(x, self.height()))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        self._dragged = self.handle_at(event.position().x())
        at = self._at(event.position().x())
        under = [i for i, line in enumerate(self.lines) if line.t <= at]
        if under:
            self.lineChosen.emit(under[-1])

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        x = event.position().x()
        if self._dragged is None:
            over = self.handle_at(x) is not None
            self.setCursor(Qt.CursorShape.SizeHorCursor if over else Qt.CursorShape.ArrowCursor)
            return
        i, what = self._dragged
        self.lines[i] = self._moved(i, what, self._at(x))
        self.update()

    def _moved(self, i: int, what: str, at: float) -> Line:
        """Between its neighbours, in steps of a tenth of a second."""
        line = self.lines[i]
        after = self.lines[i + 1].t - LEAST if i + 1 < len(self.lines) else LONGEST
        if what == "t":
            before = self.lines[i - 1].t + LEAST if i else 0.0
            return replace(line, t=round(min(max(at, before), after), 1))
        return replace(line, seconds=round(min(max(at - line.t, 0.0), after - line.t, 60.0), 1))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._dragged is not None:
            self._dragged = None
            self.linesDragged.emit(list(self.lines))
