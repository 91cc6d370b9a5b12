"""The data that ships with the program: where it lies, and the prompts to choose from."""

from __future__ import annotations

from pathlib import Path

from pydantic import TypeAdapter

from engine.documents import Text, read_document

FOLDER = Path(__file__).resolve().parent.parent / "assets"
"""Beside `engine/`, in a checkout as in an installation."""
PRESETS_FILE = TypeAdapter(list[Text])


def prompt_presets() -> list[str]:
    """Prompts that the window suggests and benchmarks draw from."""
    file = FOLDER / "presets.json"
    return read_document(PRESETS_FILE, file.read_text("utf-8"), str(file))
