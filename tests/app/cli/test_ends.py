"""The program ends well whoever ends it: signals, displays that are gone, output that nobody takes, threads that hang."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from app.cli.display import display_problem, try_qt
from app.cli.main import main
from tests.app.cli.test_main import outcome

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=lambda n: n.name)
def test_a_signal_is_one_line_and_what_is_open_is_closed(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    closed: list[int] = []

    def ended(**options: Any) -> int:
        try:
            os.kill(os.getpid(), number)
            time.sleep(10)
        finally:
            closed.append(1)
        return 0

    assert outcome([], monkeypatch, result=ended) == 128 + number
    assert capsys.readouterr().err == f"foreland: stopped by {number.name}; what was recorded is kept\n"
    assert closed and signal.getsignal(number) is signal.SIG_DFL


def program(*words: str, stdout: Any, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "app", *words],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
    )


def test_output_that_nobody_takes_is_no_traceback() -> None:
    read, write = os.pipe()
    os.close(read)
    done = program("schema", "script", stdout=write)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, ""), "as click has it"
    with open("/dev/full", "w") as full:
        done = program("schema", "script", stdout=full)
    assert done.returncode == 2
    assert done.stderr == "foreland: the output cannot be written: No space left on device\n"


def test_what_a_terminal_cannot_show_is_no_traceback() -> None:
    code = "import sys; from app.cli.ends import set_up_output; set_up_output(); print('w\\xf6rld.mp4')"
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("w\\xf6rld.mp4\n", "")


def test_a_thread_that_hangs_does_not_abort_the_process(tmp_path: Path) -> None:
    code = """
import sys, threading, time
from app.cli.ends import leave
threading.Thread(target=time.sleep, args=(60,), name="foreland-engine", daemon=True).start()
print("said")
sys.exit(leave(7))
"""
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (7, "said\n", "")
    assert time.monotonic() - began < 20


def test_a_display_that_does_not_answer_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert display_problem() == "neither DISPLAY nor WAYLAND_DISPLAY is set"
    monkeypatch.setenv("DISPLAY", ":4077")
    assert display_problem() == "the display :4077 does not answer"
    monkeypatch.delenv("DISPLAY")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    assert display_problem().startswith("the Wayland display wayland-0 does not answer")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "wayland-0"))
        server.listen()
        assert display_problem() == ""
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    assert display_problem() == ""


def test_qt_that_aborts_takes_only_a_child_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "nonsense")
    with pytest.raises(RuntimeError, match="Qt cannot open it and ended with status -6"):
        try_qt()


def test_doctor_outlives_a_dead_display(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("DISPLAY", ":4077")
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "no   display: the display :4077 does not answer" in out and "log: " in out


@pytest.mark.integration
@pytest.mark.parametrize(
    ("number", "hangs"),
    [
        (signal.SIGINT, False),
        (signal.SIGTERM, True),
        pytest.param(signal.SIGHUP, True, marks=pytest.mark.slow),
    ],
)
def test_a_signal_closes_the_window_as_its_button_does(number: int, hangs: bool, tmp_path: Path) -> None:
    """Also during a step that does not end: within 2 s, with the summary, the preferences and the film."""
    code = f"""
import sys, threading, time
from pathlib import Path
from PySide6.QtCore import QTimer
from app.cli.ends import leave
from app.options import Choice
from app.window import main_window
from engine.runtime.settings import Settings
from tests.toy import SPEC, ToySampler, toy
home = Path({str(tmp_path)!r})
hang = []
sampler = ToySampler(sleep=lambda s: time.sleep(60 if hang else s))
old = main_window.MainWindow.__init__
def begin(self, *a, **k):
    old(self, *a, **k)
    def look():
        if self.viewport.painted < 8:
            return
        self.menus["world.record"].setChecked(True)
        if self.viewport.painted < 16:
            return  # the film has pictures first
        timer.stop()
        self.preferences.favourites = ["snow"]
        if {hangs}:
            hang.append(1)
            self.world.new_world("b", 1)
        QTimer.singleShot(600, lambda: print("now", flush=True))
    timer = QTimer(self)
    timer.timeout.connect(look)
    timer.start(20)
main_window.MainWindow.__init__ = begin
choice = Choice("toy", SPEC, toy(sampler))
(home / "preferences.json").write_text('{{"welcome": false}}')
sys.exit(leave(main_window.open_window(choice, Settings("a"), home / "s", False, None, None, home, "null")))
"""
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "now\n", child.stderr and child.stderr.read()
    began = time.monotonic()
    child.send_signal(number)
    _, errors = child.communicate(timeout=30)
    assert time.monotonic() - began < 2 + 2, "2 s, and what a busy machine adds"
    assert child.returncode == 128 + number and "Traceback" not in errors
    assert (tmp_path / "s" / "summary.json").exists()
    assert '"snow"' in (tmp_path / "preferences.json").read_text()
    assert len(list((tmp_path / "films").glob("*.mp4"))) == 1
