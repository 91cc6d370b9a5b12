"""What is dropped on the world or pasted: files, addresses of files, pictures."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QUrl
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from app.window.dropped import may_start, start_file
from engine.errors import Refused


def data(*urls: str, image: bool = False, text: str = "") -> QMimeData:
    made = QMimeData()
    if urls:
        made.setUrls([QUrl(u) for u in urls])
    if image:
        picture = QImage(20, 10, QImage.Format.Format_RGB32)
        picture.fill(0xFF102030)
        made.setImageData(picture)
    if text:
        made.setText(text)
    return made


def test_files_and_addresses_of_files_are_taken_as_they_are(qapp: QApplication, tmp_path: Path) -> None:
    odd = tmp_path / "a b ü#1%20.PNG"
    for made in (
        data(QUrl.fromLocalFile(str(odd)).toString()),
        data("https://example.org/x", QUrl.fromLocalFile(str(odd)).toString()),
        data(text=f" {odd}\n"),
        data(text=QUrl.fromLocalFile(str(odd)).toString(QUrl.ComponentFormattingOption.FullyEncoded)),
    ):
        assert may_start(made)
        assert start_file(made, tmp_path) == odd
    for name in ("clip.mts", "pic.avif", "shot.heic", "clip.3gp", "clip.ts"):
        assert start_file(data(f"file:///x/{name}"), tmp_path) == Path("/x") / name


def test_a_picture_of_a_browser_or_of_the_clipboard_is_saved_first(qapp: QApplication, tmp_path: Path) -> None:
    files = [start_file(data("https://example.org/castle.png", image=True), tmp_path / "pictures") for _ in range(2)]
    assert len(set(files)) == 2
    for file in files:
        assert QImage(str(file)).pixelColor(3, 3).getRgb()[:3] == (0x10, 0x20, 0x30)


def test_what_is_no_start_is_said(qapp: QApplication, tmp_path: Path) -> None:
    assert not may_start(data(text="snowy mountains"))
    with pytest.raises(Refused, match="save it first"):
        start_file(data("https://example.org/castle.png"), tmp_path)
    with pytest.raises(Refused, match=r"notes\.txt is not a picture or film"):
        start_file(data("file:///x/notes.txt"), tmp_path)
    (tmp_path / "full").write_text("")
    with pytest.raises(Refused, match="could not be written"):
        start_file(data(image=True), tmp_path / "full")
