"""A server on a real port: what a client, a stranger and a hostile client get."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from engine import client
from engine.errors import Refused
from engine.files import FileError
from engine.remote.client import RemoteWorld
from engine.remote.line import LineError
from engine.remote.lobby import Lobby
from engine.remote.protocol import LARGEST_FROM_CLIENT, LARGEST_HEADER, Refusal, to_client
from engine.remote.trust import token_of
from engine.remote.websocket_line import MOST_LINES, dialler, listen
from engine.runtime.clock import SystemClock
from engine.runtime.engine import Engine
from engine.runtime.live_engine import LiveEngine
from engine.runtime.settings import Settings
from tests.engine.remote.test_remote_world import LARGE, Squares, read
from tests.toy import ToySampler, toy

pytestmark = pytest.mark.integration
TOKEN = "a token that is long enough"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    clock = SystemClock()

    def make(settings: Settings, folder: Path) -> LiveEngine:
        return Engine(toy(ToySampler(LARGE, 0.05), Squares(LARGE)), LARGE, settings, folder, clock)

    lobby = Lobby(make, LARGE, clock, 1, TOKEN)
    server = listen(lobby, "127.0.0.1", 0)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"ws://127.0.0.1:{server.socket.getsockname()[1]}"
    lobby.close()
    server.shutdown()
    thread.join()


def test_a_world_plays_over_a_real_port(address: str, tmp_path: Path) -> None:
    world = RemoteWorld.at("there", dialler(address), TOKEN)
    assert world.spec == LARGE
    engine = world.engine(Settings(prompt="a"), tmp_path / "s", SystemClock())
    engine.start()
    frames, end = [], time.monotonic() + 20
    while len(frames) < 12 and time.monotonic() < end:
        frames += [p.image for p in engine.player.advance(engine.clock.now()) if p.image is not None]
        time.sleep(0.01)
    engine.close()
    assert [read(f)[::2] for f in frames] == [(i // 4, i % 4) for i in range(len(frames))] and len(frames) >= 12
    assert engine.summary is not None and engine.summary["frames_shown"] == len(frames)


def test_strangers_are_told_why_and_pages_of_a_browser_do_not_come_in(address: str) -> None:
    with pytest.raises(LineError, match="token"):
        RemoteWorld.at("there", dialler(address), "another")
    with pytest.raises(InvalidStatus, match="403"):
        connect(address, origin="http://evil.example")  # type: ignore[arg-type]
    with pytest.raises(LineError, match="does not answer"):
        RemoteWorld.at("there", dialler("ws://127.0.0.1:9"), TOKEN)


def test_who_hangs_up_before_an_answer_is_a_server_that_does_not_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as rude:

        def hang_up() -> None:
            for _ in range(4):
                rude.accept()[0].close()

        threading.Thread(target=hang_up, daemon=True).start()
        for _ in range(4):
            with pytest.raises(LineError, match="does not answer"):
                RemoteWorld.at("there", dialler(f"ws://127.0.0.1:{rude.getsockname()[1]}"), TOKEN)


def test_nonsense_ends_the_line_and_not_the_server(address: str) -> None:
    with connect(address) as c:
        c.send(b"\0\0\0\2{}")
        message, _ = to_client(c.recv(timeout=5))
        assert isinstance(message, Refusal)
    with connect(address) as c:
        c.send("words")
        with pytest.raises(ConnectionClosed):
            c.recv(timeout=5)
    with connect(address) as c:
        with suppress(ConnectionClosed, OSError):
            c.send(b"\0" * (LARGEST_FROM_CLIENT + 1))
        with pytest.raises((ConnectionClosed, OSError)):
            c.recv(timeout=5)
    host, port = address.removeprefix("ws://").split(":")
    with socket.create_connection((host, int(port)), timeout=5) as s:
        s.sendall(b"GET /../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"root:" not in s.recv(65536)
    crowd = [socket.create_connection((host, int(port)), timeout=5) for _ in range(MOST_LINES + 1)]
    crowd[-1].settimeout(5)
    assert crowd[-1].recv(10) == b"", "closed at once: there are too many"
    for s in crowd:
        s.close()
    with connect(address) as c:
        with suppress(ConnectionClosed, OSError):
            c.send(b"\0" * (LARGEST_HEADER + 5))
        with pytest.raises((ConnectionClosed, OSError)):
            c.recv(timeout=5)
    for _ in range(50):
        with suppress(LineError):
            assert RemoteWorld.at("there", dialler(address), TOKEN).spec == LARGE
            break
        time.sleep(0.1)
    else:
        pytest.fail("the server has had enough")


def test_a_token_is_made_once_for_its_owner_only(tmp_path: Path) -> None:
    file = tmp_path / "token"
    token = token_of(file, make=True)
    assert token == token_of(file) == token_of(file, make=True)
    assert len(token) >= 32 and file.stat().st_mode & 0o077 == 0
    file.chmod(0o644)
    for make in (True, False):  # a client refuses it too, as ssh does with a key; also when root runs it
        with pytest.raises(FileError, match="chmod 600"):
            token_of(file, make=make)
    with pytest.raises(FileError, match="cannot be used"):
        token_of(tmp_path / "none")


def test_a_program_walks_a_world_with_a_few_lines(address: str, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.touch(0o600)
    file.write_text(TOKEN)
    with client.connect(address, file, prompt="a") as world:
        seen = [read(f)[::2] for f in world.frames(8)]
        world.hold("forward")
        seen += [read(f)[::2] for f in world.play(1.0)]
        end = time.monotonic() + 20
        while not world.engine.player.paused or world.view.keys:
            assert time.monotonic() < end
            time.sleep(0.05)
        n = world.engine.player.shown
        time.sleep(0.3)
        assert world.engine.player.shown == n, "it waits between two walks"
        world.hold("forward")
        frames = []
        for frame in world.play(8.0):
            frames.append(read(frame))
            if frames[-1][1]:
                break
        assert frames[-1][1] > 0, "the key is seen"
    with pytest.raises(Refused, match="wss://"):
        client.connect("ws://192.0.2.1:7420")


def test_no_thread_is_left_of_a_line_that_was_lost(address: str) -> None:
    before = set(threading.enumerate())
    heard: list[bytes | None] = []
    line = dialler(address)(heard.append)
    line._cut()  # type: ignore[attr-defined]
    end = time.monotonic() + 20
    while left := [t.name for t in set(threading.enumerate()) - before if t.name.startswith("foreland")]:
        assert time.monotonic() < end, left
        time.sleep(0.01)
    assert heard == [None]
