"""Models of others: a package that is installed and played, rows from the data folder, and what is broken said in one line."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.cli.main import main
from engine.models import registry
from engine.models.catalogue import read_catalogue
from engine.models.interface import Stopped
from engine.models.registry import PluginError, family

ROOT = Path(__file__).resolve().parents[3]
PLUGIN = ROOT / "tests" / "plugin"
ROW = json.loads((PLUGIN / "foreland_stripes" / "rows.json").read_text())["stripes"]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which the plug-in was installed."""
    root = tmp_path_factory.mktemp("plugin")
    shutil.copytree(PLUGIN, root / "source", ignore=shutil.ignore_patterns("__pycache__"))
    words = ["--no-index", "--no-deps", "--no-build-isolation", "--quiet", "--target", str(root / "target")]
    subprocess.run([sys.executable, "-m", "pip", "install", *words, str(root / "source")], check=True)
    return root / "target"


def process(*words: str, path: Path, home: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command with a folder of installed packages, in a process of its own."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(ROOT), str(path))), "FORELAND_HOME": str(home)}
    return subprocess.run(
        [sys.executable, "-m", "app", *words], cwd=home, env=environment, capture_output=True, text=True, timeout=120
    )


@dataclass
class Ended:
    """What a command left behind."""

    returncode: int
    stdout: str
    stderr: str


def forget_plugins() -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "foreland_stripes"]:
        del sys.modules[name]


def foreland(*words: str, path: Path, home: Path) -> Ended:
    """Runs a command in this process, which finds the folder of installed packages for as long."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.syspath_prepend(str(path))
        patch.setenv("FORELAND_HOME", str(home))
        patch.chdir(home)
        forget_plugins()
        try:
            status = main([*words])
        finally:
            forget_plugins()
    return Ended(status, out.getvalue(), err.getvalue())


def test_an_installed_family_is_listed_checked_and_played(installed: Path, tmp_path: Path) -> None:
    listed = foreland("models", "list", path=installed, home=tmp_path)
    assert re.search(r"^stripes +yes +none", listed.stdout, re.M)
    checked = foreland("models", "check", "stripes", path=installed, home=tmp_path)
    assert (checked.returncode, checked.stdout.count("ok   "), checked.stdout.count("no   ")) == (0, 7, 0)
    script = {"prompt": "stripes", "seconds": 4, "events": [{"t": 1.0, "key": "D", "action": "down"}]}
    (tmp_path / "s.json").write_text(json.dumps(script))
    words = ("--script", "s.json", "--assume-call", "0.3", "--out", "f.mp4", "--raw", "f.npy", "--session", "s")
    played = process("explore", "--model", "stripes", *words, path=installed, home=tmp_path)
    assert played.returncode == 0, played.stderr
    frames = np.load(tmp_path / "f.npy")
    assert frames.shape == (64, 96, 160, 3) and (tmp_path / "f.mp4").stat().st_size > 1000
    assert (frames[0] != frames[-1]).mean() > 0.5


def test_what_a_family_does_not_understand_is_refused_by_name(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "garbage.safetensors").write_bytes(b"no")
    for words, flag in ((("--lora", "garbage.safetensors"), "--lora"), (("--offload",), "--offload")):
        refused = foreland("explore", "--model", "stripes", *words, path=installed, home=tmp_path)
        assert refused.returncode == 2 and f"stripes does not understand {flag}" in refused.stderr
    refused = process("explore", "--model", "stripes", "--gpus", "2", path=installed, home=tmp_path)
    assert refused.returncode == 2 and "stripes does not understand --gpus" in refused.stderr


def test_listing_imports_no_plug_in_and_a_broken_one_is_one_line(installed: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    shutil.copytree(installed, target)
    (target / "foreland_stripes" / "family.py").write_text("raise RuntimeError('half an upload')\n")
    listed = foreland("models", "list", path=target, home=tmp_path)
    assert listed.returncode == 0 and "half an upload" not in listed.stdout + listed.stderr
    opened = foreland("models", "check", "stripes", path=target, home=tmp_path)
    assert opened.returncode == 2 and "RuntimeError: half an upload" in opened.stderr
    assert "Traceback" not in opened.stderr
    (target / "foreland_stripes" / "rows.json").write_text("{")
    listed = foreland("models", "list", path=target, home=tmp_path)
    lines = [line for line in listed.stdout.splitlines() if line.startswith("left out: ")]
    assert listed.returncode == 0 and len(lines) == 1 and "foreland-stripes 1.0" in lines[0] and "JSON" in lines[0]


def add_rows(home: Path, rows: object) -> None:
    (home / "models.d").mkdir(parents=True, exist_ok=True)
    (home / "models.d" / "mine.json").write_text(rows if isinstance(rows, str) else json.dumps(rows))


def test_a_row_in_the_data_folder_is_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORELAND_HOME", str(tmp_path))
    add_rows(tmp_path, {"mine": ROW | {"family": "wan", "repo": "me/mine", "phase": 3, "phase_offset": 1, "block": 3}})
    catalogue = read_catalogue()
    spec = catalogue.entries["mine"].spec()
    assert (spec.name, spec.phase, spec.phase_offset, spec.block) == ("mine", 3, 1, 3)
    assert catalogue.entries["mine"].source.endswith("mine.json") and catalogue.broken == ()


@pytest.mark.parametrize(
    ("rows", "error"),
    [
        ("{", "is not JSON"),
        ([1], "holds no rows"),
        ({"mine": {"family": "wan"}}, "the row has no fps, history, size, spans, steps, title, window, windows"),
        ({"mine": ROW | {"colour": "red"}}, "the row has unknown entries: colour"),
        ({"mine": ROW | {"history": ["memory"]}}, "the row cannot be read"),
        ({"mine": ROW | {"window": 99}}, "out of range"),
        ({"mine": ROW}, "brings the family stripes"),
        ({"pocket": ROW}, "Foreland has a model of this name already"),
    ],
)
def test_a_row_that_cannot_be_used_is_named_and_the_others_are_there(
    rows: object, error: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("FORELAND_HOME", str(tmp_path))
    shipped = set(read_catalogue().entries)
    add_rows(tmp_path, rows)
    catalogue = read_catalogue()
    assert set(catalogue.entries) == shipped
    assert len(catalogue.broken) == 1 and error in str(catalogue.broken[0]) and "mine.json" in str(catalogue.broken[0])
    assert "\n" not in str(catalogue.broken[0]) and str(catalogue.broken[0]) in caplog.text


def test_a_family_that_nobody_brings_is_said() -> None:
    with pytest.raises(PluginError, match="no plug-in that is installed here brings the family stripes"):
        family("stripes")


def test_the_docs_show_the_plug_in_as_it_is() -> None:
    text = (ROOT / "docs" / "extending.md").read_text("utf-8")
    shown = re.findall(r"\*\*(\S+)\*\*:.*?```\w+\n(.*?)\n```", text, re.S)
    assert [name for name, _ in shown] == [
        "pyproject.toml",
        "foreland_stripes/rows.json",
        "foreland_stripes/family.py",
    ]
    for name, code in shown:
        assert code == (PLUGIN / name).read_text().rstrip(), f"docs/extending.md shows another {name}"


def test_two_threads_load_one_after_the_other_and_the_wait_can_be_ended() -> None:
    inside, goes_on = threading.Event(), threading.Event()

    def load(progress: Any) -> Any:
        inside.set()
        goes_on.wait(20)

    first = threading.Thread(target=registry._one_at_a_time, args=(load, lambda stage, share: None))
    first.start()
    assert inside.wait(20)

    def stop(stage: str, share: float) -> None:
        raise Stopped

    with pytest.raises(Stopped):
        registry._one_at_a_time(load, stop)
    goes_on.set()
    first.join()
    registry._one_at_a_time(lambda progress: None, stop)  # type: ignore[arg-type, return-value]
