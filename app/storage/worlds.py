"""Worlds that can be entered again: a prompt, a seed, a model and, if there was one, a start picture, with a thumbnail."""

from __future__ import annotations

import logging
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from engine.assets import FOLDER
from engine.documents import DocumentError, OpenDocument, Text, read_document, read_document_file
from engine.files import claim_file, drop_empty, first_line, write_whole
from engine.models.catalogue import DEFAULT

log = logging.getLogger(__name__)
BUNDLED, LAST = "worlds", "last"


@dataclass(frozen=True)
class World:
    """thumbnail, begin: files, or None."""

    name: str
    prompt: str
    seed: int
    model: str = DEFAULT
    begin: Path | None = None
    thumbnail: Path | None = None
    file: Path | None = None
    loop: Path | None = None
    """A short moving picture of it, a WebP."""
    own: bool = False
    """The person's own: it can be renamed and deleted."""


@dataclass(frozen=True)
class PastSession:
    """A session's folder, with what it was."""

    folder: Path
    model: str
    prompt: str
    seed: int
    seconds: float
    began: float = 0.0
    """Unix time."""


class WorldFile(OpenDocument):
    """A world as a file. Its thumbnail is the .png of the same name."""

    schema_version: Literal[1] = 1
    name: str | None = None
    """Shown in the list; the file's name where there is none."""
    prompt: Text
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    model: str | None = None
    """Name or folder of the model; the default where there is none."""
    begin: str | None = None
    """File of the start picture, relative to this one."""


class FirstLine(OpenDocument):
    """What the list of sessions needs of a log."""

    model: str
    prompt: str
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    t0_wall: float = 0.0


class End(OpenDocument):
    """What the list of sessions needs of a summary."""

    frames_shown: Annotated[int, Field(ge=0, le=2**53)]
    fps: Annotated[float, Field(ge=0.01)] = 16.0


WORLD_FILE = TypeAdapter(WorldFile)
FIRST_LINE, END = TypeAdapter(FirstLine), TypeAdapter(End)
LOG, SUMMARY = "events.jsonl", "summary.json"


def read_world(file: Path) -> World:
    """Raises DocumentError or FileError."""
    data = read_document_file(WORLD_FILE, file)
    picture = file.with_suffix(".png")
    return World(
        data.name or file.stem,
        data.prompt,
        data.seed,
        data.model or DEFAULT,
        _beside(file, data.begin) if data.begin else None,
        picture if picture.exists() else None,
        file,
        loop if (loop := file.with_suffix(".webp")).exists() else None,
        own=not file.is_relative_to(FOLDER),
    )


def _beside(file: Path, name: str) -> Path:
    """The start picture of a world: a file in the world's own folder. A world that somebody sends names no other file of the
    machine. Raises DocumentError."""
    wanted, folder = file.parent / name, file.parent
    try:
        if wanted.resolve().is_relative_to(folder.resolve()):
            return wanted
    except (OSError, ValueError, RuntimeError):  # a loop of links, a name that is none
        pass
    raise DocumentError(f"{file}: begin: {name[:100]!r} is not a file in the world's own folder")


def worlds(home: Path | None) -> list[World]:
    """The person's own, the newest first, then those that ship. Files that cannot be read are left out."""
    own = sorted((home / "worlds").glob("*.json"), key=_newest_first) if home is not None else []
    bundled = sorted(Path(str(FOLDER / BUNDLED)).glob("*.json"))
    out = []
    for file in [*own, *bundled]:
        try:
            out.append(read_world(file))
        except (OSError, ValueError) as e:
            log.warning("a world is left out of the list: %s", e)
    return out


def _newest_first(file: Path) -> float:
    try:
        return -file.lstat().st_mtime
    except OSError:
        return 0.0


def save_world(home: Path, world: World, thumbnail: bytes, place: tuple[str, bytes] | None = None) -> Path:
    """Writes a world, its thumbnail (PNG) and what it begins from; returns its file. place: suffix and content of a file
    that it begins from; None: a copy of its start picture, if there is one. Raises OSError.
    """
    folder = home / "worlds"
    stem = re.sub(r"[^\w-]+", "-", world.name).strip("-").encode()[:60].decode(errors="ignore") or "world"
    file = claim_file(folder / f"{stem}.json")
    try:
        begin = None
        if place is not None:
            begin = f"{file.stem}-begin{place[0]}"
            write_whole(folder / begin, place[1])
        elif world.begin is not None:
            begin = f"{file.stem}-begin{world.begin.suffix}"
            shutil.copyfile(world.begin, folder / begin)
        write_whole(file.with_suffix(".png"), thumbnail)
        data = WorldFile(name=world.name, prompt=world.prompt, seed=world.seed, model=world.model, begin=begin)
        write_whole(file, (data.model_dump_json(indent=1) + "\n").encode())
    finally:
        drop_empty(file)
    return file


def keep_place(home: Path, world: World, thumbnail: bytes, place: tuple[str, bytes]) -> None:
    """Keeps where a person was when they left. place: see `save_world`. Raises OSError."""
    folder = home / LAST
    begin = f"world-begin{place[0]}"
    write_whole(folder / begin, place[1])
    write_whole(folder / "world.png", thumbnail)
    about = WorldFile(prompt=world.prompt, seed=world.seed, model=world.model, begin=begin)
    write_whole(folder / "world.json", (about.model_dump_json(indent=1) + "\n").encode())


def kept_place(home: Path, session: PastSession) -> World | None:
    """Where the person was when they left this session, their last one; None where that was not kept, or cannot be read."""
    file = home / LAST / "world.json"
    try:
        return read_world(file) if file.stat().st_mtime >= session.began else None
    except (OSError, ValueError) as e:
        log.info("the last place is not kept: %s", e)
        return None


def rename_world(world: World, name: str) -> None:
    """Another name for one of the person's own. Raises DocumentError or OSError."""
    assert world.file is not None and world.own
    data = read_document(WORLD_FILE, world.file.read_bytes(), str(world.file))
    text = data.model_copy(update={"name": name}).model_dump_json(indent=1)
    part = world.file.with_suffix(".part")
    part.write_text(text + "\n", encoding="utf-8")
    os.replace(part, world.file)


def delete_world(world: World) -> None:
    """One of the person's own, with its pictures. Raises OSError."""
    assert world.file is not None and world.own
    for file in (world.thumbnail, world.loop, world.begin, world.file):
        if file is not None and file.parent == world.file.parent:
            file.unlink(missing_ok=True)


def sessions(home: Path | None, most: int = 30) -> list[PastSession]:
    """Past sessions, the newest first; those without a readable log are left out."""
    if home is None:
        return []
    out: list[PastSession] = []
    for folder in sorted((home / "sessions").glob("*"), reverse=True):
        try:
            head = read_document(FIRST_LINE, first_line(folder / LOG), str(folder / LOG))
        except ValueError as e:
            log.info("a session is left out of the list: %s", e)
            continue
        out.append(PastSession(folder, head.model, head.prompt, head.seed, _seconds(folder / SUMMARY), head.t0_wall))
        if len(out) >= most:
            break
    return out


def _seconds(summary: Path) -> float:
    """Of film that a session showed; 0 where its end was not written, or not whole."""
    try:
        end = read_document_file(END, summary)
    except ValueError:
        return 0.0
    return end.frames_shown / end.fps
