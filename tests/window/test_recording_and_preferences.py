"""Videos and screenshots from the window, and what is there again at the next start."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import av
import numpy as np
from PIL import Image

from app.storage.preferences import Preferences, load, save
from engine.runtime.settings import Settings
from tests.window.conftest import Person, Viewer


def frames_in(folder: Path) -> list[np.ndarray]:
    """Of the only video there."""
    (file,) = folder.glob("*.mp4")
    with av.open(str(file)) as box:
        assert box.streams.video[0].average_rate == 16
        return [f.to_ndarray(format="rgb24") for f in box.decode(video=0)]


def test_a_video_of_what_was_shown_has_every_frame_once(viewer: Viewer, tmp_path: Path) -> None:
    window = viewer.window
    viewer.press("ctrl+shift+r")
    viewer.until(lambda: window.capture.recording.frames > 24)
    assert window.viewport.recording.startswith("0:0")
    assert window.menus["world.record"].text().startswith("&Record video (0:0")
    viewer.screenshot(tmp_path / "recording.png")
    viewer.press("ctrl+shift+r")
    viewer.message("recorded")
    frames = frames_in(viewer.home / "films")
    assert str(viewer.home / "films") in window.notifications.text()
    assert len(frames) == window.capture.recording.frames
    assert frames[-1].shape[0] % 2 == 0 and frames[0].std() > 5


def test_a_video_may_include_the_overlay(viewer: Viewer) -> None:
    window = viewer.window
    window.menus["world.record_overlay"].setChecked(True)
    window.menus["world.record"].setChecked(True)
    viewer.until(lambda: window.capture.recording.frames > 12)
    handed = 1000 * window.capture.recording.handed / window.capture.recording.frames
    window.menus["world.record"].setChecked(False)
    window.menus["world.record_overlay"].setChecked(False)
    viewer.message("recorded")
    frame = frames_in(viewer.home / "films")[-1]
    assert frame[-40:].mean() < frame[:40].mean(), "the overlay's dark panel is at the bottom"
    assert handed < 5, f"{handed:.2f} ms a frame were spent on handing over"


def test_a_folder_that_cannot_be_written_is_said_and_the_world_goes_on(viewer: Viewer) -> None:
    window = viewer.window
    (viewer.home / "films").write_text("a file in the way")
    window.menus["world.record"].setChecked(True)
    viewer.message("nothing is recorded")
    assert not window.menus["world.record"].isChecked()
    viewer.more_frames(5)
    (viewer.home / "films").unlink()


def test_a_screenshot_is_what_is_shown(viewer: Viewer) -> None:
    window = viewer.window
    size = window.viewport.width(), window.viewport.height()
    viewer.press("F12")
    viewer.message("saved")
    with Image.open(next((viewer.home / "pictures").glob("*.png"))) as picture:
        assert picture.size == size


def test_what_was_chosen_is_there_again_and_closing_finishes_the_video(
    open_window: Callable[..., Person], tmp_path: Path
) -> None:
    home = tmp_path / "home"
    person = open_window(Settings(prompt="snowy mountains at noon"), "first", (900, 640), home=home)
    window = person.window
    person.until(lambda: window.viewport.painted > 5)
    window.inputs.use_keymap("ZQSD and arrows")
    window.appearance.use_theme("dark")
    window.prompt.edit.setText("islands in the morning")
    window.prompt.focus_text()
    person.until(window.prompt.star.isVisible)
    person.wait(0.1)  # the bar has its new size
    person.click(window.prompt.star)
    assert window.preferences.favourites == ["islands in the morning"]
    assert window.prompt.presets.itemText(1).endswith("islands in the morning")
    window.prompt.edit.setText("islands at dusk")
    window.prompt.edit.returnPressed.emit()
    window.prompt.edit.setText("half a thoug")
    window.side.show_page("takes")
    window.viewport.setFocus()
    person.down("q")
    person.until(lambda: "left" in window.engine.view.keys)
    window.inputs.use_keymap("WASD and arrows")  # while a key is down: it is released
    person.until(lambda: not window.engine.view.keys)
    person.up("q")
    window.inputs.use_own_keymap({**window.keys.keymap, "Q": "left"})
    window.menus["world.record"].setChecked(True)
    person.until(lambda: window.capture.recording.frames > 10)
    window.close()
    assert len(frames_in(home / "films")) == window.capture.recording.frames

    again = open_window(Settings(prompt="snowy mountains at noon"), "second", (900, 640), home=home).window
    assert again.keys.keymap["Q"] == "left"
    assert again.inputs.keymaps()["my keys"]["Q"] == "left"
    assert again.preferences.theme == "dark"
    assert again.preferences.favourites == ["islands in the morning"]
    assert "islands at dusk" in again.prompt.edit.history
    assert again.prompt.text == "half a thoug"
    assert again.side.page == "takes"
    again.appearance.use_theme("system")


def test_a_broken_file_of_preferences_begins_anew(tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    for text in ("{", "[]", json.dumps({"theme": "pink", "prompts": [3, "a"], "overlay": "yes", "other": 1})):
        file.write_text(text)
        p = load(file)
        assert p.theme == "system" and p.overlay is False and p.prompts in ([], ["a"])
    p = Preferences()
    for i in range(300):
        p.remember(f"{i % 150}")
    assert len(p.prompts) == 100 and p.prompts[-1] == "149"
    save(p, file)
    assert load(file) == p
