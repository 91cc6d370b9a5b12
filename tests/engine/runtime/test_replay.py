"""A session's log replays to the same commands, or the first difference is shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.runtime.replay import ReplayError, replay
from tests.engine.runtime.test_engine import Play, start
from tests.toy import ToySampler


def lively(tmp_path: Path) -> Path:
    """A session with everything in it: keys, prompts, a bad prompt, a failed call, a pause, other settings, a reset."""
    play: Play = start(tmp_path, ToySampler(broken=[3]))
    e = play.engine
    play.frames_more(6)
    e.press("forward")
    play.frames_more(10)
    e.set_prompt("b")
    e.set_prompt("bad")
    e.release("forward")
    play.frames_more(20)
    e.pause()
    e.resume()
    e.configure(window=5)
    play.frames_more(16)
    e.new_world("c")
    play.until(lambda: e.view.prompt == "c" and e.view.delivered > 2)
    e.press("rise")
    play.frames_more(12)
    e.close()
    return tmp_path / "s"


def test_a_lively_session_replays_to_the_same_commands(tmp_path: Path) -> None:
    result = replay(lively(tmp_path))
    assert result.difference == ""
    assert result.events > 20
    assert result.commands > 20


def test_a_changed_command_is_found(tmp_path: Path) -> None:
    folder = lively(tmp_path)
    file = folder / "events.jsonl"
    lines: list[Any] = [json.loads(x) for x in file.read_text().splitlines()]
    launch = next(x for x in lines if isinstance(x, list) and x[:1] == ["L"] and x[2] > 0)  # its branch
    launch[2] += 1
    file.write_text("\n".join(map(json.dumps, lines)))
    assert "Launch" in replay(folder).difference


def test_what_is_no_session_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReplayError, match="cannot be read"):
        replay(tmp_path)
    (tmp_path / "events.jsonl").write_text("hello")
    with pytest.raises(ReplayError, match="not a session log"):
        replay(tmp_path)
