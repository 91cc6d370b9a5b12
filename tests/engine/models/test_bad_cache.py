"""A cache of downloads that somebody broke, and a hub that says odd things: a line each."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.models import download, hub


@pytest.fixture
def blobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    folder = tmp_path / "models--a--b" / "blobs"
    folder.mkdir(parents=True)
    return folder


def test_links_to_nowhere_and_folders_are_no_unfinished_files(blobs: Path) -> None:
    (blobs / "one.part").symlink_to("/nowhere")
    (blobs / "two.part").mkdir()
    (blobs / "three.part").write_bytes(b"1234")
    assert download.unfinished("a/b") == 4


def test_a_device_in_the_place_of_a_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "x").symlink_to("/dev/zero")
    file = download.RemoteFile("a/b", "x", 0, "0" * 64)
    assert hub._wrong(file, tmp_path / "x") == "x is no ordinary file"


def test_what_the_hub_says_is_one_printable_line() -> None:
    assert hub._one_line("\x1b[31mmit\n" * 3) == "?[31mmit ?[31mmit ?[31mmit"
    assert len(hub._one_line("x" * 5000)) == hub.LONGEST_TEXT
