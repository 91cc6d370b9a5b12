"""The viewer as a product: takes, scores, gamepad, global keys, worlds, plots, help, sound."""

from __future__ import annotations

import sys
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image
from PySide6.QtWidgets import QAbstractButton, QAbstractSlider, QAbstractSpinBox, QComboBox, QLineEdit

from app.input.gamepad import PadState
from app.input.global_keys import forbidden, name_of
from app.storage.worlds import World, delete_world, read_world, rename_world, save_world, sessions, worlds
from app.window.start_screen import VALUE
from engine.runtime.score import Line
from tests.window.conftest import PROMPT, Viewer


def test_going_back_from_the_panel_begins_a_take_and_both_can_be_seen(viewer: Viewer, tmp_path: Path) -> None:
    window = viewer.window
    viewer.press("F7")
    viewer.until(lambda: window.takes.isVisible() and len(window.takes.path) > 8)
    window.takes.slider.setValue(3)
    viewer.until(lambda: len(window.takes.preview.frames) > 0)
    chosen = window.takes.chosen()
    assert chosen is not None and chosen.position == 3
    viewer.click(window.takes.go_button)
    viewer.until(lambda: window.engine.takes.current == 1)
    assert window.viewport.hasFocus()
    viewer.until(lambda: window.engine.takes.marks()[-1].groups > 4)
    viewer.until(lambda: [(x.parent, x.current) for x in window.takes.map.lanes] == [(None, False), (0, True)])
    assert window.takes.map.lanes[1].start == pytest.approx(16 / 16), "it begins where it branches"
    viewer.screenshot(tmp_path / "takes.png")
    window.takes.map.choose(0)
    window.takes.compare()
    pair = window.takes.pair
    assert pair is not None
    viewer.until(lambda: all(len(x.frames) > 8 for x in pair.clips))
    viewer.screenshot(tmp_path / "side-by-side.png")
    left, right = (x.frames for x in pair.clips)
    assert (left[0] == right[0]).all(), "they begin with what they share"
    assert (left[-1] != right[min(len(right), len(left)) - 1]).any()


def test_what_if_shows_the_revoked_suffix_beside_what_came_instead(viewer: Viewer, tmp_path: Path) -> None:
    window = viewer.window
    messages: list[str] = []
    window.takes.messagePosted.connect(messages.append)
    window.takes.what_if()
    assert "nothing was revoked yet" in messages[0]

    def replaced() -> bool:
        return any(len(window.engine.takes.instead_of(s)) >= 2 for s in window.engine.takes.suffixes())

    for _ in range(8):  # on a busy machine every cached group may be locked, and then nothing is revoked
        viewer.fill_cache(5)
        viewer.down("Right")
        viewer.until(replaced, 4, must=False)
        viewer.up("Right")
        if replaced():
            break
    window.notifications.clear_posted()
    window.takes.what_if()
    pair = window.takes.pair
    assert pair is not None
    viewer.until(lambda: all(len(x.frames) > 4 for x in pair.clips))
    viewer.screenshot(tmp_path / "what-if.png")


def test_the_last_minutes_become_a_video_with_sound_and_a_clip_is_saved(viewer: Viewer) -> None:
    window = viewer.window
    viewer.until(lambda: sum(k.span for k in window.engine.takes.path(0)) > 36)
    window.menus["world.export"].trigger()
    viewer.message("saved")
    with av.open(str(next((viewer.home / "films").glob("*-last-*.mp4")))) as box:
        assert sum(1 for _ in box.decode(video=0)) >= 36
        assert len(box.streams.audio) == 1
    window.notifications.clear_posted()
    window.takes.refresh()
    window.takes.slider.setValue(window.takes.slider.maximum())
    window.takes.clip()
    viewer.message(".webp")
    with Image.open(next((viewer.home / "pictures").glob("*.webp"))) as clip:
        assert clip.n_frames > 20


def test_a_score_plays_and_an_unsent_edit_is_not_lost(viewer: Viewer) -> None:
    window = viewer.window
    window.prompt.edit.setText("an edit that was not applied")
    window.score.show_lines([Line(0.0, "desert at dusk"), Line(1.0, "snow at noon", 1.0)])
    window.score.toggle()
    viewer.until(lambda: window.engine.view.prompt == "snow at noon")
    assert window.prompt.text == "an edit that was not applied"
    assert not window.score.playing

    def shares() -> list[float]:
        return [x["share"] for x in viewer.log() if x["kind"] == "condition" and x["prompt"] == "snow at noon"]

    epoch = window.engine.player.epoch
    viewer.until(lambda: shares()[-1] == 1.0)
    assert shares() == sorted(shares()) and len(shares()) == 4, "a transition is a few calls"
    assert window.engine.player.epoch == epoch, "and never a new world"


class Pad:
    """A gamepad that the test moves."""

    def __init__(self) -> None:
        self.state: PadState | None = PadState()

    def read(self) -> PadState | None:
        return self.state

    def close(self) -> None:
        """Nothing is open."""


def test_a_gamepad_moves_the_camera_and_lets_go_when_it_is_pulled_out(viewer: Viewer) -> None:
    window, pad = viewer.window, Pad()
    window.inputs.use_gamepad(True, pad)
    assert window.menus["keys.gamepad"].isChecked()
    pad.state = PadState(left_y=-0.9, right_x=0.7, buttons=frozenset({"right_shoulder"}))
    viewer.until(lambda: set(window.engine.view.keys) == {"forward", "turn_right", "rise"})
    pad.state = PadState(left_y=-0.4, right_x=0.1)
    viewer.until(lambda: set(window.engine.view.keys) == {"forward"})
    pad.state = None
    viewer.until(lambda: not window.engine.view.keys)


def test_without_a_gamepad_library_it_is_said_what_to_install(viewer: Viewer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygame", None)  # as if it were not installed
    viewer.window.menus["keys.gamepad"].setChecked(True)
    viewer.message("foreland[gamepad]")
    assert not viewer.window.menus["keys.gamepad"].isChecked()


def test_global_keys_move_the_camera_from_another_window_and_only_mapped_ones(viewer: Viewer) -> None:
    window = viewer.window
    window.menus["keys.global"].setChecked(True)
    viewer.until(lambda: window.inputs.global_keys.on)
    assert window.viewport.badge == "global keys on"
    other = QLineEdit()
    other.setGeometry(900, 600, 200, 60)
    other.show()
    viewer.focus(other)
    heard: list[tuple[str, bool]] = []
    window.inputs.global_keys.keyChanged.connect(lambda name, down: heard.append((name, down)))
    viewer.type("p9x")  # handed on in order: had one been, it would come before w
    viewer.down("w")
    viewer.until(lambda: "forward" in window.engine.view.keys)
    viewer.up("w")
    viewer.until(lambda: not window.engine.view.keys)
    assert {name for name, _ in heard} == {"W"}, "keys that are not mapped are not handed on"
    window.menus["keys.global"].setChecked(False)
    heard.clear()
    viewer.down("w")
    viewer.wait(0.3)
    viewer.up("w")
    assert not heard and not window.engine.view.keys
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


def test_a_world_is_saved_and_entered_again_from_the_start_screen(viewer: Viewer) -> None:
    window = viewer.window
    window.settings.seed_box.setValue(7)
    window.menus["world.save"].trigger()
    viewer.message("saved")
    mine = worlds(viewer.home)[0]
    assert (mine.prompt, mine.seed, mine.model) == (PROMPT, 7, "pocket")
    assert mine.thumbnail is not None
    window.settings.seed_box.setValue(1)
    window.notifications.clear_posted()
    window.menus["world.start"].trigger()
    screen = window.start.screen
    assert screen is not None
    viewer.until(screen.isVisible)
    assert window.world.paused, "nobody walks behind the screen"
    screen.at_start.setChecked(False)
    assert not window.preferences.welcome
    saved = next(i for i in range(screen.worlds.count()) if screen.worlds.item(i).data(VALUE).own)
    screen.worlds.setCurrentRow(saved)
    assert screen.rename_button.isVisible(), "it is the person's own"
    epoch = window.engine.player.epoch
    viewer.press("Return")
    assert not screen.isVisible() and not window.world.paused
    assert window.settings.seed_box.value() == 7
    viewer.until(lambda: window.engine.player.epoch > epoch and window.engine.player.shown > 4)


def test_broken_worlds_and_sessions_are_left_out(tmp_path: Path) -> None:
    home = tmp_path / "home"
    file = save_world(home, World("a/b: c?", "snow", 3), b"no picture")
    assert file.name == "a-b-c.json" and read_world(file).name == "a/b: c?"
    again = save_world(home, World("a/b: c?", "snow", 3), b"")
    assert again != file
    (home / "worlds" / "broken.json").write_text("{")
    (home / "worlds" / "other.json").write_text('{"prompt": 3}')
    assert len([w for w in worlds(home) if w.file is not None and w.file.parent == home / "worlds"]) == 2
    mine = read_world(again)
    assert mine.own
    rename_world(mine, "another")
    assert read_world(again).name == "another"
    delete_world(mine)
    assert not again.exists() and not again.with_suffix(".png").exists()
    assert not any(w.own for w in worlds(None)), "what ships is not the person's own"
    (home / "sessions" / "x").mkdir(parents=True)
    (home / "sessions" / "x" / "events.jsonl").write_text("not json")
    assert sessions(home) == []


def test_plots_follow_the_session_and_help_has_pictures(viewer: Viewer, tmp_path: Path) -> None:
    window = viewer.window
    viewer.press("F8")
    viewer.until(lambda: window.panels.metrics is not None and len(window.panels.metrics.series["cached"]) > 20)
    assert window.panels.metrics is not None
    updates = len(window.panels.metrics.series["L"])
    viewer.down("Right")
    viewer.until(lambda: window.panels.metrics is not None and len(window.panels.metrics.series["L"]) > updates)
    viewer.up("Right")
    viewer.screenshot(tmp_path / "metrics.png")
    assert "L50" in window.panels.metrics.figures.text()
    viewer.press("F1")
    viewer.until(lambda: window.dialogs.help is not None and window.dialogs.help.isVisible())
    assert window.dialogs.help is not None
    viewer.screenshot(tmp_path / "help.png")
    assert "revoked" in window.dialogs.help.text.toPlainText()
    window.menus["help.about"].trigger()
    about = window.dialogs.help.text.toPlainText()
    assert "PySide6" in about and "torch" in about


def test_every_control_has_a_name_for_a_screen_reader(viewer: Viewer) -> None:
    window = viewer.window
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


def test_sound_comes_from_a_device_and_its_loss_is_survived(viewer: Viewer) -> None:
    window, devices = viewer.window, viewer.devices

    def blocks(n: int) -> None:
        wanted = devices.blocks + n
        viewer.until(lambda: devices.blocks >= wanted)

    blocks(110)
    sound = devices.last(100)
    assert np.abs(sound).max() > 0.003, "the world is heard"
    assert np.abs(np.diff(sound, axis=0)).max() < 0.2, "without a click"
    assert 0 < window.sound.latency < 0.3
    window.menus["sound.mute"].setChecked(True)
    viewer.until(lambda: np.abs(devices.last(5)).max() == 0)
    window.menus["sound.mute"].setChecked(False)
    devices.streams[-1].unplug()
    opened = len(devices.streams)
    viewer.message("went away")
    shown = window.engine.player.shown
    viewer.until(lambda: len(devices.streams) > opened and window.sound.on)
    assert window.engine.player.shown > shown, "the world went on meanwhile"
    blocks(5)
    viewer.press("ctrl+p")
    viewer.until(lambda: np.abs(devices.last(5)).max() == 0)


def test_no_device_at_all_is_said_once_and_the_world_plays(viewer: Viewer) -> None:
    window = viewer.window
    messages: list[str] = []
    window.sound.messagePosted.connect(messages.append)
    viewer.devices.missing = True
    window.volume.select_device("")
    viewer.message("in silence")
    viewer.more_frames(16)
    assert len(messages) == 1
    viewer.devices.missing = False
    viewer.message("sound is back")
