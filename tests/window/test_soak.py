"""A short soak and short measurements of the real window."""

from __future__ import annotations

import json
from pathlib import Path

from PySide6.QtWidgets import QApplication

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


def test_bench_window_measures_pacing_and_cost_of_the_real_window(qapp: QApplication, tmp_path: Path) -> None:
    file = tmp_path / "window.json"
    assert main(["bench", "window", "--seconds", "1", "--json", str(file)]) == 0
    rows = json.loads(file.read_text())["rows"]
    assert [(r["overlay"], r["film"]) for r in rows] == [(False, False), (True, False), (False, True)]
    assert [r["film_ms_a_frame"] > 0 for r in rows] == [False, False, True]
    for r in rows:
        assert r["frames"] >= 16
        assert r["late_p50_ms"] <= r["late_p95_ms"] <= r["late_max_ms"]
        assert 0.01 < r["qt_ms_a_frame"] < 1000 / 16, "the Qt thread keeps up with 16 frames a second"
        assert r["platform"] == "xcb"
    assert rows[2]["qt_ms_a_frame"] > rows[2]["film_ms_a_frame"], "handing a frame to the video is part of showing it"
