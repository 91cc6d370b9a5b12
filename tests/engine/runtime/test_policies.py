"""Short answers and preemption in a live session, in virtual time."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.models.interface import Group, ModelSpec, Request, StepCallback
from engine.models.registry import spec_of
from engine.runtime.replay import replay
from engine.runtime.settings import Settings
from tests.engine.runtime.test_engine import Play, lines, start
from tests.toy import SPEC, ToySampler


class ByLength(ToySampler):
    """A latent takes 50 ms."""

    def sample(self, request: Request, report: StepCallback) -> list[Group]:
        self.seconds = 0.05 * request.window
        return super().sample(request, report)


def played(tmp_path: Path, gap: float = 2.6, n: int = 8, **settings: object) -> tuple[Play, dict]:
    """A world in which a key goes down and up `n` times."""
    play = start(tmp_path, ByLength(), window=21, **settings)
    play.frames_more(40)
    for i in range(n):
        (play.engine.release if i % 2 else play.engine.press)("forward")
        play.seconds(gap)
    play.engine.close()
    shown = [int(f[0, 0, 0]) * 4 + int(f[0, 0, 2]) for f in play.frames]
    assert shown == list(range(len(shown)))
    assert replay(tmp_path / "s").difference == ""
    assert play.engine.summary is not None
    return play, play.engine.summary


def test_short_answers_are_seen_in_half_the_time_and_refills_are_full(tmp_path: Path) -> None:
    _, paper = played(tmp_path / "paper")
    _, short = played(tmp_path / "short", answer=True)
    assert paper["L50"] > 1.0
    assert short["L50"] < 0.6 * paper["L50"]
    assert short["stalls"] == 0
    launches = [x["data"] for x in lines(tmp_path / "short") if x.get("name") == "Launch"]
    assert {x["window"] for x in launches if x["reason"] == "refill"} == {21}
    assert 21 not in {x["window"] for x in launches if x["reason"] == "update"}


def test_a_newer_key_stops_the_call_of_an_older_one_and_the_view_shows_it(tmp_path: Path) -> None:
    play = start(tmp_path, ByLength(), window=21, preempt=True)
    play.frames_more(30)
    play.engine.press("forward")
    play.seconds(0.3)
    play.engine.press("left")
    play.until(lambda: play.engine.view.stopped is not None)
    view = play.engine.view
    assert view.stopped is not None and view.stopped.version == 1
    assert view.flight is not None and view.flight.version == 2
    play.seconds(5)
    assert play.engine.view.stopped is None, "it faded"
    play.engine.close()
    assert replay(tmp_path / "s").difference == ""
    reasons = [x["data"]["reason"] for x in lines(tmp_path) if x.get("name") == "Abandon"]
    assert reasons[0] == "preempted"


def test_policies_are_switched_while_a_world_plays(tmp_path: Path) -> None:
    play = start(tmp_path, ByLength(), window=21)
    play.frames_more(30)
    play.engine.configure(answer=True, preempt=True, aim=0.7)
    play.engine.press("forward")
    play.until(lambda: play.engine.view.flight is not None and play.engine.view.flight.answer)
    play.engine.configure(answer=False, preempt=False)
    play.seconds(3)
    play.engine.release("forward")
    play.until(lambda: play.engine.view.flight is not None and not play.engine.view.flight.answer)
    play.engine.close()


def test_what_nobody_chooses_is_as_the_models_pictures_bear_it() -> None:
    for name, own in (("pocket2", True), ("pocket", False)):
        spec = spec_of(name)
        chosen = Settings().checked(spec)
        assert (chosen.answer, chosen.preempt) == (own, own)
        assert Settings(answer=not own).checked(spec).answer is not own


@pytest.mark.parametrize(
    ("changes", "window", "answers"),
    [
        ({}, 7, (1, 2, 3, 4, 5, 6)),
        ({"trained": (1, 3, 21)}, 21, (1, 3)),
        ({"trained": (3,)}, 7, (1, 2, 3, 4, 5, 6)),
        ({"grid": (5, 2), "windows": (7, 37)}, 22, (7, 12, 17)),
        ({"block": 3}, 9, (3, 6)),
    ],
)
def test_answers_are_lengths_that_the_model_does(changes: dict, window: int, answers: tuple[int, ...]) -> None:
    spec = ModelSpec(**{**{f: getattr(SPEC, f) for f in SPEC.__dataclass_fields__}, **changes})
    assert spec.answers(window) == answers
