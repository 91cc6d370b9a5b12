"""The overlay of an instant as a picture for a talk: SVG, and PNG of twice its size."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QGuiApplication, QImage, QPainter

from app.window import overlay
from app.window.story import Moment

WIDTH = 1280
SHARPER = 2
FORM = overlay.Form(legend=True, still=True)


def export_overlay(moment: Moment, vector: Path) -> list[Path]:
    """Writes an SVG and a PNG of the same name beside it, and returns both. Raises OSError."""
    from PySide6.QtSvg import QSvgGenerator

    font = QGuiApplication.font()
    font.setPointSizeF(WIDTH / 92)
    size = QSize(WIDTH, round(overlay.height(QFontMetricsF(font), WIDTH, moment.view, FORM)))
    pixels = vector.with_suffix(".png")
    generator = QSvgGenerator()
    generator.setFileName(str(vector))
    generator.setSize(size)
    generator.setViewBox(QRectF(0, 0, size.width(), size.height()))
    generator.setTitle("Foreland")
    p = QPainter()
    if not p.begin(generator):
        raise OSError(f"{vector} cannot be written")
    _paint(p, size, moment)
    p.end()
    image = QImage(size * SHARPER, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    p = QPainter(image)
    p.setRenderHint(QPainter.RenderHint.Antialiasing)
    p.scale(SHARPER, SHARPER)
    _paint(p, size, moment)
    p.end()
    if not image.save(str(pixels)):
        raise OSError(f"{pixels} cannot be written")
    return [vector, pixels]


def _paint(p: QPainter, size: QSize, moment: Moment) -> None:
    overlay.paint(p, QRectF(0, 0, size.width(), size.height()), moment.view, moment.media, moment.now, FORM)
