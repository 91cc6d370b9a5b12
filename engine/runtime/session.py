"""A session: carries out what the controller decides, over one model, without threads of its own.

The engine thread runs it live, `engine.virtual` runs it in virtual time; both feed it events and execute the one
launch that may come back. Everything is logged here.
"""

from __future__ import annotations

import logging
import time
import traceback
import zlib
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from engine.control.conditions import Condition, ConditionBook
from engine.control.controller import Controller, Counts
from engine.control.estimator import Estimator
from engine.control.events import (
    Abandon,
    Command,
    Commit,
    ConditionChanged,
    Event,
    GroupsReady,
    GroupStarted,
    InputsReady,
    InputsRejected,
    Launch,
    Notice,
    Outcome,
    PlaybackHeld,
    PlaybackReleased,
    Policy,
    PolicyChanged,
    Prediction,
    Receipt,
    RequestFinished,
    Restore,
    Revoke,
    SessionClosed,
    SetTimer,
    TimerFired,
)
from engine.models.interface import ConditionError, Group, HistoryPolicy, Model, ModelSpec, Request, StepCallback
from engine.playback.player import PlaybackEvent, PlaybackEventKind
from engine.playback.shared_player import SharedPlayer
from engine.runtime.host import facts
from engine.runtime.metrics import UpdateRecord, percentile, summary
from engine.runtime.session_log import SCHEMA, EventLog
from engine.runtime.takes import Kept, Takes, resume_sampler
from engine.runtime.view import FADE_SECONDS, Fate, FlightMark, GroupMark, UpdateKind, UpdateMark, UpdatePhase, View

log = logging.getLogger(__name__)

RESUMED = 256
"""Groups before the one that a world goes back to that its models hear of again."""
RIBBON_PAST = 24
"""Delivered groups that a view still shows."""
COLD_ESTIMATE = 0.6
"""Seconds that C is assumed to be before a call was measured."""
DOUBT = 0.5
"""Share added to the estimate after one measured call; see `Estimator`."""
OPEN_PHASES = (UpdatePhase.RECEIVED, UpdatePhase.GENERATING)


@dataclass(frozen=True)
class Transition:
    """A prompt edit that takes a while: STEPS launches, evenly over `seconds`."""

    prompt: str
    before: str
    began: float
    seconds: float
    done: int = 0

    STEPS: ClassVar[int] = 4

    @property
    def due(self) -> float:
        """When the next step is."""
        return self.began + self.seconds * self.done / self.STEPS


@dataclass(frozen=True, slots=True)
class StartFrom:
    """What a new world starts from: `StartFrom.model()` or `StartFrom.file(path)`."""

    path: Path | None = None

    @classmethod
    def model(cls) -> StartFrom:
        """What the model starts from by itself."""
        return cls()

    @classmethod
    def file(cls, path: Path) -> StartFrom:
        """The picture, or the end of the film, in a file."""
        return cls(path)


@dataclass(frozen=True)
class Settings:
    """What a person chooses. window, steps: None takes the model's own. latents: at the end, the kept latents of the take on show go
    into the session's folder."""

    prompt: str = ""
    seed: int = 0
    window: int | None = None
    steps: int | None = None
    commit: Commit = Commit.SPECULATIVE
    history: HistoryPolicy | None = None
    latents: bool = False

    def checked(self, spec: ModelSpec) -> Settings:
        """With everything filled in. Raises ValueError with what is allowed."""
        window = spec.window if self.window is None else self.window
        spec.check_window(window)
        steps = spec.steps if self.steps is None else self.steps
        if not 1 <= steps <= 50:
            raise ValueError(f"steps = {steps} is out of range: 1 to 50")
        history = spec.history[0] if self.history is None else self.history
        if history not in spec.history:
            known = ", ".join(h.value for h in spec.history)
            raise ValueError(f"{spec.name} does not know the history policy {history.value}; it has {known}")
        if not 0 <= self.seed < 2**63:
            raise ValueError(f"seed = {self.seed} is out of range: 0 to 2^63 - 1")
        return replace(self, window=window, steps=steps, history=history)


class Session:
    """Used from one thread. `player` is the only object it shares."""

    def __init__(
        self,
        model: Model,
        settings: Settings,
        player: SharedPlayer,
        journal: EventLog,
        now: float,
        takes: Takes | None = None,
    ) -> None:
        """takes: where what is delivered is kept. Raises ConditionError or ValueError when the settings cannot be used."""
        self.model = model
        self.settings = settings.checked(model.spec)
        self.player = player
        self.log = journal
        self.takes = takes if takes is not None else Takes()
        self.resume_decoder: Callable[[list[Group]], None] = model.decoder.resume
        """Makes the decoder go on after retained groups."""
        self.drop: Callable[[int], None] = player.drop
        """Called when positions from this one on will not play: forget their frames."""
        self.give: Callable[[list[tuple[Group, int]]], None] = lambda groups: None
        """Called with groups that will play and the media frames they begin at: decode them in time."""
        self.prepare_later: Callable[[Condition], None] | None = None
        """Takes a condition whose inputs are made elsewhere and come back through `prepared`; None: they are made at once."""
        self.wake_at = float("inf")
        self.book = ConditionBook(self.settings.prompt)
        self.records: list[UpdateRecord] = []
        self.messages: deque[str] = deque(maxlen=8)
        self.first_groups: list[float] = []
        self.attempt = 0
        self._past_counts = Counts()
        self._prepared: dict[int, Any] = {0: model.sampler.prepare(self.book.current)}
        self._marks: dict[int, UpdateMark] = {}
        self._ribbon: deque[GroupMark] = deque(maxlen=RIBBON_PAST)
        self._revoked: deque[GroupMark] = deque(maxlen=96)
        self._flight: FlightMark | None = None
        self._last: UpdateMark | None = None
        self._timeline: dict[int, Group] = {}
        self._transition: Transition | None = None
        self._words: dict[int, str] = {0: settings.prompt}
        self._began = now
        self.reach: Callable[[int], None] = lambda position: None
        model.sampler.attach(self)
        self.controller = self._new_controller(now, 0)
        self._mark(self.book.current, UpdateKind.START, now)
        spec, s = model.spec, self.settings
        self.log.media = lambda: self.player.shown / spec.fps
        self.log.write(
            "session",
            now,
            schema=SCHEMA,
            model=spec.name,
            weights=model.identity,
            seed=s.seed,
            window=s.window,
            steps=s.steps,
            commit=s.commit,
            history=s.history,
            policy=self.controller.policy,
            spans=spec.spans,
            fps=spec.fps,
            prompt=s.prompt,
            machine=facts(),
            t0=self.log.t0,
            t0_wall=time.time(),
            began=now,
            estimator={
                "cold": COLD_ESTIMATE,
                "margin": Estimator.margin,
                "quantile": Estimator.quantile,
                "doubt": DOUBT,
            },
        )

    # -- controller and its commands -----------------------------------------------------------------------------------

    def _policy(self) -> Policy:
        assert self.settings.window is not None
        spec, s = self.model.spec, self.settings
        return Policy(spec.fps, self.settings.window, s.commit, spec.phase, spec.phase_offset, spec.block)

    def _new_controller(self, now: float, version: int, first: int = 0, start: int = 0) -> Controller:
        first_call = self.controller.next_call if hasattr(self, "controller") else 0
        estimator = Estimator(cold=COLD_ESTIMATE, doubt=DOUBT)
        return Controller(self._policy(), now, version, estimator, first_call, first, start)

    def feed(self, event: Event) -> Launch | None:
        """Hands an event to the controller and carries out the answer, but for a launch, which is returned."""
        self.log.write("event", event.at, name=type(event).__name__, data=event)
        commands = self.controller.handle(event)
        return self._carry_out(commands, event.at)

    def _carry_out(self, commands: Sequence[Command], at: float) -> Launch | None:
        launch: Launch | None = None
        for command in commands:
            more = {}
            if isinstance(command, Receipt) and command.outcome is Outcome.APPLIED:
                more = {"R": command.wait, "C": command.generate, "Q": command.queue, "L": command.latency}
            self.log.write("command", at, name=type(command).__name__, data=command, **more)
            match command:
                case Launch():
                    launch = command
                case Revoke():
                    self.drop(command.entries[0].position)
                    self._revoked.extend(_mark_of(e, Fate.REVOKED, at) for e in command.entries)
                    self.takes.revoke([k for e in command.entries if (k := self._kept(e)) is not None])
                case SetTimer():
                    self.wake_at = command.at
                case Receipt():
                    self._receive(command)
                case Notice():
                    self.notify(command.message)
                case Restore():
                    self.give([(self._timeline[e.position], e.start) for e in command.entries])
                case Abandon():
                    pass
        if launch is not None:
            self.book.launched(launch.version)
            for v, m in self._marks.items():
                if v <= launch.version and m.phase is UpdatePhase.RECEIVED:
                    self._marks[v] = replace(m, phase=UpdatePhase.GENERATING)
        c = self.controller
        self.log.write(
            "state",
            at,
            state=c.state,
            d=c.delivered,
            l=c.locked,
            e=c.end,
            running=c.running,
            pending=c.pending,
            in_flight=c.in_flight.call if c.in_flight else None,
        )
        return launch

    def _receive(self, r: Receipt) -> None:
        mark = self._marks.get(r.version)
        kind = mark.kind if mark else UpdateKind.KEY
        if r.outcome is Outcome.RECEIVED:
            return
        self.records.append(UpdateRecord.of(r, kind, self.log.t0, mark.arrival if mark else 0.0))
        if mark is None:
            return
        if r.outcome is Outcome.APPLIED:
            live = replace(
                mark, phase=UpdatePhase.LIVE, frame=self._start_of(r.position), R=r.wait, C=r.generate, Q=r.queue
            )
            self._marks[r.version] = live
            if kind is not UpdateKind.START:
                self._last = live
        else:
            self._marks[r.version] = replace(mark, phase=UpdatePhase(r.outcome.value))
        self._prepared = {v: p for v, p in self._prepared.items() if v >= min(r.version, self.controller.running)}
        ended = [v for v, m in self._marks.items() if m.phase not in OPEN_PHASES]
        for v in ended[:-12]:
            del self._marks[v]

    def _start_of(self, position: int) -> int:
        c = self.controller
        if position >= c.delivered:
            return c.start(position)
        for mark in reversed(self._ribbon):
            if mark.position == position:
                return mark.start
        return c.start(c.delivered) - self.model.spec.span(position)

    # -- what a person does --------------------------------------------------------------------------------------------

    def change(self, condition: Condition | None, kind: UpdateKind, arrival: float, now: float) -> list[Launch]:
        """A new condition from the book (None: nothing changed)."""
        if condition is None:
            return []
        v = condition.version
        self._words[v] = condition.prompt
        self._words = {w: p for w, p in self._words.items() if w > v - 4096}
        self._mark(condition, kind, arrival)
        self.log.write(
            "condition",
            now,
            version=v,
            what=kind,
            prompt=condition.prompt,
            keys=condition.keys,
            tapped=condition.tapped,
            before=condition.before,
            share=condition.share,
            negative=condition.negative,
        )
        launches = [self.feed(ConditionChanged(now, v, min(arrival, now)))]
        if self.prepare_later is not None:
            self.prepare_later(condition)
        else:
            launches += self.prepared(v, self.make(condition), now)
        return [x for x in launches if x is not None]

    @property
    def alarm(self) -> float:
        """When `alarmed` is to be called, unless something else happens before."""
        return min(self.wake_at, self._transition.due if self._transition is not None else float("inf"))

    def alarmed(self, now: float) -> list[Launch]:
        """A time came that the controller or a transition waited for."""
        launches: list[Launch | None] = []
        t = self._transition
        if t is not None and t.due <= now:
            done = t.done + 1
            self._transition = replace(t, done=done) if done < t.STEPS else None
            launches += self.change(
                self.book.set_prompt(t.prompt, t.before, done / t.STEPS), UpdateKind.PROMPT, now, now
            )
        if self.wake_at <= now:
            launches.append(self.feed(TimerFired(now)))
        return [x for x in launches if x is not None]

    def set_prompt(self, prompt: str, arrival: float, now: float, seconds: float = 0.0) -> list[Launch]:
        """A prompt edit, at once or over some seconds. A newer one takes the place of a transition that is not over."""
        self._transition = None
        before = self.book.current.prompt
        if seconds <= 0 or prompt == before:
            return self.change(self.book.set_prompt(prompt), UpdateKind.PROMPT, arrival, now)
        self._transition = Transition(prompt, before, now, seconds, 1)
        return self.change(self.book.set_prompt(prompt, before, 1 / Transition.STEPS), UpdateKind.PROMPT, arrival, now)

    def make(self, condition: Condition) -> Any:
        """A condition's inputs, or the ConditionError that says why not. From any thread, where the sampler allows it."""
        try:
            return self.model.sampler.prepare(condition)
        except ConditionError as e:
            return e

    def prepared(self, version: int, inputs: Any, now: float) -> list[Launch]:
        """A condition's inputs are there, or cannot be made; what belongs to a world that is gone is ignored."""
        if version not in self._marks:
            return []
        if isinstance(inputs, ConditionError):
            self.notify(f"{inputs}; the world goes on as before")
            self.book.revert_prompt(self._accepted_prompt(version))
            launch = self.feed(InputsRejected(now, version, str(inputs)))
        else:
            self._prepared[version] = inputs
            launch = self.feed(InputsReady(now, version))
        return [] if launch is None else [launch]

    def _accepted_prompt(self, rejected: int) -> str:
        good = [m for v, m in self._marks.items() if v < rejected and m.phase is not UpdatePhase.REJECTED]
        return good[-1].text if good else self.settings.prompt

    def _mark(self, condition: Condition, kind: UpdateKind, arrival: float) -> None:
        media = self.player.media_time(arrival)
        self._marks[condition.version] = UpdateMark(
            condition.version, kind, condition.prompt, media, -1, UpdatePhase.RECEIVED
        )

    def played(self, happenings: Sequence[PlaybackEvent]) -> list[Launch]:
        """What the player did, for the controller."""
        launches: list[Launch | None] = []
        for p in happenings:
            if p.what is PlaybackEventKind.GROUP:
                self._deliver_mark(p.position)
                launches.append(self.feed(GroupStarted(p.at, p.position)))
                self.model.sampler.evict_before(p.position)
                self.model.decoder.evict_before(p.position)
            elif p.what is PlaybackEventKind.STALLED:
                self.log.write("played", p.at, what="stalled", position=p.position)
                launches.append(self.feed(PlaybackHeld(p.at)))
            elif p.what in (PlaybackEventKind.STARTED, PlaybackEventKind.RESUMED):
                self.log.write("played", p.at, what=p.what, position=p.position)
                launches.append(self.feed(PlaybackReleased(p.at)))
        return [x for x in launches if x is not None]

    def _deliver_mark(self, position: int) -> None:
        cache = self.controller.cache
        if cache and cache[0].position == position:
            self._ribbon.append(_mark_of(cache[0], Fate.DELIVERED))
            if (kept := self._kept(cache[0])) is not None:
                self.takes.deliver(kept)
                self.log.write(
                    "delivered",
                    position=position,
                    start=kept.start,
                    span=kept.span,
                    call=kept.call,
                    version=kept.version,
                    take=self.takes.current,
                    latent=fingerprint(kept.group),
                )

    def _kept(self, e: Prediction) -> Kept | None:
        """An entry of the cache with its group, where that is known."""
        group = self._timeline.get(e.position)
        return (
            None if group is None else Kept(group, e.start, e.span, e.call, e.version, self._words.get(e.version, ""))
        )

    def set_policy(self, settings: Settings, now: float) -> Launch | None:
        """Takes new K, steps or commit policy from the next call on. Raises ValueError."""
        self.settings = settings.checked(self.model.spec)
        return self.feed(PolicyChanged(now, self._policy()))

    def new_world(
        self, now: float, prompt: str | None = None, seed: int | None = None, start: StartFrom | None = None
    ) -> Launch | None:
        """A new world from the prompt in force (or this one); the old one's cache is revoked and logged. start: what it
        starts from; None leaves what was.

        Raises ConditionError or ValueError, and then nothing was changed.
        """
        settings = self.settings if seed is None else replace(self.settings, seed=seed).checked(self.model.spec)
        now_said = self.book.current
        said = now_said.prompt if prompt is None else prompt
        condition = Condition(now_said.version + 1, said, negative=now_said.negative)
        prepared = self.model.sampler.prepare(condition)
        if start is not None:
            self.model.set_start(start.path)
        self.settings = settings
        self._leave(now, condition, prepared)
        self.takes.clear()
        self.player.restart()
        self.model.sampler.reset()
        self.resume_decoder([])
        self._enter(now, condition)
        where = str(start.path) if start is not None and start.path is not None else None
        self.log.write(
            "reset",
            now,
            seed=self.settings.seed,
            start=where,
            prompt=condition.prompt,
            attempt=self.attempt,
        )
        return self.feed(TimerFired(now))

    def rewind(self, now: float, take: int, position: int) -> Launch | None:
        """Goes back to a kept group and on from there another way, under the prompt in force; the take on show stays in the tree.

        Raises LookupError or ConditionError, and then nothing was changed.
        """
        condition = Condition(
            self.book.current.version + 1, self.book.current.prompt, negative=self.book.current.negative
        )
        prepared = self.model.sampler.prepare(condition)
        came_from = self.takes.path(take, position)
        if not came_from or came_from[-1].position != position:
            raise LookupError(f"group {position} of take {take} is not kept any more")
        self._leave(now, condition, prepared)
        path = self.takes.branch(take, position)[-RESUMED:]
        last = path[-1]
        frame = last.start + last.span
        self.player.restart(position + 1, frame)
        resume_sampler(self.model.sampler, path)
        self.resume_decoder([k.group for k in path])
        self._timeline = {k.position: k.group for k in path[-2:]}
        self._ribbon.extend(
            GroupMark(k.position, k.start, k.span, k.version, Fate.DELIVERED) for k in path[-RIBBON_PAST:]
        )
        self._enter(now, condition, position + 1, frame)
        became = self.takes.current
        self.log.write(
            "rewind",
            now,
            take=take,
            position=position,
            groups=len(path),
            became=became,
            attempt=self.attempt,
        )
        return self.feed(TimerFired(now))

    def _leave(self, now: float, condition: Condition, prepared: Any) -> None:
        """Ends the controller's world; what it predicted and nobody saw is revoked. The next one begins under `condition`."""
        self.feed(SessionClosed(now))
        for name in ("predicted", "delivered", "revoked"):
            setattr(self._past_counts, name, getattr(self._past_counts, name) + getattr(self.controller.counts, name))
        self._past_counts.revoked += len(
            self.controller.cache
        )  # locked ones, which will not play in a world that is left
        self._timeline.clear()
        self._ribbon.clear()
        self._revoked.clear()
        self._marks.clear()
        self.attempt += 1
        self.book = ConditionBook(condition.prompt, condition.version, condition.negative)
        self._transition = None
        self._words[condition.version] = condition.prompt
        self._prepared = {condition.version: prepared}

    def _enter(self, now: float, condition: Condition, first: int = 0, start: int = 0) -> None:
        """A new controller, from a position and media frame on."""
        self.controller = self._new_controller(now, condition.version, first, start)
        self._mark(condition, UpdateKind.START, now)
        c = self.controller
        self.log.write(
            "controller",
            now,
            began=now,
            version=condition.version,
            first_call=c.next_call,
            policy=c.policy,
            first=first,
            start=start,
            prompt=condition.prompt,
        )

    def decode_until(self, position: int) -> None:
        """A sampler needs the frames up to a position now."""
        self.reach(position)

    def notify(self, message: str) -> None:
        """A message for the person, also in the log."""
        self.messages.append(message)
        self.log.write("note", text=message)

    # -- calls ---------------------------------------------------------------------------------------------------------

    def request(self, launch: Launch) -> Request:
        s = self.settings
        assert s.steps is not None and s.history is not None
        attempt = self.attempt * 16 + self.controller.failures
        prepared = self._prepared[launch.version]
        return Request(launch.branch, launch.window, s.steps, s.seed, attempt, prepared, s.history)

    def run(self, launch: Launch, report: StepCallback) -> list[Group]:
        """Samples a launch; blocks. Errors are the sampler's."""
        request = self.request(launch)
        start = self.controller.start(self.controller.end)
        began = time.perf_counter()
        step_seconds: list[float] = []
        error = ""

        def on_step(step: int, steps: int) -> bool:
            step_seconds.append(round(time.perf_counter() - began, 6))
            self._flight = FlightMark(launch.call, launch.branch, launch.window, start, launch.version, step, steps)
            return report(step, steps)

        self._flight = FlightMark(launch.call, launch.branch, launch.window, start, launch.version, 0, request.steps)
        try:
            return self.model.sampler.sample(request, on_step)
        except BaseException as e:
            error = f"{type(e).__name__}: {e}"
            raise
        finally:
            self._flight = None
            self.log.write(
                "call",
                id=launch.call,
                branch=launch.branch,
                K=launch.window,
                version=launch.version,
                steps=request.steps,
                seed=request.seed,
                attempt=request.attempt,
                history=request.history,
                seconds=round(time.perf_counter() - began, 6),
                step_seconds=step_seconds,
                error=error,
            )

    def prefill_chunk(self, groups: Sequence[Group]) -> None:
        """A call's groups are being decoded: what the next call needs of them is made meanwhile."""
        assert self.settings.history is not None
        self.model.prefill_chunk(groups, self.settings.history)

    def work_ahead(self) -> bool:
        """With no call running: one piece of work for the next one, on groups that will surely play."""
        assert self.settings.history is not None
        locked = self.controller.locked
        return self.controller.in_flight is None and self.model.prefill_step(locked, self.settings.history)

    def placed(self, groups: Sequence[Group]) -> list[tuple[Group, int]]:
        """A call's groups with the media frames they begin at, at the end of the cache."""
        start = self.controller.start(self.controller.end)
        out = []
        for g in groups:
            out.append((g, start))
            start += self.model.spec.span_of(g)
        return out

    def deliverable(self, launch: Launch, groups: Sequence[Group], at: float, show: Callable[[], None]) -> list[Launch]:
        """The first group of a call is decoded: the cache grows and the slot is free. Returns what is launched next.

        show: gives that group to the player; called once the controller knows of it and before it can be revoked.
        """
        self.model.sampler.extend(groups)
        first = groups[0].position
        self._timeline = {p: g for p, g in self._timeline.items() if self.controller.delivered - 2 <= p < first}
        self._timeline.update((g.position, g) for g in groups)
        call = self.controller.in_flight
        if call is not None and call.call == launch.call:
            self.first_groups.append(at - call.launched)
        spans = tuple(self.model.spec.span_of(g) for g in groups)
        self.feed(GroupsReady(at, launch.call, spans))
        show()
        after = self.feed(RequestFinished(at, launch.call))
        return [] if after is None else [after]

    def failed(self, launch: Launch, error: BaseException, at: float) -> Launch | None:
        """A call ended with an error."""
        text = "".join(traceback.format_exception(error))
        log.error("call %d failed: %s", launch.call, error)
        self.log.write("note", at, text=f"call {launch.call} failed: {error}", traceback=text)
        return self.feed(RequestFinished(at, launch.call, f"{type(error).__name__}: {error}"))

    # -- views and the end ---------------------------------------------------------------------------------------------

    def _counts(self) -> Counts:
        a, b = self._past_counts, self.controller.counts
        return Counts(a.predicted + b.predicted, a.delivered + b.delivered, a.revoked + b.revoked)

    def view(self, now: float) -> View:
        """A picture of the session; cheap."""
        c = self.controller
        groups = list(self._ribbon)
        groups += [_mark_of(e, Fate.LOCKED if e.position < c.locked else Fate.CACHED) for e in c.cache]
        while self._revoked and now - self._revoked[0].at > FADE_SECONDS:
            self._revoked.popleft()
        ls = [u.L for u in self.records if u.L is not None and u.kind is not UpdateKind.START][-200:]
        counts = self._counts()
        cached = sum(e.span for e in c.cache)
        return View(
            state=c.state,
            groups=tuple(groups),
            revoked=tuple(self._revoked),
            flight=self._flight,
            updates=tuple(self._marks.values()),
            delivered=c.delivered,
            locked=c.locked,
            end=c.end,
            cached=len(c.cache),
            cached_seconds=cached / self.model.spec.fps,
            window=c.policy.window,
            commit=c.policy.commit,
            fps=self.model.spec.fps,
            C=self.first_groups[-1] if self.first_groups else None,
            last=self._last,
            L50=percentile(ls, 0.5),
            stalls=self.player.total_stalls,
            stall_seconds=self.player.stall_seconds(now),
            discarded=counts.revoked / counts.predicted if counts.predicted else 0.0,
            prompt=self.book.current.prompt,
            keys=self.book.current.keys,
            version=c.shown_version,
            paused=self.player.paused,
            message=self.messages[-1] if self.messages else "",
        )

    def close(self, now: float) -> dict[str, Any]:
        """Ends the session, writes the summary and returns it. The world that was shown stays."""
        cached = len(self.controller.cache)
        counts = self._counts()
        stall = self.player.stall_seconds(now)
        self.feed(SessionClosed(now))
        s, spec = self.settings, self.model.spec
        facts = {
            "schema": SCHEMA,
            "model": spec.name,
            "weights": self.model.identity,
            "seed": s.seed,
            "commit": s.commit.value,
            "K": s.window,
            "steps": s.steps,
            "window_seconds": sum(spec.span(1) for _ in range(s.window or 0)) / spec.fps,
            "history": s.history.value if s.history else None,
            "seconds": round(now - self._began, 4),
            "missed_deadlines": self.controller.missed_deadlines,
        }
        result = summary(
            updates=self.records,
            counts=counts,
            cached=cached,
            frames=self.player.total_shown,
            fps=spec.fps,
            stall_seconds=stall,
            stalls=self.player.total_stalls,
            first_groups=self.first_groups,
            facts=facts,
        )
        if s.latents and self.log.folder is not None:
            write_latents(self.takes.path(self.takes.current), self.log.folder / "latents.safetensors")
        self.log.close(result)
        return result


def write_latents(path: Sequence[Kept], file: Path) -> None:
    """Latents by position, as "group:12"; what is no tensor is left out. Raises OSError."""
    from safetensors.torch import save_file

    tensors = {
        f"group:{k.position}": k.group.latent.detach().cpu().contiguous()
        for k in path
        if hasattr(k.group.latent, "detach")
    }
    if tensors:
        save_file(tensors, str(file))


def fingerprint(group: Group) -> int:
    """A checksum of a group's latent, by which a replay is compared; 0 for what is no tensor."""
    latent = group.latent
    if not hasattr(latent, "detach"):
        return 0
    return zlib.crc32(latent.detach().float().cpu().contiguous().numpy().tobytes())


def _mark_of(entry: Prediction, fate: Fate, at: float = 0.0) -> GroupMark:
    return GroupMark(entry.position, entry.start, entry.span, entry.version, fate, at)
