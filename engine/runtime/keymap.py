"""Key maps: names of keys to actions of the camera, as data."""

from __future__ import annotations

import json
from collections.abc import Mapping

from engine.assets import FOLDER

ACTIONS = ("forward", "back", "left", "right", "turn_left", "turn_right", "look_up", "look_down", "rise", "sink")


def presets() -> dict[str, Mapping[str, str]]:
    """Key maps to choose from, by name."""
    data = json.loads((FOLDER / "keymaps.json").read_text(encoding="utf-8"))
    return {name: load_keymap(json.dumps(table)) for name, table in data.items()}


def load_keymap(text: str | None = None) -> Mapping[str, str]:
    """Key name to action, from JSON text or from assets/keymap.json. Raises ValueError for an unknown action."""
    if text is None:
        text = (FOLDER / "keymap.json").read_text(encoding="utf-8")
    table = json.loads(text)
    if not isinstance(table, dict):
        raise ValueError("a key map is a JSON object of key names and actions")
    for key, action in table.items():
        if action not in ACTIONS:
            raise ValueError(f"key map: {key} is mapped to {action!r}; actions are {', '.join(ACTIONS)}")
    return table
