"""A short soak and short measurements of the real window."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication

from app.cli.bench_window import measure
from app.cli.main import main
from app.cli.soak import soak
from app.options import ModelOptions

MINUTES = 0.15


def test_a_short_soak_of_the_real_window_survives_rude_hands(qapp: QApplication, tmp_path: Path) -> None:
    lines: list[str] = []
    report = soak(ModelOptions().choose(), MINUTES, 6.0, 3, tmp_path, lines.append)
    assert sum(report["deeds"].values()) > 5
    for name in ("log_replays", "groups_conserved", "errors"):
        assert report[name]["ok"], report[name]
    assert report["played_seconds"] > 0.5


def checked(row: dict[str, Any]) -> None:
    """What holds for every row of measurements."""
    assert row["frames"] >= 16
    assert row["late_p50_ms"] <= row["late_p95_ms"] <= row["late_max_ms"]
    assert 0.01 < row["qt_ms_a_frame"] < 1000 / 16, "the Qt thread keeps up with 16 frames a second"
    assert (row["film_ms_a_frame"] > 0) is row["film"]
    assert row["qt_ms_a_frame"] > row["film_ms_a_frame"], "handing a frame to the video is part of showing it"
    assert row["platform"] == "xcb"


def test_pacing_and_cost_of_the_real_window_are_measured(qapp: QApplication) -> None:
    row = measure(ModelOptions().choose(), 1.0, overlay=True, film=True)
    assert row["overlay"] and row["film"]
    checked(row)


@pytest.mark.slow
def test_bench_window_measures_it_plain_with_the_overlay_and_with_a_film(qapp: QApplication, tmp_path: Path) -> None:
    file = tmp_path / "window.json"
    assert main(["bench", "window", "--seconds", "5", "--json", str(file)]) == 0
    rows = json.loads(file.read_text())["rows"]
    assert [(r["overlay"], r["film"]) for r in rows] == [(False, False), (True, False), (False, True)]
    for row in rows:
        checked(row)
