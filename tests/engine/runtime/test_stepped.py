"""A session that waits for whoever plays it."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import Refused
from engine.models.interface import Model
from engine.runtime.settings import Settings
from engine.runtime.stepped import SteppedWorld
from tests.toy import ToyDecoder, ToySampler


def begun(call_seconds: float, model: Model | None = None) -> SteppedWorld:
    model = model or Model(ToySampler(seconds=0.0), ToyDecoder(), "toy-0")
    return SteppedWorld(model, Settings(prompt="a", window=7), call_seconds)


def walk(world: SteppedWorld) -> list[tuple[int, int, int]]:
    """Pixels of 120 frames, which are position, version and frame: a key is held from the 40th on."""
    seen = world.frames(40)
    world.hold("forward")
    seen += world.frames(80)
    return [tuple(int(x) for x in frame[0, 0]) for frame in seen]  # type: ignore[misc]


def test_an_action_shows_when_its_call_is_done_and_not_before() -> None:
    """The toy paints the version into each group: what was cached and locked plays first, and slow calls let more of it play."""
    answers = {}
    for call_seconds in (0.1, 0.6):
        seen = walk(begun(call_seconds))
        assert [(p, i) for p, _, i in seen] == [(n // 4, n % 4) for n in range(120)], "no frame is lost or shown twice"
        versions = [v for _, v, _ in seen]
        assert versions[:40] == [0] * 40 and versions[-1] > 0
        answers[call_seconds] = next(n for n, v in enumerate(versions) if v) - 40
        assert answers[call_seconds] >= call_seconds * 16
    assert answers[0.1] < answers[0.6] <= 0.6 * 16 + 8


def test_equal_actions_give_equal_frames_also_when_the_model_has_played_before() -> None:
    model = Model(ToySampler(seconds=0.0), ToyDecoder(), "toy-0")
    first = walk(begun(0.3, model))
    assert walk(begun(0.3, model)) == walk(begun(0.3)) == first


def test_time_stands_while_nobody_asks_and_the_view_tells_of_now() -> None:
    world = begun(0.3)
    world.frames(32)
    at = world.seconds
    assert at == pytest.approx(0.3 + 31 / 16, abs=0.26), "the first call, and the frames"
    world.prompt("b")
    assert world.seconds == at and world.view.prompt == "b"
    world.frames(1)
    assert world.seconds > at
    world.hold("forward", "left")
    world.hold("left")
    assert world.view.keys == ("left",)
    world.close()


def test_what_cannot_be_is_refused() -> None:
    model = Model(ToySampler(seconds=0.0), ToyDecoder(), "toy-0")
    with pytest.raises(ValueError, match="above 0"):
        SteppedWorld(model, Settings(), 0.0)
    with pytest.raises(Refused):
        SteppedWorld(model, Settings(window=99), 0.1)
    assert np.stack(SteppedWorld(model, Settings(), 0.1).frames(3)).shape == (3, 2, 4, 3)
