"""Held keys as words of the prompt, for models without a camera input."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import TypeAdapter

from engine.assets import FOLDER
from engine.documents import read_document, read_document_file

WORDS_FILE = TypeAdapter(dict[str, str])
"""Action to words."""


def action_words(file: Path | None) -> dict[str, str]:
    """Action to words: the table that ships, with the person's own on top. Raises FileError or
    DocumentError for a file that holds no such table."""
    shipped = FOLDER / "action-words.json"
    table = read_document(WORDS_FILE, shipped.read_text("utf-8"), str(shipped))
    if file is not None and os.path.lexists(file):
        mine: dict[str, str] = read_document_file(WORDS_FILE, file)
        table |= mine
    return table


def with_actions(prompt: str, actions: Sequence[str], table: Mapping[str, str]) -> str:
    """The prompt with words for actions appended; the prompt itself where the table has none for them."""
    words = ", ".join(table[a] for a in actions if a in table)
    return f"{prompt.rstrip('. ')}. {words}" if words else prompt
