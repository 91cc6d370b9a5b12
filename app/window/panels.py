"""The panels of a window, as pages of its side bar."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.language import tr
from app.window.library_panel import LibraryPanel
from app.window.palette import Palette
from app.window.score_panel import ScorePanel
from app.window.settings_panel import SettingsPanel
from app.window.side_bar import SideBar
from app.window.takes_panel import TakesPanel
from engine.models.interface import ModelSpec
from engine.runtime.live_engine import LiveEngine
from engine.runtime.settings import Settings
from engine.runtime.view import View

if TYPE_CHECKING:
    from app.window.metrics_panel import MetricsPanel


class Panels(QObject):
    """Makes them, and feeds the one that is seen."""

    settingsMade = Signal(object)
    """The `SettingsPanel` of another model."""

    def __init__(self, side: SideBar, folder: Path, media: Callable[[], float], colours: Callable[[], Palette]) -> None:
        """folder: videos and clips go to folders in it. media: the media time now, seconds. colours: those in use."""
        super().__init__(side)
        self.side, self._colours = side, colours
        self.settings: SettingsPanel
        self.takes = TakesPanel(folder, side)
        self.score = ScorePanel(media, side)
        self.library = LibraryPanel(folder, side)
        self.metrics: MetricsPanel | None = None
        self._plots = QWidget(side)
        QVBoxLayout(self._plots).setContentsMargins(0, 0, 0, 0)
        side.add_page("settings", tr("Settings"), QWidget(side))
        side.add_page("takes", tr("Takes"), self.takes)
        side.add_page("score", tr("Score"), self.score)
        side.add_page("library", tr("Library"), self.library)
        side.add_page("metrics", tr("Metrics"), self._plots)
        side.pageShown.connect(self._shown)

    def use(self, engine: LiveEngine, settings: Settings, spec: ModelSpec) -> None:
        """Another engine: its takes, and a settings panel for its model; the panel of the model before is deleted."""
        self.takes.set_engine(engine, spec)
        self.settings = SettingsPanel(settings, spec)
        self.side.replace_page("settings", self.settings)
        self.settingsMade.emit(self.settings)

    def feed(self, view: View, now: float) -> None:
        """A view at a time in seconds; called several times a second."""
        self.score.tick()
        if self.side.page == "takes":
            self.takes.refresh()
        if self.side.page == "settings":
            self.settings.show_view(view)
        if self.metrics is not None:
            self.metrics.feed(view, now)

    def recolour(self) -> None:
        """The theme changed."""
        if self.metrics is not None:
            self.metrics.use_colours(self._colours())

    def _shown(self, page: str) -> None:
        """The plots are made when they are first looked at: their library takes a tenth of a second to import."""
        if page == "metrics" and self.metrics is None:
            from app.window.metrics_panel import MetricsPanel

            self.metrics = MetricsPanel(self._colours(), self._plots)
            layout = self._plots.layout()
            assert layout is not None
            layout.addWidget(self.metrics)
