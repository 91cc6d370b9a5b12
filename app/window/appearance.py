"""Theme and text size of the program."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QApplication

from app.storage.preferences import THEMES, Preferences
from app.window.palette import DARK, LIGHT, Palette
from app.window.style import apply_style

SCALES = (0.8, 2.0)
DEFAULT_POINTS = 10.0
"""Where the system's font has a size in pixels only."""
UNSCALED = "foreland unscaled text size"
"""Property of the application: its text size before any window scaled it."""


class Appearance(QObject):
    """Sets both on the application and notes them in the preferences."""

    changed = Signal()
    """Colours or text size."""

    def __init__(self, application: QApplication, preferences: Preferences) -> None:
        super().__init__(application)
        self._application, self._preferences = application, preferences
        if application.property(UNSCALED) is None:
            points = application.font().pointSizeF()
            application.setProperty(UNSCALED, points if points > 0 else DEFAULT_POINTS)
        application.styleHints().colorSchemeChanged.connect(self._follow)
        self.use_theme(preferences.theme)
        self.scale_text(preferences.text_scale)

    @property
    def theme(self) -> str:
        return self._preferences.theme

    def themes(self) -> tuple[str, ...]:
        return THEMES

    @property
    def colours(self) -> Palette:
        """Those in use. Where the system does not say which it wants, a picture looks best in the dark."""
        light = self._application.styleHints().colorScheme() == Qt.ColorScheme.Light
        return LIGHT if self.theme == "light" or (self.theme == "system" and light) else DARK

    def use_theme(self, theme: str) -> None:
        """system, dark or light."""
        self._preferences.theme = theme
        apply_style(self._application, self.colours)
        self.changed.emit()

    def _follow(self) -> None:
        """The system changed its own."""
        if self.theme == "system":
            self.use_theme(self.theme)

    def scale_text(self, scale: float) -> None:
        """Of everything but the overlay, which goes with the size of the viewport."""
        scale = min(max(round(scale, 1), SCALES[0]), SCALES[1])
        self._preferences.text_scale = scale
        font = self._application.font()
        font.setPointSizeF(float(self._application.property(UNSCALED)) * scale)
        self._application.setFont(font)
        self.changed.emit()

    def enlarge_text(self) -> None:
        self.scale_text(self._preferences.text_scale + 0.1)

    def shrink_text(self) -> None:
        self.scale_text(self._preferences.text_scale - 0.1)

    def reset_text(self) -> None:
        """As the system has it."""
        self.scale_text(1.0)
