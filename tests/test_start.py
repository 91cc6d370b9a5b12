"""The program's entry: other packages of the same names are said, not met with a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def start(*path: Path, cwd: Path, options: tuple[str, ...] = ("-P",)) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
    command = [sys.executable, *options, "-m", "foreland", "--version"]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=120)


@pytest.fixture(params=["app", "engine"])
def other(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder of somebody else's with a package of the same name."""
    package = tmp_path / request.param
    package.mkdir()
    (package / "__init__.py").touch()
    return package


def test_another_package_of_the_same_name_is_said_in_one_line(other: Path) -> None:
    for done in (start(other.parent, ROOT, cwd=ROOT), start(ROOT, cwd=other.parent, options=())):
        assert done.returncode == 2
        assert f"another package named {other.name!r} first, in {other.parent}" in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_with_a_safe_path_the_folder_one_is_in_does_not_matter(other: Path) -> None:
    done = start(ROOT, cwd=other.parent)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("foreland ")
