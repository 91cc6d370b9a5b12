"""Scripts: what is read, and what is refused with one clear line."""

import json

import pytest

from engine.runtime.keymap import load_keymap
from engine.runtime.script import ScriptError, parse_script

KEYS = load_keymap()


def test_a_script_is_read_in_order_of_time() -> None:
    events = [{"t": 2, "prompt": "b"}, {"t": 1.0, "key": "D", "action": "down"}]
    s = parse_script(json.dumps({"prompt": "a", "seconds": 3, "events": events}), KEYS)
    assert [(e.t, e.what, e.value) for e in s.events] == [(1.0, "down", "right"), (2.0, "prompt", "b")]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("{", "not JSON"),
        ("[]", "must be a JSON object"),
        ('{"prompt": "a", "second": 3}', "unknown entries: second"),
        ('{"prompt": "  "}', "prompt must be a text"),
        ('{"prompt": "a", "seconds": 0}', "out of range"),
        ('{"prompt": "a", "seconds": "x"}', "must be a number"),
        ('{"prompt": "a", "seconds": NaN}', "must be a number"),
        ('{"prompt": "a", "events": [{"t": -1, "prompt": "b"}]}', "negative"),
        ('{"prompt": "a", "events": [{"t": 1, "key": "Q", "action": "down"}]}', "unknown key 'Q'"),
        ('{"prompt": "a", "events": [{"t": 1, "key": "W", "action": "hit"}]}', "must be down or up"),
        ('{"prompt": "a", "events": [{"t": 1, "prompt": ""}]}', "not empty"),
        ('{"prompt": "a", "events": [{"t": 1}]}', "event 1 must have"),
        ('{"prompt": "a", "events": [3]}', "must be an object"),
    ],
)
def test_bad_scripts_are_refused(data: str, words: str) -> None:
    with pytest.raises(ScriptError, match=words):
        parse_script(data, KEYS)


def test_a_key_map_with_an_unknown_action_is_refused() -> None:
    with pytest.raises(ValueError, match="mapped to 'fly'"):
        load_keymap('{"W": "fly"}')
