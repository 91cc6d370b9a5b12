"""Key maps: names of keys to actions of the camera, as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from pydantic import TypeAdapter

from engine.assets import FOLDER
from engine.documents import read_document

Action = Literal["forward", "back", "left", "right", "turn_left", "turn_right", "look_up", "look_down", "rise", "sink"]
ACTIONS: tuple[str, ...] = get_args(Action)
KEYMAP_FILE = TypeAdapter(dict[str, Action])
KEYMAPS_FILE = TypeAdapter(dict[str, dict[str, Action]])


def presets() -> dict[str, Mapping[str, str]]:
    """Key maps to choose from, by name."""
    file = FOLDER / "keymaps.json"
    tables = read_document(KEYMAPS_FILE, file.read_text("utf-8"), str(file))
    return {name: dict(table) for name, table in tables.items()}


def load_keymap(text: str | None = None) -> Mapping[str, str]:
    """Key name to action, from JSON text or from assets/keymap.json. Raises DocumentError for an unknown action."""
    return read_document(
        KEYMAP_FILE, (FOLDER / "keymap.json").read_text("utf-8") if text is None else text, "the key map"
    )
