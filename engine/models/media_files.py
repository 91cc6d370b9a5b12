"""Pictures and films from files, at a model's size and rate: what a world can begin from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import Refused
from engine.models.interface import ModelSpec

FILMS = (".mp4", ".mkv", ".webm", ".mov", ".avi", ".m4v")
PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif", ".tif", ".tiff")


class MediaError(Refused):
    """A picture or film that cannot be read. The message names the file and the reason."""


def is_film(file: Path) -> bool:
    """Whether a file's name is that of a film."""
    return file.suffix.lower() in FILMS


def fitted(image: Any, spec: ModelSpec) -> NDArray[np.uint8]:
    """A PIL image, turned as its camera says, scaled and cropped about its middle to the model's size."""
    from PIL import ImageOps

    return np.asarray(ImageOps.fit(ImageOps.exif_transpose(image).convert("RGB"), (spec.width, spec.height)))


def read_picture(file: Path, spec: ModelSpec) -> NDArray[np.uint8]:
    """(height, width, 3) uint8. Raises MediaError."""
    from PIL import Image

    try:
        with Image.open(file) as image:
            return fitted(image, spec)
    except (OSError, ValueError, Image.DecompressionBombError) as e:
        raise MediaError(f"{file} cannot be read as a picture ({e}): PNG, JPEG and WebP can") from e


def read_still(file: Path, spec: ModelSpec) -> NDArray[np.uint8]:
    """A picture, or the last one of a film, (height, width, 3) uint8. Raises MediaError."""
    return read_film(file, spec, 1)[-1] if is_film(file) else read_picture(file, spec)


def read_film(file: Path, spec: ModelSpec, most: int) -> NDArray[np.uint8]:
    """The last 1 + 4 n <= `most` frames of a film at the model's rate, (n, height, width, 3) uint8. Raises MediaError."""
    import av

    pictures = []
    try:
        with av.open(str(file)) as box:
            due = 0.0
            for frame in box.decode(box.streams.video[0]):
                t = float(frame.time or 0.0)
                while t >= due - 1e-6:
                    pictures.append(fitted(frame.to_image(), spec))
                    due += 1 / spec.fps
                    pictures = pictures[-most:]
    except (av.FFmpegError, OSError, IndexError) as e:
        raise MediaError(f"{file} cannot be read as a film ({e})") from e
    if not pictures:
        raise MediaError(f"{file} has no pictures")
    return np.stack(pictures[-(1 + (len(pictures) - 1) // 4 * 4) :])
