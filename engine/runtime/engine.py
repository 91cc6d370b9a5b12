"""The engine thread: runs a session live. The rest of the program talks to it through `Engine`, from any thread.

Where threads meet: the inbox of messages into the engine thread, the `SharedPlayer` (frames and the media clock), and the
`View`, which is made when it is asked for, from what the engine thread last published, the player, and what still waits in the
inbox.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.control.conditions import Condition
from engine.control.events import Commit
from engine.models.interface import (
    Decoder,
    Group,
    HistoryPolicy,
    KeepsPlaces,
    Loader,
    Model,
    ModelSpec,
    Stopped,
    WaitsForFrames,
)
from engine.playback.player import PlaybackEvent, PlaybackEventKind
from engine.playback.shared_player import SharedPlayer
from engine.runtime.clock import FOREVER, Clock, Inbox, SystemClock
from engine.runtime.decode_worker import DecodeWorker
from engine.runtime.driver import Driver, Mail, SamplingExecutor, Source, Timer
from engine.runtime.messages import (
    Close,
    Configure,
    Decoded,
    DecodeFailed,
    FirstGroupDecoded,
    Granted,
    InputsMade,
    Message,
    NewWorld,
    Pause,
    Played,
    Press,
    Release,
    ReleaseAll,
    Resume,
    Rewind,
    SetNegativePrompt,
    SetPrompt,
)
from engine.runtime.reading import Reading
from engine.runtime.session import Session, described, prepare
from engine.runtime.session_log import SessionLog
from engine.runtime.settings import Settings, StartFrom
from engine.runtime.shared_sampler import Seat, SharedSampler
from engine.runtime.takes import Takes
from engine.runtime.view import View
from engine.runtime.view_builder import brought_up_to_date

log = logging.getLogger(__name__)

WAIT_CHANGE = 0.2
"""Share by which the time that others may hold a sampler changes before a session is told."""
CLOSE_SECONDS = 1.5
"""That closing waits for the engine thread: a call stops at its next step, and most steps are shorter. A thread that is inside a
longer one is left behind."""


class Engine:
    """One world, live. `start` it; then send keys, prompts and settings; show what `player` says; `close` it.

    What a person asks for is done on the engine thread; what cannot be done becomes a message in the view, and nothing is
    changed then.
    """

    def __init__(
        self,
        load: Loader,
        spec: ModelSpec,
        settings: Settings,
        folder: Path | None,
        clock: Clock | None = None,
        shared: SharedSampler | None = None,
    ) -> None:
        """folder: of the session log, or None for no log. clock: None for the system's. shared: the sampler's time is others' too.
        Raises ValueError for impossible settings, OSError when the folder cannot be written: cheap failures come before the model is
        loaded."""
        self.clock: Clock = SystemClock() if clock is None else clock
        self.player = SharedPlayer(spec.fps, spec.sound_rate, self._played)
        self._published = View(fps=spec.fps, window=settings.checked(spec).window or 0, prompt=settings.prompt)
        self.stage: tuple[str, float] = ("starting", 0.0)
        self.takes = Takes()
        self.ready = threading.Event()
        """Set when the first call is done, or the engine has ended."""
        self.error: str | None = None
        self.summary: dict[str, Any] | None = None
        self.left_behind = False
        """Whether the engine thread was still inside a step when the session was closed."""
        self._load, self._settings, self._spec, self._shared = load, settings, spec, shared
        self._seat: Seat | None = None
        self._reading: Reading | None = None
        self._journal = SessionLog(folder, self.clock.now, lambda: self.player.shown / spec.fps)
        self._inbox: Inbox[Message] = Inbox(self.clock)
        self._closing = threading.Event()
        self._finishing, self._finished = threading.Lock(), False
        self._worker: DecodeWorker | None = None
        self._session: Session | None = None
        self._thread: threading.Thread | None = None
        self._finishing = threading.Lock()
        self._finished = False

    # -- from any thread -----------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Starts the engine thread: the model is loaded, and the world begins."""
        self._thread = self.clock.spawn(self._run, "foreland-engine")

    @property
    def running(self) -> bool:
        """Whether the engine thread is alive."""
        return self._thread is not None and self._thread.is_alive()

    @property
    def view(self) -> View:
        """The session as it is now, though the engine thread may be in the middle of a step; cheap."""
        view = brought_up_to_date(self._published, self.player, self._inbox.waiting, self.clock.now())
        return view if self._seat is None else replace(view, shared=self._seat.others)

    def send(self, message: Message) -> None:
        """Any message, for the engine thread."""
        self._inbox.put(message)

    def press(self, action: str, arrival: float | None = None) -> None:
        """An action begins. arrival: when the key event came, seconds of the clock; None: now."""
        self.send(Press(action, self._at(arrival)))

    def release(self, action: str, arrival: float | None = None) -> None:
        """An action ends. arrival: as for `press`."""
        self.send(Release(action, self._at(arrival)))

    def release_all(self) -> None:
        """Nothing is held any more (focus loss, dialog, pause)."""
        self.send(ReleaseAll(self.clock.now()))

    def set_prompt(self, prompt: str, arrival: float | None = None, seconds: float = 0.0) -> None:
        """A prompt edit. arrival: as for `press`; seconds: of a transition to it."""
        self.send(SetPrompt(prompt, self._at(arrival), seconds))

    def set_negative_prompt(self, prompt: str | None) -> None:
        """Another negative prompt, for models that have one; None for the model's own."""
        self.send(SetNegativePrompt(prompt, self.clock.now()))

    def pause(self) -> None:
        """Holds playback at once; keys are released."""
        now = self.clock.now()
        self.player.pause(now)
        self.send(Pause(now))

    def resume(self) -> None:
        """Playback goes on at once."""
        now = self.clock.now()
        self.player.resume(now)
        self.send(Resume(now))

    def new_world(self, prompt: str | None = None, seed: int | None = None, start: StartFrom | None = None) -> None:
        """A new world; None leaves prompt, seed and start as they were. A prompt, seed or file that cannot be used becomes a
        message in the view. A file is read on a thread of its own, and the world goes on meanwhile: see `reading`."""
        self.cancel_reading()
        message, session = NewWorld(prompt, seed, start), self._session
        frames = session.model.start_frames if session is not None else 0
        if start is None or start.path is None or not frames:
            self.send(message)
            return
        self._reading = Reading(start.path, self._spec, frames, lambda: self.send(message))
        self.clock.spawn(self._reading.run, "foreland-start")

    @property
    def reading(self) -> tuple[Path, float] | None:
        """The file that is being read for a new world, and how far it has come in [0, 1]; None when none is."""
        return None if self._reading is None or self._reading.over else (self._reading.file, self._reading.share)

    def cancel_reading(self) -> None:
        """The new world whose file is being read is not wanted any more."""
        if self._reading is not None:
            self._reading.cancel()

    def rewind(self, take: int, position: int) -> None:
        """Another way on after a kept group. One that is not kept any more becomes a message in the view."""
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
        """Other settings from the next call on; None leaves one as it was. What is impossible becomes a message in the view."""
        self.send(Configure(window, steps, commit, history, answer, preempt, aim))

    def fork_decoder(self) -> Decoder | None:
        """A decoder for looking back at kept groups, for one other thread; None before the model is loaded."""
        session = self._session
        return None if session is None else session.model.fork_decoder()

    def place(self) -> tuple[str, bytes] | None:
        """The place that is on the screen, as a file that a world can begin from: its suffix and its content; None where
        the model keeps no places, and before anything was shown.
        """
        session, shown = self._session, self.player.shown
        if session is None or not shown or not isinstance(session.model.sampler, KeepsPlaces):
            return None
        begun = [k for k in self.takes.path(self.takes.current) if k.start < shown]
        return session.model.sampler.place(begun[-1].group) if begun else None

    @property
    def log_error(self) -> str:
        """Why something of the session's log is not on the disk, '' while all of it is."""
        return self._journal.error

    def close(self, seconds: float = CLOSE_SECONDS) -> None:
        """Ends the session and waits for the threads, at most so many seconds: a thread that is inside a long step is left
        behind, and ends after it. The log is complete afterwards in both cases. Safe to call twice."""
        self._closing.set()
        self.cancel_reading()
        self._inbox.put(Close())
        if self._thread is None:
            self._journal.close({"error": "closed before the start"})
        elif not self.clock.join(self._thread, seconds):
            self.left_behind = True
            log.warning("the engine thread is left inside a step that takes longer than %g s", seconds)
            self._journal.note("the engine thread was left inside a step")
            self._finish()

    def _at(self, arrival: float | None) -> float:
        return self.clock.now() if arrival is None else arrival

    def _played(self, events: Sequence[PlaybackEvent], epoch: int) -> None:
        """From the thread that advances the player."""
        told = tuple(e for e in events if e.what is not PlaybackEventKind.FRAME)
        if told:
            worker = self._worker  # the engine thread forgets it at its end
            if worker is not None:
                worker.notify()
            self._inbox.put(Played(told, epoch))

    # -- the engine thread ---------------------------------------------------------------------------------------------

    def _progress(self, stage: str, share: float) -> None:
        self.stage = (stage, share)
        if self._closing.is_set():
            raise Stopped

    def _run(self) -> None:
        conditions: Inbox[Condition | None] = Inbox(self.clock)
        try:
            model = self._load(self._progress)
            self._play(model, conditions)
        except Stopped:
            pass
        except Exception as e:
            log.info("the engine stopped", exc_info=e)  # who started it tells the person
            self.error = f"{e}" if isinstance(e, ValueError) else described(e)
            self._journal.note(f"the engine stopped: {self.error}", e)
        finally:
            conditions.put(None)
            self._end()

    def _play(self, model: Model, conditions: Inbox[Condition | None]) -> None:
        inbox, clock = self._inbox, self.clock
        worker = self._worker = DecodeWorker(
            model.decoder,
            self.player,
            clock,
            lambda call, error: inbox.put(FirstGroupDecoded(call, error)),
            lambda group, error: self._decode_failed(model, group, error),
            lambda position, seconds: inbox.put(Decoded(position, seconds)),
        )
        slow = model.sampler.prepares_slowly
        effects = LiveEffects(worker, conditions if slow else None)
        seat = self._seat = None if self._shared is None else self._shared.join(lambda: inbox.put(Granted()))
        wait = None if seat is None else seat.wait
        session = Session(model, self._settings, self.player, self._journal, effects, clock.now, self.takes, wait)
        self._session = session
        if slow:
            clock.spawn(lambda: self._prepare(model, conditions), "foreland-prepare")
        publisher = _Publisher(self, session)
        sources: list[Source] = [Mail(inbox, session, clock), Timer(session), publisher]
        closing = self._closing.is_set
        executor = SamplingExecutor(session, clock, lambda: driver.drain(), closing)
        if seat is not None:
            sources.insert(2, _Shares(session, seat, executor))
        driver = Driver(clock, inbox, sources, executor)
        self.stage = ("first picture", 1.0)
        session.start(clock.now())
        publisher.run(clock.now())
        driver.run(closing)

    def _prepare(self, model: Model, conditions: Inbox[Condition | None]) -> None:
        """The prepare thread: conditions in, inputs out. The newest of those that wait is made; the others fold into it."""
        while conditions.wait():
            condition = conditions.take_last()
            if condition is None or self._closing.is_set():
                return
            self._inbox.put(InputsMade(condition.version, prepare(model, condition)))

    def _decode_failed(self, model: Model, group: Group, error: BaseException) -> None:
        """On the decode worker's thread. A sampler that waits for this group's frame waits in vain, and the engine thread in it."""
        if isinstance(model.sampler, WaitsForFrames):
            model.sampler.lose_boundary_frame(group)
        self._inbox.put(DecodeFailed(group, error))

    def _end(self) -> None:
        if self._seat is not None:
            self._seat.leave()
        if self._worker is not None:
            self._worker.close()
        self._finish()
        if self._session is not None:
            try:
                self._session.model.sampler.close()
            except Exception:
                log.exception("the model could not be closed")
        self._session = self._worker = None  # the model's memory goes with them
        self.ready.set()

    def _finish(self) -> None:
        """Writes the summary, once: on the engine thread, or on the closing one when the engine thread is left behind."""
        with self._finishing:
            if self._finished:
                return
            self._finished = True
            try:
                if self._session is not None:
                    self.summary = self._session.close(self.clock.now())
            except Exception as e:
                log.exception("the session could not be closed")
                self.error = self.error or described(e)
            # nothing when the session did it
            self._journal.close({"error": self.error or "closed before the model was loaded"})


class LiveEffects:
    """A session's effects on the decode worker and the prepare thread."""

    def __init__(self, worker: DecodeWorker, conditions: Inbox[Condition | None] | None) -> None:
        """conditions: the prepare thread's inbox, None without one."""
        self._worker, self._conditions = worker, conditions

    def submit(self, groups: Sequence[tuple[Group, int]], call: int | None = None) -> None:
        """See `Effects.submit`."""
        self._worker.submit(groups, call)

    def present(self, position: int) -> None:
        """See `Effects.present`."""
        self._worker.present(position)

    def cancel_from(self, position: int) -> None:
        """See `Effects.cancel_from`."""
        self._worker.cancel_from(position)

    def decode_until(self, position: int) -> None:
        """See `Effects.decode_until`."""
        self._worker.decode_until(position)

    def resume_decoder(self, groups: Sequence[Group]) -> None:
        """See `Effects.resume_decoder`."""
        self._worker.resume(groups)

    def prepare_later(self, condition: Condition) -> bool:
        """See `Effects.prepare_later`."""
        if self._conditions is None:
            return False
        self._conditions.put(condition)
        return True


class _Shares:
    """A source: asks for the sampler that worlds share, and gives it back."""

    def __init__(self, session: Session, seat: Seat, executor: SamplingExecutor) -> None:
        self._session, self._seat, self._executor = session, seat, executor
        self._used = False
        """Whether a call was launched on what was granted."""

    @property
    def _over(self) -> bool:
        """Whether what the sampler was granted for is over."""
        return self._session.granted and self._session.controller.in_flight is None and not self._executor.sampling

    def next_at(self) -> float:
        told = not self._seat.differs(self._session.controller.want)
        return FOREVER if told and not self._over else 0.0

    def run(self, now: float) -> None:
        session, seat = self._session, self._seat
        if session.granted and session.controller.in_flight is not None:
            self._used = True
        if self._over:
            session.granted, used, self._used = False, self._used, False
            seat.done(used)
        wait, known = seat.wait, session.controller.policy.wait or 0.0
        if abs(wait - known) > WAIT_CHANGE * max(wait, known):
            session.share(wait, now)
        want = session.controller.want
        if seat.differs(want):
            seat.ask(want)


class _Publisher:
    """The last source of a round: a new view."""

    def __init__(self, engine: Engine, session: Session) -> None:
        self._engine, self._session = engine, session

    def next_at(self) -> float:
        return FOREVER

    def run(self, now: float) -> None:
        self._engine._published = self._session.view(now)
        if self._session.first_groups:
            self._engine.ready.set()
