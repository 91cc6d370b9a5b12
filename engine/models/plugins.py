"""Models of others: packages that bring rows for the catalogue, and code for families of their own. Importing this imports no plug-in.

Two groups of entry points:
- `foreland.models`: ANY_NAME = "package:rows.json", a file in the form of assets/models.json, read without importing the package;
- `foreland.families`: FAMILY = "module:OBJECT", a `engine.models.family.Family`, imported when a model of that family is opened.

Who only has a row puts it into the folder `models.d` of the data folder, as a .json file. What is broken is left out and said in one
line: in the log, by `foreland models list` and in the models dialog.
"""

from __future__ import annotations

import importlib.util
import json
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from engine.files import FileError, read_text
from engine.user_data import data_folder

ROWS, FAMILIES = "foreland.models", "foreland.families"
ROW_FOLDER = "models.d"
BUILT_IN = {
    "pocket": "engine.models.pocket.family:FAMILY",
    "pocket2": "engine.models.pocket2.family:FAMILY",
    "wan": "engine.models.wan.family:FAMILY",
    "h3": "engine.models.audio_video.family:MINIMAX_H3",
    "ltx": "engine.models.audio_video.family:LTX2",
}
"""The families that ship, found in the same way as those of plug-ins."""


@dataclass(frozen=True)
class Rows:
    """A file of rows."""

    source: str
    """Who adds it: a package and its version, or a file."""
    rows: dict[str, dict[str, Any]]
    error: str = ""
    """Why it cannot be read, in one line; '' when it can."""


def points(group: str) -> list[EntryPoint]:
    return sorted(entry_points(group=group), key=lambda e: (e.name, e.value))


def _text_of(point: EntryPoint) -> str:
    """The file that an entry point names. Raises OSError or LookupError."""
    package, _, name = point.value.partition(":")
    wanted = f"{package.replace('.', '/')}/{name}"
    for file in (point.dist.files or []) if point.dist is not None else []:
        if file.as_posix() == wanted:
            return Path(str(file.locate())).read_text("utf-8")
    # an editable installation does not list its files; this finds the package's folder without importing it
    spec = importlib.util.find_spec(package.partition(".")[0])
    for folder in (spec.submodule_search_locations or []) if spec is not None else []:
        if (path := Path(folder).parent / wanted).exists():
            return path.read_text("utf-8")
    raise LookupError(f"{point.value} is not there")


def _read(source: str, text: str) -> Rows:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as e:
        return Rows(source, {}, f"is not JSON ({str(e)[:200]})")
    if not isinstance(data, dict) or not all(isinstance(row, dict) for row in data.values()):
        return Rows(source, {}, "holds no rows: a table of names and rows is wanted, as assets/models.json is")
    return Rows(source, data)


def added_rows() -> list[Rows]:
    """The rows that packages and the person add, the broken files among them."""
    out = []
    for point in points(ROWS):
        source = f"{point.dist.name} {point.dist.version}" if point.dist is not None else point.name
        try:
            out.append(_read(source, _text_of(point)))
        except (OSError, LookupError, ValueError) as e:
            out.append(Rows(source, {}, f"its rows cannot be read ({e})"))
    folder = data_folder() / ROW_FOLDER
    for file in sorted(folder.glob("*.json")) if folder.is_dir() else []:
        try:
            out.append(_read(str(file), read_text(file)))
        except FileError as e:
            out.append(Rows(str(file), {}, str(e)))
    return out


def has_family(name: str) -> bool:
    """Whether somebody says to bring this family; imports nothing."""
    return name in BUILT_IN or any(point.name == name for point in points(FAMILIES))
