"""Worlds that can be entered again: a prompt, a seed, a model and, if there was one, a start picture, with a thumbnail."""

from __future__ import annotations

import json
import logging
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from engine.assets import FOLDER
from engine.documents import OpenDocument, Text, read_document
from engine.models.catalogue import DEFAULT

log = logging.getLogger(__name__)
BUNDLED = "worlds"


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


@dataclass(frozen=True)
class PastSession:
    """A session's folder, with what it was."""

    folder: Path
    model: str
    prompt: str
    seed: int
    seconds: float


class WorldFile(OpenDocument):
    """A world as a file. Its thumbnail is the .png of the same name."""

    schema_version: Literal[1] = 1
    name: str | None = None
    """Shown in the list; the file's name where there is none."""
    prompt: Text
    seed: Annotated[int, Field(ge=0)]
    model: str | None = None
    """Name or folder of the model; the default where there is none."""
    begin: str | None = None
    """File of the start picture, relative to this one."""


WORLD_FILE = TypeAdapter(WorldFile)


def read_world(file: Path) -> World:
    """Raises DocumentError or OSError."""
    data = read_document(WORLD_FILE, file.read_bytes(), str(file))
    picture = file.with_suffix(".png")
    return World(
        data.name or file.stem,
        data.prompt,
        data.seed,
        data.model or DEFAULT,
        file.parent / data.begin if data.begin else None,
        picture if picture.exists() else None,
        file,
    )


def worlds(home: Path | None) -> list[World]:
    """The person's own, the newest first, then those that ship. Files that cannot be read are left out."""
    own = sorted((home / "worlds").glob("*.json"), key=lambda f: -f.stat().st_mtime) if home is not None else []
    bundled = sorted(Path(str(FOLDER / BUNDLED)).glob("*.json"))
    out = []
    for file in [*own, *bundled]:
        try:
            out.append(read_world(file))
        except (OSError, ValueError) as e:
            log.warning("a world is left out of the list: %s", e)
    return out


def save_world(home: Path, world: World, thumbnail: bytes) -> Path:
    """Writes a world, its thumbnail (PNG) and a copy of its start picture; returns its file. Raises OSError."""
    folder = home / "worlds"
    folder.mkdir(parents=True, exist_ok=True)
    stem = re.sub(r"[^\w-]+", "-", world.name).strip("-")[:60] or "world"
    file, n = folder / f"{stem}.json", 1
    while file.exists():
        n += 1
        file = folder / f"{stem}-{n}.json"
    begin = None
    if world.begin is not None:
        begin = f"{file.stem}-begin{world.begin.suffix}"
        shutil.copyfile(world.begin, folder / begin)
    file.with_suffix(".png").write_bytes(thumbnail)
    data = WorldFile(name=world.name, prompt=world.prompt, seed=world.seed, model=world.model, begin=begin)
    file.write_text(data.model_dump_json(indent=1) + "\n", encoding="utf-8")
    return file


def sessions(home: Path | None, most: int = 30) -> list[PastSession]:
    """Past sessions, the newest first; those without a readable log are left out."""
    if home is None:
        return []
    out: list[PastSession] = []
    for folder in sorted((home / "sessions").glob("*"), reverse=True):
        try:
            with (folder / "events.jsonl").open(encoding="utf-8") as f:
                head = json.loads(f.readline())
            seconds = 0.0
            if (folder / "summary.json").exists():
                summary = json.loads((folder / "summary.json").read_text("utf-8"))
                seconds = float(summary.get("frames_shown", 0)) / float(summary.get("fps", 16) or 16)
            out.append(PastSession(folder, head["model"], head["prompt"], int(head["seed"]), seconds))
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if len(out) >= most:
            break
    return out
