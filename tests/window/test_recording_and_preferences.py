"""Films and pictures from the window, key layouts, themes, and what is there again at the next start."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from app.storage.preferences import Preferences, load, save
from tests.window.conftest import Person


@pytest.fixture
def open_home(open_window: Callable[..., Person], tmp_path: Path) -> Callable[..., Person]:
    """Opens the real window with a place where things are kept; each time a session of its own."""
    from engine.runtime.settings import Settings

    sessions = count()

    def open_() -> Person:
        settings = Settings(prompt="snowy mountains at noon")
        return open_window(settings, f"session{next(sessions)}", (900, 640), home=tmp_path / "home")

    return open_


def test_a_film_of_what_was_shown_is_playable_and_costs_a_hand_over(open_home: Callable, tmp_path: Path) -> None:
    import av

    person = open_home()
    window = person.window
    person.until(lambda: window.viewport.painted > 5)
    person.press("ctrl+shift+r")
    person.until(lambda: window.recording.frames > 30)
    assert window.viewport.recording
    person.screenshot(tmp_path / "recording.png")
    person.press("ctrl+shift+r")
    person.until(lambda: "recorded" in window.banner.text())
    file = next((tmp_path / "home" / "films").glob("*.mp4"))
    assert str(file) in window.banner.text()
    with av.open(str(file)) as box:
        frames = [f.to_ndarray(format="rgb24") for f in box.decode(video=0)]
        assert box.streams.video[0].average_rate == 16
    assert len(frames) == window.recording.frames
    assert frames[-1].shape[0] % 2 == 0 and frames[0].std() > 5


def test_closing_the_window_finishes_the_film(open_home: Callable, tmp_path: Path) -> None:
    import av

    person = open_home()
    person.until(lambda: person.window.viewport.painted > 5)
    person.window.record_action.setChecked(True)
    person.until(lambda: person.window.recording.frames > 10)
    person.window.close()
    with av.open(str(next((tmp_path / "home" / "films").glob("*.mp4")))) as box:
        assert sum(1 for _ in box.decode(video=0)) == person.window.recording.frames


def test_a_folder_that_cannot_be_written_is_said_and_the_world_goes_on(open_home: Callable, tmp_path: Path) -> None:
    person = open_home()
    window = person.window
    person.until(lambda: window.viewport.painted > 5)
    (tmp_path / "home").mkdir(exist_ok=True)
    (tmp_path / "home" / "films").write_text("a file in the way")
    window.record_action.setChecked(True)
    person.until(lambda: "nothing is recorded" in window.banner.text())
    assert not window.record_action.isChecked()
    painted = window.viewport.painted
    person.until(lambda: window.viewport.painted > painted + 5)


def test_a_screenshot_is_what_is_shown(open_home: Callable, tmp_path: Path) -> None:
    from PIL import Image

    person = open_home()
    person.until(lambda: person.window.viewport.painted > 5)
    size = person.window.viewport.width(), person.window.viewport.height()  # the banner will take some of it
    person.press("F12")
    person.until(lambda: "saved" in person.window.banner.text())
    with Image.open(next((tmp_path / "home" / "pictures").glob("*.png"))) as picture:
        assert picture.size == size


def test_layout_theme_prompts_and_place_are_there_again(open_home: Callable, tmp_path: Path) -> None:
    person = open_home()
    window = person.window
    person.until(lambda: window.viewport.painted > 5)
    window.inputs.use_keys("ZQSD and arrows")
    window.use_theme("dark")
    window.prompt.edit.setText("islands at dusk")
    window.prompt.edit.returnPressed.emit()
    window.resize(820, 600)
    window.dock.setVisible(False)
    person.focus()
    window.viewport.setFocus()
    person.down("q")
    person.until(lambda: "left" in window.engine.view.keys)
    window.inputs.use_keys("WASD and arrows")  # while a key is down: it is let go
    person.until(lambda: not window.engine.view.keys)
    person.up("q")
    window.inputs.use_keys("ZQSD and arrows")
    window.close()
    again = open_home().window
    assert again.keyboard.keymap["Q"] == "left"
    assert again.preferences.theme == "dark"
    assert "islands at dusk" in again.prompt.edit.history
    assert not again.dock.isVisible()
    again.use_theme("system")


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
