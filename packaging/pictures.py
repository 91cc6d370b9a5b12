"""Makes the pictures of the window for the guide, dark and light: `python packaging/pictures.py [SCENE ...]`.

Needs a display of 1920x1200 (`xvfb-run -s "-screen 0 1920x1200x24"` where there is none). The world that ships plays in the real window;
each scene is brought about as a person would, and what is on the screen then is written to docs/pictures/window.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from PIL import Image
from PySide6.QtCore import QEvent, QRect
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QApplication, QWidget

from app.options import ModelOptions
from app.window.hud import waiting_for
from app.window.main_window import MainWindow
from engine.runtime.engine import Engine
from engine.runtime.score import Line
from engine.runtime.settings import Settings

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pictures" / "window"
HELP, HELP_WIDTH = Path(__file__).resolve().parents[1] / "assets" / "help", 720
THEMES = ("dark", "light")
SIZE, SMALL = (1180, 760), (640, 400)
PROMPT = "green hills at dawn"
LARGE = "scale"
"""The scene that runs in a process of its own, at three times the size."""
WAIT_SECONDS = 120.0


class Stage:
    """One window on the world that ships, and a hand at it."""

    def __init__(self, app: QApplication, home: Path) -> None:
        self.app = app
        choice = ModelOptions(threads=2).choose()
        settings = Settings(prompt=PROMPT, seed=2)
        self.engine = Engine(choice.load, choice.spec, settings, None)
        self.window = MainWindow(self.engine, settings, choice.spec, home=home)
        self.window.preferences.coached = True
        self.window.resize(*SIZE)
        self.window.show()
        self.engine.start()
        self.until(lambda: self.window.viewport.painted > 8)

    def until(self, condition: Callable[[], object], seconds: float = WAIT_SECONDS) -> None:
        """Lets the world go on; raises TimeoutError."""
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError("the scene did not come about")
            self.app.processEvents()
            self.app.sendPostedEvents(None, QEvent.Type.DeferredDelete)
            time.sleep(0.002)

    def rest(self, seconds: float = 0.4) -> None:
        end = time.monotonic() + seconds
        self.until(lambda: time.monotonic() > end)

    def frames(self, n: int) -> None:
        """Waits for so many more."""
        wanted = self.window.viewport.painted + n
        self.until(lambda: self.window.viewport.painted >= wanted)

    def fill(self, groups: int) -> None:
        """Pauses until so many groups are cached: a busy machine then has them too."""
        if not self.window.world.paused:
            self.window.world.toggle_pause()
        self.until(lambda: self.engine.view.cached >= groups)
        self.window.world.toggle_pause()

    # -- scenes --------------------------------------------------------------------------------------------------------

    def start(self) -> QWidget:
        self.window.start.open()
        self.rest()
        return self.window

    def models(self) -> QWidget:
        self.window.dialogs.show_models()
        self.rest()
        assert self.window.dialogs.models is not None
        return self.window.dialogs.models

    def walking(self) -> QWidget:
        window = self.window
        window.menus["view.overlay"].setChecked(True)
        for keys in (("forward", "turn_right"), ("forward",)) * 3:
            self.fill(10)
            for key in keys:
                self.engine.press(key)
            try:
                self.until(lambda: self.engine.view.revoked and self.engine.view.flight, 12)
                break
            except TimeoutError:  # on a busy machine every cached group may be locked, and then nothing is revoked
                self.engine.release_all()
        return window

    def prompt(self) -> QWidget:
        self.window.activateWindow()
        self.window.prompt.edit.setText("a city of skyscrapers at night")
        self.window.prompt.focus_text()
        self.until(lambda: self.window.prompt.edit.hasFocus())
        self.rest()
        return self.window

    def takes(self) -> QWidget:
        window = self.window
        window.menus["view.takes"].setChecked(True)
        self.until(lambda: len(window.takes.path) > 24)
        window.takes.slider.setValue(12)
        window.takes.go_on()
        self.until(lambda: self.engine.takes.current > 0)
        window.prompt.edit.setText("desert at dusk")
        window.prompt.edit.returnPressed.emit()
        self.until(lambda: len(window.takes.map.lanes) > 1 and self.engine.takes.marks()[-1].groups > 10)
        self.until(lambda: len(window.takes.map._pictures) > 1)
        window.takes.slider.setValue(len(window.takes.path) - 2)
        self.until(lambda: window.takes.preview.frames)
        self.rest()
        return window

    def beside(self) -> QWidget:
        window = self.window
        if len(window.takes.map.lanes) < 2:
            self.takes()
        window.takes.map.choose(0)
        window.takes.compare()
        pair = window.takes.pair
        assert pair is not None
        self.until(lambda: all(len(x.frames) > 12 for x in pair.clips))
        pair.slider.setValue(40)
        self.rest(0.1)
        return pair

    def score(self) -> QWidget:
        window = self.window
        window.score.show_lines(
            [Line(0.0, PROMPT), Line(12.0, "desert at dusk", 4.0), Line(24.0, "snowy mountains at noon", 2.0)]
        )
        window.menus["view.score"].setChecked(True)
        self.rest()
        return window

    def metrics(self) -> QWidget:
        self.window.menus["view.metrics"].setChecked(True)
        for key in ("turn_left", "turn_right", "forward"):
            self.fill(8)
            self.engine.press(key)
            self.frames(24)
            self.engine.release_all()
            self.frames(8)
        return self.window

    def settings(self) -> QWidget:
        self.window.menus["view.settings"].setChecked(True)
        self.rest()
        return self.window

    def library(self) -> QWidget:
        window = self.window
        window.menus["world.record"].setChecked(True)
        self.frames(24)
        window.menus["world.record"].setChecked(False)
        window.capture.screenshot()
        window.menus["view.library"].setChecked(True)
        self.until(lambda: window.panels.library.list.count() > 1)
        self.rest(1.5)
        window.notifications.clear_posted()
        return window

    def full(self) -> QWidget:
        self.window.menus["view.full_screen"].setChecked(True)
        self.frames(4)
        self.window.picture_only.wake()
        self.rest()
        return self.window

    def small(self) -> QWidget:
        self.window.resize(*SMALL)
        self.window.menus["view.overlay"].setChecked(True)
        self.frames(8)
        return self.window

    def explain(self) -> QWidget:
        self.window.world.new_world(PROMPT, 2)
        self.fill(8)
        self.engine.press("turn_left")
        self.until(lambda: self.window.viewport.story.last() is not None)
        self.engine.release_all()
        self.window.dialogs.explain()
        told = self.window.dialogs.explanation
        assert told is not None
        told.slider.setValue(told.slider.maximum() * 2 // 3)
        told._stop()
        self.rest(0.2)
        return told

    def scale(self) -> QWidget:
        return self.small()

    def tidy(self) -> None:
        """As at the beginning."""
        window = self.window
        self.engine.release_all()
        if window.world.paused:
            window.world.toggle_pause()
        window.start.close()
        window.menus["view.full_screen"].setChecked(False)
        window.menus["view.overlay"].setChecked(False)
        window.side.show_page("")
        for dialog in (window.dialogs.models, window.dialogs.explanation, window.takes.pair):
            if dialog is not None:
                dialog.close()
        window.prompt.edit.setText(self.engine.view.prompt)
        window.notifications.clear_posted()
        window.resize(*SIZE)
        window.viewport.setFocus()
        self.rest(0.2)


SCENES = (
    "start",
    "walking",
    "prompt",
    "takes",
    "beside",
    "score",
    "metrics",
    "library",
    "models",
    "settings",
    "full",
    "small",
    "explain",
    LARGE,
)


def seen(widget: QWidget) -> QPixmap:
    """What is on the screen where a window is."""
    place = QRect(widget.geometry())
    return widget.screen().grabWindow(0, place.x(), place.y(), place.width(), place.height())


def help_pictures() -> None:
    """The pictures of the window's own help, from those of the guide."""
    for scene, name in (("walking", "overlay"), ("takes", "takes")):
        image = Image.open(FOLDER / f"{scene}-dark.jpg")
        small = image.resize((HELP_WIDTH, round(HELP_WIDTH * image.height / image.width)), Image.Resampling.LANCZOS)
        small.quantize(128).save(HELP / f"{name}.png", optimize=True)


def main(names: Sequence[str]) -> None:
    """names: of scenes; none for all."""
    large = os.environ.get("QT_SCALE_FACTOR") == "3"
    wanted = [s for s in SCENES if (not names or s in names) and (s != LARGE or large)]
    FOLDER.mkdir(parents=True, exist_ok=True)
    app = QApplication(["foreland"])
    with tempfile.TemporaryDirectory(prefix="foreland-pictures-") as home:
        stage = Stage(app, Path(home))
        for scene in wanted:
            try:
                widget = getattr(stage, scene)()
                for theme in THEMES:
                    with suppress(TimeoutError):  # a busy machine stalls: that is not what the picture is of
                        stage.until(lambda: not waiting_for(stage.engine, stage.engine.clock.now()), 20)
                    stage.window.appearance.use_theme(theme)
                    stage.rest(0.15)
                    file = FOLDER / f"{scene}-{theme}.jpg"
                    seen(widget).save(str(file), "JPG", 86)
                    print(file.name, f"{file.stat().st_size >> 10} KB", flush=True)
            except TimeoutError as e:
                print(f"{scene}: {e}", flush=True)
            stage.window.appearance.use_theme("dark")
            stage.tidy()
        stage.window.close()
    if not large:
        help_pictures()
    if not large and (not names or LARGE in names):
        environment = os.environ | {"QT_SCALE_FACTOR": "3"}
        subprocess.run([sys.executable, "-P", __file__, LARGE], env=environment, check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
