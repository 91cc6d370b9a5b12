"""Pictures and films that a world begins from: what is read is what a viewer or a player shows."""

from __future__ import annotations

import io
import os
import struct
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from PIL import Image, ImageCms

from engine.models import films
from engine.models.media_files import MediaError, read_start, read_still
from tests.toy import SPEC as TOY

SPEC = replace(TOY, width=64, height=40)
RED, BLUE, GREEN = (230, 30, 30), (30, 30, 230), (30, 230, 30)


def picture(i: int = 0, width: int = 128, height: int = 80) -> np.ndarray:
    """Red above blue, with a green bar that moves."""
    a = np.zeros((height, width, 3), np.uint8)
    a[: height // 2], a[height // 2 :] = RED, BLUE
    a[:, (i * 8) % width : (i * 8) % width + 8] = GREEN
    return a


def film(
    file: Path,
    n: int = 24,
    first: float = 0.0,
    gap: float = 0.0,
    codec: str = "libx264",
    pix: str = "yuv420p",
    tag: tuple[int, int] | None = None,
    aspect: Fraction | None = None,
    form: str | None = None,
    make: Callable[[int], np.ndarray] = picture,
) -> Path:
    """n frames at 16 a second. first: time of the first; gap: seconds before the second half; tag: matrix and range."""
    with av.open(str(file), "w", format=form) as box:
        s: Any = box.add_stream(codec, rate=16)
        s.height, s.width = make(0).shape[:2]
        s.pix_fmt = pix
        s.codec_context.time_base = Fraction(1, 16)
        if codec == "libx264":
            s.options = {"crf": "8", "preset": "ultrafast"}
        if aspect is not None:
            s.codec_context.sample_aspect_ratio = aspect
        if tag is not None:
            s.codec_context.colorspace, s.codec_context.color_range = tag
        for i in range(n):
            v = av.VideoFrame.from_ndarray(make(i), format="rgb24")
            if tag is not None:
                v = v.reformat(format=pix, dst_colorspace=tag[0], dst_color_range=tag[1])
            v.pts = i + round(16 * (first + (gap if i >= n // 2 else 0)))
            v.time_base = Fraction(1, 16)
            box.mux(s.encode(v))
        box.mux(s.encode(None))
    return file


def near(pixel: np.ndarray, colour: tuple[int, int, int], by: int = 12) -> bool:
    return bool(np.abs(pixel.astype(int) - colour).max() <= by)


def upright(a: np.ndarray) -> bool:
    """Red above, blue below."""
    return near(a[4, a.shape[1] // 2], RED) and near(a[-5, a.shape[1] // 2], BLUE)


def plain(i: int) -> np.ndarray:
    """Without the bar."""
    a = picture(0)
    a[:, :8] = a[:, 8:16]
    return a


# -- pictures ----------------------------------------------------------------------------------------------------------


def saved(tmp_path: Path, name: str, image: Image.Image, **more: Any) -> np.ndarray:
    image.save(tmp_path / name, **more)
    return read_still(tmp_path / name, SPEC)


def test_sixteen_bits_and_floats_are_scaled_and_not_clipped(tmp_path: Path) -> None:
    ramp = np.linspace(0, 1, 64, dtype=np.float32)[None].repeat(40, 0)
    expected = np.rint(255 * ramp)
    for name, values in (
        ("a.png", (65535 * ramp).astype(np.uint16)),
        ("b.tiff", (65535 * ramp).astype(np.uint16)),
        ("c.tiff", ramp),
        ("d.tiff", 255 * ramp),
        ("e.png", (255 * ramp).astype(np.uint8)),
    ):
        got = saved(tmp_path, name, Image.fromarray(values))
        assert np.abs(got.astype(int) - expected[..., None]).max() <= 1, name


def test_what_is_transparent_is_not_seen(tmp_path: Path) -> None:
    rgba = np.zeros((40, 64, 4), np.uint8)
    rgba[..., :3] = GREEN  # under alpha 0
    rgba[10:30, 10:30] = (*RED, 255)
    for name, image in (
        ("a.png", Image.fromarray(rgba)),
        ("a.webp", Image.fromarray(rgba)),
        ("p.png", Image.fromarray(rgba).quantize(16)),
    ):
        got = saved(tmp_path, name, image, **({"lossless": True} if name.endswith("webp") else {}))
        assert near(got[2, 2], (255, 255, 255)) and near(got[20, 20], RED), name


def test_orientation_profile_and_other_colour_models_are_obeyed(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # shown after a quarter turn to the right
    turned = Image.fromarray(np.rot90(plain(0), 1).copy())
    assert upright(saved(tmp_path, "turned.jpg", turned, exif=exif, quality=95))
    assert upright(saved(tmp_path, "cmyk.jpg", Image.fromarray(plain(0)).convert("CMYK"), quality=95))
    assert upright(saved(tmp_path, "a.avif", Image.fromarray(plain(0)), quality=90))
    assert upright(saved(tmp_path, "a.gif", Image.fromarray(plain(0)), save_all=True, append_images=[turned]))
    # a profile that swaps red and blue, made of sRGB's own by its tags' names
    data = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    table = {bytes(data[132 + 12 * i :][:4]): 132 + 12 * i for i in range(struct.unpack(">I", data[128:132])[0])}
    red, blue = table[b"rXYZ"], table[b"bXYZ"]
    data[red : red + 4], data[blue : blue + 4] = data[blue : blue + 4], data[red : red + 4]
    assert upright(saved(tmp_path, "p.png", Image.fromarray(plain(0)[::-1].copy()), icc_profile=bytes(data)))
    assert upright(saved(tmp_path, "q.png", Image.fromarray(plain(0)), icc_profile=b"no profile"))


def damaged() -> dict[str, bytes]:
    buffer = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (64, 64, 3), np.uint8)).save(buffer, "PNG")
    png = buffer.getvalue()
    at = png.index(b"IDAT") + 4
    return {
        "a chunk of no kind": png[: at + 5000] + struct.pack(">I", 7) + b"\x01\x02\x03\x04" + png[at + 5000 :],
        "cut short": png[: len(png) // 2],
        "another file": b"this is text",
        "nothing": b"",
        "a lie about its size": png[:16] + struct.pack(">II", 30_000, 30_000) + png[24:],
        "no colour type": png[:25] + b"\x09" + png[26:],
    }


@pytest.mark.parametrize("data", damaged().values(), ids=damaged())
def test_a_damaged_picture_is_refused_in_one_line(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.png").write_bytes(data)
    with pytest.raises(MediaError, match=r"a\.png cannot be read") as e:
        read_still(tmp_path / "a.png", SPEC)
    assert "\n" not in str(e.value)


def test_what_is_no_ordinary_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.png")
    os.mkfifo(tmp_path / "a.mp4")
    (tmp_path / "b.png").mkdir()
    (tmp_path / "c.mp4").symlink_to("/dev/zero")
    (tmp_path / "d.mp4").symlink_to("/nowhere")
    for name in ("a.png", "a.mp4", "b.png", "c.mp4", "d.mp4", "e.png", "x" * 5000 + ".png", "nul\0.png"):
        with pytest.raises(MediaError, match="cannot be read"):
            read_still(tmp_path / name, SPEC)


# -- films -------------------------------------------------------------------------------------------------------------


def bar(a: np.ndarray) -> int:
    """Where the green bar is, in pixels of the film."""
    return round(float(np.flatnonzero(a[0, :, 1] > 120).mean()) * 2) // 8 * 8


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("a.mp4", {}),
        ("late.mkv", {"first": 3600}),
        ("late.ts", {"first": 26 * 3600}),
        ("late.mp4", {"first": 600}),
        ("odd.mkv", {"codec": "ffv1", "pix": "bgr0"}),
        ("ten.mkv", {"pix": "yuv420p10le"}),
        ("mpeg4.avi", {"codec": "mpeg4"}),
    ],
)
def test_the_last_frames_are_those_of_the_film_whenever_it_begins(tmp_path: Path, name: str, more: dict) -> None:
    file = film(tmp_path / name, **more)
    began = time.process_time()
    got = read_start(file, SPEC, 9)
    assert time.process_time() - began < 5
    assert got.shape == (9, 40, 64, 3)
    assert [bar(a) for a in got] == [(i * 8) % 128 for i in range(15, 24)]


def test_a_gap_is_no_longer_than_what_is_kept(tmp_path: Path) -> None:
    got = read_start(film(tmp_path / "a.mkv", gap=600), SPEC, 21)
    assert [bar(a) for a in got] == [88] * 9 + [(i * 8) % 128 for i in range(12, 24)]


def test_a_film_without_times_has_all_its_frames(tmp_path: Path) -> None:
    stream = film(tmp_path / "a.h264", form="h264")
    os.rename(stream, tmp_path / "a.avi")
    got = read_start(tmp_path / "a.avi", SPEC, 9)
    assert len({bar(a) for a in got}) >= 5, "25 a second is assumed, and 16 are taken"


def test_only_the_end_of_a_long_film_is_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = film(tmp_path / "a.mkv", n=16 * 60)
    decoded = 0
    real = films.fitted

    def counted(*arguments: Any) -> np.ndarray:
        nonlocal decoded
        decoded += 1
        return real(*arguments)

    monkeypatch.setattr(films, "fitted", counted)
    shares: list[float] = []
    got = read_start(file, SPEC, 5, shares.append)
    assert [bar(a) for a in got] == [(i * 8) % 128 for i in range(955, 960)]
    assert decoded < 16 * 40
    assert shares == sorted(shares) and shares[0] >= 0 and shares[-1] <= 1


def test_reading_can_be_stopped_and_what_was_read_is_kept(tmp_path: Path) -> None:
    class Enough(Exception):
        pass

    def enough(share: float) -> None:
        raise Enough

    file = film(tmp_path / "a.mp4")
    with pytest.raises(Enough):
        read_start(file, SPEC, 5, enough)
    got = read_start(file, SPEC, 5)
    assert read_start(file, SPEC, 5, enough) is got


def test_the_aspect_of_samples_is_obeyed(tmp_path: Path) -> None:
    """Samples twice as wide as high: 64x80 of them are 128x80, and all of it is seen."""

    def green_above(i: int) -> np.ndarray:
        a = plain(i)[:, :64].copy()
        a[:16] = GREEN
        return a

    got = read_still(film(tmp_path / "a.mkv", aspect=Fraction(2), make=green_above), SPEC)
    assert near(got[4, 30], GREEN) and near(got[12, 30], RED)
    without = read_still(film(tmp_path / "b.mkv", make=green_above), SPEC)
    assert near(without[1, 30], RED)


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_the_display_matrix_is_obeyed(tmp_path: Path, turn: int) -> None:
    """As a phone writes it: the matrix of the track (ISO 14496-12, 8.3.2) turns the picture clockwise."""
    file = film(tmp_path / "a.mp4", make=lambda i: np.rot90(plain(0), turn // 90).copy())
    one = 1 << 16
    a, b, c, d = {90: (0, one, -one, 0), 180: (-one, 0, 0, -one), 270: (0, -one, one, 0)}[turn]
    data = bytearray(file.read_bytes())
    at = data.index(b"tkhd") + 4 + 40
    assert struct.unpack(">9i", data[at : at + 36]) == (one, 0, 0, 0, one, 0, 0, 0, 1 << 30)
    data[at : at + 36] = struct.pack(">9i", a, b, 0, c, d, 0, 0, 0, 1 << 30)
    file.write_bytes(bytes(data))
    assert upright(read_still(file, SPEC))


@pytest.mark.parametrize("tag", [(1, 1), (1, 2), (5, 1), (5, 2)], ids=["709", "709 full", "601", "601 full"])
def test_colours_are_those_that_the_tags_mean(tmp_path: Path, tag: tuple[int, int]) -> None:
    got = read_still(film(tmp_path / "a.mkv", tag=tag, make=plain), SPEC)
    assert near(got[4, 30], RED, 3) and near(got[-5, 30], BLUE, 3)


def test_a_film_of_sound_alone_or_cut_short_is_said_or_used(tmp_path: Path) -> None:
    with av.open(str(tmp_path / "s.mp4"), "w") as box:
        s: Any = box.add_stream("aac", rate=48000)
        sound = av.AudioFrame.from_ndarray(np.zeros((1, 4800), np.float32), format="fltp", layout="mono")
        sound.sample_rate = 48000
        box.mux([*s.encode(sound), *s.encode(None)])
    with pytest.raises(MediaError, match=r"s\.mp4 has no pictures: it is sound alone"):
        read_still(tmp_path / "s.mp4", SPEC)
    whole = film(tmp_path / "a.ts").read_bytes()
    (tmp_path / "b.ts").write_bytes(whole[: len(whole) * 2 // 3])
    assert bar(read_still(tmp_path / "b.ts", SPEC)) > 0


def test_a_playlist_opens_no_other_file(tmp_path: Path) -> None:
    film(tmp_path / "secret.mp4")
    for text in ("ffconcat version 1.0\nfile secret.mp4\n", "#EXTM3U\n#EXTINF:2,\nsecret.mp4\n#EXT-X-ENDLIST\n"):
        (tmp_path / "list.mp4").write_text(text)
        with pytest.raises(MediaError, match="cannot be read as a film"):
            read_still(tmp_path / "list.mp4", SPEC)
