"""Another model in the same window, pictures dropped on it, and pulling with a progress bar."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QCoreApplication, QEvent

from app.options import ModelOptions
from app.window.settings_panel import SettingsPanel
from engine.models.catalogue import load_catalogue
from engine.models.tiny import write_tiny
from tests.engine.models.test_hub import Hub


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny("wan2.1-t2v-1.3b-self-forcing", tmp_path_factory.mktemp("wan") / "m")


def with_models(person, tmp_path: Path):  # type: ignore[no-untyped-def]
    """Lets the window open other models, as the command line does."""
    person.window._choose = lambda name: ModelOptions(name, device="cpu", threads=2).choose()
    folders = iter((tmp_path / "second", tmp_path / "third"))
    person.window._new_folder = lambda: next(folders)
    return person.window


def resets(folder: Path) -> int:
    """How many new worlds the log of a session has."""
    text = (folder / "events.jsonl").read_text() if (folder / "events.jsonl").exists() else ""
    return sum(x["kind"] == "reset" for x in map(json.loads, text.splitlines()))


def drop(window, file: Path) -> None:  # type: ignore[no-untyped-def]
    """What a file manager sends when a file is let go over the world."""
    from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
    from PySide6.QtGui import QDragEnterEvent, QDropEvent
    from PySide6.QtWidgets import QApplication

    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(file))])
    copy, left, none = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPointF(50, 50).toPoint(), copy, data, left, none)
    QApplication.sendEvent(window.viewport, enter)
    if enter.isAccepted():
        QApplication.sendEvent(window.viewport, QDropEvent(QPointF(50, 50), copy, data, left, none))


def test_another_model_opens_in_the_window_and_the_first_one_comes_back(
    open_world: Callable, tiny: Path, tmp_path: Path
) -> None:
    person = open_world()
    window = with_models(person, tmp_path)
    person.until(lambda: window.viewport.painted > 3)
    first = window.engine
    window.open_model(str(tiny))
    assert window.engine is not first
    painted = window.viewport.painted
    person.until(lambda: window.viewport.painted > painted + 8)
    assert window.viewport._frame.shape == (64, 96, 3)
    assert not first.running  # closed before the other was loaded
    assert "no camera input" in window.settings.notes.text()
    window.settings.window_box.setValue(5)
    assert "outside this model's training" in window.settings.window_note.text()
    person.focus()
    window.viewport.setFocus()
    person.down("d")
    person.until(lambda: any(u.kind == "key" and u.phase == "live" for u in window.engine.view.updates))
    person.up("d")
    person.screenshot(tmp_path / "tiny.png")
    window.settings.pause_button.click()
    assert window.engine.player.paused, "Pause of the new model's panel"
    window.settings.pause_button.click()
    assert not window.engine.player.paused
    window.open_model("pocket")
    person.until(lambda: window.viewport._frame is not None and window.viewport._frame.shape == (80, 128, 3))
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert len(window.findChildren(SettingsPanel)) == 1, "the panel of a model that was left is deleted"
    window.settings.reset_button.click()
    person.until(lambda: resets(tmp_path / "third") > 0)
    person.until(lambda: window.viewport.painted > 0)
    window.close()
    assert resets(tmp_path / "third") == 1, "one press is one new world"


def test_what_cannot_be_opened_is_said_and_the_world_goes_on(open_world: Callable, tmp_path: Path) -> None:
    person = open_world()
    window = with_models(person, tmp_path)
    person.until(lambda: window.viewport.painted > 3)
    engine, painted = window.engine, window.viewport.painted
    window.open_model("wan9")
    person.until(lambda: "no such name" in window.banner.text() and window.banner.isVisible())
    person.until(lambda: window.viewport.painted > painted + 5)
    assert window.engine is engine


def test_a_dropped_picture_becomes_the_place_to_start_from(open_world: Callable, tmp_path: Path) -> None:
    from PIL import Image

    person = open_world()
    window = person.window
    person.until(lambda: window.viewport.painted > 3)
    picture = np.zeros((200, 320, 3), np.uint8)
    picture[:, :160] = (250, 40, 40)
    picture[:, 160:] = (40, 40, 250)
    Image.fromarray(picture).save(tmp_path / "two.png")
    drop(window, tmp_path / "two.png")

    def two_colours() -> bool:
        frame = window.viewport._frame.astype(int)
        left, right = frame[20:60, 10:50].mean((0, 1)), frame[20:60, 78:118].mean((0, 1))
        return left[0] - left[2] > 40 and right[2] - right[0] > 40

    person.until(two_colours)
    person.screenshot(tmp_path / "dropped.png")
    (tmp_path / "bad.png").write_bytes(b"no picture")
    drop(window, tmp_path / "bad.png")
    person.until(lambda: "cannot be read as a picture" in window.banner.text())
    drop(window, tmp_path / "bad.txt")  # refused by the window itself
    window.begin_from(None)
    person.until(lambda: not two_colours())


def test_a_pull_shows_size_and_licence_first_then_its_progress(
    open_world: Callable, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    from app.window.models_dialog import ModelsDialog

    name = "wan2.1-t2v-1.3b-self-forcing"
    known = load_catalogue()
    base = write_tiny("wan2.1-t2v-1.3b", tmp_path / "base")
    hub = Hub({known[name].repo: tiny, known["wan2.1-t2v-1.3b"].repo: base})
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    person = open_world()
    window = with_models(person, tmp_path)
    window.show_models()
    dialog: ModelsDialog = window.models
    row = [e.name if e else "pocket" for e in dialog._entries].index(name)
    dialog.table.selectRow(row)
    assert not dialog.open_button.isEnabled() and dialog.pull_button.isEnabled()
    dialog.pull_button.click()
    person.until(lambda: "apache-2.0" in dialog.note.text() and "free in" in dialog.note.text())
    assert not hub.gets
    person.screenshot(tmp_path / "pull.png")
    dialog.pull_button.click()
    person.until(lambda: dialog.job is not None and dialog.job.state.over)
    person.until(lambda: dialog.open_button.isEnabled())
    assert "is here" in dialog.note.text(), dialog.note.text()
    assert dialog.table.item(row, 1).text() == "yes"
    dialog.reject()
    hub.server.shutdown()


@pytest.mark.parametrize("ranks", [2, 4])
def test_the_pocket_world_over_ranks_plays_in_the_window_and_survives_a_lost_one(
    display: str, tmp_path: Path, ranks: int
) -> None:
    """Processes on the CPU; one is killed: the picture goes on, the message is one line, the keys work again. Then another model
    is opened, and the ranks are gone."""
    import os
    import signal

    from PySide6.QtWidgets import QApplication

    from app.window.main_window import MainWindow
    from engine.distributed.sampler import ParallelSampler
    from engine.loading import loader
    from engine.models.load_options import LoadOptions
    from engine.models.registry import spec_of
    from engine.runtime.engine import Engine
    from engine.runtime.settings import Settings
    from tests.window.conftest import Person

    app = QApplication.instance() or QApplication(["foreland"])
    settings = Settings(prompt="snowy mountains at noon", window=14, steps=2)
    load = loader("pocket", LoadOptions(device="cpu", gpus=ranks, threads=1))
    engine = Engine(load, spec_of("pocket"), settings, tmp_path / "s")
    window = MainWindow(engine, settings, spec_of("pocket"))
    window.resize(1000, 700)
    window.show()
    engine.start()
    person = Person(app, window)
    seen = set()

    def up() -> bool:
        seen.add(engine.stage[0].split(":")[0])
        return window.viewport.painted > 5

    person.until(up, 90)
    assert any(s.startswith("rank ") for s in seen)  # loading is shown rank by rank
    sampler = engine._session.model.sampler  # type: ignore[union-attr]
    assert isinstance(sampler, ParallelSampler)
    pids = sampler.pids
    os.kill(pids[0], signal.SIGKILL)
    person.focus()
    painted = window.viewport.painted
    person.down("Right")
    person.until(lambda: window.viewport.painted > painted + 10)
    person.until(lambda: "rank" in window.banner.text())
    assert "\n" not in window.banner.text()
    person.until(lambda: any(u.kind == "key" and u.phase == "live" for u in engine.view.updates), 60)
    person.up("Right")
    person.screenshot(tmp_path / "ranks.png")
    assert sampler.restarts == 1
    now = sampler.pids
    with_models(person, tmp_path)
    window.open_model("pocket")
    person.until(lambda: window.engine.ready.is_set(), 60)
    for pid in (*pids, *now):
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    window.close()
    window.deleteLater()
    app.processEvents()


@pytest.mark.parametrize(("name", "k"), [("minimax-h3", 7), ("ltx-2.3", 2)])
def test_a_model_with_sound_plays_in_the_window_and_is_heard(
    name: str, k: int, open_window: Callable, tmp_path: Path
) -> None:
    import av
    import numpy as np

    from app.audio_output import NullStream, SoundOut
    from engine.loading import loader
    from engine.models.load_options import LoadOptions
    from engine.models.registry import spec_of
    from engine.models.tiny import write_tiny
    from engine.playback.audio import DeviceClock
    from engine.runtime.settings import Settings

    folder = write_tiny(name, tmp_path / "model")
    heard: list[np.ndarray] = []
    clock = DeviceClock()
    speaker = SoundOut(lambda rate, fill, device: NullStream(rate, fill, device, heard=heard.append), clock)
    person = open_window(
        Settings(prompt="snow", window=k, steps=1),
        "session",
        (900, 640),
        clock=clock,
        home=tmp_path / "home",
        sound=speaker,
        load=loader(str(folder), LoadOptions(device="cpu")),
        spec=spec_of(str(folder)),
    )
    window = person.window
    person.until(lambda: window.viewport.painted > 10, 90)
    window.record_action.setChecked(True)
    person.until(lambda: window.recording.frames > 20, 90)
    person.down("w")
    person.until(lambda: "forward" in window.engine.view.keys)
    person.up("w")
    window.record_action.setChecked(False)
    person.until(lambda: "recorded" in window.banner.text())
    assert np.abs(np.concatenate(heard[-80:])).max() > 0, "its sound is heard"
    with av.open(str(next((tmp_path / "home" / "films").glob("*.mp4")))) as box:
        assert len(box.streams.audio) == 1
        assert box.streams.video[0].average_rate == 24
