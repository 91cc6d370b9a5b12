"""A short soak and a short measurement of the real window."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QApplication

from app.cli.bench_window import measure
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


def test_the_window_s_measurements_are_of_its_frames(qapp: QApplication) -> None:
    row = measure(ModelOptions().choose(), 1.5, overlay=True, film=True)
    assert row["overlay"] and row["film"]
    assert row["frames"] >= 1.5 * 16
    assert row["late_p50_ms"] <= row["late_p95_ms"] <= row["late_max_ms"]
    assert row["qt_ms_a_frame"] > row["film_ms_a_frame"] > 0, "handing a frame to the video is part of showing it"
