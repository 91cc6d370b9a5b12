"""Small films that loop: one alone, or two side by side."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QCloseEvent, QColor, QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QSlider, QVBoxLayout, QWidget

from engine.playback.player import Frame


class Loop(QWidget):
    """Shows one frame of a film that it is given, or words while there is none."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.frames: Sequence[Frame] = ()
        self.at = 0
        self.words = ""
        self.setAccessibleName(name)
        self.setMinimumSize(QSize(160, 100))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def show_frames(self, frames: Sequence[Frame], words: str = "") -> None:
        self.frames, self.words, self.at = frames, words, 0
        self.update()

    def go(self, at: int) -> None:
        """Shows frame `at`, or the last one where there are fewer."""
        self.at = at
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 (Qt's name)
        p = QPainter(self)
        p.fillRect(self.rect(), QColor(8, 9, 12))
        if not self.frames:
            p.setPen(QColor(200, 204, 214))
            p.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self.words)
            return
        frame = self.frames[min(self.at, len(self.frames) - 1)]
        h, w = frame.shape[:2]
        image = QImage(frame.data, w, h, w * 3, QImage.Format.Format_RGB888)
        factor = min(self.width() / w, self.height() / h)
        p.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        p.drawImage(
            QRectF((self.width() - w * factor) / 2, (self.height() - h * factor) / 2, w * factor, h * factor), image
        )


class SideBySide(QDialog):
    """Two films that run together, with a slider over both."""

    def __init__(self, title: str, left: str, right: str, fps: float, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.resize(860, 380)
        self.loops = (Loop(left, self), Loop(right, self))
        row = QHBoxLayout()
        for loop, name in zip(self.loops, (left, right), strict=True):
            column = QVBoxLayout()
            column.addWidget(QLabel(name, self))
            column.addWidget(loop, 1)
            row.addLayout(column, 1)
        self.slider = QSlider(Qt.Orientation.Horizontal, self)
        self.slider.setAccessibleName("Time")
        self.play_button = QPushButton("Hold", self)
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
        for loop in self.loops:
            loop.show_frames((), "decoding ...")

    def put(self, side: int, frames: Sequence[Frame], words: str = "") -> None:
        """Frames of the left (0) or right (1) film, or words that say why there are none."""
        self.loops[side].show_frames(frames, words)
        longest = max(len(x.frames) for x in self.loops)
        self.slider.setRange(0, max(0, longest - 1))

    def _toggle(self) -> None:
        if self._timer.isActive():
            self._timer.stop()
        else:
            self._timer.start()
        self.play_button.setText("Hold" if self._timer.isActive() else "Play")

    def _tick(self) -> None:
        n = self.slider.maximum() + 1
        if n > 1:
            self.slider.setValue((self.slider.value() + 1) % n)

    def _go(self, at: int) -> None:
        for loop in self.loops:
            loop.go(at)
        self.when.setText(f"{at / self._fps:.2f} s")

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802
        self._timer.stop()
        super().closeEvent(event)
