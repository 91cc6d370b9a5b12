"""The viewport: the frames of the world, paced by the media clock, never blocked by the engine."""

from __future__ import annotations

import time
from collections import deque
from pathlib import Path

from PySide6.QtCore import QMimeData, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QDragEnterEvent,
    QDropEvent,
    QFocusEvent,
    QFont,
    QImage,
    QKeyEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.input.held_keys import HeldKeys
from app.window import overlay
from app.window.frame_image import fitted, image_of
from engine.models.media_files import FILMS, PICTURES
from engine.playback.player import Frame
from engine.runtime.engine import Engine

IDLE_MS = 15
"""How often to look again while nothing is due (loading, paused, stalled)."""


class Viewport(QWidget):
    """Shows frames when they are due, with the overlay on top; has the keyboard while it has focus."""

    promptRequested = Signal()
    fileDropped = Signal(str)
    """An image or video was dropped: its path."""
    frameShown = Signal(object, object)
    """A frame that became due, and its sound or None."""

    def __init__(self, engine: Engine, keys: HeldKeys, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._engine = engine
        self._keys = keys
        self._frame: Frame | None = None
        self._due: float | None = None
        self.overlay_shown = False
        self.recording = False
        self.badge = ""
        """Words in the upper right corner, for what must be seen while it is on."""
        self.smooth = True
        self.painted = 0
        self.busy_seconds = 0.0
        """CPU time that the Qt thread has spent on showing frames: taking them, handing them on, painting."""
        self.lateness: deque[float] = deque(maxlen=4096)
        """Seconds from each frame's due time to its painting."""
        self.setAcceptDrops(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAccessibleName("World")
        self.setAccessibleDescription(
            "The world as the camera sees it. Keys move the camera; Enter goes to the prompt box."
        )
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)
        self._timer.start(0)

    def sizeHint(self) -> QSize:
        return QSize(768, 480)

    def set_engine(self, engine: Engine) -> None:
        """Shows another engine from now on."""
        self._engine = engine
        self._frame = self._due = None
        self.lateness.clear()
        self.update()

    def stop(self) -> None:
        """No more frames are asked for."""
        self._timer.stop()

    @property
    def frame(self) -> Frame | None:
        """The frame on show."""
        return self._frame

    def set_badge(self, badge: str) -> None:
        """'' for none."""
        self.badge = badge
        self.update()

    def show_overlay(self, on: bool) -> None:
        self.overlay_shown = on
        self.update()

    def scale_smoothly(self, on: bool) -> None:
        self.smooth = on
        self.update()

    def _tick(self) -> None:
        began = time.thread_time()
        player, clock = self._engine.player, self._engine.clock
        for played in player.advance(clock.now()):
            if played.image is not None:
                self._frame, self._due = played.image, played.at
                self.frameShown.emit(played.image, played.sound)
        self.update()
        due = player.next_due()
        wait = IDLE_MS if due is None else max(0, min(250, round((due - clock.now()) * 1000)))
        self._timer.start(wait)
        self.busy_seconds += time.thread_time() - began

    def paintEvent(self, event: QPaintEvent) -> None:
        began = time.thread_time()
        self._paint(QPainter(self))
        self.busy_seconds += time.thread_time() - began

    def _paint(self, p: QPainter) -> None:
        p.fillRect(self.rect(), QColor(8, 9, 12))
        if self._frame is None:
            self._paint_loading(p)
            return
        p.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, self.smooth)
        p.drawImage(fitted(self._frame, QRectF(self.rect())), image_of(self._frame))
        p.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
        now = self._engine.clock.now()
        if self._due is not None:
            self.lateness.append(now - self._due)
            self._due = None
            self.painted += 1
        self._paint_keys(p)
        if self.recording:
            p.setRenderHint(QPainter.RenderHint.Antialiasing)
            p.setPen(Qt.PenStyle.NoPen)
            p.setBrush(QColor(230, 50, 50))
            p.drawEllipse(QRectF(self.width() - 26, 14, 12, 12))
            p.setBrush(Qt.BrushStyle.NoBrush)
        if self.badge:
            p.setPen(QColor(255, 214, 120))
            area = self.rect().adjusted(0, 10, -34, 0)
            p.drawText(area, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop, self.badge)
        if self.overlay_shown:
            view = self._engine.view
            overlay.paint(p, QRectF(self.rect()), view, self._engine.player.media_time(now), now)

    def image(self) -> QImage | None:
        """A copy of the frame on show."""
        return None if self._frame is None else image_of(self._frame).copy()

    def _paint_loading(self, p: QPainter) -> None:
        stage, share = self._engine.stage
        font = QFont("sans-serif")
        font.setPointSizeF(13)
        p.setFont(font)
        p.setPen(QColor(225, 228, 235))
        middle = self.rect().center().y()
        text = self._engine.error or f"{stage} ..."
        where = self.rect().adjusted(24, 0, -24, -self.height() // 2 - 6)
        p.drawText(where, Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignBottom | Qt.TextFlag.TextWordWrap, text)
        if self._engine.error is None:
            bar = QRectF(self.width() * 0.25, middle + 12, self.width() * 0.5, 6)
            p.fillRect(bar, QColor(45, 48, 58))
            bar.setWidth(bar.width() * share)
            p.fillRect(bar, QColor(110, 170, 255))

    def _paint_keys(self, p: QPainter) -> None:
        font = QFont("sans-serif")
        font.setPointSizeF(11)
        p.setFont(font)
        x = 12.0
        for name in self._keys.held:
            width = p.fontMetrics().horizontalAdvance(name) + 16
            cap = QRectF(x, 12, width, 24)
            p.setPen(QColor(255, 255, 255, 190))
            p.setBrush(QColor(15, 17, 24, 170))
            p.drawRoundedRect(cap, 5, 5)
            p.drawText(cap, Qt.AlignmentFlag.AlignCenter, name)
            p.setBrush(Qt.BrushStyle.NoBrush)
            x += width + 6

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._keys.pressed(event):
            return
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Slash):
            self.promptRequested.emit()
            return
        super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if not self._keys.released(event):
            super().keyReleaseEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if self._file_of(event.mimeData()) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        if (file := self._file_of(event.mimeData())) is not None:
            event.acceptProposedAction()
            self.fileDropped.emit(file)

    @staticmethod
    def _file_of(data: QMimeData) -> str | None:
        """The first dropped file that a world can start from."""
        for url in data.urls():
            if url.isLocalFile() and Path(url.toLocalFile()).suffix.lower() in (*PICTURES, *FILMS):
                return url.toLocalFile()
        return None

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self._keys.clear()
        super().focusOutEvent(event)
