"""What went wrong once: each of these sessions ended, froze, lied or lost something before. All in virtual time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from engine.control.conditions import Condition
from engine.models.boundary_frames import BoundaryFrames
from engine.models.interface import Group, HistoryPolicy, Request, SamplerHost, StepCallback
from engine.playback.player import Frame
from engine.runtime.clock import FOREVER
from engine.runtime.driver import Driver
from engine.runtime.engine import CLOSE_SECONDS
from engine.runtime.replay import replay
from engine.runtime.settings import StartFrom
from tests.engine.runtime.test_engine import Play, foreland_threads, lines, start
from tests.toy import ToyDecoder, ToySampler


def order(play: Play) -> None:
    """Every frame was shown once, in order."""
    shown = [(int(f[0, 0, 0]), int(f[0, 0, 2])) for f in play.frames]
    assert shown == [((i // 4 + shown[0][0]) % 256, i % 4) for i in range(len(shown))]


def closed(play: Play, tmp_path: Path) -> dict:
    """The summary of a session in which nothing was lost and whose log replays."""
    play.engine.close(FOREVER)
    assert play.engine.error is None and not play.engine.running
    summary = play.engine.summary
    assert summary is not None
    groups = summary["groups"]
    assert groups["predicted"] == groups["delivered"] + groups["revoked"] + groups["cached"]
    assert replay(tmp_path / "s").difference == ""
    return summary


def updates(summary: dict) -> list[dict]:
    return [u for u in summary["updates"] if u["kind"] != "start" and u["outcome"] == "applied"]


def notes(tmp_path: Path) -> list[str]:
    return [x["text"] for x in lines(tmp_path) if x["kind"] == "note"]


class Takes(ToySampler):
    """Each call takes what `seconds_of` says of its number, from 1 on."""

    def __init__(self, seconds_of: Callable[[int], float]) -> None:
        super().__init__()
        self.seconds_of = seconds_of

    def sample(self, request: Request, report: StepCallback) -> list[Group]:
        self.seconds = self.seconds_of(self.calls + 1)
        return super().sample(request, report)


class SlowDecoder(ToyDecoder):
    """A group takes what `seconds_of` says."""

    def __init__(self, seconds_of: Callable[[Group], float], sleep: Callable[[float], None] | None = None) -> None:
        super().__init__()
        self.seconds_of, self.sleep = seconds_of, sleep

    def decode(self, group: Group) -> list[Frame]:
        assert self.sleep is not None
        self.sleep(self.seconds_of(group))
        return super().decode(group)


def start_slow(tmp_path: Path, sampler: ToySampler, decoder: SlowDecoder, **settings: object) -> Play:
    """As `start`, with a decoder that takes its time by the same clock."""
    play = start(tmp_path, sampler, decoder, **settings)
    decoder.sleep = play.clock.sleep
    return play


# -- calls that are late, fail or hang -----------------------------------------------------------------------------------


def test_a_call_that_was_given_up_leaves_nothing_and_the_world_goes_on(tmp_path: Path) -> None:
    """Its first group is in the decoder for longer than any limit."""
    slow = [100.0]
    decoder = SlowDecoder(lambda g: slow.pop() if g.latent[2] == 2 and slow else 0.001)
    play = start_slow(tmp_path, ToySampler(seconds=0.2), decoder)
    play.frames_more(24)
    play.clock.sleep(120)
    play.frames_more(40)
    summary = closed(play, tmp_path)
    abandoned = [x for x in lines(tmp_path) if x.get("name") == "Abandon"]
    assert "no end after 60 s" in abandoned[0]["data"]["reason"]
    order(play)
    assert summary["groups"]["delivered"] >= len(play.frames) // 4


def test_a_call_that_takes_minutes_is_not_given_up_while_it_makes_steps(tmp_path: Path) -> None:
    play = start(tmp_path, ToySampler(seconds=200.0), window=21)
    while play.clock.now() < 450:
        play.frames += [p.image for p in play.engine.player.advance(play.clock.now()) if p.image is not None]
        play.clock.sleep(1.0)
    assert play.frames, "the first call is there after 200 s"
    closed(play, tmp_path)
    assert not any("no end" in x for x in notes(tmp_path))


def test_two_failures_in_a_row_are_rested_for_and_nobody_has_to_press_a_key(tmp_path: Path) -> None:
    play = start(tmp_path, ToySampler(seconds=0.2, broken=[1, 2, 3]))
    play.until(lambda: "tried again in 2 s" in play.engine.view.message)
    play.frames_more(60)
    order(play)
    closed(play, tmp_path)


def test_what_failed_is_tried_again_with_other_noise(tmp_path: Path) -> None:
    play = start(tmp_path, ToySampler(seconds=0.2, broken=[1]))
    play.frames_more(60)
    closed(play, tmp_path)
    attempts = [x["attempt"] for x in lines(tmp_path) if x["kind"] == "call"]
    assert attempts[:4] == [0, 0, 1, 0]


def test_a_settle_that_fails_does_not_end_the_world(tmp_path: Path) -> None:
    class Fails(ToySampler):
        def prefill_chunk(self, groups: Sequence[Group], history: HistoryPolicy) -> None:
            if self.calls == 2:
                raise RuntimeError("no memory for keys")

        def prefill_step(self, locked: int, history: HistoryPolicy) -> bool:
            return False

    play = start(tmp_path, Fails(seconds=0.2))
    play.frames_more(80)
    order(play)
    closed(play, tmp_path)
    assert any("no memory for keys" in x for x in notes(tmp_path))


def test_a_worlds_second_call_may_take_three_times_its_first(tmp_path: Path) -> None:
    """The first has no history. Before, every session stalled here."""
    play = start(tmp_path, Takes(lambda n: 0.15 if n == 1 else 0.45))
    play.seconds(8)
    assert closed(play, tmp_path)["stalls"] == 0


def test_one_slow_call_does_not_make_those_after_it_wait(tmp_path: Path) -> None:
    decoder = SlowDecoder(lambda g: 0.02)
    play = start_slow(tmp_path, Takes(lambda n: 2.5 if n == 2 else 0.4), decoder, window=21)
    play.frames_more(8)
    for i in range(8):
        (play.engine.release if i % 2 else play.engine.press)("forward")
        play.seconds(2.6)
    seen = updates(closed(play, tmp_path))
    assert seen[0]["C"] > 2.4
    assert max(u["C"] for u in seen[2:]) < 0.7
    assert max(u["L"] for u in seen[3:]) < 1.2


def test_a_slow_edit_does_not_make_keys_wait(tmp_path: Path) -> None:
    class Edits(ToySampler):
        said = "a"

        def sample(self, request: Request, report: StepCallback) -> list[Group]:
            self.seconds = 0.1 if request.prepared.prompt == self.said else 1.0
            self.said = request.prepared.prompt
            return super().sample(request, report)

    play = start(tmp_path, Edits(), window=21)
    play.frames_more(8)
    play.engine.press("forward")
    play.seconds(2)
    for prompt in "bcd":
        play.engine.set_prompt(prompt)
        play.seconds(3)
        play.engine.release("forward")
        play.seconds(2)
        play.engine.press("forward")
        play.seconds(2)
    summary = closed(play, tmp_path)
    assert max(u["L"] for u in updates(summary)[1:] if u["kind"] == "key") < 0.5
    assert summary["stalls"] <= 1, "the first edit, of which nobody could know"


# -- decoding ------------------------------------------------------------------------------------------------------------


class FailsAt(ToyDecoder):
    """Cannot decode the groups that `bad` says, of (position, call)."""

    def __init__(self, bad: Callable[[int, int], bool]) -> None:
        super().__init__()
        self.bad, self.tries = bad, 0

    def decode(self, group: Group) -> list[Frame]:
        position, _, call = group.latent
        if self.bad(position, call):
            self.tries += 1
            raise RuntimeError("cannot decode")
        return super().decode(group)


def test_a_group_that_is_decoded_at_the_second_try_costs_nothing(tmp_path: Path) -> None:
    decoder = FailsAt(lambda position, call: position == 9 and decoder.tries == 0)
    play = start(tmp_path, ToySampler(seconds=0.2), decoder)
    play.frames_more(60)
    order(play)
    assert closed(play, tmp_path)["stalls"] == 0


@pytest.mark.parametrize("busy", [False, True], ids=["while idle", "during a call"])
def test_a_group_that_cannot_be_decoded_is_made_anew(tmp_path: Path, busy: bool) -> None:
    decoder = FailsAt(lambda position, call: position == 9 and call < 3)
    play = start(tmp_path, ToySampler(seconds=0.8 if busy else 0.05), decoder, window=7)
    play.frames_more(26)
    if busy:
        play.engine.press("forward")
    play.frames_more(50)
    order(play)
    closed(play, tmp_path)
    assert any("group 9 could not be decoded" in x for x in notes(tmp_path))


def test_when_nothing_can_be_decoded_any_more_the_person_is_told_and_the_world_waits(tmp_path: Path) -> None:
    decoder = FailsAt(lambda position, call: position >= 9)
    play = start(tmp_path, ToySampler(seconds=0.05), decoder)
    play.until(lambda: "decod" in play.engine.view.message and "tried again" in play.engine.view.message)
    assert play.engine.running
    play.engine.press("forward")
    decoder.bad = lambda position, call: False
    play.frames_more(30)
    order(play)
    closed(play, tmp_path)


class BeginsWithAFrame(ToySampler):
    """Its calls begin with the frame before the branch, as those of image-conditioned models do."""

    def __init__(self) -> None:
        super().__init__(seconds=0.1)
        self.frames = BoundaryFrames()
        self.lost = 0

    def attach(self, host: SamplerHost) -> None:
        super().attach(host)
        self.frames.ask = host.decode_until

    def sample(self, request: Request, report: StepCallback) -> list[Group]:
        if request.branch and self.frames.get(self.groups[request.branch - 1]) is None:
            self.lost += 1
            raise KeyError(f"the frame before group {request.branch} was not decoded")
        return super().sample(request, report)

    def lose_boundary_frame(self, group: Group) -> None:
        self.frames.lose(group)

    def reset(self) -> None:
        super().reset()
        self.frames.clear()


class PutsFrames(FailsAt):
    def __init__(
        self, sampler: BeginsWithAFrame, bad: Callable[[int, int], bool] = lambda position, call: False
    ) -> None:
        super().__init__(bad)
        self.sampler = sampler

    def decode(self, group: Group) -> list[Frame]:
        out = super().decode(group)
        self.sampler.frames.put(group, out[-1])
        return out

    def resume(self, groups: Sequence[Group]) -> None:
        for group in groups[-1:]:
            self.decode(group)


def test_going_back_into_a_take_works_where_calls_begin_with_a_frame(tmp_path: Path) -> None:
    """Before, the call waited a minute for a frame that nobody would decode."""
    sampler = BeginsWithAFrame()
    play = start(tmp_path, sampler, PutsFrames(sampler))
    play.frames_more(40)
    play.engine.rewind(0, 4)
    play.until(lambda: play.engine.takes.current == 1)
    play.frames.clear()
    play.frames_more(20)
    assert play.frames[0][0, 0, 0] == 5
    order(play)
    closed(play, tmp_path)
    assert sampler.lost == 0


def test_a_call_whose_frame_cannot_be_decoded_does_not_wait_for_it(tmp_path: Path) -> None:
    sampler = BeginsWithAFrame()
    play = start(tmp_path, sampler, PutsFrames(sampler, lambda position, call: position == 6 and call == 1), window=7)
    play.frames_more(60)
    order(play)
    closed(play, tmp_path)


# -- pauses, and what latency counts -------------------------------------------------------------------------------------


def test_a_pause_of_minutes_with_a_key_held_harms_nothing_and_is_nobodys_latency(tmp_path: Path) -> None:
    """Before, the call's first group waited behind locked ones that a standing clock does not need."""
    play = start(tmp_path, ToySampler(seconds=1.4), window=21)
    play.frames_more(30)
    play.engine.press("forward")
    play.seconds(0.3)
    play.engine.pause()
    play.clock.sleep(180)
    play.engine.resume()
    play.frames_more(120)
    order(play)
    summary = closed(play, tmp_path)
    assert not any("no end" in x for x in notes(tmp_path))
    assert len(updates(summary)) == 2, "the press, and the release by the pause"
    assert summary["L95"] < 5


def test_what_the_next_call_needs_is_made_after_the_first_group_is_on_show(tmp_path: Path) -> None:
    class Settles(ToySampler):
        pause = 0.0

        def prefill_chunk(self, groups: Sequence[Group], history: HistoryPolicy) -> None:
            self.sleep(self.pause)

        def prefill_step(self, locked: int, history: HistoryPolicy) -> bool:
            return False

    figures = []
    for pause in (0.0, 0.3):
        folder = tmp_path / str(pause)
        sampler = Settles(seconds=0.4)
        sampler.pause = pause
        play = start(folder, sampler, window=21)
        play.frames_more(12)
        for i in range(6):
            (play.engine.release if i % 2 else play.engine.press)("forward")
            play.seconds(2)
        summary = closed(play, folder)
        figures.append((summary["C_median"], summary["L50"]))
    assert figures[0] == pytest.approx(figures[1], abs=0.02)


def test_latency_ends_when_the_picture_is_seen_and_no_part_of_it_is_negative(tmp_path: Path) -> None:
    play = start(tmp_path, ToySampler(seconds=0.2), window=21)
    play.frames_more(12)
    pressed = play.clock.now()
    play.engine.press("forward")
    play.clock.sleep(1.7)  # the window is busy with something else
    play.until(lambda: play.frames[-1][0, 0, 1] == 1)
    seen = play.clock.now()
    (update,) = updates(closed(play, tmp_path))
    assert update["L"] == pytest.approx(seen - pressed, abs=0.01)
    assert min(update["R"], update["C"], update["Q"]) >= 0


def test_an_update_that_was_seen_just_before_a_new_world_is_answered(tmp_path: Path) -> None:
    class Waits(ToySampler):
        """While a call runs that takes long, what was played waits in the inbox."""

        def sample(self, request: Request, report: StepCallback) -> list[Group]:
            self.seconds = 0.1 if self.calls < 2 else 4.0
            return super().sample(request, report)

    play = start(tmp_path, Waits(), window=7)
    play.frames_more(12)
    play.engine.press("forward")
    play.until(lambda: play.frames[-1][0, 0, 1] == 1 or play.engine.view.delivered > 5)
    play.engine.new_world("b")
    play.until(lambda: play.engine.view.prompt == "b" and play.engine.view.delivered > 0)
    shown = {int(f[0, 0, 1]) for f in play.frames}
    summary = closed(play, tmp_path)
    outcome = {u["version"]: u["outcome"] for u in summary["updates"]}
    assert (outcome[1] == "applied") == (1 in shown)


# -- prompts and keys ----------------------------------------------------------------------------------------------------


class Encodes(ToySampler):
    """Conditions take 0.3 s each, as text encoders do."""

    prepares_slowly = True

    def __init__(self) -> None:
        super().__init__()
        self.encoded: list[str] = []

    def prepare(self, condition: Condition) -> Condition:
        if condition.version:
            self.sleep(0.3)
            self.encoded.append(f"{condition.prompt} {' '.join(condition.keys)}".strip())
        return super().prepare(condition)


@pytest.mark.parametrize("sampler", [ToySampler, Encodes])
def test_a_bad_prompt_takes_nothing_of_what_was_done_after_it(tmp_path: Path, sampler: type[ToySampler]) -> None:
    for what in ("good prompt", "key", "key held"):
        folder = tmp_path / what.replace(" ", "-")
        play = start(folder, sampler())
        play.frames_more(8)
        if what == "key held":
            play.engine.press("left")
            play.seconds(1)
        play.engine.set_prompt("bad")
        play.clock.sleep(0.05)
        if what == "good prompt":
            play.engine.set_prompt("c")
            play.clock.sleep(0.05)
        play.engine.press("forward")
        play.seconds(3)
        view = play.engine.view
        assert view.prompt == ("c" if what == "good prompt" else "a")
        assert "forward" in view.keys
        log = lines(folder)
        conditions = {x["version"]: x for x in log if x["kind"] == "condition"}
        on_show = conditions[view.version]
        assert (on_show["prompt"], on_show["keys"]) == (view.prompt, list(view.keys)), what
        closed(play, folder)


def test_a_prompt_that_proves_bad_after_its_world_was_left_is_nobodys_concern(tmp_path: Path) -> None:
    play = start(tmp_path, Encodes())
    play.frames_more(8)
    play.engine.set_prompt("bad")
    play.clock.sleep(0.05)
    play.engine.new_world("b")
    play.seconds(2)
    assert (play.engine.view.prompt, play.engine.view.message) == ("b", "")
    closed(play, tmp_path)


def test_the_newest_condition_is_encoded_and_those_before_it_fold_into_it(tmp_path: Path) -> None:
    sampler = Encodes()
    play = start(tmp_path, sampler)
    play.frames_more(8)
    for i in range(12):
        (play.engine.release if i % 2 else play.engine.press)("forward")
        play.clock.sleep(0.01)
    play.engine.set_prompt("b")
    play.seconds(2)
    assert len(sampler.encoded) <= 3
    assert sampler.encoded[-1] == "b"
    assert play.engine.view.version == 13
    summary = closed(play, tmp_path)
    assert {u["outcome"] for u in summary["updates"] if u["version"] < 12} <= {"applied", "superseded"}


@pytest.mark.parametrize("held", [0.03, 0.08, 0.2])
def test_a_key_shows_in_a_group_however_short_it_is_pressed(tmp_path: Path, held: float) -> None:
    play = start(tmp_path, ToySampler(seconds=0.1), window=7)
    play.frames_more(12)
    rng = np.random.default_rng(0)
    for _ in range(12):
        play.seconds(float(rng.uniform(0.3, 1.0)))
        play.engine.press("forward")
        play.seconds(held)
        play.engine.release("forward")
    play.seconds(1)
    closed(play, tmp_path)
    conditions = [x for x in lines(tmp_path) if x["kind"] == "condition"]
    shown = {int(f[0, 0, 1]) for f in play.frames}
    for press, release in zip(conditions[::2], conditions[1::2], strict=True):
        assert press["keys"] and not release["keys"]
        assert press["version"] in shown or (release["tapped"] and release["version"] in shown)


def test_a_key_whose_call_failed_after_it_was_let_go_is_not_lost(tmp_path: Path) -> None:
    sampler = ToySampler(seconds=0.4, broken=[2])
    play = start(tmp_path, sampler, window=21)
    play.until(lambda: sampler.calls == 1 and len(play.frames) > 12)
    play.engine.press("left")
    play.seconds(1.5)
    play.engine.press("forward")
    play.seconds(0.05)
    play.engine.release("forward")
    play.seconds(3)
    closed(play, tmp_path)
    conditions = {x["version"]: x for x in lines(tmp_path) if x["kind"] == "condition"}
    shown = {int(f[0, 0, 1]) for f in play.frames} & set(conditions)
    assert any("forward" in conditions[v]["keys"] + conditions[v]["tapped"] for v in shown)


def test_a_failed_prompt_is_not_tried_again_before_the_one_that_was_said_after_it(tmp_path: Path) -> None:
    class Dislikes(ToySampler):
        tried: list[str]

        def sample(self, request: Request, report: StepCallback) -> list[Group]:
            self.tried.append(request.prepared.prompt)
            self.broken = {self.calls} if request.prepared.prompt == "b" else set()
            return super().sample(request, report)

    sampler = Dislikes(seconds=0.2)
    sampler.tried = []
    play = start(tmp_path, sampler)
    play.frames_more(8)
    play.engine.set_prompt("b")
    play.until(lambda: "failed 2 times" in play.engine.view.message)
    play.engine.set_prompt("c")
    play.until(lambda: sampler.tried[-1] == "c")
    assert sampler.tried.count("b") == 2
    closed(play, tmp_path)


# -- new worlds, closing, looking ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["new world", "rewind"])
def test_a_group_of_the_world_that_is_left_never_reaches_the_next_one(tmp_path: Path, how: str) -> None:
    class Resets(ToySampler):
        def reset(self) -> None:
            if self.calls > 1:
                self.sleep(0.3)
            super().reset()

    decoder = SlowDecoder(lambda g: 0.2)
    play = start_slow(tmp_path, Resets(seconds=1.2), decoder, window=14)
    for i in range(4):
        play.frames_more(14)
        play.engine.press("left" if i % 2 else "forward")
        play.clock.sleep(0.02)
        epoch = play.engine.player.epoch
        play.engine.new_world() if how == "new world" else play.engine.rewind(play.engine.takes.current, 1)
        while play.engine.player.epoch == epoch:
            play.clock.sleep(0.001)
        there = [p for p in range(200) if play.engine.player.has(p)]
        play.clock.sleep(0.5)  # the call of the next world is not done yet
        there += [p for p in range(200) if play.engine.player.has(p)]
        assert there == []
        play.frames.clear()
    play.frames_more(8)
    closed(play, tmp_path)


def test_closing_during_a_step_of_a_minute_leaves_a_complete_log_and_does_not_wait_for_it(tmp_path: Path) -> None:
    play = start(tmp_path, ToySampler(seconds=240.0))
    play.seconds(1)
    began = play.clock.now()
    play.engine.close()
    assert play.clock.now() - began == pytest.approx(CLOSE_SECONDS)
    assert play.engine.summary is not None
    assert lines(tmp_path)[-1]["kind"] == "summary"
    play.engine.close(FOREVER)
    assert foreland_threads(play) == []
    assert play.engine.error is None
    assert lines(tmp_path)[-1]["kind"] == "summary"


def test_a_view_is_true_though_the_engine_is_in_the_middle_of_a_step(tmp_path: Path) -> None:
    play = start(tmp_path, Takes(lambda n: 0.1 if n == 1 else 40.0), window=21)
    play.frames_more(20)
    play.engine.press("left")
    play.seconds(0.1)  # its call is on its way, and its first step takes 10 s
    play.engine.press("forward")
    play.frames_more(9)
    view = play.engine.view
    assert view.state == "produce"
    assert view.keys == ("forward", "left")
    assert view.delivered == play.engine.player.next_position
    assert view.cached == view.end - view.delivered
    assert [g.position for g in view.groups if g.fate == "delivered"][-1] == view.delivered - 1
    assert view.updates[-1].text == "a" and view.updates[-1].phase == "received"
    play.engine.pause()
    assert play.engine.view.paused and play.engine.view.keys == ()
    play.engine.close()
    play.engine.close(FOREVER)


def test_what_fails_beside_a_call_is_not_taken_for_the_calls_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play = start(tmp_path, ToySampler(seconds=0.4))
    play.frames_more(4)

    whole, drained = Driver.drain, 0

    def broken(self: Driver) -> None:
        nonlocal drained
        drained += 1
        if drained == 2:  # once, between two steps
            raise RuntimeError("the inbox is broken")
        whole(self)

    monkeypatch.setattr(Driver, "drain", broken)
    play.engine.press("forward")
    play.until(lambda: not play.engine.running)
    play.engine.close()
    assert play.engine.error == "RuntimeError: the inbox is broken"
    assert not any("failed" in x for x in notes(tmp_path))


def test_a_new_world_from_the_models_own_start_is_logged_as_that(tmp_path: Path) -> None:
    play = start(tmp_path, ToySampler(seconds=0.05))
    play.frames_more(8)
    for begin in (None, StartFrom.model()):
        play.engine.new_world("b", 3, begin)
        play.until(lambda: play.engine.view.epoch > 0 and play.engine.view.delivered > 1)
        play.seconds(1)
    closed(play, tmp_path)
    assert [x["start"] for x in lines(tmp_path) if x["kind"] == "reset"] == [None, {"path": None}]
