"""What the program remembers of a person between two starts: one JSON file, written whole or not at all."""

from __future__ import annotations

import logging
import os
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

from engine.runtime.keymap import ACTIONS

log = logging.getLogger(__name__)

THEMES = ("system", "dark", "light")
OWN_KEYS = "my keys"
PROMPTS = 100
"""Prompts of the history that are remembered."""
LEAST_TEXT_SCALE, MOST_TEXT_SCALE = 0.8, 2.0


def _within(low: float, high: float) -> BeforeValidator:
    """A number is brought into the range; what is none is refused by the type."""
    return BeforeValidator(
        lambda x: min(max(float(x), low), high) if isinstance(x, (int, float)) and not isinstance(x, bool) else x
    )


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
        kept = [p for p in self.prompts if p != prompt]
        self.prompts = [*kept[-PROMPTS + 1 :], prompt]


def load(file: Path) -> Preferences:
    """From a file; what is missing or of a wrong kind is as at the first start."""
    try:
        return Preferences.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        pass
    except (OSError, ValidationError) as e:
        reason = str(e).splitlines()[0] if isinstance(e, OSError) else e.errors()[0]["msg"]
        log.warning("the preferences in %s cannot be read (%s); they begin anew", file, reason)
    return Preferences()


def save(preferences: Preferences, file: Path) -> None:
    """Raises OSError; the old file stays then."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    part.write_text(preferences.model_dump_json(indent=2) + "\n", encoding="utf-8")
    os.replace(part, file)
