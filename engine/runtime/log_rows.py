"""The rows of a session log: what a session writes by the thousand, as short JSON arrays, and those arrays as lines again.

A row begins with the code of its kind; the values follow in the order of the tables here, without those at the end that are as
usual. Times are whole, since a replay has to give the same answers. What can be told from the rows before is left out:
- the time of a command is that of the event before it; an event's and a receipt's `at` is also its `t`;
- a delivered group that follows the one before it (next position, same span, call, version and take) is its fingerprint alone;
- a condition with the same prompt as before has null in its place;
- predictions that follow one another are one run; so are equal spans.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any

from engine.control.conditions import Condition
from engine.control.events import (
    Abandon,
    CallProgressed,
    Command,
    ConditionChanged,
    Event,
    GroupDecoded,
    GroupLost,
    GroupsReady,
    GroupStarted,
    Guessed,
    InputsReady,
    InputsRejected,
    Launch,
    Notice,
    Outcome,
    PlaybackHeld,
    PlaybackReleased,
    Prediction,
    Promote,
    Receipt,
    RequestFinished,
    Restore,
    Revoke,
    SessionClosed,
    SetTimer,
    SlotGranted,
    Take,
    TimerFired,
)
from engine.runtime.takes import Kept
from engine.runtime.view import UpdateKind

Row = list[Any]

EVENTS: dict[str, tuple[type[Event], tuple[str, ...]]] = {
    "c": (ConditionChanged, ("at", "version", "arrival", "inputs_ready", "change", "guessed")),
    "q": (Guessed, ("at", "after")),
    "i": (InputsReady, ("at", "version")),
    "j": (InputsRejected, ("at", "version", "reason")),
    "p": (CallProgressed, ("at", "call", "step", "steps")),
    "r": (GroupsReady, ("at", "call", "spans", "sampled")),
    "f": (RequestFinished, ("at", "call", "error")),
    "g": (GroupStarted, ("at", "position", "shown")),
    "d": (GroupDecoded, ("at", "position", "seconds")),
    "l": (GroupLost, ("at", "position", "reason")),
    "t": (TimerFired, ("at",)),
    "h": (PlaybackHeld, ("at", "why", "since")),
    "u": (PlaybackReleased, ("at", "why", "since")),
    "w": (SlotGranted, ("at",)),
    "x": (SessionClosed, ("at",)),
}
"""By code: the kind of event, and its fields in the order of a row. A changed policy is rare and stays a line."""
COMMANDS: dict[str, tuple[type[Command], tuple[str, ...]]] = {
    "L": (Launch, ("call", "branch", "window", "version", "reason", "late")),
    "V": (Revoke, ("entries", "reason")),
    "S": (Restore, ("entries",)),
    "U": (Take, ("call", "entries")),
    "P": (Promote, ("call", "version")),
    "A": (Abandon, ("call", "reason")),
    "R": (
        Receipt,
        ("version", "outcome", "at", "arrival", "position", "by", "wait", "generate", "queue", "reason", "paused"),
    ),
    "T": (SetTimer, ("at",)),
    "N": (Notice, ("message",)),
}
CONDITION = ("version", "what", "prompt", "keys", "tapped", "before", "share", "negative")
CALL = ("id", "branch", "K", "version", "steps", "seed", "attempt", "history", "seconds", "error")
DELIVERED = ("position", "start", "span", "call", "version", "take", "latent")
CONDITIONED, CALLED, DELIVERED_NEXT, DELIVERED_FIRST = "C", "K", "D", "E"
USUAL: dict[str, tuple[Any, ...]] = {CONDITIONED: ((), (), "", 1.0, None), CALLED: ("",)}
"""Values of the last fields that are left out."""

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def encoded(row: Row) -> bytes:
    """A row as a line of the file. Raises ValueError for a number that is none."""
    return (_encode(row) + "\n").encode("utf-8", "backslashreplace")


def _usual(kind: type, fields: Sequence[str]) -> tuple[Any, ...]:
    """The defaults of the last fields, as far as they have one."""
    known = {f.name: f.default for f in dataclasses.fields(kind)}
    values: list[Any] = []
    for name in reversed(fields):
        if known[name] is dataclasses.MISSING:
            break
        values.insert(0, known[name])
    return tuple(values)


def _writer(code: str, kind: type, fields: tuple[str, ...]) -> Callable[[Any], Row]:
    """What makes a row of an event or command."""
    read: Callable[[Any], Any] = attrgetter(*fields)
    one, usual = len(fields) == 1, _usual(kind, fields)
    USUAL[code] = usual
    packed = [(i + 1, PACKED[name][0]) for i, name in enumerate(fields) if name in PACKED]

    def row(value: Any) -> Row:
        made = [code, read(value)] if one else [code, *read(value)]
        for i, pack in packed:
            made[i] = pack(made[i])
        return _shortened(made, usual)

    return row


def _shortened(row: Row, usual: tuple[Any, ...]) -> Row:
    """Without the values at its end that are as usual."""
    n = len(row)
    for value in reversed(usual):
        if row[n - 1] != value:
            break
        n -= 1
    return row[:n]


# -- values that repeat themselves -------------------------------------------------------------------------------------


def _spans_packed(spans: Iterable[int]) -> list[int]:
    """[span, how often, span, how often, ...]."""
    runs: list[int] = []
    for span in spans:
        if runs and runs[-2] == span:
            runs[-1] += 1
        else:
            runs += (span, 1)
    return runs


def _spans(runs: list[int]) -> list[int]:
    _few(sum(map(abs, runs[1::2])))
    return [span for span, n in zip(runs[::2], runs[1::2], strict=True) for _ in range(n)]


def _entries_packed(entries: Iterable[Prediction]) -> list[int]:
    """[position, call, source, start, span, version, how many, ...] of each run."""
    runs: list[int] = []
    follows: tuple[int, ...] = ()
    for e in entries:
        one = (e.position, e.call, e.source, e.start, e.span, e.version)
        if one == follows:
            runs[-1] += 1
        else:
            runs += (*one, 1)
        follows = (e.position + 1, e.call, e.source + 1, e.start + e.span, e.span, e.version)
    return runs


def _entries(runs: list[int]) -> list[dict[str, int]]:
    names = ("position", "call", "source", "start", "span", "version")
    _few(sum(map(abs, runs[6::7])))
    out = []
    for k in range(0, len(runs), 7):
        position, call, source, start, span, version, n = runs[k : k + 7]
        for i in range(n):
            one = (position + i, call, source + i, start + i * span, span, version)
            out.append(dict(zip(names, one, strict=True)))
    return out


MOST = 100_000
"""Groups of a row; a call has some dozens."""


def _few(n: int) -> None:
    if n > MOST:
        raise ValueError(f"a row of {n} groups")


PACKED: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "spans": (_spans_packed, _spans),
    "entries": (_entries_packed, _entries),
}
"""By field: to a row and back."""
_EVENT_ROWS = {kind: _writer(code, kind, fields) for code, (kind, fields) in EVENTS.items()}
_COMMAND_ROWS = {kind: _writer(code, kind, fields) for code, (kind, fields) in COMMANDS.items()}


class RowWriter:
    """Makes rows. Keeps what the next ones can leave out, so all of a log come from one."""

    def __init__(self) -> None:
        self.prompt: str | None = None
        """The last one that was written."""
        self._next: tuple[int, ...] = ()
        self._at = 0.0

    def event(self, event: Event) -> Row | None:
        """None for one that is a line."""
        write = _EVENT_ROWS.get(type(event))
        return None if write is None else write(event)

    def command(self, command: Command) -> Row:
        """What the controller answered to the event before it."""
        row = _COMMAND_ROWS[type(command)](command)
        if isinstance(command, SetTimer) and command.at == float("inf"):
            return row[:1]
        return row

    def condition(self, c: Condition, kind: UpdateKind, t: float) -> Row:
        """t: seconds since the log began."""
        prompt = None if c.prompt == self.prompt else c.prompt
        self.prompt = c.prompt
        row = [CONDITIONED, t, c.version, kind.value, prompt, c.keys, c.tapped, c.before, c.share, c.negative]
        return _shortened(row, USUAL[CONDITIONED])

    def delivered(self, kept: Kept, take: int, latent: int) -> Row:
        """latent: a fingerprint."""
        here = (kept.position, kept.start, kept.span, kept.call, kept.version, take)
        follows = here == self._next
        self._next = (kept.position + 1, kept.start + kept.span, *here[2:])
        return [DELIVERED_NEXT, latent] if follows else [DELIVERED_FIRST, *here, latent]


def call_row(*values: Any) -> Row:
    """values: as in CALL."""
    return _shortened([CALLED, *values], USUAL[CALLED])


class RowReader:
    """Lines of a log as today's readers want them: objects. Feed it every line in order."""

    def __init__(self) -> None:
        self._prompt = ""
        self._t0 = 0.0
        self._t = 0.0
        self._delivered: dict[str, Any] = {}

    def line(self, row: Any) -> dict[str, Any]:
        """Raises LookupError, TypeError or ValueError for a row that is none."""
        if isinstance(row, dict):
            if row.get("kind") in ("session", "controller"):
                self._prompt, self._t0 = row.get("prompt", ""), row.get("t0", self._t0)
            self._t = row.get("t", self._t)
            return row
        code, *values = row
        if code in EVENTS:
            kind, fields = EVENTS[code]
            data = _named(code, fields, values)
            self._t = round(data["at"] - self._t0, 6)
            return {"kind": "event", "t": self._t, "name": kind.__name__, "data": data}
        if code in COMMANDS:
            return self._command(code, values)
        if code == CONDITIONED:
            self._t, *values = values
            line = {"kind": "condition", "t": self._t, **_named(code, CONDITION, values)}
            line["prompt"] = self._prompt = self._prompt if line["prompt"] is None else line["prompt"]
            line["keys"], line["tapped"] = list(line["keys"]), list(line["tapped"])
            return line
        if code == CALLED:
            return {"kind": "call", "t": self._t, **_named(code, CALL, values)}
        if code == DELIVERED_NEXT:
            d, (latent,) = self._delivered, values
            self._delivered = {**d, "position": d["position"] + 1, "start": d["start"] + d["span"], "latent": latent}
        elif code == DELIVERED_FIRST:
            self._delivered = dict(zip(DELIVERED, values, strict=True))
        else:
            raise ValueError(f"no row begins with {code!r:.40}")
        return {"kind": "delivered", "t": self._t, **self._delivered}

    def _command(self, code: str, values: Row) -> dict[str, Any]:
        kind, fields = COMMANDS[code]
        data = _named(code, fields, values if values or kind is not SetTimer else [None])
        line = {"kind": "command", "t": self._t, "name": kind.__name__, "data": data}
        if kind is Receipt and data["outcome"] == Outcome.APPLIED:
            wait, generate, queue = data["wait"], data["generate"], data["queue"]
            line |= {"R": wait, "C": generate, "Q": queue, "L": wait + generate + queue}
        return line


def _named(code: str, fields: tuple[str, ...], values: Row) -> dict[str, Any]:
    """With names, and with what was left out."""
    missing, usual = len(fields) - len(values), USUAL[code]
    if not 0 <= missing <= len(usual):
        raise ValueError(f"a row {code!r} has {len(values)} values; it has {len(fields)}")
    whole = [*values, *usual[len(usual) - missing :]] if missing else values
    return {
        name: PACKED[name][1](value) if name in PACKED else value for name, value in zip(fields, whole, strict=True)
    }
