"""The catalogue of models: facts about published checkpoints, as data, and what a local folder holds."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from engine.assets import FOLDER
from engine.models.interface import HistoryPolicy, ModelSpec

MARK = "foreland.json"
"""A file in a checkpoint's folder that says which model of the catalogue it is, and what differs from it."""
PIPELINES = {
    "AnyFlowFARPipeline": "anyflow-far-wan2.1-1.3b",
    "WanImageToVideoPipeline": "causal-wan2.2-i2v-a14b",
    "WanCausalDMDPipeline": "causal-wan2.2-i2v-a14b",
    "WanPipeline": "wan2.1-t2v-1.3b",
    "LTX2Pipeline": "ltx-2.3",
}
"""`_class_name` of a model_index.json to the catalogue's nearest entry."""
GENERATOR = "wan2.1-t2v-1.3b-self-forcing"
"""What a lone weights file is taken for."""


class UnknownModel(ValueError):
    """Neither a name of the catalogue nor a folder or file that is there."""


@dataclass(frozen=True)
class Entry:
    """A model. repo, files: on the hub (no files: the whole repository). weights, lora: of the files. base: entry whose text
    encoder and VAE it uses. about_gb: of the download, roughly; the hub is asked before one. memory_gb: of a GPU, at least.
    where: a local folder or file instead of the hub. head_dim: for original files, which do not say it. grid, sound_rate: see
    ModelSpec."""

    name: str
    title: str
    family: str
    layout: str
    repo: str
    licence: str
    about_gb: float
    memory_gb: float
    fps: float
    spans: tuple[int, int]
    size: tuple[int, int]
    sizes: tuple[tuple[int, int], ...]
    windows: tuple[int, int]
    window: int
    trained: tuple[int, ...]
    steps: int
    history: tuple[HistoryPolicy, ...]
    recipe: dict[str, Any]
    files: tuple[str, ...] = ()
    weights: str | None = None
    lora: str | None = None
    base: str | None = None
    notes: tuple[str, ...] = ()
    where: Path | None = None
    head_dim: int = 128
    grid: tuple[int, int] = (1, 0)
    sound_rate: int = 0
    scale: dict[str, Any] = field(default_factory=dict)

    def spec(self, size: tuple[int, int] | None = None) -> ModelSpec:
        """What the controller and the window need to know. Raises ValueError for a size that the model cannot make."""
        width, height = size or self.size
        multiple = 32
        if self.where is not None and self.scale:
            multiple = 16
        if width % multiple or height % multiple or not (multiple <= width <= 4096 and multiple <= height <= 4096):
            near = tuple(max(multiple, round(x / multiple) * multiple) for x in (width, height))
            raise ValueError(
                f"{width}x{height} is not a size that {self.name} makes: the nearest is {near[0]}x{near[1]}"
            )
        notes = list(self.notes)
        if self.recipe.get("keys") != "camera":
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
            text_limit=2000,
            trained=self.trained,
            negative=self.recipe.get("guidance", 1.0) != 1.0,
            notes=tuple(notes),
            sound_rate=self.sound_rate,
            grid=self.grid,
        )


def _entry(name: str, row: dict[str, Any]) -> Entry:
    lists = {k: tuple(row[k]) for k in ("spans", "size", "windows", "trained", "files", "notes", "grid") if k in row}
    rest = {k: v for k, v in row.items() if k not in lists}
    rest["history"] = tuple(HistoryPolicy(h) for h in row["history"])
    rest["sizes"] = tuple((w, h) for w, h in row["sizes"])
    return Entry(name=name, **lists, **rest)  # type: ignore[arg-type]


def load_catalogue() -> dict[str, Entry]:
    """Name to entry, from assets/models.json."""
    data = json.loads((FOLDER / "models.json").read_text("utf-8"))
    return {name: _entry(name, row) for name, row in data.items()}


def find(name: str, like: str | None = None) -> Entry:
    """An entry by name, or for a local folder or file. like: the catalogue's entry that a local one is to be run as.

    Raises UnknownModel.
    """
    known = load_catalogue()
    if like is not None and like not in known:
        raise UnknownModel(f"unknown model {like!r}; known: {', '.join(known)}")
    if name in known:
        return known[name] if like is None else known[like]
    path = Path(name).expanduser()
    if not path.exists():
        raise UnknownModel(
            f"unknown model {name!r}: no such name and no such folder or file; known: pocket, {', '.join(known)}"
        )
    mark: dict[str, Any] = {}
    if path.is_dir() and (path / MARK).exists():
        mark = json.loads((path / MARK).read_text("utf-8"))
    entry = known[like or mark.get("model") or guess(path)]
    changes: dict[str, Any] = {"where": path.resolve()}
    if "size" in mark:
        changes["size"] = tuple(mark["size"])
    for key in ("head_dim", "scale"):
        if key in mark:
            changes[key] = mark[key]
    return replace(entry, **changes)


def guess(path: Path) -> str:
    """The entry that a folder or file looks like. Raises UnknownModel when it looks like none."""
    if path.is_file():
        return GENERATOR
    index = path / "model_index.json"
    if (path / "modular_model_index.json").exists():
        return "minimax-h3"
    if index.exists():
        data = json.loads(index.read_text("utf-8"))
        kind = data.get("_class_name", "")
        if kind == "WanPipeline" and data.get("expand_timesteps"):
            return "wan2.2-ti2v-5b"
        if kind in PIPELINES:
            return PIPELINES[kind]
        raise UnknownModel(
            f"{path} holds a {kind}, which cannot be run here; say `--like NAME` if it is one of the catalogue's"
        )
    raise UnknownModel(
        f"{path} has no model_index.json: say `--like NAME`, or give the folder that `foreland models pull` made"
    )
