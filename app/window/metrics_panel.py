"""The metrics panel: the session's figures and their course, through pyqtgraph."""

from __future__ import annotations

from collections import deque

from PySide6.QtGui import QColor
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from app.window.overlay import figures
from engine.runtime.view import Fate, View

SECONDS = 60.0
"""Of the past that the plots show."""
POINTS = 1200


class MetricsPanel(QWidget):
    """Fed with views; draws only while it is seen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        import pyqtgraph as pg  # a tenth of a second: only for those who open the panel

        pg.setConfigOptions(antialias=True, background=None, foreground=QColor(140, 146, 160))
        self.figures = QLabel(self)
        self.figures.setWordWrap(True)
        self.figures.setAccessibleName("Figures of the session")
        column = QVBoxLayout(self)
        column.addWidget(self.figures)
        self._curves = {}
        self.plots = {}
        for key, title, colours in (
            ("cache", "cache, s", {"cached": (110, 170, 255), "locked": (255, 255, 255)}),
            ("latency", "L of updates, s", {"L": (255, 170, 80), "L50": (120, 220, 140)}),
            ("call", "C, s", {"C": (200, 140, 255)}),
            ("revoked", "revoked share", {"revoked": (255, 92, 92)}),
        ):
            plot = pg.PlotWidget(self)
            plot.setAccessibleName(f"Plot of {title}")
            plot.setMinimumHeight(90)
            plot.setLabel("left", title)
            plot.getAxis("left").enableAutoSIPrefix(False)
            plot.setXRange(-SECONDS, 0)
            plot.setMouseEnabled(False, False)
            plot.hideButtons()
            plot.setMenuEnabled(False)
            column.addWidget(plot, 1)
            self.plots[key] = plot
            for name, colour in colours.items():
                symbol = (
                    {"symbol": "o", "symbolSize": 6, "symbolBrush": colour, "symbolPen": None} if name == "L" else {}
                )
                pen = None if name == "L" else pg.mkPen(colour, width=1.6)
                self._curves[name] = plot.plot([], [], pen=pen, **symbol)
        self.series: dict[str, deque[tuple[float, float]]] = {n: deque(maxlen=POINTS) for n in self._curves}
        self._seen = -1

    def feed(self, view: View, now: float) -> None:
        """A view at a time in seconds."""
        locked = sum(g.span for g in view.groups if g.fate is Fate.LOCKED) / view.fps
        values = {
            "cached": view.cached_seconds,
            "locked": locked,
            "revoked": view.discarded,
            "C": view.C,
            "L50": view.L50,
        }
        for name, value in values.items():
            if value is not None:
                self.series[name].append((now, value))
        if view.last is not None and view.last.version != self._seen:
            self._seen = view.last.version
            self.series["L"].append((now, view.last.L))
        if not self.isVisible():
            return
        self.figures.setText("   ".join(f"{name}: {value}" for name, value in figures(view)))
        for name, points in self.series.items():
            while points and points[0][0] < now - SECONDS:
                points.popleft()
            self._curves[name].setData([t - now for t, _ in points], [v for _, v in points])
