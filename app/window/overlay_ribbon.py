"""The ribbon of the overlay: groups along media time, the call in progress, what was revoked, and what a person did."""

from __future__ import annotations

import colorsys
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetricsF, QPainter, QPen, QPolygonF

from app.language import marked, tr
from app.window.overlay_figures import DIM, INK
from engine.runtime.view import REVOKED_SECONDS, Fate, GroupMark, UpdateKind, UpdateMark, UpdatePhase, View

PAST_SECONDS, FUTURE_SECONDS = 3.0, 7.0
FADE_SECONDS = REVOKED_SECONDS
"""How long what was revoked takes to fall away: as long as it is in the view, at most."""
RED = QColor("#ff5c5c")
OPEN = (UpdatePhase.RECEIVED, UpdatePhase.GENERATING)


def version_colour(version: int, alpha: int = 255) -> QColor:
    """Neighbouring versions are far apart in hue."""
    r, g, b = colorsys.hsv_to_rgb((0.56 + version * 0.381966) % 1, 0.55, 0.95)
    return QColor(int(r * 255), int(g * 255), int(b * 255), alpha)


@dataclass(frozen=True)
class Ribbon:
    """Where it lies and what it shows. media: seconds at the playhead; now: the clock of the view's times."""

    area: QRectF
    """Of the boxes; arrivals are marked below it, revoked groups fall past it."""
    view: View
    media: float
    now: float
    still: bool = False
    """Nothing falls: what was revoked only fades."""

    @property
    def x_of(self) -> Callable[[float], float]:
        """From a media frame to its place, pixels."""
        scale = self.area.width() / (PAST_SECONDS + FUTURE_SECONDS)
        left, media, fps = self.area.left(), self.media, self.view.fps
        return lambda frame: left + (frame / fps - media + PAST_SECONDS) * scale

    def box(self, start: float, span: float) -> QRectF:
        """Of media frames [start, start + span)."""
        x = self.x_of
        return QRectF(x(start) + 1, self.area.top(), x(start + span) - x(start) - 2, self.area.height())


def paint_ribbon(p: QPainter, ribbon: Ribbon, axis: bool) -> None:
    """axis: with seconds below it."""
    view = ribbon.view
    if axis:
        _axis(p, ribbon)
    for group in view.groups:
        _group(p, ribbon, group)
    _flight(p, ribbon)
    _stopped(p, ribbon)
    for group in view.revoked:
        _revoked(p, ribbon, group)
    _playhead(p, ribbon)
    newest = max((u.version for u in view.updates if u.kind is not UpdateKind.START), default=-1)
    for update in view.updates:
        if update.kind is not UpdateKind.START:
            _update(p, ribbon, update, update.version == newest)


def _axis(p: QPainter, r: Ribbon) -> None:
    metrics = QFontMetricsF(p.font())
    p.setPen(DIM)
    y = r.area.bottom() + 12 + metrics.ascent()
    for second in range(-int(PAST_SECONDS) + 1, int(FUTURE_SECONDS)):
        x = r.x_of((r.media + second) * r.view.fps)
        text = tr("now") if second == 0 else f"{second:+d} s"
        p.drawText(QPointF(x - metrics.horizontalAdvance(text) / 2, y), text)


def _group(p: QPainter, r: Ribbon, g: GroupMark) -> None:
    box = r.box(g.start, g.span)
    alpha = {Fate.DELIVERED: 80, Fate.LOCKED: 255, Fate.CACHED: 165}[g.fate]
    p.fillRect(box, version_colour(g.version, alpha))
    if g.fate is Fate.LOCKED:
        p.setPen(QPen(INK, 1.6))
        p.drawRect(box)


def _flight(p: QPainter, r: Ribbon) -> None:
    f = r.view.flight
    if f is None:
        return
    span = r.view.groups[-1].span if r.view.groups else 4
    box = r.box(f.start, f.window * span).intersected(r.area.adjusted(0, 0, 2, 0))
    if box.isEmpty():
        return
    colour = version_colour(f.version)
    p.setPen(QPen(colour, 1, Qt.PenStyle.DashLine))
    p.setBrush(QBrush(colour, Qt.BrushStyle.BDiagPattern))
    p.drawRect(box)
    p.setBrush(Qt.BrushStyle.NoBrush)
    whole = r.box(f.start, f.window * span).width()
    done = QRectF(box.left(), box.bottom() - 5, min(box.width(), whole * f.step / max(1, f.steps)), 5)
    p.fillRect(done, colour)
    words = marked("answer, step {step}/{steps}") if f.answer else marked("step {step}/{steps}")
    text = tr(words, step=f.step, steps=f.steps)
    metrics = QFontMetricsF(p.font())
    need = metrics.horizontalAdvance(text) + 10
    if need <= box.width() and metrics.height() + 6 <= box.height():
        back = QRectF(box.left() + 3, box.top() + 2, need, metrics.height())
        p.fillRect(back, QColor(12, 14, 20, 190))
        p.setPen(INK)
        p.drawText(back, Qt.AlignmentFlag.AlignCenter, text)


def _stopped(p: QPainter, r: Ribbon) -> None:
    """A call that was stopped for a newer condition: its outline, struck out at the step that it reached, fades."""
    f = r.view.stopped
    if f is None or f.stopped is None:
        return
    left = 1 - min(1.0, max(0.0, (r.now - f.stopped) / FADE_SECONDS))
    span = r.view.groups[-1].span if r.view.groups else 4
    box = r.box(f.start, f.window * span).intersected(r.area)
    colour = version_colour(f.version, int(200 * left))
    p.setPen(QPen(colour, 1, Qt.PenStyle.DotLine))
    p.drawRect(box)
    red = QColor(RED)
    red.setAlpha(int(255 * left))
    p.setPen(QPen(red, 2))
    x = box.left() + box.width() * f.step / max(1, f.steps)
    p.drawLine(QPointF(x, box.top()), QPointF(x, box.bottom()))


def _revoked(p: QPainter, r: Ribbon, g: GroupMark) -> None:
    age = min(1.0, max(0.0, (r.now - g.at) / FADE_SECONDS))
    left = 1 - age
    box = r.box(g.start, g.span)
    # They lift off above what takes their place, then fall past it.
    drop = 0.0 if r.still else (age**2) * 2.4 * r.area.height()
    box = QRectF(box.left(), r.area.top() - 15 + drop, box.width(), 11)
    p.fillRect(box, version_colour(g.version, int(190 * left)))
    strike = QColor(RED)
    strike.setAlpha(int(255 * left))
    p.setPen(QPen(strike, 2))
    p.drawLine(box.bottomLeft(), box.topRight())
    p.drawLine(QPointF(box.left(), box.center().y()), QPointF(box.right(), box.center().y()))


def _playhead(p: QPainter, r: Ribbon) -> None:
    x = r.x_of(r.media * r.view.fps)
    p.setPen(QPen(INK, 2))
    p.drawLine(QPointF(x, r.area.top() - 9), QPointF(x, r.area.bottom() + 6))
    p.setBrush(INK)
    p.drawPolygon(
        QPolygonF([QPointF(x - 5, r.area.top() - 14), QPointF(x + 5, r.area.top() - 14), QPointF(x, r.area.top() - 7)])
    )
    p.setBrush(Qt.BrushStyle.NoBrush)


def _update(p: QPainter, r: Ribbon, u: UpdateMark, newest: bool) -> None:
    """When it arrived, and the line to the first group that it changed, or to the call that will make it."""
    x, y = r.x_of(u.arrival * r.view.fps), r.area.bottom() + 4
    colour = version_colour(u.version)
    p.setPen(QPen(colour, 1.5))
    p.setBrush(colour)
    p.drawPolygon(QPolygonF([QPointF(x - 4, y + 7), QPointF(x + 4, y + 7), QPointF(x, y)]))
    p.setBrush(Qt.BrushStyle.NoBrush)
    end = None
    if u.frame >= 0:
        end = r.x_of(u.frame)
    elif u.phase in OPEN and r.view.flight is not None and r.view.flight.version >= u.version:
        end = r.x_of(r.view.flight.start)
        p.setPen(QPen(colour, 1.5, Qt.PenStyle.DotLine))
    if end is None:
        return
    p.drawLine(QPointF(x, y + 7), QPointF(end, y + 7))
    p.drawLine(QPointF(end, y + 7), QPointF(end, r.area.top()))
    if newest and u.frame >= 0:
        text = f"{u.L:.2f} s"
        metrics = QFontMetricsF(p.font())
        width = metrics.horizontalAdvance(text) + 10
        if abs(end - x) > width + 12:
            back = QRectF((x + end) / 2 - width / 2, y + 7 - metrics.height() / 2, width, metrics.height())
            p.fillRect(back, QColor(12, 14, 20, 235))
            p.setPen(colour)
            p.drawText(back, Qt.AlignmentFlag.AlignCenter, text)
