"""Held keys as words of the prompt, for models without a camera input."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from engine.assets import FOLDER


def action_words(file: Path | None) -> dict[str, str]:
    """Action to words: the table that ships, with the person's own on top. Raises ValueError for a file that holds no such table."""
    table = json.loads((FOLDER / "action-words.json").read_text("utf-8"))
    if file is not None and file.exists():
        try:
            mine = json.loads(file.read_text("utf-8"))
        except ValueError as e:
            raise ValueError(f"{file} is not JSON ({e}): mend it or remove it") from e
        if not isinstance(mine, dict) or not all(isinstance(v, str) for v in mine.values()):
            raise ValueError(f"{file}: a table of actions and words is wanted, like {FOLDER / 'action-words.json'}")
        table |= mine
    return table


def with_actions(prompt: str, actions: Sequence[str], table: Mapping[str, str]) -> str:
    """The prompt with words for actions appended; the prompt itself where the table has none for them."""
    words = ", ".join(table[a] for a in actions if a in table)
    return f"{prompt.rstrip('. ')}. {words}" if words else prompt
