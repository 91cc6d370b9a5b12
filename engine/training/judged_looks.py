"""`foreland evaluate --looks`: the table of what a person sees, of either pocket world."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from engine.models.interface import Model
from engine.models.load_options import LoadOptions
from engine.models.registry import loader
from engine.training.looks import ROWS, Say, judge_frames, missed, speed, table

SEED = 9_000_000
PROMPTS = ("desert at noon", "snowy mountains at night", "a city at night", "tropical islands at noon")
LANDS, QUICK_LANDS = tuple(range(8)), (4, 7)


class LooksError(RuntimeError):
    """The weights cannot be judged; one line."""


def judge(
    name: str,
    folder: Path | None,
    windows: Sequence[int],
    walks: int,
    quick: bool,
    report: Path | None,
    say: Say,
) -> dict[str, Any]:
    """Scores by window length. report: a folder for contact sheets of the walks. Raises LooksError."""
    with TemporaryDirectory() as kept:
        out = report or Path(kept)
        out.mkdir(parents=True, exist_ok=True)
        scores = (
            _first(name, folder, windows, quick, say)
            if name == "pocket"
            else _second(folder, windows, walks, quick, out, bool(report), say)
        )
    scores["about"] = {
        "model": name,
        "command": f"foreland evaluate --looks --model {name} --window {','.join(map(str, windows))} --walks {walks}"
        + (" --quick" if quick else ""),
        "walks": walks,
        "seconds": "of processor time, of all threads",
        "decibels": "99 means equal bit by bit",
    }
    scores["missed"] = missed(scores)
    return scores


def _first(name: str, folder: Path | None, windows: Sequence[int], quick: bool, say: Say) -> dict[str, Any]:
    """The rows that need nothing but frames."""
    try:
        model: Model = loader(name, LoadOptions(weights=folder))(lambda stage, share: None)
    except Exception as e:
        raise LooksError(str(e)) from e
    rows: dict[str, dict[str, float]] = {}
    prompts = PROMPTS[1:2] if quick else PROMPTS
    for k in windows:
        say(f"K = {k}: standing, turning, back and forth")
        rows[str(k)] = judge_frames(model, prompts, k, SEED, 20 if quick else 60)
        if k == 7:
            rows[str(k)] |= speed(model, prompts[0], SEED)
    return {"windows": rows}


def _second(
    folder: Path | None, windows: Sequence[int], walks: int, quick: bool, out: Path, pictures: bool, say: Say
) -> dict[str, Any]:
    from engine.models.pocket2.load import Weights, WeightsError, shipped
    from engine.training.pocket2.looks import Looks, sheet

    torch.set_num_threads(1)
    try:
        weights = Weights.load(folder or shipped())
    except WeightsError as e:
        raise LooksError(str(e)) from e
    say("true walks")
    looks = Looks(weights, out, walks, QUICK_LANDS if quick else LANDS)
    scores: dict[str, Any] = {"windows": {}, "by_land": {}}
    if pictures:
        sheet(looks.true_rows(), out / "walk-true.png")
    for k in windows:
        scores["windows"][str(k)], more = looks.rows(k, say)
        scores["by_land"][str(k)] = more["by_land"]
        if pictures:
            sheet(more["walks"], out / f"walk-{k}.png")
    return scores


def write_card(name: str, folder: Path | None, scores: dict[str, Any]) -> None:
    """Puts the scores into the weights' card."""
    from engine.assets import FOLDER

    file = (folder or FOLDER / name) / "card.json"
    card = json.loads(file.read_text("utf-8"))
    card["looks" if name == "pocket" else "scores"] = scores
    file.write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")


__all__ = ["ROWS", "LooksError", "judge", "table", "write_card"]
