"""Short clips: one frame of a clip, or two clips side by side."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QSlider, QVBoxLayout, QWidget

from app.language import tr
from app.window.frame_image import fitted, image_of
from engine.playback.player import Frame


class ClipView(QWidget):
    """Shows one frame of its clip, or a message while there is none."""

    framesChanged = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.frames: Sequence[Frame] = ()
        self.at = 0
        self.message = ""
        self.setAccessibleName(name)
        self.setMinimumSize(QSize(160, 100))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def show_frames(self, frames: Sequence[Frame]) -> None:
        """From its first frame on."""
        self.frames, self.message, self.at = frames, "", 0
        self.framesChanged.emit()
        self.update()

    def show_message(self, message: str) -> None:
        """Why there are no frames."""
        self.frames, self.message, self.at = (), message, 0
        self.framesChanged.emit()
        self.update()

    def go(self, at: int) -> None:
        """Shows frame `at`, or the last one where there are fewer."""
        self.at = at
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        p = QPainter(self)
        p.fillRect(self.rect(), QColor(8, 9, 12))
        if not self.frames:
            p.setPen(QColor(200, 204, 214))
            p.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self.message)
            return
        frame = self.frames[min(self.at, len(self.frames) - 1)]
        p.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        p.drawImage(fitted(frame, QRectF(self.rect())), image_of(frame))


class SideBySide(QDialog):
    """Two clips that play together, with a slider over both."""

    def __init__(self, title: str, left: str, right: str, fps: float, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.resize(860, 380)
        self.clips = (ClipView(left, self), ClipView(right, self))
        row = QHBoxLayout()
        for clip, name in zip(self.clips, (left, right), strict=True):
            column = QVBoxLayout()
            column.addWidget(QLabel(name, self))
            column.addWidget(clip, 1)
            row.addLayout(column, 1)
        self.slider = QSlider(Qt.Orientation.Horizontal, self)
        self.slider.setAccessibleName(tr("Time"))
        self.play_button = QPushButton(tr("Pause"), self)
        self.when = QLabel("", self)
        bottom = QHBoxLayout()
        bottom.addWidget(self.play_button)
        bottom.addWidget(self.slider, 1)
        bottom.addWidget(self.when)
        column = QVBoxLayout(self)
        column.addLayout(row, 1)
        column.addLayout(bottom)
        self._fps = fps
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._tick)
        self._timer.start(round(1000 / fps))
        self.slider.valueChanged.connect(self._go)
        self.play_button.clicked.connect(self._toggle)
        for clip in self.clips:
            clip.framesChanged.connect(self._measure)
            clip.show_message(tr("decoding ..."))

    def _measure(self) -> None:
        longest = max(len(clip.frames) for clip in self.clips)
        self.slider.setRange(0, max(0, longest - 1))

    def _toggle(self) -> None:
        if self._timer.isActive():
            self._timer.stop()
        else:
            self._timer.start()
        self.play_button.setText(tr("Pause") if self._timer.isActive() else tr("Play"))

    def _tick(self) -> None:
        n = self.slider.maximum() + 1
        if n > 1:
            self.slider.setValue((self.slider.value() + 1) % n)

    def _go(self, at: int) -> None:
        for clip in self.clips:
            clip.go(at)
        self.when.setText(f"{at / self._fps:.2f} s")

    def closeEvent(self, event: QCloseEvent) -> None:
        self._timer.stop()
        super().closeEvent(event)
