"""A world as one file to send: a zip archive with the world's JSON, its thumbnail, and the picture or place that it begins from."""

from __future__ import annotations

import io
import lzma
import re
import struct
import zipfile
import zlib
from pathlib import Path

from app.storage.worlds import WORLD_FILE, World, WorldFile, read_world, save_world
from engine.documents import DocumentError, read_document
from engine.files import check_regular, write_whole
from engine.models.catalogue import DEFAULT
from engine.models.media_files import FILMS, PICTURES

SUFFIX = ".foreland"
MANIFEST, THUMBNAIL, BEGIN = "world.json", "thumbnail.png", "begin"
PLACE = ".place"
"""Suffix of a place that a model of this program keeps: numbers, read through safetensors."""
BEGINNINGS = (PLACE, *PICTURES, *FILMS)
MOST_MEMBERS = 16
MOST_TEXT, MOST_THUMBNAIL, MOST_BEGINNING = 65_536, 16_000_000, 512_000_000
"""Bytes that are unpacked of a member; one with more is refused, whatever it says of its size."""
NAME = re.compile(r"[\w.-]{1,100}")
"""Of a model. A folder of the sender's machine says nothing here, and could name a server."""
DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    NotImplementedError,
    RuntimeError,
    OverflowError,
    UnicodeError,
)
"""What reading a damaged archive raises."""
PNG = b"\x89PNG\r\n\x1a\n"


def write_archive(file: Path, world: World, thumbnail: bytes, place: tuple[str, bytes] | None = None) -> None:
    """thumbnail: a PNG. place: suffix and content of a file that the world begins from; None: its start picture, if there is one.
    Raises OSError.
    """
    begin = place
    if place is None and world.begin is not None:
        begin = world.begin.suffix.lower(), world.begin.read_bytes()
    name = None if begin is None else BEGIN + begin[0]
    about = WorldFile(name=world.name, prompt=world.prompt, seed=world.seed, model=world.model, begin=name)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MANIFEST, about.model_dump_json(indent=1) + "\n")
        archive.writestr(THUMBNAIL, thumbnail)
        if begin is not None and name is not None:
            archive.writestr(name, begin[1])
    write_whole(file, packed.getvalue())


def open_archive(file: Path, home: Path) -> World:
    """Copies a world that somebody sent to the person's own worlds, and reads it there. Nothing of the archive is run, and none of its
    names is used as a path. Raises DocumentError, FileError or OSError; nothing is kept then.
    """
    check_regular(file)
    try:
        with zipfile.ZipFile(file) as archive:
            if len(archive.infolist()) > MOST_MEMBERS:
                raise DocumentError(f"{file} is not a world of Foreland: it has {len(archive.infolist())} members")
            text = _member(archive, MANIFEST, MOST_TEXT, file)
            about = read_document(WORLD_FILE, text, f"{file}: {MANIFEST}")
            thumbnail = _member(archive, THUMBNAIL, MOST_THUMBNAIL, file)
            place = None
            if about.begin is not None:
                suffix = about.begin.removeprefix(BEGIN)
                if about.begin != BEGIN + suffix or suffix not in BEGINNINGS:
                    raise DocumentError(f"{file}: begin: {about.begin[:100]!r} is not the beginning of a world")
                place = suffix, _member(archive, about.begin, MOST_BEGINNING, file)
    except DAMAGED as e:
        raise DocumentError(f"{file} is not a world of Foreland: {e}") from e
    if about.model is not None and not NAME.fullmatch(about.model):
        raise DocumentError(f"{file}: model: {about.model[:100]!r} is not the name of a model")
    if not thumbnail.startswith(PNG):
        raise DocumentError(f"{file}: {THUMBNAIL} is not a PNG")
    world = World(about.name or file.stem, about.prompt, about.seed, about.model or DEFAULT)
    return read_world(save_world(home, world, thumbnail, place))


def _member(archive: zipfile.ZipFile, name: str, most: int, file: Path) -> bytes:
    """Raises DocumentError where there is none, or it is larger than it may be."""
    try:
        with archive.open(name) as member:
            data = member.read(most + 1)
    except KeyError as e:
        raise DocumentError(f"{file} is not a world of Foreland: {name} is missing") from e
    if len(data) > most:
        raise DocumentError(f"{file}: {name} has more than {most:,} bytes")
    return data


__all__ = ["SUFFIX", "open_archive", "write_archive"]
