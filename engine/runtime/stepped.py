"""A session that waits for whoever plays it: virtual time goes on only while frames are asked for."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

from engine.models.interface import Model
from engine.playback.player import Frame, PlaybackEventKind
from engine.playback.shared_player import SharedPlayer
from engine.runtime.clock import FOREVER, Inbox, VirtualClock
from engine.runtime.decode_worker import InlineDecoder
from engine.runtime.driver import AssumedExecutor, Driver, Mail, Source, Timer
from engine.runtime.messages import FirstGroupDecoded, Message, Played, Press, Release, SetPrompt
from engine.runtime.session import Session
from engine.runtime.session_log import SessionLog
from engine.runtime.settings import Settings
from engine.runtime.view import View


class SteppedWorld:
    """Equal settings and equal actions at equal frames give equal frames, bit for bit. Used from one thread."""

    def __init__(self, model: Model, settings: Settings, call_seconds: float) -> None:
        """model: what it knows of another world is forgotten. call_seconds: of virtual time that every call takes; decoding takes
        none. Raises Refused for impossible settings."""
        if call_seconds <= 0:
            raise ValueError("a call takes more than no time: call_seconds has to be above 0")
        self._clock = VirtualClock()
        self._player = SharedPlayer(model.spec.fps, model.spec.sound_rate)
        self._held: set[str] = set()
        self._shown: deque[Frame] = deque()
        inbox: Inbox[Message] = Inbox(self._clock)
        model.sampler.reset()
        model.decoder.reset()
        journal = SessionLog(None, self._clock.now, lambda: self._player.shown / model.spec.fps)
        self._decoder = InlineDecoder(model.decoder, self._player, lambda c, e: inbox.put(FirstGroupDecoded(c, e)))
        self._session = Session(model, settings, self._player, journal, self._decoder, self._clock.now)
        executor = AssumedExecutor(self._session, self._clock, call_seconds)
        sources: list[Source] = [executor, Mail(inbox, self._session, self._clock), Timer(self._session), _Shows(self)]
        self._driver = Driver(self._clock, inbox, sources, executor)
        self._session.start(self._clock.now())

    @property
    def seconds(self) -> float:
        """Virtual time: media and stalls."""
        return self._clock.now()

    @property
    def view(self) -> View:
        """The session as it is now."""
        return replace(self._session.view(self._clock.now()), stalls=self._player.total_stalls)

    def hold(self, *actions: str) -> None:
        """These actions are held from now on, and no others."""
        now, wanted = self._clock.now(), set(actions)
        for action in sorted(self._held - wanted):
            self._session.handle(Release(action, now), now)
        for action in sorted(wanted - self._held):
            self._session.handle(Press(action, now), now)
        self._held = wanted

    def prompt(self, text: str) -> None:
        """Another prompt from now on."""
        now = self._clock.now()
        self._session.handle(SetPrompt(text, now), now)

    def frames(self, n: int) -> list[Frame]:
        """The next n frames, each (height, width, 3) uint8 RGB. Errors are the sampler's and the decoder's."""
        self._driver.run(lambda: len(self._shown) >= n)
        return [self._shown.popleft() for _ in range(n)]

    def close(self) -> None:
        """Ends the session; the model stays."""
        self._session.close(self._clock.now())


class _Shows:
    """A source: what is due is shown."""

    def __init__(self, world: SteppedWorld) -> None:
        self._world = world

    def next_at(self) -> float:
        due = self._world._player.next_due()
        return FOREVER if due is None else due

    def run(self, now: float) -> None:
        w = self._world
        w._decoder.decode_until(w._player.next_position)
        played = w._player.advance(now)
        told = tuple(p for p in played if p.what is not PlaybackEventKind.FRAME)
        if told:
            w._session.handle(Played(told, w._player.epoch), now)
        w._shown.extend(p.image for p in played if p.image is not None)
