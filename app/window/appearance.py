"""Theme and text size of the program."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.storage.preferences import THEMES, Preferences

SCALES = (0.8, 2.0)
DEFAULT_POINTS = 10.0
"""Where the system's font has a size in pixels only."""
UNSCALED = "foreland unscaled text size"
"""Property of the application: its text size before any window scaled it."""


class Appearance:
    """Sets both on the application and notes them in the preferences."""

    def __init__(self, application: QApplication, preferences: Preferences) -> None:
        self._application, self._preferences = application, preferences
        if application.property(UNSCALED) is None:
            points = application.font().pointSizeF()
            application.setProperty(UNSCALED, points if points > 0 else DEFAULT_POINTS)
        self.use_theme(preferences.theme)
        self.scale_text(preferences.text_scale)

    @property
    def theme(self) -> str:
        return self._preferences.theme

    def themes(self) -> tuple[str, ...]:
        return THEMES

    def use_theme(self, theme: str) -> None:
        """system, dark or light."""
        self._preferences.theme = theme
        schemes = {"dark": Qt.ColorScheme.Dark, "light": Qt.ColorScheme.Light}
        self._application.styleHints().setColorScheme(schemes.get(theme, Qt.ColorScheme.Unknown))

    def scale_text(self, scale: float) -> None:
        """Of everything but the overlay, which goes with the size of the viewport."""
        scale = min(max(round(scale, 1), SCALES[0]), SCALES[1])
        self._preferences.text_scale = scale
        font = self._application.font()
        font.setPointSizeF(float(self._application.property(UNSCALED)) * scale)
        self._application.setFont(font)

    def enlarge_text(self) -> None:
        self.scale_text(self._preferences.text_scale + 0.1)

    def shrink_text(self) -> None:
        self.scale_text(self._preferences.text_scale - 0.1)
