"""The keys as a Markdown table, for the help and for the guide.

`python -m app.window.key_help FILE ...` renews the tables in Markdown files between the two comments; a test compares.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from app.language import marked, tr
from app.window.actions import ACTIONS
from engine.runtime.keymap import load_keymap

BEGIN = "<!-- keys: made by `python -m app.window.key_help FILE` from app/window/actions.py -->"
END = "<!-- end of the keys -->"
CAMERA = (
    (("forward", "left", "back", "right"), marked("move"), ""),
    (
        ("turn_left", "turn_right", "look_up", "look_down"),
        marked("turn and look"),
        marked("the right mouse button held and moved"),
    ),
    (("rise", "sink"), marked("rise, sink"), ""),
)
"""Actions of the camera, what they do together, and what else does it."""


def keys_of(keymap: Mapping[str, str], actions: tuple[str, ...]) -> str:
    """The names of their keys, in the order of the actions."""
    return " ".join(key for action in actions for key, does in keymap.items() if does == action)


def key_rows(keymap: Mapping[str, str]) -> list[tuple[str, str]]:
    """Keys and what they do: those of the camera, of the prompt, then every shortcut in the order of the menus."""
    camera = [
        (tr(", or ").join(x for x in (keys_of(keymap, actions), other and tr(other)) if x) or tr("none"), tr(does))
        for actions, does, other in CAMERA
    ]
    prompt = [
        (
            "Enter, /",
            tr("go to the prompt box; there Enter applies, Esc leaves, Up and Down walk through the history"),
        )
    ]
    shortcuts = [(a.shortcut, tr(a.help) if a.help else a.name.lower()) for a in ACTIONS if a.shortcut]
    return camera + prompt + shortcuts


def key_table(keymap: Mapping[str, str]) -> str:
    """`key_rows` in Markdown."""
    return "\n".join(
        [tr("| keys | do |"), "| --- | --- |", *(f"| {keys} | {does} |" for keys, does in key_rows(keymap))]
    )


def renewed(text: str) -> str:
    """A Markdown text with its table of keys made again. Raises ValueError where it has no place for one."""
    head, begin, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"no place for the keys: it is between {BEGIN} and {END}")
    return f"{head}{BEGIN}\n{key_table(load_keymap())}\n{END}{tail}"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        file = Path(name)
        file.write_text(renewed(file.read_text("utf-8")), "utf-8")
