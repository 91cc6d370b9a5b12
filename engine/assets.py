"""Where the data that ships with the program lies."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "assets"
"""Beside `engine/`, in a checkout as in an installation."""
