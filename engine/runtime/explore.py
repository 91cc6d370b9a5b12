"""Exploring without a window: a script plays against a live engine, or against a session in virtual time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.models.interface import Loader, ModelSpec
from engine.playback.player import Frame, PlaybackEventKind, Samples
from engine.playback.shared_player import SharedPlayer
from engine.runtime.clock import FOREVER, Clock, Inbox, SystemClock, VirtualClock
from engine.runtime.decode_worker import InlineDecoder
from engine.runtime.driver import AssumedExecutor, Driver, Mail, Source, Timer
from engine.runtime.engine import Engine
from engine.runtime.live_engine import LiveEngine
from engine.runtime.messages import FirstGroupDecoded, Message, PersonMessage, Played, Press, Release, SetPrompt
from engine.runtime.script import Script, ScriptEvent
from engine.runtime.session import Session
from engine.runtime.session_log import SessionLog
from engine.runtime.settings import Settings
from engine.runtime.takes import Takes
from engine.runtime.view import View

LOOK_SECONDS = 0.05
"""At most between two looks at a live engine, which may have moved the next frame's time or ended."""
GIVE_UP = 4
"""Calls in a row that fail before a run without a person is over: two rests of the controller."""
SOON = 0.005
"""Seconds between two looks while nothing plays: the first frame after a start or a stall is shown that late at most."""

Show = Callable[[Frame, Samples | None], None]
"""Takes each shown frame and its sound."""
Progress = Callable[[str, float], None]
Watch = Callable[[Callable[[float], View], Callable[[], float]], None]
"""Takes what makes a view of a session at an instant, and the clock."""


class ExploreError(RuntimeError):
    """The engine stopped on its own, or the session log is not whole. The message says which."""


def explore_live(
    load: Loader,
    spec: ModelSpec,
    settings: Settings,
    script: Script,
    folder: Path | None,
    show: Show,
    progress: Progress,
    clock: Clock | None = None,
) -> dict[str, Any]:
    """Plays a script in real time on an engine of its own: see `explore_on`."""
    clock = SystemClock() if clock is None else clock
    return explore_on(
        Engine(load, spec, replace(settings, prompt=script.prompt), folder, clock), script, show, progress
    )


def explore_on(engine: LiveEngine, script: Script, show: Show, progress: Progress) -> dict[str, Any]:
    """Plays a script in real time on an engine that begins with the script's prompt; starts and closes it. `show` gets every shown
    frame. Returns the summary.

    An event counts as having arrived at the instant its media time is due. Raises ExploreError.
    """
    clock = engine.clock
    playback = _Playback(engine.player, script.seconds, show, progress)
    look = _Look(engine, playback, progress)
    engine.start()
    try:
        nothing: Inbox[None] = Inbox(clock)
        Driver(clock, nothing, [look, _Script(script, engine.player, engine.send), playback]).run(lambda: playback.over)
    finally:
        engine.close()
    if engine.summary is None:
        raise ExploreError(engine.error or "the engine stopped")
    if engine.log_error:
        raise ExploreError(engine.log_error)
    return engine.summary


def explore_virtual(
    load: Loader,
    spec: ModelSpec,
    settings: Settings,
    script: Script,
    folder: Path | None,
    show: Show,
    progress: Progress,
    call_seconds: float,
    watch: Watch = lambda view, clock: None,
    takes: Takes | None = None,
) -> dict[str, Any]:
    """The same in virtual time, in which every call takes `call_seconds` and decoding none: as fast as the machine can, and
    the same frames, bit for bit, whenever the same script is played with the same seed.

    watch: is given what tells of the session, before it begins. takes: where what is delivered is kept.
    """
    clock = VirtualClock()
    player = SharedPlayer(spec.fps, spec.sound_rate)
    journal = SessionLog(folder, clock.now, lambda: player.shown / spec.fps)
    inbox: Inbox[Message] = Inbox(clock)
    model = load(progress)
    decoder = InlineDecoder(model.decoder, player, lambda call, error: inbox.put(FirstGroupDecoded(call, error)))
    session = Session(model, replace(settings, prompt=script.prompt), player, journal, decoder, clock.now, takes)

    watch(session.view, clock.now)

    def handle(message: Message) -> None:
        session.handle(message, clock.now())

    executor = AssumedExecutor(session, clock, call_seconds)
    playback = _Playback(player, script.seconds, show, progress, decoder, handle)
    sources: list[Source] = [
        executor,
        Mail(inbox, session, clock),
        _Script(script, player, handle),
        Timer(session),
        playback,
    ]
    session.start(clock.now())
    Driver(clock, inbox, sources, executor).run(lambda: playback.over)
    summary = session.close(clock.now())
    if journal.error:
        raise ExploreError(journal.error)
    return summary


class _Script:
    """A source: what a person would do, at the instants at which its media time is due."""

    def __init__(self, script: Script, player: SharedPlayer, send: Callable[[PersonMessage], None]) -> None:
        self._events, self._player, self._send = list(script.events), player, send

    def next_at(self) -> float:
        due = self._due()
        return FOREVER if due is None else due

    def run(self, now: float) -> None:
        while (due := self._due()) is not None and due <= now:
            self._send(_message(self._events.pop(0), due))

    def _due(self) -> float | None:
        return self._player.due(round(self._events[0].t * self._player.fps)) if self._events else None


def _message(event: ScriptEvent, at: float) -> PersonMessage:
    if event.what == "prompt":
        return SetPrompt(event.value, at)
    return Press(event.value, at) if event.what == "down" else Release(event.value, at)


class _Playback:
    """A source: shows what is due, until there is enough of it."""

    def __init__(
        self,
        player: SharedPlayer,
        seconds: float,
        show: Show,
        progress: Progress,
        decoder: InlineDecoder | None = None,
        tell: Callable[[Message], None] | None = None,
    ) -> None:
        """seconds: of media to show. decoder: has to decode the next group first; tell: hears what was played. Both only in
        virtual time: live, threads do it."""
        self._player, self._show, self._progress = player, show, progress
        self._decoder, self._tell = decoder, tell
        self._total = round(seconds * player.fps)
        self.shown = 0
        """Frames."""

    @property
    def over(self) -> bool:
        """Whether everything was shown."""
        return self.shown >= self._total

    def next_at(self) -> float:
        due = self._player.next_due()
        return FOREVER if due is None else due

    def run(self, now: float) -> None:
        if self._decoder is not None:
            self._decoder.decode_until(self._player.next_position)
        played = self._player.advance(now)
        if self._tell is not None:
            told = tuple(p for p in played if p.what is not PlaybackEventKind.FRAME)
            if told:
                self._tell(Played(told, self._player.epoch))
        for p in played:
            if p.image is not None and not self.over:
                self._show(p.image, p.sound)
                self.shown += 1
                self._progress("exploring", self.shown / self._total)


class _Look:
    """A source of a live run: sees that the engine still runs, and says how far it has come before the first frame."""

    def __init__(self, engine: LiveEngine, playback: _Playback, progress: Progress) -> None:
        self._engine, self._playback, self._progress = engine, playback, progress
        self._next = 0.0

    def next_at(self) -> float:
        return self._next

    def run(self, now: float) -> None:
        if self._engine.error is not None or not self._engine.running:
            raise ExploreError(self._engine.error or "the engine stopped")
        view = self._engine.view
        if view.failures >= GIVE_UP:
            raise ExploreError(view.message)
        if not self._playback.shown:
            self._progress(*self._engine.stage)
        self._next = now + (SOON if self._engine.player.next_due() is None else LOOK_SECONDS)
