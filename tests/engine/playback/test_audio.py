"""Sound on its way out: exact samples, no click whatever playback does, and one clock for sound and picture."""

from __future__ import annotations

import numpy as np
import pytest

from engine.playback.audio import DRIFT_SECONDS, DeviceClock, SoundReader
from engine.playback.player import Player, sample_at
from engine.playback.shared_player import SharedPlayer

FPS, RATE = 16.0, 8000
PICTURES = [np.zeros((2, 2, 3), np.uint8)] * 4


def tone(start: int, span: int = 4, rate: int = RATE) -> np.ndarray:
    """A steady tone by absolute time, so that joins are seamless and every sample can be told."""
    t = np.arange(sample_at(start, FPS, rate), sample_at(start + span, FPS, rate)) / rate
    return np.repeat(0.5 * np.sin(2 * np.pi * 100 * t)[:, None], 2, 1).astype(np.float32)


def playing(groups: int = 8) -> SharedPlayer:
    screen = SharedPlayer(FPS, RATE)
    for p in range(groups):
        screen.put(p, 4 * p, PICTURES, tone(4 * p))
    return screen


def steps(x: np.ndarray) -> float:
    return float(np.abs(np.diff(x, axis=0)).max())


CLEAN = 0.5 * 2 * np.pi * 100 / RATE * 1.3
"""The largest step of the tone itself, with room for a fade's slope."""


def test_each_frame_comes_with_its_own_samples() -> None:
    player = Player(24.0, 32_000)
    whole = np.random.default_rng(0).normal(size=(sample_at(9, 24.0, 32_000), 2)).astype(np.float32)
    pictures = [np.zeros((2, 2, 3), np.uint8)]
    player.put(0, 0, pictures * 1, whole[: sample_at(1, 24.0, 32_000)])
    player.put(1, 1, pictures * 8, whole[sample_at(1, 24.0, 32_000) :])
    heard = [p.sound for p in player.advance(0.0) if p.image is not None]
    for i in range(1, 9):
        heard += [p.sound for p in player.advance(i / 24.0) if p.image is not None]
    assert [len(h) for h in heard] == [1333, 1334, 1333] * 3
    assert np.array_equal(np.concatenate(heard), whole)


def test_the_device_hears_the_committed_samples_and_no_others() -> None:
    screen = playing()
    screen.advance(10.0)
    reader = SoundReader(screen)
    heard = []
    for i in range(20):
        now = 10.0 + i * 0.02
        screen.advance(now)
        heard.append(reader.pull(now + 0.05, 160))
    x = np.concatenate(heard)
    first = round(0.05 * RATE)
    expected = np.concatenate([tone(4 * p) for p in range(8)])[first : first + len(x)]
    assert np.allclose(x[160:], expected[160:], atol=1e-6)
    assert steps(x) < CLEAN


def test_a_revoked_group_is_heard_in_its_new_version() -> None:
    screen = playing(3)
    screen.advance(0.0)
    screen.drop(1)
    other = np.full((2000, 2), 0.25, np.float32)
    screen.put(1, 4, PICTURES, other)
    got, known = screen.sound(2000, 2000)
    assert known == 2000 and np.array_equal(got, other)
    got, known = screen.sound(1000, 4000)
    assert known == 3000, "what was revoked and not made anew is not there"
    assert not got[3000:].any()


@pytest.mark.parametrize("event", ["pause", "stall", "restart"])
def test_whatever_playback_does_there_is_no_click(event: str) -> None:
    screen = playing(2 if event == "stall" else 12)
    reader = SoundReader(screen)
    heard, now = [], 0.0
    for i in range(90):
        now = i * 0.02
        screen.advance(now)
        if event == "pause" and i == 20:
            screen.pause(now)
        if event == "pause" and i == 40:
            screen.resume(now)
        if event == "stall" and i == 60:
            for p in range(2, 9):
                screen.put(p, 4 * p, PICTURES, tone(4 * p))
        if event == "restart" and i == 20:
            screen.restart()
        if event == "restart" and i == 40:
            for p in range(9):
                screen.put(p, 4 * p, PICTURES, tone(4 * p))
        heard.append(reader.pull(now, 160))
    x = np.concatenate(heard)
    assert steps(x) < CLEAN + 0.5 / (0.01 * RATE)
    quiet = x[45 * 160 : 55 * 160] if event == "stall" else x[25 * 160 : 38 * 160]
    assert not quiet.any(), "nothing is heard while nothing plays"
    assert np.abs(x[-10 * 160 :]).max() > 0.4, "and it goes on"


def test_volume_goes_without_a_step_and_mute_is_silent() -> None:
    screen = playing(12)
    reader = SoundReader(screen)
    heard = []
    for i in range(30):
        screen.advance(i * 0.02)
        reader.volume = 1.0 if i < 10 else 0.0
        heard.append(reader.pull(i * 0.02, 160))
    x = np.concatenate(heard)
    assert steps(x) < CLEAN + 0.5 / 160 * 2
    assert not x[12 * 160 :].any()


@pytest.mark.parametrize("speed", [0.9995, 1.0, 1.0004])
def test_the_clock_follows_the_device_and_never_goes_back(speed: float) -> None:
    now = 0.0
    clock = DeviceClock(lambda: now)
    rng = np.random.default_rng(0)
    last, errors = clock(), []
    offset = None
    for i in range(180 * 50):
        now = i * 0.02
        clock.observe(now, now * speed + rng.normal() * 0.001)
        t = clock()
        assert t >= last
        last = t
        if i == 60 * 50:
            offset = t - now * speed
        if offset is not None:
            errors.append(t - now * speed - offset)
    assert np.abs(errors).max() < 0.004, "within some milliseconds of the device, however long it runs"


def test_an_hour_of_a_fast_device_keeps_sound_and_picture_together() -> None:
    """In virtual time: a device that runs 300 ppm fast would be off by more than a second by the machine's clock."""
    now, played = 0.0, 0
    clock = DeviceClock(lambda: now)
    screen = SharedPlayer(FPS, RATE)
    reader = SoundReader(screen)
    position, worst = 0, 0.0
    block = RATE // 10
    while now < 3600:
        while position < screen.next_position + 3:
            screen.put(position, 4 * position, PICTURES, np.zeros((RATE // 4, 2), np.float32))
            position += 1
        clock.observe(now, played / RATE)
        screen.advance(clock())
        reader.pull(clock(), block)
        if reader._next is not None:
            due = screen.sample_due(clock())
            assert due is not None
            worst = max(worst, abs(reader._next - block - due) / RATE)
        played += block
        now = played / RATE / 1.0003
    assert reader.jumps == 0
    assert worst < DRIFT_SECONDS


def test_a_lost_device_leaves_the_clock_running() -> None:
    now = 0.0
    clock = DeviceClock(lambda: now)
    for i in range(100):
        now = i * 0.02
        clock.observe(now, now * 1.0002)
    before = clock()
    clock.lose()
    now += 5.0
    assert clock() == pytest.approx(before + 5.0, abs=1e-6)
    clock.observe(now, 0.0)  # another device, which begins at nothing
    assert clock() == pytest.approx(before + 5.0, abs=1e-3)
