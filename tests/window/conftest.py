"""A virtual screen of its own for the window tests, a person at its keyboard, and one window that most tests share."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections import deque
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QEvent
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from app.audio_output import Fill, NullStream, SoundError, SoundOut
from app.options import ModelOptions
from app.window.main_window import MainWindow
from engine.loading import loader
from engine.models.load_options import LoadOptions
from engine.models.registry import spec_of
from engine.playback.audio import DeviceClock
from engine.runtime.clock import Clock, SystemClock
from engine.runtime.engine import Engine
from engine.runtime.live_engine import LiveEngine
from engine.runtime.settings import Settings
from tests.logs import log_lines

PROMPT = "green meadow at noon"
SHOTS = os.environ.get("FORELAND_SHOTS")
"""Where the screenshots of the guide go."""
HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.window)


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


@pytest.fixture(scope="session")
def qapp(display: str) -> QApplication:
    """pytest-qt's application, on the virtual screen."""
    app = QApplication.instance() or QApplication(["foreland"])
    assert isinstance(app, QApplication)
    return app


class Person:
    """Types on the real keyboard of the virtual screen, and looks."""

    def __init__(self, app: QApplication, window: MainWindow) -> None:
        self.app, self.window = app, window
        self._down: set[str] = set()

    def xdotool(self, *words: str) -> None:
        subprocess.run(["xdotool", *words], check=True, capture_output=True, timeout=20)
        self.app.processEvents()

    def focus(self, window: QWidget | None = None) -> None:
        """Gives a window the keyboard, as a window manager would."""
        window = window or self.window
        self.until(window.windowHandle().isExposed)
        self.xdotool("windowfocus", str(int(window.winId())))
        self.until(window.isActiveWindow)

    def down(self, key: str) -> None:
        self._down.add(key)
        self.xdotool("keydown", key)

    def up(self, key: str) -> None:
        self._down.discard(key)
        self.xdotool("keyup", key)

    def let_go(self) -> None:
        """Of every key that a test left down."""
        for key in list(self._down):
            self.up(key)

    def press(self, key: str) -> None:
        self.xdotool("key", key)

    def type(self, text: str) -> None:
        self.xdotool("type", "--delay", "8", text)

    def click(self, widget: QWidget) -> None:
        p = widget.mapToGlobal(widget.rect().center())
        self.xdotool("mousemove", str(p.x()), str(p.y()), "click", "1")

    def wait(self, seconds: float) -> None:
        """For what must not happen in this time."""
        self.until(lambda: False, seconds, must=False)

    def until(self, condition: Callable[[], bool], seconds: float = 40.0, must: bool = True) -> None:
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                assert not must, "it did not happen in time"
                return
            self.app.processEvents()
            self.app.sendPostedEvents(None, QEvent.Type.DeferredDelete)
            time.sleep(0.001)

    def message(self, part: str) -> None:
        """Waits for a message in the banner."""
        self.until(lambda: part in self.window.notifications.text() and self.window.notifications.isVisible())

    def more_frames(self, n: int) -> None:
        """Waits until so many more were painted."""
        wanted = self.window.viewport.painted + n
        self.until(lambda: self.window.viewport.painted >= wanted)

    def fill_cache(self, groups: int) -> None:
        """Pauses until more than so many groups are cached, then resumes: a busy machine then has them too."""
        self.window.world.toggle_pause()
        self.until(lambda: self.window.engine.view.cached > groups, 20, must=False)
        self.window.world.toggle_pause()

    def screenshot(self, file: Path) -> QImage:
        """What is on the screen where the window is, also written to `file` or to the guide's pictures."""
        file = Path(SHOTS) / file.name if SHOTS else file
        self.wait(0.05)  # what was set is painted first
        place = self.window.geometry()
        image = self.app.primaryScreen().grabWindow(0, place.x(), place.y(), place.width(), place.height())
        file.parent.mkdir(parents=True, exist_ok=True)
        assert image.save(str(file))
        return image.toImage()


@pytest.fixture(scope="session")
def open_any(qapp: QApplication) -> Callable[..., Person]:
    """Opens a window on the shipped world, or on the one that is loaded by `load`."""

    def open_(
        settings: Settings,
        session: Path,
        size: tuple[int, int],
        clock: Clock | None = None,
        load: Any = None,
        spec: Any = None,
        coached: bool = True,
        before: Callable[[MainWindow], object] = lambda window: None,
        engine: LiveEngine | None = None,
        **more: Any,
    ) -> Person:
        spec = spec or spec_of("pocket")
        load = load or loader("pocket", LoadOptions(threads=1))
        engine = engine or Engine(load, spec, settings, session, clock or SystemClock())
        window = MainWindow(engine, settings, spec, **more)
        window.preferences.coached = coached
        window.resize(*size)
        window.show()
        before(window)
        engine.start()
        person = Person(qapp, window)
        person.focus()
        return person

    return open_


@pytest.fixture
def open_window(open_any: Callable[..., Person], tmp_path: Path) -> Iterator[Callable[..., Person]]:
    """Opens windows of the test's own; they are closed after it."""
    people: list[Person] = []

    def open_(settings: Settings, session: str = "session", size: tuple[int, int] = (1000, 700), **more: Any) -> Person:
        people.append(open_any(settings, tmp_path / session, size, **more))
        return people[-1]

    yield open_
    for person in people:
        person.let_go()
        person.window.close()
        person.window.deleteLater()
        person.app.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def other_models(folder: Path) -> dict[str, Callable[..., Any]]:
    """What lets a window open other models, as the command line does; their sessions go to folders in `folder`."""
    numbers = count()
    return {
        "choose": lambda name: ModelOptions(device="cpu", threads=1).another(name).choose(),
        "new_session": lambda: folder / f"session-{next(numbers)}",
    }


class DummyDevices:
    """Sound devices for the shared window: what was played on them, and whether one can be opened."""

    def __init__(self) -> None:
        self.heard: deque[np.ndarray] = deque(maxlen=500)
        self.streams: list[NullStream] = []
        self.blocks = 0
        self.missing = False

    def open(self, rate: int, fill: Fill, device: str) -> NullStream:
        if self.missing:
            raise SoundError("no sound device can be used (none is there); the world plays on in silence")
        self.streams.append(NullStream(rate, fill, device, heard=self._hear))
        return self.streams[-1]

    def _hear(self, block: np.ndarray) -> None:
        self.heard.append(block)
        self.blocks += 1

    def last(self, blocks: int) -> np.ndarray:
        return np.concatenate(list(self.heard)[-blocks:])


class Viewer(Person):
    """The person at the shared window."""

    def __init__(self, person: Person, home: Path, session: Path, devices: DummyDevices) -> None:
        super().__init__(person.app, person.window)
        self.home, self.devices = home, devices
        self._log = session / "events.jsonl"
        self._seen = 0

    def begin(self) -> None:
        """A new world that plays, in a window as it is at the first start."""
        window = self.window
        for name in ("films", "pictures", "worlds"):
            shutil.rmtree(self.home / name, ignore_errors=True)
        self._seen = self._log.read_text("utf-8").count("\n") if self._log.exists() else 0
        window.raise_()
        window.side.show_page("settings")
        self.focus()
        window.viewport.setFocus()
        window.prompt.edit.setText(PROMPT)
        window.settings.seed_box.setValue(0)
        window.notifications.clear_posted()
        epoch = window.engine.player.epoch
        window.clear_start_image()
        self.until(lambda: window.engine.player.epoch > epoch)
        if window.world.paused:
            window.world.toggle_pause()
        self.until(lambda: window.engine.player.shown > 8)

    def end(self) -> None:
        """Pauses the world and puts the window behind others, so that other tests have the machine."""
        window = self.window
        self.let_go()
        for dialog in window.findChildren(QDialog):
            dialog.close()
        window.side.show_page("settings")
        window.menus["world.record"].setChecked(False)
        window.menus["view.overlay"].setChecked(False)
        window.score.stop()
        window.inputs.use_gamepad(False)
        window.inputs.use_global_keys(False)
        window.keys.clear()
        if not window.world.paused:
            window.world.toggle_pause()
        window.start.close()
        window.lower()

    def log(self) -> list[dict[str, Any]]:
        """What the session log has of this test. A line that is being written is not there yet."""
        return log_lines(self._log.parent)[self._seen :]


@pytest.fixture(scope="session")
def shared(open_any: Callable[..., Person], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Viewer]:
    folder = tmp_path_factory.mktemp("shared")
    home, session, devices = folder / "home", folder / "session", DummyDevices()
    clock = DeviceClock()
    person = open_any(
        Settings(prompt=PROMPT, steps=2),
        session,
        (1180, 760),
        clock=SystemClock(clock),
        home=home,
        sound=SoundOut(devices.open, clock),
        **other_models(folder),
    )
    # loading imports large packages: no test imports them at the same time
    person.until(person.window.engine.ready.is_set, 120)
    yield Viewer(person, home, session, devices)
    person.window.close()
    person.window.deleteLater()


@pytest.fixture
def viewer(shared: Viewer) -> Iterator[Viewer]:
    """The window that tests share: each begins with a new world in it."""
    shared.begin()
    yield shared
    shared.end()
