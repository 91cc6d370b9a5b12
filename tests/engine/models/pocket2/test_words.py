"""What a prompt says, and which of its words say nothing."""

from __future__ import annotations

import json

import pytest

from engine.assets import FOLDER
from engine.models.pocket2.words import read


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("forest at dusk with a spaceship", "read as: autumn, dusk; not understood: spaceship"),
        ("asdf qwer", "not understood: asdf, qwer"),
        ("Wald bei Nacht ohne Raumschiff", "read as: autumn, night; not understood: raumschiff"),
        ("green meadow at noon", "read as: meadow, noon"),
        ("snowy mountains at noon", "read as: snow, noon"),
        ("one two three four five six elephants", "not understood: one, two, three, four"),
    ],
)
def test_words_that_say_nothing_are_named(prompt: str, said: str) -> None:
    assert str(read(prompt)) == said


def test_no_prompt_that_ships_has_words_that_say_nothing() -> None:
    prompts = json.loads((FOLDER / "presets.json").read_text("utf-8"))
    prompts += [json.loads(f.read_text("utf-8"))["prompt"] for f in sorted((FOLDER / "worlds").glob("*.json"))]
    assert [p for p in prompts if read(p).strange] == []
