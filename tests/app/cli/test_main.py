"""The program's first and last words: version, help, completion, errors, and what `foreland` alone means."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from app.cli.main import COMMANDS, cli, main
from app.cli.run import unused_gpu
from app.options import ModelOptions
from engine.models import gpu
from engine.models.gpu import Machine

CARD = ("NVIDIA GeForce RTX 4090", (8, 9))
ROOT = Path(__file__).resolve().parents[3]


def outcome(words: list[str], monkeypatch: pytest.MonkeyPatch, *, result: Callable[..., Any]) -> int:
    """Runs the program with `run` replaced by `result`."""
    command = cli.get_command(click.Context(cli), "run")
    assert command is not None
    monkeypatch.setattr(command, "callback", result)
    return main(words)


def test_version_and_help_import_neither_torch_nor_qt_nor_numpy() -> None:
    code = (
        "import sys; from app.cli.main import main; main(sys.argv[1:]); "
        "print(sorted(set(sys.modules) & {'torch', 'PySide6', 'numpy', 'diffusers', 'matplotlib', 'pydantic'}))"
    )
    for words in (["--version"], ["--help"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *words], cwd=ROOT, capture_output=True, text=True, check=True, timeout=120
        )
        assert done.stdout.splitlines()[-1] == "[]"


def test_the_version_is_that_of_the_project(capsys: pytest.CaptureFixture[str]) -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"foreland {project['version']}\n"


def test_help_names_all_commands_completion_and_the_environment(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-h"]) == 0
    out = capsys.readouterr().out
    for word in (*COMMANDS, "_FORELAND_COMPLETE", "FORELAND_HOME", "FORELAND_LOG", "--verbose"):
        assert word in out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_and_options_of_its_own(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    assert f"Usage: foreland {name}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "seed", "overlay"),
    [
        ([], 0, False),
        (["--seed", "3"], 3, False),
        (["--overlay", "--seed=4"], 4, True),
        (["run", "--seed", "5"], 5, False),
        (["--verbose", "--seed", "6"], 6, False),
        (["-v", "run", "--overlay"], 0, True),
    ],
)
def test_without_a_command_it_is_run(
    words: list[str], seed: int, overlay: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[dict[str, Any]] = []
    assert outcome(words, monkeypatch, result=lambda **options: seen.append(options)) == 0
    assert [(s["seed"], s["overlay"]) for s in seen] == [(seed, overlay)]


def test_the_status_of_a_command_is_that_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    assert outcome([], monkeypatch, result=lambda **options: 1) == 1


def test_ctrl_c_is_130_and_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def stopped(**options: Any) -> int:
        raise KeyboardInterrupt

    assert outcome([], monkeypatch, result=stopped) == 130
    assert capsys.readouterr().err.split("\n")[-2] == "foreland: stopped; what was recorded is kept"


def test_an_error_of_the_program_is_1_and_its_trace_is_in_the_log(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], data: Path
) -> None:
    def broken(**options: Any) -> int:
        raise ZeroDivisionError("a division by nothing")

    assert outcome([], monkeypatch, result=broken) == 1
    log = data / "logs" / "foreland.log"
    assert capsys.readouterr().err.splitlines()[-1] == (
        f"foreland: an error in the program: a division by nothing; the log is {log}"
    )
    assert "ZeroDivisionError" in log.read_text()


def test_a_level_that_is_none_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("FORELAND_LOG", "loud")
    assert main(["doctor"]) == 2
    assert "FORELAND_LOG=loud is not a log level: debug, info, warning, error" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "begun", "expected"),
    [
        (["foreland"], "re", {"replay"}),
        (["foreland", "models"], "v", {"verify"}),
        (["foreland", "models", "pull"], "min", {"minimax-h3", "minwm-wan2.1-1.3b-action"}),
        (["foreland", "explore", "--model"], "poc", {"pocket", "pocket2"}),
        (["foreland", "explore", "--commit"], "", {"speculative", "chunk"}),
    ],
)
def test_the_shell_completes_commands_options_and_models(words: list[str], begun: str, expected: set[str]) -> None:
    from click.shell_completion import ShellComplete

    complete = ShellComplete(cli, {}, "foreland", "_FORELAND_COMPLETE")
    assert {x.value for x in complete.get_completions(words[1:], begun)} == expected


@pytest.mark.parametrize("kind", ["script", "score", "world", "keymap", "words", "preferences"])
def test_schemas_are_json_and_say_what_is_needed(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    import json

    assert main(["schema", kind]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert schema["type"] == ("array" if kind == "score" else "object")
    if kind == "script":
        assert schema["required"] == ["prompt"]
        assert "Seconds of media time" in json.dumps(schema)


@pytest.mark.parametrize(
    ("machine", "model", "device", "said"),
    [
        (Machine(cuda="13.0"), "wan2.1-t2v-1.3b", "auto", "no NVIDIA GPU here"),
        (Machine(cuda="13.0"), "pocket2", "auto", None),
        (Machine(cuda="13.0"), "wan2.1-t2v-1.3b", "cpu", None),
        (Machine((CARD,), "580.65", True, None), "pocket2", "auto", "a build for the CPU alone"),
        (Machine((CARD,), "550.54", True, "13.0"), "wan2.1-t2v-1.3b", "auto", "pip install --force-reinstall torch=="),
        (Machine((CARD,), "580.65", True, "13.0"), "wan2.1-t2v-1.3b", "auto", None),
    ],
)
def test_a_gpu_that_is_not_used_is_said_first(
    machine: Machine, model: str, device: str, said: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No model is computed on the CPU in silence where nobody chose that."""
    monkeypatch.setattr(gpu, "machine", lambda: machine)
    text = unused_gpu(ModelOptions(model=model, device=device))
    assert (said in text) if said else not text


def test_a_start_picture_that_is_none_is_said_before_the_model_is_loaded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.models.pocket2.load.Weights.load", lambda folder: pytest.fail("it was loaded"))
    (tmp_path / "p.png").write_text("hello")
    assert main(["explore", "--image", str(tmp_path / "p.png"), "--out", str(tmp_path / "w.mp4")]) == 2
    said = capsys.readouterr().err
    assert "p.png cannot be read as a picture (it is not a picture of a known kind)" in said and "object at" not in said


def test_a_session_that_is_a_file_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "s").write_text("hello")
    words = ["explore", "--session", str(tmp_path / "s"), "--out", str(tmp_path / "w.mp4"), "--seconds", "1"]
    assert main(words) == 2
    said = capsys.readouterr().err
    assert "is a file: a session needs a folder" in said and "Errno" not in said
