"""What the program remembers of a person between two starts: one JSON file, written whole or not at all."""

from __future__ import annotations

import codecs
import json
import logging
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    field_validator,
)

from engine.files import FileError, is_text, read_bytes, write_whole
from engine.runtime.keymap import ACTIONS
from engine.user_data import private

log = logging.getLogger(__name__)

THEMES = ("system", "dark", "light")
OWN_KEYS = "my keys"
PROMPTS = 100
"""Prompts of the history that are remembered."""
LEAST_TEXT_SCALE, MOST_TEXT_SCALE = 0.8, 2.0


def _within(low: float, high: float) -> BeforeValidator:
    """A number is brought into the range; what is none is refused by the type, and so is NaN."""

    def within(x: Any) -> Any:
        if isinstance(x, bool) or not isinstance(x, (int, float)) or x != x:
            return None
        return float(min(max(x, low), high))

    return BeforeValidator(within)


def _texts(value: Any) -> Any:
    return [x for x in value if isinstance(x, str)] if isinstance(value, list) else value


def _keys(value: Any) -> Any:
    return {k: a for k, a in value.items() if a in ACTIONS} if isinstance(value, dict) else value


class Preferences(BaseModel):
    """Read leniently: an entry of a wrong kind is as at the first start. Entries of newer versions are kept and written again."""

    model_config = ConfigDict(strict=True, extra="allow", use_attribute_docstrings=True)

    schema_version: int = 1
    keymap: str = ""
    """A name of assets/keymaps.json, or OWN_KEYS for `keys`; empty for the first."""
    theme: Annotated[str, Field(pattern=f"^({'|'.join(THEMES)})$")] = "system"
    prompts: Annotated[list[str], BeforeValidator(_texts)] = Field(default_factory=list)
    """Prompts that were applied, the oldest first."""
    favourites: Annotated[list[str], BeforeValidator(_texts)] = Field(default_factory=list)
    draft: str = ""
    """An edit of the prompt that was not applied."""
    keys: Annotated[dict[str, str], BeforeValidator(_keys)] = Field(default_factory=dict)
    """The person's own key map: key to action."""
    welcome: bool = True
    """Whether the welcome page is shown at the start."""
    still: bool = False
    """Whether nothing moves by itself in the window but the world."""
    mouse_sensitivity: Annotated[float, _within(0.1, 5.0)] = 1.0
    """Of mouse look: 2 turns twice as far."""
    coached: bool = False
    """Whether the first steps were shown."""
    language: str = "system"
    """A language of `app.language`, or the system's."""
    overlay_full: bool = True
    """Whether the overlay has its full form."""
    text_scale: Annotated[float, _within(LEAST_TEXT_SCALE, MOST_TEXT_SCALE)] = 1.0
    """Of all text; 0.8 to 2."""
    film_overlay: bool = False
    """Whether films have the overlay."""
    overlay: bool = False
    """Whether the overlay is shown."""
    smooth: bool = True
    """Smooth instead of crisp pixels."""
    volume: Annotated[float, _within(0.0, 1.0)] = 0.8
    """0 to 1."""
    muted: bool = False
    sound_device: str = ""
    """A name, or empty for the system's own."""
    geometry: str = ""
    """Of the window, as Qt saves it, in hex."""
    side_page: str = ""
    """The page of the side bar that was open, '' for none."""
    side_width: Annotated[int, Field(ge=0)] = 0
    """Of the side bar, pixels; 0 for the usual."""

    @field_validator("*", mode="wrap")
    @classmethod
    def _or_default(cls, value: Any, read: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
        try:
            return read(value)
        except ValidationError as e:
            log.warning(
                "preferences: %s is %.40r: %s; it is as at the first start",
                info.field_name,
                value,
                e.errors()[0]["msg"],
            )
            return cls.model_fields[info.field_name or ""].get_default(call_default_factory=True)

    def remember(self, prompt: str) -> None:
        """A prompt that was applied; the newest last, each once."""
        if not is_text(prompt) or private():
            return
        kept = [p for p in self.prompts if p != prompt]
        self.prompts = [*kept[-PROMPTS + 1 :], prompt]


def load(file: Path) -> Preferences:
    """From a file; what is missing or of a wrong kind is as at the first start."""
    if not os.path.lexists(file):
        return Preferences()
    try:
        return Preferences.model_validate_json(read_bytes(file).removeprefix(codecs.BOM_UTF8))
    except (FileError, ValidationError) as e:
        reason = e.errors()[0]["msg"] if isinstance(e, ValidationError) else str(e)
        log.warning(
            "the preferences in %s cannot be read (%s); they begin anew, the file stays as %s",
            file,
            reason,
            _aside(file),
        )
    return Preferences()


def _aside(file: Path) -> str:
    """A file that cannot be read is kept under another name: a person may mend it."""
    other = file.with_suffix(".broken.json")
    try:
        os.replace(file, other)
    except OSError:
        return file.name
    return other.name


def save(preferences: Preferences, file: Path) -> None:
    """Raises OSError; the old file stays then."""
    write_whole(file, (json.dumps(preferences.model_dump(), indent=2) + "\n").encode())


class PreferencesFile:
    """Preferences and the file that they are kept in: written a moment after they change, beside the window's thread.

    Two windows may share the file: what this one changed is laid over what the other one wrote.
    """

    def __init__(self, file: Path | None, on_error: Callable[[str], None] = lambda sentence: None) -> None:
        """file: None for preferences that do not last. on_error: hears once that they cannot be written, from any thread."""
        self._file, self._on_error = file, on_error
        self.value = load(file) if file is not None else Preferences()
        self._known = self.value.model_dump()
        self._said = False
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="foreland-preferences")

    def save(self) -> None:
        """Writes what has changed since it was called last; nothing when nothing has."""
        now = self.value.model_dump()
        if self._file is not None and now != self._known:
            before, self._known = self._known, now
            self._writer.submit(self._write, self._file, before, now)

    def close(self) -> None:
        """Writes what is left, and waits for it."""
        self.save()
        self._writer.shutdown()

    def _write(self, file: Path, before: dict[str, Any], now: dict[str, Any]) -> None:
        try:
            there = load(file).model_dump() if os.path.lexists(file) else before
            save(Preferences.model_validate(merged(before, now, there)), file)
        except (OSError, ValueError) as e:
            log.warning("the preferences could not be written: %s", e)
            if not self._said:
                self._on_error(f"the preferences could not be written to {file}: {e}")
            self._said = True


def merged(before: Mapping[str, Any], now: Mapping[str, Any], there: Mapping[str, Any]) -> dict[str, Any]:
    """What one window changed from `before` to `now`, laid over what another one wrote meanwhile. Lists keep what either added."""
    out = dict(there)
    for name, value in now.items():
        old = before.get(name)
        if value == old:
            continue
        others = there.get(name)
        if isinstance(value, list) and isinstance(old, list) and isinstance(others, list):
            gone = [x for x in old if x not in value]
            # what was said again has moved to the end
            added = [x for x in value if x not in old or value.index(x) != old.index(x)]
            value = [x for x in others if x not in gone and x not in added] + added
            value = value[-PROMPTS:] if name == "prompts" else value
        out[name] = value
    return out
