"""What is drawn over the picture beside the overlay: held keys, a stall or a pause, a video that is made, and what must be seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from app.language import tr
from engine.runtime.live_engine import LiveEngine

STALL_SHOWN = 0.35
"""Seconds of a stall after which it is told: shorter ones are over before they are read."""
MARGIN = 14.0
GLASS = QColor(13, 15, 20, 200)
INK = QColor("#f2f4f8")
AMBER = QColor("#ffc06b")
RED = QColor("#ff5c5c")


@dataclass(frozen=True)
class Hud:
    """What there is to say."""

    keys: tuple[str, ...] = ()
    waiting: str = ""
    """Why the picture stands still, '' where it does not."""
    recording: str = ""
    """How long the video is; '' where none is made."""
    badge: str = ""
    """What must be seen while it is on."""
    hint: str = ""
    """What held keys do where they do not move a camera."""


def waiting_for(engine: LiveEngine, now: float) -> str:
    """Why the picture stands still: a pause, or a stall with what it waits for and how long; '' while it moves."""
    player, view = engine.player, engine.view
    if player.paused:
        return tr("Paused")
    seconds = player.stalled_for(now)
    if seconds < STALL_SHOWN:
        return ""
    if view.flight is not None:
        f = view.flight
        return (
            tr("Sampling the next picture: step {step} of {steps}", step=f.step, steps=f.steps)
            + f"  ·  {seconds:.1f} s"
        )
    if view.message:
        return tr("Waiting") + f"  ·  {seconds:.1f} s"
    return tr("Decoding the next picture") + f"  ·  {seconds:.1f} s"


def paint_hud(p: QPainter, area: QRectF, hud: Hud) -> None:
    """Along the upper edge of `area`: keys on the left, the rest on the right, and why it stands still in the middle."""
    p.setRenderHint(QPainter.RenderHint.Antialiasing)
    font = QFont(p.font())
    font.setPointSizeF(10.5)
    p.setFont(font)
    left = _keys(p, area, hud.keys)
    if hud.hint:
        _pill(p, QPointF(left, area.top() + MARGIN), hud.hint, INK, area.right() - left - MARGIN)
    right = area.right() - MARGIN
    if hud.recording:
        right -= (
            _pill(p, QPointF(right, area.top() + MARGIN), hud.recording, INK, area.width(), dot=RED, right=True) + 8
        )
    if hud.badge:
        _pill(p, QPointF(right, area.top() + MARGIN), hud.badge, AMBER, area.width(), right=True)
    if hud.waiting:
        metrics = QFontMetricsF(p.font())
        width = min(metrics.horizontalAdvance(hud.waiting) + 28, area.width() - 2 * MARGIN)
        place = QPointF(area.center().x() - width / 2, area.center().y() - metrics.height())
        _pill(p, place, hud.waiting, INK, area.width() - 2 * MARGIN)


def _keys(p: QPainter, area: QRectF, keys: Sequence[str]) -> float:
    """Caps of the held keys; returns where the next thing to the right may be."""
    metrics = QFontMetricsF(p.font())
    x = area.left() + MARGIN
    for name in keys:
        cap = QRectF(x, area.top() + MARGIN, metrics.horizontalAdvance(name) + 18, metrics.height() + 10)
        p.setPen(QColor(255, 255, 255, 190))
        p.setBrush(GLASS)
        p.drawRoundedRect(cap, 6, 6)
        p.setPen(INK)
        p.drawText(cap, Qt.AlignmentFlag.AlignCenter, name)
        x += cap.width() + 6
    p.setBrush(Qt.BrushStyle.NoBrush)
    return x


def _pill(
    p: QPainter, at: QPointF, text: str, ink: QColor, most: float, dot: QColor | None = None, right: bool = False
) -> float:
    """A word or two on glass, from `at` to the right, or to the left where `right`; returns its width, at most `most`."""
    metrics = QFontMetricsF(p.font())
    mark = 16.0 if dot is not None else 0.0
    width = min(metrics.horizontalAdvance(text) + 28 + mark, most)
    box = QRectF(at.x() - width if right else at.x(), at.y(), width, metrics.height() + 10)
    p.setPen(Qt.PenStyle.NoPen)
    p.setBrush(GLASS)
    p.drawRoundedRect(box, box.height() / 2, box.height() / 2)
    if dot is not None:
        p.setBrush(dot)
        p.drawEllipse(QPointF(box.left() + 16, box.center().y()), 5, 5)
    p.setBrush(Qt.BrushStyle.NoBrush)
    p.setPen(ink)
    inner = box.adjusted(14 + mark, 0, -14, 0)
    p.drawText(
        inner, Qt.AlignmentFlag.AlignCenter, metrics.elidedText(text, Qt.TextElideMode.ElideRight, inner.width() + 1)
    )
    return width
