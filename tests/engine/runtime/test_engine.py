"""The live engine: threads, errors, pauses, new worlds, and what is left afterwards.

Its threads are real; its time is virtual, so that nothing here sleeps, but in the tests marked `integration`.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.control.conditions import Condition
from engine.control.events import Commit
from engine.models.interface import Group, HistoryPolicy, Request, StepCallback
from engine.runtime.clock import Clock, SystemClock, VirtualClock
from engine.runtime.engine import Engine
from engine.runtime.messages import Press, Rewind
from engine.runtime.settings import Settings, StartFrom
from tests.logs import log_lines
from tests.toy import SPEC, ToyDecoder, ToySampler, toy

WAIT = 10.0
LOOK = 0.002
"""Seconds between two looks at the player, as a window's timer would."""


class Play:
    """Advances an engine's player by its clock and keeps what was shown."""

    def __init__(self, engine: Engine) -> None:
        self.engine, self.clock = engine, engine.clock
        self.others = set(threading.enumerate())
        """Threads that were there before the engine's: of tests before, which may still be ending."""
        self.frames: list[np.ndarray] = []

    def until(self, condition: Callable[[], bool]) -> None:
        end = self.clock.now() + WAIT
        while not condition():
            assert self.clock.now() < end, "it did not happen in time"
            self.frames += [p.image for p in self.engine.player.advance(self.clock.now()) if p.image is not None]
            self.clock.sleep(LOOK)

    def seconds(self, seconds: float) -> None:
        end = self.clock.now() + seconds
        self.until(lambda: self.clock.now() >= end)

    def frames_more(self, n: int) -> None:
        target = len(self.frames) + n
        self.until(lambda: len(self.frames) >= target)


def start(
    tmp_path: Path,
    sampler: ToySampler | None = None,
    decoder: ToyDecoder | None = None,
    clock: Clock | None = None,
    **settings: object,
) -> Play:
    """A world in virtual time, or by this clock; the sampler takes its time by the same."""
    clock = VirtualClock() if clock is None else clock
    sampler = ToySampler() if sampler is None else sampler
    sampler.sleep = clock.sleep
    engine = Engine(toy(sampler, decoder), SPEC, Settings(prompt="a", **settings), tmp_path / "s", clock)  # type: ignore[arg-type]
    play = Play(engine)
    engine.start()
    return play


def lines(tmp_path: Path) -> list[dict]:
    return log_lines(tmp_path / "s")


def foreland_threads(play: Play) -> list[str]:
    return [t.name for t in set(threading.enumerate()) - play.others if t.name.startswith("foreland")]


@pytest.mark.parametrize("clock", [VirtualClock, pytest.param(SystemClock, marks=pytest.mark.integration)])
def test_a_world_plays_in_order_and_leaves_no_thread(tmp_path: Path, clock: Callable[[], Clock]) -> None:
    play = start(tmp_path, clock=clock())
    play.frames_more(40)
    play.engine.close()
    assert foreland_threads(play) == []
    shown = [(int(f[0, 0, 0]), int(f[0, 0, 2])) for f in play.frames]
    assert shown == [(i // 4, i % 4) for i in range(len(shown))]
    summary = json.loads((tmp_path / "s" / "summary.json").read_text())
    assert summary["frames_shown"] == len(shown)
    g = summary["groups"]
    assert g["predicted"] == g["delivered"] + g["revoked"] + g["cached"]
    assert lines(tmp_path)[0]["kind"] == "session"
    assert lines(tmp_path)[-1]["kind"] == "summary"


def test_a_key_changes_a_group_soon_and_is_answered_with_r_c_and_q(tmp_path: Path) -> None:
    play = start(tmp_path, window=21)
    play.frames_more(8)
    play.engine.press("forward")
    play.until(lambda: bool(play.frames) and play.frames[-1][0, 0, 1] == 1)
    play.engine.close()
    update = play.engine.summary["updates"][1]  # type: ignore[index]
    assert update["outcome"] == "applied"
    assert update["L"] == pytest.approx(update["R"] + update["C"] + update["Q"], abs=1e-5)
    assert update["L"] < 2.0, "long before the chunk's end"
    assert play.engine.summary["groups"]["revoked"] > 0  # type: ignore[index]


def test_under_chunk_commitment_a_key_waits_for_the_chunks_end_and_nothing_is_revoked(tmp_path: Path) -> None:
    play = start(tmp_path, window=7, commit=Commit.CHUNK)
    play.frames_more(2)
    play.engine.press("forward")
    play.until(lambda: play.frames[-1][0, 0, 1] == 1)
    play.engine.close()
    assert play.engine.summary["updates"][1]["position"] == 7  # type: ignore[index]
    assert play.engine.summary["groups"]["revoked"] == 0  # type: ignore[index]


def test_a_pause_holds_the_picture_and_releases_the_keys(tmp_path: Path) -> None:
    play = start(tmp_path)
    play.engine.press("forward")
    play.frames_more(8)
    play.engine.pause()
    held = play.engine.player.shown
    play.clock.sleep(0.4)
    assert play.engine.player.advance(play.clock.now()) == []
    assert play.engine.player.shown == held
    assert play.engine.view.keys == ()
    play.engine.resume()
    play.frames_more(8)
    play.engine.close()
    assert play.engine.summary["stall_seconds"] < 0.2  # type: ignore[index]


def test_a_reset_begins_a_new_world_with_the_prompt_that_is_given(tmp_path: Path) -> None:
    play = start(tmp_path)
    play.frames_more(12)
    play.engine.new_world("b", 5)
    play.until(lambda: play.engine.view.prompt == "b" and play.frames[-1][0, 0, 0] == 1)
    play.engine.close()
    summary = play.engine.summary
    assert summary is not None
    assert summary["seed"] == 5
    g = summary["groups"]
    assert g["predicted"] == g["delivered"] + g["revoked"] + g["cached"]


def test_one_failed_call_is_tried_again_and_the_world_goes_on(tmp_path: Path) -> None:
    play = start(tmp_path, ToySampler(broken=[1]))
    play.frames_more(60)
    play.engine.close()
    assert play.engine.error is None
    assert any("out of memory" in x.get("text", "") for x in lines(tmp_path) if x["kind"] == "note")


class LosesWorkers(ToySampler):
    """Its second call fails and says so; the third takes long before its first step, as when workers are restarted."""

    restarted = False

    def sample(self, request: Request, report: StepCallback) -> list[Group]:
        if self.calls == 1 and self.host is not None:
            self.host.notify("the workers are gone")
        if self.calls == 2:
            self.sleep(5.0)
            self.restarted = True
        return super().sample(request, report)


def test_what_a_failed_call_says_is_seen_before_the_next_call(tmp_path: Path) -> None:
    sampler = LosesWorkers(broken=[1])
    play = start(tmp_path, sampler)
    play.until(lambda: play.engine.view.message == "the workers are gone")
    assert not sampler.restarted
    play.frames_more(20)
    play.engine.close()


def test_when_calls_keep_failing_the_person_is_told_and_an_edit_is_a_new_try(tmp_path: Path) -> None:
    play = start(tmp_path, ToySampler(broken=[1, 2]))
    play.until(lambda: "sampling failed 2 times" in play.engine.view.message)
    play.engine.set_prompt("b")
    play.until(lambda: bool(play.frames) and play.frames[-1][0, 0, 1] == 1)
    play.engine.close()
    assert play.engine.error is None


def test_a_loader_that_fails_is_told_and_the_log_is_closed(tmp_path: Path) -> None:
    def load(progress: object) -> None:
        raise ValueError("the weights are missing")

    engine = Engine(load, SPEC, Settings(prompt="a"), tmp_path / "s", VirtualClock())  # type: ignore[arg-type]
    engine.start()
    Play(engine).until(lambda: not engine.running)
    engine.close()
    assert engine.error == "the weights are missing"
    assert lines(tmp_path)[-1]["kind"] == "summary"


def test_a_bad_prompt_is_refused_with_a_message_and_the_old_one_stays(tmp_path: Path) -> None:
    play = start(tmp_path)
    play.frames_more(4)
    play.engine.set_prompt("bad")
    play.until(lambda: "the prompt is bad" in play.engine.view.message)
    play.engine.press("forward")
    play.until(lambda: play.frames[-1][0, 0, 1] == 2)
    assert play.engine.view.prompt == "a"
    play.engine.close()
    outcomes = {u["version"]: u["outcome"] for u in play.engine.summary["updates"]}  # type: ignore[index]
    assert outcomes[1] == "rejected"


def test_impossible_settings_are_refused_before_anything_is_loaded(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="K = 22 is out of range"):
        Engine(toy(), SPEC, Settings(prompt="a", window=22), tmp_path / "s")


def test_settings_that_are_impossible_later_change_nothing(tmp_path: Path) -> None:
    play = start(tmp_path)
    play.frames_more(4)
    play.engine.configure(window=99)
    play.until(lambda: "out of range" in play.engine.view.message)
    play.engine.configure(window=3)
    play.until(lambda: play.engine.view.window == 3)
    play.engine.close()


@pytest.mark.parametrize("clock", [VirtualClock, pytest.param(SystemClock, marks=pytest.mark.integration)])
def test_closing_during_a_call_ends_within_a_step(tmp_path: Path, clock: Callable[[], Clock]) -> None:
    play = start(tmp_path, ToySampler(seconds=2.0), clock=clock())  # four steps
    play.seconds(0.1)
    began = play.clock.now()
    play.engine.close()
    assert play.clock.now() - began < 1.0
    assert foreland_threads(play) == []


def test_closing_before_the_start_is_fine(tmp_path: Path) -> None:
    engine = Engine(toy(), SPEC, Settings(prompt="a"), tmp_path / "s")
    engine.close()
    assert lines(tmp_path)[-1]["kind"] == "summary"


def test_frames_cannot_be_written_after_the_hand_over(tmp_path: Path) -> None:
    play = start(tmp_path)
    play.frames_more(1)
    play.engine.close()
    with pytest.raises(ValueError, match="read-only"):
        play.frames[0][0, 0, 0] = 1


# -- what a person does, in the log ------------------------------------------------------------------------------------


def test_what_a_person_does_is_in_the_log_as_the_messages_that_it_was(tmp_path: Path) -> None:
    play = start(tmp_path)
    e = play.engine
    play.frames_more(20)
    e.press("forward", play.clock.now() - 0.01)
    e.release("forward")
    e.set_prompt("b", seconds=0.4)
    e.set_negative_prompt("fog")
    e.release_all()
    e.pause()
    e.resume()
    e.configure(window=5, commit=Commit.CHUNK)
    e.rewind(0, 2)
    e.new_world("c", 5, StartFrom.model())
    play.until(lambda: e.view.prompt == "c" and e.view.delivered > 0)
    e.close()
    messages = [(x["name"], x["data"]) for x in lines(tmp_path) if x["kind"] == "message"]
    assert [name for name, _ in messages] == [
        "Press",
        "Release",
        "SetPrompt",
        "SetNegativePrompt",
        "ReleaseAll",
        "Pause",
        "Resume",
        "Configure",
        "Rewind",
        "NewWorld",
    ]
    data = dict(messages)
    assert data["Press"]["action"] == "forward"
    assert data["SetPrompt"]["seconds"] == 0.4
    assert data["Configure"] == {
        "window": 5,
        "steps": None,
        "commit": "chunk",
        "history": None,
        "answer": None,
        "preempt": None,
        "aim": None,
    }
    assert data["Rewind"] == {"take": 0, "position": 2}
    assert data["NewWorld"] == {"prompt": "c", "seed": 5, "start": {"path": None}}
    kinds = [x["kind"] for x in lines(tmp_path)]
    assert kinds.count("rewind") == kinds.count("reset") == 1
    arrival = next(x["data"]["arrival"] for x in lines(tmp_path) if x.get("name") == "ConditionChanged")
    assert arrival == data["Press"]["at"]


def test_messages_are_equal_when_they_say_the_same() -> None:
    assert Press("forward", 1.0) == Press("forward", 1.0) != Press("forward", 2.0)
    assert repr(Rewind(0, 4)) == "Rewind(take=0, position=4)"


def test_a_prompt_over_some_seconds_comes_in_four_steps(tmp_path: Path) -> None:
    play = start(tmp_path)
    play.frames_more(20)
    play.engine.set_prompt("b", seconds=2.0)
    play.seconds(3.0)
    play.engine.close()
    steps = [x for x in lines(tmp_path) if x["kind"] == "condition"]
    assert [(x["prompt"], x["before"], x["share"]) for x in steps] == [
        ("b", "a", 0.25),
        ("b", "a", 0.5),
        ("b", "a", 0.75),
        ("b", "", 1.0),
    ]
    assert np.diff([x["t"] for x in steps]) == pytest.approx([0.5, 0.5, 0.5], abs=0.02)


def test_a_call_that_was_given_up_while_its_first_group_was_decoded_leaves_no_trace(tmp_path: Path) -> None:
    class Slow(ToyDecoder):
        def decode(self, group: Group) -> list[np.ndarray]:
            play.clock.sleep(0.5)
            return super().decode(group)

    sampler = ToySampler(seconds=0.2)
    play = start(tmp_path, sampler, Slow())
    play.seconds(0.3)  # sampled, and in the decoder
    play.engine.new_world("b")
    play.until(lambda: len(play.frames) > 8)
    play.engine.close()
    assert sampler.calls >= 2
    log = lines(tmp_path)
    ready = [x["data"]["call"] for x in log if x.get("name") == "GroupsReady"]
    assert 0 not in ready, "the first world's call is not the second's"
    assert {int(f[0, 0, 1]) for f in play.frames} == {1}, "only the new world's groups are shown"


# -- spans that differ, conditions that take time, work between calls --------------------------------------------------


class Phased(ToySampler):
    """17 n + 5 frames a call: spans 1, 4, 4, 4, 4 repeat by the index inside the call, and a later call's first latent repeats
    the boundary and is dropped, as in MiniMax-H3's image path."""

    def sample(self, request: Request, report: StepCallback) -> list[Group]:
        overlap = 1 if request.branch else 0
        made = super().sample(replace(request, window=request.window - overlap), report)
        return [replace(g, span=1 if (i + overlap) % 5 == 0 else 4) for i, g in enumerate(made)]


class PhasedDecoder(ToyDecoder):
    def decode(self, group: Group) -> list[np.ndarray]:
        frame = super().decode(group)[0]
        out = []
        for i in range(group.span or 4):
            one = np.array(frame)
            one[..., 2] = i
            one.flags.writeable = False
            out.append(one)
        return out


@pytest.mark.parametrize("commit", [Commit.SPECULATIVE, Commit.CHUNK])
def test_spans_that_repeat_by_call_play_every_frame_once(tmp_path: Path, commit: Commit) -> None:
    play = start(tmp_path, Phased(), PhasedDecoder(), window=7, commit=commit)
    for i in range(6):
        play.frames_more(7)
        play.engine.press("forward") if i % 2 == 0 else play.engine.release("forward")
    play.frames_more(10)
    play.engine.close()
    assert play.engine.error is None
    log = lines(tmp_path)
    spans = {}
    for x in log:  # the newest span of each position that was made
        if x["kind"] == "event" and x["name"] == "GroupsReady":
            branch = next(
                y["data"]["branch"] for y in log if y.get("name") == "Launch" and y["data"]["call"] == x["data"]["call"]
            )
            spans.update({branch + i: s for i, s in enumerate(x["data"]["spans"])})
    assert {1, 4} <= set(spans.values())
    shown = [(int(f[0, 0, 0]), int(f[0, 0, 2])) for f in play.frames]
    expected = [(p, i) for p in sorted(spans) for i in range(spans[p])]
    assert shown == expected[: len(shown)]
    assert len(shown) > 50
    begins = {
        x["data"]["at"] if x["data"]["shown"] is None else x["data"]["shown"]
        for x in log
        if x.get("name") == "GroupStarted"
    }
    applied = {x["data"]["at"] for x in log if x.get("name") == "Receipt" and x["data"]["outcome"] == "applied"}
    assert len(applied) > 2
    assert applied <= begins, "applied where a group begins"


class Slow(ToySampler):
    prepares_slowly = True

    def __init__(self) -> None:
        super().__init__()
        self.threads: set[str] = set()
        self.settled = self.idled = 0

    def prepare(self, condition: Condition) -> Condition:
        self.threads.add(threading.current_thread().name)
        if condition.version:
            self.sleep(0.3)
        if condition.prompt == "odd":
            raise RuntimeError("no tokenizer")
        return super().prepare(condition)

    def prefill_chunk(self, groups: list[Group], history: HistoryPolicy) -> None:  # type: ignore[override]
        self.settled += 1

    def prefill_step(self, locked: int, history: HistoryPolicy) -> bool:
        self.idled += 1
        return self.idled % 3 != 0


def test_conditions_that_take_time_are_made_beside_the_world(tmp_path: Path) -> None:
    sampler = Slow()
    play = start(tmp_path, sampler)
    play.frames_more(8)
    play.engine.set_prompt("b")
    edited = play.clock.now()
    play.frames_more(2)
    assert play.clock.now() - edited < 0.3  # the world went on meanwhile
    play.until(lambda: bool(play.frames) and play.frames[-1][0, 0, 1] == 1)
    play.engine.set_prompt("odd")
    play.until(lambda: "could not be read" in play.engine.view.message)
    play.engine.set_prompt("bad")
    play.until(lambda: "say something else" in play.engine.view.message)
    assert play.engine.view.prompt == "b"
    play.engine.close()
    assert "foreland-prepare" in sampler.threads
    assert sampler.settled >= 2 and sampler.idled >= 2
    end = time.monotonic() + WAIT
    while foreland_threads(play):
        assert time.monotonic() < end, "a thread is left"
    ends = [x["data"] for x in lines(tmp_path) if x.get("name") == "Receipt" and x["data"]["outcome"] == "rejected"]
    assert len(ends) == 2


class Reader(ToySampler):
    """Says what it understood."""

    def reading(self, prepared: Condition) -> str:
        return f"read as: {prepared.prompt}"


def test_what_a_model_understood_of_a_prompt_is_in_the_view_and_in_the_log(tmp_path: Path) -> None:
    play = start(tmp_path, Reader())
    play.frames_more(4)
    first = play.engine.view.reading
    assert first.startswith("read as: ")
    play.engine.press("forward")
    play.engine.set_prompt("desert")
    play.until(lambda: play.engine.view.reading == "read as: desert")
    play.engine.set_prompt("bad")
    play.until(lambda: "say something else" in play.engine.view.message)
    assert play.engine.view.reading == "read as: desert", "what cannot be used was not understood"
    play.engine.close()
    assert [x["text"] for x in lines(tmp_path) if x["kind"] == "reading"] == [first, "read as: desert"]
