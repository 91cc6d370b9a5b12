"""Films: sound stays with the picture whatever was missing, odd sizes are made even, and a crash leaves a film that plays."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from engine.playback.player import sample_at
from engine.playback.recorder import FALLBACK, Recorder, RecordingError, video_encoder

RATE = 48_000


def tone(frame: int, fps: float, hertz: float = 440.0) -> np.ndarray:
    t = np.arange(sample_at(frame, fps, RATE), sample_at(frame + 1, fps, RATE)) / RATE
    return np.repeat(0.4 * np.sin(2 * np.pi * hertz * t)[:, None], 2, 1).astype(np.float32)


def read(file: Path) -> tuple[int, np.ndarray, tuple[int, int]]:
    import av

    with av.open(str(file)) as box:
        pictures = [f.to_ndarray(format="rgb24") for f in box.decode(video=0)]
    with av.open(str(file)) as box:
        sound = np.concatenate([f.to_ndarray() for f in box.decode(audio=0)], 1)
    return len(pictures), sound, pictures[0].shape[:2]


@pytest.mark.parametrize("fps", [16.0, 24.0])
def test_sound_is_as_long_as_the_picture_and_in_its_place(tmp_path: Path, fps: float) -> None:
    recorder = Recorder(tmp_path / "a.mp4", 64, 48, fps, rate=RATE)
    n = round(3 * fps)
    for i in range(n):
        quiet = n // 3 <= i < 2 * n // 3  # a second in which there was no sound
        recorder.add(np.full((48, 64, 3), 40 if quiet else 200, np.uint8), None if quiet else tone(i, fps))
    recorder.close()
    pictures, sound, _ = read(tmp_path / "a.mp4")
    assert pictures == n
    assert abs(sound.shape[1] / RATE - n / fps) < 0.05
    loud = [float(np.abs(sound[:, round((s + 0.2) * RATE) : round((s + 0.8) * RATE)]).max()) for s in range(3)]
    assert loud[0] > 0.2 and loud[2] > 0.2 and loud[1] < 0.05, (
        "silence is where the picture is dark, and nothing moved up"
    )


def test_odd_sizes_are_made_even(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "a.mp4", 333, 251, 16.0, least_height=100)
    for _ in range(4):
        recorder.add(np.zeros((251, 333, 3), np.uint8))
    recorder.close()
    import av

    with av.open(str(tmp_path / "a.mp4")) as box:
        frame = next(box.decode(video=0))
    assert frame.width % 2 == 0 and frame.height % 2 == 0 and frame.height >= 251


def test_a_crash_leaves_a_film_that_plays(tmp_path: Path) -> None:
    code = f"""
import os, time
import numpy as np
from pathlib import Path
from engine.playback.recorder import Recorder
r = Recorder(Path({str(tmp_path / "a.mp4")!r}), 64, 48, 16.0, rate=48000)
for i in range(400):
    r.add(np.random.default_rng(i).integers(0, 255, (48, 64, 3), np.uint8), np.zeros((3000, 2), np.float32))
while not r._frames.empty():
    time.sleep(0.05)
time.sleep(0.5)
os._exit(9)
"""
    done = subprocess.run([sys.executable, "-c", code], timeout=120)
    assert done.returncode == 9
    import av

    with av.open(str(tmp_path / "a.mp4")) as box:
        assert sum(1 for _ in box.decode(video=0)) > 200


def test_drawing_happens_in_the_film_and_not_in_the_frame(tmp_path: Path) -> None:
    import av

    frame = np.full((48, 64, 3), 200, np.uint8)
    recorder = Recorder(tmp_path / "a.mp4", 64, 48, 16.0)

    def draw(pixels: np.ndarray) -> None:
        pixels[: pixels.shape[0] // 2] = 0

    for _ in range(6):
        recorder.add(frame, draw=draw)
    recorder.close()
    with av.open(str(tmp_path / "a.mp4")) as box:
        shown = next(box.decode(video=0)).to_ndarray(format="rgb24")
    assert shown[:100].mean() < 20 and shown[-100:].mean() > 150
    assert frame.min() == 200


def test_without_an_encoder_of_the_hardware_the_usual_one_is_taken(tmp_path: Path) -> None:
    name = video_encoder(True, 640, 480)
    assert name == FALLBACK or name.startswith("h264_")
    assert video_encoder(False, 640, 480) == FALLBACK


def test_a_file_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    with pytest.raises(RecordingError, match="cannot write"):
        Recorder(tmp_path / "x" / "a.mp4", 64, 48, 16.0)
