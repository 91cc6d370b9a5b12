"""The real window over a world that another process plays, through a line that takes its time and is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.remote.address import dial_to
from engine.remote.client import RemoteWorld
from engine.runtime.clock import SystemClock
from engine.runtime.settings import Settings
from engine.runtime.view import UpdateKind
from tests.engine.remote.delayed_line import Conditions, Proxy
from tests.engine.remote.test_remote_world import LARGE, read
from tests.logs import log_lines
from tests.window.conftest import Person

TOKEN = "a token that is long enough"


@pytest.fixture
def line() -> Iterator[Proxy]:
    """Leads to a server in a process of its own; 20 ms each way."""
    command = [sys.executable, "-m", "tests.engine.remote.serving", TOKEN]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    proxy = Proxy(int(server.stdout.readline()), Conditions(0.02))
    yield proxy
    proxy.close()
    server.terminate()
    server.wait()


def test_a_person_walks_a_world_elsewhere_loses_the_line_and_goes_on(
    open_window: Callable[..., Person], line: Proxy, tmp_path: Path
) -> None:
    world = RemoteWorld.at("there", dial_to(f"ws://127.0.0.1:{line.port}", tmp_path / "known"), TOKEN)
    settings = Settings(prompt="a")
    engine = world.engine(settings, tmp_path / "session", SystemClock())
    person = open_window(settings, engine=engine, spec=LARGE)
    window, frames = person.window, list[np.ndarray]()
    window.viewport.frameShown.connect(lambda frame, sound: frames.append(frame))
    person.more_frames(8)

    person.down("w")
    person.until(lambda: window.engine.view.last is not None)
    last = window.engine.view.last
    assert last is not None and last.kind is UpdateKind.KEY
    assert last.line + last.display >= 0.04, (
        "both ways of the line are in it; how they share it is as true as the clocks"
    )
    assert abs(last.line + last.R + last.C + last.Q + last.display - last.L) < 1e-6

    line.cut(up=False)
    person.message("is lost")
    person.wait(3.0)
    held = len(frames)
    person.wait(1.0)
    assert len(frames) == held, "the world waits"
    line.up = True
    person.until(lambda: "is back" in window.engine.view.message)  # within 2 s: the tests in virtual time
    person.more_frames(24)
    assert window.engine.view.keys == ("forward",), "the key is still down"
    person.up("w")
    person.until(lambda: not window.engine.view.keys)

    person.press("F3")
    window.world.toggle_pause()
    person.until(lambda: window.engine.view.paused)
    window.world.toggle_pause()
    person.more_frames(8)
    steps = np.diff([4 * position + i for position, _, i in map(read, frames)])
    assert steps.min() > 0, "nothing was shown twice"
    assert steps.max() < 16, "nothing was lost with the line: a busy window skips frames, but not a second of them"
    window.close()
    log = log_lines(tmp_path / "session")
    assert any("forward" in json.dumps(x) for x in log)
    summary = json.loads((tmp_path / "session" / "summary.json").read_text())
    assert summary["over"] == "there" and summary["L50"] is not None
