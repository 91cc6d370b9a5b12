"""Another model in the same window, images dropped on it, and downloads with a progress bar."""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable
from pathlib import Path

import av
import numpy as np
import pytest
from huggingface_hub import constants
from PIL import Image
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication

from app.audio_output import NullStream, SoundOut
from app.window.main_window import MainWindow
from app.window.models_dialog import ModelsDialog
from app.window.settings_panel import SettingsPanel
from engine.distributed.sampler import ParallelSampler
from engine.loading import loader
from engine.models.catalogue import load_catalogue
from engine.models.interface import Model, Progress
from engine.models.load_options import LoadOptions
from engine.models.registry import spec_of
from engine.models.tiny import write_tiny
from engine.playback.audio import DeviceClock
from engine.runtime.clock import SystemClock
from engine.runtime.settings import Settings
from engine.runtime.view import UpdateKind, UpdatePhase
from tests.engine.distributed.conftest import quick_starts  # noqa: F401 (a fixture: ranks start from a server)
from tests.engine.models.test_hub import Hub
from tests.window.conftest import Person, Viewer, other_models

WAN = "wan2.1-t2v-1.3b-self-forcing"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny(WAN, tmp_path_factory.mktemp("wan") / "m")


def size_of(window: MainWindow) -> tuple[int, ...] | None:
    """Of the frame on show."""
    frame = window.viewport.frame
    return None if frame is None else frame.shape[:2]


def a_key_is_live(window: MainWindow) -> bool:
    return any(u.kind is UpdateKind.KEY and u.phase is UpdatePhase.LIVE for u in window.engine.view.updates)


def drop(window: MainWindow, file: Path) -> None:
    """What a file manager sends when a file is let go over the world."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(file))])
    copy, left, none = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPointF(50, 50).toPoint(), copy, data, left, none)
    QApplication.sendEvent(window.viewport, enter)
    if enter.isAccepted():
        QApplication.sendEvent(window.viewport, QDropEvent(QPointF(50, 50), copy, data, left, none))


def test_another_model_opens_in_the_window_and_the_first_one_comes_back(
    open_window: Callable[..., Person], tiny: Path, tmp_path: Path
) -> None:
    person = open_window(Settings(prompt="snowy mountains at noon"), **other_models(tmp_path))
    window = person.window
    person.until(lambda: window.viewport.painted > 3)
    first, panel = window.engine, window.settings
    window.open_model(str(tiny))
    assert window.engine is not first and window.settings is not panel
    person.until(lambda: size_of(window) == (64, 96))
    person.more_frames(8)
    assert not first.running, "closed before the other was loaded"
    assert "no camera input" in window.settings.notes.text()
    window.settings.window_box.setValue(5)
    assert "outside this model's training" in window.settings.window_note.text()
    window.viewport.setFocus()
    person.down("d")
    person.until(lambda: a_key_is_live(window))
    person.up("d")
    person.screenshot(tmp_path / "tiny.png")
    window.settings.pause_button.click()
    assert window.world.paused, "Pause in the panel of the new model"
    window.settings.pause_button.click()
    assert not window.world.paused
    window.open_model("pocket")
    person.until(lambda: size_of(window) == (80, 128))
    assert window.findChildren(SettingsPanel) == [window.settings], "the panel of a model that was left is deleted"
    epoch = window.engine.player.epoch
    window.settings.new_world_button.click()
    window.engine.set_prompt("desert")  # handled after the new world
    person.until(lambda: window.engine.view.prompt == "desert")
    assert window.engine.player.epoch == epoch + 1, "one press is one new world"


def test_what_cannot_be_opened_is_said_and_the_world_goes_on(viewer: Viewer) -> None:
    engine = viewer.window.engine
    viewer.window.open_model("wan9")
    viewer.message("no such name")
    viewer.more_frames(5)
    assert viewer.window.engine is engine


def test_a_dropped_image_becomes_the_start_image(viewer: Viewer, tmp_path: Path) -> None:
    window = viewer.window
    image = np.zeros((200, 320, 3), np.uint8)
    image[:, :160] = (250, 40, 40)
    image[:, 160:] = (40, 40, 250)
    Image.fromarray(image).save(tmp_path / "two.png")
    drop(window, tmp_path / "two.png")

    def two_colours() -> bool:
        frame = window.viewport.frame
        assert frame is not None
        left, right = (frame[20:60, x : x + 40].astype(int).mean((0, 1)) for x in (10, 78))
        return bool(left[0] - left[2] > 40 and right[2] - right[0] > 40)

    viewer.until(two_colours)
    viewer.screenshot(tmp_path / "dropped.png")
    (tmp_path / "bad.png").write_bytes(b"no image")
    drop(window, tmp_path / "bad.png")
    viewer.message("cannot be read as a picture")
    epoch = window.engine.player.epoch
    drop(window, tmp_path / "bad.txt")  # refused by the window itself
    window.menus["world.clear_start"].trigger()
    viewer.until(lambda: not two_colours())
    assert window.engine.player.epoch == epoch + 1


def test_a_download_asks_for_agreement_to_size_and_licence_first(
    viewer: Viewer, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = load_catalogue()
    base = write_tiny("wan2.1-t2v-1.3b", tmp_path / "base")
    hub = Hub({known[WAN].repo: tiny, known["wan2.1-t2v-1.3b"].repo: base})
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    viewer.window.menus["world.models"].trigger()
    dialog = viewer.window.dialogs.models
    assert isinstance(dialog, ModelsDialog)
    row = dialog.names.index(WAN)
    dialog.table.selectRow(row)
    assert not dialog.open_button.isEnabled() and dialog.download_button.isEnabled()

    def ask() -> None:
        dialog.download_button.click()
        viewer.until(lambda: dialog.confirmation is not None and dialog.confirmation.isVisible())

    def answer(text: str) -> None:
        assert dialog.confirmation is not None
        next(b for b in dialog.confirmation.buttons() if b.text().replace("&", "") == text).click()

    ask()
    assert dialog.confirmation is not None
    assert "apache-2.0" in dialog.confirmation.text() and "are free in" in dialog.confirmation.text()
    viewer.screenshot(tmp_path / "download.png")
    answer("Cancel")
    viewer.until(lambda: "nothing was downloaded" in dialog.note.text())
    assert not hub.gets, "nothing is downloaded before the person agrees"
    ask()
    answer("Agree and download")
    viewer.until(lambda: dialog.job is not None and dialog.job.state.over)
    viewer.until(lambda: dialog.open_button.isEnabled())
    assert "is installed" in dialog.note.text(), dialog.note.text()
    assert dialog.table.item(row, 1).text() == "yes"
    dialog.reject()
    hub.server.shutdown()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("ranks", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_the_pocket_world_over_ranks_plays_in_the_window_and_survives_a_lost_one(
    open_window: Callable[..., Person], tmp_path: Path, ranks: int
) -> None:
    """Processes on the CPU; one is killed: the picture goes on, the message is one line, the keys work again.

    Then another model is opened, and the ranks are gone.
    """
    models: list[Model] = []
    stages: set[str] = set()

    def load(progress: Progress) -> Model:
        def noted(stage: str, share: float) -> None:
            stages.add(stage.split(":")[0])
            progress(stage, share)

        models.append(loader("pocket", LoadOptions(device="cpu", gpus=ranks, threads=1))(noted))
        return models[0]

    settings = Settings(prompt="snowy mountains at noon", window=14, steps=2)
    person = open_window(settings, load=load, **other_models(tmp_path))
    window = person.window
    person.until(lambda: window.viewport.painted > 5, 120)
    assert any(s.startswith("rank ") for s in stages), "loading is shown rank by rank"
    sampler = models[0].sampler
    assert isinstance(sampler, ParallelSampler)
    pids = sampler.pids
    os.kill(pids[0], signal.SIGKILL)
    person.down("Right")
    person.message("rank")
    assert "\n" not in window.notifications.text()
    person.more_frames(10)
    person.until(lambda: a_key_is_live(window), 90)
    person.up("Right")
    person.screenshot(tmp_path / "ranks.png")
    now = sampler.pids
    assert not set(pids) & set(now), "the ranks were started again"
    window.open_model("pocket")
    person.until(lambda: window.engine.ready.is_set(), 60)
    for pid in (*pids, *now):
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@pytest.mark.parametrize(("name", "k"), [("minimax-h3", 7), ("ltx-2.3", 2)])
def test_a_model_with_sound_plays_in_the_window_and_is_heard(
    name: str, k: int, open_window: Callable[..., Person], tmp_path: Path
) -> None:
    folder = write_tiny(name, tmp_path / "model")
    heard: deque[np.ndarray] = deque(maxlen=80)
    clock = DeviceClock()
    person = open_window(
        Settings(prompt="snow", window=k, steps=1),
        clock=SystemClock(clock),
        home=tmp_path / "home",
        sound=SoundOut(lambda rate, fill, device: NullStream(rate, fill, device, heard=heard.append), clock),
        load=loader(str(folder), LoadOptions(device="cpu")),
        spec=spec_of(str(folder)),
    )
    window = person.window
    person.until(lambda: window.viewport.painted > 10, 90)
    window.menus["world.record"].setChecked(True)
    person.until(lambda: window.capture.recording.frames > 20, 90)
    person.down("w")
    person.until(lambda: "forward" in window.engine.view.keys)
    person.up("w")
    window.menus["world.record"].setChecked(False)
    person.message("recorded")
    person.until(lambda: np.abs(np.concatenate(list(heard))).max() > 0)
    with av.open(str(next((tmp_path / "home" / "films").glob("*.mp4")))) as box:
        assert len(box.streams.audio) == 1
        assert box.streams.video[0].average_rate == 24


def test_a_plug_in_that_cannot_be_used_is_a_row_with_its_error(
    display: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from PySide6.QtWidgets import QApplication

    from app.window.models_dialog import ModelsDialog

    monkeypatch.setenv("FORELAND_HOME", str(tmp_path))
    (tmp_path / "models.d").mkdir()
    (tmp_path / "models.d" / "mine.json").write_text('{"mine": {"title": "Mine"}}')
    app = QApplication.instance() or QApplication(["foreland"])
    dialog = ModelsDialog("pocket")
    last = dialog.table.rowCount() - 1
    dialog.table.selectRow(last)
    app.processEvents()
    assert "mine.json, mine" in dialog.table.item(last, 0).text()
    assert "the row has no" in dialog.note.text()
    assert not dialog.open_button.isEnabled() and not dialog.download_button.isEnabled()
    dialog.table.selectRow(0)
    assert dialog.open_button.isEnabled()
    dialog.close()
