"""The parts of a line by themselves: pictures, sound, pacing, messages, and what a hostile end may send."""

from __future__ import annotations

import random
import struct
import zlib
from dataclasses import fields, replace

import numpy as np
import pytest

from engine.models.interface import Group
from engine.remote.pacing import CRFS, FASTEST, LOOKED_AT, SPARE, Playout, Uplink
from engine.remote.pictures import Coded, KeptDecoder, NotDecodable, PictureDecoder, PictureEncoder
from engine.remote.protocol import (
    LARGEST_HEADER,
    LARGEST_UNPACKED,
    BadMessage,
    Change,
    Chosen,
    GroupSent,
    Held,
    Hello,
    cut,
    pack_view,
    packed,
    to_client,
    to_server,
    unpack,
    unpack_view,
)
from engine.remote.sounds import NotAudible, SoundEncoder, decoded_sound
from engine.runtime.messages import Configure
from engine.runtime.settings import Settings
from engine.runtime.view import Fate, GroupMark, View
from tests.toy import SPEC


def pictures(n: int) -> list[np.ndarray]:
    """A gradient that moves."""
    x = np.arange(64)
    return [np.tile(((x * 3 + 5 * i) % 256).astype(np.uint8)[None, :, None], (48, 1, 3)) for i in range(n)]


def psnr(a: np.ndarray, b: np.ndarray) -> float:
    return float(10 * np.log10(255**2 / np.mean((a.astype(float) - b) ** 2)))


def test_every_picture_comes_out_at_once_and_like_it_was() -> None:
    frames, encoder, decoder = pictures(16), PictureEncoder(64, 48, 16.0), PictureDecoder(64, 48)
    for i in range(0, 16, 4):
        key, packets = encoder.encode(frames[i : i + 4])
        assert key == (i == 0)
        for want, got in zip(frames[i : i + 4], decoder.decode(packets), strict=True):
            assert psnr(want, got) > 28
    encoder.want_key()
    key, packets = encoder.encode(frames[:4])
    assert key
    assert len(PictureDecoder(64, 48).decode(packets)) == 4, "a key frame needs nothing before it"


def test_a_kept_group_is_decoded_by_itself_as_it_was_in_order() -> None:
    frames, encoder, decoder = pictures(24), PictureEncoder(64, 48, 16.0), PictureDecoder(64, 48)
    groups, order, before = [], [], None
    for i in range(0, 24, 4):
        key, packets = encoder.encode(frames[i : i + 4])
        before = Coded(tuple(packets), 4, None if key else before)
        groups.append(Group(i // 4, before, None, 4))
        order.append(decoder.decode(packets))
    kept = KeptDecoder(replace(SPEC, width=64, height=48))
    for i in (4, 5, 1, 0):
        assert np.array_equal(np.stack(kept.decode(groups[i])), np.stack(order[i]))


def test_pictures_of_another_size_and_noise_are_refused() -> None:
    _, packets = PictureEncoder(64, 48, 16.0).encode(pictures(4))
    with pytest.raises(NotDecodable):
        PictureDecoder(48, 64).decode(packets)
    with pytest.raises(NotDecodable):
        PictureDecoder(64, 48).decode([random.Random(0).randbytes(500)])


@pytest.mark.parametrize("rate", [24000, 44100, 48000])
def test_a_groups_sound_has_its_length_and_its_place(rate: int) -> None:
    """Two groups of odd lengths: each comes back exactly as long, and not shifted by a sample."""
    encoder, lengths = SoundEncoder(rate), [rate // 4 + 7, rate // 4 - 3]
    t = np.arange(sum(lengths)) / rate
    wave = (0.4 * np.sin(2 * np.pi * (300 * t + 400 * t * t)) * np.ones((2, 1))).T.astype(np.float32)
    out, at = [], 0
    for n in lengths:
        out.append(decoded_sound(encoder.encode(wave[at : at + n]), rate, n))
        assert out[-1].shape == (n, 2)
        at += n
    got = np.concatenate(out)
    errors = [float(np.mean((np.roll(got, k, 0)[500:-500] - wave[500:-500]) ** 2)) for k in range(-4, 5)]
    assert np.argmin(errors) == 4
    assert errors[4] < 0.001
    with pytest.raises(NotAudible):
        decoded_sound([b"x"], rate, 100)


def test_pictures_get_coarser_while_groups_come_late_and_finer_again_and_never_more_than_two_wait() -> None:
    line, now, index = Uplink(0.25), 0.0, 0

    def go(seconds: float, late: float) -> None:
        nonlocal now, index
        for _ in range(int(seconds / 0.25)):
            line.sent(index, now)
            line.got(index, now + 0.04 + late)
            index, now = index + 1, now + 0.25

    go(5, 0.0)
    assert line.crf == CRFS[0]
    go(10, 0.3)
    assert line.crf == CRFS[-1]
    go(60, 0.0)
    assert line.crf == CRFS[0]
    waiting = 0
    while not line.full:
        line.sent(index + waiting, now)
        waiting += 1
    assert waiting == 2 + 1, "two wait, and one is what the line itself holds"


def test_delay_that_a_stall_added_goes_away_at_three_percent_and_no_further() -> None:
    playout, delay = Playout(0.25), 1.0
    steps = []
    for _ in range(300):
        steps.append(playout.arrived(delay))
        delay -= steps[-1]
    assert max(steps) <= FASTEST * 0.25 + 1e-9
    assert delay == pytest.approx(SPARE)
    assert sum(s > 0 for s in steps) > 100
    assert playout.arrived(None) == 0.0
    assert [playout.arrived(1.0) for _ in range(LOOKED_AT - 1)] == [0.0] * (LOOKED_AT - 1), (
        "after a stall it looks again"
    )


def test_messages_and_views_come_back_as_they_went() -> None:
    held = Held(number=3, at=1.25, keys=("forward", "left"))
    assert to_server(packed(held, b"abc")) == (held, b"abc")
    view = View(groups=(GroupMark(3, 12, 4, 1, Fate.LOCKED),), L50=None, prompt="Gr\u00fcn", keys=("a",))
    assert unpack_view(pack_view(view)) == view


def test_every_setting_crosses_the_line() -> None:
    """All that a person chooses but `latents`, a file at the server; all that a session may change."""
    assert {f.name for f in fields(Settings)} - {"latents"} == set(Chosen.model_fields)
    assert {f.name for f in fields(Configure)} == set(Change.model_fields) - {"kind", "number"}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0\0\0",
        struct.pack(">I", LARGEST_HEADER + 1) + b"x" * 10,
        struct.pack(">I", 100) + b"{}",
        struct.pack(">I", 2) + b"{}",
        struct.pack(">I", 4) + b"null",
        b'\0\0\0\x11{"kind": "shell"}',
    ],
)
def test_what_is_no_message_is_said_to_be_none(data: bytes) -> None:
    for read in (to_server, to_client):
        with pytest.raises(BadMessage):
            read(data)


def test_limits_of_messages() -> None:
    for wrong in (
        {"number": 1, "at": 0, "keys": ["x"] * 33},
        {"number": -1, "at": 0, "keys": []},
        {"number": 1, "at": "NaN", "keys": []},
        {"number": 1, "at": 0, "keys": [], "more": 1},
    ):
        import json

        header = json.dumps({"kind": "held", **wrong}).encode()
        with pytest.raises(BadMessage):
            to_server(struct.pack(">I", len(header)) + header)
    with pytest.raises(BadMessage):
        unpack(zlib.compress(b"\0" * (LARGEST_UNPACKED + 1)))
    with pytest.raises(BadMessage):
        cut(b"abc", (2, 2))


def test_changed_bytes_are_refused_or_read_and_nothing_else_happens() -> None:
    """5,000 messages with changed, missing and added bytes, to either end."""
    dice = random.Random(1)
    group = GroupSent(index=0, epoch=0, position=0, start=0, span=4, at=0.0, key=True, pictures=(3,), sound=())
    good = [
        packed(Hello(protocol=1, token="t" * 20)),
        packed(Held(number=1, at=0.0, keys=("a",))),
        packed(group, b"abc"),
    ]
    refused = 0
    for _ in range(5000):
        data = bytearray(dice.choice(good))
        for _ in range(dice.randint(1, 6)):
            at = dice.randrange(len(data) + 1)
            data[at : at + dice.randint(0, 3)] = dice.randbytes(dice.randint(0, 3))
        for read in (to_server, to_client):
            try:
                read(bytes(data))
            except BadMessage:
                refused += 1
    assert refused > 4000
