"""What is seen before the first picture: the stage that the engine is at, how far it is, and for how long it has been at it."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter

from app.language import marked, tr
from engine.runtime.live_engine import LiveEngine

LOADED = 0.8
"""Share of the line that loading has; the first call's steps and its decoding have the rest."""
STAGES = (
    marked("starting"),
    marked("importing torch"),
    marked("reading the pocket weights"),
    marked("drawing what stands in it"),
    marked("preparing the pocket world"),
    marked("closing the previous world"),
    marked("first picture"),
)
"""Names of stages that are translated; a model's own are shown as they are."""
FIRST_PICTURE = "first picture"


def progress_of(engine: LiveEngine) -> tuple[str, float]:
    """The stage in words, and how far the first picture is, in [0, 1): it is 1 when it is there."""
    stage, share = engine.stage
    if stage != FIRST_PICTURE:
        return tr(stage), LOADED * share
    flight = engine.view.flight
    if flight is None:
        waiting = engine.view.state is None or not engine.view.groups
        return tr(stage), LOADED if waiting else 0.97
    share = LOADED + (1 - LOADED) * flight.step / (flight.steps + 1)
    return tr("{stage}, step {step} of {steps}", stage=tr(stage), step=flight.step, steps=flight.steps), share


def paint_loading(p: QPainter, area: QRectF, engine: LiveEngine, seconds: float) -> None:
    """In the middle of `area`. seconds: since the engine began."""
    if engine.error is not None:
        _words(p, area, engine.error, 0.9)
        return
    words, share = progress_of(engine)
    if seconds >= 1:
        words += f"  ·  {seconds:.0f} s"
    width = min(420.0, area.width() * 0.6)
    bar = QRectF(area.center().x() - width / 2, area.center().y() + 14, width, 4)
    _words(p, QRectF(area.left(), area.top(), area.width(), bar.top() - area.top() - 10), words, 0.9, bottom=True)
    p.setRenderHint(QPainter.RenderHint.Antialiasing)
    p.setPen(Qt.PenStyle.NoPen)
    p.setBrush(QColor(60, 66, 78))
    p.drawRoundedRect(bar, 2, 2)
    bar.setWidth(max(4.0, bar.width() * share))
    p.setBrush(QColor("#8ec1ff"))
    p.drawRoundedRect(bar, 2, 2)
    p.setBrush(Qt.BrushStyle.NoBrush)


def _words(p: QPainter, area: QRectF, text: str, share: float, bottom: bool = False) -> None:
    font = QFont(p.font())
    font.setPointSizeF(12)
    p.setFont(font)
    p.setPen(QColor("#eceef3"))
    margin = area.width() * (1 - share) / 2
    place = Qt.AlignmentFlag.AlignBottom if bottom else Qt.AlignmentFlag.AlignVCenter
    flags = Qt.AlignmentFlag.AlignHCenter | place | Qt.TextFlag.TextWordWrap
    p.drawText(area.adjusted(margin, 0, -margin, 0), int(flags), text)
