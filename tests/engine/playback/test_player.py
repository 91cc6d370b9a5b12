"""The media clock: due times, stalls, pauses."""

from __future__ import annotations

import numpy as np
import pytest

from engine.playback.player import PlaybackEventKind, Player


def frames(n: int, value: int = 0) -> list[np.ndarray]:
    return [np.full((1, 1, 3), value, np.uint8)] * n


def player(groups: int = 2) -> Player:
    p = Player(4.0)
    for i in range(groups):
        p.put(i, 4 * i, frames(4, i))
    return p


def whats(played: list) -> list[str]:
    return [p.what.value for p in played]


def test_the_clock_starts_with_the_first_group() -> None:
    p = Player(4.0)
    assert p.advance(5.0) == []
    p.put(0, 0, frames(4))
    assert whats(p.advance(6.0)) == ["started", "group", "frame"]
    assert p.media_time(6.25) == 0.25


def test_frames_are_shown_at_their_due_times() -> None:
    p = player()
    p.advance(0.0)
    assert [x.at for x in p.advance(1.1) if x.what is PlaybackEventKind.FRAME] == [0.25, 0.5, 0.75, 1.0]


def test_a_stall_holds_the_frame_shifts_later_deadlines_and_is_not_caught_up() -> None:
    p = player(1)
    p.advance(0.0)
    assert whats(p.advance(1.6))[-1] == "stalled"
    p.put(1, 4, frames(4, 1))
    assert whats(p.advance(2.0)) == ["resumed", "group", "frame"]
    assert p.stall_seconds == pytest.approx(1.0)
    assert [x.at for x in p.advance(2.5) if x.what is PlaybackEventKind.FRAME] == [2.25, 2.5]


def test_a_pause_is_no_stall_and_shifts_the_clock() -> None:
    p = player()
    p.advance(0.3)
    p.pause(0.4)
    assert p.advance(9.0) == []
    assert p.next_due() is None
    p.resume(10.4)
    assert [x.at for x in p.advance(10.6) if x.what is PlaybackEventKind.FRAME] == [pytest.approx(10.55)]
    assert p.stall_seconds == 0.0


def test_a_pause_during_a_stall_is_no_part_of_it() -> None:
    p = player(1)
    p.advance(1.0)
    assert whats(p.advance(2.6))[-1] == "stalled"  # since 2.0 s
    p.pause(3.0)
    p.resume(10.0)
    p.put(1, 4, frames(4))
    assert "resumed" in whats(p.advance(10.5))
    assert p.stall_seconds == pytest.approx(1.5)


def test_dropping_never_takes_what_began_to_play() -> None:
    p = player(3)
    p.advance(0.0)
    p.drop(0)
    assert p.has(0)
    assert not p.has(1)
    assert not p.has(2)
    assert not p.put(0, 0, frames(4))


def test_non_uniform_spans_play_by_their_frames() -> None:
    p = Player(4.0)
    p.put(0, 0, frames(1))
    p.put(1, 1, frames(4))
    p.put(2, 5, frames(4))
    p.advance(0.0)
    assert [x.at for x in p.advance(2.0) if x.what is PlaybackEventKind.GROUP] == [0.25, 1.25]
