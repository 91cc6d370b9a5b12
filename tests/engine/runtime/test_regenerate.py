"""A session of today's schema is made again from its log, latent by latent."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from engine.models.interface import Group, Model, Request, StepCallback
from engine.runtime.clock import VirtualClock
from engine.runtime.engine import Engine
from engine.runtime.regenerate import regenerate
from engine.runtime.replay import ReplayError, read_session, replay
from engine.runtime.settings import Settings, StartFrom
from tests.engine.runtime.tensor_toy import TensorDecoder, TensorSampler, tensor_model
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


class Attentive(TensorSampler):
    """What it makes depends on the negative prompt, on the file that the world begins from, and on which groups were played when
    the call began, as in the pocket world, which remembers places."""

    played = -1

    def evict_before(self, position: int) -> None:
        super().evict_before(position)
        self.played = position

    def sample(self, request: Request, report: StepCallback) -> list[Group]:
        file = self.started.name if self.started is not None else None
        note = zlib.crc32(f"{request.prepared.negative} {file} {self.played}".encode()) % 1000
        return [replace(g, latent=g.latent + note) for g in super().sample(request, report)]


def made_again(folder: Path, do: Sequence[Callable[[Engine], None]], every: float = 1.5) -> list[dict]:
    """A person does these things, one every so many seconds; then the session is made again from its log, which is returned."""
    clock = VirtualClock()
    model = Model(Attentive(seconds=0.2, sleep=clock.sleep), TensorDecoder(), "toy-0")
    engine = Engine(lambda progress: model, SPEC, Settings(prompt="a", window=7), folder, clock)
    engine.start()
    play = Play(engine)
    play.frames_more(10)
    for i, act in enumerate(do):
        act(engine)
        play.seconds(every + 0.01 * i)
    engine.close()
    lines = read_session(folder)
    delivered = sum(x["kind"] == "delivered" for x in lines)
    assert again(lines, Model(Attentive(), TensorDecoder(), "toy-0")) == (delivered, 0)
    return lines


def avoid(engine: Engine) -> None:
    engine.set_negative_prompt("blurred")


def from_a_picture(engine: Engine) -> None:
    engine.new_world(start=StartFrom.file(Path("picture.png")))


CASES: dict[str, list[Callable[[Engine], None]]] = {
    "a negative prompt": [avoid],
    "a negative prompt, then a new world": [avoid, lambda e: e.new_world()],
    "a negative prompt, then another way": [avoid, lambda e: e.rewind(0, 2)],
    "a picture": [from_a_picture],
    "a picture, then none": [from_a_picture, lambda e: e.new_world(start=StartFrom.model())],
    "a picture, then a new world": [from_a_picture, lambda e: e.new_world()],
}


@pytest.mark.parametrize("name", CASES)
def test_what_a_world_is_left_with_is_in_the_log(name: str, tmp_path: Path) -> None:
    made_again(tmp_path / "s", CASES[name])


def test_a_group_that_plays_between_a_launch_and_its_call_is_played_before_the_call_is_made_again(
    tmp_path: Path,
) -> None:
    lines = made_again(tmp_path / "s", [lambda e: e.press("forward"), lambda e: e.release("forward")], every=0.9)
    result = again(lines, Model(Attentive(), TensorDecoder(), "toy-0"))
    launch = [i for i, x in enumerate(lines) if x.get("name") == "Launch"][-1]
    played = max(i for i in range(launch) if lines[i]["kind"] == "delivered")
    begin = next(i for i in range(launch, len(lines)) if lines[i].get("name") == "CallProgressed")
    lines.insert(begin - 1, lines.pop(played))  # the launch is told first, and the call begins later, as it may
    assert again(lines, Model(Attentive(), TensorDecoder(), "toy-0")) == result
    lines.insert(begin, lines.pop(begin - 1))
    assert again(lines, Model(Attentive(), TensorDecoder(), "toy-0")) != result, "what was played when it began matters"
