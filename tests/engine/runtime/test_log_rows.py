"""The rows of a session log: nothing that a replay needs is lost, an hour is small, and a kill costs the last line at most.

data/schema-2 and data/schema-3 were written by the code of commits cbeabd9 and 863bc5c: the session of `test_replay.lively`.
"""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, get_args

import pytest

from engine.control import events
from engine.control.conditions import Condition
from engine.control.events import Prediction
from engine.measure.bench_session import session
from engine.models.interface import Group
from engine.runtime.log_rows import COMMANDS, EVENTS, RowReader, RowWriter, encoded
from engine.runtime.replay import ReplayError, read_session, replay
from engine.runtime.session_log import plain
from engine.runtime.takes import Kept
from engine.runtime.view import UpdateKind
from tests.engine.runtime.test_replay import lively

DATA = Path(__file__).parent / "data"
ROOT = Path(__file__).resolve().parents[3]
RUNS = tuple(Prediction(p, 3, p - 7, 4 * p, 4, 2) for p in range(7, 20))
ODD = (Prediction(20, 3, 13, 80, 1, 2), Prediction(21, 4, 0, 81, 4, 3))


def _samples() -> list[Any]:
    return [
        events.ConditionChanged(12.1, 3, 12.000000000000002, True, events.Change.PRESS),
        events.ConditionChanged(12.1, 4, 12.1),
        events.ConditionChanged(12.2, 5, 12.1, True, events.Change.RELEASE, True),
        events.Guessed(12.2, 5),
        events.InputsReady(12.3, 4),
        events.InputsRejected(12.4, 5, 'no "words"\n'),
        events.CallProgressed(12.5, 7, 0, 4),
        events.GroupsReady(1e-9, 7, (1, 4, 4, 4, 1, 1), 13.333333333333334),
        events.GroupsReady(13.0, 8, ()),
        events.RequestFinished(13.5, 7),
        events.RequestFinished(13.5, 7, "OSError: full"),
        events.GroupStarted(123456.78901234567, 40),
        events.GroupStarted(123456.78901234567, 41, 123456.8),
        events.GroupDecoded(14.0, 41, 0.123457),
        events.GroupLost(14.0, 41, "x"),
        events.TimerFired(15.0),
        events.PlaybackHeld(16.0),
        events.PlaybackHeld(16.0, events.Hold.PAUSE, 15.9),
        events.PlaybackReleased(17.0, None, 16.9),
        events.SessionClosed(18.0),
        events.Launch(1, 7, 21, 3, events.Reason.UPDATE, 0.25),
        events.Launch(2, 28, 21, 3, events.Reason.REFILL),
        events.Revoke((*RUNS, *ODD), events.Reason.LOST),
        events.Restore(RUNS[2:3]),
        events.Launch(3, 30, 7, 3, events.Reason.ALTERNATIVE),
        events.Take(3, RUNS),
        events.Promote(3, 4),
        events.Abandon(2, "preempted"),
        events.Receipt(3, events.Outcome.RECEIVED, 19.0, 18.9),
        events.Receipt(3, events.Outcome.APPLIED, 20.1, 18.9, 28, -1, 0.1, 1.1, 0.30000000000000004, "", 0.5),
        events.Receipt(4, events.Outcome.SUPERSEDED, 20.1, 19.9, by=5),
        events.SetTimer(20.5),
        events.SetTimer(float("inf")),
        events.Notice("é\ud800"),
    ]


def _read(rows: list[Any]) -> list[dict[str, Any]]:
    reader = RowReader()
    return [reader.line(json.loads(encoded(row))) for row in rows]


@pytest.mark.parametrize("said", _samples(), ids=lambda x: type(x).__name__)
def test_an_event_or_command_comes_back_whole(said: Any) -> None:
    writer = RowWriter()
    is_event = isinstance(said, get_args(events.Event))
    (line,) = _read([writer.event(said) if is_event else writer.command(said)])
    assert line["name"] == type(said).__name__
    assert line["data"] == json.loads(json.dumps(plain(said)).encode("utf-8", "backslashreplace"))


def test_all_fields_of_events_and_commands_are_in_the_tables() -> None:
    """A new one needs another schema, since rows have their values by place; but for a last one, which old rows leave out as usual."""
    for kind, fields in (*EVENTS.values(), *COMMANDS.values()):
        assert fields == tuple(f.name for f in dataclasses.fields(kind))
    assert {k for k, _ in EVENTS.values()} == {*get_args(events.Event)} - {events.PolicyChanged}
    assert {k for k, _ in COMMANDS.values()} == set(get_args(events.Command))


def test_groups_and_conditions_that_follow_the_one_before_come_back_whole() -> None:
    writer = RowWriter()
    groups = [Kept(Group(p, None, None), 4 * p, 4, p // 3, p // 5, "") for p in (*range(12), *range(6, 9))]
    lines = _read([writer.delivered(k, i // 12, 1000 + i) for i, k in enumerate(groups)])
    assert [(x["position"], x["start"], x["span"], x["call"], x["version"]) for x in lines] == [
        (k.position, k.start, k.span, k.call, k.version) for k in groups
    ]
    assert [(x["take"], x["latent"]) for x in lines] == [(i // 12, 1000 + i) for i in range(15)]
    said = [Condition(1, "a"), Condition(2, "a", ("left",), ("up",)), Condition(3, "b", (), (), "a", 0.5, "not")]
    lines = _read([writer.condition(c, UpdateKind.KEY, 1.5) for c in said])
    names = ("version", "prompt", "keys", "tapped", "before", "share", "negative")
    assert [{n: x[n] for n in names} for x in lines] == [json.loads(json.dumps(plain(c))) for c in said]


@pytest.mark.parametrize(
    "row", [[], ["?"], ["g"], ["g", 1.0, 2, 3.0, 4], [[]], ["V", [0] * 6 + [10**12], "lost"], ["D", 1], 3]
)
def test_a_row_that_is_none_is_refused_with_its_line(tmp_path: Path, row: Any) -> None:
    first = (lively(tmp_path) / "events.jsonl").read_text().split("\n")[0]
    (tmp_path / "events.jsonl").write_text(f"{first}\n{json.dumps(row)}\n")
    with pytest.raises(ReplayError, match="line 2 is n"):
        read_session(tmp_path)


@pytest.mark.parametrize("schema", [2, 3])
def test_an_older_log_replays_to_the_same_commands(schema: int) -> None:
    result = replay(DATA / f"schema-{schema}")
    assert result.difference == ""
    assert result.commands > 40


def test_an_hour_of_play_is_under_four_megabytes(tmp_path: Path) -> None:
    """Thirty updates a minute, at Wan's K; schema 3 took 14 MB an hour for the same."""
    row = session(120.0, tmp_path / "s")
    assert row["replay"] == "the same"
    assert row["updates"] == 60
    assert row["log_mb_an_hour"] < 2.5, "live times have some digits more"


def test_a_killed_session_keeps_all_but_its_last_line(tmp_path: Path) -> None:
    code = "import sys; from pathlib import Path; from engine.measure.bench_session import session; session(1e5, Path(sys.argv[1]))"
    child = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "s")], cwd=ROOT)
    log = tmp_path / "s" / "events.jsonl"
    try:
        while not log.exists() or log.stat().st_size < 50_000:
            assert child.poll() is None
            time.sleep(0.05)
        os.kill(child.pid, signal.SIGKILL)
    finally:
        child.kill()
        child.wait()
    result = replay(tmp_path / "s")
    assert result.difference in (
        "",
        *[f"at the end: {k.__name__} was not sent in the session" for k, _ in COMMANDS.values()],
    )
    assert result.events > 500


@pytest.mark.slow  # a minute of computing
@pytest.mark.timeout(1800)
def test_a_hundred_thousand_groups_take_no_more_memory_or_time_than_ten_thousand() -> None:
    """Seven hours of play; what grows is one record an update, for the summary."""
    row = session(25_000.0, None)
    assert row["groups"] == 100_000
    assert row["memory_grown_mb"] < 4
    assert row["view_ratio"] < 1.5
