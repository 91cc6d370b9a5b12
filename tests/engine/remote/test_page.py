"""The page for browsers: what the port answers, and what its script does with a real server; the script's part is there with node."""

from __future__ import annotations

import base64
import http.client
import json
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from engine.remote.lobby import Lobby
from engine.remote.pictures import PictureDecoder
from engine.remote.websocket_line import listen
from engine.runtime.clock import SystemClock
from engine.runtime.engine import Engine
from engine.runtime.live_engine import LiveEngine
from engine.runtime.settings import Settings
from tests.engine.remote.test_remote_world import LARGE, Squares, read
from tests.toy import ToySampler, toy

pytestmark = pytest.mark.integration
TOKEN = "a token that is long enough"


def served(token: str) -> Iterator[tuple[int, Lobby]]:
    clock = SystemClock()

    def make(settings: Settings, folder: Path) -> LiveEngine:
        return Engine(toy(ToySampler(LARGE, 0.05), Squares(LARGE)), LARGE, settings, folder, clock)

    lobby = Lobby(make, LARGE, clock, 1, token)
    server = listen(lobby, "127.0.0.1", 0)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.socket.getsockname()[1], lobby
    lobby.close()
    server.shutdown()
    thread.join()


@pytest.fixture
def guarded() -> Iterator[tuple[int, Lobby]]:
    yield from served(TOKEN)


@pytest.fixture
def unguarded() -> Iterator[tuple[int, Lobby]]:
    yield from served("")


def get(port: int, path: str, host: str = "localhost") -> tuple[int, dict[str, str], str]:
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    c.request("GET", path, headers={"Host": f"{host}:{port}"})
    answer = c.getresponse()
    return answer.status, dict(answer.headers), answer.read().decode()


def test_the_port_has_three_files_and_nothing_else(guarded: tuple[int, Lobby], unguarded: tuple[int, Lobby]) -> None:
    port, _ = guarded
    status, headers, text = get(port, "/")
    assert (
        status == 200 and "page.js" in text and "data-token" in text and headers["Content-Type"].startswith("text/html")
    )
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert TOKEN not in text
    assert get(port, "/page.js")[1]["Content-Type"].startswith("text/javascript")
    assert get(port, "/page.css")[0] == 200
    for path in ("/../pyproject.toml", "/%2e%2e/x", "/index.html/..", "//etc/passwd", "/nothing"):
        assert get(port, path)[0] == 404
    assert "data-token" not in get(unguarded[0], "/")[2]


def test_a_page_from_elsewhere_gets_no_line(guarded: tuple[int, Lobby], unguarded: tuple[int, Lobby]) -> None:
    """Also one whose name was made to lead to this machine, unless a token is asked for."""
    for port, name, allowed in (
        (guarded[0], "localhost", True),
        (guarded[0], "gpu.example", True),
        (unguarded[0], "localhost", True),
        (unguarded[0], "evil.example", False),
    ):

        def dial(origin: str, port: int = port, name: str = name) -> None:
            sock = socket.create_connection(("127.0.0.1", port))
            connect(f"ws://{name}:{port}", sock=sock, origin=origin, legacy=True).close()  # type: ignore[arg-type,call-arg]

        if allowed:
            dial(f"http://{name}:{port}")
        else:
            assert get(port, "/", name)[0] == 403
            with pytest.raises(InvalidStatus, match="403"):
                dial(f"http://{name}:{port}")
        with pytest.raises(InvalidStatus, match="403"):
            dial("http://other.example")


if shutil.which("node"):

    def test_the_script_plays_walks_comes_back_and_only_looks_on(guarded: tuple[int, Lobby]) -> None:
        port, lobby = guarded
        command = [
            "node",
            "--experimental-websocket",
            str(Path(__file__).with_name("page_check.mjs")),
            str(port),
            TOKEN,
        ]
        ran = subprocess.run([*command, lobby.watch_key], capture_output=True, text=True, timeout=150)
        assert ran.returncode == 0, (ran.stdout[-2000:], ran.stderr[-2000:])
        got = json.loads(ran.stdout)
        assert got["clock"] == [None, 0, 1, 5, [2, 3, 4], None, 7, None, None, 8]
        assert got["size"] == [64, 64] and got["unpacked"] == {"kind": "bye"}
        frames = [round(t * 16 / 1e6) for t in got["shown"]]
        assert frames == sorted(set(frames)), "in order, none twice"
        assert got["chunks"][0]["type"] == "key"
        decoder = PictureDecoder(64, 64)
        pictures = decoder.decode([base64.b64decode(c["data"]) for c in got["chunks"]])
        assert [read(f)[::2] for f in pictures] == [(i // 4, i % 4) for i in range(16)]
        assert got["watcher"] == {"first": "key", "keys": ["forward"]}, "who looks on holds nothing"
        assert "token" in got["stranger"] and "link" in got["late"]
        assert got["bars"] and all(0 < b["w"] < 1 for b in got["bars"]) and "cache" in got["status"]
