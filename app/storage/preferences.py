"""What the program remembers of a person between two starts: one JSON file, written whole or not at all."""

from __future__ import annotations

import json
import logging
import os
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from engine.runtime.keymap import ACTIONS

log = logging.getLogger(__name__)

THEMES = ("system", "dark", "light")
OWN_KEYS = "my keys"
PROMPTS = 100
"""Prompts of the history that are remembered."""


@dataclass
class Preferences:
    """keymap: a name of assets/keymaps.json, or OWN_KEYS for `keys`. prompts: oldest first. draft: an edit of the prompt that was not
    applied. welcome: whether the welcome page is shown at the start. text_scale: of all text. film_overlay: whether films have the
    overlay. volume: in [0, 1]. sound_device: a name, '' for the system's own. geometry, state: of the window, as Qt saves them, in hex.
    """

    keymap: str = ""
    theme: str = "system"
    prompts: list[str] = field(default_factory=list)
    favourites: list[str] = field(default_factory=list)
    draft: str = ""
    keys: dict[str, str] = field(default_factory=dict)
    welcome: bool = True
    text_scale: float = 1.0
    film_overlay: bool = False
    overlay: bool = False
    smooth: bool = True
    volume: float = 0.8
    muted: bool = False
    sound_device: str = ""
    geometry: str = ""
    state: str = ""

    def remember(self, prompt: str) -> None:
        """A prompt that was applied; the newest last, each once."""
        kept = [p for p in self.prompts if p != prompt]
        self.prompts = [*kept[-PROMPTS + 1 :], prompt]


def load(file: Path) -> Preferences:
    """From a file; what is missing or of a wrong kind is as at the first start."""
    out = Preferences()
    try:
        data = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return out
    except (OSError, ValueError) as e:
        log.warning("the preferences in %s cannot be read (%s); they begin anew", file, e)
        return out
    if isinstance(data, dict):
        for f in fields(Preferences):
            value = data.get(f.name)
            if isinstance(value, type(getattr(out, f.name))):
                setattr(out, f.name, value)
    out.volume = min(max(out.volume, 0.0), 1.0)
    out.prompts = [p for p in out.prompts if isinstance(p, str)]
    out.favourites = [p for p in out.favourites if isinstance(p, str)]
    out.keys = {k: a for k, a in out.keys.items() if isinstance(k, str) and a in ACTIONS}
    out.text_scale = min(max(out.text_scale, 0.8), 2.0)
    out.theme = out.theme if out.theme in THEMES else "system"
    return out


def save(preferences: Preferences, file: Path) -> None:
    """Raises OSError; the old file stays then."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    part.write_text(json.dumps(asdict(preferences), indent=2) + "\n", encoding="utf-8")
    os.replace(part, file)
