"""Names of keys for key maps: a Latin layout's own letter, and under any other layout the letter of the place.

A key map says W for forward. Under a Russian, Greek, Hebrew, Japanese or Arabic layout the key at W's place gives another letter, so
the name comes from the key's scan code, and the layout's letter is what is shown.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence

ROWS = {2: "1234567890", 16: "QWERTYUIOP", 30: "ASDFGHJKL", 44: "ZXCVBNM"}
"""Letters of the US layout by the scan code (PC set 1) of the first of their row."""
PC = {first + i: letter for first, row in ROWS.items() for i, letter in enumerate(row)}
X11_OFFSET = 8
"""X11 and Wayland number keys by evdev's codes, which are those of set 1 for these rows, plus 8."""
MAC = {
    **dict(zip(range(10), "ASDFHGZXCV", strict=True)),
    **dict(zip(range(11, 24), "BQWERYT123465", strict=True)),
    **{
        25: "9",
        26: "7",
        28: "8",
        29: "0",
        31: "O",
        32: "U",
        34: "I",
        35: "P",
        37: "L",
        38: "J",
        40: "K",
        45: "N",
        46: "M",
    },
}
"""Virtual key codes of macOS (HIToolbox/Events.h, kVK_ANSI_*)."""
RESERVED = {
    Qt.Key.Key_Escape,
    Qt.Key.Key_Return,
    Qt.Key.Key_Enter,
    Qt.Key.Key_Tab,
    Qt.Key.Key_Backtab,
    Qt.Key.Key_Control,
    Qt.Key.Key_Alt,
    Qt.Key.Key_AltGr,
    Qt.Key.Key_Meta,
    Qt.Key.Key_unknown,
}
"""The program's own: they leave, apply, go on to the next control, or begin a shortcut."""


@dataclass(frozen=True)
class KeyName:
    """A key: its name in key maps, and what is written on it."""

    name: str
    shown: str


def key_of(event: QKeyEvent) -> KeyName | None:
    """None for keys that no key map can have."""
    key = event.key()
    if key in RESERVED or Qt.Key.Key_F1 <= key <= Qt.Key.Key_F35:
        return None
    if Qt.Key.Key_A <= key <= Qt.Key.Key_Z or Qt.Key.Key_0 <= key <= Qt.Key.Key_9:
        return KeyName(chr(key), chr(key))
    written = QKeySequence(key).toString(QKeySequence.SequenceFormat.PortableText)
    if key > 0x7F and key < 0x01000000 and (place := letter_at(event)) is not None:
        return KeyName(place, written.upper())
    return KeyName(written, written) if written else None


def letter_at(event: QKeyEvent, platform: str = sys.platform) -> str | None:
    """The letter or digit that the US layout has at this key's place."""
    if platform == "darwin":
        return MAC.get(event.nativeVirtualKey())
    return PC.get(event.nativeScanCode() - (0 if platform == "win32" else X11_OFFSET))
