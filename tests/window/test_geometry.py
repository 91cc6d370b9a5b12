"""Nothing is cut and nothing lies off the screen, at five sizes and three scales. A toy world, no screen server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parents[2]
SCREEN = {"screens": [{"name": "wide", "x": 0, "y": 0, "width": 4096, "height": 2304, "logicalDpi": 96, "dpr": 1}]}


@pytest.mark.parametrize(
    ("scale", "sizes", "language"),
    [
        ("1", "560x380 960x540 1280x800 1920x1080 3840x2160", "en"),
        pytest.param("2", "560x380 640x480 960x540 1280x800 1920x1080", "en", marks=pytest.mark.slow),
        ("3", "560x380 960x540 1280x720", "en"),
        ("1", "560x380", "de"),
        pytest.param("1", "560x380 960x540", "fr", marks=pytest.mark.slow),
        pytest.param("1", "560x380 960x540", "es", marks=pytest.mark.slow),
        ("1", "560x380", "mirrored"),
    ],
    ids=lambda x: x.replace(" ", ","),
)
def test_everything_that_is_shown_lies_in_the_window(scale: str, sizes: str, language: str, tmp_path: Path) -> None:
    """sizes: in logical pixels, as a person's screen has them after its scaling. language: mirrored is English laid out from right to
    left."""
    screen = tmp_path / "screen.json"
    screen.write_text(json.dumps(SCREEN))
    environment = os.environ | {
        "QT_QPA_PLATFORM": f"offscreen:configfile={screen}",
        "QT_SCALE_FACTOR": scale,
        "FORELAND_HOME": str(tmp_path),
        "PYTHONPATH": str(HERE),
        "FORELAND_TEST_LANGUAGE": "en" if language == "mirrored" else language,
        "FORELAND_TEST_MIRRORED": "1" if language == "mirrored" else "",
    }
    command = [sys.executable, "-P", str(HERE / "tests" / "window" / "geometry.py"), *sizes.split()]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=170, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.split() == sizes.split()
