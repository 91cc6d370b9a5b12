"""Plays the last update's story in slow motion: the overlay again, with words for what happens."""

from __future__ import annotations

from PySide6.QtCore import QElapsedTimer, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QCloseEvent, QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QSlider, QVBoxLayout, QWidget

from app.language import tr
from app.window import overlay
from app.window.story import Moment, Tale

SLOWER = 6.0
"""Times slower than it was."""
TICK_MS = 33


class StoryView(QWidget):
    """One moment of the overlay."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.moment: Moment | None = None
        self.setMinimumSize(QSize(320, 150))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(tr("The overlay at this moment"))

    def paintEvent(self, event: QPaintEvent) -> None:
        p = QPainter(self)
        p.fillRect(self.rect(), QColor(8, 9, 12))
        if self.moment is not None:
            m = self.moment
            overlay.paint(p, QRectF(self.rect()), m.view, m.media, m.now, overlay.Form(legend=True))


class Explanation(QDialog):
    """A story that plays by itself, and a slider over it."""

    def __init__(self, tale: Tale, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("What happened after your last change"))
        self.resize(900, 360)
        self.tale = tale
        self.picture = StoryView(self)
        self.words = QLabel(self)
        self.words.setWordWrap(True)
        self.words.setAccessibleName(tr("What happens"))
        self.words.setMinimumHeight(self.fontMetrics().height() * 3)
        self.words.setAlignment(Qt.AlignmentFlag.AlignTop)
        font = self.words.font()
        font.setPointSizeF(font.pointSizeF() * 1.15)
        self.words.setFont(font)
        self.slider = QSlider(Qt.Orientation.Horizontal, self)
        self.slider.setRange(0, max(0, len(tale.moments) - 1))
        self.slider.setAccessibleName(tr("Moment"))
        self.play_button = QPushButton(tr("Play"), self)
        bottom = QHBoxLayout()
        bottom.addWidget(self.play_button)
        bottom.addWidget(self.slider, 1)
        column = QVBoxLayout(self)
        column.addWidget(self.picture, 1)
        column.addWidget(self.words)
        column.addLayout(bottom)
        self._watch = QElapsedTimer()
        self._from = 0.0
        self._timer = QTimer(self)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(self._tick)
        self.slider.valueChanged.connect(self._show)
        self.slider.sliderPressed.connect(self._stop)
        self.play_button.clicked.connect(self._toggle)
        self._show(0)
        self._toggle()

    def _toggle(self) -> None:
        if self._timer.isActive():
            self._stop()
            return
        if self.slider.value() == self.slider.maximum():
            self.slider.setValue(0)
        self._from = self.tale.moments[self.slider.value()].now
        self._watch.start()
        self._timer.start()
        self.play_button.setText(tr("Pause"))

    def _stop(self) -> None:
        self._timer.stop()
        self.play_button.setText(tr("Play"))

    def _tick(self) -> None:
        self.seek(self._from + self._watch.elapsed() / 1000 / SLOWER)

    def seek(self, now: float) -> None:
        """The last moment that is not after `now`, seconds of the engine's clock."""
        i = max((i for i, m in enumerate(self.tale.moments) if m.now <= now), default=0)
        self.slider.setValue(i)
        if i == self.slider.maximum():
            self._stop()

    def _show(self, i: int) -> None:
        self.picture.moment = self.tale.moments[i]
        self.picture.update()
        self.words.setText(self.tale.words(i))

    def closeEvent(self, event: QCloseEvent) -> None:
        self._timer.stop()
        super().closeEvent(event)
