"""The speculation overlay: a ribbon of groups along media time, and the figures. Draws a `View`, knows nothing else."""

from __future__ import annotations

import colorsys
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QPainter, QPen, QPolygonF

from app.window.frame_image import image_of
from engine.runtime.view import REVOKED_SECONDS, Fate, GroupMark, UpdateKind, UpdateMark, View

PAST_SECONDS, FUTURE_SECONDS = 3.0, 7.0
FADE_SECONDS = REVOKED_SECONDS
"""How long what was revoked takes to fade: as long as it is in the view, at most."""
RIBBON = 34
"""Height of the ribbon, pixels."""
INK = QColor(235, 238, 245)
DIM = QColor(150, 156, 170)
RED = QColor(255, 92, 92)

XOf = Callable[[float], float]
"""From a media frame to its place on the ribbon, pixels."""


def version_colour(version: int, alpha: int = 255) -> QColor:
    """Neighbouring versions are far apart in hue."""
    r, g, b = colorsys.hsv_to_rgb((0.56 + version * 0.381966) % 1, 0.55, 0.95)
    return QColor(int(r * 255), int(g * 255), int(b * 255), alpha)


def figures(view: View) -> list[tuple[str, str]]:
    """Names and values, in the order they are shown."""

    def seconds(x: float | None) -> str:
        return "-" if x is None else f"{x:.2f} s"

    last = "-"
    if view.last is not None:
        u = view.last
        last = f"{u.L:.2f} = {u.R:.2f} + {u.C:.2f} + {u.Q:.2f} s"
    return [
        ("state", ("loading" if view.state is None else view.state) + (" (paused)" if view.paused else "")),
        ("commit", view.commit),
        ("cache", f"{view.cached} groups, {view.cached_seconds:.2f} s"),
        ("K", str(view.window)),
        ("C", seconds(view.C)),
        ("L = R + C + Q", last),
        ("L50", seconds(view.L50)),
        ("stalls", f"{view.stalls} ({view.stall_seconds:.2f} s)"),
        ("revoked", f"{view.discarded:.0%}"),
    ]


def drawing(view: View, media: float, now: float) -> Callable[[NDArray[np.uint8]], None]:
    """Draws the overlay of this instant into a frame (height, width, 3), on any thread."""

    def draw(pixels: NDArray[np.uint8]) -> None:
        image = image_of(pixels)
        p = QPainter(image)
        paint(p, QRectF(image.rect()), view, media, now)
        p.end()

    return draw


def paint(p: QPainter, area: QRectF, view: View, media: float, now: float) -> None:
    """Draws into the lower part of `area`. media: seconds at the playhead; now: the clock of the view's times."""
    size = max(8.0, min(13.0, area.width() / 80))
    font = QFont("sans-serif")
    font.setPointSizeF(size)
    p.setFont(font)
    line = p.fontMetrics().height()
    height = RIBBON + 3.2 * line + 30
    panel = QRectF(area.left(), area.bottom() - height, area.width(), height)
    p.fillRect(panel, QColor(12, 14, 20, 205))
    _figures(p, panel, view, line)
    scale = (area.width() - 24) / (PAST_SECONDS + FUTURE_SECONDS)

    def x_of(frame: float) -> float:
        return panel.left() + 12 + (frame / view.fps - media + PAST_SECONDS) * scale

    top = panel.bottom() - RIBBON - 14
    p.save()
    p.setClipRect(panel)
    for group in view.groups:
        _group(p, x_of, top, group)
    _flight(p, x_of, top, view)
    for group in view.revoked:
        _revoked(p, x_of, top, group, now)
    x = x_of(media * view.fps)
    p.setPen(QPen(INK, 2))
    p.drawLine(QPointF(x, top - 8), QPointF(x, top + RIBBON + 4))
    for update in view.updates:
        _arrival(p, x_of, top, update, view)
    p.restore()


def _figures(p: QPainter, panel: QRectF, view: View, line: int) -> None:
    x, y = panel.left() + 12, panel.top() + line
    for name, value in figures(view):
        width = max(p.fontMetrics().horizontalAdvance(name), p.fontMetrics().horizontalAdvance(value)) + 18
        p.setPen(DIM)
        p.drawText(QPointF(x, y), name)
        p.setPen(INK)
        p.drawText(QPointF(x, y + line), value)
        x += width


def _group(p: QPainter, x_of: XOf, top: float, g: GroupMark) -> None:
    box = QRectF(x_of(g.start) + 1, top, x_of(g.start + g.span) - x_of(g.start) - 2, RIBBON)
    alpha = {Fate.DELIVERED: 80, Fate.LOCKED: 255, Fate.CACHED: 175}[g.fate]
    p.fillRect(box, version_colour(g.version, alpha))
    if g.fate is Fate.LOCKED:
        p.setPen(QPen(INK, 1.6))
        p.drawRect(box)


def _flight(p: QPainter, x_of: XOf, top: float, view: View) -> None:
    f = view.flight
    if f is None:
        return
    span = view.groups[-1].span if view.groups else 4
    box = QRectF(x_of(f.start) + 1, top, x_of(f.start + f.window * span) - x_of(f.start) - 2, RIBBON)
    colour = version_colour(f.version)
    p.setPen(QPen(colour, 1, Qt.PenStyle.DashLine))
    p.setBrush(QBrush(colour, Qt.BrushStyle.BDiagPattern))
    p.drawRect(box)
    p.setBrush(Qt.BrushStyle.NoBrush)
    done = QRectF(box.left(), box.bottom() - 5, box.width() * f.step / max(1, f.steps), 5)
    p.fillRect(done, colour)
    p.setPen(INK)
    p.drawText(box.adjusted(6, 2, 0, 0), f"step {f.step}/{f.steps}")


def _revoked(p: QPainter, x_of: XOf, top: float, g: GroupMark, now: float) -> None:
    left = max(0.0, 1 - (now - g.at) / FADE_SECONDS)
    box = QRectF(x_of(g.start) + 1, top - 13, x_of(g.start + g.span) - x_of(g.start) - 2, 10)
    p.fillRect(box, version_colour(g.version, int(150 * left)))
    strike = QColor(RED)
    strike.setAlpha(int(255 * left))
    p.setPen(QPen(strike, 2))
    p.drawLine(box.bottomLeft(), box.topRight())
    p.drawLine(QPointF(box.left(), box.center().y()), QPointF(box.right(), box.center().y()))


def _arrival(p: QPainter, x_of: XOf, top: float, u: UpdateMark, view: View) -> None:
    if u.kind is UpdateKind.START:
        return
    x = x_of(u.arrival * view.fps)
    colour = version_colour(u.version)
    p.setPen(QPen(colour, 1.5))
    p.setBrush(colour)
    y = top + RIBBON + 3
    p.drawPolygon(QPolygonF([QPointF(x - 4, y + 7), QPointF(x + 4, y + 7), QPointF(x, y)]))
    p.setBrush(Qt.BrushStyle.NoBrush)
    if u.frame >= 0:
        end = x_of(u.frame)
        p.drawLine(QPointF(x, y + 7), QPointF(end, y + 7))
        p.drawLine(QPointF(end, y + 7), QPointF(end, top))
