"""The viewer as a product: takes, scores, favourites, keys, mouse, gamepad, global keys, worlds, plots, help: main path and worst input."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPointF

from app.input.gamepad import Gamepad, PadState
from app.input.global_keys import forbidden, name_of
from app.input.mouse_look import directions
from app.storage.worlds import World, read_world, save_world, sessions, worlds
from engine.runtime.score import Line
from tests.window.conftest import Person
from tests.window.test_window import shot

pytestmark = pytest.mark.window


@pytest.fixture
def open_viewer(open_window: Callable[..., Person], tmp_path: Path) -> Callable[..., Person]:
    from engine.runtime.settings import Settings

    def open_(prompt: str = "green meadow at noon", **more: object) -> Person:
        person = open_window(Settings(prompt=prompt), "session", (1180, 760), home=tmp_path / "home", **more)
        person.until(lambda: person.window.viewport.painted > 12)
        return person

    return open_


def test_going_back_from_the_panel_begins_a_take_and_both_can_be_seen(open_viewer: Callable, tmp_path: Path) -> None:
    person = open_viewer()
    window = person.window
    person.press("F7")
    person.until(lambda: window.takes.isVisible() and window.viewport.painted > 50)
    person.until(lambda: len(window.takes._path) > 8)
    window.takes.slider.setValue(3)
    person.until(lambda: len(window.takes.preview.frames) > 0)
    assert window.takes.chosen().position == 3
    person.click(window.takes.go_button)
    person.until(lambda: window.engine.takes.current == 1)
    assert window.viewport.hasFocus()
    person.until(lambda: window.engine.takes.marks()[-1].groups > 4)
    person.until(lambda: len(window.takes._marks) == 2)
    person.screenshot(shot("takes.png", tmp_path))
    window.takes.tree.setCurrentItem(window.takes.tree.topLevelItem(0))
    window.takes.compare()
    person.until(lambda: all(len(x.frames) > 8 for x in window.takes.pair.loops))
    person.screenshot(shot("side-by-side.png", tmp_path))
    left, right = (x.frames for x in window.takes.pair.loops)
    assert (left[0] == right[0]).all(), "they begin with what they share"
    assert (left[-1] != right[min(len(right), len(left)) - 1]).any()
    window.takes.pair.close()


def test_what_if_shows_the_revoked_suffix_beside_what_came_instead(open_viewer: Callable, tmp_path: Path) -> None:
    person = open_viewer()
    window = person.window
    said: list[str] = []
    window.takes.said.connect(said.append)
    window.takes.what_if()
    assert said and "nothing was revoked yet" in said[0]
    window.viewport.setFocus()

    def replaced() -> bool:
        return any(len(window.engine.takes.instead_of(s)) >= 2 for s in window.engine.takes.suffixes())

    for _ in range(8):  # on a busy machine the cache may have been empty, and then nothing is revoked
        person.down("Right")
        person.until(replaced, 4, must=False)
        person.up("Right")
        if replaced():
            break
        person.until(lambda: window.engine.view.cached > 3, 5, must=False)
    window.takes.what_if()
    person.until(lambda: all(len(x.frames) > 4 for x in window.takes.pair.loops))
    window.say("")
    person.until(lambda: not window.banner.isVisible())
    person.screenshot(shot("what-if.png", tmp_path))
    window.takes.pair.close()


def test_the_last_minutes_become_a_film_with_sound_and_a_clip_is_saved(open_viewer: Callable, tmp_path: Path) -> None:
    import av
    from PIL import Image

    person = open_viewer()
    window = person.window
    person.until(lambda: window.viewport.painted > 60)
    window.takes.film()
    person.until(lambda: "saved" in window.banner.text())
    with av.open(str(next((tmp_path / "home" / "films").glob("*-last-*.mp4")))) as box:
        assert sum(1 for _ in box.decode(video=0)) >= 56
        assert len(box.streams.audio) == 1
    window.takes.refresh()
    window.takes.slider.setValue(window.takes.slider.maximum())
    window.takes.clip()
    person.until(lambda: list((tmp_path / "home" / "pictures").glob("*.webp")))
    person.wait(0.3)
    with Image.open(next((tmp_path / "home" / "pictures").glob("*.webp"))) as picture:
        assert picture.n_frames > 20


def test_a_score_plays_and_an_unsent_edit_is_not_lost(open_viewer: Callable) -> None:
    person = open_viewer()
    window = person.window
    window.prompt.edit.setText("an edit that was not applied")
    window.score.show_lines([Line(0.0, "desert at dusk"), Line(1.0, "snow at noon", 1.0)])
    window.score.toggle()
    person.until(lambda: window.engine.view.prompt == "snow at noon")
    assert window.prompt.edit.text() == "an edit that was not applied"
    assert not window.score.playing

    def log() -> list[dict]:
        return [json.loads(x) for x in (window.engine._journal.folder / "events.jsonl").read_text().splitlines()]

    def said() -> list[float]:
        return [x["share"] for x in log() if x["kind"] == "condition" and x["prompt"] == "snow at noon"]

    person.until(lambda: said()[-1] == 1.0)
    shares = said()
    assert shares == sorted(shares) and shares[-1] == 1.0 and len(shares) == 4, "a transition is a few launches"
    assert not any(x["kind"] == "reset" for x in log()), "and never a reset"


def test_a_bad_score_is_refused_and_the_lines_stay(open_viewer: Callable, tmp_path: Path) -> None:
    person = open_viewer()
    window = person.window
    window.score.show_lines([Line(2.0, "desert")])
    two = '[{"t": 1, "prompt": "a"}, {"t": 1, "prompt": "b"}]'
    for text in ("{", "[3]", '[{"t": -1, "prompt": "x"}]', '[{"t": 1, "prompt": ""}]', two):
        (tmp_path / "bad.json").write_text(text)
        window.score.open(tmp_path / "bad.json")
        assert "as they were" in window.score.note.text()
        assert window.score.lines() == [Line(2.0, "desert")]
    window.score.save(tmp_path / "good.json")
    window.score.show_lines([])
    window.score.toggle()
    assert "no line yet" in window.score.note.text()
    window.score.open(tmp_path / "good.json")
    assert window.score.lines() == [Line(2.0, "desert")]


def test_favourites_drafts_and_own_keys_are_there_again(open_viewer: Callable) -> None:
    person = open_viewer()
    window = person.window
    window.prompt.edit.setText("islands in the morning")
    person.click(window.prompt.star)
    assert window.preferences.favourites == ["islands in the morning"]
    assert window.prompt.presets.itemText(1).endswith("islands in the morning")
    window.prompt.edit.setText("half a thoug")
    window.inputs.edit_keys()
    person.until(lambda: window.inputs.editor.isVisible())
    window.inputs.editor.table.selectRow(0)
    window.inputs.editor._wait()
    person.press("s")  # taken: it is back
    assert "is back now" in window.inputs.editor.note.text()
    assert window.inputs.editor.keymap["S"] == "back"
    person.press("s")
    person.until(lambda: window.inputs.editor.keymap["S"] == "forward")
    assert "without a key" in window.inputs.editor.note.text() or "back" in window.inputs.editor.note.text()
    window.inputs.editor._accept()
    window.viewport.setFocus()
    person.focus()
    person.down("s")
    person.until(lambda: "forward" in window.engine.view.keys)
    person.up("s")
    window.close()
    again = open_viewer().window
    assert again.preferences.favourites == ["islands in the morning"]
    assert again.prompt.edit.text() == "half a thoug"
    assert again.keyboard.keymap["S"] == "forward"


def test_the_right_button_looks_around_and_nothing_sticks(open_viewer: Callable) -> None:
    person = open_viewer()
    window = person.window
    p = window.viewport.mapToGlobal(window.viewport.rect().center())
    person.xdotool("mousemove", str(p.x()), str(p.y()), "mousedown", "3")
    person.xdotool("mousemove", str(p.x() + 60), str(p.y()))
    person.until(lambda: "turn_right" in window.engine.view.keys)
    person.xdotool("mousemove", str(p.x() - 60), str(p.y() + 40))
    person.until(lambda: set(window.engine.view.keys) == {"turn_left", "look_down"})
    person.xdotool("mouseup", "3")
    person.until(lambda: not window.engine.view.keys)
    person.xdotool("mousemove", str(p.x()), str(p.y()), "mousedown", "3")
    person.xdotool("mousemove", str(p.x() + 60), str(p.y()))
    person.until(lambda: "turn_right" in window.engine.view.keys)
    window.to_prompt()  # the focus goes while the button is down
    person.until(lambda: not window.engine.view.keys)
    person.xdotool("mouseup", "3")


def test_a_direction_ends_later_than_it_begins() -> None:
    held = directions(QPointF(20, 0), frozenset())
    assert held == {"turn_right"}
    assert directions(QPointF(12, 0), held) == {"turn_right"}
    assert directions(QPointF(12, 0), frozenset()) == frozenset()


def test_a_gamepad_drives_the_world_and_lets_go_when_it_is_pulled_out(open_viewer: Callable) -> None:
    class Pad:
        state: PadState | None = PadState()

        def read(self) -> PadState | None:
            return self.state

        def close(self) -> None:
            pass

    person = open_viewer()
    window = person.window
    pad = Pad()
    window.inputs.gamepad = Gamepad(window.keyboard, pad)
    window.inputs.pad_timer.start(10)
    pad.state = PadState(left_y=-0.9, right_x=0.7, buttons=frozenset({"right_shoulder"}))
    person.until(lambda: set(window.engine.view.keys) == {"forward", "turn_right", "rise"})
    pad.state = PadState(left_y=-0.4, right_x=0.1)
    person.until(lambda: set(window.engine.view.keys) == {"forward"})
    pad.state = None
    person.until(lambda: not window.engine.view.keys)


def test_without_a_gamepad_library_it_is_said_what_to_install(open_viewer: Callable) -> None:
    person = open_viewer()
    window = person.window
    window.inputs.use_gamepad(True)
    if window.inputs.gamepad is None:
        person.until(lambda: "foreland[gamepad]" in window.banner.text())
    else:
        window.inputs.gamepad.poll()
        assert not window.inputs.gamepad.there
        window.inputs.use_gamepad(False)


def test_global_keys_drive_the_world_from_another_window_and_only_mapped_ones(open_viewer: Callable) -> None:
    from PySide6.QtWidgets import QLineEdit

    person = open_viewer()
    window = person.window
    window.menus.global_keys.setChecked(True)
    person.until(lambda: window.inputs.global_keys.on)
    assert window.viewport.notice == "global keys on"
    other = QLineEdit()
    other.setGeometry(900, 600, 200, 60)
    other.show()
    person.wait(0.3)
    person.xdotool("windowfocus", "--sync", str(int(other.winId())))
    person.until(lambda: not window.isActiveWindow())
    person.down("w")
    person.until(lambda: "forward" in window.engine.view.keys)
    person.up("w")
    person.until(lambda: not window.engine.view.keys)
    seen: list[str] = []
    window.inputs.global_keys._changed.connect(lambda name, down: seen.append(name))
    person.type("p9x")
    person.wait(0.3)
    assert seen == [], "keys that are not mapped are not handed on"
    window.menus.global_keys.setChecked(False)
    person.down("w")
    person.wait(0.3)
    assert not window.engine.view.keys
    person.up("w")
    other.close()


def test_global_keys_say_why_they_cannot_be() -> None:
    assert "Wayland" in forbidden(
        {"WAYLAND_DISPLAY": "wayland-0", "XDG_SESSION_TYPE": "wayland", "DISPLAY": ":0"}, "linux"
    )
    assert "no X display" in forbidden({}, "linux")
    assert forbidden({"DISPLAY": ":0"}, "linux") == ""
    assert name_of(type("K", (), {"char": "ä"})()) == "Ä", "letters of any script can be mapped"
    assert name_of(type("K", (), {"char": ";"})()) is None
    assert name_of(type("K", (), {"name": "esc"})()) is None
    assert name_of(type("K", (), {"name": "left"})()) == "Left"


def test_a_world_is_saved_and_entered_again_from_the_welcome_page(open_viewer: Callable, tmp_path: Path) -> None:
    person = open_viewer()
    window = person.window
    window.settings.seed_box.setValue(7)
    window.save_world()
    person.until(lambda: "saved" in window.banner.text())
    mine = worlds(tmp_path / "home")[0]
    assert (mine.prompt, mine.seed, mine.model) == ("green meadow at noon", 7, "pocket")
    assert mine.thumbnail is not None
    window.settings.seed_box.setValue(1)
    window.show_welcome()
    person.until(lambda: window.welcome.isVisible())
    window.say("")
    person.until(lambda: not window.banner.isVisible())
    person.screenshot(shot("welcome.png", tmp_path))
    texts = [window.welcome.models.item(i).text() for i in range(window.welcome.models.count())]
    assert "needs no GPU" in texts[0] and all("GPU" in t or "ready" in t or "can run" in t for t in texts[1:])
    window.welcome.worlds.setCurrentRow(0)
    window.welcome.enter()
    assert window.settings.seed_box.value() == 7
    person.until(lambda: window.engine.takes.current == 0 and window.viewport.painted > 30)
    window.welcome.at_start.setChecked(False)
    assert not window.preferences.welcome


def test_broken_worlds_and_sessions_are_left_out(tmp_path: Path) -> None:
    home = tmp_path / "home"
    file = save_world(home, World("a/b: c?", "snow", 3), b"no picture")
    assert file.name == "a-b-c.json" and read_world(file).name == "a/b: c?"
    again = save_world(home, World("a/b: c?", "snow", 3), b"")
    assert again != file
    (home / "worlds" / "broken.json").write_text("{")
    (home / "worlds" / "other.json").write_text('{"prompt": 3}')
    assert len([w for w in worlds(home) if w.file is not None and w.file.parent == home / "worlds"]) == 2
    (home / "sessions" / "x").mkdir(parents=True)
    (home / "sessions" / "x" / "events.jsonl").write_text("not json")
    assert sessions(home) == []


def test_plots_follow_the_session_and_help_has_pictures(open_viewer: Callable, tmp_path: Path) -> None:
    person = open_viewer()
    window = person.window
    person.press("F8")
    person.until(lambda: window.metrics is not None and len(window.metrics.series["cached"]) > 20)
    person.down("Right")
    person.until(lambda: len(window.metrics.series["L"]) > 0)
    person.up("Right")
    person.screenshot(shot("metrics.png", tmp_path))
    assert "L50" in window.metrics.figures.text()
    person.press("F1")
    person.until(lambda: window.page.isVisible())
    person.wait(0.2)
    person.screenshot(shot("help.png", tmp_path))
    assert "revoked" in window.page.text.toPlainText()
    window.page.close()
    window.show_about()
    assert "PySide6" in window.page.text.toPlainText() and "torch" in window.page.text.toPlainText()
    window.page.close()


def test_text_scales_and_every_control_has_a_name(open_viewer: Callable) -> None:
    from PySide6.QtWidgets import QAbstractButton, QAbstractSlider, QAbstractSpinBox, QComboBox, QLineEdit

    person = open_viewer()
    window = person.window
    before = window.prompt.edit.font().pointSizeF()
    window.scale_text(1.5)
    person.until(lambda: window.prompt.edit.font().pointSizeF() > 1.3 * before)
    window.scale_text(1.0)
    for kind in (QLineEdit, QComboBox, QAbstractSpinBox, QAbstractSlider):
        for widget in window.findChildren(kind):
            inner = widget.parent() is not None and isinstance(widget.parent(), (QAbstractSpinBox, QComboBox))
            if widget.objectName().startswith("qt_") or inner or "ScrollBar" in type(widget).__name__:
                continue
            assert widget.accessibleName(), (
                f"{type(widget).__name__} {widget.objectName()} has no name for a screen reader"
            )
    for button in window.findChildren(QAbstractButton):
        named = button.accessibleName() or button.text() or button.objectName().startswith("qt_")
        assert named or "Dock" in type(button.parent()).__name__ or "Table" in type(button.parent()).__name__, button


def test_a_film_with_the_overlay_shows_it(open_viewer: Callable, tmp_path: Path) -> None:
    import av

    person = open_viewer()
    window = person.window
    window.films_with_overlay(True)
    window.record_action.setChecked(True)
    person.until(lambda: window.recording.frames > 20)
    handed = 1000 * window.recording.handed / window.recording.frames
    window.record_action.setChecked(False)
    person.until(lambda: "recorded" in window.banner.text())
    with av.open(str(next((tmp_path / "home" / "films").glob("*.mp4")))) as box:
        frame = list(box.decode(video=0))[-1].to_ndarray(format="rgb24")
    assert frame[-40:].mean() < frame[:40].mean(), "the overlay's dark panel is at the bottom"
    assert handed < 5, f"{handed:.2f} ms a frame were spent on handing over"


def test_sound_comes_from_a_device_and_its_loss_is_survived(open_viewer: Callable) -> None:
    import numpy as np

    from app.audio_output import NullStream, SoundOut
    from engine.playback.audio import DeviceClock

    heard: list[np.ndarray] = []
    streams: list[NullStream] = []

    def open_null(rate: int, fill, device: str) -> NullStream:  # type: ignore[no-untyped-def]
        streams.append(NullStream(rate, fill, device, heard=heard.append))
        return streams[-1]

    clock = DeviceClock()
    speaker = SoundOut(open_null, clock)
    person = open_viewer(clock=clock, sound=speaker)
    window = person.window
    person.until(lambda: len(heard) > 150)
    x = np.concatenate(heard[-100:])
    assert np.abs(x).max() > 0.003, "the world is heard"
    assert np.abs(np.diff(x, axis=0)).max() < 0.2, "without a click"
    assert 0 < speaker.latency < 0.3
    window.mute(True)
    person.wait(0.4)
    assert np.abs(np.concatenate(heard[-5:])).max() == 0
    window.mute(False)
    streams[-1]._end.set()  # the device is pulled out: nobody asks any more
    person.until(lambda: "went away" in window.banner.text() or len(streams) > 1)
    painted = window.viewport.painted
    person.until(lambda: len(streams) > 1 and speaker.on)
    assert window.viewport.painted > painted, "the world went on meanwhile"
    n = len(heard)
    person.until(lambda: len(heard) > n + 60)
    person.press("ctrl+p")
    person.wait(0.5)
    assert np.abs(np.concatenate(heard[-5:])).max() == 0, "a pause is silent"


@pytest.mark.skipif(os.environ.get("FORELAND_NO_PORTAUDIO") == "1", reason="asked to leave PortAudio out")
def test_no_device_at_all_is_said_once_and_the_world_plays(open_viewer: Callable) -> None:
    from app.audio_output import SoundError, SoundOut
    from engine.playback.audio import DeviceClock

    def none(rate: int, fill, device: str):  # type: ignore[no-untyped-def]
        raise SoundError("no sound device can be used (none is there); the world plays on in silence")

    clock = DeviceClock()
    person = open_viewer(clock=clock, sound=SoundOut(none, clock))
    window = person.window
    person.until(lambda: "in silence" in window.banner.text())
    painted = window.viewport.painted
    person.until(lambda: window.viewport.painted > painted + 16)
