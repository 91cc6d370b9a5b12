"""The world's picture: paced by the media clock, never blocked by the engine."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
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

from app.input.held_keys import Keyboard
from app.window import overlay
from engine.models.media_files import FILMS, PICTURES
from engine.playback.player import Frame, Samples
from engine.runtime.engine import Engine

IDLE_MS = 15
"""How often to look again while nothing is due (loading, paused, stalled)."""


class Viewport(QWidget):
    """Shows frames when they are due, with the overlay on top; has the keyboard while it has focus."""

    wants_prompt = Signal()
    dropped = Signal(str)
    """A picture or film was dropped: its path."""

    def __init__(self, engine: Engine, keyboard: Keyboard, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._engine = engine
        self._keyboard = keyboard
        self._frame: Frame | None = None
        self._due: float | None = None
        self.overlay_shown = False
        self.recording = False
        self.notice = ""
        """Words in the upper right corner, for what must be seen while it is on."""
        self.smooth = True
        self.painted = 0
        self.on_frame: Callable[[Frame, Samples | None], None] = lambda frame, sound: None
        """Called with each frame that is shown and its sound."""
        self.lateness: deque[float] = deque(maxlen=4096)
        """Seconds from each frame's due time to its painting."""
        self.setAcceptDrops(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAccessibleName("World")
        self.setAccessibleDescription("The picture of the world. Keys move the camera; Enter goes to the prompt box.")
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)
        self._timer.start(0)

    def sizeHint(self) -> QSize:  # noqa: N802 (Qt's name)
        return QSize(768, 480)

    def use(self, engine: Engine) -> None:
        """Shows another engine from now on."""
        self._engine = engine
        self._frame = self._due = None
        self.lateness.clear()
        self.update()

    def stop(self) -> None:
        """No more frames are asked for."""
        self._timer.stop()

    def _tick(self) -> None:
        screen, clock = self._engine.player, self._engine.clock
        for played in screen.advance(clock.now()):
            if played.image is not None:
                self._frame, self._due = played.image, played.at
                self.on_frame(played.image, played.sound)
        self.update()
        due = screen.next_due()
        wait = IDLE_MS if due is None else max(0, min(250, round((due - clock.now()) * 1000)))
        self._timer.start(wait)

    def picture_rect(self) -> QRectF:
        """Where the picture is drawn: as large as fits with its aspect kept."""
        frame = self._frame
        if frame is None:
            return QRectF(self.rect())
        h, w = frame.shape[:2]
        factor = min(self.width() / w, self.height() / h)
        return QRectF((self.width() - w * factor) / 2, (self.height() - h * factor) / 2, w * factor, h * factor)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        p = QPainter(self)
        p.fillRect(self.rect(), QColor(8, 9, 12))
        if self._frame is None:
            self._paint_loading(p)
            return
        frame = self._frame
        h, w = frame.shape[:2]
        # the image does not own its memory: self._frame keeps it alive while it is drawn
        image = QImage(frame.data, w, h, w * 3, QImage.Format.Format_RGB888)
        p.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, self.smooth)
        p.drawImage(self.picture_rect(), image)
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
        if self.notice:
            p.setPen(QColor(255, 214, 120))
            area = self.rect().adjusted(0, 10, -34, 0)
            p.drawText(area, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop, self.notice)
        if self.overlay_shown:
            view = self._engine.view
            overlay.paint(p, QRectF(self.rect()), view, self._engine.player.media_time(now), now)

    def image(self) -> QImage | None:
        """The frame on show, as it came."""
        if self._frame is None:
            return None
        h, w = self._frame.shape[:2]
        return QImage(self._frame.data, w, h, w * 3, QImage.Format.Format_RGB888).copy()

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
        for name in self._keyboard.held:
            width = p.fontMetrics().horizontalAdvance(name) + 16
            cap = QRectF(x, 12, width, 24)
            p.setPen(QColor(255, 255, 255, 190))
            p.setBrush(QColor(15, 17, 24, 170))
            p.drawRoundedRect(cap, 5, 5)
            p.drawText(cap, Qt.AlignmentFlag.AlignCenter, name)
            p.setBrush(Qt.BrushStyle.NoBrush)
            x += width + 6

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if self._keyboard.pressed(event):
            return
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Slash):
            self.wants_prompt.emit()
            return
        super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if not self._keyboard.released(event):
            super().keyReleaseEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802
        if self._file_of(event.mimeData()) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802
        if (file := self._file_of(event.mimeData())) is not None:
            event.acceptProposedAction()
            self.dropped.emit(file)

    @staticmethod
    def _file_of(data: QMimeData) -> str | None:
        """The first dropped file that a world could begin from."""
        for url in data.urls():
            if url.isLocalFile() and Path(url.toLocalFile()).suffix.lower() in (*PICTURES, *FILMS):
                return url.toLocalFile()
        return None

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        self._keyboard.clear()
        super().focusOutEvent(event)
