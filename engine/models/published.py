"""What is really published of the catalogue's models: settings with their keys, and the names and shapes of weights.

assets/published/NAME.json says for each file of a repository what is in it and where that is known from: converters, and the authors'
own models, built without weights. Small random checkpoints are written from it, and tests build every model from it.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from engine.assets import FOLDER

RUN = re.compile(r"\{(\d+)\.\.(\d+)\}")
"""In a key: whole numbers from the first to the last, such as the blocks of a transformer."""


@dataclass(frozen=True)
class Weights:
    """A file of weights, or a folder of shards."""

    keys: dict[str, tuple[str, tuple[int, ...]]]
    """Key to (dtype, shape), in the order of the authors' model."""
    inside: str | None
    """Of a dictionary of training code, the name under which the weights are."""
    prefix: str
    """Before every key."""
    metadata: dict[str, str]
    """Of a safetensors file."""
    source: str
    """Where this is known from."""


@dataclass(frozen=True)
class Published:
    """A repository, as far as public code tells what is in it."""

    repository: str
    settings: dict[str, dict[str, Any]]
    """Name of a JSON file to what it holds."""
    weights: dict[str, Weights]
    """Name of a file or folder to its weights."""


@cache
def published(name: str) -> Published:
    """Of a name of the catalogue. Raises FileNotFoundError for a model of which nothing is known here."""
    data = json.loads((FOLDER / "published" / f"{name}.json").read_text("utf-8"))
    return Published(
        data["repository"],
        {file: said["content"] for file, said in data["settings"].items()},
        {file: _weights(said) for file, said in data["weights"].items()},
    )


def _weights(said: dict[str, Any]) -> Weights:
    keys: dict[str, tuple[str, tuple[int, ...]]] = {}
    for pattern, text in said["keys"].items():
        dtype, _, shape = text.partition(" ")
        meta = dtype, tuple(int(n) for n in shape.split("x") if n)
        keys.update((key, meta) for key in expanded(pattern))
    return Weights(keys, said.get("inside"), said.get("prefix", ""), said.get("metadata", {}), said["source"])


def expanded(pattern: str) -> Iterator[str]:
    """Every key that a pattern stands for: 'blocks.{0..2}.q' is three."""
    parts = RUN.split(pattern)
    runs = [range(int(a), int(b) + 1) for a, b in zip(parts[1::3], parts[2::3], strict=True)]
    for numbers in itertools.product(*runs):
        yield "".join(x for pair in itertools.zip_longest(parts[::3], map(str, numbers), fillvalue="") for x in pair)
