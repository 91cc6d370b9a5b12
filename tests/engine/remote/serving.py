"""A toy world served by a process of its own: `python -m tests.engine.remote.serving TOKEN`; prints its port."""

from __future__ import annotations

import sys
from pathlib import Path

from engine.remote.lobby import Lobby
from engine.remote.websocket_line import listen
from engine.runtime.clock import SystemClock
from engine.runtime.engine import Engine
from engine.runtime.live_engine import LiveEngine
from engine.runtime.settings import Settings
from tests.engine.remote.test_remote_world import LARGE, Squares
from tests.toy import ToySampler, toy


def main(token: str) -> None:
    clock = SystemClock()

    def make(settings: Settings, folder: Path) -> LiveEngine:
        return Engine(toy(ToySampler(LARGE, 0.2), Squares(LARGE)), LARGE, settings, folder, clock)

    server = listen(Lobby(make, LARGE, clock, 1, token), "127.0.0.1", 0)
    print(server.socket.getsockname()[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1])
