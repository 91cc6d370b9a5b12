"""Names of keys under layouts of other scripts, and the mouse's way as time of turning."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent

from app.input.held_keys import HeldKeys
from app.input.key_names import MAC, KeyName, key_of, letter_at
from app.input.mouse_look import MOST_SECONDS, Debt
from engine.runtime.keymap import load_keymap

NONE = Qt.KeyboardModifier.NoModifier


def event(key: int, text: str, scan: int, kind: QEvent.Type = QEvent.Type.KeyPress, virtual: int = 0) -> QKeyEvent:
    return QKeyEvent(kind, key, NONE, scan, virtual, 0, text)


@pytest.mark.parametrize(
    ("key", "text", "scan", "named"),
    [
        (0x0426, "ц", 25, KeyName("W", "Ц")),  # Russian, as X11 sends it
        (0x03A3, "σ", 39, KeyName("S", "Σ")),  # Greek
        (0x05E9, "ש", 38, KeyName("A", "ש")),  # Hebrew
        (Qt.Key.Key_W, "w", 25, KeyName("W", "W")),
        (Qt.Key.Key_Z, "z", 25, KeyName("Z", "Z")),  # AZERTY has its own letters, and a key map for them
        (Qt.Key.Key_Semicolon, ";", 47, KeyName(";", ";")),
        (Qt.Key.Key_Left, "", 113, KeyName("Left", "Left")),
        (Qt.Key.Key_Shift, "", 50, KeyName("Shift", "Shift")),
    ],
)
def test_a_key_has_its_letter_or_under_another_script_that_of_its_place(
    key: int, text: str, scan: int, named: KeyName
) -> None:
    assert key_of(event(key, text, scan)) == named


@pytest.mark.parametrize(
    "key", [Qt.Key.Key_Escape, Qt.Key.Key_Return, Qt.Key.Key_Tab, Qt.Key.Key_F3, Qt.Key.Key_Control]
)
def test_keys_of_the_program_cannot_be_mapped(key: int) -> None:
    assert key_of(event(key, "", 1)) is None


def test_places_are_numbered_in_their_own_way_by_each_system() -> None:
    assert letter_at(event(0x0426, "ц", 17), "win32") == "W"
    assert letter_at(event(0x0426, "ц", 0, virtual=13), "darwin") == "W"
    assert {MAC[0], MAC[1], MAC[2], MAC[18], MAC[23], MAC[29]} == set("ASD150")
    assert sorted(MAC.values()) == sorted("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")


def test_physical_w_walks_under_a_russian_layout_and_shows_its_letter() -> None:
    told: list[tuple[str, str]] = []
    keys = HeldKeys(
        load_keymap(),
        lambda action, at: told.append(("press", action)),
        lambda action, at: told.append(("release", action)),
        lambda: None,
        lambda: 0.0,
        lambda ms, call: call(),
    )
    assert keys.pressed(event(0x0426, "ц", 25))
    assert keys.held == ["Ц"]
    assert keys.released(event(0x0426, "ц", 25, QEvent.Type.KeyRelease))
    assert told == [("press", "forward"), ("release", "forward")]


def test_a_way_of_the_mouse_is_turned_for_as_long_as_it_is() -> None:
    axis = Debt("turn_left", "turn_right")
    axis.add(0.1)
    held = [axis.pay(0.03) for _ in range(6)]
    assert held == ["turn_right"] * 3 + [None] * 3 or held == ["turn_right"] * 4 + [None] * 2
    axis.add(50.0)
    assert axis.seconds == MOST_SECONDS, "it stops soon after the mouse"
    axis.add(-0.1)
    assert axis.pay(0.01) == "turn_left", "the other direction is obeyed at once"
    axis.seconds = 0.0
    axis.add(0.001)
    assert axis.pay(0.01) is None
