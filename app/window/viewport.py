"""The viewport: the frames of the world, paced by the media clock, never blocked by the engine."""

from __future__ import annotations

import time
from collections import deque

from PySide6.QtCore import QEvent, QMimeData, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QDragEnterEvent,
    QDropEvent,
    QFocusEvent,
    QGuiApplication,
    QImage,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.input.held_keys import HeldKeys
from app.language import tr
from app.window import overlay
from app.window.dropped import may_start
from app.window.frame_image import fitted, image_of
from app.window.hud import Hud, paint_hud, waiting_for
from app.window.loading import paint_loading
from app.window.story import Moment, Story
from engine.playback.player import Frame
from engine.runtime.live_engine import LiveEngine

IDLE_MS = 15
"""How often to look again while nothing is due (loading, paused, stalled)."""
MOVING_HZ = 12.0


class Viewport(QWidget):
    """Shows frames when they are due, with the overlay on top; has the keyboard while it has focus."""

    promptRequested = Signal()
    escaped = Signal()
    """Esc was pressed while the world had the keyboard."""
    dataDropped = Signal(QMimeData)
    """Something was dropped or pasted, of which a world may start: see `app.window.dropped`."""
    frameShown = Signal(object, object)
    """A frame that became due, and its sound or None."""

    def __init__(self, engine: LiveEngine, keys: HeldKeys, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._engine = engine
        self._keys = keys
        self._frame: Frame | None = None
        self._due: float | None = None
        self._painted: object = None
        """What the last painting was of: see `_signature`."""
        self._began = time.monotonic()
        self.story = Story()
        """What the overlay showed in the last seconds, whether or not it was seen."""
        self.overlay_shown = False
        self.overlay_full = True
        self.still = False
        """Nothing moves by itself but the world."""
        self._panel = QRectF()
        self._legend = False
        self.recording = ""
        """How long the video is that is made, '' for none."""
        self.badge = ""
        """Words in the upper right corner, for what must be seen while it is on."""
        self.hint = ""
        """What held keys do where the model has no camera."""
        self.covered = 0
        """Pixels at the bottom that something else lies over: the overlay is drawn above them."""
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
        self.setMouseTracking(True)
        self.setAccessibleName(tr("World"))
        self.setAccessibleDescription(
            tr("The world as the camera sees it. Keys move the camera; Enter goes to the prompt box.")
        )
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)
        self._timer.start(0)

    def sizeHint(self) -> QSize:
        return QSize(768, 480)

    def set_engine(self, engine: LiveEngine) -> None:
        """Shows another engine from now on."""
        self._engine = engine
        self._frame = self._due = None
        self._began = time.monotonic()
        self.story.clear()
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

    def show_full_overlay(self, on: bool) -> None:
        """Its full form, or the compact one."""
        self.overlay_full = on
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
        self.story.add(self._engine.view, self._media_time(clock.now()), clock.now())
        if (signature := self._signature(clock.now())) != self._painted:
            self._painted = signature
            self.update()
        due = player.next_due()
        wait = IDLE_MS if due is None else max(0, min(250, round((due - clock.now()) * 1000)))
        self._timer.start(wait)
        self.busy_seconds += time.thread_time() - began

    def paintEvent(self, event: QPaintEvent) -> None:
        began = time.thread_time()
        self._paint(QPainter(self))
        self.busy_seconds += time.thread_time() - began

    def _signature(self, now: float) -> object:
        """What is seen depends on this and on nothing else: while it stays the same nothing is painted. What moves by itself (a line
        that fades, seconds that are counted) does so `MOVING_HZ` times a second."""
        engine = self._engine
        still = engine.player.next_due() is None
        fading = self.overlay_shown and (engine.view.revoked or engine.view.flight)
        moving = self._frame is None or (still and (not engine.player.paused or fading))
        beat = int(now * MOVING_HZ) if moving else 0
        view = engine.view if self.overlay_shown or still else None
        return id(self._frame), view, self._legend, engine.stage, engine.error, beat, self._hud(now), self.hasFocus()

    def _hud(self, now: float) -> Hud:
        held = tuple(self._keys.held)
        return Hud(held, waiting_for(self._engine, now), self.recording, self.badge, self.hint if held else "")

    def _paint(self, p: QPainter) -> None:
        p.fillRect(self.rect(), QColor(8, 9, 12))
        area = QRectF(self.rect())
        if self._frame is None:
            paint_loading(p, area, self._engine, time.monotonic() - self._began)
            return
        p.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, self.smooth)
        p.drawImage(fitted(self._frame, area), image_of(self._frame))
        p.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
        now = self._engine.clock.now()
        if self._due is not None:
            self.lateness.append(now - self._due)
            self._due = None
            self.painted += 1
        if self.overlay_shown:
            p.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            free = area.adjusted(0, 0, 0, -self.covered)
            form = overlay.Form(self.overlay_full, self._legend, self.still)
            self._panel = overlay.paint(p, free, self._engine.view, self._media_time(now), now, form)
        paint_hud(p, area, self._hud(now))
        if self.hasFocus():
            p.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            p.setPen(QPen(QColor(142, 193, 255, 150), 2))
            p.drawRect(self.rect().adjusted(1, 1, -1, -1))

    def _media_time(self, now: float) -> float:
        return self._engine.player.media_time(now)

    def image(self) -> QImage | None:
        """A copy of the frame on show."""
        return None if self._frame is None else image_of(self._frame).copy()

    def moment(self) -> Moment:
        """What the overlay shows now."""
        now = self._engine.clock.now()
        return Moment(self._engine.view, self._media_time(now), now)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._legend = self.overlay_shown and self._panel.contains(event.position())
        super().mouseMoveEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self._legend = False
        super().leaveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Paste):
            self.dataDropped.emit(QGuiApplication.clipboard().mimeData())
            return
        if self._keys.pressed(event):
            return
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Slash):
            self.promptRequested.emit()
            return
        if event.key() == Qt.Key.Key_Escape:
            self.escaped.emit()
            return
        super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if not self._keys.released(event):
            super().keyReleaseEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if may_start(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        event.acceptProposedAction()
        self.dataDropped.emit(event.mimeData())

    def focusInEvent(self, event: QFocusEvent) -> None:
        self.update()
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self._keys.clear()
        self.update()
        super().focusOutEvent(event)
