"""`bench sampler` and `bench decode` know the joint models."""

from __future__ import annotations

from pathlib import Path

from engine.measure import bench_audio_video as bench
from engine.models.tiny import write_tiny
from tests.engine.models.audio_video.conftest import load


def test_calls_and_decodes_are_timed(tmp_path: Path) -> None:
    for name, k in (("minimax-h3", 7), ("ltx-2.3", 3)):
        model = load(write_tiny(name, tmp_path / name), threads=1)
        row = bench.sampler(model, [k], 1, 1)[0]
        assert row["K"] == k and row["call"] > 0
        assert row["T"] < k * model.spec.spans[1] / model.spec.fps, "what is repeated is not played"
        times = bench.decode(model, k, 1)
        assert 0 < times["first_group"] <= times["whole_call"] * 3 and times["sound"] > 0
