"""A session: decides by its controller and carries the answers out over one model, without threads of its own.

`handle` takes messages, the controller decides, commands become effects; a launch waits in `take_launch` for whoever runs the
session (`engine.runtime.driver`), live or in virtual time. Log, view and decoding are objects that it is given or makes.
"""

from __future__ import annotations

import logging
import os
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from engine.control.conditions import Condition, ConditionBook
from engine.control.controller import PREEMPTED as STOPPED
from engine.control.controller import Controller, Counts, State
from engine.control.estimator import Estimator
from engine.control.events import (
    Abandon,
    CallProgressed,
    Change,
    Command,
    ConditionChanged,
    Event,
    GroupDecoded,
    GroupLost,
    GroupsReady,
    GroupStarted,
    Hold,
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
    SlotGranted,
    TimerFired,
)
from engine.errors import Refused
from engine.models.finite import check_finite
from engine.models.interface import ConditionError, Group, Model, ReadsPrompts, Request, StepCallback
from engine.playback.player import PlaybackEvent, PlaybackEventKind
from engine.playback.shared_player import SharedPlayer
from engine.runtime.effects import Effects
from engine.runtime.latents import arrays, fingerprint
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
    PersonMessage,
    Played,
    Press,
    Release,
    ReleaseAll,
    Resume,
    Rewind,
    SetNegativePrompt,
    SetPrompt,
)
from engine.runtime.metrics import UpdateRecord, latencies, summary
from engine.runtime.session_log import SCHEMA, SessionLog
from engine.runtime.settings import PREEMPTED, Settings, StartFrom, refuse_half_characters
from engine.runtime.takes import Kept, Takes, resume_sampler, whole
from engine.runtime.transitions import PromptTransition
from engine.runtime.view import UpdateKind, View
from engine.runtime.view_builder import LATEST, ViewBuilder

log = logging.getLogger(__name__)

RESUMED = 256
"""Groups before the one that a world goes back to that its models hear of again."""
COLD_ESTIMATE = 0.6
"""Seconds that C is assumed to be before a call was measured. [ours]"""
DOUBT = 0.5
"""Share added to the estimate after one measured call; see `Estimator`. [ours]"""
FORGET_START = 2
"""Measured calls after which a world's first one no longer counts; see `Estimator`. [ours]"""
KEPT_CONDITIONS = 4096
"""Conditions that are kept for the takes: many more than a cache holds."""
FAILURES_A_WORLD = 16
"""Numbers of attempts that one world has for itself. After so many failures in a row they are used again."""
CHANGES = {UpdateKind.PROMPT: Change.PROMPT, UpdateKind.START: Change.OTHER}


def noise_attempt(world: int, failures: int) -> int:
    """The attempt that a call's noise is a function of, beside the seed and the position: another one in each world of a
    session, and after each failure in a row."""
    return world * FAILURES_A_WORLD + failures % FAILURES_A_WORLD


class Session:
    """Used from one thread, but for what it is as a `SamplerHost`. `player` is the only object it shares."""

    def __init__(
        self,
        model: Model,
        settings: Settings,
        player: SharedPlayer,
        journal: SessionLog,
        effects: Effects,
        now: Callable[[], float],
        takes: Takes | None = None,
        wait: float | None = None,
    ) -> None:
        """now: the session's clock, seconds. takes: where what is delivered is kept. wait: see `Policy.wait`. Raises
        ConditionError or ValueError when the settings cannot be used."""
        self.model = model
        self.settings = settings.checked(model.spec)
        self.player = player
        self.log = journal
        self.takes = takes if takes is not None else Takes()
        self.book = ConditionBook(self.settings.prompt)
        self.records: list[UpdateRecord] = []
        self._latest: deque[float] = deque(maxlen=LATEST)
        """L of the last updates, seconds."""
        self.first_groups: list[float] = []
        """C of each call, seconds."""
        self.timer = float("inf")
        """When the controller wants TimerFired, seconds."""
        self.worlds_left = 0
        self.granted = False
        """Whether the sampler that worlds share was granted and not given back."""
        self._wait = wait
        self._effects = effects
        self._views = ViewBuilder(model.spec, player)
        self._message = ""
        self._past_counts = Counts()
        self._prepared: dict[int, Any] = {0: model.sampler.prepare(self.book.current)}
        self._reading = ""
        self._timeline: dict[int, Group] = {}
        self._sampled: tuple[Launch, list[Group], float] | None = None
        """A call whose first group is being decoded, with the time at which its sampling ended."""
        self._launch: Launch | None = None
        self._transition: PromptTransition | None = None
        self._conditions: dict[int, Condition] = {0: self.book.current}
        """Those that were not rejected."""
        self._usable = self.book.current
        """The newest one whose inputs could be made."""
        self._estimator = Estimator(cold=COLD_ESTIMATE, doubt=DOUBT, forget_start=FORGET_START)
        self._works_ahead, self._ahead_failed = True, False
        self._now = now
        self._began = now()
        model.sampler.attach(self)
        journal.on_error = self._say
        self.controller = self._new_controller(self._began, 0, 0)
        self._views.received(self.book.current, UpdateKind.START, self._began)
        self.log.session(model, self.settings, self.controller, self._began)
        self._understood(0, self._prepared[0])

    # -- who samples ---------------------------------------------------------------------------------------------------

    def notify(self, message: str) -> None:
        """A message for the person, also in the log. From any thread."""
        self._say(message)
        self.log.note(message)

    def _say(self, message: str) -> None:
        self._message = message

    def decode_until(self, position: int) -> None:
        """A sampler needs the frames up to a position now. From any thread."""
        self._effects.decode_until(position)

    # -- messages ------------------------------------------------------------------------------------------------------

    def start(self, now: float) -> None:
        """The first call is wanted."""
        self._feed(TimerFired(now))

    def handle(self, message: Message, now: float) -> None:
        """Takes one message in. What a person wants and cannot have becomes a message to them, and nothing is changed."""
        match message:
            case Played(events, epoch):
                if epoch == self.player.epoch:
                    self._played(events)
            case InputsMade(version, inputs):
                self._inputs_made(version, inputs, now)
            case FirstGroupDecoded(call, error):
                self._first_group_decoded(call, error, now)
            case Decoded(position, seconds):
                if not self.model.decoder.independent_groups:
                    self._feed(GroupDecoded(now, position, round(seconds, 6)))
            case DecodeFailed(group, error):
                self._decode_failed(group, error, now)
            case Granted():
                self.granted = True
                if self.controller.state is State.CONSUME:
                    self._feed(SlotGranted(now))
            case Close():
                pass
            case _:
                self.log.message(message, now)
                try:
                    self._do(message, now)
                except Refused as e:
                    self.notify(f"{e}; nothing was changed")
                except Exception as e:
                    what = "what you asked for could not be done: an error in the program"
                    self._failed(f"{what} ({described(e)}); the log has the details (Help > Open log)", e)

    def _failed(self, text: str, error: BaseException) -> None:
        """Says what went wrong inside, and keeps its traceback."""
        log.error("%s", text, exc_info=error)
        self._message = text
        self.log.note(text, error)

    def _do(self, message: PersonMessage, now: float) -> None:
        """What a person wants."""
        match message:
            case Press(action, at):
                self._change(self.book.press(action), UpdateKind.KEY, at, now, Change.PRESS)
            case Release(action, at):
                self._change(self.book.release(action), UpdateKind.KEY, at, now, Change.RELEASE)
            case ReleaseAll(at):
                self._change(self.book.release_all(), UpdateKind.KEY, at, now, Change.RELEASE)
            case SetPrompt(prompt, at, seconds):
                self._set_prompt(prompt, seconds, at, now)
            case SetNegativePrompt(prompt, at):
                refuse_half_characters(prompt)
                self._change(self.book.set_negative_prompt(prompt), UpdateKind.PROMPT, at, now)
            case Pause(at):
                self._change(self.book.release_all(), UpdateKind.KEY, at, now, Change.RELEASE)
                self._feed(PlaybackHeld(now, Hold.PAUSE, at))
            case Resume(at):
                self._feed(PlaybackReleased(now, Hold.PAUSE, at))
            case NewWorld(prompt, seed, start):
                self._new_world(prompt, seed, start, now)
            case Rewind(take, position):
                self._rewind(take, position, now)
            case Configure():
                self._configure(message, now)

    # -- conditions ----------------------------------------------------------------------------------------------------

    def _change(
        self, condition: Condition | None, kind: UpdateKind, arrival: float, now: float, change: Change | None = None
    ) -> None:
        """A new condition from the book (None: nothing changed)."""
        if condition is None:
            return
        v = condition.version
        self._conditions[v] = condition
        if len(self._conditions) > KEPT_CONDITIONS:
            self._conditions = {w: c for w, c in self._conditions.items() if w > v - KEPT_CONDITIONS}
        self._views.received(condition, kind, arrival)
        self.log.condition(condition, kind, now)
        change = CHANGES.get(kind, Change.OTHER) if change is None else change
        later = self._effects.prepare_later(condition)
        inputs = None if later else prepare(self.model, condition)
        ready = not later and not isinstance(inputs, ConditionError)
        if ready:
            self._prepared[v], self._usable = inputs, condition
            self._understood(v, inputs)
        self._feed(ConditionChanged(now, v, min(arrival, now), ready, change))
        if not later and not ready:
            self._inputs_made(v, inputs, now)

    def _set_prompt(self, prompt: str, seconds: float, arrival: float, now: float) -> None:
        """At once or over some seconds. A newer edit takes the place of a transition that is not over."""
        refuse_half_characters(prompt)
        self._transition = None
        before = self.book.current.prompt
        if seconds <= 0 or prompt == before:
            self._change(self.book.set_prompt(prompt), UpdateKind.PROMPT, arrival, now)
            return
        self._transition = PromptTransition(prompt, before, now, seconds)
        self._change(self.book.set_prompt(prompt, before, self._transition.share), UpdateKind.PROMPT, arrival, now)

    def _inputs_made(self, version: int, inputs: Any, now: float) -> None:
        """A condition's inputs are there, or cannot be made; what belongs to a world that is gone is ignored."""
        if not self._views.knows(version):
            return
        if isinstance(inputs, ConditionError):
            self.notify(f"{inputs}; the world goes on as before")
            self._feed(InputsRejected(now, version, str(inputs)))
            self._take_back(version, now)
        else:
            self._prepared[version], self._usable = inputs, self._conditions[version]
            self._understood(version, inputs)
            self._feed(InputsReady(now, version))

    def _understood(self, version: int, inputs: Any) -> None:
        """What the model read in a prompt is told, and logged where it is another than before."""
        if isinstance(self.model.sampler, ReadsPrompts):
            reading = self.model.sampler.reading(inputs)
            if reading != self._reading:
                self._reading = reading
                self.log.reading(version, reading)

    def _take_back(self, version: int, now: float) -> None:
        """A condition was rejected. Where its words are still in force, those before them are again, with the keys that are held
        now; where something else was said meanwhile, nothing is to be done."""
        rejected, current = self._conditions.pop(version), self.book.current
        if _words(current) != _words(rejected):
            return
        self._transition = None
        good = [c for v, c in self._conditions.items() if v < version and _words(c) != _words(rejected)]
        before = good[-1] if good else self._usable
        u = self._usable
        same = _words(before) == _words(u) and (current.keys, current.tapped) == (u.keys, u.tapped)
        reverted = self.book.revert(before, changed=not same)
        if not same:
            self._change(reverted, UpdateKind.KEY, now, now)

    @property
    def alarm(self) -> float:
        """When `alarmed` is to be called, unless something else happens before; seconds."""
        return min(self.timer, self._transition.due if self._transition is not None else float("inf"))

    def alarmed(self, now: float) -> None:
        """A time came that the controller or a transition waited for."""
        t = self._transition
        if t is not None and t.due <= now:
            t.step()
            self._change(self.book.set_prompt(t.prompt, t.before, t.share), UpdateKind.PROMPT, now, now)
        if self.timer <= now:
            self._feed(TimerFired(now))

    def _configure(self, changes: Configure, now: float) -> None:
        """K, steps, commitment, history and the policies beyond the paper, from the next call on. Raises Refused."""
        fields = ("window", "steps", "commit", "history", "answer", "preempt", "aim")
        wanted = {name: value for name in fields if (value := getattr(changes, name)) is not None}
        self.settings = replace(self.settings, **wanted).checked(self.model.spec)
        self._feed(PolicyChanged(now, self._policy()))

    # -- the controller and its commands -------------------------------------------------------------------------------

    def _policy(self) -> Policy:
        spec, s = self.model.spec, self.settings
        assert s.window is not None and s.steps is not None and s.history is not None
        return Policy(
            spec.fps,
            s.window,
            s.commit,
            spec.phase,
            spec.phase_offset,
            spec.block,
            steps=s.steps,
            history=s.history.value,
            answers=spec.answers(s.window) if s.answer else (),
            aim=s.aim,
            preempt=PREEMPTED if s.preempt else 0,
            wait=self._wait,
        )

    def share(self, wait: float, now: float) -> None:
        """Others may hold the sampler for so many seconds when a call is due."""
        self._wait = wait
        if self.controller.state is not State.CLOSED:
            self._feed(PolicyChanged(now, self._policy()))

    def _new_controller(self, now: float, version: int, first_call: int, first: int = 0, start: int = 0) -> Controller:
        """What was measured in one world holds in the next."""
        return Controller(self._policy(), now, version, self._estimator, first_call, first, start)

    def _feed(self, event: Event) -> None:
        """Hands an event to the controller and carries out the answer."""
        self.log.event(event)
        tap: Condition | None = None
        for command in self.controller.handle(event):
            self.log.command(command)
            if isinstance(command, Abandon):
                tap = self._abandoned(command) or tap
            self._carry_out(command, event.at)
        if self.controller.state is not State.CLOSED:
            self._change(tap, UpdateKind.KEY, event.at, event.at, Change.PRESS)

    def _abandoned(self, command: Abandon) -> Condition | None:
        """A call was given up (`runs` says so to whoever samples): nothing of it may play. The new condition where a tap would
        be lost with it."""
        if self._sampled is not None and self._sampled[0].call == command.call:
            self._effects.cancel_from(self._sampled[0].branch)
            self._sampled = None
        if command.reason == STOPPED:
            self._views.preempted(self._now())
        return self.book.failed()

    def _carry_out(self, command: Command, at: float) -> None:
        match command:
            case Launch():
                self._launch = command
                assert self.settings.steps is not None
                self._views.step(command, self.controller.start(command.branch), 0, self.settings.steps, self._k)
                self.book.launched(command.version)
                self._views.launched(command.version)
            case Revoke(entries):
                self._effects.cancel_from(entries[0].position)
                self._views.revoked(entries, at)
                self.takes.revoke([k for e in entries if (k := self._kept(e)) is not None])
            case Restore(entries):
                self._effects.submit([(self._timeline[e.position], e.start) for e in entries])
            case SetTimer(when):
                self.timer = when
            case Receipt():
                self._receive(command)
            case Notice(message):
                self.notify(message)
            case Abandon():
                pass

    def _receive(self, r: Receipt) -> None:
        if r.outcome is Outcome.RECEIVED:
            return
        mark = self._views.ended(r, self.controller)
        kind = mark.kind if mark is not None else UpdateKind.KEY
        record = UpdateRecord.of(r, kind, self.log.t0, mark.arrival if mark is not None else 0.0)
        self.records.append(record)
        self._latest.extend(latencies([record]))
        if mark is not None:
            oldest = min(r.version, self.controller.running)
            self._prepared = {v: p for v, p in self._prepared.items() if v >= oldest}

    # -- playback ------------------------------------------------------------------------------------------------------

    def _played(self, events: Sequence[PlaybackEvent]) -> None:
        """What the player did, for the controller."""
        for p in events:
            match p.what:
                case PlaybackEventKind.GROUP:
                    self._group_started(p.position, p.at, p.shown)
                case PlaybackEventKind.STALLED:
                    self.log.played(p)
                    self._feed(PlaybackHeld(p.at, Hold.STALL))
                case PlaybackEventKind.STARTED:
                    self.log.played(p)
                    self._feed(PlaybackReleased(p.at, Hold.START))
                case PlaybackEventKind.RESUMED:
                    self.log.played(p)
                    self._feed(PlaybackReleased(p.at, Hold.STALL))
                case PlaybackEventKind.FRAME:
                    pass

    def _group_started(self, position: int, due: float, shown: float) -> None:
        self._delivered(position)
        self._feed(GroupStarted(due, position, shown))
        self.model.sampler.evict_before(position)
        self.model.decoder.evict_before(position)

    def _delivered(self, position: int) -> None:
        cache = self.controller.cache
        if cache and cache[0].position == position:
            self._views.delivered(cache[0])
            if (kept := self._kept(cache[0])) is not None:
                kept = self.takes.deliver(kept)
                self.log.delivered(kept, self.takes.current, fingerprint(kept.group.latent))

    def _kept(self, e: Prediction) -> Kept | None:
        """A prediction with its group, where that is known."""
        group = self._timeline.get(e.position)
        if group is None:
            return None
        condition = self._conditions.get(e.version)
        return Kept(group, e.start, e.span, e.call, e.version, condition.prompt if condition is not None else "")

    # -- worlds --------------------------------------------------------------------------------------------------------

    def _new_world(self, prompt: str | None, seed: int | None, start: StartFrom | None, now: float) -> None:
        """A new world from the prompt in force, or from this one; the old one's cache is revoked and logged.

        Raises Refused, and then nothing was changed.
        """
        refuse_half_characters(prompt)
        settings = self.settings if seed is None else replace(self.settings, seed=seed).checked(self.model.spec)
        in_force = self.book.current
        wanted = in_force.prompt if prompt is None else prompt
        condition = Condition(in_force.version + 1, wanted, negative=in_force.negative)
        prepared = self.model.sampler.prepare(condition)
        if start is not None:
            self.model.set_start(start.path)
        self.settings = settings
        self._leave(now, condition, prepared)
        self.takes.clear()
        self.model.sampler.reset()
        self._effects.resume_decoder([])
        self._enter(now, condition)
        self.log.reset(self.settings.seed, start, condition.prompt, self.worlds_left, now)
        self._feed(TimerFired(now))

    def _rewind(self, take: int, position: int, now: float) -> None:
        """Goes back to a kept group and on from there another way, under the prompt in force; the take on show stays in
        the tree.

        Raises Refused, and then nothing was changed.
        """
        in_force = self.book.current
        condition = Condition(in_force.version + 1, in_force.prompt, negative=in_force.negative)
        prepared = self.model.sampler.prepare(condition)
        came_from = self.takes.path(take, position)
        if not came_from or came_from[-1].position != position:
            raise Refused(f"group {position} of take {take} is not kept any more")
        frame = came_from[-1].start + came_from[-1].span
        self._leave(now, condition, prepared, position + 1, frame)
        path = whole(self.takes.branch(take, position)[-RESUMED:])
        resume_sampler(self.model.sampler, path)
        self._effects.resume_decoder([k.group for k in path])
        self._timeline = {k.position: k.group for k in path[-2:]}
        self._views.resumed(path)
        self._enter(now, condition, position + 1, frame)
        self.log.rewind(take, position, len(path), self.takes.current, self.worlds_left, now)
        self._feed(TimerFired(now))

    def _leave(self, now: float, condition: Condition, prepared: Any, position: int = 0, frame: int = 0) -> None:
        """Ends the controller's world; what it predicted and nobody saw is revoked. The player goes on at a position and media
        frame, the next world begins under `condition`."""
        # before the player is the next world's: a decode that is under way must not reach it
        self._effects.cancel_from(0)
        shown_before = self.player.restart(position, frame)
        for p in range(self.controller.delivered, shown_before):  # whose message is still on its way
            self._group_started(p, now, now)
        self._feed(SessionClosed(now))
        self._sampled = None
        self._past_counts = self._counts()
        # locked groups, which will not play in a world that is left
        self._past_counts.revoked += len(self.controller.cache)
        self._timeline.clear()
        self._views.clear()
        self.worlds_left += 1
        self.book = ConditionBook(condition.prompt, condition.version, condition.negative)
        self._transition = None
        self._launch = None
        self._conditions[condition.version] = self._usable = condition
        self._prepared = {condition.version: prepared}
        self._understood(condition.version, prepared)

    def _enter(self, now: float, condition: Condition, first: int = 0, start: int = 0) -> None:
        """A new controller, from a position and media frame on."""
        next_call = self.controller.next_call
        self.controller = self._new_controller(now, condition.version, next_call, first, start)
        self._views.received(condition, UpdateKind.START, now)
        self.log.controller(self.controller, condition, first, start, now)

    # -- calls ---------------------------------------------------------------------------------------------------------

    @property
    def _k(self) -> int:
        """K of a refill."""
        return self.controller.policy.window

    def take_launch(self) -> Launch | None:
        """The call that is to be sampled next, once; None for none."""
        launch, self._launch = self._launch, None
        return launch

    def runs(self, launch: Launch) -> bool:
        """Whether a call is still wanted: it was neither abandoned nor its world left."""
        call = self.controller.in_flight
        return call is not None and call.call == launch.call

    def _request(self, launch: Launch) -> Request:
        s = self.settings
        assert s.steps is not None and s.history is not None
        attempt = noise_attempt(self.worlds_left, self.controller.failures)
        prepared = self._prepared[launch.version]
        return Request(launch.branch, launch.window, s.steps, s.seed, attempt, prepared, s.history)

    def run(self, launch: Launch, report: StepCallback) -> list[Group]:
        """Samples a launch; blocks. Errors are the sampler's."""
        request = self._request(launch)
        start = self.controller.start(self.controller.end)
        began = time.perf_counter()
        error = ""

        def on_step(step: int, steps: int) -> bool:
            if not self.runs(launch):
                return False
            self._views.step(launch, start, step, steps, self._k)
            self._feed(CallProgressed(self._now(), launch.call, step, steps))
            return report(step, steps)

        self._feed(CallProgressed(self._now(), launch.call, 0, request.steps))
        try:
            groups = self.model.sampler.sample(request, on_step)
            check_finite(groups)
            return groups
        except BaseException as e:
            error = f"{type(e).__name__}: {e}"
            raise
        finally:
            self._views.landed(launch.call)
            self.log.call(launch, request, time.perf_counter() - began, error)

    def sampled(self, launch: Launch, groups: list[Group]) -> None:
        """A call's groups are there: they go to the decoder."""
        start = self.controller.start(self.controller.end)
        placed = []
        for g in groups:
            placed.append((g, start))
            start += self.model.spec.span_of(g)
        self._sampled = (launch, groups, self._now())
        self._effects.submit(placed, launch.call)

    def _first_group_decoded(self, call: int, error: BaseException | None, now: float) -> None:
        """The cache grows; then what the next call needs of these groups is made, and the slot is free. Nothing of it happens
        where the call was given up meanwhile."""
        if self._sampled is None or self._sampled[0].call != call:
            return
        launch, groups, sampled_at = self._sampled
        self._sampled = None
        in_flight = self.controller.in_flight
        if in_flight is None or in_flight.call != call:
            return
        if error is not None:
            self._effects.cancel_from(launch.branch)
            self.failed(launch, error, now, "its first group could not be decoded: ")
            return
        try:
            self.model.sampler.extend(groups)
        except Exception as e:
            self._effects.cancel_from(launch.branch)
            self.failed(launch, e, now)
            return
        self.book.made(launch.version)
        first = groups[0].position
        self._timeline = {p: g for p, g in self._timeline.items() if self.controller.delivered - 2 <= p < first}
        self._timeline.update((g.position, g) for g in groups)
        self.first_groups.append(now - in_flight.launched)
        sampled = None if self.model.decoder.independent_groups else sampled_at
        self._feed(GroupsReady(now, call, tuple(self.model.spec.span_of(g) for g in groups), sampled))
        self._effects.present(first)
        history = self.settings.history
        assert history is not None
        self._works_ahead = True
        self._ahead(lambda: self.model.prefill_chunk(groups, history))
        if self.runs(launch):  # whoever closes may have done so meanwhile
            self._feed(RequestFinished(self._now(), call))

    def failed(self, launch: Launch, error: BaseException, now: float, what: str = "") -> None:
        """A call ended with an error. what: words before it."""
        log.error("call %d failed: %s%s", launch.call, what, error)
        self.log.note(f"call {launch.call} failed: {what}{error}", error)
        if not self.runs(launch):
            return
        self._change(self.book.failed(), UpdateKind.KEY, now, now, Change.PRESS)
        self._feed(RequestFinished(now, launch.call, f"{what}{type(error).__name__}: {error}"))

    def _decode_failed(self, group: Group, error: BaseException, now: float) -> None:
        """A group that would play cannot be decoded: it and what follows is made anew."""
        if self._timeline.get(group.position) is not group:
            return  # it was revoked, or has played
        log.error("group %d could not be decoded: %s", group.position, error)
        self.log.note(f"group {group.position} could not be decoded: {error}", error)
        self._feed(GroupLost(now, group.position, f"{type(error).__name__}: {error}"))

    def work_ahead(self) -> bool:
        """With no call running: one piece of work for the next one, on groups that will surely play. Whether there was one."""
        history, locked = self.settings.history, self.controller.locked
        assert history is not None
        if self.controller.in_flight is not None or not self._works_ahead:
            return False
        return bool(self._ahead(lambda: self.model.prefill_step(locked, history)))

    def _ahead(self, work: Callable[[], bool | None]) -> bool | None:
        """Work that only moves what a call would do: without it the world goes on, until the next call is sampled."""
        try:
            return work()
        except Exception as e:
            self._works_ahead = False
            if not self._ahead_failed:
                self._failed(f"work ahead of a call failed ({described(e)}); calls do it themselves", e)
            self._ahead_failed = True
            return None

    # -- views and the end ---------------------------------------------------------------------------------------------

    def _counts(self) -> Counts:
        a, b = self._past_counts, self.controller.counts
        return Counts(a.predicted + b.predicted, a.delivered + b.delivered, a.revoked + b.revoked)

    def view(self, now: float) -> View:
        """A picture of the session; cheap."""
        first_group = self.first_groups[-1] if self.first_groups else None
        counts, condition = self._counts(), self.book.current
        view = self._views.view(now, self.controller, condition, counts, self._latest, first_group, self._message)
        return replace(view, reading=self._reading)

    def close(self, now: float) -> dict[str, Any]:
        """Ends the session, writes the summary and returns it. The world that was shown stays. What could not be written is in
        `SessionLog.error`."""
        cached = len(self.controller.cache)
        counts = self._counts()
        stall = self.player.stall_seconds(now)
        if self.controller.state is not State.CLOSED:  # it is when a world was left and the next one could not begin
            self._feed(SessionClosed(now))
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
            with self.log.writing("latents"):
                write_latents(self.takes.path(self.takes.current), self.log.folder / "latents.safetensors")
        self.log.close(result)
        return result


def _words(c: Condition) -> tuple[str, str | None]:
    """What of a condition was said."""
    return c.prompt, c.negative


def prepare(model: Model, condition: Condition) -> Any:
    """A condition's inputs, or the ConditionError that says why not. From any thread, where the sampler allows it."""
    try:
        return model.sampler.prepare(condition)
    except ConditionError as e:
        return e
    except ValueError as e:
        return ConditionError(str(e))
    except Exception as e:
        log.exception("the inputs of condition %d could not be made", condition.version)
        return ConditionError(f"the prompt could not be read ({described(e)})")


def described(error: BaseException) -> str:
    """An error that nobody foresaw, in a few words."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def write_latents(path: Sequence[Kept], file: Path) -> None:
    """Latents by position, as "group:12", or "group:12:NAME" for each array of a latent that has several. Raises OSError."""
    from safetensors.numpy import save_file

    tensors = {
        f"group:{k.position}{':' + name if name else ''}": np.ascontiguousarray(value)
        for k in path
        for name, value in arrays(k.group.latent).items()
    }
    if tensors:
        part = file.with_suffix(".part")
        save_file(tensors, str(part))
        os.replace(part, file)
