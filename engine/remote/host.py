"""One world at the server: plays it, sends what has started to its client, and does what the client says.

A host has a thread and an engine. Its client may be lost and come back: what the client has not said to have is sent again, and the
world waits meanwhile.
"""

from __future__ import annotations

import json
import logging
import zlib
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine.errors import Refused
from engine.models.interface import ModelSpec
from engine.playback.player import PlaybackEventKind
from engine.remote.line import Allowance, Heard, Line
from engine.remote.pacing import Uplink
from engine.remote.pictures import PictureEncoder
from engine.remote.protocol import (
    PROTOCOL,
    BadMessage,
    Begin,
    Bye,
    Change,
    Chosen,
    Ended,
    GoBack,
    Got,
    GroupSent,
    Held,
    Hello,
    LogSent,
    NegativePrompt,
    Numbered,
    OtherWorld,
    PauseIt,
    Ping,
    Pong,
    Prompt,
    Refusal,
    ResumeIt,
    Took,
    ToServer,
    ViewSent,
    Welcome,
    WorldLeft,
    pack_view,
    packed,
    to_server,
)
from engine.remote.sounds import SoundEncoder
from engine.runtime.clock import Clock, Inbox
from engine.runtime.live_engine import LiveEngine
from engine.runtime.session_log import LOG
from engine.runtime.settings import Settings, StartFrom

log = logging.getLogger(__name__)

TELL_SECONDS = 0.1
"""Between two views."""
LOOK_SECONDS = 0.005
"""Between two looks at a player that waits for its first or next group."""
PATIENCE = 2.0
"""Seconds without a word of its client after which a world pauses."""
KEPT_SECONDS = 600.0
"""That a world is kept without its client."""
OLDEST_KEY = 5.0
"""Seconds: what is said to have happened before that happened then."""
MOST_MESSAGES = 400
"""Of a client in a second."""
MOST_BYTES, MOST_AT_ONCE = 4 << 20, 72 << 20
"""Of a client, in a second and at once: two pictures or films to start from."""
MOST_UNCONFIRMED = 256
"""Groups that a client may not have said to have while there is a line."""
MOST_WATCHERS = 8
"""Who look on in one world."""
KEPT_STARTS = 4
"""Files to start from that are kept: one may still be read when the next one comes."""
LOG_CHUNK = 1 << 18
"""Bytes of the log in a message."""

Make = Callable[[Settings, Path], LiveEngine]
"""Makes a world's engine, which is not started; the folder is for its log. Raises Refused, ValueError, OSError."""


@dataclass(frozen=True)
class _Joined:
    line: Line
    hello: Hello


@dataclass(frozen=True)
class _Watches:
    line: Line


@dataclass(frozen=True)
class _Heard:
    line: Line
    data: bytes | None
    too_much: bool = False


class Host:
    """From any thread: `join`, `heard`, `close`. The rest is its own thread's."""

    def __init__(
        self,
        session: str,
        make: Make,
        spec: ModelSpec,
        folder: Path,
        clock: Clock,
        over: Callable[[], None],
        say: Callable[[str], None] = log.info,
    ) -> None:
        """session: its secret name. folder: for the log and what the client sends. over: called when it has ended. say: takes a
        sentence for whoever runs the server."""
        self.session, self.spec = session, spec
        self.waiting = False
        """Whether it has no client now."""
        self._make, self._folder, self._clock, self._over, self._say = make, folder, clock, over, say
        self._inbox: Inbox[_Joined | _Watches | _Heard | None] = Inbox(clock)
        self._ended = False
        self._engine: LiveEngine | None = None
        self._line: Line | None = None
        self._watchers: list[Line] = []
        self._number = 0
        self._held: frozenset[str] = frozenset()
        self._heard_at = clock.now()
        self._absent = self._was_paused = False
        # what plays
        self._epoch = 0
        self._index = 0
        self._stream: deque[tuple[int, bytes]] = deque()
        self._group_seconds = spec.spans[1] / spec.fps
        self._uplink = Uplink(self._group_seconds)
        self._pictures = PictureEncoder(spec.width, spec.height, spec.fps)
        self._sound = SoundEncoder(spec.sound_rate) if spec.sound_rate else None
        # what is told
        self._tell_at = 0.0
        self._told = b""
        self._log_at, self._wants_log = 0, True
        self._starts = 0

    # -- from any thread -----------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Starts the thread."""
        self._clock.spawn(self._run, "foreland-host")

    def join(self, line: Line, hello: Hello) -> None:
        """A client takes its place, or comes back. The line that was here before ends."""
        self._inbox.put(_Joined(line, hello))

    def watch(self, line: Line) -> None:
        """Somebody looks on: hears what plays, and may do nothing."""
        self._inbox.put(_Watches(line))

    def heard_from(self, line: Line) -> Heard:
        """Takes what comes over a line; None: it is lost. More than a client may send is not taken."""
        allowance = Allowance(MOST_MESSAGES, MOST_BYTES, MOST_AT_ONCE)
        over = False

        def heard(data: bytes | None) -> None:
            nonlocal over
            if over:
                return
            over = data is None or not allowance.take(len(data), self._clock.now())
            self._inbox.put(_Heard(line, data if not over else None, over and data is not None))

        return heard

    def close(self) -> None:
        """The server ends."""
        self._inbox.put(None)

    # -- the thread ----------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            while not self._ended:
                self._inbox.wait(self._next_at())
                self._round(self._clock.now())
        except Exception:
            log.exception("a world ended by an error of the server")
            self._refuse("the world ended by an error of the server; its log has the details")
        finally:
            if self._engine is not None:
                self._engine.close()
            for line in self._watchers:
                line.send(packed(Refusal(reason="the world is over")))
                line.close()
            self._over()

    def _next_at(self) -> float:
        now = self._clock.now()
        if self._engine is None:
            return now + PATIENCE
        due = self._engine.player.next_due()
        if self._engine.player.paused:
            return max(now, self._tell_at)
        return min(max(now, self._tell_at), now + LOOK_SECONDS if due is None else due)

    def _round(self, now: float) -> None:
        while not self._inbox.empty and not self._ended:
            match self._inbox.take():
                case _Joined(line, hello):
                    self._joined(line, hello, now)
                case _Watches(line):
                    self._let_watch(line)
                case _Heard(line, data) if line in self._watchers:
                    self._hear_watcher(line, data, now)
                case _Heard(line, _, True) if line is self._line:
                    self._turn_out(f"more came than {MOST_MESSAGES} messages or {MOST_BYTES >> 20} MB in a second", now)
                case _Heard(line, data) if line is self._line:
                    self._take(data, now)
                case None:
                    self._refuse("the server was ended")
                    self._ended = True
        if self._engine is not None and not self._ended:
            self._play(self._engine, now)
            if self._line is not None and len(self._stream) > MOST_UNCONFIRMED:
                self._turn_out(f"{len(self._stream)} groups were sent and not one of them confirmed", now)
            if now >= self._tell_at:
                self._tell(self._engine, now)
        self._watch(now)

    def _send(self, data: bytes) -> None:
        if self._line is not None:
            self._line.send(data)

    def _show(self, data: bytes) -> None:
        """To the client and to whoever looks on."""
        self._send(data)
        for line in self._watchers:
            line.send(data)

    def _let_watch(self, line: Line) -> None:
        if len(self._watchers) >= MOST_WATCHERS:
            line.send(packed(Refusal(reason=f"{MOST_WATCHERS} people are looking on already")))
            line.close()
            return
        self._watchers.append(line)
        line.send(packed(Welcome(protocol=PROTOCOL, session="", resumed=False, number=0, spec=self.spec)))
        self._pictures.want_key()
        self._told = b""

    def _hear_watcher(self, line: Line, data: bytes | None, now: float) -> None:
        try:
            message = None if data is None else to_server(data)[0]
        except BadMessage:
            message = None
        if isinstance(message, Ping):
            line.send(packed(Pong(sent=message.sent, now=now)))
        else:
            self._watchers.remove(line)
            line.close()

    def _refuse(self, reason: str) -> None:
        self._send(packed(Refusal(reason=reason[:1000])))
        if self._line is not None:
            self._line.close()
            self._line = None

    # -- the client comes and goes -------------------------------------------------------------------------------------

    def _joined(self, line: Line, hello: Hello, now: float) -> None:
        resumed = hello.session is not None
        self._refuse("the world is played from somewhere else now")
        self._line, self.waiting, self._heard_at = line, False, now
        self._send(
            packed(
                Welcome(protocol=PROTOCOL, session=self.session, resumed=resumed, number=self._number, spec=self.spec)
            )
        )
        self._wants_log = hello.log is not None
        if resumed:
            self._log_at = hello.log or 0
            self._uplink.lost()
            self._forget(hello.groups)
            for _, data in self._stream:
                self._send(data)
            self._pictures.want_key()
            self._told = b""
        self._back()

    def _lost(self, now: float) -> None:
        """The line is gone: nothing is held any more, and the world waits for its client after a while."""
        self._line, self.waiting = None, True
        self._uplink.lost()
        self._hold(frozenset(), now, now)

    def _watch(self, now: float) -> None:
        silent = now - self._heard_at
        if silent > PATIENCE and not self._absent and self._engine is not None:
            self._absent = True
            self._hold(frozenset(), now, now)
            self._was_paused = self._engine.player.paused
            if not self._was_paused:
                self._engine.pause()
        if silent > KEPT_SECONDS or (self._engine is None and silent > PATIENCE and self._line is None):
            self._ended = True

    def _back(self) -> None:
        """The client is heard of again."""
        if self._absent:
            self._absent = False
            if self._engine is not None and not self._was_paused:
                self._engine.resume()

    # -- what the client says ------------------------------------------------------------------------------------------

    def _take(self, data: bytes | None, now: float) -> None:
        if data is None:
            self._lost(now)
            return
        try:
            message, payload = to_server(data)
            self._heard_at = now
            self._back()
            self._do(message, payload, now)
        except (BadMessage, Refused, ValueError, OSError) as e:
            self._turn_out(str(e), now)

    def _turn_out(self, reason: str, now: float) -> None:
        """What the client does is no part of the protocol: it hears why, and its world waits for it as for any lost line."""
        self._say(f"a client's line was ended: {reason}")
        self._refuse(reason)
        self._lost(now)

    def _do(self, message: ToServer, payload: bytes, now: float) -> None:
        match message:
            case Ping(sent=sent):
                self._send(packed(Pong(sent=sent, now=now)))
            case Got(index=index):
                self._uplink.got(index, now)
                self._forget(index + 1)
            case Begin(chosen=chosen):
                self._begin(chosen)
            case Hello():
                raise BadMessage("a second hello")
            case Bye():
                self._end()
            case _:
                if self._engine is None:
                    raise BadMessage("no world has begun")
                if message.number > self._number:
                    self._number = message.number
                    self._obey(self._engine, message, payload, now)

    def _begin(self, chosen: Chosen) -> None:
        if self._engine is not None:
            raise BadMessage("a world has begun already")
        settings = Settings(**dict(chosen)).checked(self.spec)
        self._engine = self._make(settings, self._folder / "session")
        self._engine.start()

    def _end(self) -> None:
        self._ended = True
        if self._engine is not None:
            self._engine.close()
            self._send_log()
            summary = json.dumps(self._engine.summary).encode()
            self._send(packed(Ended(), zlib.compress(summary)))
        if self._line is not None:
            self._line.close()

    def _obey(self, engine: LiveEngine, message: Numbered, payload: bytes, now: float) -> None:
        match message:
            case Held(at=at, keys=keys):
                self._hold(frozenset(keys), self._instant(at, now), now)
            case Prompt(at=at, text=text, seconds=seconds):
                engine.set_prompt(text, self._instant(at, now), seconds)
            case NegativePrompt(text=text):
                engine.set_negative_prompt(text)
            case PauseIt():
                self._held = frozenset()
                engine.pause()
            case ResumeIt():
                engine.resume()
            case OtherWorld(prompt=prompt, seed=seed):
                self._held = frozenset()
                engine.new_world(prompt, seed, self._start_of(message, payload))
            case GoBack(take=take, position=position):
                self._held = frozenset()
                engine.rewind(take, position)
            case Change():
                engine.configure(**message.model_dump(exclude={"kind", "number"}))

    def _instant(self, at: float, now: float) -> float:
        """When something happened at the client, and what it is told of that."""
        at = min(max(at, now - OLDEST_KEY), now)
        self._send(packed(Took(at=at, taken=now)))
        return at

    def _hold(self, keys: frozenset[str], at: float, now: float) -> None:
        """These actions are held from `at` on."""
        before, self._held = self._held, keys
        if self._engine is not None:
            for action in sorted(before - keys):
                self._engine.release(action, at)
            for action in sorted(keys - before):
                self._engine.press(action, at)

    def _start_of(self, message: OtherWorld, payload: bytes) -> StartFrom | None:
        if message.start == "same":
            return None
        if message.start == "model":
            return StartFrom.model()
        self._starts += 1
        for old in self._folder.glob(f"start-{self._starts - KEPT_STARTS}.*"):
            old.unlink()
        file = self._folder / f"start-{self._starts}{message.suffix or '.bin'}"
        file.write_bytes(payload)
        return StartFrom.file(file)

    # -- what the client is sent ---------------------------------------------------------------------------------------

    def _play(self, engine: LiveEngine, now: float) -> None:
        player = engine.player
        epoch, position, frame = player.place
        if epoch != self._epoch:
            self._leave(epoch, position, frame)
        events, epoch = player.advance_in(now)
        if events and epoch != self._epoch:
            self._leave(epoch, events[0].position, events[0].frame)
        for event in events:
            if event.what is PlaybackEventKind.GROUP:
                self._send_group(engine, event.position, event.frame, event.at, now)

    def _leave(self, epoch: int, position: int, frame: int) -> None:
        self._epoch = epoch
        self._pictures.want_key()
        data = packed(WorldLeft(epoch=epoch, position=position, frame=frame))
        self._stream.append((self._index, data))
        self._show(data)

    def _send_group(self, engine: LiveEngine, position: int, start: int, at: float, now: float) -> None:
        group = engine.player.group(position, self._epoch)
        frames, sound = group if group is not None else ([], None)
        span = len(frames) or self.spec.span(position)
        key, pictures = False, list[bytes]()
        if frames and (self._line is None or not self._uplink.full):  # without a line all of it waits for the client
            if self._uplink.crf != self._pictures.crf:
                spec = self.spec
                self._pictures = PictureEncoder(spec.width, spec.height, spec.fps, self._uplink.crf)
            key, pictures = self._pictures.encode(frames)
        heard = self._sound.encode(sound) if self._sound is not None and sound is not None else []
        message = GroupSent(
            index=self._index,
            epoch=self._epoch,
            position=position,
            start=start,
            span=span,
            at=at,
            key=key,
            pictures=tuple(len(p) for p in pictures),
            sound=tuple(len(p) for p in heard),
        )
        data = packed(message, b"".join(pictures) + b"".join(heard))
        self._stream.append((self._index, data))
        if self._line is not None:
            self._uplink.sent(self._index, now)
        self._index += 1
        self._show(data)

    def _forget(self, index: int) -> None:
        """The client has all before this index."""
        while self._stream and self._stream[0][0] < index:
            self._stream.popleft()

    def _tell(self, engine: LiveEngine, now: float) -> None:
        self._tell_at = now + TELL_SECONDS
        if self._line is None and not self._watchers:
            return
        stage, share = engine.stage
        head = ViewSent(stage=stage[:400], share=share, ready=engine.ready.is_set(), error=engine.error)
        data = packed(head, pack_view(engine.view))
        if data != self._told:
            self._told = data
            self._show(data)
        if self._line is not None:
            self._send_log()

    def _send_log(self) -> None:
        """What was added to the session's log since the last time."""
        file = self._folder / "session" / LOG
        if not self._wants_log or not file.exists():
            return
        with file.open("rb") as f:
            f.seek(self._log_at)
            while more := f.read(LOG_CHUNK):
                self._send(packed(LogSent(offset=self._log_at), zlib.compress(more, 1)))
                self._log_at += len(more)
