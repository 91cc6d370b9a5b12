"""Worlds and past sessions in the data folder."""

from __future__ import annotations

import json
import logging
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.storage.worlds import World, read_world, save_world, sessions, worlds
from engine.documents import DocumentError
from engine.models.catalogue import DEFAULT


def test_a_world_of_version_0_2_is_read(tmp_path: Path) -> None:
    file = tmp_path / "lake.json"
    file.write_text('{"name": "Lake", "prompt": "snow", "seed": 3, "model": "pocket", "begin": "lake-begin.png"}')
    file.with_suffix(".png").write_bytes(b"png")
    assert read_world(file) == World(
        "Lake", "snow", 3, "pocket", tmp_path / "lake-begin.png", tmp_path / "lake.png", file, own=True
    )


def test_what_a_person_leaves_out_has_a_default_and_unknown_entries_are_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "lake.json"
    file.write_text('{"prompt": "snow", "seed": 3, "begin": null, "by": "me"}')
    assert read_world(file) == World("lake", "snow", 3, DEFAULT, None, None, file, own=True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "this is not JSON"),
        ('{"prompt": "snow"}', "seed is missing"),
        ('{"prompt": "", "seed": 1}', "prompt: the text is empty"),
        ('{"prompt": "snow", "seed": "1"}', "seed: '1' is not a whole number"),
        ('{"prompt": "snow", "seed": -1}', "seed: -1 is out of range: at least 0"),
        ('{"prompt": "snow", "seed": 1, "schema_version": 2}', "schema_version: 2 is unknown; known: 1"),
    ],
)
def test_a_file_that_is_no_world_is_refused_by_name_and_place(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "lake.json"
    file.write_text(text)
    with pytest.raises(DocumentError, match=f"{file}: {words}"):
        read_world(file)


def test_a_saved_world_is_found_first_with_its_picture_and_a_second_one_gets_a_name_of_its_own(tmp_path: Path) -> None:
    begin = tmp_path / "begin.jpg"
    begin.write_bytes(b"jpg")
    for seed in (1, 2):
        save_world(tmp_path, World("A / lake", "snow", seed, begin=begin), b"png")
    own = [w for w in worlds(tmp_path) if w.file is not None and w.file.parent == tmp_path / "worlds"]
    assert sorted(w.seed for w in own) == [1, 2]
    assert {w.file.stem for w in own if w.file is not None} == {"A-lake", "A-lake-2"}
    for w in own:
        assert w.thumbnail is not None and w.thumbnail.read_bytes() == b"png"
        assert w.begin is not None and w.begin.read_bytes() == b"jpg"
    assert worlds(tmp_path)[: len(own)] == own


def test_a_world_that_cannot_be_read_is_left_out_and_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "worlds").mkdir()
    (tmp_path / "worlds" / "bad.json").write_text("{")
    with caplog.at_level(logging.WARNING):
        assert worlds(tmp_path) == worlds(None)
    assert "bad.json" in caplog.text


def test_all_worlds_that_ship_can_be_read() -> None:
    assert len(worlds(None)) == 8
    assert all(w.thumbnail is not None for w in worlds(None))


def test_past_sessions_come_newest_first_and_those_without_a_log_are_left_out(tmp_path: Path) -> None:
    for day, head in (("1", {"model": "pocket", "prompt": "snow", "seed": 1}), ("2", {"model": "pocket"}), ("3", None)):
        folder = tmp_path / "sessions" / day
        folder.mkdir(parents=True)
        if head is not None:
            (folder / "events.jsonl").write_text(json.dumps(head) + "\n")
    late = tmp_path / "sessions" / "4"
    late.mkdir()
    (late / "events.jsonl").write_text(json.dumps({"model": "m", "prompt": "p", "seed": 2}) + "\n")
    (late / "summary.json").write_text(json.dumps({"frames_shown": 48, "fps": 24}))
    long = tmp_path / "sessions" / "0"
    long.mkdir()
    (long / "events.jsonl").write_text(json.dumps({"model": "m", "prompt": "p", "seed": 2}) + "\n")
    (long / "summary.json").write_text('{"frames_shown": 1' + "0" * 400 + "}")
    found = sessions(tmp_path)
    assert (found[-1].folder.name, found[-1].seconds) == ("0", 0.0)
    found = found[:-1]
    assert [(s.folder.name, s.model, s.seed, s.seconds) for s in found] == [("4", "m", 2, 2.0), ("1", "pocket", 1, 0.0)]
    assert [s.folder.name for s in sessions(tmp_path, most=1)] == ["4"]


BROKEN = {
    "deep": "[" * 100_000,
    "deep object": '{"a":' * 50_000,
    "begin of another kind": '{"prompt": "x", "seed": 1, "begin": 5}',
    "a name with a null": '{"prompt": "x", "seed": 1, "begin": "a\\u0000b"}',
    "a huge seed": '{"prompt": "x", "seed": 99999999999999999999999}',
    "too many digits": '{"prompt": "x", "seed": ' + "9" * 5000 + "}",
    "infinite": '{"prompt": "x", "seed": Infinity}',
    "a list for a model": '{"prompt": "x", "seed": 1, "model": ["a"]}',
    "half a character": '{"prompt": "\\ud800", "seed": 1}',
    "another file of the machine": '{"prompt": "x", "seed": 1, "begin": "/etc/passwd"}',
    "a file outside": '{"prompt": "x", "seed": 1, "begin": "../../secret.png"}',
    "a list": "[]",
    "nothing": "",
    "bytes": b"\xff\xfe\x00",
    "large": b" " * 5_000_000,
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_one_bad_world_hides_no_other_and_names_no_file_outside(tmp_path: Path, text: str | bytes) -> None:
    (tmp_path / "worlds").mkdir()
    bad = tmp_path / "worlds" / "bad.json"
    bad.write_bytes(text if isinstance(text, bytes) else text.encode())
    (tmp_path / "worlds" / "good.json").write_bytes(b'\xef\xbb\xbf{"prompt": "snow", "seed": 1}')
    assert next(w.name for w in worlds(tmp_path)) == "good"
    with pytest.raises(ValueError, match=r"bad\.json") as e:
        read_world(bad)
    assert len(str(e.value)) < 1000 and "\n" not in str(e.value)


def test_what_is_no_ordinary_file_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "worlds").mkdir()
    os.mkfifo(tmp_path / "worlds" / "pipe.json")
    (tmp_path / "worlds" / "zero.json").symlink_to("/dev/zero")
    (tmp_path / "worlds" / "gone.json").symlink_to("/nowhere")
    (tmp_path / "worlds" / "loop.json").symlink_to(tmp_path / "worlds" / "loop.json")
    (tmp_path / "worlds" / "folder.json").mkdir()
    assert worlds(tmp_path) == worlds(None)


@pytest.mark.parametrize("head", ["[1]", "[" * 100_000, "5", '{"model":5,"prompt":7,"seed":1}', '{"seed":Infinity}'])
@pytest.mark.parametrize("end", ["[1]", '{"frames_sho', '{"frames_shown": null}', "[" * 100_000])
def test_one_bad_session_hides_no_other(tmp_path: Path, head: str, end: str) -> None:
    good = '{"model":"pocket","prompt":"x","seed":1}'
    for name, first in (("bad", head), ("good", good)):
        folder = tmp_path / "sessions" / name
        folder.mkdir(parents=True)
        (folder / "events.jsonl").write_text(first + "\n")
        (folder / "summary.json").write_text(end)
    assert [(s.folder.name, s.seconds) for s in sessions(tmp_path)] == [("good", 0.0)]


def test_worlds_saved_at_one_time_all_exist_and_only_the_person_can_read_them(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        files = list(pool.map(lambda seed: save_world(tmp_path, World("snow", "snow", seed), b"png"), range(8)))
    assert len(set(files)) == 8
    assert {read_world(f).seed for f in files} == set(range(8))
    assert {f.stat().st_mode & 0o777 for f in files} == {0o600}
    name = "ä" * 300
    assert read_world(save_world(tmp_path, World(name, "snow", 1), b"png")).name == name
