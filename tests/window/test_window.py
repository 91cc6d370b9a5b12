"""The real window under real key events: what is seen, and the log that says the same."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QCursor

from app.window.overlay import figures
from engine.control.events import Commit
from engine.loading import loader
from engine.runtime.settings import Settings
from engine.runtime.view import UpdateKind, UpdatePhase
from engine.training.judge import horizontal_shift
from tests.logs import log_lines
from tests.toy import SPEC, toy
from tests.window.conftest import PROMPT, Person, Viewer


def frames_of(person: Person) -> list[np.ndarray]:
    """Every frame that the viewport shows from now on."""
    frames: list[np.ndarray] = []
    person.window.viewport.frameShown.connect(lambda frame, sound: frames.append(frame))
    return frames


def engine_threads() -> set[str]:
    return {t.name for t in threading.enumerate() if t.name.startswith("foreland")}


def test_holding_the_right_arrow_turns_the_world_and_shows_the_revoked_suffix(
    open_window: Callable[..., Person], tmp_path: Path
) -> None:
    before_it = threading.active_count()
    person = open_window(Settings(prompt="snowy mountains at noon", window=14, steps=2), "session")
    window = person.window
    frames = frames_of(person)

    def revoked() -> bool:
        return bool(window.engine.view.revoked)

    person.press("F3")
    assert window.viewport.overlay_shown
    person.until(lambda: window.viewport.painted > 16, 90)
    person.screenshot(tmp_path / "before.png")
    for _ in range(8):  # on a busy machine every cached group may be locked, and then nothing is revoked
        person.fill_cache(10)
        arrived = len(frames)
        person.down("Right")
        person.until(revoked, 4, must=False)
        if revoked():
            break
        person.up("Right")
    person.screenshot(tmp_path / "turning.png")
    person.until(
        lambda: any(u.phase is UpdatePhase.LIVE and u.kind is UpdateKind.KEY for u in window.engine.view.updates)
    )
    live = len(frames)
    view = window.engine.view
    person.until(lambda: len(frames) >= live + 20)
    person.up("Right")
    person.until(lambda: not window.keys.held)
    assert view.last is not None
    assert live - arrived <= (view.last.L + 2.0) * 16, "no more was shown until then than L says"
    shifts = [horizontal_shift(a, b)[0] for a, b in zip(frames[live + 4 :: 4], frames[live + 8 :: 4], strict=False)]
    assert np.mean(np.array(shifts) <= -1) >= 0.6, f"the picture moves left while the camera turns right: {shifts}"
    assert np.abs(frames[arrived - 1].astype(int) - frames[-1]).mean() > 2
    values = dict(figures(view))
    window.close()
    lines = log_lines(tmp_path / "session")
    (r,) = (
        x["data"]
        for x in lines
        if x.get("name") == "Receipt"
        and x["data"]["outcome"] == "applied"
        and x["data"]["version"] == view.last.version
    )
    expected = (
        f"{r['wait'] + r['generate'] + r['queue']:.2f} = {r['wait']:.2f} + {r['generate']:.2f} + {r['queue']:.2f} s"
    )
    assert values["L = R + C + Q"] == expected, "the overlay's figures are those of the log"
    assert values["K"] == "14"
    assert any(x.get("name") == "Revoke" and x["data"]["reason"] == "update" for x in lines)
    assert lines[-1]["kind"] == "summary"
    person.until(lambda: threading.active_count() <= before_it, 15, must=False)  # one may be inside a step
    assert threading.active_count() <= before_it, f"threads that outlive their window: {engine_threads()}"


def test_a_prompt_edit_changes_the_world_while_it_plays(viewer: Viewer, tmp_path: Path) -> None:
    window = viewer.window
    frames = frames_of(viewer)
    viewer.until(lambda: len(frames) > 4)
    noon = frames[-1]
    viewer.press("Return")
    assert window.prompt.edit.hasFocus()
    shown = len(frames)
    viewer.type("desert at dusk")
    assert window.engine.view.keys == (), "typing moves nothing"
    assert window.prompt.text == "desert at dusk"
    viewer.press("Return")
    assert window.viewport.hasFocus(), "Enter gives the focus back"
    viewer.until(lambda: window.prompt.status.text().startswith("live after"))
    assert len(frames) > shown, "the world went on while the person typed"
    target = len(frames) + 40
    viewer.until(lambda: len(frames) >= target)
    viewer.screenshot(tmp_path / "dusk.png")
    dusk = frames[-1]
    blue, red = (noon[..., c].astype(float).mean() - dusk[..., c].astype(float).mean() for c in (2, 0))
    assert blue - red > 20, "noon on a meadow is bluer than a desert at dusk"
    assert [x["prompt"] for x in viewer.log() if x["kind"] == "condition" and x["what"] == "prompt"] == [
        "desert at dusk"
    ]


def test_escape_leaves_the_prompt_without_applying_and_keeps_the_text(viewer: Viewer) -> None:
    window = viewer.window
    viewer.press("ctrl+l")
    viewer.type("wasd")
    viewer.press("Escape")
    assert window.viewport.hasFocus()
    assert window.prompt.text == "wasd"
    viewer.until(lambda: window.prompt.status.text() == "not applied yet")
    assert window.engine.view.prompt == PROMPT
    assert not [x for x in viewer.log() if x["kind"] == "condition" and x["what"] == "prompt"]


def test_auto_repeat_and_clicks_on_controls_do_not_disturb_the_keys(viewer: Viewer) -> None:
    window = viewer.window
    viewer.down("w")
    viewer.wait(1.2)  # X repeats a key after 0.6 s
    viewer.up("w")
    viewer.until(lambda: not window.keys.held and not window.engine.view.keys)

    def changes() -> list[list[str]]:
        return [x["keys"] for x in viewer.log() if x["kind"] == "condition" and x["what"] in ("key", "release")]

    viewer.until(lambda: len(changes()) > 1, 5, must=False)
    assert changes() == [["forward"], []], "one press and one release, however often the key repeated"
    viewer.click(window.settings.pause_button)
    viewer.until(lambda: window.world.paused)
    assert window.viewport.hasFocus()
    viewer.press("ctrl+p")
    viewer.until(lambda: not window.world.paused)
    viewer.press("F4")
    viewer.until(lambda: window.engine.view.commit is Commit.CHUNK)
    viewer.press("F4")
    viewer.until(lambda: window.engine.view.commit is Commit.SPECULATIVE)


def test_losing_the_focus_lets_go_of_all_keys(viewer: Viewer) -> None:
    window = viewer.window
    viewer.down("w")
    viewer.down("Left")
    viewer.until(lambda: set(window.engine.view.keys) == {"forward", "turn_left"})
    window.prompt.edit.setFocus()
    viewer.until(lambda: window.engine.view.keys == ())
    assert window.keys.held == []
    viewer.up("w")
    viewer.up("Left")


def test_the_right_button_locks_the_pointer_and_its_way_turns_the_camera(viewer: Viewer) -> None:
    window = viewer.window
    look = window.inputs.mouse_look
    p = window.viewport.mapToGlobal(window.viewport.rect().center())

    def pressed(action: str) -> bool:
        return any(action in x["keys"] + x["tapped"] for x in viewer.log() if x["kind"] == "condition")

    viewer.xdotool("mousemove", str(p.x()), str(p.y()), "mousedown", "3")
    viewer.until(lambda: look.locked)
    assert window.viewport.cursor().shape() is Qt.CursorShape.BlankCursor
    viewer.xdotool("mousemove_relative", "60", "0")
    viewer.until(lambda: pressed("turn_right"))
    viewer.until(lambda: not window.keys.held)  # a short way is a short turn, though the button is down
    assert look.locked
    viewer.xdotool("mousemove_relative", "--", "-60", "40")
    viewer.until(lambda: pressed("turn_left") and pressed("look_down"))
    viewer.until(lambda: (QCursor.pos() - p).manhattanLength() < 4)
    viewer.xdotool("mouseup", "3")
    viewer.until(lambda: not look.locked and not window.keys.held)
    assert window.viewport.cursor().shape() is not Qt.CursorShape.BlankCursor
    viewer.xdotool("mousemove", str(p.x()), str(p.y()), "mousedown", "3")
    viewer.xdotool("mousemove_relative", "60", "0")
    window.prompt.focus_text()  # the focus goes while the button is down
    viewer.until(lambda: not look.locked and not window.engine.view.keys)
    viewer.xdotool("mouseup", "3")


def test_a_world_without_a_camera_says_what_its_keys_do(open_window: Callable[..., Person]) -> None:
    person = open_window(Settings(prompt="snow"), load=toy(), spec=replace(SPEC, camera=False))
    person.more_frames(2)
    assert "become words" in person.window.viewport.hint
    person.down("w")
    person.until(lambda: "become words" in person.window.viewport._hud(0.0).hint)
    person.up("w")


def test_missing_weights_are_told_in_the_window(open_window: Callable[..., Person], tmp_path: Path) -> None:
    person = open_window(Settings(prompt="desert"), load=loader("pocket", weights=tmp_path))
    person.message("is missing")
    assert "restore the folder assets/pocket" in person.window.notifications.text()
