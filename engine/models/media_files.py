"""Pictures and films from files, at a model's size and rate: what a world can begin from.

Reading may take a while, and the engine thread must not: another thread reads first, and what it read last is kept for the sampler.
"""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.models.films import Watch, read_film
from engine.models.interface import ModelSpec
from engine.models.pictures import MediaError as MediaError
from engine.models.pictures import read_picture

FILMS = (
    ".mp4",
    ".mkv",
    ".webm",
    ".mov",
    ".avi",
    ".m4v",
    ".ts",
    ".mts",
    ".m2ts",
    ".3gp",
    ".mpg",
    ".mpeg",
    ".ogv",
    ".wmv",
)
PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".avif", ".heic", ".heif", ".bmp", ".gif", ".tif", ".tiff")


def is_film(file: Path) -> bool:
    """Whether a file's name is that of a film."""
    return file.suffix.lower() in FILMS


_Key = tuple[object, ...]


class _Last:
    """What was read last, or why it could not be."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._key: _Key | None = None
        self._made: NDArray[np.uint8] | MediaError | None = None

    def get(self, key: _Key) -> NDArray[np.uint8] | MediaError | None:
        with self._lock:
            return self._made if key == self._key else None

    def keep(self, key: _Key, made: NDArray[np.uint8] | MediaError) -> None:
        with self._lock:
            self._key, self._made = key, made


_last = _Last()


def read_start(file: Path, spec: ModelSpec, frames: int = 1, watch: Watch | None = None) -> NDArray[np.uint8]:
    """A picture, or the last 1 + 4 n <= `frames` ones of a film, (n, height, width, 3) uint8. What was read last is not read again.

    Raises MediaError, and what `watch` raises.
    """
    size = (spec.width, spec.height)
    try:
        there = file.stat()
    except (OSError, ValueError) as e:
        reason = e.strerror if isinstance(e, OSError) else e
        raise MediaError(f"{str(file)[:300]} cannot be read: {reason}") from e
    key = (file.absolute(), there.st_mtime_ns, there.st_size, size, spec.fps, frames)
    made = _last.get(key)
    if made is None:
        try:
            made = read_film(file, size, spec.fps, frames, watch) if is_film(file) else read_picture(file, size)[None]
        except MediaError as e:
            made = e
        _last.keep(key, made)
    if isinstance(made, MediaError):
        raise MediaError(str(made)) from made
    return made


def read_still(file: Path, spec: ModelSpec) -> NDArray[np.uint8]:
    """A picture, or the last one of a film, (height, width, 3) uint8. Raises MediaError."""
    return read_start(file, spec)[-1]
