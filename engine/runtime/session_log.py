"""The session's log: a folder with events.jsonl and, at the end, summary.json.

Schema version 4. A line is JSON: what happens by the thousand is a short array (`engine.runtime.log_rows` has their tables and
reads them as the objects that are named here), everything else an object. Each has `kind` and `t`, seconds, monotonic, since the
session began; objects have `media` too, seconds of media time shown. Kinds:

  session  first line: schema, model, weights, seed, window, steps, commit, history, policy, spans, fps, prompt, machine, t0
           (the monotonic clock then), t0_wall (Unix time), began, estimator
  message  what a person did: `name` and `data`, its fields as in engine/runtime/messages.py
  event    an event of the controller: `name` and `data`, its fields as in engine/control/events.py; times in data are
           absolute monotonic seconds
  command  what the controller answered: `name` and `data`; a Receipt of an applied update also has R, C, Q, L in seconds
  condition  version, what (prompt, key, start), prompt, keys, tapped, before and share (of a transition), negative
  call     a finished call: id, branch, K, version, steps, seed, attempt, history, seconds, error; the times of its steps are
           those of its CallProgressed
  delivered  a group began to play: position, start, span, call, version, take, latent (CRC-32 of its bytes)
  played   stalls and starts of the player: what, position
  controller  a new world or a rewind begins with a new controller: began, version, first_call, policy, and first and start,
           the position and media frame that it goes on from
  reset    a new world begins: seed, start (null: from what the last one did; else its path, null for the model's own), prompt,
           attempt
  rewind   the world goes on after a kept group: take, position, groups (that the model takes in again), became, attempt
  note     anything that a person should know; errors with their traceback
  summary  last line: the contents of summary.json but for the updates, which are the Receipts

What the estimator has measured it keeps from one controller to the next. Logs of schemas 1 to 3 are read too (3 has every line
as an object, and lines of the kind `state` with the controller's registers, which the replay has as well).
"""

from __future__ import annotations

import dataclasses
import json
import logging
import os
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from pathlib import Path
from typing import Any, BinaryIO

from safetensors import SafetensorError

from engine.control.conditions import Condition
from engine.control.controller import Controller
from engine.control.estimator import Estimator
from engine.control.events import Command, Event, Launch
from engine.files import PRIVATE, PRIVATE_FOLDER, write_whole
from engine.models.interface import Model, Request
from engine.playback.player import PlaybackEvent
from engine.runtime.log_rows import Row, RowWriter, call_row, encoded
from engine.runtime.machine import facts
from engine.runtime.messages import PersonMessage
from engine.runtime.settings import Settings, StartFrom
from engine.runtime.takes import Kept
from engine.runtime.view import UpdateKind
from engine.user_data import private as is_private

log = logging.getLogger(__name__)

SCHEMA = 4
LOG = "events.jsonl"


def plain(value: Any) -> Any:
    """Dataclasses, enums, paths and tuples as JSON values; infinity as null."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return None
    return value


class SessionLog:
    """Appends lines; each is written out at once, so a crash loses none but the last. Without a folder it writes nothing.
    Thread-safe.

    The log is a by-product: where it cannot be written it ends with a whole line, `error` says so, and nothing is raised.
    """

    def __init__(
        self, folder: Path | None, clock: Callable[[], float], media: Callable[[], float], private: bool | None = None
    ) -> None:
        """clock: the session's, seconds; media: seconds of media time shown. private: neither prompts nor keys are written;
        None: as FORELAND_PRIVATE says. Raises OSError when the folder cannot be written, FileExistsError when it holds a session."""
        self.folder = folder
        self.private = is_private() if private is None else private
        self.error = ""
        """Why something of the session is not on the disk, in one sentence; '' while all of it is."""
        self.on_error: Callable[[str], None] = lambda sentence: None
        """Hears of `error`, on the thread that wrote."""
        self._clock, self._media = clock, media
        self._t0 = clock()
        self._lock = threading.RLock()
        self._file: BinaryIO | None = None
        self._whole = 0
        self._closed = False
        self._rows = RowWriter()
        if folder is not None:
            self._file = _new_log(folder)

    @property
    def t0(self) -> float:
        """The clock's time when the log began; `t` counts from there."""
        return self._t0

    def _said(self, prompt: str) -> str:
        return "" if self.private else prompt

    def session(self, model: Model, settings: Settings, controller: Controller, now: float) -> None:
        """The first line. settings: checked ones."""
        spec, estimator = model.spec, controller.estimator
        self._rows.prompt = self._said(settings.prompt)
        self._write(
            "session",
            now,
            schema=SCHEMA,
            model=spec.name,
            weights=model.identity,
            seed=settings.seed,
            window=settings.window,
            steps=settings.steps,
            commit=settings.commit,
            history=settings.history,
            policy=controller.policy,
            spans=spec.spans,
            fps=spec.fps,
            prompt=self._said(settings.prompt),
            machine=facts(),
            t0=self._t0,
            t0_wall=time.time(),
            began=now,
            estimator=_estimator(estimator),
        )

    def message(self, message: PersonMessage, now: float) -> None:
        """What a person did."""
        if self.private:
            return
        self._write("message", now, name=type(message).__name__, data=message)

    def event(self, event: Event) -> None:
        """What the controller is told."""
        if self._file is None:
            return
        row = self._rows.event(event)
        if row is None:
            self._write("event", event.at, name=type(event).__name__, data=event)
        else:
            self._add(row)

    def command(self, command: Command) -> None:
        """What the controller answered to the event before."""
        if self._file is not None:
            self._add(self._rows.command(command))

    def condition(self, c: Condition, kind: UpdateKind, now: float) -> None:
        """A new condition."""
        if self._file is not None and not self.private:
            self._add(self._rows.condition(c, kind, round(now - self._t0, 6)))

    def reading(self, version: int, text: str) -> None:
        """What the model understood of a condition's prompt."""
        if not self.private:
            self._write("reading", version=version, text=text)

    def call(self, launch: Launch, request: Request, seconds: float, error: str) -> None:
        """A call that is over."""
        if self._file is None:
            return
        made = (launch.call, launch.branch, launch.window, launch.version)
        asked = (request.steps, request.seed, request.attempt, request.history.value)
        self._add(call_row(*made, *asked, round(seconds, 6), error))

    def delivered(self, kept: Kept, take: int, latent: int) -> None:
        """A group began to play. latent: its fingerprint."""
        if self._file is not None:
            self._add(self._rows.delivered(kept, take, latent))

    def played(self, event: PlaybackEvent) -> None:
        """A stall or a start."""
        self._write("played", event.at, what=event.what, position=event.position)

    def controller(self, c: Controller, condition: Condition, first: int, start: int, now: float) -> None:
        """A new controller takes over, from a position and media frame on."""
        self._rows.prompt = self._said(condition.prompt)
        self._write(
            "controller",
            now,
            began=now,
            version=condition.version,
            first_call=c.next_call,
            policy=c.policy,
            first=first,
            start=start,
            prompt=self._said(condition.prompt),
            negative=None if self.private else condition.negative,
        )

    def reset(self, seed: int, start: StartFrom | None, prompt: str, attempt: int, now: float) -> None:
        """A new world. start: what it starts from, where that was said."""
        self._write(
            "reset", now, seed=seed, start=None if self.private else start, prompt=self._said(prompt), attempt=attempt
        )

    def rewind(self, take: int, position: int, groups: int, became: int, attempt: int, now: float) -> None:
        """Another way on. groups: that the model takes in again; became: the new take."""
        self._write("rewind", now, take=take, position=position, groups=groups, became=became, attempt=attempt)

    def note(self, text: str, error: BaseException | None = None) -> None:
        """Something that a person should know."""
        more: dict[str, Any] = {} if error is None else {"traceback": "".join(traceback.format_exception(error))}
        self._write("note", text=text, **more)

    def close(self, summary: dict[str, Any]) -> None:
        """Writes the summary and closes the log. Twice is nothing."""
        self._write("summary", **{name: value for name, value in summary.items() if name != "updates"})
        with self._lock:
            if self.folder is None or self._closed:
                return
            self._closed = True
            self._stop()
            with self.writing("summary"):
                write_whole(self.folder / "summary.json", (json.dumps(plain(summary), indent=2) + "\n").encode())

    @contextmanager
    def writing(self, what: str) -> Iterator[None]:
        """A file of the session is written: an error is said and not raised."""
        try:
            yield
        except (OSError, SafetensorError) as e:
            self._failed(f"the session's {what} could not be written", e)

    def _failed(self, what: str, error: Exception) -> None:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        sentence = f"{what} ({reason})"
        log.warning("%s: %s", self.folder, sentence)
        if not self.error:
            self.error = sentence
            self.on_error(sentence)

    def _stop(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):
                file.close()

    def _write(self, kind: str, at: float | None = None, **fields: Any) -> None:
        if self._file is None:
            return
        t = (self._clock() if at is None else at) - self._t0
        line = {"kind": kind, "t": round(t, 6), "media": round(self._media(), 4), **plain(fields)}
        self._append((json.dumps(line, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace"))

    def _add(self, row: Row) -> None:
        try:
            data = encoded(row)
        except ValueError:  # an infinite number
            data = encoded(plain(row))
        self._append(data)

    def _append(self, data: bytes) -> None:
        with self._lock:
            if self._file is None:
                return
            try:
                left = memoryview(data)
                while left:
                    left = left[self._file.write(left) :]
                self._whole += len(data)
            except OSError as e:
                self._take_back()
                self._failed("the session log cannot be written any more; the world goes on", e)

    def _take_back(self) -> None:
        """Ends the log after its last whole line, which needs no room on the disk."""
        self._stop()
        with suppress(OSError):
            assert self.folder is not None
            os.truncate(self.folder / LOG, self._whole)


def _new_log(folder: Path) -> BinaryIO:
    try:
        folder.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
    except FileExistsError as e:
        raise FileExistsError(f"{folder} is a file: a session needs a folder") from e
    try:
        handle = os.open(folder / LOG, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE)
    except FileExistsError as e:
        raise FileExistsError(f"{folder} holds a session already: name another folder") from e
    return os.fdopen(handle, "wb", buffering=0)


def _estimator(e: Estimator) -> dict[str, float]:
    return {
        "cold": e.cold,
        "margin": e.margin,
        "quantile": e.quantile,
        "doubt": e.doubt,
        "forget_start": e.forget_start,
        "rule": e.rule,
    }
