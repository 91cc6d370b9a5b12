"""Still pictures from files, as a viewer shows them: depth, alpha, orientation, colour profile, whatever the file has."""

from __future__ import annotations

import io
import logging
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import Refused
from engine.files import FileError, check_regular, read_bytes

log = logging.getLogger(__name__)

MOST_PIXELS = 100_000_000
"""Of a picture: twice the largest cameras; more is refused before it is decoded."""
MOST_BYTES = 500_000_000
PAPER = (255, 255, 255)
"""What is seen through a transparent picture."""


class MediaError(Refused):
    """A picture or film that cannot be read. The message names the file and the reason."""


def read_picture(file: Path, size: tuple[int, int]) -> NDArray[np.uint8]:
    """A picture scaled and cropped about its middle to `size`, (width, height): (height, width, 3) uint8. Of an animation, the first
    one. Raises MediaError."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        check_regular(file)
        data = io.BytesIO(read_bytes(file, MOST_BYTES))
        _add_heif()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the size is judged here
            with Image.open(data) as image:
                if image.width * image.height > MOST_PIXELS:
                    raise MediaError(
                        f"{file} cannot be read as a picture: it has {image.width}x{image.height} pixels, "
                        f"{MOST_PIXELS // 1_000_000} million are the most"
                    )
                image.draft("RGB", (2 * size[0], 2 * size[1]))  # a JPEG is decoded no larger than needed
                whole = ImageOps.exif_transpose(image)
                return np.asarray(ImageOps.fit(in_colour(whole), size))
    except (MediaError, FileError) as e:
        raise e if isinstance(e, MediaError) else MediaError(str(e)) from e
    except (
        Exception
    ) as e:  # Pillow raises errors of many kinds for what is damaged, SyntaxError and struct.error among them
        unknown = isinstance(e, UnidentifiedImageError)
        reason = "it is not a picture of a known kind" if unknown else str(e) or type(e).__name__
        raise MediaError(
            f"{file} cannot be read as a picture ({reason[:200]}): PNG, JPEG, WebP and AVIF can{_advice(file)}"
        ) from e


def _advice(file: Path) -> str:
    heif = file.suffix.lower() in (".heic", ".heif")
    return "; for HEIC install pillow-heif, or save it as JPEG" if heif else ""


def _add_heif() -> None:
    """HEIC, where the package for it is installed."""
    try:
        import pillow_heif
    except ImportError:
        return
    pillow_heif.register_heif_opener()


def in_colour(image: Any) -> Any:
    """A PIL image of any mode as 8-bit sRGB over `PAPER`."""
    from PIL import Image

    if image.mode.startswith("I") or image.mode == "F":
        return Image.fromarray(_grey(np.asarray(image))).convert("RGB")
    if "A" in image.getbands() or "transparency" in image.info:
        shown = _in_srgb(image.convert("RGBA"), image.info.get("icc_profile"))
        paper = Image.new("RGBA", image.size, (*PAPER, 255))
        return Image.alpha_composite(paper, shown).convert("RGB")
    return _in_srgb(image, image.info.get("icc_profile")).convert("RGB")


def _grey(values: NDArray[Any]) -> NDArray[np.uint8]:
    """Whole numbers of 16 bits, or floats in [0, 1] or [0, 255], as bytes."""
    x = np.nan_to_num(values.astype(np.float64))
    if np.issubdtype(values.dtype, np.integer):
        scale = 1.0 if x.max(initial=0) <= 255 and values.dtype.itemsize == 4 else 255 / 65535
    else:
        scale = 255.0 if x.max(initial=0) <= 1 else 1.0
    return np.clip(np.rint(scale * x), 0, 255).astype(np.uint8)


def _in_srgb(image: Any, profile: bytes | None) -> Any:
    """By the picture's colour profile; as it is where it has none, or one that cannot be used."""
    if not profile:
        return image
    from PIL import ImageCms

    try:
        mode = "RGBA" if image.mode == "RGBA" else "RGB"
        source, target = ImageCms.ImageCmsProfile(io.BytesIO(profile)), ImageCms.createProfile("sRGB")
        return ImageCms.profileToProfile(image, source, target, outputMode=mode) or image
    except (ImageCms.PyCMSError, OSError, ValueError) as e:
        log.info("a picture's colour profile cannot be used: %s", e)
        return image
