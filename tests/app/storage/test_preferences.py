"""Preferences: what is read, what is passed over, and what is kept for another version."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.storage.preferences import PROMPTS, Preferences, PreferencesFile, load, save
from tests.full_disk import full_disk

TODAY = {
    "keymap": "my keys",
    "theme": "dark",
    "prompts": ["snow", "desert"],
    "favourites": ["desert"],
    "draft": "city",
    "keys": {"W": "forward", "Q": "turn_left"},
    "welcome": False,
    "text_scale": 1.2,
    "film_overlay": True,
    "overlay": True,
    "smooth": False,
    "volume": 0.5,
    "muted": True,
    "sound_device": "USB",
    "geometry": "01d9",
    "state": "000f",
}
"""As version 0.2 wrote it."""


def written(tmp_path: Path, data: object) -> Path:
    file = tmp_path / "preferences.json"
    text = data if isinstance(data, str) else json.dumps(data)
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    return file


def test_a_file_of_version_0_2_is_read_whole(tmp_path: Path) -> None:
    found = load(written(tmp_path, TODAY))
    assert {name: getattr(found, name) for name in TODAY} == TODAY


def test_what_is_saved_is_read_again_with_entries_of_a_newer_version(tmp_path: Path) -> None:
    file = written(tmp_path, {**TODAY, "subtitles": {"on": True}})
    found = load(file)
    found.theme = "light"
    save(found, file)
    there = {**TODAY, "schema_version": 1, "theme": "light", "subtitles": {"on": True}}
    assert json.loads(file.read_text()) == {**Preferences().model_dump(), **there}
    assert not file.with_suffix(".part").exists()


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("theme", "pink"),
        ("prompts", "snow"),
        ("keys", ["W"]),
        ("welcome", "yes"),
        ("text_scale", "big"),
        ("volume", None),
        ("volume", True),
        ("draft", 3),
    ],
)
def test_an_entry_of_a_wrong_kind_is_as_at_the_first_start_and_the_others_stay(
    tmp_path: Path, name: str, wrong: object
) -> None:
    found = load(written(tmp_path, {**TODAY, name: wrong}))
    assert getattr(found, name) == getattr(Preferences(), name)
    assert {n: getattr(found, n) for n in TODAY if n != name} == {n: x for n, x in TODAY.items() if n != name}


def test_numbers_are_brought_into_their_range_and_lists_lose_what_is_no_text(tmp_path: Path) -> None:
    found = load(
        written(tmp_path, {"volume": 7, "text_scale": 0, "prompts": ["a", 1, "b"], "keys": {"W": "fly", "S": "back"}})
    )
    assert (found.volume, found.text_scale) == (1.0, 0.8)
    assert found.prompts == ["a", "b"]
    assert found.keys == {"S": "back"}


@pytest.mark.parametrize("text", ["{", "[]", "3", '{"theme"', "[" * 100_000, " " * 5_000_000, "\ud800"])
def test_a_file_that_is_none_begins_anew_and_is_said(
    tmp_path: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    file = written(tmp_path, text)
    before = file.read_bytes()
    assert load(file) == Preferences()
    assert "they begin anew" in caplog.text
    assert file.with_suffix(".broken.json").read_bytes() == before, "a person may mend it"


def test_without_a_file_nothing_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert load(tmp_path / "none.json") == Preferences()
    assert not caplog.text


def test_prompts_are_remembered_once_and_not_for_ever() -> None:
    p = Preferences()
    for i in range(PROMPTS + 5):
        p.remember(f"{i}")
    p.remember("50")
    assert len(p.prompts) == PROMPTS
    assert p.prompts[-1] == "50" and p.prompts.count("50") == 1


def test_a_byte_order_mark_and_whole_numbers_are_nothing_and_nan_is_no_number(tmp_path: Path) -> None:
    assert load(written(tmp_path, "\ufeff" + json.dumps({**TODAY, "volume": 1, "text_scale": 2}))).volume == 1.0
    found = load(written(tmp_path, '{"volume": NaN, "text_scale": NaN, "theme": "dark"}'))
    assert (found.volume, found.text_scale, found.theme) == (0.8, 1.0, "dark")
    assert load(written(tmp_path, '{"volume": 1e999, "text_scale": -1e999}')).text_scale == 0.8


def test_what_changes_is_written_soon_and_for_this_person_only(tmp_path: Path) -> None:
    kept = PreferencesFile(tmp_path / "p.json")
    kept.value.favourites = ["snow"]
    kept.save()
    kept.close()
    assert load(tmp_path / "p.json").favourites == ["snow"]
    assert (tmp_path / "p.json").stat().st_mode & 0o777 == 0o600
    assert [f.name for f in tmp_path.iterdir()] == ["p.json"]


def test_two_windows_keep_what_both_changed(tmp_path: Path) -> None:
    first, second = PreferencesFile(tmp_path / "p.json"), PreferencesFile(tmp_path / "p.json")
    first.value.favourites = ["snow"]
    first.value.theme = "dark"
    first.value.remember("a")
    first.save()
    first._writer.submit(lambda: None).result()
    second.value.favourites = ["desert"]
    second.value.volume = 0.1
    second.value.remember("b")
    second.close()
    first.value.favourites = []
    first.close()
    found = load(tmp_path / "p.json")
    assert (found.theme, found.volume, found.favourites, found.prompts) == ("dark", 0.1, ["desert"], ["a", "b"])


def test_a_full_disk_is_said_once_and_the_file_stays(tmp_path: Path) -> None:
    said: list[str] = []
    kept = PreferencesFile(tmp_path / "p.json", said.append)
    kept.value.theme = "dark"
    kept.save()
    kept._writer.submit(lambda: None).result()
    with full_disk(20):
        for volume in (0.1, 0.2):
            kept.value.volume = volume
            kept.save()
        kept.close()
    assert len(said) == 1 and "could not be written" in said[0]
    assert load(tmp_path / "p.json").theme == "dark"
    assert [f.name for f in tmp_path.iterdir()] == ["p.json"]


def test_prompts_and_drafts_are_not_remembered_where_they_are_private(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORELAND_PRIVATE", "1")
    p = Preferences()
    p.remember("a secret")
    assert p.prompts == []
