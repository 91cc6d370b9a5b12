"""The catalogue of models: facts about published checkpoints, as data, and what a local folder holds.

Rows come from assets/models.json, from plug-ins and from the person's data folder (`engine.models.plugins`).
"""

from __future__ import annotations

import json
import logging
import os
from dataclasses import MISSING, dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, JsonValue, TypeAdapter, ValidationError

from engine.assets import FOLDER
from engine.documents import OpenDocument, read_document_file
from engine.errors import Refused
from engine.models.interface import HistoryPolicy, ModelSpec
from engine.models.plugins import Rows, added_rows, has_family

log = logging.getLogger(__name__)

MARK = "foreland.json"
"""A file in a checkpoint's folder that says which model of the catalogue it is, and what differs from it."""
INDEXES = ("modular_model_index.json", "model_index.json")
"""Files in which a diffusers folder says what it is; see `Entry.recognised_by`."""
GENERATOR = "wan2.1-t2v-1.3b-self-forcing"
"""What a lone weights file is taken for."""
TINY_MULTIPLE = 16
"""Sides of small random checkpoints' frames are multiples of this."""
LONGEST_SIDE = 4096


class UnknownModel(Refused):
    """Neither a name of the catalogue nor a folder or file that is there."""


DEFAULT = "pocket2"
"""The model where nobody names one."""


@dataclass(frozen=True)
class Entry:
    """A row of the catalogue: a model, what is known of it, and where it is from."""

    name: str
    title: str
    family: str
    """Which code runs it: see `engine.models.plugins`."""
    fps: float
    spans: tuple[int, int]
    size: tuple[int, int]
    """(width, height) in pixels, where nobody says otherwise."""
    windows: tuple[int, int]
    window: int
    steps: int
    history: tuple[HistoryPolicy, ...]
    layout: str = "diffusers"
    """How its files are laid out, for families that read several layouts."""
    repo: str = ""
    """On the hub; '' for a model that needs no download."""
    revision: str = ""
    """Commit of the repository, where it is not the newest one that is wanted."""
    licence: str = ""
    about_gb: float = 0.0
    """Size of the download, roughly; the hub is asked before one."""
    memory_gb: float = 0.0
    """Memory that it takes of a GPU, at least; 0 for a model that runs on a CPU."""
    sizes: tuple[tuple[int, int], ...] = ()
    """Sizes that it was trained at, the first the usual one."""
    multiple: int | None = 32
    """Both sides of a frame are multiples of this; None: it makes frames of `sizes` only."""
    trained: tuple[int, ...] = ()
    recipe: dict[str, Any] = field(default_factory=dict)
    """How it is sampled; the family's business, but for `keys`: 'words' says that held keys are put into words."""
    network: dict[str, Any] = field(default_factory=dict)
    """How large it is, for plans before a download; the family's business (`engine.models.fit`)."""
    files: tuple[str, ...] = ()
    """Files of the repository that are needed; none: those of `needs`."""
    needs: tuple[str, ...] = ()
    """Patterns of the files of the repository that are needed; none: the whole repository."""
    weights: str | None = None
    """Of `files`, the one with the weights."""
    inside: str = ""
    """Of a dictionary of training code, the name of the weights that its authors use, where it may hold others too."""
    lora: str | None = None
    """Of `files`, a LoRA that is merged into them."""
    base: str | None = None
    """The row whose text encoder and VAE it uses."""
    notes: tuple[str, ...] = ()
    where: Path | None = None
    """A local folder or file instead of the hub."""
    head_dim: int = 128
    """For original files, which do not say it."""
    grid: tuple[int, int] = (1, 0)
    sound_rate: int = 0
    text_limit: int = 2000
    phase: int = 1
    phase_offset: int = 0
    block: int = 1
    short_answers: bool = False
    """See `ModelSpec.short_answers`."""
    recognised_by: tuple[dict[str, Any], ...] = ()
    """What the index of a diffusers folder of this model says, among other things; any one of these."""
    scale: dict[str, Any] = field(default_factory=dict)
    """Of a small random checkpoint: what is smaller than in the published one."""
    source: str = "Foreland"
    """Who adds the row."""

    @property
    def ships(self) -> bool:
        """Whether there is nothing to download."""
        return not self.repo

    def spec(self, size: tuple[int, int] | None = None) -> ModelSpec:
        """What the controller and the window need to know. Raises ValueError for a size that the model cannot make."""
        width, height = self._checked(size or self.size)
        notes = list(self.notes)
        if self.recipe.get("keys") == "words":
            notes.append(
                "no camera input: held keys are put into words (`foreland models words` says where to change them)"
            )
        return ModelSpec(
            self.name,
            width,
            height,
            self.fps,
            self.spans,
            self.windows,
            self.window,
            self.steps,
            self.history,
            text_limit=self.text_limit,
            trained=self.trained,
            negative=self.recipe.get("guidance", 1.0) != 1.0,
            notes=tuple(notes),
            sound_rate=self.sound_rate,
            grid=self.grid,
            phase=self.phase,
            phase_offset=self.phase_offset,
            block=self.block,
            camera=self.recipe.get("keys") != "words",
            short_answers=self.short_answers,
        )

    def _checked(self, size: tuple[int, int]) -> tuple[int, int]:
        width, height = size
        if self.multiple is None:
            if size not in (known := self.sizes or (self.size,)):
                raise ValueError(f"{self.name} is {' or '.join(f'{w}x{h}' for w, h in known)} and nothing else")
            return size
        multiple = TINY_MULTIPLE if self.where is not None and self.scale else self.multiple
        sides = range(multiple, LONGEST_SIDE + 1, multiple)
        if width not in sides or height not in sides:
            near = tuple(max(multiple, round(x / multiple) * multiple) for x in size)
            raise ValueError(
                f"{width}x{height} is not a size that {self.name} makes: the nearest is {near[0]}x{near[1]}"
            )
        return size


@dataclass(frozen=True)
class Broken:
    """Rows that cannot be used."""

    source: str
    """Who adds them, and the row's name where it is one row."""
    error: str
    """Why, in one line."""

    def __str__(self) -> str:
        return f"{self.source}: {self.error}"


@dataclass(frozen=True)
class Catalogue:
    """All models that are known here."""

    entries: dict[str, Entry]
    broken: tuple[Broken, ...] = ()


class Mark(OpenDocument):
    """What MARK says."""

    model: str | None = None
    """A name of the catalogue."""
    size: tuple[Annotated[int, Field(ge=1, le=LONGEST_SIDE)], Annotated[int, Field(ge=1, le=LONGEST_SIDE)]] | None = (
        None
    )
    head_dim: Annotated[int, Field(ge=1, le=LONGEST_SIDE)] | None = None
    scale: dict[str, Any] | None = None


ENTRY = TypeAdapter(Entry)
MARK_FILE, INDEX_FILE = TypeAdapter(Mark), TypeAdapter(dict[str, JsonValue])
REQUIRED = {f.name for f in fields(Entry) if f.default is MISSING and f.default_factory is MISSING} - {"name"}
OF_FILES = {f.name for f in fields(Entry)} - {"name", "where", "scale", "source"}
"""What a row may say."""


def entry_of(name: str, row: dict[str, Any], source: str) -> Entry:
    """A row as an entry. Raises ValueError that says what is wrong with it."""
    if missing := sorted(REQUIRED - row.keys()):
        raise ValueError(f"the row has no {', '.join(missing)}")
    if unknown := sorted(row.keys() - OF_FILES):
        raise ValueError(f"the row has unknown entries: {', '.join(unknown)}")
    try:
        entry = ENTRY.validate_python({**row, "name": name, "source": source})
        entry.spec().check_window(entry.window)
    except ValidationError as e:
        first = e.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise ValueError(f"the row cannot be read ({place}: {first['msg']})"[:300]) from e
    except Refused as e:
        raise ValueError(f"the row cannot be read ({e})") from e
    except (TypeError, ValueError, IndexError, ArithmeticError) as e:
        raise ValueError(f"the row cannot be read ({str(e)[:200]})") from e
    return entry


def read_catalogue() -> Catalogue:
    """Rows of assets/models.json, then those that others add. The first of a name counts; what is broken is named, not raised."""
    shipped = Rows("Foreland", json.loads((FOLDER / "models.json").read_text("utf-8")))
    entries: dict[str, Entry] = {}
    broken: list[Broken] = []
    for file in [shipped, *added_rows()]:
        if file.error:
            broken.append(Broken(file.source, file.error))
        for name, row in file.rows.items():
            try:
                if name in entries:
                    raise ValueError(f"{entries[name].source} has a model of this name already")
                entry = entry_of(name, row, file.source)
                if not has_family(entry.family):
                    raise ValueError(f"no plug-in that is installed here brings the family {entry.family}")
            except ValueError as e:
                broken.append(Broken(f"{file.source}, {name}", str(e)))
            else:
                entries[name] = entry
    for problem in broken:
        log.warning("%s", problem)
    return Catalogue(entries, tuple(broken))


def load_catalogue() -> dict[str, Entry]:
    """Name to entry, of the rows that can be used."""
    return read_catalogue().entries


def find(name: str, like: str | None = None) -> Entry:
    """An entry by name, or for a local folder or file. like: the catalogue's entry that a local one is to be run as.

    Raises UnknownModel, and FileError or DocumentError for a folder whose files say nothing that can be read.
    """
    known = load_catalogue()
    if like is not None and like not in known:
        raise UnknownModel(f"unknown model {like!r}; known: {', '.join(known)}")
    if name in known:
        return known[name] if like is None else known[like]
    path = Path(os.path.expanduser(name))
    if not os.path.exists(path):
        raise UnknownModel(
            f"unknown model {name[:200]!r}: no such name and no such folder or file; known: {', '.join(known)}"
        )
    mark = Mark()
    if path.is_dir() and os.path.lexists(path / MARK):
        mark = read_document_file(MARK_FILE, path / MARK)
    wanted = like or mark.model or guess(path, known)
    if wanted not in known:
        raise UnknownModel(f"{path / MARK}: model: {wanted[:200]!r} is unknown; known: {', '.join(known)}")
    changes = {k: v for k in ("size", "head_dim", "scale") if (v := getattr(mark, k)) is not None}
    return replace(known[wanted], where=path.resolve(), **changes)


def guess(path: Path, known: dict[str, Entry]) -> str:
    """The entry that a folder or file looks like. Raises UnknownModel when it looks like none."""
    if path.is_file():
        return GENERATOR
    for index in INDEXES:
        if not os.path.lexists(path / index):
            continue
        data = read_document_file(INDEX_FILE, path / index)
        fits = [
            (len(said), e.name)
            for e in known.values()
            for said in e.recognised_by
            if all(k in data and data[k] == v for k, v in said.items())
        ]
        if fits:
            return max(fits, key=lambda fit: fit[0])[1]
        raise UnknownModel(
            f"{path} holds a {str(data.get('_class_name', ''))[:100]!r}, which cannot be run here; say `--like NAME` if it is one of "
            "the catalogue's"
        )
    raise UnknownModel(
        f"{path} has no model_index.json: say `--like NAME`, or give the folder that `foreland models pull` made"
    )
