"""Reports of serving: paired scripts, gains with their interval, what is named as missed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.measure import plots
from engine.measure.bench_serving import Setting, script_of, serve, serve_markdown
from engine.measure.simulate import load_profiles, simulate
from engine.models.interface import Group, Request, StepCallback
from engine.runtime.keymap import ACTIONS
from tests.engine.runtime.turn_clock import TurnClock
from tests.toy import SPEC, ToySampler, toy

PROMPTS = ("snow", "desert", "city")


def test_a_trajectory_is_a_function_of_its_seed_and_releases_each_key_before_the_next() -> None:
    a, b = script_of(3, "high", 120.0, PROMPTS, tail=4.0), script_of(3, "high", 120.0, PROMPTS, tail=4.0)
    assert a == b != script_of(4, "high", 120.0, PROMPTS, tail=4.0)
    assert a.seconds == 124.0
    assert len(a.events) > 2 * len(script_of(3, "low", 120.0, PROMPTS).events)
    held: str | None = None
    said = a.prompt
    for e in a.events:
        assert 0 <= e.t < 120.0
        if e.what == "down":
            assert held is None and e.value in ACTIONS
            held = e.value
        elif e.what == "up":
            assert e.value == held
            held = None
        else:
            assert e.value in PROMPTS and e.value != said
            said = e.value


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """Of a model that only takes time, under both policies."""
    folder = tmp_path_factory.mktemp("serve")
    settings = [Setting(7, policy, "high") for policy in ("speculative", "chunk")]
    return serve(toy(), SPEC, settings, 1, 8.0, 1, PROMPTS, folder, lambda stage, share: None), folder


@pytest.mark.integration
def test_settings_are_paired_and_every_update_is_accounted_for(report: tuple[dict[str, Any], Path]) -> None:
    a, b = report[0]["settings"]
    assert [r["setting"] for r in (a, b)] == ["K=7 speculative high", "K=7 chunk high"]
    assert a["updates"] == b["updates"] > 0
    for row in (a, b):
        assert row["applied"] + row["superseded"] == row["updates"]
        assert len(row["latencies"]) == len(row["parts"]) == len(row["phases"]) == row["applied"]
        assert row["latencies"] == pytest.approx([sum(p) for p in row["parts"]], abs=1e-4)
        assert all(0 <= x < 1 for x in row["phases"])
        assert row["T"] == pytest.approx(7 * 0.25)
    assert a["mean"] < b["mean"], "an update of chunk commitment waits for the end of its chunk"


@pytest.mark.integration
def test_plots_are_drawn_of_each_setting_and_of_one_session(report: tuple[dict[str, Any], Path]) -> None:
    files = plots.draw(*report)
    assert [f.name for f in files] == ["latency.png", "stacks.png", "phase.png", "timeline.png"]
    assert all(f.stat().st_size > 5000 for f in files)


def row(**more: Any) -> dict[str, Any]:
    figures: dict[str, Any] = {
        "setting": "K=7 chunk low",
        "rate": "low",
        "updates": 3,
        "applied": 2,
        "superseded": 1,
        "L50": 1.0,
        "L95": 2.0,
        "mean": 1.2,
    }
    figures |= {"L50_low": 0.9, "L50_high": 1.1, "L95_low": 1.8, "L95_high": 2.1}
    figures |= {"mean_low": 1.0, "mean_high": 1.4, "theory_mean": 1.1, "C": 0.3, "C_over_T": 0.2, "stall_share": 0.0}
    return {**figures, "w": 0.5, "cpu": 1.5, "gpu": [0.25, 0.5], **more}


def markdown(rows: list[dict[str, Any]], gains: list[dict[str, Any]]) -> str:
    report = {"model": "toy", "trajectories": 1, "seconds": 8.0, "gpu": None, "settings": rows, "gains": gains}
    return serve_markdown(report, "foreland bench serve")


def test_a_report_names_missed_aims_and_only_those() -> None:
    gain = {"K": 7, "policy": "speculative", "rate": "low", "gain": 0.75, "low": 0.35, "high": 1.2, "theory": 0.73}
    good = markdown([row()], [gain])
    assert "Missed aim" not in good
    assert (
        "| K=7 chunk low | 3 | 2 | 1 | 1.00 (0.90 to 1.10) | 2.00 (1.80 to 2.10) | 1.20 (1.00 to 1.40) "
        "| 1.10 | 0.30 | 0.20 | 0.00% | 50% | 1.50 | 25%, 50% |" in good
    )
    assert "| 7 | speculative | low | 0.75 (0.35 to 1.20) | 0.73 | 103% |" in good
    bad = markdown([row(stall_share=0.02)], [{**gain, "gain": 0.5}])
    assert "Missed aim: K=7 low: 32% below theory" in bad
    assert "Missed aim: K=7 chunk low: 2.00% of playback stalled" in bad


def test_a_setting_without_updates_has_a_row_without_figures() -> None:
    assert "| K=7 chunk low | 0 | 0 | 0 | - | - | - | 1.10 |" in markdown(
        [row(updates=0, applied=0, superseded=0, mean=None)], []
    )


class Timed(ToySampler):
    """A call takes a time by its latents, as the pocket world's does: 0.2 s at K = 7, 0.12 s at K = 3."""

    def sample(self, request: Request, report: StepCallback) -> list[Group]:
        self.seconds = 0.06 + 0.02 * request.window
        return super().sample(request, report)


def test_policies_are_in_the_order_of_the_simulation_by_l50_and_l95_with_intervals(tmp_path: Path) -> None:
    """Whole sessions in virtual time: what differs from the simulation is the session, not its calls."""
    clock = TurnClock(0.0, "serve")
    policies = ("chunk", "paper", "answer+preempt")
    settings = [Setting(7, policy, "high") for policy in policies]
    sampler = Timed(sleep=lambda seconds: clock.sleep(seconds))

    def fresh() -> TurnClock:
        nonlocal clock
        clock = TurnClock(0.0, "serve")
        return clock

    report = serve(toy(sampler), SPEC, settings, 3, 20.0, 1, PROMPTS, tmp_path, lambda stage, share: None, fresh)
    rows = {r["policy"]: r for r in report["settings"]}
    simulated = {p: simulate(load_profiles()["pocket"], p, "high", 3, 20.0, 1) for p in policies}
    for key in ("L50", "L95"):
        assert sorted(policies, key=lambda p: rows[p][key]) == sorted(policies, key=lambda p: simulated[p][key])
        for r in rows.values():
            assert r[f"{key}_low"] <= r[key] <= r[f"{key}_high"]
    assert rows["answer+preempt"]["L50_high"] < rows["paper"]["L50_low"], "by more than the interval"
    assert all(r["stall_share"] == 0 for r in rows.values())
