"""The first minute: the start screen, what loads behind it, and the first steps."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QUrl
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from app.storage.worlds import PastSession, World, worlds
from app.window.coach import Coach
from app.window.loading import LOADED, progress_of
from app.window.model_status import ModelStatus, status_of
from app.window.start_page import first_world
from app.window.start_screen import StartScreen
from engine.models.catalogue import load_catalogue
from engine.runtime.keymap import load_keymap
from engine.runtime.settings import Settings
from engine.runtime.view import FlightMark, GroupMark, UpdateKind, UpdateMark, UpdatePhase, View
from tests.toy import SPEC, ToySampler, toy
from tests.window.conftest import Person


def test_the_default_world_imports_no_library_of_models_that_it_does_not_need() -> None:
    """torch alone is two seconds; diffusers and transformers would be five more, and freeze the window."""
    code = (
        "import sys; from engine.loading import loader; from engine.models.catalogue import DEFAULT;"
        "loader(DEFAULT)(lambda stage, share: None);"
        "print(*sorted({'diffusers', 'transformers', 'accelerate', 'sympy', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.split() == []


def test_entering_the_world_that_waits_behind_the_screen_computes_nothing_twice(
    open_window: Callable[..., Person], tmp_path: Path
) -> None:
    first = first_world(tmp_path)
    assert first is not None
    sampler = ToySampler(seconds=0.2)
    spec = replace(SPEC, name=first.model)
    settings = Settings(prompt=first.prompt, seed=first.seed)
    person = open_window(settings, load=toy(sampler), spec=spec, home=tmp_path, before=lambda w: w.start.open())
    window = person.window
    screen = window.start.screen
    assert screen is not None and screen.isVisible()
    person.until(lambda: window.engine.ready.is_set() and screen.stage.text() == "Ready")
    person.wait(0.3)
    calls = sampler.calls
    assert window.viewport.painted == 0, "it waits at its beginning"
    person.press("Return")
    person.until(lambda: window.viewport.painted > 4)
    assert window.engine.player.epoch == 0, "no other world was begun"
    assert sampler.calls <= calls + 2


def test_escape_leaves_the_screen_and_the_world_goes_on(open_window: Callable[..., Person], tmp_path: Path) -> None:
    person = open_window(Settings(prompt="snow"), load=toy(), spec=SPEC, home=tmp_path)
    window = person.window
    person.more_frames(4)
    person.press("ctrl+shift+w")
    person.until(lambda: window.start.is_open and window.world.paused)
    person.press("Escape")
    person.until(lambda: not window.start.is_open and not window.world.paused)
    assert window.viewport.hasFocus()
    person.more_frames(4)


def test_a_world_file_opens_and_one_that_is_none_is_said(
    open_window: Callable[..., Person], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, bad = tmp_path / "sent.json", tmp_path / "bad.json"
    good.write_text(json.dumps({"prompt": "a lake at dusk", "seed": 7, "model": SPEC.name}))
    bad.write_text("[1]")
    person = open_window(Settings(prompt="snow"), load=toy(), spec=SPEC, home=tmp_path)
    window = person.window
    person.more_frames(4)
    window.start.open()
    screen = window.start.screen
    assert screen is not None
    chosen = iter([bad, good])
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *words: (str(next(chosen)), ""))
    screen.open_button.click()
    person.message("bad.json")
    assert window.start.is_open
    screen.open_button.click()
    person.until(lambda: not window.start.is_open and window.engine.view.prompt == "a lake at dusk")


class Loading:
    """What progress is read from."""

    stage = ("importing torch", 0.5)
    view = View()


def test_the_line_of_progress_only_rises_and_is_not_full_before_the_picture_is_there() -> None:
    engine = Loading()
    shares = [progress_of(engine)[1]]  # type: ignore[arg-type]
    engine.stage = ("first picture", 1.0)
    for step in range(5):
        engine.view = View(flight=FlightMark(0, 0, 7, 0, 0, step, 4))
        words, share = progress_of(engine)  # type: ignore[arg-type]
        shares.append(share)
    assert words == "first picture, step 4 of 4"
    engine.view = View(groups=(GroupMark(0, 0, 4, 0, None),))  # type: ignore[arg-type]
    assert shares == sorted(shares) and shares[0] < LOADED and shares[-1] < 1


def test_the_screen_tells_what_runs_here_and_what_is_the_person_s_own(qtbot: QtBot, tmp_path: Path) -> None:
    screen = StartScreen(True, False, None)  # type: ignore[arg-type]
    qtbot.addWidget(screen)
    mine = World("mine", "snow", 1, own=True)
    model = ModelStatus("big", "Big", "", "warning", "needs a GPU with 80 GB")
    screen.fill([*worlds(None)[:1], mine], [model], [PastSession(tmp_path, "pocket2", "snow", 1, 65)])
    assert screen.rename_button.isHidden()
    screen.worlds.setCurrentRow(1)
    assert not screen.rename_button.isHidden()
    screen.tabs.setCurrentWidget(screen.models)
    assert screen.rename_button.isHidden()
    with qtbot.waitSignal(screen.modelsRequested):
        screen.enter()
    screen.tabs.setCurrentWidget(screen.sessions)
    with qtbot.waitSignal(screen.sessionSelected):
        screen.enter()


@pytest.mark.parametrize(("gpu", "kinds"), [(0.0, {"good", "warning"}), (1000.0, {"good", "plain"})])
def test_a_model_is_ready_fits_or_needs_more_memory(
    gpu: float, kinds: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.window.model_status.hub.here", lambda entry: entry.ships)
    assert {status_of(e, gpu).kind for e in load_catalogue().values()} == kinds


def test_the_first_steps_end_one_by_one_when_they_are_done(qtbot: QtBot) -> None:
    coach = Coach(load_keymap())
    qtbot.addWidget(coach)
    coach.show()
    assert "W A S D" in coach.text.text()
    coach.watch(View(), False)
    assert coach.step == 0
    key = UpdateMark(1, UpdateKind.KEY, "", 0.0, 4, UpdatePhase.LIVE)
    coach.watch(View(updates=(key,)), False)
    assert coach.step == 1
    coach.watch(View(updates=(key, replace(key, kind=UpdateKind.PROMPT))), False)
    assert coach.step == 2 and "F3" in coach.text.text()
    with qtbot.waitSignal(coach.finished):
        coach.watch(View(), True)
    assert coach.isHidden()


class Keeping(ToySampler):
    """Keeps places, and begins from one."""

    def place(self, group: object) -> tuple[str, bytes]:
        return ".place", b"here"


def test_a_world_is_shared_as_one_file_and_opens_where_it_is_dropped(
    open_window: Callable[..., Person], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = open_window(Settings(prompt="a lake at dusk", seed=7), load=toy(), spec=SPEC, home=tmp_path)
    window = person.window
    person.more_frames(4)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *words: (str(tmp_path / "sent"), ""))
    person.press("ctrl+shift+s")
    person.message("sent.foreland")
    window.prompt.edit.setText("snow")
    window.prompt.edit.returnPressed.emit()
    person.until(lambda: window.engine.view.prompt == "snow")
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / "sent.foreland"))])
    window.viewport.dataDropped.emit(data)
    person.until(lambda: window.engine.view.prompt == "a lake at dusk")
    (tmp_path / "sent.foreland").write_bytes(b"PK damaged")
    window.viewport.dataDropped.emit(data)
    person.message("is not a world of Foreland")
    person.more_frames(4)


def test_the_next_start_goes_on_where_the_person_was(open_window: Callable[..., Person], tmp_path: Path) -> None:
    person = open_window(
        Settings(prompt="a lake at dusk", seed=7), "sessions/1", load=toy(Keeping()), spec=SPEC, home=tmp_path
    )
    person.more_frames(6)
    person.window.close()
    first = first_world(tmp_path)
    assert first is not None and first.name == "Go on where you were"
    assert (first.prompt, first.seed) == ("a lake at dusk", 7)
    assert first.begin is not None and first.begin.read_bytes() == b"here"
    assert first.thumbnail is not None and not first.own
