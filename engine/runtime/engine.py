"""The engine thread: runs a session live. The rest of the program talks to it through `Engine`, from any thread.

Where threads meet: the queue of messages into the engine thread, the `SharedPlayer` (frames and the media clock), and the
`View`, an immutable object that the engine thread replaces.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.control.conditions import Condition
from engine.control.events import Launch, PlaybackHeld, PlaybackReleased, TimerFired
from engine.models.interface import ConditionError, Decoder, Group, Loader, ModelSpec, Stopped
from engine.playback.player import PlaybackEvent, PlaybackEventKind
from engine.playback.shared_player import SharedPlayer
from engine.runtime.clock import Clock, SystemClock
from engine.runtime.decode_worker import Decoded, DecodeWorker
from engine.runtime.session import Session, Settings, StartFrom
from engine.runtime.session_log import EventLog
from engine.runtime.takes import Takes
from engine.runtime.view import UpdateKind, View

log = logging.getLogger(__name__)

Message = Callable[[Session, float], Sequence[Launch | None]]
CLOSE_SECONDS = 10.0


class Engine:
    """One world, live. `start` it; then send keys, prompts and settings; show what `player` says; `close` it."""

    def __init__(
        self,
        load: Loader,
        spec: ModelSpec,
        settings: Settings,
        folder: Path | None,
        clock: Clock | None = None,
    ) -> None:
        """folder: of the session log, or None for no log. Raises ValueError for impossible settings, OSError when the
        folder cannot be written: cheap failures come before the model is loaded."""
        self.clock: Clock = SystemClock() if clock is None else clock
        self.player = SharedPlayer(spec.fps, spec.sound_rate)
        self.view = View(fps=spec.fps, window=settings.checked(spec).window or 0, prompt=settings.prompt)
        self.stage: tuple[str, float] = ("starting", 0.0)
        self.takes = Takes()
        self.ready = threading.Event()
        self.error: str | None = None
        self.summary: dict[str, Any] | None = None
        self._load, self._settings = load, settings
        self._journal = EventLog(folder, self.clock.now)
        self._messages: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._conditions: queue.SimpleQueue[Condition | None] = queue.SimpleQueue()
        self._closing = threading.Event()
        self._next: Launch | None = None
        self._worker: DecodeWorker | None = None
        self._session: Session | None = None
        self._thread = threading.Thread(target=self._run, name="foreland-engine", daemon=True)

    # -- from any thread -----------------------------------------------------------------------------------------------

    def start(self) -> None:
        self._thread.start()

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    def press(self, action: str, arrival: float | None = None) -> None:
        """An action begins; arrival: when the key event came (the clock's time; now if left out)."""
        t = self.clock.now() if arrival is None else arrival
        self._messages.put(lambda s, now: s.change(s.book.press(action), UpdateKind.KEY, t, now))

    def release(self, action: str, arrival: float | None = None) -> None:
        t = self.clock.now() if arrival is None else arrival
        self._messages.put(lambda s, now: s.change(s.book.release(action), UpdateKind.KEY, t, now))

    def release_all(self) -> None:
        """Nothing is held any more (focus loss, dialog, pause)."""
        t = self.clock.now()
        self._messages.put(lambda s, now: s.change(s.book.release_all(), UpdateKind.KEY, t, now))

    def set_prompt(self, prompt: str, arrival: float | None = None, seconds: float = 0.0) -> None:
        """A prompt edit; seconds: of a transition to it."""
        t = self.clock.now() if arrival is None else arrival
        self._messages.put(lambda s, now: s.set_prompt(prompt, t, now, seconds))

    def set_negative_prompt(self, negative: str | None) -> None:
        """Another negative prompt, for models that have one; None for the model's own."""
        t = self.clock.now()
        self._messages.put(lambda s, now: s.change(s.book.set_negative_prompt(negative), UpdateKind.PROMPT, t, now))

    def pause(self) -> None:
        """Holds playback at once; keys are released."""
        now = self.clock.now()
        self.player.pause(now)
        self._messages.put(
            lambda s, t: [*s.change(s.book.release_all(), UpdateKind.KEY, now, t), s.feed(PlaybackHeld(t))]
        )

    def resume(self) -> None:
        self.player.resume(self.clock.now())

        def message(s: Session, now: float) -> list[Launch | None]:
            waiting = s.player.stalled or s.player.shown == 0
            return [] if waiting else [s.feed(PlaybackReleased(now))]

        self._messages.put(message)

    def new_world(self, prompt: str | None = None, seed: int | None = None, start: StartFrom | None = None) -> None:
        """A new world; see `Session.new_world`."""
        self._messages.put(lambda s, now: [s.new_world(now, prompt, seed, start)])

    def rewind(self, take: int, position: int) -> None:
        """Another way on after a kept group; see `Session.rewind`."""
        self._messages.put(lambda s, now: [s.rewind(now, take, position)])

    def configure(self, **changes: Any) -> None:
        """Changes window, steps or commit from the next call on; what is impossible is refused with a message."""
        self._messages.put(lambda s, now: [s.set_policy(replace(s.settings, **changes), now)])

    def fork_decoder(self) -> Decoder | None:
        """A decoder for looking back at kept groups, for one other thread; None before the model is loaded."""
        session = self._session
        return None if session is None else session.model.fork_decoder()

    def close(self) -> None:
        """Ends the session and waits for the threads. The log is complete afterwards. Safe to call twice."""
        self._closing.set()
        self._messages.put(None)
        if self._thread.ident is not None:
            self._thread.join(CLOSE_SECONDS)
            if self._thread.is_alive():
                log.error("the engine thread did not end within %g s", CLOSE_SECONDS)
        else:
            self._journal.close({"error": "closed before the start"})

    # -- the engine thread ---------------------------------------------------------------------------------------------

    def _progress(self, stage: str, share: float) -> None:
        self.stage = (stage, share)
        if self._closing.is_set():
            raise Stopped

    def _run(self) -> None:
        try:
            model = self._load(self._progress)
            session = Session(model, self._settings, self.player, self._journal, self.clock.now(), self.takes)
            self._begin(session)
            self._loop(session)
        except Stopped:
            pass
        except Exception as e:
            log.exception("the engine stopped")
            self.error = f"{e}" if isinstance(e, (ConditionError, ValueError)) else f"{type(e).__name__}: {e}"
            self._journal.write("note", text=f"the engine stopped: {self.error}")
        finally:
            self._end()

    def _begin(self, session: Session) -> None:
        worker = DecodeWorker(session.model.decoder, self.player, self._decode_failed)
        self._worker, self._session = worker, session
        session.drop = worker.cancel_from
        session.give = worker.submit
        session.resume_decoder = worker.resume
        session.reach = worker.decode_until
        if session.model.sampler.prepares_slowly:
            threading.Thread(target=self._prepare, args=(session,), name="foreland-prepare", daemon=True).start()
            session.prepare_later = self._conditions.put
        self.player.listen = self._listen
        self.stage = ("first picture", 1.0)
        self._publish()

    def _listen(self, played: Sequence[PlaybackEvent], epoch: int) -> None:
        told = [p for p in played if p.what is not PlaybackEventKind.FRAME]
        if told:
            if self._worker is not None:
                self._worker.notify()
            self._messages.put(lambda s, now: s.played(told) if epoch == self.player.epoch else [])

    def _decode_failed(self, error: BaseException) -> None:
        def message(s: Session, now: float) -> list[Launch | None]:
            raise RuntimeError(f"decoding failed: {error}") from error

        self._messages.put(message)

    def _prepare(self, session: Session) -> None:
        """The prepare thread: conditions in, inputs out, in order."""
        while (condition := self._conditions.get()) is not None and not self._closing.is_set():
            try:
                inputs: Any = session.make(condition)
            except Exception as e:
                log.exception("the inputs of condition %d could not be made", condition.version)
                inputs = ConditionError(f"the prompt could not be read ({type(e).__name__}: {e})")
            v = condition.version
            self._messages.put(lambda s, now, v=v, inputs=inputs: s.prepared(v, inputs, now))  # type: ignore[misc]

    def _loop(self, session: Session) -> None:
        self._next = session.feed(TimerFired(self.clock.now()))
        while not self._closing.is_set():
            if self._next is not None:
                launch, self._next = self._next, None
                self._call(session, launch)
                continue
            if self._messages.empty() and session.alarm > self.clock.now() and session.work_ahead():
                self._drain(session)
                continue
            self._wait(session, session.alarm)

    def _wait(self, session: Session, until: float) -> None:
        """Handles the next message, or a wake-up when `until` comes first."""
        timeout = until - self.clock.now()
        try:
            message = self._messages.get(timeout=min(max(timeout, 0.0), 3600.0))
        except queue.Empty:
            if self.clock.now() >= until:
                self._take(session.alarmed(self.clock.now()))
        else:
            self._handle(session, message)
        self._publish()

    def _handle(self, session: Session, message: Message | None) -> None:
        if message is None:
            return
        try:
            self._take(message(session, self.clock.now()))
        except (ConditionError, ValueError, LookupError) as e:
            session.notify(f"{e}; nothing was changed")

    def _take(self, launches: Sequence[Launch | None]) -> None:
        for launch in launches:
            if launch is not None:
                self._next = launch

    def _drain(self, session: Session) -> None:
        while True:
            try:
                message = self._messages.get_nowait()
            except queue.Empty:
                break
            self._handle(session, message)
        if session.alarm <= self.clock.now():
            self._take(session.alarmed(self.clock.now()))
        self._publish()

    def _on_step(self, step: int, steps: int) -> bool:
        """Between two denoising steps: take in what arrived. A newer launch means that this call was given up."""
        assert self._session is not None
        self._drain(self._session)
        return self._next is None and not self._closing.is_set()

    def _call(self, session: Session, launch: Launch) -> None:
        try:
            groups = session.run(launch, self._on_step)
        except Stopped:
            return
        except Exception as e:
            self._take([session.failed(launch, e, self.clock.now())])
            self._publish()
            return
        if self._next is None and not self._closing.is_set():
            self._deliver(session, launch, groups)

    def _deliver(self, session: Session, launch: Launch, groups: list[Group]) -> None:
        """Waits for the first group's frames, then tells the controller of all groups."""
        assert self._worker is not None
        first: list[tuple[Decoded | None, BaseException | None]] = []

        def done(made: Decoded | None, error: BaseException | None) -> None:
            first.append((made, error))
            self._messages.put(None)

        placed = session.placed(groups)
        self._worker.submit(placed, done)
        session.prefill_chunk(groups)
        while not first and self._next is None and not self._closing.is_set():
            self._wait(session, session.alarm)
        if not first or self._next is not None:
            return
        made, error = first[0]
        if made is None:
            self._worker.cancel_from(launch.branch)
            self._take([session.failed(launch, error or RuntimeError("nothing was decoded"), self.clock.now())])
            return

        def show() -> None:
            self.player.put(launch.branch, placed[0][1], made.frames, made.sound)

        self._take(session.deliverable(launch, groups, self.clock.now(), show))
        self.ready.set()
        self._publish()

    def _publish(self) -> None:
        if self._session is not None:
            self.view = self._session.view(self.clock.now())

    def _end(self) -> None:
        self._conditions.put(None)
        if self._worker is not None:
            self._worker.close()
        try:
            if self._session is not None:
                self.summary = self._session.close(self.clock.now())
                self._session.model.sampler.close()
            else:
                self._journal.close({"error": self.error or "closed before the model was loaded"})
        except OSError as e:
            self.error = self.error or f"the session log could not be written: {e}"
        self._session = self._worker = None  # the model's memory goes with them
        self.ready.set()
