"""No bad file and no bad command line is met with a traceback, a hang, or more than a line."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("--cases", "60", "--light"), marks=[pytest.mark.slow, pytest.mark.timeout(600)]),
        pytest.param(("--cases", "2000"), marks=[pytest.mark.slow, pytest.mark.timeout(3600)]),
    ],
    ids=["a few", "2000"],
)
def test_what_is_broken_is_answered_in_a_line(words: tuple[str, ...]) -> None:
    seed = str(int(time.time()) % 100_000)
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", "--seed", seed, *words], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
