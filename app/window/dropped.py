"""What is dropped or pasted, as a file that a world can start from."""

from __future__ import annotations

import time
from pathlib import Path

from PySide6.QtCore import QMimeData, QUrl
from PySide6.QtGui import QImage

from app.language import tr
from app.storage.world_archive import SUFFIX
from engine.errors import Refused
from engine.files import claim_file, drop_empty
from engine.models.media_files import FILMS, PICTURES

KNOWN = (*PICTURES, *FILMS)


def may_start(data: QMimeData) -> bool:
    """Whether there may be something in it: what is not, is said when it is dropped."""
    return data.hasUrls() or data.hasImage() or _local_text(data) is not None


def world_file(data: QMimeData) -> Path | None:
    """A world in a local file, if that is what was dropped."""
    local = [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]
    return next((file for file in local if file.suffix.lower() in (SUFFIX, ".json")), None)


def start_file(data: QMimeData, folder: Path) -> Path:
    """A local file of a kind that is known, or a picture, which is saved in `folder` first. Raises Refused."""
    local = [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]
    if (text := _local_text(data)) is not None:
        local.append(text)
    for file in local:
        if file.suffix.lower() in KNOWN:
            return file
    if data.hasImage():
        return _saved(data.imageData(), folder)
    if local:
        raise Refused(
            tr("{name} is not a picture or film of a known kind: {kinds}", name=local[0].name, kinds=", ".join(KNOWN))
        )
    raise Refused(
        tr("a world starts from a picture or a film of this machine: save it first, or copy the picture itself")
    )


def _local_text(data: QMimeData) -> Path | None:
    """The path or file: address that is all of a text."""
    text = data.text().strip() if data.hasText() else ""
    if "\n" in text or len(text) > 4096:
        return None
    if text.startswith("file:"):
        return Path(QUrl(text).toLocalFile())
    return Path(text) if text.startswith("/") and Path(text).suffix.lower() in KNOWN else None


def _saved(image: object, folder: Path) -> Path:
    picture = image if isinstance(image, QImage) else QImage(image)  # type: ignore[call-overload]
    problem = tr("the picture could not be written to {folder}: {reason}")
    try:
        file = claim_file(folder / time.strftime("pasted-%Y-%m-%d-%H%M%S.png"))
    except OSError as e:
        raise Refused(problem.format(folder=folder, reason=e.strerror)) from e
    if picture.isNull() or not picture.save(str(file)):
        drop_empty(file)
        raise Refused(problem.format(folder=folder, reason=tr("it is not an image, or the disk is full")))
    return file
