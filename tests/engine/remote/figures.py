"""What a line costs, in virtual time, and what the codec costs: `python -m tests.engine.remote.figures [codec]`. The figures of
docs/serving.md."""

from __future__ import annotations

import sys
import time
from itertools import pairwise

import numpy as np
from PIL import Image

from engine.assets import FOLDER
from engine.remote.pictures import PictureDecoder, PictureEncoder
from tests.engine.remote.delayed_line import Conditions
from tests.engine.remote.test_remote_world import HEAVY, compared

LINES = ((0, 0, 0), (40, 5, 0), (40, 5, 1), (150, 20, 0), (150, 20, 1))
"""Round trip and jitter in ms, lost packets in percent."""


def main(seconds: float = 60.0) -> None:
    print("| round trip, ms | lost | L50 here | L50 over it | L95 over it | stalled |")
    print("| --- | --- | --- | --- | --- | --- |")
    for trip, jitter, loss in LINES:
        here, over = compared(seconds, Conditions(trip / 2000, jitter / 2000, loss / 100, HEAVY))
        print(
            f"| {trip}{f' +- {jitter}' if jitter else ''} | {loss} % | {here['L50']:.2f} s | {over['L50']:.2f} s | {over['L95']:.2f} s "
            f"| {over['stall_share']:.1%} |",
            flush=True,
        )


def codec(groups: int = 48) -> None:
    """CPU milliseconds and KB of a group of 4 at 832x480. The picture is one of the worlds that ship, over which the view moves by 8
    pixels a frame, with noise as cameras have it."""
    print("| picture | encode, ms CPU | at best | decode, ms CPU | KB a group | first group, KB |")
    print("| --- | --- | --- | --- | --- | --- |")
    rng = np.random.default_rng(0)
    for file in sorted((FOLDER / "worlds").glob("*.png"))[:4]:
        frames = moving(np.asarray(Image.open(file).convert("RGB").resize((1664, 960))), 4 * groups, rng)
        encoder, decoder = PictureEncoder(832, 480, 16.0), PictureDecoder(832, 480)
        coded, encode, decode = [], [], []
        for i in range(0, len(frames), 4):
            a = time.process_time()
            coded.append(encoder.encode(frames[i : i + 4])[1])
            b = time.process_time()
            decoder.decode(coded[-1])
            encode.append(1000 * (b - a))
            decode.append(1000 * (time.process_time() - b))
        sizes = [sum(map(len, c)) / 1000 for c in coded]
        print(
            f"| {file.stem} | {np.median(encode):.1f} | {min(encode):.1f} | {np.median(decode):.1f} | {np.median(sizes[1:]):.0f} "
            f"| {sizes[0]:.0f} |",
            flush=True,
        )


def moving(large: np.ndarray, n: int, rng: np.random.Generator) -> list[np.ndarray]:
    """n frames of 832x480 out of a larger picture, to and fro."""
    out = []
    for i in range(n):
        x = abs((8 * i) % (2 * 832) - 832)
        frame = large[240:720, x : x + 832].astype(np.int16) + rng.integers(-2, 3, (480, 832, 1), np.int16)
        out.append(np.ascontiguousarray(frame.clip(0, 255).astype(np.uint8)))
    assert all(not np.array_equal(a, b) for a, b in pairwise(out))
    return out


if __name__ == "__main__":
    codec() if sys.argv[1:] == ["codec"] else main()
