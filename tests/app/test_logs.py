"""The log file: where it is, what is in it, and what never is."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.logs import FILE_BYTES, log_file, newest_lines, set_up_logs


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """The handlers that were there before."""
    root = logging.getLogger()
    before = list(root.handlers)
    yield
    for handler in [h for h in root.handlers if h not in before]:
        root.removeHandler(handler)
        handler.close()


def test_messages_from_info_on_go_to_the_file_and_warnings_to_the_terminal_too(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    set_up_logs("warning")
    assert not data.exists(), "nothing is made before there is something to say"
    logging.getLogger("engine.test").info("the world begins")
    logging.getLogger("engine.test").warning("a group is late")
    logging.getLogger("engine.test").debug("not asked for")
    assert log_file() == data / "logs" / "foreland.log"
    lines = log_file().read_text().splitlines()
    assert [x.split(" ", 2)[2] for x in lines] == [
        "INFO engine.test: the world begins",
        "WARNING engine.test: a group is late",
    ]
    assert capsys.readouterr().err == "engine.test: a group is late\n"


def test_setting_up_again_replaces_the_handlers(capsys: pytest.CaptureFixture[str]) -> None:
    for level in ("warning", "error", "info"):
        set_up_logs(level)
    logging.getLogger("app.test").info("once")
    assert capsys.readouterr().err == "app.test: once\n"
    assert log_file().read_text().count("once") == 1


@pytest.mark.parametrize(
    "secret", ["hf_abcdefghijkl", "Bearer abc.def", "https://me:pass@proxy.example/simple", "of the environment 1234"]
)
def test_secrets_are_not_written(
    secret: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "of the environment 1234")
    set_up_logs("warning")
    try:
        raise ValueError(f"cannot fetch with {secret}")
    except ValueError:
        logging.getLogger("engine.models.hub").warning("tried %s", secret, exc_info=True)
    assert "cannot fetch with" in log_file().read_text()
    for text in (log_file().read_text(), capsys.readouterr().err):
        assert "tried" in text
        for word in ("abcdefghijkl", "abc.def", "me:pass", "1234"):
            assert word not in text


def test_a_person_at_the_terminal_is_told_in_a_line_and_finds_the_trace_in_the_file(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for level, traces in (("warning", False), ("info", True)):
        set_up_logs(level)
        logging.getLogger("engine.test").error("it failed", exc_info=ValueError("the cause"))
        assert ("the cause" in capsys.readouterr().err) == traces
        assert "ValueError: the cause" in log_file().read_text()


def test_the_file_does_not_grow_for_ever(data: Path) -> None:
    set_up_logs("error")
    for i in range(40):
        logging.getLogger("engine.test").info("%d %s", i, "x" * (FILE_BYTES // 8))
    files = sorted((data / "logs").iterdir())
    assert [f.name for f in files] == ["foreland.log", "foreland.log.1", "foreland.log.2"]
    assert sum(f.stat().st_size for f in files) <= 3 * FILE_BYTES
    assert " 39 x" in files[0].read_text()


def test_without_a_place_for_the_file_the_program_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FORELAND_HOME", str(tmp_path / "file"))
    set_up_logs("warning")
    logging.getLogger("engine.test").warning("a group is late")
    assert capsys.readouterr().err == "engine.test: a group is late\n"


def test_the_end_of_the_log_can_be_read_and_a_missing_one_is_said(data: Path) -> None:
    assert newest_lines().startswith("There is no log yet")
    set_up_logs("warning")
    logging.getLogger("app.x").error("one of many")
    assert newest_lines().splitlines()[-1].endswith("one of many")
    assert len(newest_lines(10)) == 10
