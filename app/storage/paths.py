"""Where things of the person are kept."""

from __future__ import annotations

from pathlib import Path

from engine.user_data import data_folder as data_folder


def words_file() -> Path:
    """The person's own table of what keys mean in words, for models without a camera."""
    return data_folder() / "action-words.json"


def embeddings_folder() -> Path:
    """Cached prompt embeddings."""
    return data_folder() / "embeddings"
