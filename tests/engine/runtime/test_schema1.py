"""A log that Foreland 0.2 wrote still replays and regenerates.

data/schema-1 was written by the code of commit 4d52b57, with the toy of tensor_toy.py: keys, a transition, a bad
prompt, two failed calls, a pause, other settings, a stall, two rewinds and a reset that starts from a file.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from engine.runtime.regenerate import regenerate
from engine.runtime.replay import ReplayError, read_session, replay
from tests.engine.runtime.tensor_toy import tensor_model

LOG = Path(__file__).parent / "data" / "schema-1"


def test_the_log_has_everything_in_it_that_schema_2_says_otherwise() -> None:
    lines = [json.loads(x) for x in (LOG / "events.jsonl").read_text("utf-8").splitlines()]
    assert lines[0]["schema"] == 1
    kinds = {"Update", "InputsReady", "InputsRejected", "GroupsReady", "Finish", "Tick", "Wake"}
    assert {x["name"] for x in lines if x["kind"] == "event"} == kinds
    assert {x["data"]["cause"] for x in lines if x.get("name") == "Wake"} == {"timer", "hold", "release", "policy"}
    assert {"reset", "rewind"} <= {x["text"] for x in lines if x["kind"] == "note"}
    assert any(x["kind"] == "played" and x["what"] == "stalled" for x in lines)
    assert sum(bool(x["error"]) for x in lines if x["kind"] == "call") >= 2
    assert any(x.get("name") == "Restore" for x in lines)


def test_it_replays_to_the_same_commands() -> None:
    result = replay(LOG)
    assert result.difference == ""
    assert (result.events, result.commands) == (117, 104)


def test_a_changed_command_in_it_is_found(tmp_path: Path) -> None:
    text = (LOG / "events.jsonl").read_text("utf-8")
    revoke = next(x for x in text.splitlines() if '"name": "Revoke"' in x)
    (tmp_path / "events.jsonl").write_text(text.replace(revoke, revoke.replace('"update"', '"refill"')), "utf-8")
    assert "Revoke" in replay(tmp_path).difference


def test_it_regenerates_to_the_same_latents() -> None:
    frames = []
    result = regenerate(read_session(LOG), tensor_model(), lambda frame, sound: frames.append(frame))
    assert (result.groups, result.different) == (38, 0)
    assert len(frames) == 4 * 38


def test_latents_that_are_not_the_same_are_found() -> None:
    lines = read_session(LOG)
    call = next(x for x in lines if x["kind"] == "call" and x["branch"] > 0 and not x["error"])
    call["seed"] += 1
    result = regenerate(lines, tensor_model(), lambda frame, sound: None)
    assert result.different > 0
    assert "take 0" in result.first


def test_a_schema_of_the_future_is_refused(tmp_path: Path) -> None:
    shutil.copy(LOG / "events.jsonl", tmp_path / "events.jsonl")
    text = (tmp_path / "events.jsonl").read_text("utf-8")
    (tmp_path / "events.jsonl").write_text(text.replace('"schema": 1', '"schema": 9', 1), "utf-8")
    with pytest.raises(ReplayError, match="schema 9; this version reads 1 to 4"):
        read_session(tmp_path)
