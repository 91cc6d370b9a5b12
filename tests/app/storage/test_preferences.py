"""Preferences: what is read, what is passed over, and what is kept for another version."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.storage.preferences import PROMPTS, Preferences, load, save

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
    file.write_text(data if isinstance(data, str) else json.dumps(data))
    return file


def test_a_file_of_version_0_2_is_read_whole(tmp_path: Path) -> None:
    found = load(written(tmp_path, TODAY))
    assert {name: getattr(found, name) for name in TODAY} == TODAY


def test_what_is_saved_is_read_again_with_entries_of_a_newer_version(tmp_path: Path) -> None:
    file = written(tmp_path, {**TODAY, "subtitles": {"on": True}})
    found = load(file)
    found.theme = "light"
    save(found, file)
    assert json.loads(file.read_text()) == {**TODAY, "schema_version": 1, "theme": "light", "subtitles": {"on": True}}
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


@pytest.mark.parametrize("text", ["{", "[]", "3", '{"theme"', "\ufeff{}"])
def test_a_file_that_is_none_begins_anew_and_is_said(
    tmp_path: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert load(written(tmp_path, text)) == Preferences()
    assert "they begin anew" in caplog.text


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
