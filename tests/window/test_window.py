"""The real window on a virtual screen: real key events, screenshots, and the log that says the same."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtGui import QImage

from app.window.overlay import figures
from engine.control.events import Commit
from engine.training.judge import horizontal_shift

pytestmark = pytest.mark.window
SHOTS = Path(os.environ.get("FORELAND_SHOTS", ""))


def shot(name: str, tmp_path: Path) -> Path:
    return (SHOTS if os.environ.get("FORELAND_SHOTS") else tmp_path) / name


def pixels(image: QImage) -> np.ndarray:
    image = image.convertToFormat(QImage.Format.Format_RGB888)
    data = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return data[:, : image.width() * 3].reshape(image.height(), image.width(), 3).copy()


def record(person) -> list[np.ndarray]:  # type: ignore[no-untyped-def]
    """Every frame that the viewport shows from now on."""
    frames: list[np.ndarray] = []
    screen = person.window.engine.player
    advance = screen.advance

    def spy(now: float):  # type: ignore[no-untyped-def]
        played = advance(now)
        frames.extend(p.image for p in played if p.image is not None)
        return played

    screen.advance = spy
    return frames


def log_of(tmp_path: Path) -> list[dict]:
    return [json.loads(x) for x in (tmp_path / "session" / "events.jsonl").read_text().splitlines()]


def test_painting_loses_no_reference(display: str) -> None:
    """PySide6 6.12.0 gave None away at every call that returns nothing, and the program died of it after some minutes."""
    import sys

    from PySide6.QtCore import QRectF
    from PySide6.QtGui import QPainter

    image = QImage(320, 200, QImage.Format.Format_RGB888)
    painter, area = QPainter(image), QRectF(0, 0, 10, 10)
    painter.drawRect(area)
    before = sys.getrefcount(None)
    for _ in range(500):
        painter.drawRect(area)
        painter.save()
        painter.restore()
    assert sys.getrefcount(None) > before - 100
    painter.end()


def test_holding_the_right_arrow_turns_the_world_and_shows_the_revoked_suffix(
    open_world: Callable, tmp_path: Path
) -> None:
    person = open_world(window=14)
    window = person.window
    frames = record(person)
    person.press("F3")
    assert window.viewport.overlay_shown
    person.until(lambda: window.viewport.painted > 24)
    before = pixels(person.screenshot(shot("before.png", tmp_path)))
    arrived = len(frames)
    person.down("Right")
    person.until(lambda: any(u.phase == "live" and u.kind == "key" for u in window.engine.view.updates))
    live = len(frames)
    view = window.engine.view
    assert view.revoked, "the suffix that was revoked is still on the overlay"
    during = pixels(person.screenshot(shot("turning.png", tmp_path)))
    person.until(lambda: len(frames) >= live + 20)
    person.up("Right")
    assert "Right" not in window.keyboard.held or person.until(lambda: not window.keyboard.held) is None
    # about a second on a free machine; here it may be shared
    assert live - arrived < 3 * 16
    shifts = [horizontal_shift(a, b)[0] for a, b in zip(frames[live + 4 :: 4], frames[live + 8 :: 4], strict=False)]
    assert np.mean(np.array(shifts) <= -1) >= 0.6, f"the picture moves left while the camera turns right: {shifts}"
    assert np.abs(before.astype(int) - during).mean() > 2
    red = (during[..., 0] > 180) & (during[..., 1] < 130) & (during[..., 2] < 130)
    assert red[400:].sum() > 20, "the strike through the revoked groups is drawn"
    values = dict(figures(view))
    window.close()
    person.wait(0.1)
    lines = log_of(tmp_path)
    applied = [
        x["data"]
        for x in lines
        if x.get("name") == "Receipt" and x["data"]["outcome"] == "applied" and x["data"]["version"] == 1
    ]
    assert len(applied) == 1
    r = applied[0]
    expected = (
        f"{r['wait'] + r['generate'] + r['queue']:.2f} = {r['wait']:.2f} + {r['generate']:.2f} + {r['queue']:.2f} s"
    )
    assert values["L = R + C + Q"] == expected, "the overlay's figures are those of the log"
    assert values["K"] == "14"
    revoked = [x for x in lines if x.get("name") == "Revoke" and x["data"]["reason"] == "update"]
    assert revoked
    assert not [t.name for t in threading.enumerate() if t.name.startswith("foreland")]


def test_a_prompt_edit_changes_the_world_while_it_plays(open_world: Callable, tmp_path: Path) -> None:
    person = open_world("snowy mountains at noon")
    window = person.window
    frames = record(person)
    person.until(lambda: window.viewport.painted > 16)
    noon = frames[-1]
    person.press("Return")
    assert window.prompt.edit.hasFocus()
    shown = len(frames)
    person.type("desert at dusk")
    assert window.engine.view.keys == (), "typing moves nothing"
    assert window.prompt.edit.text() == "desert at dusk"
    person.press("Return")
    assert window.viewport.hasFocus(), "Enter gives the focus back"
    person.until(lambda: window.prompt.status.text().startswith("live after"))
    assert len(frames) > shown, "the world went on while the person typed"
    target = len(frames) + 40
    person.until(lambda: len(frames) >= target)
    person.screenshot(shot("dusk.png", tmp_path))
    dusk = frames[-1]
    blue, red = (noon[..., c].astype(float).mean() - dusk[..., c].astype(float).mean() for c in (2, 0))
    assert blue - red > 20, "noon on snow is bluer than a desert at dusk"
    window.close()
    lines = log_of(tmp_path)
    assert [x["prompt"] for x in lines if x["kind"] == "condition"] == ["desert at dusk"]
    assert lines[-1]["kind"] == "summary"


def test_escape_leaves_the_prompt_without_applying_and_keeps_the_text(open_world: Callable, tmp_path: Path) -> None:
    person = open_world()
    window = person.window
    person.until(lambda: window.viewport.painted > 4)
    person.press("ctrl+l")
    person.type("wasd")
    person.press("Escape")
    assert window.viewport.hasFocus()
    assert window.prompt.edit.text() == "wasd"
    person.until(lambda: window.prompt.status.text() == "not applied yet")
    assert window.engine.view.prompt == "snowy mountains at noon"
    window.close()
    assert not [x for x in log_of(tmp_path) if x["kind"] == "condition"]


def test_auto_repeat_and_clicks_on_controls_do_not_disturb_the_keys(open_world: Callable, tmp_path: Path) -> None:
    person = open_world()
    window = person.window
    person.until(lambda: window.viewport.painted > 4)
    person.down("w")
    person.wait(1.5)
    person.up("w")
    person.until(lambda: not window.keyboard.held)
    person.click(window.settings.pause_button)
    assert window.viewport.hasFocus()
    assert window.engine.player.paused
    person.press("ctrl+p")
    assert not window.engine.player.paused
    person.press("F4")
    person.until(lambda: window.engine.view.commit == Commit.CHUNK.value)
    window.close()
    changes = [x["keys"] for x in log_of(tmp_path) if x["kind"] == "condition"]
    assert changes == [["forward"], []], "one press and one release, however often the key repeated"


def test_losing_the_focus_lets_go_of_all_keys(open_world: Callable) -> None:
    person = open_world()
    window = person.window
    person.until(lambda: window.viewport.painted > 4)
    person.down("w")
    person.down("Left")
    person.until(lambda: set(window.engine.view.keys) == {"forward", "turn_left"})
    window.prompt.edit.setFocus()
    person.until(lambda: window.engine.view.keys == ())
    assert window.keyboard.held == []
    person.up("w")
    person.up("Left")


def test_missing_weights_are_told_in_the_window(display: str, tmp_path: Path) -> None:
    from PySide6.QtWidgets import QApplication

    from app.window.main_window import MainWindow
    from engine.loading import loader
    from engine.models.registry import spec_of
    from engine.runtime.engine import Engine
    from engine.runtime.settings import Settings
    from tests.window.conftest import Person

    app = QApplication.instance() or QApplication(["foreland"])
    settings = Settings(prompt="desert")
    engine = Engine(loader("pocket", weights=tmp_path), spec_of("pocket"), settings, tmp_path / "session")
    window = MainWindow(engine, settings, spec_of("pocket"))
    window.show()
    engine.start()
    Person(app, window).until(window.banner.isVisible)
    assert "is missing" in window.banner.text()
    assert "restore the folder assets/pocket" in window.banner.text()
    window.close()


def test_bench_window_measures_pacing_and_cost_of_the_real_window(display: str, tmp_path: Path) -> None:
    from app.cli.main import main

    file = tmp_path / "w.json"
    assert main(["bench", "window", "--seconds", "5", "--json", str(file)]) == 0
    rows = json.loads(file.read_text())["rows"]
    assert [(r["overlay"], r["film"]) for r in rows] == [(False, False), (True, False), (False, True)]
    assert [r["film_ms_a_frame"] > 0 for r in rows] == [False, False, True]
    for r in rows:
        assert r["frames"] >= 5 * 16
        assert r["late_p50_ms"] <= r["late_p95_ms"] <= r["late_max_ms"]
        assert 0.01 < r["qt_ms_a_frame"] < 1000 / 16, "the Qt thread keeps up with 16 frames a second"
        assert r["platform"] == "xcb"
