"""A hostile server and a hostile client: whatever either sends, the other one says one sentence and goes on or ends."""

from __future__ import annotations

import json
import logging
import math
import random
import struct
import zlib
from typing import Any

import numpy as np
import pytest

from engine.remote import host, pictures
from engine.remote.client import RemoteWorld
from engine.remote.host import MOST_MESSAGES
from engine.remote.line import Allowance, Line, LineError, LineInbox
from engine.remote.pictures import PictureEncoder
from engine.remote.protocol import (
    BadMessage,
    Begin,
    Got,
    Held,
    Hello,
    Ping,
    Refusal,
    Welcome,
    bounded,
    one_line,
    packed,
    possible,
    read_object,
    to_client,
)
from engine.runtime.clock import VirtualClock
from engine.runtime.settings import Settings
from engine.runtime.view import View
from tests.engine.remote.delayed_line import Network
from tests.engine.remote.test_remote_world import LARGE, Away, away

NASTY: list[Any] = [
    None, True, -1, 0, 2**31, 2**53 + 1, 10**400, 1e308, math.nan, math.inf, "", "x" * 70_000, "\u202e\x1b[2J\n", "\ud800",
    [], {}, [[]], {"kind": "hello"}, "NaN", [0] * 5000,
]  # fmt: skip


def is_sentence(text: str | None) -> bool:
    return bool(text) and text == one_line(text or "") and len(text or "") < 1500


def dumped(value: Any) -> bytes:
    return json.dumps(value).encode()


def spoil(dice: random.Random, value: Any) -> Any:
    """The same with one leaf, key or length changed."""
    if isinstance(value, dict) and value and dice.random() < 0.9:
        key = dice.choice(list(value))
        what = dice.random()
        if what < 0.1:
            return {k: v for k, v in value.items() if k != key}
        if what < 0.15:
            return {**value, "more": dice.choice(NASTY)}
        return {**value, key: spoil(dice, value[key])}
    if isinstance(value, list) and value and dice.random() < 0.7:
        at = dice.randrange(len(value))
        return [*value[:at], spoil(dice, value[at]), *value[at + 1 :]]
    return dice.choice(NASTY)


def nested(dice: random.Random) -> bytes:
    return b'{"kind":' + b"[" * 20_000 + b"]" * dice.choice((0, 20_000)) + b"}"


def spoiled(dice: random.Random, data: bytes) -> bytes:
    """A message that is not quite what it was."""
    (n,) = struct.unpack(">I", data[:4])
    header, payload = data[4 : 4 + n], data[4 + n :]
    match dice.randrange(8):
        case 0:
            raw = bytearray(data)
            for _ in range(dice.randint(1, 8)):
                raw[dice.randrange(len(raw))] = dice.randrange(256)
            return bytes(raw)
        case 1:
            return data[: dice.randrange(len(data))]
        case 2:
            header = nested(dice)
        case 3:
            payload = dice.choice(
                (b"", dice.randbytes(300), zlib.compress(b"\0" * (9 << 20)), zlib.compress(b"[" * 99_999))
            )
        case 4 | 5 if payload[:1] == b"x":
            lines = zlib.decompress(payload).split(b"\n")
            at = dice.randrange(len(lines))
            if lines[at]:
                lines[at] = nested(dice) if dice.random() < 0.1 else dumped(spoil(dice, json.loads(lines[at])))
            payload = zlib.compress(b"\n".join(lines))
        case _:
            header = dumped(spoil(dice, json.loads(header)))
    return struct.pack(">I", len(header)) + header + payload


class FalseServer:
    """Says what it was told to say to the first who dials, and then nothing more."""

    def __init__(self, clock: VirtualClock, messages: list[bytes]) -> None:
        self.clock, self.messages, self.dialled = clock, messages, 0

    def dial(self, heard: Any) -> Line:
        self.dialled += 1
        if self.dialled > 1:
            raise LineError("nobody is there")

        def tell() -> None:
            for message in self.messages:
                self.clock.sleep(0.02)
                heard(message)
            heard(None)

        self.clock.spawn(tell, "foreland-false")
        return self  # type: ignore[return-value]

    def send(self, data: bytes) -> None:
        return

    def close(self) -> None:
        return


def said_by_a_server(seconds: float = 4.0) -> list[bytes]:
    """All that a client is sent in a session with a key, a pause of the line, a take and an end; without answers to pings."""
    said: list[bytes] = []

    class Listening(Network):
        def dial(self, heard: Any) -> Any:
            def both(data: bytes | None) -> None:
                if data is not None and to_client(data)[0].kind != "pong":
                    said.append(data)
                heard(data)

            return super().dial(both)

    with away(network=Listening) as there:
        there.seconds(1.0)
        there.engine.press("forward")
        there.seconds(seconds / 2)
        there.engine.rewind(0, 2)
        there.seconds(seconds / 2)
    return said


SAID: list[bytes] = []


def play(messages: list[bytes]) -> Any:
    """A client that hears these messages; the engine, after its end."""
    clock = VirtualClock()
    server = FalseServer(clock, messages)
    engine = RemoteWorld("there", LARGE, server.dial).engine(Settings(prompt="a"), None, clock)
    engine.start()
    end = clock.now() + 700
    while engine.running and clock.now() < end:
        engine.player.advance(clock.now())
        assert isinstance(engine.view, View)
        clock.sleep(0.05 if clock.now() < 20 else 5)
    assert not engine.running
    engine.close()
    return engine


def hear(seed: int, caplog: pytest.LogCaptureFixture) -> None:
    if not SAID:
        SAID.extend(said_by_a_server())
    dice = random.Random(seed)
    messages = list(SAID)
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(len(messages))
        match dice.randrange(6):
            case 0:
                del messages[at]
            case 1:
                messages.insert(dice.randrange(len(messages)), messages[at])
            case 2:
                other = dice.randrange(len(messages))
                messages[at], messages[other] = messages[other], messages[at]
            case _:
                messages[at] = spoiled(dice, messages[at])
    engine = play(messages)
    assert engine.error is None or is_sentence(engine.error), (seed, engine.error)
    assert not [r for r in caplog.records if r.levelno >= logging.ERROR], (seed, caplog.text)


def test_what_a_false_server_says_is_played_or_refused_in_a_sentence(caplog: pytest.LogCaptureFixture) -> None:
    for seed in range(15):
        hear(seed, caplog)


@pytest.mark.slow
def test_thousands_of_false_servers(caplog: pytest.LogCaptureFixture) -> None:
    first = random.SystemRandom().randrange(10**9)
    for seed in range(first, first + 3000):
        hear(seed, caplog)


@pytest.mark.parametrize(
    "fault", ["endless groups", "a gap", "no key frame", "endless line", "an unasked answer", "endless list"]
)
def test_a_server_without_end_is_stopped(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    said = said_by_a_server()
    kinds = [to_client(m)[0].kind for m in said]
    first = kinds.index("group")
    group, payload = to_client(said[first])
    assert group.kind == "group"
    monkeypatch.setattr(pictures, "KEY_EVERY", 10**6)
    encoder = PictureEncoder(64, 64, 16.0)
    encoder.encode(frames := [np.zeros((64, 64, 3), np.uint8)] * 4)

    def again(i: int, gap: int = 0) -> bytes:
        at = {"index": i, "position": i + gap, "start": 4 * (i + gap)}
        return packed(group.model_copy(update=at), payload)

    def unkeyed(i: int) -> bytes:
        packets = encoder.encode(frames)[1]
        at = {"index": i, "position": i, "start": 4 * i, "key": False, "pictures": tuple(map(len, packets))}
        return packed(group.model_copy(update=at), b"".join(packets))

    head = [said[0], packed(group, payload)]
    view = next(m for m in said if to_client(m)[0].kind == "view")
    match fault:
        case "endless groups":
            tail, words = [again(i) for i in range(1, 300)], "did not come back"
        case "a gap":
            tail, words = [again(1, gap=3)], "was due"
        case "no key frame":
            tail, words = [unkeyed(i) for i in range(1, 200)], "no key frame"
        case "endless line":
            log = json.dumps({"kind": "log", "offset": 0}).encode()
            pieces = [zlib.compress(b"x" * (2 << 20)) for _ in range(3)]
            tail = [
                packed(to_client(struct.pack(">I", len(log)) + log)[0].model_copy(update={"offset": i << 21}), p)
                for i, p in enumerate(pieces)
            ]
            words = "longer than"
        case "an unasked answer":
            pong = json.dumps({"kind": "pong", "sent": -1e300, "now": 1e300}).encode()
            tail, words = [struct.pack(">I", len(pong)) + pong], "not asked"
        case _:
            value = json.loads(zlib.decompress(to_client(view)[1]))
            value["keys"] = ["a"] * 5000
            tail, words = [packed(to_client(view)[0], zlib.compress(dumped(value)))], "5000 entries"
    engine = play(head + tail)
    assert words in (engine.error or ""), engine.error
    assert is_sentence(engine.error)


def test_what_waits_to_be_shown_is_bounded() -> None:
    """A server that sends faster than anything plays: no more than 20 s of pictures are kept, and the player is fed on as they go."""
    clock = VirtualClock()
    said = said_by_a_server()
    group, payload = next(to_client(m) for m in said if to_client(m)[0].kind == "group")
    flood = [
        packed(group.model_copy(update={"index": i, "position": i, "start": 4 * i, "key": True}), payload)  # type: ignore[union-attr]
        for i in range(400)
    ]
    server = FalseServer(clock, [said[0], *flood])
    engine = RemoteWorld("there", LARGE, server.dial).engine(Settings(prompt="a"), None, clock)
    engine.start()
    clock.sleep(12)
    waiting = sum(engine.player.has(i) for i in range(400))
    assert 80 <= waiting <= 82
    engine.close()


def false_client(there: Away, *messages: bytes, token: str = "") -> tuple[Line, list[Any]]:
    """Dials and says these things; what it heard comes in the list."""
    heard: list[Any] = []
    line = there.network.dial(lambda data: heard.append(None if data is None else to_client(data)[0]))
    for message in messages:
        line.send(message)
    return line, heard


def test_whatever_a_false_client_says_it_hears_a_sentence_and_others_play_on() -> None:
    said_by_client = [
        packed(Held(number=1, at=0.5, keys=("forward",))),
        packed(Got(index=1)),
        packed(Ping(sent=0.1)),
        b'\0\0\0\x51' + b'{"kind":"world","number":2,"prompt":"b","seed":1,"start":"file","suffix":".png"}'.ljust(0x51) + b"no png",
        b'\0\0\0\x38' + b'{"kind":"rewind","number":3,"take":9,"position":1000000}'.ljust(0x38),
        b'\0\0\0\x39' + b'{"kind":"configure","number":4,"window":-1000,"steps":0}'.ljust(0x39),
        b'\0\0\0\x46' + b'{"kind":"prompt","number":5,"at":1e300,"text":"bad","seconds":600.0}'.ljust(0x46),
    ]  # fmt: skip
    with away(worlds=2) as there:
        there.until(lambda: len(there.frames) > 4)
        for seed in range(30):
            dice = random.Random(seed)
            messages = [packed(Hello(protocol=1)), packed(Begin())]
            messages += [dice.choice(said_by_client) for _ in range(6)]
            at = dice.randrange(len(messages))
            messages[at] = spoiled(dice, messages[at])
            line, heard = false_client(there, *messages)
            there.seconds(0.3)
            refusals = [m for m in heard if isinstance(m, Refusal)]
            assert all(is_sentence(m.reason) for m in refusals), seed
            assert refusals or any(isinstance(m, Welcome) for m in heard), (seed, heard)
            line.send(b"nothing")
            there.seconds(0.3)
        assert there.engine.running and there.engine.error is None
        n = len(there.frames)
        there.seconds(2.0)
        assert len(there.frames) > n + 20, "the other client's world plays on"


def test_a_client_without_end_is_turned_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "MOST_UNCONFIRMED", 20)
    with away(worlds=2) as there:
        hello = [packed(Hello(protocol=1)), packed(Begin())]
        _, heard = false_client(there, *hello, *[packed(Ping(sent=0.0))] * (MOST_MESSAGES + 10))
        there.seconds(0.5)
        assert any(isinstance(m, Refusal) and f"{MOST_MESSAGES} messages" in m.reason for m in heard)
        there.seconds(3.0)
        line, heard = false_client(there, *hello)
        for _ in range(9):  # alive, and it says of nothing that it came
            line.send(packed(Ping(sent=0.0)))
            there.seconds(1.0)
        assert any(isinstance(m, Refusal) and "confirmed" in m.reason for m in heard)


def test_an_allowance_is_of_a_second_and_of_bytes() -> None:
    allowed = Allowance(10, 100, 300)
    assert [allowed.take(1, 0.0) for _ in range(11)] == [True] * 10 + [False]
    allowed = Allowance(10, 100, 300)
    assert allowed.take(300, 0.0) and not allowed.take(1, 0.0)
    assert allowed.take(90, 1.0)


def test_what_comes_faster_than_it_is_taken_waits_outside() -> None:
    clock = VirtualClock()
    inbox, put = LineInbox(clock, 1000), []

    def bring() -> None:
        for i in range(20):
            inbox.put(b"x" * 300)
            put.append(i)

    clock.spawn(bring, "foreland-bring")
    clock.sleep(1)
    assert len(put) == 4
    inbox.take()
    clock.sleep(1)
    assert len(put) == 5
    inbox.close()
    clock.sleep(1)
    assert len(put) == 20, "nobody waits for an inbox that is closed"


def test_impossible_models_views_and_objects_are_refused() -> None:
    from dataclasses import replace

    assert possible(LARGE) is LARGE
    wrongs: list[dict[str, Any]] = [
        {"width": 10**6}, {"fps": math.nan}, {"fps": 0.0}, {"spans": (0, 4)}, {"windows": (9, 3)},
        {"notes": ("a\x1b[2J",)}, {"phase": 0}, {"sound_rate": 3},
    ]  # fmt: skip
    for wrong in wrongs:
        with pytest.raises(ValueError, match="model"):
            possible(replace(LARGE, **wrong))  # type: ignore[arg-type]
    bounded(View())
    for view in (View(C=math.inf), View(delivered=2**40), View(keys=("a",) * 5000)):
        with pytest.raises(BadMessage):
            bounded(view)
    for data in (b"[1]", b'{"a":NaN}', b"{" * 50_000, b"\xff"):
        with pytest.raises(BadMessage):
            read_object(data)
