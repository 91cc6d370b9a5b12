"""JSON files that a person may write: read through a pydantic model, refused in one kind of sentence.

A sentence says which file, the place in it, what is wrong there, and what is allowed: ``the script: entry 2 of events: t: -1 is out of
range: at least 0``.
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, StringConstraints, TypeAdapter, ValidationError, model_validator

from engine.errors import Refused
from engine.files import is_text, read_bytes

T = TypeVar("T")
Text = Annotated[str, StringConstraints(pattern=r"\S")]
"""Text that is more than blanks."""
TYPES = {
    "string": "a text",
    "float": "a number",
    "int": "a whole number",
    "bool": "true or false",
    "list": "a list",
    "tuple": "a list",
    "dict": "an object",
    "model": "an object",
    "model_attributes": "an object",
}
LONGEST_SENTENCE = 400
BOUNDS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}


class DocumentError(Refused):
    """A file that cannot be read as what it should be; one line."""


class OpenDocument(BaseModel):
    """A JSON object. Numbers are numbers and not texts, finite ones; entries that are not known are passed over."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False, frozen=True, use_attribute_docstrings=True)


class Document(OpenDocument):
    """The same, and an entry that is not known is a mistake."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _known_entries(cls, data: Any) -> Any:
        if isinstance(data, dict) and (unknown := [name for name in data if name not in cls.model_fields]):
            raise ValueError(f"unknown entry {_shown(unknown[0])}; known: {', '.join(cls.model_fields)}")
        return data


def read_document(kind: TypeAdapter[T], text: str | bytes, name: str, context: Any = None) -> T:
    """Reads JSON, with or without a byte order mark. name: of the file, as it is called in the sentence; context: for validators.
    Raises DocumentError."""
    if isinstance(text, bytes):
        text = text.removeprefix(codecs.BOM_UTF8)
    elif not is_text(text := text.removeprefix("\ufeff")):
        raise DocumentError(f"{name}: the text holds half a character (a lone surrogate)")
    try:
        return kind.validate_json(text, context=context)
    except ValidationError as e:
        first, *more = e.errors(include_url=False)
        rest = f" (and {len(more)} more)" if more else ""
        raise DocumentError(f"{name}: {_cut(_sentence(first), LONGEST_SENTENCE)}{rest}") from e


def read_document_file(kind: TypeAdapter[T], file: Path, name: str | None = None, context: Any = None) -> T:
    """Reads a JSON file within the limits of `engine.files`. name: in the sentence, the file's path where there is none. Raises
    FileError or DocumentError."""
    return read_document(kind, read_bytes(file), name or str(file), context)


def _sentence(error: Mapping[str, Any]) -> str:
    kind, context, value = error["type"], error.get("ctx", {}), error["input"]
    place = tuple(error["loc"])
    if kind == "json_invalid":
        return f"this is not JSON: {context['error']}"
    if kind == "missing":
        return f"{_place(place[:-1])}{place[-1]} is missing"
    return _place(place) + _wrong(kind, context, value, str(error["msg"]))


def _wrong(kind: str, context: Mapping[str, Any], value: Any, message: str) -> str:
    """What is wrong with a value, and what is allowed."""
    if kind.removesuffix("_type") in TYPES:
        return f"{_shown(value)} is not {TYPES[kind.removesuffix('_type')]}"
    if kind == "finite_number":
        return f"{value} is not a finite number"
    if kind == "string_pattern_mismatch" and context.get("pattern") == r"\S":
        return "the text is empty"
    if kind in ("literal_error", "enum"):
        return f"{_shown(value)} is unknown; known: {context['expected'].replace(' or ', ', ')}"
    for bound, words in BOUNDS.items():
        if bound in context:
            return f"{_shown(value)} is out of range: {words} {context[bound]:g}"
    return message.removeprefix("Value error, ")


def _place(path: Sequence[str | int]) -> str:
    """``("events", 1, "t")`` to ``entry 2 of events: t: ``; tags of a union, in <>, are left out."""
    words: list[str] = []
    for step in path:
        if isinstance(step, str):
            words += [] if step.startswith("<") else [step]
        elif words:
            words[-1] = f"entry {step + 1} of {words[-1]}"
        else:
            words.append(f"entry {step + 1}")
    return "".join(f"{w}: " for w in words)


def _shown(value: Any) -> str:
    return _cut(repr(value), 40)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."
