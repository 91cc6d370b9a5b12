"""Pacing of the real window: how late frames are painted while the engine samples, and what a frame costs the Qt thread."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from app.options import Choice
from app.window.main_window import MainWindow
from engine.runtime.engine import Engine
from engine.runtime.metrics import percentile
from engine.runtime.settings import Settings

SETTLE = 16
"""Frames at the start that do not count."""


def measure(choice: Choice, seconds: float, overlay: bool, film: bool = False) -> dict[str, float | bool | str]:
    """Explores in a real window for `seconds`, and makes a film of it if wanted; times in milliseconds.

    Raises RuntimeError when the engine stops.
    """
    app = QApplication.instance() or QApplication(["foreland"])
    settings = Settings(prompt="green hills at dawn")
    engine = Engine(choice.load, choice.spec, settings, None)
    home = Path(tempfile.mkdtemp(prefix="foreland-bench-"))
    window = MainWindow(engine, settings, choice.spec, home=home)
    window.resize(1060, 640)
    window.show()
    window.menus["view.overlay"].setChecked(overlay)
    engine.start()
    window.menus["world.record"].setChecked(film)
    wanted = SETTLE + round(seconds * choice.spec.fps)
    deadline = time.monotonic() + seconds * 3 + 60
    watch = QTimer()
    keys = ("forward", "turn_right", "turn_left")

    def look() -> None:
        shown = window.viewport.painted
        if shown >= wanted or engine.error is not None or time.monotonic() > deadline:
            app.exit()  # closes no window, as `quit` would
        name = keys[(shown // 40) % 3]
        if (shown // 20) % 2:
            engine.press(name)
        else:
            engine.release_all()

    watch.timeout.connect(look)
    watch.start(50)
    app.exec()
    late = [1000 * x for x in list(window.viewport.lateness)[SETTLE:]]
    painted, platform, ratio = window.viewport.painted, QApplication.platformName(), window.devicePixelRatioF()
    stall = engine.player.stall_seconds(engine.clock.now())
    handed = 1000 * window.capture.recording.handed / max(1, window.capture.recording.frames)
    busy = window.viewport.busy_seconds
    window.close()
    shutil.rmtree(home, ignore_errors=True)
    if engine.error is not None or not late:
        raise RuntimeError(engine.error or "no frame was shown")
    return {
        "frames": float(painted),
        "late_p50_ms": percentile(late, 0.5) or 0.0,
        "late_p95_ms": percentile(late, 0.95) or 0.0,
        "late_max_ms": max(late),
        "qt_ms_a_frame": 1000 * busy / painted,
        "stall_seconds": stall,
        "film": film,
        "film_ms_a_frame": handed,
        "overlay": overlay,
        "platform": platform,
        "device_pixel_ratio": ratio,
    }
