"""The speculation overlay: a ribbon of groups along media time, and the figures. Draws a `View`, knows nothing else.

Two forms: full, with every figure and the seconds; compact, one line of figures. A legend lies above it while the pointer does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPainter, QPen

from app.language import tr
from app.window.frame_image import image_of
from app.window.overlay_figures import INK, compact_figures, figures, line_of, paint_figures, rows
from app.window.overlay_ribbon import FADE_SECONDS, RED, Ribbon, paint_ribbon, version_colour
from engine.runtime.view import View

__all__ = ["FADE_SECONDS", "Form", "drawing", "figures", "height", "paint", "version_colour"]

MARGIN = 14.0
ABOVE, BELOW = 18.0, 14.0
"""Pixels that the ribbon needs above and below its boxes, for what was revoked and for arrivals."""
GLASS = QColor(12, 14, 20, 208)


@dataclass(frozen=True)
class Form:
    """How it is drawn."""

    full: bool = True
    legend: bool = False
    still: bool = False
    """Nothing falls."""


FULL = Form()


def _font(width: float, base: QFont) -> QFont:
    """It grows with the picture, and is never too small to read."""
    font = QFont(base)
    font.setPointSizeF(max(8.0, min(14.0, width / 92)))
    return font


def _box_height(metrics: QFontMetricsF, form: Form) -> float:
    return metrics.height() * (2.1 if form.full else 1.3)


def height(metrics: QFontMetricsF, width: float, view: View, form: Form = FULL) -> float:
    """Of the panel, pixels, in a font of these metrics."""
    ribbon = ABOVE + _box_height(metrics, form) + BELOW
    if not form.full:
        return ribbon + metrics.height() + 10
    lines = len(rows(metrics, width - 2 * MARGIN, figures(view)))
    legend = _legend(None, metrics, QRectF(0, 0, width, 0)) if form.legend else 0
    return ribbon + metrics.height() + lines * 2.2 * metrics.height() + 16 + legend


def drawing(view: View, media: float, now: float, form: Form = FULL) -> Callable[[NDArray[np.uint8]], None]:
    """Draws the overlay of this instant into a frame (height, width, 3), on any thread."""

    def draw(pixels: NDArray[np.uint8]) -> None:
        image = image_of(pixels)
        p = QPainter(image)
        paint(p, QRectF(image.rect()), view, media, now, form)
        p.end()

    return draw


def paint(p: QPainter, area: QRectF, view: View, media: float, now: float, form: Form = FULL) -> QRectF:
    """Draws into the lower part of `area` and returns that. media: seconds at the playhead; now: the clock of the view's times."""
    p.setFont(_font(area.width(), p.font()))
    metrics = QFontMetricsF(p.font())
    tall = min(area.height(), height(metrics, area.width(), view, form))
    panel = QRectF(area.left(), area.bottom() - tall, area.width(), tall)
    p.save()
    p.setClipRect(panel)
    p.fillRect(panel, GLASS)
    inner = panel.adjusted(MARGIN, 8, -MARGIN, 0)
    if form.full:
        if form.legend:
            inner.setTop(inner.top() + _legend(p, metrics, inner))
        placed = rows(metrics, inner.width(), figures(view))
        paint_figures(p, inner, placed)
        bottom = panel.bottom() - BELOW - metrics.height()
    else:
        p.setPen(INK)
        line = metrics.elidedText(line_of(compact_figures(view)), Qt.TextElideMode.ElideRight, inner.width())
        p.drawText(QPointF(inner.left(), inner.top() + metrics.ascent() - 2), line)
        bottom = panel.bottom() - BELOW
    tall = _box_height(metrics, form)
    boxes = QRectF(inner.left(), bottom - tall, inner.width(), tall)
    p.setClipRect(QRectF(panel.left(), boxes.top() - ABOVE, panel.width(), panel.bottom() - boxes.top() + ABOVE))
    paint_ribbon(p, Ribbon(boxes, view, media, now, form.still), axis=form.full)
    p.restore()
    return panel


def legend() -> list[tuple[str, str]]:
    """What each kind of mark is called, and its kind."""
    return [
        ("played", tr("played")),
        ("locked", tr("locked: it will play")),
        ("cached", tr("cached: a change can revoke it")),
        ("flight", tr("being sampled")),
        ("revoked", tr("revoked")),
        ("update", tr("a key or prompt, and the first picture it changed")),
    ]


def _legend(p: QPainter | None, metrics: QFontMetricsF, area: QRectF) -> float:
    """In as many lines as it needs; returns their height. p: None to measure only."""
    x, y, line = 0.0, 0.0, metrics.height() * 1.35
    for kind, words in legend():
        need = metrics.horizontalAdvance(words) + 44
        if x and x + need - 18 > area.width():
            x, y = 0.0, y + line
        if p is not None:
            sample = QRectF(area.left() + x, area.top() + y + metrics.height() * 0.15, 18, metrics.height() * 0.7)
            _sample(p, sample, kind)
            p.setPen(INK)
            p.drawText(QPointF(sample.right() + 8, area.top() + y + metrics.ascent()), words)
        x += need
    return y + line + 6


def _sample(p: QPainter, box: QRectF, kind: str) -> None:
    colour = version_colour(0)
    if kind in ("played", "locked", "cached"):
        p.fillRect(box, version_colour(0, {"played": 80, "locked": 255, "cached": 165}[kind]))
    if kind == "locked":
        p.setPen(QPen(INK, 1.6))
        p.drawRect(box)
    elif kind == "flight":
        p.setPen(QPen(colour, 1, Qt.PenStyle.DashLine))
        p.setBrush(QBrush(colour, Qt.BrushStyle.BDiagPattern))
        p.drawRect(box)
        p.setBrush(Qt.BrushStyle.NoBrush)
    elif kind == "revoked":
        p.fillRect(box, version_colour(0, 120))
        p.setPen(QPen(RED, 2))
        p.drawLine(box.bottomLeft(), box.topRight())
    elif kind == "update":
        p.setPen(QPen(version_colour(1), 1.5))
        p.drawLine(box.bottomLeft(), box.bottomRight())
        p.drawLine(box.bottomRight(), box.topRight())
