"""Films: sound stays with the picture whatever was missing, odd sizes are made even, and a crash leaves a film that plays."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from engine.playback.player import sample_at
from engine.playback.recorder import FALLBACK, Recorder, RecordingError, video_encoder
from tests.full_disk import full_disk

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
for i in range(96):
    r.add(np.random.default_rng(i).integers(0, 40, (48, 64, 3), np.uint8), np.zeros((3000, 2), np.float32))
while not r._frames.empty():
    time.sleep(0.05)
time.sleep(0.5)
os._exit(9)
"""
    done = subprocess.run([sys.executable, "-c", code], timeout=120)
    assert done.returncode == 9
    import av

    with av.open(str(tmp_path / "a.mp4")) as box:
        assert sum(1 for _ in box.decode(video=0)) >= 96 - 16, "at most a second is lost"


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


COLOURS = {"red": (200, 30, 30), "green": (30, 170, 40), "magenta": (190, 40, 180), "grey": (128, 128, 128)}


def bars(width: int, height: int) -> np.ndarray:
    """The colours beside each other."""
    return np.concatenate([np.full((height, width // 4, 3), c, np.uint8) for c in COLOURS.values()], 1)


def length_in_header(file: Path) -> float:
    """Seconds that the movie header (ISO 14496-12, 8.2.2) says, read by hand."""
    data = file.read_bytes()
    at = data.rindex(b"mvhd") + 4
    version = data[at]
    scale, length = struct.unpack(
        ">IQ" if version else ">II", data[at + (20 if version else 12) :][: 12 if version else 8]
    )
    return length / scale


@pytest.mark.parametrize(("width", "height"), [(832, 480), (1280, 720), (480, 832)])
def test_colours_are_tagged_and_come_back_as_they_were_shown(tmp_path: Path, width: int, height: int) -> None:
    """The ruler: BT.709 in limited range by the equations of the standard, on the planes of the decoded film."""
    import av

    file = tmp_path / "a.mp4"
    recorder = Recorder(file, width, height, 16.0)
    for i in range(4):
        recorder.add(bars(width, height), draw=(lambda pixels: None) if i == 2 else None)
    recorder.close()
    with av.open(str(file)) as box:
        context = box.streams.video[0].codec_context
        assert (context.color_primaries, context.color_trc, context.colorspace, context.color_range) == (1, 1, 1, 1)
        for frame in box.decode(video=0):
            planes = frame.to_ndarray().astype(float)  # yuv420p: Y, then U and V at half the size
            y = planes[: frame.height]
            u, v = planes[frame.height :].reshape(2, frame.height // 2, frame.width // 2)
            for i, colour in enumerate(COLOURS.values()):
                x, row = (2 * i + 1) * frame.width // 8, frame.height // 2
                luma = (y[row, x] - 16) / 219
                blue = (u[row // 2, x // 2] - 128) / 224 * 1.8556
                red = (v[row // 2, x // 2] - 128) / 224 * 1.5748
                rgb = (luma + red, luma - (0.0722 * blue + 0.2126 * red) / 0.7152, luma + blue)
                assert np.abs(255 * np.array(rgb) - colour).max() < 3


def test_a_film_that_ends_well_is_a_plain_one_with_its_length_in_the_header(tmp_path: Path) -> None:
    import av

    file = tmp_path / "a.mp4"
    recorder = Recorder(file, 64, 48, 16.0, rate=RATE)
    for i in range(40):
        recorder.add(np.full((48, 64, 3), i, np.uint8), tone(i, 16.0))
    recorder.close()
    assert length_in_header(file) == pytest.approx(40 / 16, abs=0.01)
    with av.open(str(file)) as box:
        times = [(s.start_time, float((s.duration or 0) * (s.time_base or 0))) for s in box.streams]
    assert times == [(0, pytest.approx(2.5)), (0, pytest.approx(2.5))], "sound and picture begin and end together"


def test_a_full_disk_ends_the_film_at_once_and_what_was_written_plays(tmp_path: Path) -> None:
    import av

    rng = np.random.default_rng(0)
    file = tmp_path / "a.mp4"
    with full_disk(1_000_000):
        recorder = Recorder(file, 128, 80, 16.0, rate=RATE, waits=False)
        end = time.monotonic() + 30
        while not recorder.error:
            assert time.monotonic() < end
            recorder.add(rng.integers(0, 40, (80, 128, 3), np.uint8))
            time.sleep(0.005)
        for _ in range(500):
            recorder.add(np.zeros((80, 128, 3), np.uint8))
        assert recorder._frames.qsize() <= recorder._frames.maxsize < 100, "memory does not grow"
        with pytest.raises(RecordingError, match="is incomplete: File too large"):
            recorder.close()
    shown = 0
    with av.open(str(file)) as box, suppress(av.error.InvalidDataError):  # the packet that did not fit
        for _ in box.decode(video=0):
            shown += 1
    assert shown >= recorder.written - 16 > 0


def test_an_encoder_that_is_too_slow_leaves_frames_out_and_sound_stays_in_its_place(tmp_path: Path) -> None:
    slow = threading.Event()
    recorder = Recorder(tmp_path / "a.mp4", 64, 48, 16.0, rate=RATE, waits=False)

    def wait(pixels: np.ndarray) -> None:
        slow.wait(30)

    recorder.add(np.zeros((48, 64, 3), np.uint8), tone(0, 16.0), wait)
    for i in range(1, 200):
        recorder.add(np.zeros((48, 64, 3), np.uint8), tone(i, 16.0))
    assert recorder._frames.qsize() <= 64
    slow.set()
    time.sleep(1.0)
    recorder.add(np.full((48, 64, 3), 255, np.uint8), tone(200, 16.0))
    recorder.close()
    assert recorder.left_out + recorder.written == 201 and recorder.left_out > 100
    pictures, sound, _ = read(tmp_path / "a.mp4")
    assert pictures == recorder.written
    assert abs(sound.shape[1] / RATE - 201 / 16) < 0.05
    assert np.abs(sound[:, -2400:-1200]).max() > 0.2, "the last frame's tone is at the end"


@pytest.mark.parametrize("where", ["folder", "pipe", "link"])
def test_what_cannot_be_written_is_said_at_once_and_not_waited_for(tmp_path: Path, where: str) -> None:
    file = tmp_path / "a.mp4"
    if where == "folder":
        file.mkdir()
    elif where == "pipe":
        os.mkfifo(file)
    else:
        file.symlink_to("/proc/nowhere/a.mp4")
    with pytest.raises(RecordingError, match="cannot write"):
        Recorder(file, 64, 48, 16.0)


def test_an_earlier_film_stays_until_there_is_a_new_one(tmp_path: Path) -> None:
    file = tmp_path / "a.mp4"
    file.write_bytes(b"an earlier film")
    Recorder(file, 64, 48, 16.0, rate=RATE).close()
    assert file.read_bytes() == b"an earlier film"
    Recorder(tmp_path / "b.mp4", 64, 48, 16.0).close()
    assert not (tmp_path / "b.mp4").exists()
