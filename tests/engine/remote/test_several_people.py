"""Three clients at one server, each in a world of their own, over real ports; who is turned away, and with which words."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from engine import client
from engine.client import PlayedWorld
from engine.remote.line import LineError
from engine.remote.lobby import Lobby, crowded
from engine.remote.websocket_line import listen
from engine.runtime.clock import SystemClock
from engine.runtime.engine import Engine
from engine.runtime.live_engine import LiveEngine
from engine.runtime.settings import Settings
from engine.runtime.shared_sampler import SharedSampler
from tests.engine.remote.test_remote_world import LARGE, Squares, read
from tests.toy import ToySampler, toy

TOKEN = "a token that is long enough"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, Path, list[float]]]:
    """Its address, the token's file, and a list: seconds in it are what one more would make all wait."""
    clock, shared, crowd = SystemClock(), SharedSampler(SystemClock()), list[float]()

    def make(settings: Settings, folder: Path) -> LiveEngine:
        return Engine(toy(ToySampler(LARGE, 0.1), Squares(LARGE)), LARGE, settings, folder, clock, shared)

    lobby = Lobby(make, LARGE, clock, 3, TOKEN, too_many=lambda: crowd[-1] if crowd else shared.too_many)
    listening = listen(lobby, "127.0.0.1", 0)
    thread = threading.Thread(target=listening.serve_forever)
    thread.start()
    file = tmp_path / "token"
    file.touch(0o600)
    file.write_text(TOKEN)
    yield f"ws://127.0.0.1:{listening.socket.getsockname()[1]}", file, crowd
    lobby.close()
    listening.shutdown()
    thread.join()


def until(condition: Callable[[], object], what: str, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.02)


def test_how_long_one_more_would_make_all_wait_is_said() -> None:
    assert crowded(2, 3.46) == (
        "two people play here, and a third would make everybody wait up to 3.5 s for a change: come back later"
    )
    assert "one person plays here, and a second" in crowded(1, 2.0)
    assert "an eighth" in crowded(7, 9.0) and "one more" in crowded(30, 9.0)


@pytest.mark.integration
def test_three_clients_play_at_once_and_each_has_its_own_world(server: tuple[str, Path, list[float]]) -> None:
    url, token, crowd = server
    worlds = [client.connect(url, token, prompt=p) for p in "abc"]
    try:
        assert [len(w.frames(8)) for w in worlds] == [8, 8, 8]
        until(lambda: [w.view.shared for w in worlds] == [2, 2, 2], "shared with 2")
        worlds[1].hold("forward")
        moved = [0.0, 0.0, 0.0]
        end = time.monotonic() + 20
        while not moved[1] and time.monotonic() < end:
            for i, world in enumerate(worlds):
                moved[i] = max([moved[i], *(read(f)[1] for f in world.frames(2))])
        assert moved[1] > 0 and moved[0] == moved[2] == 0, "a key changes the world of who pressed it"
        with pytest.raises(LineError, match="room for 3 world"):
            joined(client.connect(url, token))
        worlds.pop().close()
        until(lambda: [w.view.shared for w in worlds] == [1, 1], "shared with 1")
        crowd.append(3.5)
        with pytest.raises(
            LineError, match=r"two people play here, and a third would make everybody wait up to 3\.5 s"
        ):
            joined(client.connect(url, token))
    finally:
        for world in worlds:
            world.close()


def joined(world: PlayedWorld) -> None:
    """Plays a frame. Raises LineError with what the server said when it lets nobody in."""
    try:
        world.frames(1)
    except client.WorldEnded as e:
        raise LineError(str(e)) from e
    finally:
        world.close()


@pytest.mark.slow
def test_three_clients_share_one_pocket_world_server(tmp_path: Path) -> None:
    token = tmp_path / "token"
    command = [sys.executable, "-m", "app", "serve", "--port", "0", "--token-file", str(token), "--worlds", "3"]
    env = {**os.environ, "FORELAND_HOME": str(tmp_path / "home"), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen([*command, "--threads", "1"], stdout=subprocess.PIPE, text=True, env=env) as server:
        assert server.stdout is not None
        try:
            url = server.stdout.readline().split("--connect ")[1].split()[0]
            prompts = ("snowy mountains at noon", "desert at dusk", "forest at night")
            worlds = [client.connect(url, token, prompt=p) for p in prompts]
            seen: list[np.ndarray] = [np.zeros(0)] * 3

            def play(i: int) -> None:
                seen[i] = np.stack(worlds[i].frames(24))

            threads = [threading.Thread(target=play, args=(i,)) for i in range(3)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(150)
            assert [len(s) for s in seen] == [24, 24, 24]
            colours = [s[-1].reshape(-1, 3).mean(0) for s in seen]
            assert min(np.abs(a - b).max() for i, a in enumerate(colours) for b in colours[:i]) > 8, "three worlds"
            assert [w.view.shared for w in worlds] == [2, 2, 2]
            for world in worlds:
                world.close()
        finally:
            server.terminate()
