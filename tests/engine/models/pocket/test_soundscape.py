"""The pocket world's sound: a function of committed states, without clicks at joins and branches."""

from __future__ import annotations

import numpy as np
import pytest

from engine.models.pocket.camera import FPS
from engine.models.pocket.network import ATTRIBUTES, CONDITION
from engine.models.pocket.soundscape import MIX, QUIET, RATE, Hearing, Soundscape, aimed, one_of
from engine.playback.player import sample_at


@pytest.fixture(scope="module")
def scape() -> Soundscape:
    return Soundscape()


def motion(forward: float) -> np.ndarray:
    return np.tile(np.array([forward, 0, 0, 0, 0], np.float32), (4, 1))


def walk(
    scape: Soundscape, groups: int, aim: np.ndarray, forward: float = 1.0, first: Hearing = QUIET, start: int = 0
) -> list[np.ndarray]:
    out, h = [], first
    for g in range(groups):
        h = h.onward(aim, motion(forward if g % 6 < 4 else 0))
        out.append(scape.render(h, 4 * (start + g)))
    return out


def test_a_group_has_exactly_its_samples_and_they_are_read_only(scape: Soundscape) -> None:
    x = scape.render(QUIET, 8)
    assert x.shape == (sample_at(4, FPS, RATE), 2) and x.dtype == np.float32
    assert not x.flags.writeable
    assert 0.001 < np.abs(x).max() <= 1


@pytest.mark.parametrize("land", range(ATTRIBUTES[0]))
def test_joins_have_no_click(scape: Soundscape, land: int) -> None:
    parts = walk(scape, 40, one_of((land, land % 4, 0)))
    whole = np.concatenate(parts)
    steps = np.abs(np.diff(whole, axis=0)).max(1)
    joins = steps[np.cumsum([len(p) for p in parts])[:-1] - 1]
    assert joins.max() <= np.quantile(steps, 0.9995) + 0.01


def test_a_branch_to_another_land_has_no_click_either(scape: Soundscape) -> None:
    h = QUIET
    for _ in range(6):
        h = h.onward(one_of((0, 1, 0)), motion(1))
    before = scape.render(h, 20)
    other = h.onward(one_of((3, 3, 2)), motion(0))
    after = scape.render(other, 24)
    inner = np.abs(np.diff(np.concatenate((before, after)), axis=0)).max(1)
    assert inner[len(before) - 1] <= np.quantile(inner, 0.9995) + 0.01


def test_the_same_state_sounds_the_same_whatever_was_asked_before(scape: Soundscape) -> None:
    h = QUIET.onward(one_of((4, 0, 0)), motion(1))
    first = scape.render(h, 40)
    scape.render(QUIET, 0)
    assert np.array_equal(first, scape.render(h, 40))
    assert np.array_equal(first, Soundscape().render(h, 40))


def test_lands_sound_different_and_night_has_crickets(scape: Soundscape) -> None:
    def loud(aim: np.ndarray, low: float, high: float) -> float:
        x = np.concatenate(walk(scape, 24, aim, 0.0, Hearing(aim, aim)))[:, 0]
        f = np.fft.rfftfreq(len(x), 1 / RATE)
        return float(np.sqrt((np.abs(np.fft.rfft(x)) ** 2)[(f > low) & (f < high)].mean()))

    assert loud(one_of((3, 1, 0)), 20, 150) > 2 * loud(one_of((4, 1, 0)), 20, 150), "fire is low"
    assert loud(one_of((0, 3, 0)), 4250, 4350) > 2 * loud(one_of((0, 1, 0)), 4250, 4350)


def test_steps_are_heard_while_walking_and_not_while_standing(scape: Soundscape) -> None:
    aim = one_of((7, 1, 2))
    h = Hearing(aim, aim)
    walking, standing = h, h
    a, b = [], []
    for g in range(12):
        walking, standing = walking.onward(aim, motion(1)), standing.onward(aim, motion(0))
        a.append(scape.render(walking, 4 * g))
        b.append(scape.render(standing, 4 * g))
    sharp = [np.abs(np.diff(np.concatenate(x), axis=0)).max() for x in (a, b)]
    assert sharp[0] > 2 * sharp[1]
    assert walking.way > 40 and standing.way == 0


def test_what_a_prompt_does_not_say_stays_as_it_was() -> None:
    attributes = np.zeros(CONDITION, np.float32)
    attributes[2] = 1.0  # snow
    attributes[9 + 4] = 1.0  # no time
    attributes[9 + 5 + 3] = 1.0  # no weather
    mix = aimed(attributes, one_of((0, 3, 1)))
    assert np.allclose(mix, one_of((2, 3, 1)))


def test_a_state_crosses_a_pipe() -> None:
    h = QUIET.onward(one_of((6, 2, 1)), motion(0.7))
    again = Hearing.of(h.vector())
    assert len(h.vector()) == 2 * MIX + 3
    assert np.array_equal(again.now, h.now) and again.pace == pytest.approx(h.pace)
