"""Key scripts: what a person would do, as data, for headless runs and benchmarks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, TypeAdapter, ValidationInfo, field_validator

from engine.documents import Document, DocumentError, Text, read_document

LONGEST_SECONDS = 24 * 3600.0
Seconds = Annotated[float, Field(ge=0, le=LONGEST_SECONDS)]


class ScriptError(DocumentError):
    """A script that cannot be run; the message names the place and what is allowed."""


@dataclass(frozen=True)
class ScriptEvent:
    """t: seconds of media time. what: down, up or prompt. value: an action of the key map, or the prompt."""

    t: float
    what: str
    value: str


@dataclass(frozen=True)
class Script:
    """events: in order of time; those of one instant keep their order in the file."""

    prompt: str
    seconds: float
    events: tuple[ScriptEvent, ...]


class KeyEntry(Document):
    """A key goes down or up."""

    t: Seconds
    """Seconds of media time; 0 is the first shown frame."""
    key: str
    """A key of the key map, such as W or Left."""
    action: Literal["down", "up"]

    @field_validator("key")
    @classmethod
    def _known(cls, key: str, info: ValidationInfo) -> str:
        if info.context is not None and key not in info.context:
            raise ValueError(f"{key!r} is unknown; the key map has {', '.join(info.context)}")
        return key


class PromptEntry(Document):
    """The prompt changes."""

    t: Seconds
    """Seconds of media time; 0 is the first shown frame."""
    prompt: Text


def _kind(entry: Any) -> str | None:
    if isinstance(entry, dict):
        return "<prompt>" if "prompt" in entry else "<key>" if "key" in entry or "action" in entry else None
    return None


Entry = Annotated[
    Annotated[KeyEntry, Tag("<key>")] | Annotated[PromptEntry, Tag("<prompt>")],
    Discriminator(
        _kind,
        custom_error_type="entry",
        custom_error_message="an entry is an object with t and key and action, or t and prompt",
    ),
]


class ScriptFile(Document):
    """A key script as a file."""

    schema_version: Literal[1] = 1
    prompt: Text
    """Of the world to begin with."""
    seconds: Annotated[float, Field(gt=0, le=LONGEST_SECONDS)] = 12.0
    """Of media time that are played."""
    events: list[Entry] = Field(default_factory=list)


SCRIPT_FILE = TypeAdapter(ScriptFile)


def parse_script(text: str, keymap: Mapping[str, str], name: str = "the script") -> Script:
    """Reads the JSON of a script; `name` is the file's in errors. Raises ScriptError."""
    try:
        file = read_document(SCRIPT_FILE, text, name, context=keymap)
    except DocumentError as e:
        raise ScriptError(str(e)) from e
    events = [
        ScriptEvent(x.t, "prompt", x.prompt)
        if isinstance(x, PromptEntry)
        else ScriptEvent(x.t, x.action, keymap[x.key])
        for x in file.events
    ]
    return Script(file.prompt, file.seconds, tuple(sorted(events, key=lambda e: e.t)))
