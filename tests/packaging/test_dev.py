"""The set-up from a checkout: what is asked before anything of the system is changed."""

from __future__ import annotations

import importlib.util
import io
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def dev() -> ModuleType:
    spec = importlib.util.spec_from_file_location("foreland_dev", ROOT / "packaging" / "dev.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Terminal(io.StringIO):
    """Somebody who types."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Debian with libegl1 alone, where apt-get only writes down what it is asked for."""
    calls = tmp_path / "calls"
    for name, text in (
        ("dpkg-query", "echo libegl1 install ok installed"),
        ("apt-get", f'echo "$@" >> {calls}'),
    ):
        file = tmp_path / name
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    return calls


NAMES = ("libegl1", "libdbus-1-3")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="about Debian")
@pytest.mark.parametrize(
    ("stdin", "installed"),
    [
        (Terminal("y\n"), True),
        (Terminal("\n"), True),
        (Terminal("n\n"), False),
        (Terminal(""), False),
        (io.StringIO(""), True),
    ],
    ids=["yes", "enter", "no", "end of input", "nobody there"],
)
def test_root_is_asked_where_somebody_can_answer(
    dev: ModuleType,
    system: Path,
    stdin: io.StringIO,
    installed: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "stdin", stdin)
    dev.system_libraries(NAMES)
    error = capsys.readouterr().err
    assert "these system libraries are missing: libdbus-1-3\n" in error
    assert ("[Y/n]" in error) is stdin.isatty()
    assert system.exists() is installed
    if installed:
        assert system.read_text().splitlines()[-1].split()[-1] == "libdbus-1-3"
    else:
        assert "nothing was installed" in error


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="about Debian")
def test_who_is_not_root_is_told_the_command(
    dev: ModuleType, system: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    dev.system_libraries(NAMES)
    assert "sudo apt-get install libdbus-1-3" in capsys.readouterr().err
    assert not system.exists()


def test_what_lies_in_the_persons_folder_is_not_imported(dev: ModuleType) -> None:
    assert dev.FORELAND[1:] == ["-P", "-m", "foreland"]


LINUX = ("linux", "x86_64", 64, ("glibc", "2.36"), "", (3, 11))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, ""),
        ({5: (3, 12)}, ""),
        ({5: (3, 13)}, ""),
        ({5: (3, 10)}, "Python 3.11 or newer"),
        ({2: 32}, "64 bits"),
        ({1: "aarch64"}, ""),
        ({1: "armv7l"}, "this is armv7l"),
        ({3: ("glibc", "2.34")}, ""),
        ({3: ("glibc", "2.31")}, "this system has 2.31"),
        ({3: ("glibc", "2.28")}, "glibc 2.34 or newer"),
        ({3: ("musl", "1.2.4")}, "this one has musl"),
        ({3: ("", "")}, ""),
        ({0: "darwin", 1: "arm64", 4: "14.2"}, ""),
        ({0: "darwin", 1: "arm64", 4: "13.6.1"}, "macOS 14 or newer"),
        ({0: "darwin", 1: "x86_64", 4: "15.0"}, "Intel Macs"),
        ({0: "win32", 1: "AMD64"}, ""),
    ],
)
def test_what_cannot_be_installed_is_said_before_anything_is_loaded(
    dev: ModuleType, change: dict[int, object], said: str
) -> None:
    here = list(LINUX)
    for i, value in change.items():
        here[i] = value
    problem = dev.limits(*here)
    assert said in problem and bool(said) == bool(problem)


def test_a_machine_that_cannot_is_told_and_no_environment_is_made(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dev.platform, "libc_ver", lambda: ("glibc", "2.28"))
    monkeypatch.setattr(dev, "environment", lambda test: pytest.fail("something was installed"))
    monkeypatch.setattr(sys, "argv", ["dev.py", "foreland", "doctor"])
    with pytest.raises(SystemExit):
        dev.main()
    assert "nothing was downloaded" in capsys.readouterr().err


def test_what_failed_beside_others_has_to_pass_alone(
    dev: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One test fails for the first time only, one always; what passed is not run again."""
    (tmp_path / "test_a.py").write_text(
        "from pathlib import Path\n"
        "def test_once():\n"
        "    there = Path(__file__).with_name('there')\n"
        "    first = not there.exists()\n"
        "    there.touch()\n"
        "    assert not first\n"
        "def test_good():\n"
        "    runs = Path(__file__).with_name('runs')\n"
        "    runs.write_text(runs.read_text() + 'x' if runs.exists() else 'x')\n"
    )
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "xdist.plugin")
    command = [sys.executable, "-m", "pytest", "-q", str(tmp_path), "--rootdir", str(tmp_path), "-c", os.devnull]
    command += ["-o", f"cache_dir={tmp_path / 'cache'}"]
    first = dev.in_turn([("tests", command)])
    assert first == dev.TESTS_FAILED
    assert dev.alone(first, command) == 0
    assert (tmp_path / "runs").read_text() == "x"

    (tmp_path / "test_b.py").write_text("def test_never():\n    assert False\n")
    first = dev.in_turn([("tests", command)])
    assert dev.alone(first, command) == dev.TESTS_FAILED
    assert dev.alone(2, command) == 2, "tests that could not run are not tried again"
