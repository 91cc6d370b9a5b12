"""Virtual time against theory: each formula within 2 % where its assumptions hold."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from engine.control.events import Commit
from engine.measure.simulate import (
    Method,
    Profile,
    ProfileError,
    Trajectory,
    arrivals,
    load_profiles,
    simulate,
    theory_mean,
    theory_overhead,
    uniform_profile,
)

SECONDS = 60.0


def isolated(profile: Profile, commit: Commit, n: int = 240) -> list[float]:
    """L of single updates at uniform phases, long after the start."""
    out = []
    t = profile.chunk_seconds
    for i, phase in enumerate(np.linspace(0, 1, n, endpoint=False)):
        out += Trajectory(profile, Method(commit), [4 * t + phase * t], 7 * t + 2 * profile.first, i).run().latencies
    assert len(out) == n
    return out


@pytest.mark.parametrize(("window", "c"), [(21, 0.6), (21, 1.1), (21, 2.6), (7, 0.4)])
def test_an_isolated_update_takes_c_plus_residual_wait_plus_alignment(window: int, c: float) -> None:
    p = uniform_profile(window, 0.25, c, c)
    assert np.mean(isolated(p, Commit.SPECULATIVE)) == pytest.approx(theory_mean(p, Commit.SPECULATIVE), rel=0.02)


@pytest.mark.parametrize(("window", "c"), [(3, 0.3), (7, 0.7), (21, 2.6)])
def test_who_waits_for_a_busy_worker_is_aligned_by_its_end_not_at_random(window: int, c: float) -> None:
    """Where E[Q] = delta / 2 departs: a refill that is launched just in time ends on a group's border, so an update that
    waited for it queues for ceil(C / delta) delta - C."""
    p = uniform_profile(window, 0.25, c, c)
    busy = c / p.chunk_seconds
    queue = (1 - busy) * 0.125 + busy * (math.ceil(c / 0.25 - 1e-9) * 0.25 - c)
    assert np.mean(isolated(p, Commit.SPECULATIVE)) == pytest.approx(c + busy * c / 2 + queue, rel=0.02)


@pytest.mark.parametrize(("window", "c"), [(21, 1.1), (7, 0.4), (3, 0.3)])
def test_chunk_commitment_takes_c_plus_half_a_chunk(window: int, c: float) -> None:
    p = uniform_profile(window, 0.25, c, c)
    assert np.mean(isolated(p, Commit.CHUNK)) == pytest.approx(c + p.chunk_seconds / 2, rel=0.02)


def test_the_residual_wait_counts_the_time_the_worker_is_busy() -> None:
    p = Profile("decode", 4.0, 21, (1,) * 21, first=0.6, call=1.5, lead=0.6)
    busy = 1.5 / 5.25
    # just in time, the worker is free 1.5 s after a launch 0.6 s before a border: the next group is ready on a border
    expected = 0.6 + busy * 1.5 / 2 + (1 - busy) * 0.125
    assert np.mean(isolated(p, Commit.SPECULATIVE)) == pytest.approx(expected, rel=0.02)


def test_uneven_spans_align_by_their_squares() -> None:
    spans = (4, 4, 4, 4, 1) * 7
    p = Profile("h3", 24.0, 35, spans, first=0.5, call=0.5, lead=0.5)
    assert p.alignment == pytest.approx(65 / (2 * 17 * 24))
    assert np.mean(isolated(p, Commit.SPECULATIVE)) == pytest.approx(theory_mean(p, Commit.SPECULATIVE), rel=0.02)


def test_no_latency_is_more_than_twice_c_and_a_group() -> None:
    p = uniform_profile(21, 0.25, 1.1, 1.1)
    assert max(isolated(p, Commit.SPECULATIVE)) <= 2 * 1.1 + 0.25 + 1e-9


@pytest.mark.parametrize(
    "rate", [pytest.param(1.5, marks=pytest.mark.slow), 7, pytest.param(11, marks=pytest.mark.slow)]
)
def test_overhead_is_k_p_over_1_minus_1_minus_p_to_the_k(rate: float) -> None:
    p = uniform_profile(21, 0.25, 0.25, 0.25)
    row = simulate(p, "speculative", rate / 60, 300, 120.0, 3)
    per_second = row["updates"] / (300 * 120.0)
    assert row["A"] == pytest.approx(theory_overhead(p, per_second), rel=0.02)


def test_with_c_inside_the_lead_and_the_call_inside_t_no_updates_can_cause_a_stall() -> None:
    p = uniform_profile(7, 0.25, 0.8, 1.6)
    rng = np.random.default_rng(0)
    for i in range(40):
        outcome = Trajectory(p, Method(), list(rng.uniform(2, 30, 400)), 30.0, i).run()
        assert outcome.stall == 0.0


def test_stalls_come_when_a_call_takes_longer_than_its_chunk_plays() -> None:
    row = simulate(uniform_profile(3, 0.25, 0.9, 0.9), "speculative", "low", 10, SECONDS, 0)
    assert row["stall_share"] == pytest.approx(1 - 0.75 / 0.9, abs=0.03)


def latencies_of_wan(more: float) -> tuple[float, list[float]]:
    """L50 of speculative commitment, and of chunk commitment over ten replications of the paper's 30 trajectories, with C longer
    by so many seconds."""
    p = load_profiles()["wan-long"]
    assert p.lead is not None
    p = replace(p, first=p.first + more, call=p.call + more, lead=p.lead + more)
    speculative = simulate(p, "speculative", "high", 100, SECONDS, 1)["L50"]
    return speculative, [simulate(p, "chunk", "high", 30, SECONDS, 50 + s)["L50"] for s in range(10)]


def test_one_c_for_wan_gives_both_published_latencies_and_a_longer_one_gives_neither() -> None:
    speculative, chunk = latencies_of_wan(0.0)
    assert speculative == pytest.approx(1.35, rel=0.1)
    assert np.median(chunk) == pytest.approx(3.11, rel=0.1)
    speculative, chunk = latencies_of_wan(0.3)
    assert speculative != pytest.approx(1.35, rel=0.1)
    assert np.median(chunk) != pytest.approx(3.11, rel=0.1)


def test_equal_seeds_give_equal_rows_and_arrivals_are_paired_over_policies() -> None:
    p = load_profiles()["wan-7-on-8"]
    assert simulate(p, "speculative", "high", 5, 30.0, 7) == simulate(p, "speculative", "high", 5, 30.0, 7)
    a, b = (arrivals(np.random.default_rng([7, 0]), "high", 30.0) for _ in range(2))
    assert a == b


def test_groups_are_conserved_and_updates_are_all_accounted_for() -> None:
    row = simulate(load_profiles()["h3-long"], "speculative", "high", 20, SECONDS, 2)
    assert row["applied"] + row["superseded"] <= row["updates"]
    assert row["applied"] + row["superseded"] >= row["updates"] - 20 * 2


@pytest.mark.parametrize(
    "bad", [{"fps": 0.0}, {"first": 0.0}, {"call": 0.1}, {"spans": (1, 1)}, {"jitter": -1.0}, {"lead": 0.1}]
)
def test_impossible_profiles_are_refused(bad: dict) -> None:
    good = {"name": "x", "fps": 4.0, "window": 3, "spans": (1, 1, 1), "first": 0.5, "call": 0.5}
    with pytest.raises(ProfileError, match="profile x"):
        Profile(**{**good, **bad})


PAPER = {"wan-long": (1.33, 2.27), "wan-8gpu": (0.67, 0.97), "pocket": (0.43, 0.54)}
"""L50 and L95 of the paper's method here, at most."""
AIMS = {"wan-long": (0.70, 1.15), "wan-8gpu": (0.55, 0.85), "pocket": (0.30, 0.42)}
"""Of the best policy."""


@pytest.mark.parametrize("name", AIMS)
def test_short_answers_and_preemption_answer_sooner_than_the_paper_without_stalls_or_more_waste(name: str) -> None:
    p = load_profiles()[name]
    paper, both = (simulate(p, policy, "high", 60, SECONDS, 0) for policy in ("paper", "answer+preempt"))
    assert paper["L50"] > 1.15 * both["L50"]
    assert paper["L95"] > 1.05 * both["L95"]
    assert both["stall_share"] <= 0.0003
    assert both["waste"] <= paper["waste"] + 0.01
