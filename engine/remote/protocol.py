"""What goes over the line between a window and an engine somewhere else: the messages, and how they become bytes.

One message is the length of its header (4 bytes, big-endian), the header (JSON in UTF-8, an object with `kind`), and a payload of
bytes, which may be empty. Both sides check every message against the classes here before anything is done with it, and take what does
not fit for the end of the line. Times are seconds of the server's clock.

Only what the server's player has started is sent, so nothing on the wire is ever taken back.
"""

from __future__ import annotations

import json
import math
import struct
import zlib
from collections.abc import Iterable
from dataclasses import fields, is_dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from engine.control.events import Commit
from engine.errors import Refused
from engine.models.interface import HistoryPolicy, ModelSpec
from engine.runtime.view import View

PROTOCOL = 1
"""Of what is described here. Two sides that differ in it refuse each other in words."""
LARGEST_HEADER = 1 << 16
"""Bytes."""
LARGEST_FROM_CLIENT = 32 << 20
"""Bytes of a message to the server: a picture or a short film to start from."""
LARGEST_FROM_SERVER = 16 << 20
"""Bytes of a message to the client."""
LARGEST_UNPACKED = 8 << 20
"""Bytes that a compressed payload may become."""
LARGEST_LOG = 1 << 30
"""Bytes of a session's log."""
LARGEST_LINE = 4 << 20
"""Bytes of one line of it."""
LONGEST_LIST = 4096
"""Entries of each list in a view."""
LARGEST_NUMBER = 2**31
"""Whole numbers in a view and of a model, below: a window's coordinates."""
LARGEST_SIDE = 8192
"""Pixels."""
TEXT = 4000
"""Characters of a prompt at most; a model's own limit is lower."""
KEYS = 32
"""Actions that are held at once at most."""


class BadMessage(ValueError):
    """What came over the line is none of the messages here."""


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="null")


def one_line(text: str) -> str:
    """Words of the other end, safe for a terminal and a window: one line, and no character that is not seen."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


Words = Annotated[str, AfterValidator(one_line)]
Seconds = Annotated[float, Field(allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=2**53)]
Text = Annotated[str, Field(max_length=TEXT)]
Action = Annotated[str, Field(min_length=1, max_length=64)]


# -- to the server -----------------------------------------------------------------------------------------------------


class Chosen(_Message):
    """What a session samples with; None: the model's own. See `engine.runtime.settings.Settings`."""

    prompt: Text = ""
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    window: Annotated[int, Field(ge=1, le=10_000)] | None = None
    steps: Annotated[int, Field(ge=1, le=1000)] | None = None
    commit: Commit = Commit.SPECULATIVE
    history: HistoryPolicy | None = None
    answer: bool | None = None
    preempt: bool | None = None
    aim: Seconds = 0.0


class Hello(_Message):
    """The first message. asks: only wants to know what is served. session: of a world that is to go on; log and groups: bytes of its
    log and groups that arrived; log None: it wants no log."""

    kind: Literal["hello"] = "hello"
    protocol: int
    asks: bool = False
    token: Annotated[str, Field(max_length=256)] = ""
    watch: Annotated[str, Field(max_length=64)] | None = None
    """Only looks on, by the key for that, which takes the token's place."""
    session: Annotated[str, Field(max_length=64)] | None = None
    log: Count | None = 0
    groups: Count = 0


class Begin(_Message):
    """A new session's world begins."""

    kind: Literal["begin"] = "begin"
    chosen: Chosen = Chosen()


class Held(_Message):
    """Everything that is held since `at`. Said in full at each change, so that no key can stick."""

    kind: Literal["held"] = "held"
    number: Count
    at: Seconds
    keys: Annotated[tuple[Action, ...], Field(max_length=KEYS)]


class Prompt(_Message):
    kind: Literal["prompt"] = "prompt"
    number: Count
    at: Seconds
    text: Text
    seconds: Annotated[float, Field(ge=0, le=600)] = 0.0


class NegativePrompt(_Message):
    kind: Literal["negative"] = "negative"
    number: Count
    at: Seconds
    text: Text | None


class PauseIt(_Message):
    kind: Literal["pause"] = "pause"
    number: Count


class ResumeIt(_Message):
    kind: Literal["resume"] = "resume"
    number: Count


class OtherWorld(_Message):
    """start: what it starts from; a file's bytes are the payload, and suffix is how its name ends."""

    kind: Literal["world"] = "world"
    number: Count
    prompt: Text | None = None
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    start: Literal["same", "model", "file"] = "same"
    suffix: Annotated[str, Field(pattern=r"^(\.[a-z0-9]{1,8})?$")] = ""


class GoBack(_Message):
    kind: Literal["rewind"] = "rewind"
    number: Count
    take: Count
    position: Count


class Change(_Message):
    kind: Literal["configure"] = "configure"
    number: Count
    window: Annotated[int, Field(ge=-1000, le=10_000)] | None = None
    steps: Annotated[int, Field(ge=-1000, le=1000)] | None = None
    commit: Commit | None = None
    history: HistoryPolicy | None = None
    answer: bool | None = None
    preempt: bool | None = None
    aim: Seconds | None = None


class Got(_Message):
    """Groups up to this index have arrived."""

    kind: Literal["got"] = "got"
    index: Count


class Ping(_Message):
    kind: Literal["ping"] = "ping"
    sent: Seconds
    """By the sender's clock."""


class Bye(_Message):
    """The session is over; the server answers with its summary."""

    kind: Literal["bye"] = "bye"


# -- to the client -----------------------------------------------------------------------------------------------------


class Refusal(_Message):
    """Why the line ends here."""

    kind: Literal["refusal"] = "refusal"
    reason: Annotated[Words, Field(max_length=1000)]


class Welcome(_Message):
    """The answer to Hello. number: of the last message of this session that arrived."""

    kind: Literal["welcome"] = "welcome"
    protocol: int
    session: Annotated[str, Field(max_length=64)]
    resumed: bool
    number: Count
    spec: Annotated[ModelSpec, AfterValidator(lambda spec: possible(spec))]


class GroupSent(_Message):
    """A group that plays. The payload is its pictures' packets, then its sound's. No packets: the picture before is held, because
    the line could not take more."""

    kind: Literal["group"] = "group"
    index: Count
    epoch: Count
    position: Count
    start: Count
    span: Annotated[int, Field(ge=1, le=128)]
    at: Seconds
    """When the server's player was due to start it."""
    key: bool
    pictures: Annotated[tuple[Count, ...], Field(max_length=128)]
    """Bytes of each packet."""
    sound: Annotated[tuple[Count, ...], Field(max_length=128)]


class WorldLeft(_Message):
    """What plays next goes on from here, in another world or another take."""

    kind: Literal["left"] = "left"
    epoch: Count
    position: Count
    frame: Count


class ViewSent(_Message):
    """The payload is a compressed View."""

    kind: Literal["view"] = "view"
    stage: Annotated[Words, Field(max_length=400)]
    share: Seconds
    ready: bool
    error: Annotated[Words, Field(max_length=4000)] | None = None


class LogSent(_Message):
    """The payload is more of events.jsonl, compressed; `offset` is where it belongs."""

    kind: Literal["log"] = "log"
    offset: Count


class Took(_Message):
    """A message with this time was taken in."""

    kind: Literal["took"] = "took"
    at: Seconds
    taken: Seconds


class Pong(_Message):
    kind: Literal["pong"] = "pong"
    sent: Seconds
    now: Seconds


class Ended(_Message):
    """The session is over. The payload is its summary, compressed JSON."""

    kind: Literal["ended"] = "ended"


ToServer = (
    Hello
    | Begin
    | Held
    | Prompt
    | NegativePrompt
    | PauseIt
    | ResumeIt
    | OtherWorld
    | GoBack
    | Change
    | Got
    | Ping
    | Bye
)
Numbered = Held | Prompt | NegativePrompt | PauseIt | ResumeIt | OtherWorld | GoBack | Change
ToClient = Refusal | Welcome | GroupSent | WorldLeft | ViewSent | LogSent | Took | Pong | Ended

_to_server: TypeAdapter[ToServer] = TypeAdapter(Annotated[ToServer, Field(discriminator="kind")])
_to_client: TypeAdapter[ToClient] = TypeAdapter(Annotated[ToClient, Field(discriminator="kind")])
_view: TypeAdapter[View] = TypeAdapter(View)


def possible(spec: ModelSpec) -> ModelSpec:
    """A model that a window can show. Raises ValueError: its figures are none of a model, or too large for one."""
    numbers = [
        spec.window,
        spec.steps,
        spec.text_limit,
        spec.grid[0],
        spec.phase,
        spec.block,
        *spec.spans,
        *spec.windows,
    ]
    if not (
        all(1 <= side <= LARGEST_SIDE for side in (spec.width, spec.height))
        and 1 <= spec.fps <= 240
        and all(1 <= n <= 100_000 for n in numbers)
        and max(spec.spans) <= 128
        and spec.windows[0] <= spec.window <= spec.windows[1] <= 10_000
        and 0 <= spec.grid[1] <= 10_000
        and 0 <= spec.phase_offset <= 100_000
        and (spec.sound_rate == 0 or 8000 <= spec.sound_rate <= 192_000)
        and spec.history
        and len(spec.trained) <= 1000
        and all(len(text) <= 400 and text == one_line(text) for text in (spec.name, *spec.notes[:100]))
        and len(spec.notes) <= 100
    ):
        raise ValueError("no model is like that")
    return spec


def bounded(value: Any) -> None:
    """Raises BadMessage for what no view has: lists without end, and numbers that are none or that no window can place."""
    if isinstance(value, float):
        if not math.isfinite(value):
            raise BadMessage("a number of the view is none")
    elif isinstance(value, int):
        if abs(value) >= LARGEST_NUMBER:
            raise BadMessage("a number of the view is too large")
    elif is_dataclass(value):
        _all_bounded(getattr(value, f.name) for f in fields(value))
    elif isinstance(value, tuple):
        if len(value) > LONGEST_LIST:
            raise BadMessage(f"a list of the view has {len(value)} entries")
        _all_bounded(value)


def _all_bounded(values: Iterable[Any]) -> None:
    for value in values:
        bounded(value)


def read_json(data: bytes) -> Any:
    """JSON whose numbers are numbers. Raises BadMessage."""
    try:
        return json.loads(data, parse_constant=_no_number)
    except (ValueError, RecursionError) as e:
        raise BadMessage("what should be JSON is none") from e


def read_object(data: bytes) -> dict[str, Any]:
    """A JSON object whose numbers are numbers. Raises BadMessage."""
    value = read_json(data)
    if not isinstance(value, dict):
        raise BadMessage("what should be a JSON object is none")
    return value


def _no_number(name: str) -> float:
    raise BadMessage(f"{name} is no number")


def packed(message: _Message, payload: bytes = b"") -> bytes:
    """A message as bytes."""
    header = message.model_dump_json().encode()
    return struct.pack(">I", len(header)) + header + payload


def _split(data: bytes) -> tuple[bytes, bytes]:
    if len(data) < 4:
        raise BadMessage("a message is shorter than its length")
    (n,) = struct.unpack(">I", data[:4])
    if n > LARGEST_HEADER or 4 + n > len(data):
        raise BadMessage(f"a header of {n} bytes in a message of {len(data)}")
    return data[4 : 4 + n], data[4 + n :]


def to_server(data: bytes) -> tuple[ToServer, bytes]:
    """A client's message and its payload. Raises BadMessage."""
    header, payload = _split(data)
    try:
        return _to_server.validate_json(header), payload
    except (ValidationError, Refused) as e:
        raise BadMessage(_first(e)) from e


def to_client(data: bytes) -> tuple[ToClient, bytes]:
    """A server's message and its payload. Raises BadMessage."""
    header, payload = _split(data)
    try:
        return _to_client.validate_json(header), payload
    except (ValidationError, Refused) as e:
        raise BadMessage(_first(e)) from e


def cut(payload: bytes, sizes: tuple[int, ...]) -> list[bytes]:
    """A payload's first parts. Raises BadMessage when it is shorter."""
    if sum(sizes) > len(payload):
        raise BadMessage(f"{sum(sizes)} bytes are announced, {len(payload)} came")
    out, at = [], 0
    for size in sizes:
        out.append(payload[at : at + size])
        at += size
    return out


def pack_view(view: View) -> bytes:
    """Compressed JSON."""
    return zlib.compress(_view.dump_json(view), 1)


def unpack_view(data: bytes) -> View:
    """Raises BadMessage."""
    try:
        view = _view.validate_json(unpack(data))
    except ValidationError as e:
        raise BadMessage(_first(e)) from e
    bounded(view)
    if not 1 <= view.fps <= 240:
        raise BadMessage(f"a view of {view.fps:g} frames a second")
    return replace(view, message=one_line(view.message), reading=one_line(view.reading))


def unpack(data: bytes) -> bytes:
    """What was compressed. Raises BadMessage: it is none, or more than `LARGEST_UNPACKED`."""
    inflate = zlib.decompressobj()
    try:
        out = inflate.decompress(data, LARGEST_UNPACKED)
    except zlib.error as e:
        raise BadMessage(f"a payload is not compressed: {e}") from e
    if inflate.unconsumed_tail or not inflate.eof:
        raise BadMessage(f"a payload is cut off or larger than {LARGEST_UNPACKED} bytes")
    return out


def _first(e: Exception) -> str:
    """What is wrong first, in a line without the values."""
    if not isinstance(e, ValidationError):
        return one_line(str(e))[:300]
    error = e.errors(include_url=False, include_input=False, include_context=False)[0]
    if error["type"] == "union_tag_invalid":
        return "a message of an unknown kind"
    return one_line(f"{'.'.join(str(part) for part in error['loc']) or 'the message'}: {error['msg']}")[:300]
