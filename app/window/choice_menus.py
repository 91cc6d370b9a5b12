"""Submenus of which one entry is in force: theme, language, sound device, key map, mouse."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from app.input.input_manager import InputManager
from app.language import LANGUAGES, SYSTEM, marked, tr
from app.storage.preferences import Preferences
from app.window.appearance import Appearance
from app.window.menus import Choice, Menus
from app.window.volume import Volume

THEMES = {"system": marked("as the system"), "dark": marked("dark"), "light": marked("light")}
SENSITIVITIES = (0.5, 0.75, 1.0, 1.5, 2.0, 3.0)


class ChoiceMenus:
    """Adds them to the menus of a window."""

    def __init__(
        self,
        menus: Menus,
        preferences: Preferences,
        appearance: Appearance,
        volume: Volume,
        inputs: InputManager,
        post: Callable[[str], None],
    ) -> None:
        """post: takes a message to the person."""
        self._preferences, self._appearance, self._volume, self._inputs = preferences, appearance, volume, inputs
        self._post = post
        menus.add_choices("view", tr("T&heme"), self._themes)
        menus.add_choices("view", tr("Lan&guage"), self._languages)
        menus.add_choices("sound", tr("&Device"), self._devices)
        menus.add_choices("keys", tr("&Layout"), self._keymaps)
        menus.add_choices("keys", tr("Mouse s&ensitivity"), self._sensitivities)

    def _themes(self) -> list[Choice]:
        now, use = self._appearance.theme, self._appearance.use_theme
        return [(tr(THEMES[name]), name == now, partial(use, name)) for name in self._appearance.themes()]

    def _languages(self) -> list[Choice]:
        now = self._preferences.language
        names = {SYSTEM: tr("as the system"), **LANGUAGES}
        return [(shown, name == now, partial(self._use_language, name)) for name, shown in names.items()]

    def _use_language(self, name: str) -> None:
        self._preferences.language = name
        self._post(tr("The language changes at the next start."))

    def _devices(self) -> list[Choice]:
        now, use = self._volume.device, self._volume.select_device
        return [(n or tr("system default"), n == now, partial(use, n)) for n in self._volume.devices()]

    def _keymaps(self) -> list[Choice]:
        now, use = dict(self._inputs.keys.keymap), self._inputs.use_keymap
        return [(tr(n), dict(keymap) == now, partial(use, n)) for n, keymap in self._inputs.keymaps().items()]

    def _sensitivities(self) -> list[Choice]:
        now = self._preferences.mouse_sensitivity
        return [(f"{x:g} ×", x == now, partial(self._use_sensitivity, x)) for x in SENSITIVITIES]

    def _use_sensitivity(self, factor: float) -> None:
        self._preferences.mouse_sensitivity = factor
