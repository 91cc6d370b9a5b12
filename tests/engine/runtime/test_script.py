"""Scripts: what is read, and what is refused with one clear line."""

import json

import pytest

from engine.assets import FOLDER
from engine.runtime.keymap import ACTIONS, load_keymap, presets
from engine.runtime.script import ScriptError, parse_script

KEYS = load_keymap()


def test_a_script_is_read_in_order_of_time() -> None:
    events = [{"t": 2, "prompt": "b"}, {"t": 1.0, "key": "D", "action": "down"}]
    s = parse_script(json.dumps({"prompt": "a", "seconds": 3, "events": events}), KEYS)
    assert [(e.t, e.what, e.value) for e in s.events] == [(1.0, "down", "right"), (2.0, "prompt", "b")]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("{", "the script: this is not JSON: EOF while parsing an object at line 1 column 1"),
        ("[]", r"\[\] is not an object"),
        ('{"seconds": 3}', "the script: prompt is missing"),
        ('{"prompt": "a", "second": 3}', "unknown entry 'second'; known: schema_version, prompt, seconds, events"),
        ('{"prompt": "  "}', "prompt: the text is empty"),
        ('{"prompt": "a", "seconds": 0}', "seconds: 0 is out of range: more than 0"),
        ('{"prompt": "a", "seconds": 1e6}', "seconds: 1000000.0 is out of range: at most 86400"),
        ('{"prompt": "a", "seconds": "x"}', "seconds: 'x' is not a number"),
        ('{"prompt": "a", "seconds": NaN}', "not a finite number"),
        ('{"prompt": "a", "schema_version": 2}', "schema_version: 2 is unknown; known: 1"),
        ('{"prompt": "a", "events": {}}', "events: {} is not a list"),
        (
            '{"prompt": "a", "events": [{"t": -1, "prompt": "b"}]}',
            "entry 1 of events: t: -1 is out of range: at least 0",
        ),
        ('{"prompt": "a", "events": [{"t": true, "prompt": "b"}]}', "entry 1 of events: t: True is not a number"),
        (
            '{"prompt": "a", "events": [{"t": 1, "key": "Q", "action": "down"}]}',
            "key: 'Q' is unknown; the key map has W",
        ),
        ('{"prompt": "a", "events": [{"t": 1, "key": "W", "action": "hit"}]}', "'hit' is unknown; known: 'down', 'up'"),
        ('{"prompt": "a", "events": [{"t": 1, "prompt": ""}]}', "entry 1 of events: prompt: the text is empty"),
        ('{"prompt": "a", "events": [{"t": 1, "prompt": "b", "key": "W"}]}', "unknown entry 'key'"),
        ('{"prompt": "a", "events": [{"t": 1}]}', "an entry is an object with t and key and action, or t and prompt"),
        ('{"prompt": "a", "events": [3]}', "entry 1 of events: an entry is an object"),
        ('{"prompt": " ", "seconds": 0}', r"the text is empty \(and 1 more\)"),
    ],
)
def test_bad_scripts_are_refused_with_place_and_what_is_allowed(data: str, words: str) -> None:
    with pytest.raises(ScriptError, match=words):
        parse_script(data, KEYS)


@pytest.mark.parametrize("name", ["demo-script.json", "wander-script.json"])
def test_the_scripts_that_ship_can_be_played(name: str) -> None:
    script = parse_script((FOLDER / name).read_text("utf-8"), KEYS, name)
    assert script.prompt and script.seconds > 0


def test_the_key_maps_that_ship_move_the_camera_every_way() -> None:
    for name, table in {"": KEYS, **presets()}.items():
        assert {"forward", "back", "turn_left", "turn_right"} <= set(table.values()) <= set(ACTIONS), name


def test_a_key_map_with_an_unknown_action_is_refused() -> None:
    with pytest.raises(ValueError, match="the key map: W: 'fly' is unknown; known: 'forward'"):
        load_keymap('{"W": "fly"}')
