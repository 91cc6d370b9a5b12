"""A session of today's schema is made again from its log, latent by latent."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.models.interface import Model
from engine.runtime.clock import VirtualClock
from engine.runtime.engine import Engine
from engine.runtime.regenerate import regenerate
from engine.runtime.replay import ReplayError, read_session, replay
from engine.runtime.settings import Settings, StartFrom
from tests.engine.runtime.tensor_toy import TensorSampler, tensor_model
from tests.engine.runtime.test_engine import Play
from tests.toy import SPEC


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Keys, a transition, a failed call, two rewinds and a new world from a file, in virtual time."""
    folder, clock = tmp_path_factory.mktemp("session"), VirtualClock()
    model = tensor_model(seconds=0.3, broken=[3])
    assert isinstance(model.sampler, TensorSampler)
    model.sampler.sleep = clock.sleep
    engine = Engine(lambda progress: model, SPEC, Settings(prompt="a", seed=11), folder, clock)
    engine.start()
    play = Play(engine)
    play.frames_more(12)
    engine.press("forward")
    play.frames_more(12)
    engine.set_prompt("b", seconds=0.6)
    engine.set_negative_prompt("fog")
    play.frames_more(20)
    engine.rewind(0, 4)
    play.until(lambda: engine.takes.current == 1)
    play.frames_more(16)
    engine.release_all()
    engine.press("left")
    play.frames_more(12)
    engine.rewind(0, 2)
    play.until(lambda: engine.takes.current == 2)
    play.frames_more(12)
    engine.new_world("d", 12, StartFrom.file(Path("picture.png")))
    play.until(lambda: engine.view.prompt == "d" and engine.view.delivered > 2)
    play.frames_more(8)
    engine.close()
    assert engine.error is None
    return folder


def again(lines: list[dict], model: Model | None = None) -> tuple[int, int]:
    result = regenerate(lines, tensor_model() if model is None else model, lambda frame, sound: None)
    return result.groups, result.different


def test_every_delivered_group_is_made_again_the_same(session: Path) -> None:
    lines = read_session(session)
    delivered = sum(x["kind"] == "delivered" for x in lines)
    assert delivered > 20
    model = tensor_model()
    assert again(lines, model) == (delivered, 0)
    assert isinstance(model.sampler, TensorSampler)
    assert model.sampler.started == Path("picture.png")
    assert replay(session).difference == ""


@pytest.mark.parametrize("kind", ["rewind", "condition", "controller"])
def test_a_line_that_is_missing_is_noticed(session: Path, kind: str) -> None:
    lines = read_session(session)
    lines.remove(next(x for x in lines if x["kind"] == kind))
    try:
        _, different = again(lines)
    except (ReplayError, KeyError):
        return
    assert different > 0
