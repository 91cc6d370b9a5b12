"""A script without a window: live (here by a virtual clock) and in virtual time, over the same driver."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.models.interface import Model
from engine.playback.player import Frame
from engine.runtime.clock import VirtualClock
from engine.runtime.explore import ExploreError, explore_live, explore_virtual
from engine.runtime.replay import replay
from engine.runtime.script import Script, ScriptEvent
from engine.runtime.settings import Settings
from tests.logs import log_lines
from tests.toy import SPEC, ToyDecoder, ToySampler, toy

EVENTS = (
    ScriptEvent(1.0, "down", "forward"),
    ScriptEvent(1.0, "prompt", "b"),
    ScriptEvent(1.5, "up", "forward"),
    ScriptEvent(2.5, "prompt", "bad"),
)
SCRIPT = Script("a", 4.0, EVENTS)


def lines(folder: Path) -> list[dict]:
    return log_lines(folder)


def virtual(folder: Path | None, seconds: float = 0.4, sampler: ToySampler | None = None) -> tuple[list[Frame], dict]:
    frames: list[Frame] = []
    load = toy(ToySampler(seconds=0.0) if sampler is None else sampler)
    summary = explore_virtual(
        load, SPEC, Settings(), SCRIPT, folder, lambda f, s: frames.append(f), lambda *x: None, seconds
    )
    return frames, summary


def live(folder: Path | None, sampler: ToySampler | None = None, decoder: ToyDecoder | None = None) -> list[Frame]:
    clock, frames = VirtualClock(), []
    sampler = ToySampler(seconds=0.4) if sampler is None else sampler
    sampler.sleep = clock.sleep
    explore_live(
        toy(sampler, decoder), SPEC, Settings(), SCRIPT, folder, lambda f, s: frames.append(f), lambda *x: None, clock
    )
    return frames


def test_both_ways_show_every_frame_once_and_their_logs_replay(tmp_path: Path) -> None:
    for frames in (live(tmp_path / "live"), virtual(tmp_path / "virtual")[0]):
        assert [(int(f[0, 0, 0]), int(f[0, 0, 2])) for f in frames] == [(i // 4, i % 4) for i in range(64)]
    for name in ("live", "virtual"):
        assert replay(tmp_path / name).difference == ""


def test_events_arrive_when_their_media_time_is_due(tmp_path: Path) -> None:
    live(tmp_path / "live")
    virtual(tmp_path / "virtual")
    for name in ("live", "virtual"):
        log = lines(tmp_path / name)
        began = next(x["data"]["at"] for x in log if x.get("name") == "GroupStarted")
        at = [x["data"]["arrival"] - began for x in log if x.get("name") == "ConditionChanged"]
        assert at == pytest.approx([1.0, 1.0, 1.5, 2.5], abs=1e-6)


def test_in_virtual_time_equal_runs_give_equal_frames_and_logs(tmp_path: Path) -> None:
    a, first = virtual(tmp_path / "a")
    b, second = virtual(tmp_path / "b")
    assert np.array_equal(np.stack(a), np.stack(b))
    assert first == second
    kept = ("event", "command", "message", "delivered")
    one, two = ([x for x in lines(tmp_path / n) if x["kind"] in kept] for n in ("a", "b"))
    assert one == two


def test_a_call_takes_as_long_as_it_is_said_to(tmp_path: Path) -> None:
    _, summary = virtual(tmp_path / "s", 0.7)
    assert summary["C_median"] == pytest.approx(0.7)
    _, summary = virtual(None, 2.5)
    assert summary["stall_seconds"] > 0.5, "seven groups of a quarter second do not last 2.5 s"


def test_a_call_that_fails_is_told_live_and_raised_in_virtual_time(tmp_path: Path) -> None:
    live(tmp_path / "live", ToySampler(seconds=0.4, broken=[1]))
    assert any("out of memory" in x.get("text", "") for x in lines(tmp_path / "live"))
    with pytest.raises(RuntimeError, match="out of memory"):
        virtual(None, sampler=ToySampler(seconds=0.0, broken=[1]))


def test_an_engine_that_stops_ends_the_exploration_with_its_words(tmp_path: Path) -> None:
    with pytest.raises(ExploreError, match="could not be decoded: RuntimeError: cannot decode"):
        live(None, decoder=ToyDecoder(broken=[9]))

    def load(progress: object) -> Model:
        raise ValueError("the weights are missing")

    with pytest.raises(ExploreError, match="the weights are missing"):
        explore_live(load, SPEC, Settings(), SCRIPT, None, lambda f, s: None, lambda *x: None, VirtualClock())
