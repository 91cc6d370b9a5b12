"""The data folder on each system, and that nothing of a person is lost by an update."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from platformdirs.macos import MacOS

from app.storage.paths import data_folder, embeddings_folder, words_file


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("FORELAND_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_foreland_home_wins_on_every_system(data: Path) -> None:
    assert data_folder() == data
    assert words_file() == data / "action-words.json"
    assert embeddings_folder() == data / "embeddings"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the place on Linux")
def test_on_linux_it_stays_where_earlier_versions_had_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert data_folder() == home / ".local" / "share" / "foreland"
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "xdg"))
    assert data_folder() == home / "xdg" / "foreland"


def test_on_a_mac_it_is_the_systems_place_but_where_an_earlier_version_left_something(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr("platformdirs.PlatformDirs", MacOS)
    assert data_folder() == home / "Library" / "Application Support" / "foreland"
    (home / ".local" / "share" / "foreland").mkdir(parents=True)
    assert data_folder() == home / ".local" / "share" / "foreland"
