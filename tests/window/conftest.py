"""A virtual screen of its own for the window tests, and a person at its keyboard."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def display() -> Iterator[str]:
    if shutil.which("Xvfb") is None or shutil.which("xdotool") is None:
        pytest.fail(
            "Xvfb and xdotool are needed: `python packaging/dev.py test` installs them, or says what to install"
        )
    read, write = os.pipe()
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x800x24", "-nolisten", "tcp"]
    server = subprocess.Popen(command, pass_fds=[write], stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as pipe:
        name = ":" + pipe.readline().strip()
    os.environ["DISPLAY"] = name
    os.environ["QT_QPA_PLATFORM"] = "xcb"
    yield name
    server.terminate()
    server.wait()


class Person:
    """Types on the real keyboard of the virtual screen, and looks."""

    def __init__(self, app, window) -> None:  # type: ignore[no-untyped-def]
        self.app, self.window = app, window

    def xdotool(self, *words: str) -> None:
        subprocess.run(["xdotool", *words], check=True, capture_output=True, timeout=20)
        self.wait(0.02)

    def focus(self) -> None:
        self.xdotool("windowfocus", "--sync", str(int(self.window.winId())))

    def down(self, key: str) -> None:
        self.xdotool("keydown", key)

    def up(self, key: str) -> None:
        self.xdotool("keyup", key)

    def press(self, key: str) -> None:
        self.xdotool("key", key)

    def type(self, text: str) -> None:
        self.xdotool("type", "--delay", "8", text)

    def click(self, widget) -> None:  # type: ignore[no-untyped-def]
        p = widget.mapToGlobal(widget.rect().center())
        self.xdotool("mousemove", str(p.x()), str(p.y()), "click", "1")

    def wait(self, seconds: float) -> None:
        self.until(lambda: False, seconds, must=False)

    def until(self, condition: Callable[[], bool], seconds: float = 40.0, must: bool = True) -> None:
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                assert not must, "it did not happen in time"
                return
            self.app.processEvents()
            time.sleep(0.001)

    def screenshot(self, file: Path):  # type: ignore[no-untyped-def]
        """What is on the screen, also written to `file`."""
        self.wait(0.05)  # what was set is painted first
        image = self.app.primaryScreen().grabWindow(0)
        file.parent.mkdir(parents=True, exist_ok=True)
        assert image.save(str(file))
        return image.toImage()


@pytest.fixture
def open_window(display: str, tmp_path: Path) -> Iterator[Callable[..., Person]]:
    """Opens the real window on the shipped world; `more` is the window's own, as where things are kept."""
    from PySide6.QtWidgets import QApplication

    from app.window.main_window import MainWindow
    from engine.loading import loader
    from engine.models.registry import spec_of
    from engine.runtime.clock import SystemClock
    from engine.runtime.engine import Engine
    from engine.runtime.settings import Settings

    app = QApplication.instance() or QApplication(["foreland"])
    windows = []

    def open_(
        settings: Settings,
        session: str,
        size: tuple[int, int],
        clock: Callable[[], float] = time.monotonic,
        load: Any = None,
        spec: Any = None,
        **more: Any,
    ) -> Person:
        spec = spec or spec_of("pocket")
        engine = Engine(load or loader("pocket"), spec, settings, tmp_path / session, SystemClock(clock))
        window = MainWindow(engine, settings, spec, **more)
        windows.append(window)
        window.resize(*size)
        window.show()
        engine.start()
        person = Person(app, window)
        person.wait(0.2)
        person.focus()
        return person

    yield open_
    for w in windows:
        w.close()
        w.deleteLater()
    app.processEvents()


@pytest.fixture
def open_world(open_window: Callable[..., Person]) -> Callable[..., Person]:
    """Opens the window with settings of one's own, and nothing that is kept."""
    from engine.runtime.settings import Settings

    def open_(prompt: str = "snowy mountains at noon", **settings: object) -> Person:
        return open_window(Settings(prompt=prompt, **settings), "session", (1000, 700))  # type: ignore[arg-type]

    return open_
