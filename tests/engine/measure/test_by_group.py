"""The simulator plays by group what a session plays by frame: the same trajectories, to the last bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engine.measure.simulate import METHODS, UPDATES, Profile, Trajectory, arrivals, load_profiles, uniform_profile
from tests.engine.measure import frame_by_frame

PROFILES = {
    **load_profiles(),
    "late": uniform_profile(7, 0.25, 1.6, 2.0),
    "jittery": uniform_profile(3, 0.25, 0.6, 0.7, jitter=0.4),
    "uneven": Profile("uneven", 24.0, 10, (4, 4, 4, 4, 1) * 2, first=0.9, call=1.0, jitter=0.1, first_span=1),
}
"""Those that ship, and those that stall, wobble and have groups of several lengths."""


@pytest.mark.parametrize("name", PROFILES)
def test_the_trajectories_are_those_of_the_player_and_driver(name: str) -> None:
    stalled = 0
    for method in dict.fromkeys(METHODS.values()):
        for rate in (*UPDATES, 2.0):
            for seed in range(2):
                profile = replace(PROFILES[name], jitter=max(PROFILES[name].jitter, 0.2 * seed))
                times = arrivals(np.random.default_rng([seed, 7]), rate, 30.0)
                ours = Trajectory(profile, method, times, 30.0, seed).run()
                assert ours == frame_by_frame.Trajectory(profile, method, times, 30.0, seed).run()
                assert ours.updates
                stalled += ours.stall > 0
    assert stalled or name != "late"
