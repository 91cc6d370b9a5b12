"""Files of a person: read within limits, written whole or not at all, and named so that none takes the place of another."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from engine.errors import Refused

PRIVATE = 0o600
"""Mode of what only the person may read: it holds prompts, and when which key was held."""
PRIVATE_FOLDER = 0o700
MOST_TEXT = 4_000_000
"""Bytes of a script, a score, a world, preferences or settings of a model; published configurations have some 10 KB."""


class FileError(Refused):
    """A file that cannot be read. One line, with the file's name and the reason."""


def check_regular(file: Path) -> os.stat_result:
    """What the system knows of a file that can be read to its end. Raises FileError: a pipe or a device may have none."""
    try:
        found = file.stat()
    except (OSError, ValueError) as e:
        raise FileError(f"{_named(file)} cannot be read: {_reason(e)}") from e
    if not stat.S_ISREG(found.st_mode):
        kind = "a folder" if stat.S_ISDIR(found.st_mode) else "no ordinary file"
        raise FileError(f"{_named(file)} cannot be read: it is {kind}")
    return found


def read_bytes(file: Path, most: int = MOST_TEXT) -> bytes:
    """The whole of an ordinary file of at most `most` bytes. Raises FileError."""
    check_regular(file)
    try:
        with file.open("rb") as opened:
            data = opened.read(most + 1)
    except OSError as e:
        raise FileError(f"{_named(file)} cannot be read: {_reason(e)}") from e
    if len(data) > most:
        raise FileError(f"{_named(file)} cannot be read: it has more than {most:,} bytes")
    return data


def first_line(file: Path, most: int = 65_536) -> bytes:
    """The first line of an ordinary file, of at most `most` bytes. Raises FileError."""
    check_regular(file)
    try:
        with file.open("rb") as opened:
            return opened.readline(most)
    except OSError as e:
        raise FileError(f"{_named(file)} cannot be read: {_reason(e)}") from e


def read_text(file: Path, most: int = MOST_TEXT) -> str:
    """The text of a file in UTF-8, with or without a byte order mark. Raises FileError."""
    try:
        return read_bytes(file, most).decode("utf-8-sig")
    except UnicodeDecodeError as e:
        raise FileError(f"{_named(file)} is not text in UTF-8: byte {e.start} is wrong") from e


def write_whole(file: Path, data: bytes, mode: int = PRIVATE) -> None:
    """Writes a file so that it is there whole or as it was before, also after a loss of power. Raises OSError."""
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{file.name[:40]}.", suffix=".part", dir=file.parent)
    try:
        with os.fdopen(handle, "wb") as part:
            part.write(data)
            part.flush()
            os.fsync(part.fileno())
        os.chmod(name, mode)
        os.replace(name, file)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
    _sync_folder(file.parent)


def _sync_folder(folder: Path) -> None:
    """The name of a new file is on the disk too, where the system can say so."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _names(wanted: Path) -> Iterator[Path]:
    yield wanted
    n = 1
    while True:
        n += 1
        yield wanted.with_name(f"{wanted.stem}-{n}{wanted.suffix}")


def claim_file(wanted: Path) -> Path:
    """Makes an empty file of this name, or of the next that is free (`name-2.png`), and its folder. Raises OSError."""
    wanted.parent.mkdir(parents=True, exist_ok=True)
    for file in _names(wanted):
        try:
            os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE))
        except FileExistsError:
            continue
        return file
    raise AssertionError("names do not end")


def claim_folder(wanted: Path) -> Path:
    """Makes an empty folder of this name, or of the next that is free. Raises OSError."""
    wanted.parent.mkdir(parents=True, exist_ok=True)
    for folder in _names(wanted):
        try:
            folder.mkdir(PRIVATE_FOLDER)
        except FileExistsError:
            continue
        return folder
    raise AssertionError("names do not end")


def drop_empty(file: Path) -> None:
    """Takes back the name of a file that nothing was written to."""
    with contextlib.suppress(OSError):
        if file.stat().st_size == 0:
            file.unlink()


def refuse_unwritable(file: Path) -> None:
    """Tries whether a file can be written there, and leaves what is there as it is. Makes its folder. Raises OSError."""
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        there = file.stat()
    except FileNotFoundError:
        file.open("xb").close()
        file.unlink()
        return
    if not stat.S_ISREG(there.st_mode):
        raise OSError("it is a folder" if stat.S_ISDIR(there.st_mode) else "it is no ordinary file")
    file.open("ab").close()


def is_text(text: str) -> bool:
    """Whether a text can be written and read: halves of a surrogate pair, which some keyboards and files send, cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _named(file: Path) -> str:
    name = str(file)
    return ascii(name if len(name) <= 300 else name[:300] + "...")[1:-1] if not name.isprintable() else name[:300]


def _reason(e: Exception) -> str:
    return (e.strerror or str(e)) if isinstance(e, OSError) else str(e)
