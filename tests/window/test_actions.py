"""The table of actions, and what is made of it: menus, help and guide."""

from __future__ import annotations

from collections import Counter
from operator import attrgetter
from pathlib import Path

from PySide6.QtGui import QKeySequence

from app.window.actions import ACTIONS, BY_ID, MENUS
from app.window.help import keys_page
from app.window.key_help import renewed
from engine.runtime.keymap import load_keymap, presets
from tests.window.conftest import Viewer

GUIDE = Path(__file__).parents[2] / "docs" / "guide.md"


def twice(values: list[str]) -> list[str]:
    return [value for value, n in Counter(values).items() if n > 1]


def test_ids_shortcuts_and_the_letters_of_a_menu_are_each_used_once() -> None:
    assert not twice([a.id for a in ACTIONS])
    assert not twice([QKeySequence(a.shortcut).toString() for a in ACTIONS if a.shortcut])
    letters = [a.menu + a.title[a.title.index("&") + 1].lower() for a in ACTIONS if "&" in a.title]
    assert not twice(letters)


def test_no_shortcut_is_a_key_that_moves_the_camera() -> None:
    mapped = {key for keymap in presets().values() for key in keymap}
    assert not mapped & {a.shortcut for a in ACTIONS}


def test_the_keys_in_the_guide_are_those_of_the_table() -> None:
    text = GUIDE.read_text("utf-8")
    assert renewed(text) == text, "run `python -m app.window.key_help docs/guide.md`"


def test_the_help_shows_the_key_map_in_use() -> None:
    assert "| W A S D | move |" in keys_page(load_keymap())
    assert "| Z Q S D | move |" in keys_page(presets()["ZQSD and arrows"])
    assert "| none | rise, sink |" in keys_page({"W": "forward"})


def test_the_menus_hold_every_action_and_every_handler_is_there(shared: Viewer) -> None:
    window = shared.window
    entries = {bar.text(): bar.menu().actions() for bar in window.menuBar().actions()}
    assert list(entries) == list(MENUS.values())
    for action in ACTIONS:
        made = window.menus[action.id]
        assert made in entries[MENUS[action.menu]]
        assert made.shortcut() == QKeySequence(action.shortcut)
        assert made.isCheckable() == (action.checkable or action.panel)
        assert attrgetter(action.handler)(window) is not None


def test_buttons_name_the_shortcut_of_the_table(shared: Viewer) -> None:
    settings = shared.window.settings
    settings.show_paused(False)
    assert settings.new_world_button.text() == BY_ID["world.new"].label == "New world (Ctrl+R)"
    assert settings.pause_button.text() == "Pause (Ctrl+P)"
