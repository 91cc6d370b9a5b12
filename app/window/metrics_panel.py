"""The metrics panel: the session's figures and their course, through pyqtgraph."""

from __future__ import annotations

from collections import deque

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from app.language import tr
from app.window.overlay_figures import figures
from app.window.palette import DARK, Palette
from engine.runtime.view import Fate, View

SECONDS = 60.0
"""Of the past that the plots show."""
POINTS = 1200


class MetricsPanel(QWidget):
    """Fed with views; draws only while it is seen."""

    def __init__(self, colours: Palette = DARK, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        import pyqtgraph as pg  # a tenth of a second: only for those who open the panel

        self._pg = pg
        pg.setConfigOptions(antialias=True)
        self.figures = QLabel(self)
        self.figures.setWordWrap(True)
        self.figures.setAccessibleName(tr("Figures of the session"))
        column = QVBoxLayout(self)
        column.addWidget(self.figures)
        self._curves = {}
        self.plots = {}
        for key, title, names in (
            ("cache", tr("cache, s"), ("cached", "locked")),
            ("latency", tr("L of updates, s"), ("L", "L50")),
            ("call", tr("C, s"), ("C",)),
            ("revoked", tr("revoked share"), ("revoked",)),
        ):
            plot = pg.PlotWidget(self)
            plot.setAccessibleName(tr("Plot of {figure}", figure=title))
            plot.setMinimumHeight(110)
            plot.setLabel("left", title)
            plot.getPlotItem().layout.setContentsMargins(2, 8, 8, 2)
            plot.getAxis("left").enableAutoSIPrefix(False)
            plot.setXRange(-SECONDS, 0)
            plot.setLimits(yMin=0)
            if key == "revoked":
                plot.setYRange(0, 1)
            plot.setMouseEnabled(False, False)
            plot.hideButtons()
            plot.setMenuEnabled(False)
            column.addWidget(plot, 1)
            self.plots[key] = plot
            for name in names:
                self._curves[name] = plot.plot([], [])
        self.series: dict[str, deque[tuple[float, float]]] = {n: deque(maxlen=POINTS) for n in self._curves}
        self._seen = -1
        self.use_colours(colours)

    def use_colours(self, colours: Palette) -> None:
        """Of a theme: every curve can be told from its ground and from the other one in its plot."""
        pen = {
            "cached": colours.accent,
            "locked": colours.dim,
            "L50": colours.good,
            "C": colours.accent,
            "revoked": colours.bad,
        }
        for plot in self.plots.values():
            plot.setBackground(colours.surface)
            for side in ("left", "bottom"):
                plot.getAxis(side).setPen(colours.line)
                plot.getAxis(side).setTextPen(colours.dim)
        for name, colour in pen.items():
            style = Qt.PenStyle.DashLine if name == "locked" else Qt.PenStyle.SolidLine
            self._curves[name].setPen(self._pg.mkPen(colour, width=1.8, style=style))
        latency = self._curves["L"]
        latency.setPen(None)
        latency.setSymbol("o")
        latency.setSymbolSize(6)
        latency.setSymbolBrush(colours.warning)
        latency.setSymbolPen(None)

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
