"""Produce / Consume: the state machine that decides when to sample, from where, and what is revoked.

Everything that affects the machine lives in this file, and nothing else does. It is given events with their times and
returns commands (`engine.control.events`); it owns no clock, no thread, no tensor and no Qt object, so the same code runs
live, in virtual time and under a property test.

Theory of operation
-------------------
The session is a row of *groups* (latent frames) at positions 0, 1, 2, ... Positions `[0, d)` were delivered to the
player, `[d, l)` are locked (they will play), `[l, e)` is the cache of revocable predictions. A call samples K latents
jointly from a branch position j and replaces everything from j on.

    0 ......... d ....... l ................... e
      delivered   locked    revocable cache       not predicted

In *Consume* no call is active and the cache plays. In *Produce* one call is active. A new condition (a *version*) is
recorded at once but does not interrupt the call. Whenever an event leaves the machine without an active call, the guard
is evaluated: a pending version with a feasible branch, or a refill that is due, launches a call. The branch is the
smallest j that is past the lock, a branch point of the model, and whose deadline leaves time to make the new content:

    deadline(j) >= now + C + margin

Late policy: if the cache ends before such a j exists, j = e, under the newest ready version and for a full K; the miss is
counted and its length is in the Launch. The player then holds the last frame, all deadlines move by the stall, nothing is
skipped and nothing is played faster to catch up. A launch is atomic: lock the
prefix up to j, revoke [j, e), start a call for a full K latents under the newest ready version.

Deadlines follow the player's clock: `deadline(p) = origin + start(p)`, where start(p) is the sum of the spans before p.
While playback is held (not started, paused or stalled) deadlines move on with the time, so what is cached stays covered.

Symbols, as in the paper: K latents of a call, j branch, d first undelivered position, l first unlocked position, e first
position without a prediction; C seconds from a launch to its first deliverable group. The latency of an update is
L = R + C + Q: it waits for R until a call takes it in, and what was made for it waits for Q until it plays.

Three policies go beyond the paper and are off in a plain `Policy`. *Short answers*: an update is answered by a call of fewer
latents, which is there sooner and lasts until a refill of the full K follows. *Preemption*: a call that a newer condition has
made worthless is stopped at its next denoising step; what it had revoked comes back first. *An alternative*: in idle time the
likeliest next condition is sampled beside the cache, some groups ahead; if that condition comes, it plays from there.

Differences from the sources, each marked [ours] in the design notes: `ready` has two kinds; a due refill takes the
newest ready version; a failed call gets back what it revoked; calls past a hard limit are abandoned.

The table
---------
`TRANSITIONS` is the machine. `handle` looks up (state, kind of event); a pair that is missing raises ProtocolError. The
handler that stands there runs; then a machine in Consume evaluates the guard; then the state must be one of those that
the table lets follow, or ProtocolError is raised. The docs are drawn from the same table.
"""

from __future__ import annotations

import bisect
from collections import deque
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from engine.control.estimator import Estimator, Work
from engine.control.events import (
    Abandon,
    CallProgressed,
    Change,
    Command,
    Commit,
    ConditionChanged,
    Event,
    GroupDecoded,
    GroupLost,
    GroupsReady,
    GroupStarted,
    Guessed,
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
    Promote,
    Reason,
    Receipt,
    RequestFinished,
    Restore,
    Revoke,
    SessionClosed,
    SetTimer,
    SlotGranted,
    Take,
    TimerFired,
)


class State(StrEnum):
    """Whether a call is active, or the session over."""

    CONSUME = "consume"
    PRODUCE = "produce"
    CLOSED = "closed"


class ProtocolError(RuntimeError):
    """The machine was told something that cannot happen now, or would go where its table does not let it: a fault of the
    program, never of the person."""


class Transition(NamedTuple):
    """A cell of the table: the name of the method that handles the event, and the states that may follow."""

    handler: str
    follow: frozenset[State]


CONSUME, PRODUCE, CLOSED = frozenset({State.CONSUME}), frozenset({State.PRODUCE}), frozenset({State.CLOSED})
EITHER = CONSUME | PRODUCE

TRANSITIONS: dict[tuple[State, type[Event]], Transition] = {
    (State.CONSUME, ConditionChanged): Transition("_record_condition", EITHER),
    (State.PRODUCE, ConditionChanged): Transition("_record_condition", EITHER),
    (State.CONSUME, Guessed): Transition("_note_guess", EITHER),
    (State.PRODUCE, Guessed): Transition("_note_guess", PRODUCE),
    (State.CONSUME, InputsReady): Transition("_offer_version", EITHER),
    (State.PRODUCE, InputsReady): Transition("_offer_version", PRODUCE),
    (State.CONSUME, InputsRejected): Transition("_reject_version", EITHER),
    (State.PRODUCE, InputsRejected): Transition("_reject_version", PRODUCE),
    (State.CONSUME, CallProgressed): Transition("_do_nothing", EITHER),
    (State.PRODUCE, CallProgressed): Transition("_note_progress", PRODUCE),
    (State.CONSUME, GroupsReady): Transition("_do_nothing", EITHER),
    (State.PRODUCE, GroupsReady): Transition("_extend_cache", PRODUCE),
    (State.CONSUME, RequestFinished): Transition("_do_nothing", EITHER),
    (State.PRODUCE, RequestFinished): Transition("_end_call", EITHER),
    (State.CONSUME, GroupStarted): Transition("_deliver", EITHER),
    (State.PRODUCE, GroupStarted): Transition("_deliver", PRODUCE),
    (State.CONSUME, GroupDecoded): Transition("_note_decode", EITHER),
    (State.PRODUCE, GroupDecoded): Transition("_note_decode", PRODUCE),
    (State.CONSUME, GroupLost): Transition("_lose", EITHER),
    (State.PRODUCE, GroupLost): Transition("_lose", EITHER),
    (State.CONSUME, TimerFired): Transition("_do_nothing", EITHER),
    (State.PRODUCE, TimerFired): Transition("_check_limit", EITHER),
    (State.CONSUME, PlaybackHeld): Transition("_hold", EITHER),
    (State.PRODUCE, PlaybackHeld): Transition("_hold", EITHER),
    (State.CONSUME, PlaybackReleased): Transition("_release", EITHER),
    (State.PRODUCE, PlaybackReleased): Transition("_release", EITHER),
    (State.CONSUME, PolicyChanged): Transition("_change_policy", EITHER),
    (State.PRODUCE, PolicyChanged): Transition("_change_policy", EITHER),
    (State.CONSUME, SlotGranted): Transition("_grant", EITHER),
    (State.PRODUCE, SlotGranted): Transition("_refuse_grant", frozenset()),
    (State.CONSUME, SessionClosed): Transition("_close", CLOSED),
    (State.PRODUCE, SessionClosed): Transition("_close", CLOSED),
}
"""The machine; see the top of the file."""

NEVER = float("inf")
SIMULTANEOUS = 1e-9
"""Seconds (and frames) within which two times are the same: far more than rounding, far less than a frame."""
LATE = 1e-6
"""Seconds by which a deadline has to be missed to be counted as missed."""
KEPT_CALLS = 8
"""Calls whose times are kept before those are forgotten that nothing in the cache came from."""
KEPT_PAUSES = 64
"""Pauses that are kept; an update that is older than so many has been answered."""
STEPS_LEFT = 2
"""Denoising steps that a call has to have left for a stop to be worth it: what is nearly done is had sooner than begun anew. [ours]"""
PREEMPTED = "preempted"
"""The reason of an Abandon that makes room for a newer condition."""
ROOM = "room for other work"
"""The reason of an Abandon of what idle time was used for."""
ALTERNATIVES = 2
"""Alternatives that are sampled after one condition, at most: a key that has been held for long may be held for longer. [ours]"""
RETRY_MOST = 60.0
"""Seconds of the longest rest between failed calls."""


@dataclass(slots=True)
class InFlight:
    """The active call."""

    call: int
    branch: int
    window: int
    version: int
    launched: float
    reason: Reason
    work: Work
    """What its time depends on."""
    press: bool = False
    """It is the first call under a condition in which an action began."""
    shadow: tuple[Prediction, ...] = ()
    """What its launch revoked, until its first group is there."""
    began: float | None = None
    """When its sampling began, once that is known."""
    step: int = 0
    steps: int = 0
    """Of its sampling, once that is known."""
    foreseen: float = 0.0
    """Seconds of its sampling, judged by its own steps; 0 before the first."""
    first_ready: float | None = None
    made: int = 0
    taken: float = 0.0
    """When it stopped being an alternative, seconds: for an update, its C begins then."""

    @property
    def alternative(self) -> bool:
        """Whether it is sampled for a condition that may come."""
        return self.reason is Reason.ALTERNATIVE


@dataclass(frozen=True, slots=True)
class Alternative:
    """Groups that were sampled for the likeliest condition after the newest one. They play if it comes next."""

    call: int
    branch: int
    spans: tuple[int, ...]
    """Frames of each group."""


@dataclass(frozen=True, slots=True)
class Want:
    """A call that would be launched now and waits for the sampler that worlds share."""

    reason: Reason
    latest: float
    """When it has to begin, for the cache not to run dry before it is there; seconds."""


@dataclass(slots=True)
class Pending:
    """An update without an end yet."""

    arrival: float
    ready: bool = False


@dataclass(slots=True)
class Counts:
    """Groups, for the conservation law predicted = delivered + revoked + cached."""

    predicted: int = 0
    delivered: int = 0
    revoked: int = 0


@dataclass(slots=True)
class CallTimes:
    """When a call was launched and its first group became deliverable."""

    launched: float
    ready: float


class Controller:
    """The machine. Feed it with `handle`; do what it returns, in order."""

    def __init__(
        self,
        policy: Policy,
        at: float,
        version: int = 0,
        estimator: Estimator | None = None,
        first_call: int = 0,
        first: int = 0,
        start: int = 0,
    ) -> None:
        """at: seconds; playback counts as held from then on. version: the condition in force at the start. first_call: the
        id of the first call. first, start: the position and the media frame that it goes on from, when it goes back into
        a world."""
        self.policy = policy
        self.estimator = estimator if estimator is not None else Estimator()
        self._began_at = first
        self.state = State.CONSUME
        self.delivered = first
        self.locked = first
        self.cache: deque[Prediction] = deque()
        self.newest = version
        self.running = version
        self.pending: int | None = None
        self.in_flight: InFlight | None = None
        self.want: Want | None = None
        """The call that waits for SlotGranted; None: there is none."""
        self._granted = False
        self.alternative: Alternative | None = None
        """What waits for the condition that was guessed."""
        self._guess_known = False
        """Whether the likeliest condition after the newest one is."""
        self._tried = 0
        """Alternatives that were launched after the newest condition."""
        self.counts = Counts()
        self.failures = 0
        """Calls in a row that failed, or whose groups could not be decoded."""
        self.missed_deadlines = 0
        self.shown_version = -1
        self.decoded: set[int] = set()
        """Cached positions whose frames are made, as far as it was told."""
        self._open: dict[int, Pending] = {version: Pending(at, ready=True)}
        self._ready = version
        self._calls: dict[int, CallTimes] = {}
        self._next_call = first_call
        self._end_frame = start
        self._origin = at - start / policy.fps
        self._held: float | None = at
        """Since when playback has stood still."""
        self._holds = {Hold.START}
        self._pauses: deque[tuple[float, float]] = deque(maxlen=KEPT_PAUSES)
        """Begin and end of the last times that a person held playback for; the end of one that lasts is NEVER."""
        self._timer = NEVER
        self._retry_at = NEVER
        self._abandoned = 0
        """Calls in a row that took too long."""
        self._lost: int | None = None
        """The last position that could not be decoded, until what was made in its place plays."""
        self._preempted = 0
        """Calls in a row that were stopped for a newer condition."""
        self._span = 0
        """Frames of the last group that was made."""
        self._unmade: dict[int, Change] = {}
        """What is new in each version that no call has made yet."""

    # -- what others may ask -------------------------------------------------------------------------------------------

    @property
    def next_call(self) -> int:
        """The id that the next call will have."""
        return self._next_call

    @property
    def end(self) -> int:
        """e: the first position without a prediction."""
        return self.delivered + len(self.cache)

    @property
    def held(self) -> bool:
        """Whether playback stands still."""
        return self._held is not None

    def origin(self, now: float) -> float:
        """The time at which media time 0 is due, as things stand; seconds."""
        return self._origin + (now - self._held if self._held is not None else 0.0)

    def start(self, position: int) -> int:
        """Media time of a position in [d, e], in frames."""
        i = position - self.delivered
        if i == len(self.cache):
            return self._end_frame
        return self.cache[i].start

    def deadline(self, position: int, now: float) -> float:
        """When a position in [d, e] is due, in seconds."""
        return self.origin(now) + self.start(position) / self.policy.fps

    def lead(self) -> float:
        """Seconds before a deadline at which a refill has to start, or to be asked for where worlds share a sampler."""
        return self._seconds_to(self.end, self._work(False)) + self.estimator.margin + (self.policy.wait or 0.0)

    def next_answer(self) -> tuple[int, float]:
        """K of a call that would answer a key now, and seconds from the key until it is seen, on average, when no call is in flight."""
        work = self._answer_to(edit=False)
        return work.window, self.estimator.lead(work) + self._span / self.policy.fps / 2

    def branch(self, now: float) -> tuple[int, float]:
        """The smallest feasible branch, and by how many seconds its deadline is missed (0 when it is not)."""
        end = self.end
        if self.policy.commit is Commit.SPECULATIVE:
            work = self._answer()
            slow = self.estimator.decode > 0
            need = (now + self.estimator.lead(work) - self.origin(now)) * self.policy.fps
            first = max(self.locked, self.delivered)
            i = bisect.bisect_left(self.cache, need - SIMULTANEOUS, lo=first - self.delivered, key=lambda x: x.start)
            for j in range(self.delivered + i, end):
                if self._is_branch_point(j) and not (slow and self._misses(j, work, now)):
                    return j, 0.0
        return end, self._late(now)

    def _work(self, edit: bool, window: int | None = None) -> Work:
        """What the next call's time depends on. window: its latents, None for those of a refill."""
        p = self.policy
        return Work(p.window if window is None else window, p.steps, edit, p.history)

    def _answer(self) -> Work:
        """The call that would answer the newest ready version."""
        return self._answer_to(self._is_edit(self._ready))

    def _answer_to(self, edit: bool) -> Work:
        """The call that would answer an update. edit: of the words."""
        return self._work(edit, self._answering(edit))

    def _answering(self, edit: bool) -> int:
        """K of a call that answers an update: the smallest that lasts until a refill can follow or, where there is an aim, the
        largest that meets it."""
        p = self.policy
        if not p.answers or p.commit is Commit.CHUNK or not self._span:
            return p.window
        group = self._span / p.fps
        lasts = [k for k in sorted(p.answers) if k < p.window and k * group >= self.lead()]
        if not lasts:
            return p.window
        if not p.aim:
            return lasts[0]
        meets = [k for k in (*lasts, p.window) if self.estimator.first(self._work(edit, k)) + group / 2 <= p.aim]
        return meets[-1] if meets else lasts[0]

    def _is_edit(self, version: int) -> bool:
        """Whether a call under this version would be the first under other words."""
        return any(v <= version and change is Change.PROMPT for v, change in self._unmade.items())

    def _seconds_to(self, branch: int, work: Work) -> float:
        """Seconds from a launch at a branch to its first deliverable group: the locked groups before it that are not decoded yet
        have their turn first, while the call is sampled."""
        first, decode = self.estimator.first(work, careful=True), self.estimator.decode
        if not decode:
            return first
        return max(first, (self._undecoded_before(branch) + 1) * decode)

    def _undecoded_before(self, branch: int) -> int:
        """Cached groups before a branch whose frames are not made yet."""
        return branch - self.delivered - sum(p < branch for p in self.decoded)

    def _misses(self, branch: int, work: Work, now: float) -> bool:
        """Whether a call at a branch would be late, since the locked groups before it cannot be decoded that soon."""
        ready = now + self._seconds_to(branch, work) + self.estimator.margin
        return ready > self.deadline(branch, now) + SIMULTANEOUS

    def _is_branch_point(self, position: int) -> bool:
        """Whether the model can go on anew from a cached position."""
        p = self.policy
        source = self.cache[position - self.delivered].source
        return (position - p.phase_offset) % p.phase == 0 and source % p.block == 0

    def _late(self, now: float) -> float:
        """By how many seconds a call that starts now misses the deadline of the cache's end; while held, never."""
        late = now + self._seconds_to(self.end, self._work(False)) - self.deadline(self.end, now)
        return 0.0 if self.held else max(0.0, late)

    def refill_due(self, now: float) -> bool:
        """Whether the cache ends so soon that the next call has to start."""
        return self.deadline(self.end, now) - now <= self.lead() + SIMULTANEOUS

    @property
    def _pausing(self) -> bool:
        return bool(self._pauses) and self._pauses[-1][1] == NEVER

    def paused(self, begin: float, end: float) -> float:
        """Seconds between two moments that a person held playback for."""
        return sum(max(0.0, min(end, b) - max(begin, a)) for a, b in self._pauses)

    # -- events --------------------------------------------------------------------------------------------------------

    def handle(self, event: Event) -> list[Command]:
        """The machine's answer to one event. Events must come in order of time. Raises ProtocolError; the machine is then
        of no use any more."""
        row = TRANSITIONS.get((self.state, type(event)))
        if row is None:
            raise ProtocolError(f"{type(event).__name__} cannot happen in {self.state}")
        before = self.state
        out: list[Command] = []
        getattr(self, row.handler)(event, out)
        if self.state is State.CONSUME:
            self._consider(event.at, out)
        self._granted = False
        if self.state is not State.CLOSED:
            self._set_timer(event.at, out)
        if self.state not in row.follow:
            raise ProtocolError(f"{self.state} cannot follow {before} after {type(event).__name__}")
        return out

    # Handlers, by name in the table; the first line of each is its row in the docs.

    def _do_nothing(self, e: Event, out: list[Command]) -> None:
        """nothing (late output of a call that is over is dropped)"""

    def _record_condition(self, e: ConditionChanged, out: list[Command]) -> None:
        """record the version; receipt"""
        if e.version <= self.newest:
            raise ProtocolError(f"version {e.version} is not newer than {self.newest}")
        self.newest = e.version
        self._open[e.version] = Pending(e.arrival, e.inputs_ready)
        self._unmade[e.version] = e.change
        out.append(Receipt(e.version, Outcome.RECEIVED, e.at, e.arrival))
        if not self.policy.retry_after:
            self.failures = 0
        if e.inputs_ready:
            self._offer(e.version)
        self._guess_known, self._tried = False, 0
        self._settle_alternative(e.guessed and e.inputs_ready, e.at, out)
        if e.inputs_ready:
            self._preempt(e.at, out)

    def _note_guess(self, e: Guessed, out: list[Command]) -> None:
        """the likeliest next condition is known: it may be sampled in idle time"""
        if e.after == self.newest:
            self._guess_known, self._tried = True, 0

    def _offer_version(self, e: InputsReady, out: list[Command]) -> None:
        """the version can run: it is pending, if it is the newest"""
        entry = self._open.get(e.version)
        if entry is not None and not entry.ready:
            entry.ready = True
            self._offer(e.version)
            self._preempt(e.at, out)

    def _offer(self, version: int) -> None:
        """The newest ready version is the one to run; older ones fold into it and end as superseded when it shows."""
        if version > self._ready:
            self._ready = version
            self.pending = version
            self.failures = 0

    def _reject_version(self, e: InputsRejected, out: list[Command]) -> None:
        """receipt; the old version stays"""
        entry = self._open.get(e.version)
        if entry is not None and not entry.ready:
            del self._open[e.version]
            if self._unmade.get(e.version) is not Change.PRESS:  # what is held is in the version that takes its place
                self._unmade.pop(e.version, None)
            out.append(Receipt(e.version, Outcome.REJECTED, e.at, entry.arrival, reason=e.reason))

    def _note_progress(self, e: CallProgressed, out: list[Command]) -> None:
        """the call's own steps say how long it takes"""
        call = self._active()
        if call.call != e.call:
            return
        if call.began is None:
            call.began = e.at
        call.step, call.steps = e.step, e.steps
        if e.step:
            call.foreseen = (e.at - call.began) * e.steps / e.step

    def _extend_cache(self, e: GroupsReady, out: list[Command]) -> None:
        """the cache grows; the first groups of a call end its C"""
        call = self._active()
        if call.call != e.call:
            return
        if call.made + len(e.spans) > call.window:
            raise ProtocolError(f"call {e.call} made more than its {call.window} groups")
        if call.alternative:
            self.alternative = Alternative(call.call, call.branch, e.spans)
            return
        if call.first_ready is None:
            self._first_groups(call, e)
        self._span = e.spans[-1] if e.spans else self._span
        for span in e.spans:
            self.cache.append(Prediction(self.end, call.call, call.made, self._end_frame, span, call.version))
            self._end_frame += span
            call.made += 1
        self.counts.predicted += len(e.spans)

    def _first_groups(self, call: InFlight, e: GroupsReady) -> None:
        """C of a call is known, and what its launch revoked is not wanted any more."""
        call.first_ready = e.at
        call.shadow = ()
        self._preempted = 0
        began = call.launched if call.began is None else call.began
        took = e.at - began if e.sampled is None else e.sampled - began + self.estimator.decode
        self.estimator.saw_first(call.work, took, call.branch == self._began_at)
        self._calls[call.call] = CallTimes(max(call.launched, call.taken), e.at)
        self._unmade = {v: change for v, change in self._unmade.items() if v > call.version}
        self.decoded.add(call.branch)
        if call.press:
            self.locked = max(self.locked, call.branch + 1)

    def _end_call(self, e: RequestFinished, out: list[Command]) -> None:
        """the worker is free; after an error, what the call revoked comes back"""
        call = self._active()
        if call.call != e.call:
            return
        self._free()
        if e.error:
            self._failed(call, e.error, e.at, out)
        else:
            self._abandoned = 0
            if self._lost is None:
                self.failures = 0

    def _deliver(self, e: GroupStarted, out: list[Command]) -> None:
        """d moves; a version that shows for the first time is answered"""
        if not self.cache or e.position != self.delivered:
            raise ProtocolError(f"group {e.position} cannot start: {self.delivered} is next of {len(self.cache)}")
        entry = self.cache.popleft()
        self.delivered += 1
        self.decoded.discard(entry.position)
        self.locked = max(self.locked, self.delivered)
        self.counts.delivered += 1
        if self._lost is not None and entry.position >= self._lost:
            self._lost = None
            self.failures = 0
        if entry.version != self.shown_version:
            self._show(entry, e.at if e.shown is None else e.shown, out)
        self._origin = e.at - entry.start / self.policy.fps
        if self._held is not None:
            self._held = max(self._held, e.at)
        if len(self._calls) > KEPT_CALLS:
            alive = {x.call for x in self.cache} | {entry.call}
            if self.in_flight is not None:
                alive.update((self.in_flight.call, *(x.call for x in self.in_flight.shadow)))
            self._calls = {c: t for c, t in self._calls.items() if c in alive}

    def _show(self, entry: Prediction, at: float, out: list[Command]) -> None:
        """The first group of a version plays: the update is answered, and those it overtook are superseded."""
        self.shown_version = entry.version
        times = self._calls[entry.call]
        for version in sorted(v for v in self._open if v <= entry.version):
            p = self._open.pop(version)
            if version < entry.version:
                out.append(Receipt(version, Outcome.SUPERSEDED, at, p.arrival, by=entry.version))
                continue
            moments = (p.arrival, times.launched, times.ready, at)
            wait, generate, queue = (b - a - self.paused(a, b) for a, b in pairwise(moments))
            parts = (wait, generate, queue, "", self.paused(p.arrival, at))
            out.append(Receipt(version, Outcome.APPLIED, at, p.arrival, entry.position, -1, *parts))

    def _note_decode(self, e: GroupDecoded, out: list[Command]) -> None:
        """what is decoded is known, and how long it takes"""
        self.estimator.saw_decode(e.seconds)
        if self.delivered <= e.position < self.end:
            self.decoded.add(e.position)

    def _lose(self, e: GroupLost, out: list[Command]) -> None:
        """a group that cannot be decoded is revoked with all from the branch point before it, to be made anew"""
        if not self.delivered <= e.position < self.end:
            return
        call = self.in_flight
        if call is not None:
            out.append(Abandon(call.call, f"group {e.position} is lost"))
            self._free()
            if call.made == 0:
                self._want_again(call)
        at = range(e.position, self.delivered - 1, -1)
        j = next((p for p in at if self._is_branch_point(p)), e.position)
        self.locked = min(self.locked, j)
        self._revoke(j, Reason.LOST, out)
        self._lost = e.position
        self._count_failure("decoding", e.reason, e.at, out)

    def _check_limit(self, e: TimerFired | PlaybackHeld | PlaybackReleased | PolicyChanged, out: list[Command]) -> None:
        """a call past its limit is abandoned"""
        call = self._active()
        if call.alternative and (self.refill_due(e.at) or not self.policy.ahead):
            out.append(Abandon(call.call, ROOM))
            self._free()
        elif e.at >= call.launched + self._limit(call) - SIMULTANEOUS:
            reason = f"no end after {self._limit(call):g} s"
            out.append(Abandon(call.call, reason))
            self._abandoned += 1
            self._free()
            self._failed(call, reason, e.at, out)

    def _limit(self, call: InFlight) -> float:
        """Seconds that a call may take."""
        p = self.policy
        if not p.patience:
            return p.hard_limit
        own = max(self.estimator.first(call.work), call.foreseen)
        return float(max(p.hard_limit, p.patience * own) * 2**self._abandoned)

    def _hold(self, e: PlaybackHeld, out: list[Command]) -> None:
        """deadlines move on with the time; a call past its limit is abandoned"""
        since = e.at if e.since is None else e.since
        self._holds.add(e.why)
        if e.why is Hold.PAUSE and not self._pausing:
            self._pauses.append((since, NEVER))
        if self._held is None:
            self._held = since
        if self.in_flight is not None:
            self._check_limit(e, out)

    def _release(self, e: PlaybackReleased, out: list[Command]) -> None:
        """deadlines stand again, if nothing else holds them; a call past its limit is abandoned"""
        since = e.at if e.since is None else e.since
        self._holds = self._holds - {e.why} if e.why is not None else set()
        if self._pausing and e.why in (Hold.PAUSE, None):
            self._pauses[-1] = (self._pauses[-1][0], since)
        if self._held is not None and not self._holds:
            self._origin += max(0.0, since - self._held)
            self._held = None
        if self.in_flight is not None:
            self._check_limit(e, out)

    def _change_policy(self, e: PolicyChanged, out: list[Command]) -> None:
        """the policy holds from the next call on; a call past its limit is abandoned"""
        self.policy = e.policy
        if not e.policy.ahead:
            self._drop_alternative()
        if self.in_flight is not None:
            self._check_limit(e, out)

    def _grant(self, e: SlotGranted, out: list[Command]) -> None:
        """the call that is wanted now, if there is one, may be launched"""
        self._granted = True

    def _refuse_grant(self, e: SlotGranted, out: list[Command]) -> None:
        """a fault: a world has one call at a time"""
        raise ProtocolError("the sampler is granted to a world whose call is under way")

    def _close(self, e: SessionClosed, out: list[Command]) -> None:
        """the call is abandoned, the cache revoked, open updates are dropped"""
        if self.in_flight is not None:
            out.append(Abandon(self.in_flight.call, "closed"))
            self.in_flight = None
        self._drop_alternative()
        self._revoke(max(self.delivered, self.locked), Reason.CLOSED, out)
        for version, p in sorted(self._open.items()):
            out.append(Receipt(version, Outcome.DROPPED, e.at, p.arrival))
        self._open.clear()
        self.want = None
        self.state = State.CLOSED

    # -- the call ------------------------------------------------------------------------------------------------------

    def _active(self) -> InFlight:
        """The call that makes the state Produce."""
        if self.in_flight is None:
            raise ProtocolError(f"no call is in flight in {self.state}")
        return self.in_flight

    def _free(self) -> None:
        self.in_flight = None
        self.state = State.CONSUME

    def _failed(self, call: InFlight, error: str, now: float, out: list[Command]) -> None:
        """A call ended without its groups: what it revoked comes back, and its version is wanted again."""
        if call.alternative:
            self._tried = ALTERNATIVES
            return
        self._give_back(call, out)
        if call.made == 0 or not self.policy.retry_after:
            self._want_again(call)
        self._count_failure("sampling", error, now, out)

    def _give_back(self, call: InFlight, out: list[Command]) -> None:
        """What the launch of a call revoked is in the cache again."""
        if call.shadow and self.end == call.branch:
            self.cache.extend(call.shadow)
            self._end_frame = call.shadow[-1].start + call.shadow[-1].span
            self.counts.revoked -= len(call.shadow)
            out.append(Restore(call.shadow))

    def _preempt(self, now: float, out: list[Command]) -> None:
        """A call that a newer condition has made worthless ends at its next step, where that is sooner than its end and what was
        predicted before lasts until the new call is there. What it had revoked comes back; the guard does the rest."""
        call, p = self.in_flight, self.policy
        if call is None or self.pending is None or p.commit is Commit.CHUNK or self._preempted >= p.preempt:
            return
        if call.first_ready is not None or self.held or self.failures or call.steps - call.step < STEPS_LEFT:
            return
        if call.press and Change.RELEASE in self._unmade.values():
            return  # nobody has seen that press yet, and the newer condition may be without it
        step = max(self.estimator.first(call.work), call.foreseen) / call.steps
        last = call.shadow[-1] if call.shadow else None
        end = self._end_frame if last is None else last.start + last.span
        if self.origin(now) + end / p.fps < now + step + self.estimator.lead(self._answer()) - SIMULTANEOUS:
            return
        out.append(Abandon(call.call, PREEMPTED))
        self._free()
        self._give_back(call, out)
        self._preempted += 1

    def _want_again(self, call: InFlight) -> None:
        if call.version == self._ready and call.reason is Reason.UPDATE:
            self.pending = call.version

    def _count_failure(self, what: str, error: str, now: float, out: list[Command]) -> None:
        """After some failures in a row it rests, longer each time, or for good; the person is told."""
        p = self.policy
        self.failures += 1
        if self.failures < p.attempts:
            return
        kept = f"{len(self.cache)} predicted groups go on playing"
        then = "change the prompt or reset"
        if p.retry_after:
            rest = min(RETRY_MOST, p.retry_after * 2.0 ** min(16, self.failures - p.attempts))
            self._retry_at = now + rest
            then = f"tried again in {rest:g} s; or change the prompt"
        out.append(Notice(f"{what} failed {self.failures} times: {error}; {kept}; {then}"))

    def _rests(self, now: float) -> bool:
        """Whether no call is launched, since too many have failed."""
        return self.failures >= self.policy.attempts and (not self.policy.retry_after or now < self._retry_at)

    # -- guard and launch ----------------------------------------------------------------------------------------------

    def _consider(self, now: float, out: list[Command]) -> None:
        """The guard: no active call, and a pending version with a branch or a refill that is due. Where worlds share a sampler it only
        says what it wants until that is granted: the branch is chosen, and predictions revoked, when the call really begins."""
        self.want = None
        if self.alternative is not None and not self._can_be_taken(self.alternative.branch, now):
            self._drop_alternative()
        if self._rests(now):
            return
        due = self.refill_due(now)
        wanted = self.pending is not None and self.policy.commit is Commit.SPECULATIVE
        if not (due or wanted):
            self._use_idle_time(now, out)
            return
        updating = self.pending is not None
        if self.policy.wait is not None and not self._granted:
            lead = self.lead() - self.policy.wait
            latest = now if self.held else self.deadline(self.end, now) - lead
            self.want = Want(Reason.UPDATE if updating else Reason.REFILL, latest)
            return
        j, late = self.branch(now) if updating else (self.end, self._late(now))
        self._launch(j, late, Reason.UPDATE if updating else Reason.REFILL, now, out)

    def _launch(self, j: int, late: float, reason: Reason, now: float, out: list[Command]) -> None:
        self.locked = max(self.locked, j)
        shadow = self._revoke(j, Reason.UPDATE, out)
        version = self._ready
        if self.pending == version:
            self.pending = None
        self.running = version
        press = any(v <= version and change is Change.PRESS for v, change in self._unmade.items())
        work = self._answer() if reason is Reason.UPDATE else self._work(self._is_edit(version))
        call = InFlight(self._next_call, j, work.window, version, now, reason, work, press, shadow)
        self.in_flight = call
        self._next_call += 1
        self.state = State.PRODUCE
        if late > LATE:
            self.missed_deadlines += 1
        out.append(Launch(call.call, j, call.window, version, reason, late))

    # -- an alternative in idle time -----------------------------------------------------------------------------------

    def _use_idle_time(self, now: float, out: list[Command]) -> None:
        """The likeliest next condition is sampled beside the cache, if that ends before the next refill begins."""
        p = self.policy
        if not p.ahead or not self._guess_known or self.alternative is not None or self._tried >= ALTERNATIVES:
            return
        if self.held or self.failures or p.wait is not None or p.commit is Commit.CHUNK or self.pending is not None:
            return
        work = self._answer_to(edit=False)
        over = now + self.estimator.lead(work)
        if over > self.deadline(self.end, now) - self.lead():
            return
        in_time = [j for j in range(max(self.locked, self.delivered), self.end) if self._is_branch_point(j)]
        in_time = [j for j in in_time if self.deadline(j, now) >= over + self.estimator.decode - SIMULTANEOUS]
        j = next((j for j in in_time if j >= in_time[0] + p.ahead), None)
        if j is None:
            return
        self._tried += 1
        call = InFlight(self._next_call, j, work.window, self._ready, now, Reason.ALTERNATIVE, work)
        self.in_flight = call
        self._next_call += 1
        self.state = State.PRODUCE
        out.append(Launch(call.call, j, call.window, call.version, call.reason))

    def _can_be_taken(self, branch: int, now: float) -> bool:
        """Whether a group from an alternative that begins here can be decoded before it is due."""
        if not max(self.locked, self.delivered) <= branch < self.end:
            return False
        return (
            self.deadline(branch, now)
            >= now + (self._undecoded_before(branch) + 1) * self.estimator.decode + self.estimator.margin
        )

    def _is_sooner(self, branch: int, now: float) -> bool:
        """Whether what begins at a branch plays no later than what a new call would make."""
        return self._can_be_taken(branch, now) and branch <= self.branch(now)[0]

    def _settle_alternative(self, guessed: bool, now: float, out: list[Command]) -> None:
        """A new condition is here. guessed: it is the likeliest one. What was sampled for it plays, if nothing newer would be there
        sooner; for another one it is dropped."""
        call, made = self.in_flight, self.alternative
        wanted = guessed and self.policy.commit is Commit.SPECULATIVE
        if call is not None and call.alternative:
            if wanted and self._lands_in_time(call, now):
                self._promote(call, now, out)
            else:
                out.append(Abandon(call.call, ROOM))
                self._free()
        elif made is not None and wanted and self._is_sooner(made.branch, now):
            self._take(made, now, out)
        else:
            self._drop_alternative()

    def _lands_in_time(self, call: InFlight, now: float) -> bool:
        """Whether an alternative in flight will be there before its branch is due, and no later than a new call."""
        began = call.launched if call.began is None else call.began
        lands = max(now, began + max(call.foreseen, self.estimator.first(call.work))) + self.estimator.decode
        due = self.deadline(call.branch, now)
        return lands + self.estimator.margin <= due and self._is_sooner(call.branch, now)

    def _promote(self, call: InFlight, now: float, out: list[Command]) -> None:
        """The alternative in flight is the call that answers the newest condition."""
        self.locked = max(self.locked, call.branch)
        call.shadow = self._revoke(call.branch, Reason.UPDATE, out)
        call.version, call.reason, call.taken = self._ready, Reason.UPDATE, now
        call.press = Change.PRESS in self._unmade.values()
        self.pending, self.running = None, self._ready
        out.append(Promote(call.call, call.version))

    def _take(self, made: Alternative, now: float, out: list[Command]) -> None:
        """An alternative's groups take the place of what was predicted from its branch on."""
        self.alternative = None
        self.locked = max(self.locked, made.branch)
        self._revoke(made.branch, Reason.UPDATE, out)
        version = self.running = self._ready
        self.pending = None
        if Change.PRESS in self._unmade.values():
            self.locked = max(self.locked, made.branch + 1)
        self._unmade = {v: change for v, change in self._unmade.items() if v > version}
        entries = []
        for i, span in enumerate(made.spans):
            entries.append(Prediction(self.end + i, made.call, i, self._end_frame, span, version))
            self._end_frame += span
        self.cache.extend(entries)
        self.counts.predicted += len(entries)
        self._calls[made.call] = CallTimes(now, now)
        out.append(Take(made.call, tuple(entries)))

    def _drop_alternative(self) -> None:
        """What was sampled for nothing counts as predicted and revoked."""
        if self.alternative is not None:
            self.counts.predicted += len(self.alternative.spans)
            self.counts.revoked += len(self.alternative.spans)
            self.alternative = None

    def _revoke(self, j: int, reason: Reason, out: list[Command]) -> tuple[Prediction, ...]:
        gone: list[Prediction] = []
        while self.end > j:
            gone.append(self.cache.pop())
        gone.reverse()
        if gone:
            self._end_frame = gone[0].start
            self.decoded = {p for p in self.decoded if p < j}
            self.counts.revoked += len(gone)
            out.append(Revoke(tuple(gone), reason))
        return tuple(gone)

    def _set_timer(self, now: float, out: list[Command]) -> None:
        if self.in_flight is not None:
            timer = self.in_flight.launched + self._limit(self.in_flight)
            if self.in_flight.alternative and not self.held:
                timer = min(timer, max(now, self.deadline(self.end, now) - self.lead()))
        elif self._rests(now):
            timer = self._retry_at if self.policy.retry_after else NEVER
        elif self.held or self.want is not None:
            timer = NEVER
        else:
            timer = max(now, self.deadline(self.end, now) - self.lead())
        if timer != self._timer:
            self._timer = timer
            out.append(SetTimer(timer))
