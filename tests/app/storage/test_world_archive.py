"""A world as one file: what is sent arrives, and what a stranger sends can do no harm."""

from __future__ import annotations

import io
import json
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest
from PIL import Image

from app.storage.world_archive import MOST_THUMBNAIL, open_archive, write_archive
from app.storage.worlds import World, keep_place, kept_place, sessions, worlds
from engine.errors import Refused


def png() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (4, 4)).save(out, "PNG")
    return out.getvalue()


def archive(file: Path, **members: bytes | str) -> Path:
    """The members of a good world, with some in place of them; None leaves one out."""
    about = {"prompt": "snow", "seed": 3, "model": "pocket2"}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in ({"world.json": json.dumps(about), "thumbnail.png": png()} | members).items():
            if content is not None:
                out.writestr(name, content)
    return file


def test_what_is_sent_arrives_and_a_second_copy_has_a_name_of_its_own(tmp_path: Path) -> None:
    file, home = tmp_path / "sent.foreland", tmp_path / "home"
    write_archive(file, World("A / lake", "a lake at dusk", 7, "pocket2"), png(), (".place", b"here"))
    file.rename(moved := tmp_path / "moved.foreland")
    for _ in range(2):
        world = open_archive(moved, home)
        assert (world.name, world.prompt, world.seed, world.model) == ("A / lake", "a lake at dusk", 7, "pocket2")
        assert world.begin is not None and world.begin.read_bytes() == b"here"
        assert world.thumbnail is not None and world.thumbnail.read_bytes() == png()
    assert len([w for w in worlds(home) if w.own]) == 2


def test_a_start_picture_is_sent_with_its_world(tmp_path: Path) -> None:
    begin = tmp_path / "begin.JPG"
    begin.write_bytes(b"a picture")
    write_archive(tmp_path / "w.foreland", World("w", "snow", 1, "pocket2", begin), png())
    begin.unlink()
    world = open_archive(tmp_path / "w.foreland", tmp_path / "home")
    assert world.begin is not None and world.begin.suffix == ".jpg" and world.begin.read_bytes() == b"a picture"


def about(**more: object) -> str:
    return json.dumps({"prompt": "snow", "seed": 3} | more)


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"world.json": None}, "world.json is missing"),
        ({"thumbnail.png": None}, "thumbnail.png is missing"),
        ({"world.json": "{"}, "this is not JSON"),
        ({"world.json": about(seed=-1)}, "seed: -1 is out of range"),
        ({"world.json": about(begin="../../.bashrc")}, "is not the beginning of a world"),
        ({"world.json": about(begin="begin.py"), "begin.py": "x"}, "is not the beginning of a world"),
        ({"world.json": about(begin="begin.png")}, "begin.png is missing"),
        ({"world.json": about(model="//server/share/model")}, "is not the name of a model"),
        ({"thumbnail.png": b"GIF89a"}, "thumbnail.png is not a PNG"),
        ({"thumbnail.png": bytes(MOST_THUMBNAIL + 1)}, "thumbnail.png has more than 16,000,000 bytes"),
        ({"world.json": " " * 70_000}, "world.json has more than 65,536 bytes"),
        ({f"x{n}": "" for n in range(40)}, "it has 42 members"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_what_is_no_world_is_refused_in_one_line_and_nothing_is_kept(
    tmp_path: Path, members: dict[str, bytes | str], words: str
) -> None:
    with pytest.raises(Refused) as refused:
        open_archive(archive(tmp_path / "w.foreland", **members), tmp_path / "home")
    assert words in str(refused.value) and "\n" not in str(refused.value)
    assert not (tmp_path / "home").exists()


def test_a_name_that_leads_elsewhere_is_not_used_as_a_path(tmp_path: Path) -> None:
    open_archive(archive(tmp_path / "w.foreland", **{"../evil": "x", "/tmp/evil2": "x"}), tmp_path / "home")
    assert not (tmp_path / "evil").exists() and {f.parent.name for f in (tmp_path / "home").rglob("*.*")} == {"worlds"}


def test_damaged_archives_end_in_one_line(tmp_path: Path) -> None:
    whole = archive(tmp_path / "w.foreland").read_bytes()
    for at in range(0, len(whole), 7):
        for data in (whole[:at], whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :]):
            (tmp_path / "x.foreland").write_bytes(data)
            with suppress(Refused):
                open_archive(tmp_path / "x.foreland", tmp_path / "home")
    with pytest.raises(Refused):
        open_archive(tmp_path, tmp_path / "home")
    with pytest.raises(Refused):
        open_archive(tmp_path / "nothing.foreland", tmp_path / "home")


def test_a_kept_place_is_that_of_the_last_session_and_of_no_other(tmp_path: Path) -> None:
    def session(name: str, began: float) -> None:
        (tmp_path / "sessions" / name).mkdir(parents=True)
        line = {"kind": "session", "model": "pocket2", "prompt": "snow", "seed": 1, "t0_wall": began}
        (tmp_path / "sessions" / name / "events.jsonl").write_text(json.dumps(line) + "\n")

    session("2026-01-01", 1000.0)
    assert kept_place(tmp_path, sessions(tmp_path)[0]) is None
    keep_place(tmp_path, World("", "dusk", 1), png(), (".place", b"here"))
    place = kept_place(tmp_path, sessions(tmp_path)[0])
    assert place is not None and place.prompt == "dusk"
    assert place.begin is not None and place.begin.read_bytes() == b"here"
    session("2099-01-01", 4e9)
    assert kept_place(tmp_path, sessions(tmp_path)[0]) is None
    (tmp_path / "last" / "world.json").write_text("[")
    assert kept_place(tmp_path, sessions(tmp_path)[1]) is None
