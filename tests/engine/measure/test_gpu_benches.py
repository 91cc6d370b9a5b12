"""The benches that are made for a GPU, on the CPU at small shapes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner

from app.cli.bench import bench
from engine.measure.overhead import measure


def test_overhead_is_given_as_ratios() -> None:
    found = measure(1, torch.device("cpu"), torch.float32, layers=1, grid=(4, 8))
    assert found["step_ratio"] > 0 and found["first_step_ratio"] > 0
    assert 1 <= found["kv_ratio"] <= 1.6  # of bytes: the same on every machine


@pytest.mark.slow
def test_the_gpu_bench_runs_small_on_a_cpu_and_says_that_it_is_small(tmp_path: Path) -> None:
    file = tmp_path / "gpu.json"
    words = ["gpu", "--tiny", "--random-weights", "--device", "cpu", "--repeats", "1", "--json", str(file)]
    out = CliRunner().invoke(bench, words, standalone_mode=False)
    assert out.exception is None, out.output
    report = json.loads(file.read_text())
    model = report["models"][0]
    assert report["small"] and report["transfers"]["to_device_gb_s"] > 0
    assert model["forwards"][0]["ms"] > 0 and model["C_s"] > 0 and model["decode_group_s"] > 0
    assert CliRunner().invoke(bench, ["gpu", "--device", "cpu"]).exit_code != 0
