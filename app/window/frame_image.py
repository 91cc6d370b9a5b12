"""A frame as Qt draws it, and where."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage

from engine.playback.player import Frame


def image_of(frame: Frame) -> QImage:
    """An image over the frame's own memory, (height, width, 3) of uint8: keep the frame while the image is used."""
    height, width = frame.shape[:2]
    return QImage(frame.data, width, height, width * 3, QImage.Format.Format_RGB888)


def fitted(frame: Frame, area: QRectF) -> QRectF:
    """As large as fits into `area` with its aspect kept, in the middle of it."""
    height, width = frame.shape[:2]
    factor = min(area.width() / width, area.height() / height)
    out = QRectF(0, 0, width * factor, height * factor)
    out.moveCenter(area.center())
    return out
