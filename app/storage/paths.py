"""Where things of the person are kept."""

from __future__ import annotations

import os
from pathlib import Path


def data_folder() -> Path:
    """Sessions and settings: FORELAND_HOME, or foreland/ in the user's data folder."""
    if home := os.environ.get("FORELAND_HOME"):
        return Path(home)
    base = os.environ.get("XDG_DATA_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".local" / "share"
    return Path(base) / "foreland"


def words_file() -> Path:
    """The person's own table of what keys mean in words, for models without a camera."""
    return data_folder() / "action-words.json"


def embeddings_folder() -> Path:
    """Cached prompt embeddings."""
    return data_folder() / "embeddings"
