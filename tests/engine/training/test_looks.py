"""The judge of looks: figures of pictures whose answers are known, and a small run of all of it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from app.cli.main import main
from engine.models.interface import Model
from engine.models.pocket2.load import Weights, shipped
from engine.training.looks import ROWS, colour_gradient, missed, psnr, seam, shifted_psnr, spectrum, table
from engine.training.pocket2.looks import _standing

NOISE = np.random.default_rng(0).integers(0, 256, (160, 256, 3), np.uint8)


def test_figures_of_known_pictures() -> None:
    grey = np.full((160, 256, 3), 90, np.uint8)
    assert psnr(grey, grey) == 99 and psnr(grey, grey + 1) == pytest.approx(48.13, abs=0.01)
    half = np.zeros((160, 256), bool)
    half[:80] = True
    other = grey.copy()
    other[100:] = 0
    assert psnr(grey, other, half) == 99 and psnr(grey, other, ~half) < 20
    assert shifted_psnr(NOISE, np.roll(NOISE, 4, 1)) == 99 > psnr(NOISE, np.roll(NOISE, 4, 1))
    assert colour_gradient(grey) == 0 and spectrum(grey)[0] < 1e-6 < spectrum(NOISE)[0]
    cut = np.tile(np.linspace(80, 120, 256)[None, :, None], (160, 1, 3)).astype(np.uint8)
    whole = seam(cut)
    cut[:, 128:] += 60
    assert seam(cut) > 10 * whole


def test_what_is_missed_is_said_with_what_must_be() -> None:
    scores = {"windows": {"7": {"stillness": 99.0, "two_sample": 0.86}, "1": {"stillness": 20.0}}}
    assert missed(scores) == [
        "K = 7, two-sample accuracy: 0.86, must be at most 0.80",
        "K = 1, stillness, 60 s, where nothing moves, worst: 20, must be 32 dB",
    ]
    assert "| 99 | **20** |" in table(scores) and "**0.86**" in table(scores)


def test_the_shipped_world_stands_still_and_a_full_turn_closes() -> None:
    weights = Weights.load(shipped())
    decoder = weights.decoder()
    rows = _standing(Model(weights.sampler(), decoder, ""), decoder, 7, (4,))
    assert rows["stillness"] == 99 and rows["closure"] > 60 and rows["trip"] > 28 and rows["colour"] > 0.9


@pytest.mark.slow
def test_the_judge_runs_from_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "looks.json"
    assert main(["evaluate", "--looks", "--quick", "--window", "7", "--json", str(file)]) in (0, 1)
    rows = json.loads(file.read_text())["windows"]["7"]
    assert {row.name for row in ROWS} <= set(rows)
    assert rows["stillness"] == 99 and rows["closure"] > 40
