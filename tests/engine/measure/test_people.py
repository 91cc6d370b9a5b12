"""Several people on one sampler, in virtual time."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from app.cli.main import cli
from engine.measure.people import Room, simulate_people
from engine.measure.simulate import METHODS, Profile, Trajectory, arrivals, load_profiles, simulate

LONG = Profile("long", 16.0, 21, (4,) * 21, 1.1, 1.25, jitter=0.03)
"""As in the first simulation of several people, which another program made: see the next test."""


def test_alone_it_is_as_with_a_sampler_of_ones_own() -> None:
    profile = load_profiles()["wan-long"]
    import numpy as np

    times = arrivals(np.random.default_rng(3), "high", 60.0)
    (mine,) = Room(profile, METHODS["paper"], [times], 60.0, 1).play()
    own = Trajectory(profile, METHODS["paper"], times, 60.0, 1).run()
    assert mine.latencies == pytest.approx(own.latencies) and mine.stall == own.stall == 0.0


@pytest.mark.parametrize(("people", "l50", "busy"), [(1, 1.32, 0.30), (2, 1.66, 0.61), (3, 2.12, 0.94)])
def test_it_is_what_the_first_simulation_said(people: int, l50: float, busy: float) -> None:
    """That one was written before, apart from this, with six sessions of 90 s."""
    row = simulate_people(LONG, "paper", people, "high", 2, 60.0, 0)
    assert row["L50"] == pytest.approx(l50, rel=0.3)
    assert row["stall_share"] < 0.005
    assert row["busy_share"] < busy + 0.1


def test_who_mashes_keys_makes_mainly_himself_wait() -> None:
    calm = simulate_people(LONG, "paper", 3, "high", 1, 60.0, 0)
    others = simulate_people(LONG, "paper", 3, "high", 1, 60.0, 0, masher=3.0)
    assert others["L50"] < calm["L50"] + 0.6
    assert others["stall_share"] < 0.01


def test_the_command_prints_a_row_for_so_many_people() -> None:
    arguments = "simulate --profile wan-long --policy paper --rate high --people 3 --trajectories 1 --seconds 20"
    said = CliRunner().invoke(cli, arguments.split())
    assert said.exit_code == 0, said.output
    assert "| people |" in said.output and "| 3 " in said.output
    assert simulate(load_profiles()["wan-long"], "paper", "high", 1, 20.0, 0)["updates"] > 0
