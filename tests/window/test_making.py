"""What a person makes: the library, the map of takes, the timeline of a score, the virtual camera."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QPointF, Qt, QUrl
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from app.storage.library import made, rename
from app.virtual_camera import CameraError, VirtualCamera
from app.window.library_panel import VALUE, LibraryPanel
from app.window.score_panel import ScorePanel
from app.window.take_map import Lane, TakeMap, lanes
from app.window.timeline import Timeline
from engine.playback.recorder import Recorder
from engine.runtime.score import Line
from engine.runtime.takes import TakeMark
from tests.toy import SPEC


@pytest.fixture
def home(tmp_path: Path) -> Path:
    recorder = Recorder(tmp_path / "films" / "walk.mp4", 64, 48, 16.0)
    for i in range(4):
        recorder.add(np.full((48, 64, 3), 40 * i + 40, np.uint8))
    recorder.close()
    (tmp_path / "pictures").mkdir()
    Image.new("RGB", (64, 40), "red").save(tmp_path / "pictures" / "lake.png")
    (tmp_path / "pictures" / "being-written.png").touch()
    (tmp_path / "pictures" / "notes.txt").write_text("x")
    return tmp_path


# -- library -----------------------------------------------------------------------------------------------------------


def test_the_library_shows_what_was_made_with_a_picture_of_each(qtbot: QtBot, home: Path) -> None:
    opened: list[QUrl] = []
    panel = LibraryPanel(home, open_url=lambda url: bool(opened.append(url)) or True)
    qtbot.addWidget(panel)
    panel.show()
    names = {panel.list.item(i).data(VALUE).file.name: i for i in range(panel.list.count())}
    assert set(names) == {"walk.mp4", "lake.png"}
    film = str(home / "films" / "walk.mp4")
    qtbot.waitUntil(lambda: panel.cards._pictures.get(film, panel.cards._pictures.get("")) is not None, timeout=5000)
    panel.list.setCurrentRow(names["walk.mp4"])
    panel.play_button.click()
    panel.folder_button.click()
    assert [u.toLocalFile() for u in opened] == [film, str(home / "films")]
    panel.close_threads()


def test_a_file_is_renamed_and_deleted_and_no_other_is_lost(
    qtbot: QtBot, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = LibraryPanel(home)
    qtbot.addWidget(panel)
    messages: list[str] = []
    panel.messagePosted.connect(messages.append)
    panel.refresh()
    row = next(i for i in range(panel.list.count()) if panel.list.item(i).data(VALUE).file.suffix == ".png")
    panel.list.setCurrentRow(row)
    panel.rename("sea")
    assert panel.chosen is not None and panel.chosen.file == home / "pictures" / "sea.png"
    (home / "pictures" / "taken.png").write_bytes(b"other")
    panel.rename("taken")
    panel.rename("a/b")
    panel.rename("  ")
    assert len(messages) == 3 and (home / "pictures" / "taken.png").read_bytes() == b"other"
    monkeypatch.setattr(QMessageBox, "question", lambda *a: QMessageBox.StandardButton.No)
    panel.ask_delete()
    assert (home / "pictures" / "sea.png").exists()
    monkeypatch.setattr(QMessageBox, "question", lambda *a: QMessageBox.StandardButton.Yes)
    monkeypatch.setattr("app.window.library_panel.QFile.moveToTrash", lambda file: False)
    panel.ask_delete()
    assert not (home / "pictures" / "sea.png").exists()
    panel.close_threads()


def test_what_is_written_meanwhile_appears_by_itself(qtbot: QtBot, home: Path) -> None:
    panel = LibraryPanel(home)
    qtbot.addWidget(panel)
    panel.show()
    Image.new("RGB", (8, 8)).save(home / "pictures" / "new.png")
    qtbot.waitUntil(lambda: panel.list.count() == 3, timeout=5000)
    panel.close_threads()


def test_a_film_that_is_none_has_no_picture_and_harms_nothing(home: Path) -> None:
    (home / "films" / "bad.mp4").write_bytes(b"no film")
    assert len(made(home)) == 3
    with pytest.raises(ValueError, match="cannot be the name"):
        rename(made(home)[0], "con:")


# -- takes -------------------------------------------------------------------------------------------------------------

MARKS = (
    TakeMark(0, None, 0, 0, 160, 40, "hills"),
    TakeMark(1, 0, 20, 80, 240, 40, "desert"),
    TakeMark(2, 1, 50, -1, -1, 0, ""),
)


def test_takes_are_lanes_and_a_new_one_begins_where_it_branches() -> None:
    assert lanes(MARKS, 2, SPEC) == [
        Lane(0, None, 0.0, 10.0, "hills", False),
        Lane(1, 0, 5.0, 15.0, "desert", False),
        Lane(2, 1, 12.5, 12.5, "", True),
    ]


def test_a_take_and_an_instant_are_chosen_by_mouse_and_keys(qtbot: QtBot) -> None:
    view = TakeMap()
    qtbot.addWidget(view)
    view.resize(316, 300)
    view.show_lanes(lanes(MARKS, 2, SPEC))
    view.show()
    assert view.chosen == 2 and "take 3 (current)" in view.accessibleDescription()
    instants: list[float] = []
    view.instantChosen.connect(instants.append)
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=QPointF(8 + 150, 60 + 20).toPoint())
    assert view.chosen == 1 and instants[-1] == pytest.approx(7.5)
    qtbot.keyClick(view, Qt.Key.Key_Up)
    assert view.chosen == 0
    qtbot.keyClick(view, Qt.Key.Key_Up)
    assert view.chosen == 0
    view.grab()
    view.forget()
    assert view.chosen is None
    view.grab()


# -- score -------------------------------------------------------------------------------------------------------------


def drag(qtbot: QtBot, view: Timeline, x: float, to: float) -> None:
    qtbot.mousePress(view, Qt.MouseButton.LeftButton, pos=QPointF(x, 40).toPoint())
    qtbot.mouseMove(view, QPointF(to, 40).toPoint())
    qtbot.mouseRelease(view, Qt.MouseButton.LeftButton, pos=QPointF(to, 40).toPoint())


def test_the_beginning_and_the_slope_of_a_prompt_are_dragged(qtbot: QtBot) -> None:
    panel = ScorePanel(lambda: 0.0)
    qtbot.addWidget(panel)
    panel.show_lines([Line(0.0, "hills"), Line(10.0, "desert", 2.0), Line(20.0, "snow")])
    view = panel.timeline
    view.resize(616, 64)
    drag(qtbot, view, view.x_of(10.0), view.x_of(14.0))
    assert panel.lines()[1].t == pytest.approx(14.0, abs=0.2)
    drag(qtbot, view, view.x_of(panel.lines()[1].t), view.x_of(29.0))
    assert panel.lines()[1].t == 19.5, "it stays between its neighbours"
    drag(qtbot, view, view.x_of(20.0), view.x_of(25.0))
    at = panel.lines()[1]
    drag(qtbot, view, view.x_of(at.t + at.seconds), view.x_of(at.t + 4.0))
    assert panel.lines()[1].seconds == pytest.approx(4.0, abs=0.3)
    view.grab()


def test_a_new_line_comes_ten_seconds_after_the_last_though_that_has_no_words_yet(qtbot: QtBot) -> None:
    panel = ScorePanel(lambda: 0.0)
    qtbot.addWidget(panel)
    assert not panel.empty.isHidden()
    for _ in range(3):
        panel.add_button.click()
    assert [panel.table.item(i, 0).text() for i in range(3)] == ["0", "10", "20"]
    assert panel.empty.isHidden()


# -- virtual camera ----------------------------------------------------------------------------------------------------


class Camera:
    """What pyvirtualcam's looks like."""

    device = "Foreland test camera"

    def __init__(self, **size: Any) -> None:
        self.size, self.sent, self.closed = size, list[int](), False
        self.go = threading.Event()

    def send(self, frame: np.ndarray) -> None:
        self.go.wait(5)
        self.sent.append(int(frame[0, 0, 0]))

    def close(self) -> None:
        self.closed = True


def test_a_slow_camera_costs_frames_and_no_time() -> None:
    made_: list[Camera] = []

    def open_camera(**size: Any) -> Camera:
        made_.append(Camera(**size))
        return made_[-1]

    camera = VirtualCamera(8, 4, 16.0, open_camera)
    began = time.monotonic()
    for i in range(50):
        camera.add(np.full((4, 8, 3), i, np.uint8))
    camera.add(np.zeros((2, 2, 3), np.uint8))
    assert time.monotonic() - began < 1
    made_[0].go.set()
    camera.close()
    assert made_[0].closed and 1 <= len(made_[0].sent) <= 4 and made_[0].sent[0] == 0


def test_without_a_camera_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyvirtualcam", None)
    with pytest.raises(CameraError, match=r"foreland\[camera\]"):
        VirtualCamera(8, 4, 16.0)

    def refuse(**size: Any) -> Camera:
        raise RuntimeError("no device")

    with pytest.raises(CameraError, match="no device"):
        VirtualCamera(8, 4, 16.0, refuse)
