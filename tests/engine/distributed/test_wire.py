"""Messages over TCP between engine and ranks: nobody waits for the network, and silence is heard."""

from __future__ import annotations

import queue
import socket
import threading
import time

import psutil
import pytest
import torch
import torch.distributed as dist

from engine.distributed import wire
from engine.distributed.wire import KEY_BYTES, Meeting, Wire, address_towards, meet, store_at
from engine.models.transport import receive, send


def ends() -> tuple[Wire, wire.Pipe, queue.SimpleQueue]:
    meeting = Meeting("127.0.0.1")
    got: queue.SimpleQueue = queue.SimpleQueue()
    pipes: list[wire.Pipe] = []
    dial = threading.Thread(target=lambda: pipes.append(meet(meeting.address, meeting.key, 5, 5)))
    dial.start()
    come = meeting.next(5)
    dial.join()
    meeting.close()
    assert come is not None and come[0] == 5
    return Wire(come[1], got.put), pipes[0], got


def test_messages_with_tensors_pass_both_ways_and_beats_are_not_messages() -> None:
    mine, theirs, got = ends()
    mine.send({"op": "x"}, {"a": torch.arange(6)})
    header, tensors = receive(theirs)
    assert header == {"op": "x"} and tensors["a"].tolist() == list(range(6))
    theirs.beat()
    send(theirs, {"op": "y"}, {"b": torch.ones(2)})
    header, tensors = got.get(timeout=5)
    assert header == {"op": "y"} and tensors["b"].sum() == 2
    theirs.cut()
    assert isinstance(got.get(timeout=5), (EOFError, OSError))
    mine.cut()


def test_an_end_that_says_nothing_else_beats_and_one_that_stands_still_does_not() -> None:
    mine, theirs, got = ends()
    gone = threading.Event()
    began = time.monotonic()

    def read() -> None:
        with pytest.raises((EOFError, OSError)):
            receive(theirs)

    reading = threading.Thread(target=read)
    reading.start()
    wire.keep_beating(theirs, 2.0, gone.set)
    time.sleep(1.5)
    assert mine.heard_at > began + 0.4 and theirs.heard_at > began + 0.4, "both ends beat"
    assert not gone.is_set() and got.empty()
    mine.cut()
    assert gone.wait(5)
    reading.join(5)
    still = mine.heard_at
    time.sleep(0.7)
    assert mine.heard_at == still
    theirs.cut()


def test_a_rank_that_hears_nothing_of_the_engine_gives_up() -> None:
    meeting = Meeting("127.0.0.1")
    theirs = []
    dial = threading.Thread(target=lambda: theirs.append(meet(meeting.address, meeting.key, 0, 5)))
    dial.start()
    come = meeting.next(5)
    dial.join()
    gone = threading.Event()
    wire.keep_beating(theirs[0], 1.0, gone.set)
    assert gone.wait(5), "the engine's end is open and says nothing"
    assert come is not None
    come[1].close()
    theirs[0].cut()
    meeting.close()


def test_who_sends_does_not_wait_for_an_end_that_reads_nothing() -> None:
    mine, theirs, _ = ends()
    began = time.monotonic()
    for _ in range(8):
        mine.send({"op": "big"}, {"a": torch.zeros(1 << 20)})
    assert time.monotonic() - began < 2
    mine.cut()
    theirs.cut()


def test_a_stranger_is_sent_away_and_keeps_nobody_waiting() -> None:
    meeting = Meeting("127.0.0.1")
    for said in (b"", b"x" * (KEY_BYTES + 1)):
        with socket.create_connection(meeting.address) as stranger:
            stranger.sendall(said)
            stranger.shutdown(socket.SHUT_WR)
            assert meeting.next(5) is None
    assert meeting.next(0.05) is None, "nobody came"
    meeting.close()


def test_the_own_address_is_the_one_that_leads_there() -> None:
    assert address_towards("127.0.0.1") == "127.0.0.1"


def test_the_store_listens_on_its_address_alone() -> None:
    store = store_at("127.0.0.1")
    listening = {
        c.laddr.ip
        for c in psutil.Process().net_connections("tcp")
        if c.status == "LISTEN" and c.laddr.port == store.port
    }
    assert listening == {"127.0.0.1"}
    other = dist.TCPStore("127.0.0.1", store.port, is_master=False)
    other.set("a", "b")
    assert store.get("a") == b"b"
