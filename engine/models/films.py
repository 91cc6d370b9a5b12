"""The end of a film from a file, as a player shows it: aspect of its samples, rotation, colours, times with gaps or without any.

Only the end is decoded: what comes before is wound over.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.files import FileError, check_regular
from engine.models.pictures import MediaError

FORMATS = "mov,matroska,avi,mpegts,mpeg,ogg,asf,flv,gif,h264,hevc,mxf"
"""Demuxers that may open a file. Playlists, which name other files, are not among them."""
MOST_PIXELS = 40_000_000
"""Of a frame: 8K has 33 million."""
KEYFRAMES_APART = 10.0
"""Seconds that are wound back further than needed: keyframes may be so far apart."""
ROUNDING = 1e-3
UNTAGGED_HEIGHT, UNTAGGED_WIDTH = 576, 1280
"""Players take untagged films above this height, or from this width on, for BT.709, others for BT.601 (as mpv does)."""
MATRICES = {1: 1, 4: 4, 5: 5, 6: 5, 7: 7, 9: 9, 10: 9}
"""Matrix coefficients of H.273 to swscale's constants."""
BT709, BT601 = 1, 5

Watch = Callable[[float], None]
"""Hears how much is read, in [0, 1]; may raise to stop it."""
Shown = tuple[float, NDArray[np.uint8]]
"""A frame with its time, seconds."""


def read_film(
    file: Path, size: tuple[int, int], fps: float, most: int, watch: Watch | None = None
) -> NDArray[np.uint8]:
    """The last 1 + 4 n <= `most` frames at `fps`, scaled and cropped about the middle to `size`: (n, height, width, 3) uint8.

    Raises MediaError, and what `watch` raises.
    """
    import av

    heard: list[BaseException] = []

    def guarded(share: float) -> None:
        try:
            if watch is not None:
                watch(share)
        except BaseException as e:
            heard.append(e)
            raise

    try:
        check_regular(file)
        with av.open(str(file.absolute()), options={"format_whitelist": FORMATS, "protocol_whitelist": "file"}) as box:
            shown = _end_of(box, size, most / fps, guarded)
    except FileError as e:
        raise MediaError(str(e)) from e
    except MediaError as e:
        raise MediaError(f"{file} {e}") from e
    except Exception as e:
        if heard and heard[-1] is e:
            raise
        reason = (e.strerror if isinstance(e, OSError) else str(e)) or type(e).__name__
        raise MediaError(f"{file} cannot be read as a film ({reason[:200]})") from e
    if not shown:
        raise MediaError(f"{file} has no pictures that can be decoded")
    return np.stack(_sampled(shown, fps, most))


def _sampled(shown: list[Shown], fps: float, most: int) -> list[NDArray[np.uint8]]:
    """The picture that is seen at each of the last instants of the rate, the last frame's being the last."""
    first, last = shown[0][0], shown[-1][0]
    n = min(most, 1 + int((last - first) * fps + ROUNDING))
    n = 1 + (n - 1) // 4 * 4
    out, at = [], len(shown) - 1
    for k in range(n):
        while at and shown[at][0] > last - k / fps + ROUNDING:
            at -= 1
        out.append(shown[at][1])
    return out[::-1]


def _end_of(box: Any, size: tuple[int, int], seconds: float, watch: Watch) -> list[Shown]:
    """The frames of the last seconds, and the one before them."""
    stream = next((s for s in box.streams.video if not s.disposition & type(s.disposition).attached_pic), None)
    if stream is None:
        raise MediaError("has no pictures: it is sound alone")
    if stream.codec_context.width * stream.codec_context.height > MOST_PIXELS:
        raise MediaError(f"has frames of {stream.codec_context.width}x{stream.codec_context.height}: too large")
    stream.thread_type = "AUTO"
    begin = float((stream.start_time or 0) * stream.time_base)
    length = _length(box, stream)
    if length > seconds + KEYFRAMES_APART:
        target = begin + length - seconds - KEYFRAMES_APART
        box.seek(round(target / stream.time_base), stream=stream, backward=True)
        if kept := _decoded(
            box, stream, size, seconds, lambda t: watch(min(1.0, max(0.0, t - target) / (seconds + 10)))
        ):
            return kept
        box.seek(0, backward=True)  # its length was not true
    return _decoded(box, stream, size, seconds, lambda t: watch(min(1.0, (t - begin) / length) if length else 0.0))


def _length(box: Any, stream: Any) -> float:
    if stream.duration:
        return float(stream.duration * stream.time_base)
    return float(box.duration / 1_000_000) if box.duration else 0.0


def _decoded(box: Any, stream: Any, size: tuple[int, int], seconds: float, watch: Watch) -> list[Shown]:
    import av

    kept: deque[Shown] = deque()
    rate = float(stream.average_rate or stream.guessed_rate or 25)
    due = -float("inf")
    try:
        for frame, time in _timed(box.decode(stream), rate):
            watch(time)
            if time < due:
                continue  # shown again, or of a damaged clock
            due = time
            kept.append((time, fitted(frame, stream, size)))
            while len(kept) > 1 and kept[1][0] < time - seconds:
                kept.popleft()
    except av.error.FFmpegError:
        if not kept:
            raise
        # cut short or damaged: what was there until then
    return list(kept)


def _timed(frames: Iterator[Any], rate: float) -> Iterator[tuple[Any, float]]:
    """Frames with the time that they are shown at; where a frame has none, one frame after the one before."""
    time = -1 / rate
    for frame in frames:
        time = frame.time if frame.time is not None else time + 1 / rate
        yield frame, time


def fitted(frame: Any, stream: Any, size: tuple[int, int]) -> NDArray[np.uint8]:
    """A decoded frame as it is shown, scaled and cropped about its middle to `size`."""
    turns = round(frame.rotation / 90) % 4
    width, height = size if turns % 2 == 0 else size[::-1]
    aspect = Fraction(stream.sample_aspect_ratio or 1) or Fraction(1)
    shown_width = float(frame.width * aspect)
    scale = max(width / shown_width, height / frame.height)
    w, h = max(width, round(scale * shown_width)), max(height, round(scale * frame.height))
    interpolation = "AREA" if scale < 1 else "BICUBIC"
    matrix, full = _colours(frame)
    rgb = frame.reformat(
        w,
        h,
        "rgb24",
        src_colorspace=matrix,
        src_color_range=2 if full else 1,
        dst_color_range=2,
        interpolation=interpolation,
    ).to_ndarray()
    top, left = (h - height) // 2, (w - width) // 2
    return np.ascontiguousarray(np.rot90(rgb[top : top + height, left : left + width], turns))


def _colours(frame: Any) -> tuple[int, bool]:
    """swscale's matrix of a frame, and whether its samples have the full range."""
    large = frame.height > UNTAGGED_HEIGHT or frame.width >= UNTAGGED_WIDTH
    matrix = MATRICES.get(int(frame.colorspace), BT709 if large else BT601)
    return matrix, int(frame.color_range) == 2 or frame.format.name.startswith(
        ("yuvj", "rgb", "bgr", "gbr", "gray", "pal")
    )
