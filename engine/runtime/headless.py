"""Exploring without a window: a script plays against a live engine, or against one in virtual time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.control.events import Launch, TimerFired
from engine.models.interface import Group, Loader, ModelSpec
from engine.playback.player import Frame, PlaybackEventKind, Samples
from engine.playback.shared_player import SharedPlayer
from engine.runtime.decode_worker import decoded
from engine.runtime.engine import Engine
from engine.runtime.script import Script, ScriptEvent
from engine.runtime.session import Session, Settings
from engine.runtime.session_log import EventLog
from engine.runtime.view import UpdateKind

Show = Callable[[Frame, Samples | None], None]
"""Takes each shown frame and its sound."""


class HeadlessError(RuntimeError):
    """The engine stopped on its own. The message is the engine's."""


def explore_live(
    load: Loader,
    spec: ModelSpec,
    settings: Settings,
    script: Script,
    folder: Path | None,
    show: Show,
    progress: Callable[[str, float], None],
) -> dict[str, Any]:
    """Plays a script in real time; `show` gets every shown frame. Returns the summary.

    An event counts as having arrived at the instant its media time is due. Raises HeadlessError.
    """
    engine = Engine(load, spec, replace(settings, prompt=script.prompt), folder)
    total = round(script.seconds * spec.fps)
    events = list(script.events)
    shown = 0
    engine.start()
    try:
        while shown < total:
            if engine.error is not None or not engine.running:
                raise HeadlessError(engine.error or "the engine stopped")
            if not shown:
                progress(*engine.stage)
            now = engine.clock.now()
            while events and (due := engine.player.due(round(events[0].t * spec.fps))) is not None and due <= now:
                _send(engine, events.pop(0), due)
            for played in engine.player.advance(now):
                if played.image is not None and shown < total:
                    show(played.image, played.sound)
                    shown += 1
                    progress("exploring", shown / total)
            due = engine.player.next_due()
            if events and (first := engine.player.due(round(events[0].t * spec.fps))) is not None and due is not None:
                due = min(due, first)
            time.sleep(0.005 if due is None else min(0.05, max(0.0, due - engine.clock.now())))
    finally:
        engine.close()
    if engine.summary is None:
        raise HeadlessError(engine.error or "the engine stopped")
    return engine.summary


def _send(engine: Engine, event: ScriptEvent, at: float) -> None:
    if event.what == "prompt":
        engine.set_prompt(event.value, at)
    elif event.what == "down":
        engine.press(event.value, at)
    else:
        engine.release(event.value, at)


def explore_virtual(
    load: Loader,
    spec: ModelSpec,
    settings: Settings,
    script: Script,
    folder: Path | None,
    show: Show,
    progress: Callable[[str, float], None],
    call_seconds: float,
) -> dict[str, Any]:
    """The same in virtual time, in which every call takes `call_seconds`: as fast as the machine can, and the same
    frames, bit for bit, whenever the same script is played with the same seed."""
    return _Virtual(load, spec, settings, script, folder, show, progress, call_seconds).run()


class _Virtual:
    def __init__(self, load, spec, settings, script, folder, show, progress, call_seconds) -> None:  # type: ignore[no-untyped-def]
        self.now = 0.0
        self.player = SharedPlayer(spec.fps, spec.sound_rate)
        journal = EventLog(folder, lambda: self.now)
        self.session = Session(load(progress), replace(settings, prompt=script.prompt), self.player, journal, 0.0)
        self.spec: ModelSpec = spec
        self.script: Script = script
        self.show: Show = show
        self.progress: Callable[[str, float], None] = progress
        self.call_seconds: float = call_seconds
        self.pending: dict[int, tuple[Group, int]] = {}
        self.flying: tuple[Launch, list[Group], float] | None = None
        self.session.drop = self._drop
        self.session.give = self._give
        self.session.reach = self._reach

    def _drop(self, first: int) -> None:
        self.pending = {p: x for p, x in self.pending.items() if p < first}
        self.player.drop(first)

    def _give(self, groups: list[tuple[Group, int]]) -> None:
        self.pending.update((g.position, (g, start)) for g, start in groups)

    def _launch(self, launches: list[Launch | None]) -> None:
        for launch in launches:
            if launch is not None:
                groups = self.session.run(launch, lambda step, steps: True)
                self.flying = (launch, groups, self.now + self.call_seconds)

    def _land(self) -> None:
        assert self.flying is not None
        launch, groups, _ = self.flying
        self.flying = None
        given = self.session.placed(groups)
        self.session.prefill_chunk(groups)
        self._launch(list(self.session.deliverable(launch, groups, self.now, lambda: self._give(given))))

    def _decode_next(self) -> None:
        self._reach(self.player.next_position)

    def _reach(self, position: int) -> None:
        for p in range(self.player.next_position, position + 1):
            if p in self.pending:
                group, start = self.pending.pop(p)
                made = decoded(self.session.model.decoder, group, start)
                self.player.put(p, start, made.frames, made.sound)

    def _event(self, event: ScriptEvent) -> None:
        book = self.session.book
        if event.what == "prompt":
            change, kind = book.set_prompt(event.value), UpdateKind.PROMPT
        else:
            change, kind = (book.press if event.what == "down" else book.release)(event.value), UpdateKind.KEY
        self._launch(list(self.session.change(change, kind, self.now, self.now)))

    def run(self) -> dict[str, Any]:
        total = round(self.script.seconds * self.spec.fps)
        events = list(self.script.events)
        shown = 0
        self._launch([self.session.feed(TimerFired(0.0))])
        while shown < total:
            due = self.player.due(round(events[0].t * self.spec.fps)) if events else None
            frame = self.player.next_due()
            times = [
                t for t in (due, frame, self.flying[2] if self.flying else None, self.session.wake_at) if t is not None
            ]
            self.now = max(self.now, min(times))
            if self.flying is not None and self.flying[2] <= self.now:
                self._land()
            if due is not None and due <= self.now:
                self._event(events.pop(0))
                continue
            if self.session.wake_at <= self.now:
                self._launch([self.session.feed(TimerFired(self.now))])
            self._decode_next()
            played = self.player.advance(self.now)
            self._launch(list(self.session.played([p for p in played if p.what is not PlaybackEventKind.FRAME])))
            for p in played:
                if p.image is not None and shown < total:
                    self.show(p.image, p.sound)
                    shown += 1
            self.progress("exploring", shown / total)
        return self.session.close(self.now)
