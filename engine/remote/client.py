"""An engine at the other end of a line, to be shown like one in this process.

One thread holds the line: it dials, decodes what comes into the player, and dials again when the line is lost. What a person does is
numbered and kept until the server has it, so nothing is lost with a line and nothing is done twice.
"""

from __future__ import annotations

import contextlib
import json
import logging
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, BinaryIO, Literal, Protocol

from engine.control.events import Commit
from engine.errors import Refused
from engine.files import PRIVATE_FOLDER, write_whole
from engine.models.interface import Decoder, Group, HistoryPolicy, ModelSpec
from engine.playback.player import Frame, PlaybackEvent, PlaybackEventKind, sample_at
from engine.playback.shared_player import SharedPlayer
from engine.remote.arrivals import Arrivals
from engine.remote.line import Dial, Line, LineError, LineInbox
from engine.remote.pacing import FIRST_DELAY, Playout, RemoteClock
from engine.remote.pictures import Coded, KeptDecoder, PictureDecoder
from engine.remote.protocol import (
    KEYS,
    LARGEST_FROM_CLIENT,
    LARGEST_FROM_SERVER,
    LARGEST_LINE,
    LARGEST_LOG,
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
    ViewSent,
    Welcome,
    WorldLeft,
    cut,
    packed,
    read_json,
    read_object,
    to_client,
    unpack,
    unpack_view,
)
from engine.remote.sounds import decoded_sound
from engine.runtime.clock import Clock, SystemClock
from engine.runtime.log_rows import RowReader
from engine.runtime.messages import (
    Configure,
    NewWorld,
    Pause,
    PersonMessage,
    Press,
    Release,
    ReleaseAll,
    Resume,
    Rewind,
    SetNegativePrompt,
    SetPrompt,
)
from engine.runtime.session_log import LOG
from engine.runtime.settings import Settings, StartFrom
from engine.runtime.takes import Kept, Takes
from engine.runtime.view import Fate, UpdateKind, View

log = logging.getLogger(__name__)

PING_SECONDS = 0.5
SILENCE = 3.0
"""Seconds without a word after which a line counts as lost."""
GREETING_SECONDS = 10.0
"""That the first answer may take."""
DIAL_AGAIN = (0.1, 0.3, 0.6, 1.0)
"""Seconds before each further try; the last one again and again."""
GIVE_UP = 600.0
"""Seconds without a line after which the world is given up; the server does the same."""
SAID_SECONDS = 5.0
"""That the word of a line that is back stays."""
CLOSE_SECONDS = 3.0
KEPT_MESSAGES = 256
"""That wait for a line, at most."""
KEPT_GROUPS = 256
"""That wait for the log to say what they are."""
WAITING = 2 * LARGEST_FROM_SERVER
"""Bytes that came and wait to be taken, at most."""
FULL_SECONDS = 0.05
"""Between two looks at whether it was."""
AHEAD_SECONDS = 20.0
"""Of media that wait to be shown; what comes then waits in the line."""
LONGEST_CHAIN = 128
"""Groups from one key frame to the next, at most."""


@dataclass(frozen=True)
class Greeting:
    """A line whose other end is a server that speaks as we do."""

    line: Line
    inbox: LineInbox
    welcome: Welcome


def greet(dial: Dial, hello: Hello, clock: Clock) -> Greeting:
    """Dials and says who we are. Waits. Raises LineError with the reason."""
    inbox = LineInbox(clock, WAITING)
    line = dial(inbox.put)
    line.send(packed(hello))
    inbox.wait(clock.now() + GREETING_SECONDS)
    try:
        data = inbox.take()
        if data is None:
            raise LineError("the server ended the line, or did not answer")
        message, _ = to_client(data)
    except BadMessage as e:
        inbox.close()
        line.close()
        raise LineError(f"what answers is not a Foreland server of this version ({e})") from e
    except LineError:
        inbox.close()
        line.close()
        raise
    if isinstance(message, Welcome) and message.protocol == PROTOCOL:
        return Greeting(line, inbox, message)
    inbox.close()
    line.close()
    if isinstance(message, Refusal):
        raise Turned(message.reason)
    raise LineError("the server speaks another version of the protocol: install the same Foreland at both ends")


@contextlib.contextmanager
def understood(what: str) -> Iterator[None]:
    """What the other end sent is not as it should be: that is its fault, and said so. Raises BadMessage."""
    try:
        yield
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as e:
        raise BadMessage(f"{what} cannot be read ({type(e).__name__})") from e


class Turned(LineError):
    """The server does not want this client. The message is its reason."""


class BeginsAfter(Protocol):
    """An engine whose place another one takes."""

    def close(self, seconds: float = ...) -> None:
        """Ends it."""


@dataclass(frozen=True)
class RemoteWorld:
    """A server's model, chosen for a window. A `WorldChoice`."""

    name: str
    spec: ModelSpec
    dial: Dial
    token: str = ""

    @classmethod
    def at(cls, name: str, dial: Dial, token: str = "") -> RemoteWorld:
        """Asks the server what it plays. Waits; raises LineError."""
        greeting = greet(dial, Hello(protocol=PROTOCOL, asks=True, token=token), SystemClock())
        greeting.inbox.close()
        greeting.line.close()
        return cls(name, greeting.welcome.spec, dial, token)

    def engine(
        self, settings: Settings, folder: Path | None, clock: Clock, before: BeginsAfter | None = None
    ) -> RemoteEngine:
        """See `WorldChoice.engine`."""
        if before is not None:
            before.close()
        return RemoteEngine(self, settings, folder, clock)


class RemoteEngine:
    """A `LiveEngine`. Times are of `clock`; what the server says is put into it."""

    def __init__(self, world: RemoteWorld, settings: Settings, folder: Path | None, clock: Clock) -> None:
        """folder: of the session's log, or None. Raises ValueError for impossible settings, OSError for a folder that cannot be
        written."""
        spec = world.spec
        checked = settings.checked(spec)
        self.clock = clock
        self.player = SharedPlayer(spec.fps, spec.sound_rate, self._played)
        self.takes = Takes()
        self.stage: tuple[str, float] = (f"waiting for {world.name}", 0.0)
        self.ready = threading.Event()
        self.error: str | None = None
        self.summary: dict[str, Any] | None = None
        self.left_behind = False
        self.reading: tuple[Path, float] | None = None
        self.log_error = ""
        self.arrivals = Arrivals(spec.fps)
        self._world, self._spec, self._folder = world, spec, folder
        self._chosen = Chosen(**{name: getattr(checked, name) for name in Chosen.model_fields})
        self._view = View(fps=spec.fps, window=checked.window or 0, prompt=checked.prompt)
        self._file: BinaryIO | None = None
        if folder is not None:
            folder.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
            self._file = (folder / LOG).open("xb")
        self._lock = threading.RLock()
        self._line: Line | None = None
        self._inbox = LineInbox(clock, WAITING)
        self._thread: threading.Thread | None = None
        self._closing = self._over = False
        self._said, self._said_until = "", 0.0
        self._clocks = RemoteClock()
        # what was done
        self._number = 0
        self._held: set[str] = set()
        self._outbox: deque[tuple[int, bytes]] = deque(maxlen=KEPT_MESSAGES)
        # what came
        self._session: str | None = None
        self._next_group = 0
        self._epoch = 0
        self._begun = False
        self._next_place = 0, 0
        """Position and media frame of the next group."""
        self._since_key = 0
        self._asked: deque[float] = deque(maxlen=64)
        self._pictures = PictureDecoder(spec.width, spec.height)
        self._before: Coded | None = None
        self._image: Frame | None = None
        self._playout = Playout(spec.spans[1] / spec.fps)
        self._coded: dict[tuple[int, int], tuple[Coded, int]] = {}
        self._log_bytes, self._log_rest, self._log_epoch = 0, b"", 0
        self._log_rows = RowReader()

    # -- from any thread: what a person does ---------------------------------------------------------------------------

    def start(self) -> None:
        """See `LiveEngine.start`."""
        self._thread = self.clock.spawn(self._run, "foreland-line")

    @property
    def running(self) -> bool:
        """See `LiveEngine.running`."""
        return self._thread is not None and self._thread.is_alive()

    def send(self, message: PersonMessage) -> None:
        """See `LiveEngine.send`."""
        match message:
            case Press(action, at):
                self._hold(self._held | {action}, at)
            case Release(action, at):
                self._hold(self._held - {action}, at)
            case ReleaseAll(at):
                self._hold(set(), at)
            case SetPrompt(prompt, at, seconds):
                self._say(lambda n: Prompt(number=n, at=self._there(at), text=prompt, seconds=seconds))
            case SetNegativePrompt(prompt, at):
                self._say(lambda n: NegativePrompt(number=n, at=self._there(at), text=prompt))
            case Pause():
                self._held = set()
                self._say(lambda n: PauseIt(number=n))
            case Resume():
                self._say(lambda n: ResumeIt(number=n))
            case NewWorld(prompt, seed, start):
                self._new_world(prompt, seed, start)
            case Rewind(take, position):
                self._held = set()
                self._say(lambda n: GoBack(number=n, take=take, position=position))
            case Configure():
                changes = {f.name: getattr(message, f.name) for f in fields(Configure)}
                self._say(lambda n: Change(number=n, **changes))

    def press(self, action: str, arrival: float | None = None) -> None:
        """See `LiveEngine.press`."""
        self.send(Press(action, self._at(arrival)))

    def release(self, action: str, arrival: float | None = None) -> None:
        """See `LiveEngine.release`."""
        self.send(Release(action, self._at(arrival)))

    def release_all(self) -> None:
        """See `LiveEngine.release_all`."""
        self.send(ReleaseAll(self.clock.now()))

    def set_prompt(self, prompt: str, arrival: float | None = None, seconds: float = 0.0) -> None:
        """See `LiveEngine.set_prompt`."""
        self.send(SetPrompt(prompt, self._at(arrival), seconds))

    def set_negative_prompt(self, prompt: str | None) -> None:
        """See `LiveEngine.set_negative_prompt`."""
        self.send(SetNegativePrompt(prompt, self.clock.now()))

    def pause(self) -> None:
        """See `LiveEngine.pause`."""
        now = self.clock.now()
        self.player.pause(now)
        self.send(Pause(now))

    def resume(self) -> None:
        """See `LiveEngine.resume`."""
        now = self.clock.now()
        self.player.resume(now)
        self.send(Resume(now))

    def new_world(self, prompt: str | None = None, seed: int | None = None, start: StartFrom | None = None) -> None:
        """See `LiveEngine.new_world`. A file is sent to the server."""
        self.send(NewWorld(prompt, seed, start))

    def cancel_reading(self) -> None:
        """Nothing: the server reads."""

    def rewind(self, take: int, position: int) -> None:
        """See `LiveEngine.rewind`."""
        self.send(Rewind(take, position))

    def configure(
        self,
        window: int | None = None,
        steps: int | None = None,
        commit: Commit | None = None,
        history: HistoryPolicy | None = None,
        answer: bool | None = None,
        preempt: bool | None = None,
        aim: float | None = None,
    ) -> None:
        """See `LiveEngine.configure`."""
        self.send(Configure(window, steps, commit, history, answer, preempt, aim))

    def place(self) -> tuple[str, bytes] | None:
        """None: places stay at the server."""
        return None

    def fork_decoder(self) -> Decoder | None:
        """See `LiveEngine.fork_decoder`."""
        return KeptDecoder(self._spec)

    def _at(self, arrival: float | None) -> float:
        return self.clock.now() if arrival is None else arrival

    def _there(self, at: float) -> float:
        """An instant of our clock by the server's."""
        return at + self._clocks.offset

    def _hold(self, keys: set[str], at: float) -> None:
        self._held = keys
        self._say(lambda n: Held(number=n, at=self._there(at), keys=tuple(sorted(keys)[:KEYS])))

    def _new_world(self, prompt: str | None, seed: int | None, start: StartFrom | None) -> None:
        self._held = set()
        kind: Literal["same", "model", "file"] = "same"
        data, suffix = b"", ""
        if start is not None:
            kind = "model" if start.path is None else "file"
        if start is not None and start.path is not None:
            suffix = start.path.suffix.lower()
            try:
                data = start.path.read_bytes()
            except OSError as e:
                self._tell(f"{start.path.name} cannot be read ({e.strerror}); nothing was changed")
                return
            if len(data) > LARGEST_FROM_CLIENT - 10_000:
                self._tell(f"{start.path.name} is larger than {LARGEST_FROM_CLIENT >> 20} MB; nothing was changed")
                return
        self._say(lambda n: OtherWorld(number=n, prompt=prompt, seed=seed, start=kind, suffix=suffix), data)

    def _say(self, make: Any, payload: bytes = b"") -> None:
        """A numbered message: kept until the server has it. What is none is told to the person."""
        with self._lock:
            try:
                message: Numbered = make(self._number + 1)
            except ValueError as e:
                self._tell(f"that cannot be sent ({str(e).splitlines()[0]}); nothing was changed")
                return
            self._number += 1
            data = packed(message, payload)
            self._outbox.append((self._number, data))
            if self._line is not None:
                self._line.send(data)

    def _tell(self, sentence: str) -> None:
        self._said, self._said_until = sentence, self.clock.now() + SAID_SECONDS

    # -- what is seen --------------------------------------------------------------------------------------------------

    @property
    def view(self) -> View:
        """See `LiveEngine.view`: the server's, with what this end knows better."""
        view, player, now = self._view, self.player, self.clock.now()
        if now < self._said_until or (self._line is None and self._said):
            view = replace(view, message=self._said)
        if view.state is None or view.epoch != player.epoch:
            return view
        shown = player.next_position
        return replace(
            view,
            groups=tuple(
                replace(g, fate=Fate.LOCKED)
                if g.fate is Fate.DELIVERED and g.position >= shown
                else replace(g, fate=Fate.DELIVERED)
                if g.position < shown
                else g
                for g in view.groups
            ),
            revoked=tuple(replace(g, at=g.at - self._clocks.offset) for g in view.revoked),
            updates=tuple(self.arrivals.own(u) for u in view.updates),
            delivered=shown,
            keys=tuple(sorted(self._held)),
            last=self.arrivals.last,
            L50=self.arrivals.median,
            stalls=player.total_stalls,
            stall_seconds=player.stall_seconds(now),
            paused=player.paused,
        )

    def _played(self, events: Sequence[PlaybackEvent], epoch: int) -> None:
        """From the thread that advances the player."""
        for e in events:
            if e.what is PlaybackEventKind.GROUP:
                self.arrivals.seen(epoch, e.position, self._there(e.shown), e.frame)

    # -- the line's thread ---------------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            self._connect()
            while not self._over and self.error is None:
                self._listen()
                if not self._over and self.error is None and not self._closing:
                    self._connect_again()
                elif self._closing:
                    return
        except LineError as e:
            self.error = str(e)
        except Exception as e:
            log.exception("the line's thread ended")
            self.error = f"{type(e).__name__}: {e}"
        finally:
            if self._line is not None:
                self._line.close()
                self._line = None
            self.ready.set()

    def _hello(self) -> Hello:
        return Hello(
            protocol=PROTOCOL,
            token=self._world.token,
            session=self._session,
            log=self._log_bytes,
            groups=self._next_group,
        )

    def _connect(self) -> None:
        greeting = greet(self._world.dial, self._hello(), self.clock)
        with self._lock:
            self._inbox = greeting.inbox
            if self._session is None:
                self._session = greeting.welcome.session
                greeting.line.send(packed(Begin(chosen=self._chosen)))
            for number, data in self._outbox:
                if number > greeting.welcome.number:
                    greeting.line.send(data)
            self._line = greeting.line

    def _connect_again(self) -> None:
        """Tries until there is a line, or no hope."""
        lost, tries = self.clock.now(), 0
        self._said = f"The connection to {self._world.name} is lost: trying again. The world waits there."
        while not self._closing:
            wait = DIAL_AGAIN[min(tries, len(DIAL_AGAIN) - 1)]
            self.clock.sleep(wait)
            tries += 1
            try:
                self._connect()
            except Turned:
                raise
            except LineError as e:
                if self.clock.now() - lost > GIVE_UP:
                    raise LineError(f"the line to {self._world.name} did not come back: {e}") from e
                continue
            if self._held:
                self._hold(set(self._held), self.clock.now())
            away = self.clock.now() - lost
            self._tell(
                f"The connection to {self._world.name} is back after {away:.1f} s: the world goes on where it was."
            )
            return

    def _listen(self) -> None:
        """Until the line is lost or the session over."""
        line, inbox = self._line, self._inbox
        assert line is not None
        heard = ask_at = self.clock.now()
        try:
            while not self._over:
                inbox.wait(ask_at)
                now = self.clock.now()
                if now >= ask_at:
                    ask_at = now + PING_SECONDS
                    self._asked.append(now)
                    line.send(packed(Ping(sent=now)))
                if self._full:
                    heard = now
                    self.clock.sleep(FULL_SECONDS)
                while not inbox.empty and not self._over and not self._full:
                    data = inbox.take()
                    if data is None:
                        return
                    if data:
                        heard = now
                        self._take(data, now)
                if now - heard > SILENCE:
                    return
        except (BadMessage, Refused) as e:
            self.error = f"what {self._world.name} sent cannot be understood ({e}); the line was ended"
        finally:
            with self._lock:
                self._line = None
            inbox.close()
            line.close()

    @property
    def _full(self) -> bool:
        """Whether so much waits to be shown that nothing more is taken."""
        return self._next_place[1] - self.player.shown > AHEAD_SECONDS * self._spec.fps

    def _take(self, data: bytes, now: float) -> None:
        message, payload = to_client(data)
        match message:
            case GroupSent():
                self._group(message, payload, now)
            case WorldLeft(epoch=epoch, position=position, frame=frame):
                self._leave(epoch, position, frame)
            case ViewSent():
                self.stage = message.stage, message.share
                self._view = unpack_view(payload)
                if message.ready:
                    self.ready.set()
                if message.error is not None:
                    self.error = message.error
                    self._over = True
            case LogSent(offset=offset):
                self._logged(offset, unpack(payload))
            case Took(at=at, taken=taken):
                self.arrivals.took(at, taken)
            case Pong(sent=sent, now=there):
                if sent not in self._asked:
                    raise BadMessage("an answer to what was not asked")
                self._asked.remove(sent)
                self._clocks.answered(sent, there, now)
            case Ended():
                with understood("the summary"):
                    self.summary = self._seen_here(read_object(unpack(payload)))
                self._over = True
            case Refusal(reason=reason):
                self.error = f"{self._world.name}: {reason}"
                self._over = True
            case Welcome():
                raise BadMessage("a second welcome")

    def _leave(self, epoch: int, position: int, frame: int) -> None:
        if epoch <= self._epoch:
            return  # said again after the line was lost
        self._epoch, self._begun = epoch, False
        self._next_place = position, frame
        self.player.restart(position, frame, epoch)
        self._playout.arrived(None)

    def _group(self, m: GroupSent, payload: bytes, now: float) -> None:
        if m.index < self._next_group:
            return  # sent again after the line was lost
        if m.index > self._next_group or m.epoch != self._epoch:
            raise BadMessage(f"group {m.index} of world {m.epoch} came, {self._next_group} of {self._epoch} was due")
        if (m.position, m.start) != self._next_place:
            raise BadMessage(f"a group at {m.position}, {m.start} came, {self._next_place} was due")
        if m.pictures and len(m.pictures) != m.span:
            raise BadMessage(f"{len(m.pictures)} pictures came for {m.span} frames")
        parts = cut(payload, m.pictures + m.sound)
        pictures, heard = parts[: len(m.pictures)], parts[len(m.pictures) :]
        frames = self._pictures.decode(pictures) if pictures else [self._still()] * m.span
        sound = None
        if heard:
            rate, fps = self._spec.sound_rate, self._spec.fps
            samples = sample_at(m.start + m.span, fps, rate) - sample_at(m.start, fps, rate)
            sound = decoded_sound(heard, rate, samples)
        self._image = frames[-1]
        self._since_key = 0 if m.key else self._since_key + 1
        if self._since_key > LONGEST_CHAIN:
            raise BadMessage(f"no key frame came for {LONGEST_CHAIN} groups")
        coded = Coded(tuple(pictures), m.span, None if m.key else self._before, sound)
        self._before = coded
        self._coded[m.epoch, m.position] = coded, m.start
        for old in list(self._coded)[:-KEPT_GROUPS]:
            del self._coded[old]
        if not self._begun:
            self._begun = True
            self.player.begin_at(now + FIRST_DELAY)
        due = self.player.due(m.start)
        if (early := self._playout.arrived(None if due is None else due - now)) > 0:
            self.player.hurry(early)
        self.player.put(m.position, m.start, frames, sound)
        self._next_group, self._next_place = m.index + 1, (m.position + 1, m.start + m.span)
        if self._line is not None:
            self._line.send(packed(Got(index=m.index)))

    def _still(self) -> Frame:
        """The picture that is held where none came."""
        if self._image is None:
            raise BadMessage("the first group has no pictures")
        return self._image

    # -- the server's log ----------------------------------------------------------------------------------------------

    def _logged(self, offset: int, data: bytes) -> None:
        if offset != self._log_bytes:
            raise BadMessage(f"the log goes on at {offset}, not at {self._log_bytes}")
        self._log_bytes += len(data)
        if self._log_bytes > LARGEST_LOG:
            raise BadMessage(f"the log is larger than {LARGEST_LOG >> 30} GB")
        if self._file is not None:
            try:
                self._file.write(data)
                self._file.flush()
            except OSError as e:
                self._file = None
                self.log_error = f"the session log cannot be written any more; the world goes on ({e.strerror})"
        *lines, self._log_rest = (self._log_rest + data).split(b"\n")
        if len(self._log_rest) > LARGEST_LINE:
            raise BadMessage(f"a line of the log is longer than {LARGEST_LINE >> 20} MB")
        for line in lines:
            with understood("a line of the log"):
                self._read(self._log_rows.line(read_json(line)))

    def _read(self, line: dict[str, Any]) -> None:
        """What the log says of takes and updates."""
        match line.get("kind"):
            case "condition":
                self.arrivals.condition(int(line["version"]), UpdateKind(line["what"]), str(line["prompt"]))
            case "command" if line["name"] == "Receipt" and line["data"]["outcome"] == "applied":
                self.arrivals.applied(self._log_epoch, line["data"])
            case "delivered":
                self._delivered(line)
            case "reset":
                self._log_epoch += 1
                self.takes.clear()
            case "rewind":
                self._log_epoch += 1
                try:
                    self.takes.branch(int(line["take"]), int(line["position"]))
                except LookupError:
                    self.takes.clear()

    def _delivered(self, line: dict[str, Any]) -> None:
        position = int(line["position"])
        got = self._coded.pop((self._log_epoch, position), None)
        if got is not None:
            coded, start = got
            prompt = self.arrivals.prompt(int(line["version"])) or self._view.prompt
            group = Group(position, coded, None, coded.span)
            self.takes.deliver(Kept(group, start, coded.span, int(line["call"]), int(line["version"]), prompt))

    # -- the end -------------------------------------------------------------------------------------------------------

    def _seen_here(self, theirs: dict[str, Any]) -> dict[str, Any]:
        player = self.player
        seen = self.arrivals.summary(
            theirs, player.total_shown, player.total_stalls, player.stall_seconds(self.clock.now())
        )
        return {**seen, "over": self._world.name}

    def close(self, seconds: float = CLOSE_SECONDS) -> None:
        """See `LiveEngine.close`. The summary is the server's, with what was seen here; without a line there is none."""
        if self._closing:
            return
        self._closing = True
        with self._lock:
            if self._line is not None:
                self._line.send(packed(Bye()))
            else:
                self._over = True
        if self._thread is not None and not self.clock.join(self._thread, seconds):
            self._over, self.left_behind = True, True
            self._inbox.put(None)
        if self._file is not None:
            self._file.close()
            self._file = None
        if self.summary is not None and self._folder is not None:
            try:
                write_whole(self._folder / "summary.json", (json.dumps(self.summary, indent=2) + "\n").encode())
            except OSError as e:
                self.log_error = f"the session's summary could not be written ({e.strerror})"
