"""Where things of the person are kept."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import platformdirs


def private() -> bool:
    """Whether prompts and keys are written nowhere: FORELAND_PRIVATE is set, and not to 0."""
    return os.environ.get("FORELAND_PRIVATE", "0") not in ("", "0")


def data_folder() -> Path:
    """Sessions, films, settings and logs: FORELAND_HOME, or the place that the system has for an application's data.

    Versions before 0.3 used ~/.local/share/foreland on a Mac too: where that is there, it stays the place.
    """
    if home := os.environ.get("FORELAND_HOME"):
        return Path(home)
    before = Path.home() / ".local" / "share" / "foreland"
    if sys.platform == "darwin" and before.exists():
        return before
    return platformdirs.user_data_path("foreland", appauthor=False)
