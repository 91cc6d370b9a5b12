"""Going back: a tree of takes, exact to the group, bounded in memory, and said in the log."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.models.interface import Group
from engine.runtime.replay import replay
from engine.runtime.takes import Kept, Takes
from engine.runtime.view import UpdateKind, UpdatePhase
from tests.engine.runtime.test_engine import Play, lines, start


class Latent:
    nbytes = 100


def kept(position: int, version: int = 0) -> Kept:
    return Kept(Group(position, Latent(), None), 4 * position, 4, position // 7, version, f"prompt {version}")


def test_a_branch_keeps_what_was_and_a_path_leads_through_the_tree() -> None:
    takes = Takes()
    for p in range(10):
        takes.deliver(kept(p))
    assert [k.position for k in takes.branch(0, 4)] == [0, 1, 2, 3, 4]
    for p in range(5, 9):
        takes.deliver(kept(p, 1))
    takes.branch(1, 6)
    takes.deliver(kept(7, 2))
    assert [(k.position, k.version) for k in takes.path(2)] == [
        (0, 0),
        (1, 0),
        (2, 0),
        (3, 0),
        (4, 0),
        (5, 1),
        (6, 1),
        (7, 2),
    ]
    assert [k.position for k in takes.path(0)] == list(range(10)), "the first take is as it was"
    marks = {m.id: m for m in takes.marks()}
    assert (marks[1].parent, marks[1].first, marks[1].start, marks[1].end) == (0, 5, 20, 36)
    assert takes.current == 2


def test_memory_is_bounded_and_what_is_gone_is_refused() -> None:
    takes = Takes(limit=2000)
    for p in range(100):
        takes.deliver(kept(p))
    assert takes.nbytes <= 2000
    assert [k.position for k in takes.path(0)] == list(range(80, 100))
    with pytest.raises(LookupError, match="not kept"):
        takes.branch(0, 3)
    assert takes.current == 0
    takes.branch(0, 90)
    for p in range(91, 103):
        takes.deliver(kept(p))
    path = [k.position for k in takes.path(1)]
    assert path == list(range(path[0], 103)), "a path has no gap"


def test_a_revoked_suffix_stands_beside_what_came_instead() -> None:
    takes = Takes()
    for p in range(3):
        takes.deliver(kept(p))
    takes.revoke([kept(p) for p in range(3, 8)])
    for p in range(3, 6):
        takes.deliver(kept(p, 1))
    suffix = takes.suffixes()[-1]
    assert (suffix.position, suffix.start) == (3, 12)
    assert [(k.position, k.version) for k in takes.instead_of(suffix)] == [(3, 1), (4, 1), (5, 1)]


def test_going_back_plays_on_from_there_and_the_log_replays(tmp_path: Path) -> None:
    play: Play = start(tmp_path)
    engine = play.engine
    play.frames_more(48)
    before = len(play.frames)
    engine.rewind(0, 4)
    play.until(lambda: engine.takes.current == 1)
    arrived = len(play.frames)
    play.frames_more(24)
    engine.close()
    after = [(int(f[0, 0, 0]), int(f[0, 0, 2])) for f in play.frames[arrived:]]
    assert after[:8] == [(5, 0), (5, 1), (5, 2), (5, 3), (6, 0), (6, 1), (6, 2), (6, 3)]
    assert len(play.frames) > before
    assert [m.id for m in engine.takes.marks()] == [0, 1]
    assert any(x["kind"] == "rewind" and x["became"] == 1 for x in lines(tmp_path))
    result = replay(tmp_path / "s")
    assert result.difference == "" and result.events > 20
    g = engine.summary["groups"]  # type: ignore[index]
    assert g["predicted"] == g["delivered"] + g["revoked"] + g["cached"]


def test_no_group_is_lost_from_the_books_when_worlds_are_left(tmp_path: Path) -> None:
    play = start(tmp_path, window=14)
    for i in range(6):
        play.frames_more(14)
        play.engine.press("forward")
        play.engine.release("forward")
        if i % 2:
            play.engine.new_world()
        else:
            play.engine.rewind(
                play.engine.takes.current, play.engine.takes.path(play.engine.takes.current)[-2].position
            )
    play.frames_more(8)
    play.engine.close()
    g = play.engine.summary["groups"]  # type: ignore[index]
    assert g["predicted"] == g["delivered"] + g["revoked"] + g["cached"]
    assert replay(tmp_path / "s").difference == ""


def test_going_back_to_what_is_not_kept_is_said_and_nothing_changes(tmp_path: Path) -> None:
    play = start(tmp_path)
    play.frames_more(12)
    play.engine.rewind(0, 400)
    play.until(lambda: "not kept" in play.engine.view.message)
    n = len(play.frames)
    play.frames_more(12)
    play.engine.close()
    shown = [int(f[0, 0, 0]) for f in play.frames[: n + 12]]
    assert shown == [i // 4 for i in range(len(shown))]
    assert play.engine.takes.current == 0


def test_keys_and_prompts_work_after_going_back(tmp_path: Path) -> None:
    play = start(tmp_path, window=14)
    play.frames_more(30)
    play.engine.rewind(0, 3)
    play.until(lambda: play.engine.takes.current == 1)
    play.frames_more(6)
    play.engine.press("forward")
    play.until(lambda: any(u.kind is UpdateKind.KEY and u.phase is UpdatePhase.LIVE for u in play.engine.view.updates))
    play.frames_more(8)
    version = play.engine.view.version
    play.engine.close()
    assert play.frames[-1][0, 0, 1] == version
    assert np.all(np.diff([int(f[0, 0, 0]) for f in play.frames[-8:]]) >= 0)
