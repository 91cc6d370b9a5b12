"""`foreland evaluate`: what it says of scores, and of a machine that cannot run it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from app.cli.main import main
from engine.training.evaluate import TARGETS, missed, table, write_card

REPORT = {
    "turn_sign": 0.96,
    "turn_correlation": 0.9,
    "biome": 0.84,
    "time": 1.0,
    "weather": 0.95,
    "sharpness": 0.97,
    "drift": 0.02,
    "forward_expands": 0.8,
    "classifier": {"biome": 0.99, "time": 1.0, "weather": 0.98},
    "oracle": {"turn_sign": 1.0, "forward_expands": 0.93, "sharp": 9.0, "motion": 4.0},
    "by_window": {
        k: {"turn_sign": 0.9, "turn_correlation": 0.9, "forward_expands": 0.8, "sharp": 8.0, "motion": 3.0, "land": 0.9}
        for k in ("1", "3", "7", "21")
    },
}


def test_a_missed_target_is_said_with_what_is_missing() -> None:
    assert missed(REPORT) == {"biome": 0.06}
    assert missed(REPORT | {"drift": 0.3, "biome": 0.95}) == {"drift": 0.2}
    text = table(REPORT | {"missed": missed(REPORT)})
    assert "missed by 0.06" in text and text.count("missed") == 1
    windows = [line.split("|")[1].strip() for line in text.splitlines() if line[:5].strip("| ").isdigit()]
    assert windows == ["1", "3", "7", "21"]
    assert all(name in text for name in TARGETS)


def test_scores_go_into_the_card_and_leave_the_rest(tmp_path: Path) -> None:
    (tmp_path / "card.json").write_text(json.dumps({"name": "pocket", "scores": {"old": 1}}))
    write_card(tmp_path, {"turn_sign": 1.0})
    assert json.loads((tmp_path / "card.json").read_text()) == {"name": "pocket", "scores": {"turn_sign": 1.0}}


def test_without_the_renderer_it_is_said_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    assert main(["evaluate", "--quick"]) == 2
    assert "foreland[train]" in capsys.readouterr().err


def test_impossible_sizes_are_refused(capsys: pytest.CaptureFixture) -> None:
    assert main(["evaluate", "--worlds", "-1"]) == 2
    assert main(["evaluate", "--seconds", "5"]) == 2
    assert "10 to 3600" in capsys.readouterr().err
