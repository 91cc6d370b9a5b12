"""What a person made: recordings and pictures in their folders, the newest first."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

FOLDERS = ("films", "pictures")
FILMS = (".mp4",)
PICTURES = (".png", ".webp", ".svg", ".gif", ".jpg")
FORBIDDEN = '/\\:*?"<>|'
"""In a name, on one system or another."""


@dataclass(frozen=True)
class Made:
    """A file that the program wrote."""

    file: Path
    size: int
    """Bytes."""
    at: float
    """When it was written, seconds since 1970."""

    @property
    def film(self) -> bool:
        return self.file.suffix.lower() in FILMS


def made(home: Path) -> list[Made]:
    """All of them; empty files, which are being written, and hidden ones are left out."""
    out = []
    for folder in FOLDERS:
        try:
            files = list((home / folder).iterdir())
        except OSError:
            continue
        for file in files:
            if file.suffix.lower() not in (*FILMS, *PICTURES) or file.name.startswith("."):
                continue
            try:
                told = file.stat()
            except OSError:
                continue  # it has just gone
            if told.st_size:
                out.append(Made(file, told.st_size, told.st_mtime))
    return sorted(out, key=lambda m: -m.at)


def rename(entry: Made, name: str) -> Path:
    """Another name in the same folder, with the same ending. Raises ValueError for what cannot be a name, OSError."""
    name = name.strip()
    if not name or name.startswith(".") or any(c in FORBIDDEN or ord(c) < 32 for c in name):
        raise ValueError(f"“{name}” cannot be the name of a file")
    new = entry.file.with_name(name.removesuffix(entry.file.suffix) + entry.file.suffix)
    if new == entry.file:
        return new
    os.link(entry.file, new)  # fails where there is one of this name; a rename would write over it
    entry.file.unlink()
    return new
