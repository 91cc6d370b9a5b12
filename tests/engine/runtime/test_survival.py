"""The engine outlives what a person does and what the machine runs out of: one sentence, and the world plays on."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from engine.control.conditions import Condition
from engine.models.interface import Group, HistoryPolicy, ModelSpec
from engine.models.media_files import read_still
from engine.runtime import reading
from engine.runtime.clock import SystemClock
from engine.runtime.engine import Engine
from engine.runtime.replay import replay
from engine.runtime.settings import Settings, StartFrom
from tests.engine.runtime.test_engine import Play, lines, start
from tests.full_disk import full_disk
from tests.toy import SPEC, ToySampler, toy


def plays_on(play: Play) -> None:
    """Keys and prompts still act."""
    version = play.frames[-1][0, 0, 1]
    play.engine.press("forward")
    play.until(lambda: play.frames[-1][0, 0, 1] > version)
    play.engine.release_all()
    assert play.engine.running and play.engine.error is None


class Beginning(ToySampler):
    """Its world begins from a file, and that may go wrong in any way."""

    error: BaseException | None = None

    def set_start(self, file: Path | None) -> None:
        if self.error is not None:
            raise self.error
        if file is not None:
            read_still(file, self.spec)


@pytest.mark.parametrize(
    "error",
    [SyntaxError("broken PNG file"), TypeError("x"), MemoryError(), OSError(5, "Input/output error"), RecursionError()],
    ids=lambda e: type(e).__name__,
)
def test_an_error_of_any_kind_in_what_a_person_asks_for_is_said_and_logged_with_its_traceback(
    tmp_path: Path, error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    sampler = Beginning()
    sampler.error = error
    play = start(tmp_path, sampler)
    play.frames_more(8)
    with caplog.at_level(logging.ERROR):
        play.engine.new_world(start=StartFrom.file(tmp_path / "a.png"))
        play.until(lambda: bool(play.engine.view.message))
    assert "an error in the program" in play.engine.view.message
    assert "nothing was changed" not in play.engine.view.message, "nobody knows that"
    assert any(r.exc_info and r.exc_info[1] is error for r in caplog.records)
    plays_on(play)
    play.engine.close()
    assert any(type(error).__name__ in x.get("traceback", "") for x in lines(tmp_path))


def test_a_damaged_picture_is_refused_in_one_line(tmp_path: Path) -> None:
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(64)))
    play = start(tmp_path, Beginning())
    play.frames_more(8)
    play.engine.new_world(start=StartFrom.file(broken))
    play.until(lambda: "broken.png cannot be read as a picture" in play.engine.view.message)
    assert play.engine.view.message.endswith("nothing was changed")
    plays_on(play)
    play.engine.close()


def test_half_a_character_is_refused_and_keys_still_act(tmp_path: Path) -> None:
    play = start(tmp_path)
    play.frames_more(8)
    for say in (play.engine.set_prompt, play.engine.new_world, play.engine.set_negative_prompt):
        play.engine.set_prompt("b")
        play.until(lambda: play.engine.view.prompt == "b")
        say("a \ud83d castle")  # type: ignore[operator]
        play.until(lambda: "half a character" in play.engine.view.message)
        plays_on(play)
        assert play.engine.view.prompt == "b"
    play.engine.close()
    assert replay(tmp_path / "s").difference == ""
    with pytest.raises(ValueError, match="half a character"):
        Settings(prompt="\ud83d").checked(SPEC)


class Unprepared(ToySampler):
    """Cannot read some prompts, in a way that nobody foresaw."""

    def prepare(self, condition: Condition) -> Condition:
        if condition.prompt == "long":
            raise ValueError("the prompt is too long: 900 tokens, at most 512 are read; shorten it")
        if condition.prompt == "odd":
            raise TypeError("TextEncodeInput must be Union")
        return super().prepare(condition)


def test_a_prompt_that_cannot_be_read_leaves_the_one_before_in_force(tmp_path: Path) -> None:
    play = start(tmp_path, Unprepared())
    play.frames_more(8)
    for prompt, words in (("long", "shorten it"), ("odd", "the prompt could not be read (TypeError")):
        play.engine.set_prompt(prompt)
        play.until(lambda words=words: words in play.engine.view.message)  # type: ignore[misc]
        assert play.engine.view.prompt == "a"
        plays_on(play)
    play.engine.close()
    ends = [x["data"] for x in lines(tmp_path) if x.get("name") == "Receipt" and x["data"]["outcome"] == "rejected"]
    assert len(ends) == 2
    assert replay(tmp_path / "s").difference == ""


class Tight(ToySampler):
    """Has no memory for work ahead of a call."""

    asked = 0

    def prefill_chunk(self, groups: Sequence[Group], history: HistoryPolicy) -> None:
        raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")

    def prefill_step(self, locked: int, history: HistoryPolicy) -> bool:
        self.asked += 1
        raise MemoryError


def test_no_memory_for_work_ahead_is_said_once_and_calls_go_on(tmp_path: Path) -> None:
    sampler = Tight()
    play = start(tmp_path, sampler)
    play.frames_more(80)
    plays_on(play)
    play.engine.close()
    notes = [x["text"] for x in lines(tmp_path) if x["kind"] == "note"]
    assert sum("out of memory" in n for n in notes) == 1
    assert sampler.asked <= sampler.calls + 1, "not once a moment"


def test_a_full_disk_ends_the_log_with_one_sentence_and_not_the_world(tmp_path: Path) -> None:
    play = start(tmp_path)
    play.frames_more(8)
    size = (tmp_path / "s" / "events.jsonl").stat().st_size
    with full_disk(size + 100):  # the next line does not fit
        play.engine.press("rise")
        play.until(lambda: "session log" in play.engine.view.message)
        play.frames_more(60)
        plays_on(play)
        play.engine.close()
    assert play.engine.summary is not None and not play.engine.running
    assert play.engine.log_error.count("session log") == 1
    text = (tmp_path / "s" / "events.jsonl").read_text()
    assert text.endswith("\n"), "half a line is taken back"
    assert all(json.loads(x) for x in text.splitlines())


def test_a_torn_last_line_is_read_around(tmp_path: Path) -> None:
    play = start(tmp_path)
    play.frames_more(30)
    play.engine.press("forward")
    play.frames_more(30)
    play.engine.close()
    file = tmp_path / "s" / "events.jsonl"
    whole = file.read_bytes()
    assert replay(tmp_path / "s").commands > 5
    for cut in (1, 30, 300):
        file.write_bytes(whole[:-cut])
        assert replay(tmp_path / "s").difference == ""


def test_a_session_never_takes_the_place_of_another(tmp_path: Path) -> None:
    Engine(toy(), SPEC, Settings(prompt="a"), tmp_path / "s").close()
    before = (tmp_path / "s" / "events.jsonl").read_bytes()
    with pytest.raises(FileExistsError, match="holds a session already"):
        Engine(toy(), SPEC, Settings(prompt="a"), tmp_path / "s")
    assert (tmp_path / "s" / "events.jsonl").read_bytes() == before


def test_closing_during_a_step_that_hangs_writes_the_summary_and_leaves_the_thread(tmp_path: Path) -> None:
    goes_on = threading.Event()
    sampler = ToySampler(sleep=lambda seconds: None if not sampler_hangs[0] else (goes_on.wait(30), None)[1])
    sampler_hangs = [False]
    engine = Engine(toy(sampler), SPEC, Settings(prompt="a"), tmp_path / "s")
    engine.start()
    assert engine.ready.wait(20)
    sampler_hangs[0] = True
    engine.press("forward")
    time.sleep(0.2)
    began = time.monotonic()
    engine.close(0.3)
    assert time.monotonic() - began < 1.0
    assert engine.left_behind and engine.summary is not None
    assert json.loads((tmp_path / "s" / "summary.json").read_text())["model"] == "toy"
    assert any("was left" in x.get("text", "") for x in lines(tmp_path))
    goes_on.set()
    end = time.monotonic() + 10
    while engine.running:
        assert time.monotonic() < end, "it ends as soon as it can"
        time.sleep(0.01)
    assert lines(tmp_path)[-1]["kind"] == "summary", "and writes nothing any more"


def test_what_is_private_is_not_in_the_log_and_it_still_replays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORELAND_PRIVATE", "1")
    play = start(tmp_path)
    play.frames_more(8)
    play.engine.press("forward")
    play.engine.set_prompt("a very secret place")
    play.frames_more(20)
    play.engine.new_world("another secret place", start=StartFrom.model())
    play.until(lambda: "another" in play.engine.view.prompt)
    play.engine.close()
    text = "".join(f.read_text() for f in (tmp_path / "s").iterdir())
    assert "secret" not in text and "forward" not in text
    assert replay(tmp_path / "s").difference == ""


def test_only_the_person_can_read_the_log(tmp_path: Path) -> None:
    Engine(toy(), SPEC, Settings(prompt="a"), tmp_path / "s").close()
    assert (tmp_path / "s").stat().st_mode & 0o777 == 0o700
    assert {f.stat().st_mode & 0o777 for f in (tmp_path / "s").iterdir()} == {0o600}


def test_a_film_is_read_beside_the_world_and_the_newest_wish_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares: list[float] = []
    goes_on = threading.Event()

    def slow(
        file: Path, spec: ModelSpec, frames: int = 1, watch: Callable[[float], None] = shares.append
    ) -> np.ndarray:
        if file.name == "long.mp4":
            while not goes_on.wait(0.001):
                watch(0.5)
        return np.zeros((1, 2, 4, 3), np.uint8)

    monkeypatch.setattr(reading, "read_start", slow)
    begun: list[str] = []
    sampler = Beginning()
    sampler.set_start = lambda file: begun.append(file.name if file else "")  # type: ignore[method-assign]
    play = start(tmp_path, sampler, clock=SystemClock())
    play.frames_more(4)
    play.engine.new_world(start=StartFrom.file(Path("long.mp4")))
    play.until(lambda: play.engine.reading == (Path("long.mp4"), 0.5))
    plays_on(play)
    assert not begun
    play.engine.new_world(start=StartFrom.file(Path("a.png")))
    play.until(lambda: begun == ["a.png"])
    assert play.engine.reading is None
    play.engine.new_world(start=StartFrom.file(Path("long.mp4")))
    play.until(lambda: play.engine.reading is not None)
    play.engine.cancel_reading()
    play.until(lambda: play.engine.reading is None)
    play.frames_more(4)
    goes_on.set()
    play.engine.close()
    assert begun == ["a.png"]
