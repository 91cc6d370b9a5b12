"""The Gymnasium environment; gymnasium is an optional package, so these are only there with it."""

from __future__ import annotations

import importlib.util

from engine.models.interface import Model
from tests.toy import ToyDecoder, ToySampler

if importlib.util.find_spec("gymnasium"):
    import gymnasium
    import numpy as np
    from gymnasium.utils.env_checker import check_env

    import engine.gym

    def toy_model() -> Model:
        return Model(ToySampler(seconds=0.0), ToyDecoder(), "toy-0")

    def test_gymnasiums_own_check_passes() -> None:
        check_env(engine.gym.World("a", model=toy_model(), call_seconds=0.3), skip_render_check=True)

    def test_what_is_held_is_seen_after_a_call() -> None:
        env = gymnasium.make(
            "foreland/World-v0",
            prompt="a",
            model=toy_model(),
            actions=("forward", "left"),
            reward=lambda seen: seen[0, 0, 0, 1],
        )
        seen, info = env.reset(seed=3)
        assert seen.shape == (4, 2, 4, 3) and info["stalls"] == 0
        rewards = [env.step(np.array([1, 0]))[1] for _ in range(12)]
        assert rewards[0] == 0 and rewards[-1] > 0
        _, _, ended, cut, info = env.step(np.array([1, 0]))
        assert not ended and not cut and info["L50"] is not None
