"""Widgets by themselves, without an engine."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.audio_output import SoundOut
from app.language import tr, use_language
from app.storage.preferences import Preferences
from app.window import overlay
from app.window.appearance import Appearance
from app.window.clips import SideBySide
from app.window.decode_jobs import DecodeError, DecodeJobs
from app.window.frame_image import fitted, image_of
from app.window.keymap_editor import KeymapEditor
from app.window.notifications import MESSAGE_SECONDS, Notifications
from app.window.palette import DARK, LIGHT, Palette, contrast
from app.window.prompt_bar import PromptBar
from app.window.score_panel import ScorePanel
from app.window.settings_panel import SettingsPanel
from app.window.side_bar import SideBar
from app.window.volume import Volume
from engine.control.events import Commit
from engine.models.registry import spec_of
from engine.playback.audio import DeviceClock
from engine.runtime.keymap import load_keymap
from engine.runtime.score import Line
from engine.runtime.settings import Settings
from engine.runtime.view import Fate, GroupMark, UpdateKind, UpdateMark, UpdatePhase, View


class Time:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


# -- messages ----------------------------------------------------------------------------------------------------------


def test_a_message_stays_for_its_seconds_and_then_the_engine_s_own_is_shown(qtbot: QtBot) -> None:
    time = Time()
    banner = Notifications(clock=time)
    qtbot.addWidget(banner)
    banner.refresh("")
    assert not banner.isVisible()
    banner.post("saved x.png")
    banner.refresh("the engine waits")
    assert banner.isVisible() and banner.text() == "saved x.png"
    time.now += MESSAGE_SECONDS + 0.1
    banner.refresh("the engine waits")
    assert banner.text() == "the engine waits"
    banner.refresh("")
    assert not banner.isVisible()


def test_a_message_may_be_posted_from_any_thread(qtbot: QtBot) -> None:
    banner = Notifications()
    qtbot.addWidget(banner)
    thread = threading.Thread(target=banner.post, args=("recorded a video",))
    thread.start()
    thread.join()
    banner.refresh("")
    assert banner.text() == "recorded a video"


# -- panels ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def score(qtbot: QtBot) -> ScorePanel:
    panel = ScorePanel(lambda: 0.0)
    qtbot.addWidget(panel)
    return panel


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[3]",
        '[{"t": -1, "prompt": "x"}]',
        '[{"t": 1, "prompt": ""}]',
        '[{"t": 1, "prompt": "a"}, {"t": 1, "prompt": "b"}]',
    ],
)
def test_a_bad_score_is_refused_and_the_lines_stay(score: ScorePanel, tmp_path: Path, text: str) -> None:
    score.show_lines([Line(2.0, "desert")])
    (tmp_path / "bad.json").write_text(text)
    score.open(tmp_path / "bad.json")
    assert "as they were" in score.note.text()
    assert score.lines() == [Line(2.0, "desert")]


def test_a_score_is_saved_and_opened_again_and_an_empty_one_does_not_play(score: ScorePanel, tmp_path: Path) -> None:
    score.show_lines([Line(2.0, "desert")])
    score.save(tmp_path / "good.json")
    score.show_lines([])
    score.toggle()
    assert "no line yet" in score.note.text() and not score.playing
    score.open(tmp_path / "good.json")
    assert score.lines() == [Line(2.0, "desert")]


def test_the_key_map_editor_takes_a_key_from_another_action_only_when_that_is_confirmed(qtbot: QtBot) -> None:
    editor = KeymapEditor(load_keymap())
    qtbot.addWidget(editor)
    accepted: list[dict[str, str]] = []
    editor.keymapAccepted.connect(accepted.append)
    editor.table.selectRow(0)
    editor.add_button.click()
    qtbot.keyClick(editor, Qt.Key.Key_S)
    assert editor.question is not None and "“back” now" in editor.question.text()
    editor.question.reject()
    assert editor.keymap["S"] == "back"
    editor.add_button.click()
    qtbot.keyClick(editor, Qt.Key.Key_S)
    editor.question.accept()
    assert editor.keymap["S"] == "forward"
    assert "without a key: back" in editor.note.text()
    editor.add_button.click()
    qtbot.keyClick(editor, Qt.Key.Key_F5)
    assert "the program's own" in editor.note.text()
    qtbot.keyClick(editor, Qt.Key.Key_Semicolon)
    assert editor.keymap[";"] == "forward", "every other key can be mapped"
    assert not accepted
    editor.box.accepted.emit()
    assert accepted[0]["S"] == "forward"


def test_the_prompt_bar_refuses_what_cannot_be_a_prompt(qtbot: QtBot) -> None:
    bar = PromptBar("snow", ["desert"], 10, None)
    qtbot.addWidget(bar)
    applied: list[tuple[str, float]] = []
    bar.promptApplied.connect(lambda text, seconds: applied.append((text, seconds)))
    bar.edit.setText("   ")
    qtbot.keyClick(bar.edit, Qt.Key.Key_Return)
    assert bar.status.text() == "Enter a prompt"
    bar.edit.setText("x" * 11)
    qtbot.keyClick(bar.edit, Qt.Key.Key_Return)
    assert bar.status.text() == "too long: at most 10 characters"
    assert not applied
    bar.transition.setValue(2.0)
    assert bar.transition.text() == "Transition: 2.0 s"
    bar.edit.setText("islands")
    qtbot.keyClick(bar.edit, Qt.Key.Key_Return)
    assert applied == [("islands", 2.0)]


def test_how_long_an_edit_took_is_told_for_some_seconds(qtbot: QtBot) -> None:
    bar = PromptBar("snow", [], 100, None)
    qtbot.addWidget(bar)
    edit = UpdateMark(1, UpdateKind.PROMPT, "snow", 0.5, 16, UpdatePhase.LIVE, 0.1, 0.3, 0.2)
    groups = [GroupMark(p, 4 * p, 4, 1, Fate.DELIVERED) for p in range(80)]
    told = []
    for delivered in (6, 30, 45):
        view = View(prompt="snow", fps=16.0, updates=(edit,), groups=tuple(groups), delivered=delivered)
        bar.show_view(view)
        told.append(bar.status.text())
    assert told == ["live after 0.60 s", "live after 0.60 s", ""]


def test_up_and_down_walk_through_the_prompts_and_come_back_to_the_draft(qtbot: QtBot) -> None:
    bar = PromptBar("snow", [], 100, None)
    qtbot.addWidget(bar)
    bar.edit.remember("desert")
    bar.edit.setText("half a th")
    for key, text in (
        (Qt.Key.Key_Up, "desert"),
        (Qt.Key.Key_Up, "snow"),
        (Qt.Key.Key_Up, "snow"),
        (Qt.Key.Key_Down, "desert"),
        (Qt.Key.Key_Down, "half a th"),
    ):
        qtbot.keyClick(bar.edit, key)
        assert bar.edit.text() == text


def test_the_settings_panel_tells_only_what_was_changed(qtbot: QtBot) -> None:
    panel = SettingsPanel(Settings(prompt="snow"), spec_of("pocket"))
    qtbot.addWidget(panel)
    changes: list[dict[str, object]] = []
    panel.settingsChanged.connect(changes.append)
    panel.window_box.setValue(14)
    panel.steps_box.setValue(2)
    panel.toggle_commit()
    assert changes == [{"window": 14}, {"steps": 2}, {"commit": Commit.CHUNK}]
    assert isinstance(changes[-1]["commit"], Commit), "an enum, not its value"
    changes.clear()
    panel.answer_box.click()
    panel.aim_slider.setValue(5)
    panel.preempt_box.click()
    panel.answer_box.click()
    assert changes == [{"answer": True}, {"aim": 0.5}, {"preempt": True}, {"answer": False}]
    assert not panel.aim_slider.isEnabled(), "there is nothing that it could choose"
    with qtbot.waitSignals([panel.pauseRequested, panel.newWorldRequested]):
        panel.pause_button.click()
        panel.new_world_button.click()
    panel.show_paused(True)
    assert panel.pause_button.text() == "Resume (Ctrl+P)"


def test_the_settings_panel_says_what_an_answer_costs_now(qtbot: QtBot) -> None:
    panel = SettingsPanel(Settings(prompt="snow", aim=0.5), spec_of("pocket2"))
    qtbot.addWidget(panel)
    assert panel.answer_box.isChecked() and panel.preempt_box.isChecked(), (
        "the model's own: its pictures are no worse for it"
    )
    panel.show_view(View(answer_window=3, answer_seconds=0.412))
    assert panel.aim_note.text() == "0.5 s: now K = 3, seen after some 0.41 s"
    panel.aim_slider.setValue(0)
    panel.show_view(View())
    assert panel.aim_note.text() == "the shortest answer"
    panel = SettingsPanel(Settings(prompt="snow", answer=False), spec_of("pocket2"))
    qtbot.addWidget(panel)
    assert not panel.answer_box.isChecked()


# -- frames ------------------------------------------------------------------------------------------------------------


def test_a_frame_is_drawn_with_its_own_aspect_in_the_middle() -> None:
    frame = np.zeros((10, 20, 3), np.uint8)
    frame[:, :, 1] = 200
    assert fitted(frame, QRectF(0, 0, 100, 100)) == QRectF(0, 25, 100, 50)
    assert fitted(frame, QRectF(10, 0, 400, 100)) == QRectF(110, 0, 200, 100)
    image = image_of(frame)
    assert (image.width(), image.height()) == (20, 10)
    assert image.pixelColor(19, 9).getRgb()[:3] == (0, 200, 0)


def test_two_clips_play_together_and_the_longer_one_is_the_length(qtbot: QtBot) -> None:
    pair = SideBySide("Two takes", "take 1", "take 2", 50.0)
    qtbot.addWidget(pair)
    assert pair.clips[0].message == "decoding ..."
    frames = [np.full((8, 8, 3), i, np.uint8) for i in range(6)]
    pair.clips[0].show_frames(frames[:3])
    pair.clips[1].show_frames(frames)
    assert pair.slider.maximum() == 5
    qtbot.waitUntil(lambda: pair.clips[1].at == 5)
    assert pair.clips[0].at == 5
    pair.play_button.click()
    assert pair.play_button.text() == "Play"
    pair.clips[1].show_message("nothing of that is kept any more")
    assert pair.slider.maximum() == 2


def test_a_group_that_was_just_revoked_is_struck_out_and_fades(qapp: QApplication) -> None:
    mark = GroupMark(0, 0, 16, 1, Fate.REVOKED, at=0.0)
    view = replace(View(), revoked=(mark,))

    def red(now: float) -> int:
        image = QImage(640, 200, QImage.Format.Format_RGB888)
        image.fill(Qt.GlobalColor.black)
        painter = QPainter(image)
        overlay.paint(painter, QRectF(image.rect()), view, 0.0, now)
        painter.end()
        pixels = np.frombuffer(image.constBits(), np.uint8).reshape(200, -1)[:, : 640 * 3].reshape(200, 640, 3)
        return int(((pixels[..., 0] > 180) & (pixels[..., 1] < 130)).sum())

    assert red(0.0) > 20
    assert red(overlay.FADE_SECONDS) == 0


# -- decoding ----------------------------------------------------------------------------------------------------------


class NotLoaded:
    """An engine whose model is not there yet."""

    def fork_decoder(self) -> None:
        return None


@pytest.fixture
def jobs(qtbot: QtBot) -> Iterator[DecodeJobs]:
    jobs = DecodeJobs()
    yield jobs
    jobs.close()


def test_what_cannot_be_decoded_is_reported_on_the_window_s_thread(qtbot: QtBot, jobs: DecodeJobs) -> None:
    heard: list[tuple[str, threading.Thread]] = []
    jobs.frames(NotLoaded(), [], [], heard.append, lambda why: heard.append((why, threading.current_thread())))
    qtbot.waitUntil(lambda: bool(heard))
    assert heard == [("the model is not loaded yet", threading.main_thread())]


def test_a_cancelled_job_is_not_reported(qtbot: QtBot, jobs: DecodeJobs) -> None:
    heard: list[object] = []
    first = jobs.frames(NotLoaded(), [], [], heard.append, lambda why: heard.append(1))
    first.cancel()
    jobs.frames(NotLoaded(), [], [], heard.append, lambda why: heard.append(2))
    qtbot.waitUntil(lambda: 2 in heard)
    assert heard == [2]
    assert issubclass(DecodeError, RuntimeError)


# -- the program's own -------------------------------------------------------------------------------------------------


def test_text_scales_between_its_limits_and_themes_are_kept(qapp: QApplication) -> None:
    preferences = Preferences()
    appearance = Appearance(qapp, preferences)
    before = qapp.font().pointSizeF()
    appearance.enlarge_text()
    assert qapp.font().pointSizeF() == pytest.approx(1.1 * before)
    appearance.scale_text(9.0)
    assert preferences.text_scale == 2.0
    appearance.scale_text(1.0)
    assert qapp.font().pointSizeF() == pytest.approx(before)
    appearance.use_theme("dark")
    assert appearance.theme == preferences.theme == "dark"
    appearance.use_theme("system")


def test_a_louder_sound_ends_a_mute(qapp: QApplication) -> None:
    preferences = Preferences(volume=0.5, muted=True)
    sound = SoundOut(None, DeviceClock())
    volume = Volume(sound, preferences)
    assert sound.muted and sound.volume == 0.5
    muted: list[bool] = []
    volume.mutedChanged.connect(muted.append)
    volume.louder()
    assert (sound.volume, sound.muted, preferences.volume, preferences.muted) == (0.6, False, 0.6, False)
    assert muted == [False]
    for _ in range(9):
        volume.louder()
    assert sound.volume == 1.0


# -- design ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("palette", [DARK, LIGHT], ids=["dark", "light"])
def test_text_and_focus_can_be_seen_on_everything_they_lie_on(palette: Palette) -> None:
    """The ratios of WCAG 2.2: 7 and 4.5 for text, 3 for what shows the focus."""
    for ground in (palette.ground, palette.surface, palette.raised, palette.hover):
        assert contrast(palette.text, ground) >= 7
        assert contrast(palette.dim, ground) >= 4.5
        assert contrast(palette.accent, ground) >= 3
        for colour in (palette.good, palette.warning, palette.bad):
            assert contrast(colour, ground) >= 4.5
    assert contrast(palette.on_accent, palette.accent) >= 4.5


def test_a_theme_is_what_is_painted_on_every_platform(qapp: QApplication) -> None:
    appearance = Appearance(qapp, Preferences())
    shades = []
    for theme in ("dark", "light"):
        appearance.use_theme(theme)
        panel = QWidget()
        panel.setObjectName("side")
        panel.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        panel.resize(20, 20)
        shades.append(panel.grab().toImage().pixelColor(10, 10).lightness())
    assert shades[0] < 60 and shades[1] > 200
    appearance.use_theme("system")


# -- a narrow side bar -------------------------------------------------------------------------------------------------


def test_the_side_bar_opens_at_a_page_and_the_same_key_closes_it(qtbot: QtBot) -> None:
    side = SideBar()
    qtbot.addWidget(side)
    for name in ("settings", "takes"):
        side.add_page(name, name, QLabel(name))
    shown: list[str] = []
    side.pageShown.connect(shown.append)
    side.toggle("takes")
    assert side.page == "takes"
    side.toggle("settings")
    assert side.page == "settings"
    side.toggle("settings")
    assert side.page == "" and shown[-1] == ""
    page = QLabel("other")
    side.replace_page("settings", page)
    side.show_page("settings")
    assert page.isVisibleTo(side)


def test_a_dismissed_word_of_the_engine_comes_back_only_when_it_is_another(qtbot: QtBot) -> None:
    messages = Notifications()
    qtbot.addWidget(messages)
    messages.post("saved a.png")
    messages.refresh("sampling failed")
    assert [t.message.text for t in messages.toasts] == ["sampling failed", "saved a.png"]
    messages.dismiss(messages.toasts[0].message)
    messages.refresh("sampling failed")
    assert [t.message.text for t in messages.toasts] == ["saved a.png"]
    messages.refresh("another failure")
    assert messages.toasts[0].message.text == "another failure"


def test_why_a_prompt_was_refused_stays_until_the_text_is_another(qtbot: QtBot) -> None:
    bar = PromptBar("snow", [], 10)
    qtbot.addWidget(bar)
    bar.edit.setText("x" * 11)
    qtbot.keyClick(bar.edit, Qt.Key.Key_Return)
    bar.show_view(View(prompt="snow"))
    assert bar.status.text() == "too long: at most 10 characters"
    bar.edit.setText("sand")
    bar.show_view(View(prompt="snow"))
    assert bar.status.text() == "not applied yet"


def test_a_chosen_language_is_spoken_and_english_comes_back(qapp: QApplication) -> None:
    assert use_language(qapp, "de") == "de"
    assert tr("saved {file}", file="a.png") == "Gespeichert: a.png"
    assert use_language(qapp, "en") == "en"
    assert tr("saved {file}", file="a.png") == "saved a.png"
