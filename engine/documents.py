"""JSON files that a person may write: read through a pydantic model, refused in one kind of sentence.

A sentence says which file, the place in it, what is wrong there, and what is allowed: ``the script: entry 2 of events: t: -1 is out of
range: at least 0``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, StringConstraints, TypeAdapter, ValidationError, model_validator

from engine.errors import Refused

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
            raise ValueError(f"unknown entry {unknown[0]!r}; known: {', '.join(cls.model_fields)}")
        return data


def read_document(kind: TypeAdapter[T], text: str | bytes, name: str, context: Any = None) -> T:
    """Reads JSON. name: of the file, as it is called in the sentence; context: for validators. Raises DocumentError."""
    try:
        return kind.validate_json(text, context=context)
    except ValidationError as e:
        first, *more = e.errors(include_url=False)
        rest = f" (and {len(more)} more)" if more else ""
        raise DocumentError(f"{name}: {_sentence(first)}{rest}") from e


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
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
