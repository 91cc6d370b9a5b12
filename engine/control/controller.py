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
recorded at once but never interrupts the call. Whenever an event leaves the machine without an active call, the guard
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
from typing import NamedTuple

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
    Reason,
    Receipt,
    RequestFinished,
    Restore,
    Revoke,
    SessionClosed,
    SetTimer,
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
    (State.PRODUCE, ConditionChanged): Transition("_record_condition", PRODUCE),
    (State.CONSUME, InputsReady): Transition("_offer_version", EITHER),
    (State.PRODUCE, InputsReady): Transition("_offer_version", PRODUCE),
    (State.CONSUME, InputsRejected): Transition("_reject_version", EITHER),
    (State.PRODUCE, InputsRejected): Transition("_reject_version", PRODUCE),
    (State.CONSUME, GroupsReady): Transition("_do_nothing", EITHER),
    (State.PRODUCE, GroupsReady): Transition("_extend_cache", PRODUCE),
    (State.CONSUME, RequestFinished): Transition("_do_nothing", EITHER),
    (State.PRODUCE, RequestFinished): Transition("_end_call", EITHER),
    (State.CONSUME, GroupStarted): Transition("_deliver", EITHER),
    (State.PRODUCE, GroupStarted): Transition("_deliver", PRODUCE),
    (State.CONSUME, TimerFired): Transition("_do_nothing", EITHER),
    (State.PRODUCE, TimerFired): Transition("_check_limit", EITHER),
    (State.CONSUME, PlaybackHeld): Transition("_hold", EITHER),
    (State.PRODUCE, PlaybackHeld): Transition("_hold", EITHER),
    (State.CONSUME, PlaybackReleased): Transition("_release", EITHER),
    (State.PRODUCE, PlaybackReleased): Transition("_release", EITHER),
    (State.CONSUME, PolicyChanged): Transition("_change_policy", EITHER),
    (State.PRODUCE, PolicyChanged): Transition("_change_policy", EITHER),
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


@dataclass(slots=True)
class InFlight:
    """The active call."""

    call: int
    branch: int
    window: int
    version: int
    launched: float
    reason: Reason
    first_ready: float | None = None
    made: int = 0
    shadow: tuple[Prediction, ...] = ()
    """What its launch revoked, until its first group is there."""


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
        self.counts = Counts()
        self.failures = 0
        self.missed_deadlines = 0
        self.shown_version = -1
        self._open: dict[int, Pending] = {version: Pending(at, ready=True)}
        self._ready = version
        self._calls: dict[int, CallTimes] = {}
        self._next_call = first_call
        self._end_frame = start
        self._origin = at - start / policy.fps
        self._held: float | None = at
        self._timer = NEVER

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
        """Seconds before a deadline at which a call has to start."""
        return self.estimator.lead(self.policy.window)

    def branch(self, now: float) -> tuple[int, float]:
        """The smallest feasible branch, and by how many seconds its deadline is missed (0 when it is not)."""
        end = self.end
        if self.policy.commit is Commit.SPECULATIVE:
            need = (now + self.lead() - self.origin(now)) * self.policy.fps
            first = max(self.locked, self.delivered)
            i = bisect.bisect_left(self.cache, need - SIMULTANEOUS, lo=first - self.delivered, key=lambda x: x.start)
            for j in range(self.delivered + i, end):
                if self._is_branch_point(j):
                    return j, 0.0
        return end, self._late(now)

    def _is_branch_point(self, position: int) -> bool:
        """Whether the model can go on anew from a cached position."""
        p = self.policy
        source = self.cache[position - self.delivered].source
        return (position - p.phase_offset) % p.phase == 0 and source % p.block == 0

    def _late(self, now: float) -> float:
        """By how many seconds a call that starts now misses the deadline of the cache's end; while held, never."""
        late = now + self.estimator.first(self.policy.window) - self.deadline(self.end, now)
        return 0.0 if self.held else max(0.0, late)

    def refill_due(self, now: float) -> bool:
        """Whether the cache ends so soon that the next call has to start."""
        return self.deadline(self.end, now) - now <= self.lead() + SIMULTANEOUS

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
        out.append(Receipt(e.version, Outcome.RECEIVED, e.at, e.arrival))
        self.failures = 0
        if e.inputs_ready:
            self._offer(e.version)

    def _offer_version(self, e: InputsReady, out: list[Command]) -> None:
        """the version can run: it is pending, if it is the newest"""
        entry = self._open.get(e.version)
        if entry is not None and not entry.ready:
            entry.ready = True
            self._offer(e.version)

    def _offer(self, version: int) -> None:
        """The newest ready version is the one to run; older ones fold into it and end as superseded when it shows."""
        if version > self._ready:
            self._ready = version
            self.pending = version

    def _reject_version(self, e: InputsRejected, out: list[Command]) -> None:
        """receipt; the old version stays"""
        entry = self._open.get(e.version)
        if entry is not None and not entry.ready:
            del self._open[e.version]
            out.append(Receipt(e.version, Outcome.REJECTED, e.at, entry.arrival, reason=e.reason))

    def _extend_cache(self, e: GroupsReady, out: list[Command]) -> None:
        """the cache grows; the first groups of a call end its C"""
        call = self._active()
        if call.call != e.call:
            return
        if call.made + len(e.spans) > call.window:
            raise ProtocolError(f"call {e.call} made more than its {call.window} groups")
        if call.first_ready is None:
            call.first_ready = e.at
            call.shadow = ()
            self.estimator.saw_first(call.window, e.at - call.launched, call.branch == self._began_at)
            self._calls[call.call] = CallTimes(call.launched, e.at)
        for span in e.spans:
            self.cache.append(Prediction(self.end, call.call, call.made, self._end_frame, span, call.version))
            self._end_frame += span
            call.made += 1
        self.counts.predicted += len(e.spans)

    def _end_call(self, e: RequestFinished, out: list[Command]) -> None:
        """the worker is free; after an error, what the call revoked comes back"""
        call = self._active()
        if call.call != e.call:
            return
        self._free()
        if e.error:
            self._failed(call, e.error, out)
        else:
            self.failures = 0

    def _deliver(self, e: GroupStarted, out: list[Command]) -> None:
        """d moves; a version that shows for the first time is answered"""
        if not self.cache or e.position != self.delivered:
            raise ProtocolError(f"group {e.position} cannot start: {self.delivered} is next of {len(self.cache)}")
        entry = self.cache.popleft()
        self.delivered += 1
        self.locked = max(self.locked, self.delivered)
        self.counts.delivered += 1
        if entry.version != self.shown_version:
            self._show(entry, e.at, out)
        self._origin = e.at - entry.start / self.policy.fps
        if self._held is not None:
            self._held = e.at
        if len(self._calls) > KEPT_CALLS:
            alive = {x.call for x in self.cache} | {entry.call}
            if self.in_flight is not None:
                alive.add(self.in_flight.call)
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
            parts = (times.launched - p.arrival, times.ready - times.launched, at - times.ready)
            out.append(Receipt(version, Outcome.APPLIED, at, p.arrival, entry.position, -1, *parts))

    def _check_limit(self, e: TimerFired | PlaybackHeld | PlaybackReleased | PolicyChanged, out: list[Command]) -> None:
        """a call past the hard limit is abandoned"""
        call = self._active()
        if e.at >= call.launched + self.policy.hard_limit - SIMULTANEOUS:
            reason = f"no end after {self.policy.hard_limit:g} s"
            out.append(Abandon(call.call, reason))
            self._free()
            self._failed(call, reason, out)

    def _hold(self, e: PlaybackHeld, out: list[Command]) -> None:
        """deadlines move on with the time; a call past the hard limit is abandoned"""
        if self._held is None:
            self._held = e.at
        if self.in_flight is not None:
            self._check_limit(e, out)

    def _release(self, e: PlaybackReleased, out: list[Command]) -> None:
        """deadlines stand again; a call past the hard limit is abandoned"""
        if self._held is not None:
            self._origin += e.at - self._held
            self._held = None
        if self.in_flight is not None:
            self._check_limit(e, out)

    def _change_policy(self, e: PolicyChanged, out: list[Command]) -> None:
        """the policy holds from the next call on; a call past the hard limit is abandoned"""
        self.policy = e.policy
        if self.in_flight is not None:
            self._check_limit(e, out)

    def _close(self, e: SessionClosed, out: list[Command]) -> None:
        """the call is abandoned, the cache revoked, open updates are dropped"""
        if self.in_flight is not None:
            out.append(Abandon(self.in_flight.call, "closed"))
            self.in_flight = None
        self._revoke(max(self.delivered, self.locked), Reason.CLOSED, out)
        for version, p in sorted(self._open.items()):
            out.append(Receipt(version, Outcome.DROPPED, e.at, p.arrival))
        self._open.clear()
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

    def _failed(self, call: InFlight, error: str, out: list[Command]) -> None:
        self.failures += 1
        if call.shadow and self.end == call.branch:
            self.cache.extend(call.shadow)
            self._end_frame = call.shadow[-1].start + call.shadow[-1].span
            self.counts.revoked -= len(call.shadow)
            out.append(Restore(call.shadow))
        if call.version == self._ready and call.reason is Reason.UPDATE:
            self.pending = call.version
        if self.failures >= self.policy.attempts:
            kept = f"{len(self.cache)} predicted groups go on playing"
            out.append(Notice(f"sampling failed {self.failures} times: {error}; {kept}; change the prompt or reset"))

    # -- guard and launch ----------------------------------------------------------------------------------------------

    def _consider(self, now: float, out: list[Command]) -> None:
        """The guard: no active call, and a pending version with a branch or a refill that is due."""
        if self.failures >= self.policy.attempts:
            return
        due = self.refill_due(now)
        wanted = self.pending is not None and self.policy.commit is Commit.SPECULATIVE
        if not (due or wanted):
            return
        updating = self.pending is not None
        j, late = self.branch(now) if updating else (self.end, self._late(now))
        self._launch(j, late, Reason.UPDATE if updating else Reason.REFILL, now, out)

    def _launch(self, j: int, late: float, reason: Reason, now: float, out: list[Command]) -> None:
        self.locked = max(self.locked, j)
        shadow = self._revoke(j, Reason.UPDATE, out)
        version = self._ready
        if self.pending == version:
            self.pending = None
        self.running = version
        call = InFlight(self._next_call, j, self.policy.window, version, now, reason, shadow=shadow)
        self.in_flight = call
        self._next_call += 1
        self.state = State.PRODUCE
        if late > LATE:
            self.missed_deadlines += 1
        out.append(Launch(call.call, j, call.window, version, reason, late))

    def _revoke(self, j: int, reason: Reason, out: list[Command]) -> tuple[Prediction, ...]:
        gone: list[Prediction] = []
        while self.end > j:
            gone.append(self.cache.pop())
        gone.reverse()
        if gone:
            self._end_frame = gone[0].start
            self.counts.revoked += len(gone)
            out.append(Revoke(tuple(gone), reason))
        return tuple(gone)

    def _set_timer(self, now: float, out: list[Command]) -> None:
        if self.in_flight is not None:
            timer = self.in_flight.launched + self.policy.hard_limit
        elif self.held or self.failures >= self.policy.attempts:
            timer = NEVER
        else:
            timer = max(now, self.deadline(self.end, now) - self.lead())
        if timer != self._timer:
            self._timer = timer
            out.append(SetTimer(timer))
