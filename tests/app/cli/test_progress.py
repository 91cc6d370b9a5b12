"""Progress: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import io
import sys

import pytest

from app.cli.progress import ProgressLine


def told(progress: ProgressLine) -> None:
    for stage, share in (("reading", 0.1), ("reading", 0.5), ("exploring", 0.75)):
        progress(stage, share)
    progress.end()


def test_without_a_terminal_each_stage_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    told(ProgressLine())
    assert capsys.readouterr().err == "reading ...\nexploring ...\n"


def test_on_a_terminal_a_bar_says_stage_and_share(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    told(ProgressLine())
    assert "exploring" in sys.stderr.getvalue()  # type: ignore[attr-defined]
    assert "75%" in sys.stderr.getvalue()  # type: ignore[attr-defined]
