"""The measuring commands: their shapes, their files, and bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.cli.main import main
from engine.measure.simulate import load_profiles

KEYS = {
    "profile",
    "policy",
    "rate",
    "trajectories",
    "updates",
    "L50",
    "L95",
    "mean",
    "stall_share",
    "w",
    "A",
    "busy_share",
    "theory_mean",
    "paper_L50",
}


def rows_of(tmp_path: Path, *arguments: str) -> list[dict]:
    file = tmp_path / "rows.json"
    assert main(["simulate", "--trajectories", "4", "--seconds", "30", "--json", str(file), *arguments]) == 0
    rows: list[dict] = json.loads(file.read_text())["rows"]
    assert all(set(r) >= KEYS for r in rows)
    return rows


def test_simulate_has_one_row_a_setting(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = rows_of(tmp_path)
    assert len(rows) == len(load_profiles()) * 2 * 2
    assert {r["paper_L50"] for r in rows if r["profile"] == "wan-long" and r["policy"] == "chunk"} == {3.23, 3.11}
    assert all(r["paper_L50"] is None for r in rows if r["profile"] == "wan-7-on-8")
    assert "wan-long" in capsys.readouterr().out


def test_simulate_takes_numbers_instead_of_a_profile(tmp_path: Path) -> None:
    flags = (
        "--window",
        "7",
        "--delta",
        "0.25",
        "--first",
        "0.4",
        "--call",
        "0.5",
        "--jitter",
        "0.05",
        "--update-rate",
        "0.1",
    )
    rows = rows_of(tmp_path, *flags, "--policy", "speculative")
    assert len(rows) == 1
    assert rows[0]["rate"] == 0.1
    assert rows[0]["K"] == 7


def test_all_is_a_row_for_the_papers_method_and_each_that_goes_beyond_it(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, "--profile", "wan-long", "--policy", "all", "--rate", "high")
    assert [r["policy"] for r in rows] == ["paper", "answer", "preempt", "answer+preempt", "alternative", "all"]
    assert all(set(r) >= {"policy", "L50", "L95", "waste", "stall_share", "busy"} for r in rows)


def test_alternatives_cost_groups_and_answer_keys_that_can_be_guessed_a_little_sooner(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, "--profile", "pocket", "--policy", "answer+preempt,all", "--rate", "keys")
    without, guessing = rows
    assert [r["policy"] for r in rows] == ["answer+preempt", "all"]
    assert guessing["L50"] < without["L50"]
    assert guessing["waste"] > without["waste"]
    assert 0 < guessing["came_true"] < 0.8
    without, guessing = rows_of(tmp_path, "--profile", "pocket", "--policy", "answer+preempt,all", "--rate", "high")
    assert guessing["L50"] == without["L50"], "nobody can guess these"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["simulate", "--profile", "none"], "unknown profile 'none'"),
        (["simulate", "--rate", "fast"], "'fast' is not one of 'low', 'high'"),
        (["simulate", "--people", "2", "--rate", "keys"], "--people takes the rates low and high, or --update-rate"),
        (["simulate", "--policy", "x"], "'x' is not one of 'speculative', 'chunk'"),
        (
            ["bench", "serve", "--policy", "paper,alternative"],
            "'alternative' is not one of 'speculative', 'chunk', 'paper'",
        ),
        (["simulate", "--window", "7"], "--window, --delta and --first together"),
        (["simulate", "--window", "7", "--delta", "0", "--first", "1"], "'--delta': 0 is out of range: more than 0"),
        (["simulate", "--window", "7", "--delta", "1", "--first", "2", "--call", "1"], "first <= call"),
        (["simulate", "--trajectories", "0"], "'--trajectories': 0 is out of range: at least 1"),
        (["simulate", "--profile", "wan-short", "--trajectories", "1", "--json", "/proc/x/y.json"], "cannot write"),
        (["bench", "serve", "--window", "30"], "K = 30 is out of range"),
        (["bench", "serve", "--seconds", "1"], "'--seconds': 1 is out of range: at least 5"),
        (["replay", "/nowhere"], "/nowhere/events.jsonl cannot be read"),
    ],
)
def test_bad_input_gets_one_clear_line_and_status_2(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    error = capsys.readouterr().err.splitlines()
    assert len(error) == 1
    assert words in error[0]


@pytest.mark.slow  # plays for 12 s; tests/engine/measure/test_bench_serving.py has its parts
def test_bench_serve_writes_report_and_plots_and_its_sessions_replay(tmp_path: Path) -> None:
    out = tmp_path / "bench"
    assert (
        main(
            [
                "bench",
                "serve",
                "--window",
                "7",
                "--rate",
                "high",
                "--trajectories",
                "1",
                "--seconds",
                "6",
                "--out",
                str(out),
            ]
        )
        == 0
    )
    report = json.loads((out / "report.json").read_text())
    assert [r["setting"] for r in report["settings"]] == ["K=7 speculative high", "K=7 chunk high"]
    a, b = report["settings"]
    assert a["updates"] == b["updates"] > 0, "settings are paired"
    text = (out / "report.md").read_text()
    assert "foreland bench serve" in text
    for name in ("latency", "stacks", "phase", "timeline"):
        assert (out / f"{name}.png").stat().st_size > 5000
        assert f"{name}.png" in text
    sessions = sorted((out / "sessions").iterdir())
    assert len(sessions) == 2
    for session in sessions:
        assert main(["replay", str(session), "--check"]) == 0


def test_bench_sampler_finds_kept_prefixes_cheaper_than_recomputed_ones(tmp_path: Path) -> None:
    file = tmp_path / "f.json"
    words = [
        "bench",
        "sampler",
        "--model",
        "pocket",
        "--window",
        "1",
        "--steps",
        "1",
        "--repeats",
        "3",
        "--threads",
        "1",
        "--json",
        str(file),
    ]
    assert main(words) == 0
    (row,) = json.loads(file.read_text())["rows"]
    assert (row["K"], row["steps"], row["T"], row["tokens_ratio"]) == (1, 1, 0.25, 6.0)
    assert row["reuse"] < row["recompute"], "six times the tokens"
    assert row["alone"] < row["call"], "a call is a forward and more"
    assert row["call_over_T"] == pytest.approx(row["call"] / 0.25)


def test_bench_decode_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "decode", "--model", "pocket", "--repeats", "1", "--threads", "1"]) == 0
    head, _, row = capsys.readouterr().out.splitlines()
    figures = dict(zip(head.strip("| ").split(" | "), map(float, row.strip("| ").split(" | ")), strict=True))
    assert figures["first_over_share"] == pytest.approx(figures["first_group"] / figures["whole_clip_share"], rel=0.01)
    assert figures["real_time"] == pytest.approx(0.25 / figures["steady_group"], rel=0.01)


def test_bench_controller_and_scaling_need_no_model(tmp_path: Path) -> None:
    file = tmp_path / "f.json"
    assert main(["bench", "controller", "--events", "2000", "--json", str(file)]) == 0
    (row,) = json.loads(file.read_text())["rows"]
    assert row["events"] == 2000 and row["p50_us"] <= row["p99_us"]
    assert main(["bench", "scaling", "--window", "1", "--json", str(file)]) == 0
    rows = json.loads(file.read_text())["rows"]
    assert [(r["size"], r["K"]) for r in rows] == [("480p", 1), ("720p", 1)]


def test_a_model_without_measurements_of_its_own_is_measured_through_its_interface(tmp_path: Path) -> None:
    file = tmp_path / "f.json"
    assert main(["bench", "sampler", "--window", "3", "--steps", "2", "--repeats", "1", "--json", str(file)]) == 0
    (row,) = json.loads(file.read_text())["rows"]
    assert (row["K"], row["steps"], row["T"]) == (3, 2, 0.75)
    assert row["call_over_T"] == pytest.approx(row["call"] / 0.75)
    assert main(["bench", "decode", "--repeats", "1", "--json", str(file)]) == 0
    (row,) = json.loads(file.read_text())["rows"]
    assert row["real_time"] == pytest.approx(0.25 / row["group"])
