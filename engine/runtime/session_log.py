"""The session's event log: a folder with events.jsonl and, at the end, summary.json.

Schema version 2. One JSON object a line. Every line has `kind`, `t` (seconds, monotonic, since the session began) and
`media` (seconds of media time shown). Kinds:

  session  first line: schema, model, seed, policy, spans, fps, t0_wall (Unix time), t0 (the monotonic clock then)
  event    an event of the controller: `name` and `data`, its fields as in engine/control/events.py; times in data are
           absolute monotonic seconds
  controller  a reset or a rewind begins with a new controller: began, version, first_call, policy, and first and start, the
           position and media frame that it goes on from
  reset    a new world begins: seed, start (the file that it starts from, or null), prompt, attempt
  rewind   the world goes on after a kept group: take, position, groups (that the model takes in again), became, attempt
  delivered  a group began to play: position, start, span, call, version, take, latent (CRC-32 of its bytes)
  state    after each event: state, d, l, e, running, pending, in_flight
  command  what the controller answered: `name` and `data`; a Receipt of an applied update also has R, C, Q, L in seconds
  condition  version, what (prompt, key, release, start), prompt, keys, tapped, before and share (of a transition), negative
  call     a finished call: id, branch, K, version, steps, seed, attempt, history, seconds, step_seconds, error
  played   stalls and starts of the player
  note     anything a person should know; errors with their traceback
  summary  last line: the contents of summary.json
"""

from __future__ import annotations

import dataclasses
import json
import threading
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any, TextIO

SCHEMA = 2


def plain(value: Any) -> Any:
    """Dataclasses, enums and tuples as JSON values; infinity as null."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return None
    return value


class EventLog:
    """Appends lines; each is written out at once, so a crash loses none. Without a folder it only keeps counts."""

    def __init__(self, folder: Path | None, clock: Callable[[], float]) -> None:
        """Raises OSError when the folder cannot be written."""
        self.folder = folder
        self._clock = clock
        self._t0 = clock()
        self._lock = threading.Lock()
        self._file: TextIO | None = None
        self.media: Callable[[], float] = lambda: 0.0
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = (folder / "events.jsonl").open("w", encoding="utf-8")

    @property
    def t0(self) -> float:
        return self._t0

    def write(self, kind: str, at: float | None = None, **fields: Any) -> None:
        if self._file is None:
            return
        t = (self._clock() if at is None else at) - self._t0
        line = {"kind": kind, "t": round(t, 6), "media": round(self.media(), 4), **plain(fields)}
        text = json.dumps(line, ensure_ascii=False) + "\n"
        with self._lock:
            if self._file is not None:
                self._file.write(text)
                self._file.flush()

    def close(self, summary: dict[str, Any]) -> None:
        """Writes the summary and closes the log."""
        self.write("summary", **summary)
        with self._lock:
            if self._file is not None and self.folder is not None:
                self._file.close()
                self._file = None
                (self.folder / "summary.json").write_text(json.dumps(plain(summary), indent=2) + "\n", encoding="utf-8")
