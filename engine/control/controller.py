"""Produce / Consume: the state machine that decides when to sample, from where, and what is revoked.

Everything that affects the machine lives in this file, and nothing else does. It is given events with their times and
returns commands; it owns no clock, no thread, no tensor and no Qt object, so the same code runs live, in virtual time
and under a property test.

Theory of operation
-------------------
The session is a row of *groups* at positions 0, 1, 2, ... Positions `[0, d)` were delivered to the player, `[d, l)` are
locked (they will play), `[l, e)` is the cache of revocable predictions. A call samples K latents jointly from a branch
position j and replaces everything from j on.

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

Differences from the sources, each marked [ours] in the design notes: `ready` has two kinds; a due refill takes the
newest ready version; a failed call gets back what it revoked; calls past a hard limit are abandoned.
"""

from __future__ import annotations

import bisect
from collections import deque
from dataclasses import dataclass
from enum import Enum, StrEnum

from engine.control.estimator import Estimator


class State(StrEnum):
    CONSUME = "consume"
    PRODUCE = "produce"


class Commit(StrEnum):
    """When a new condition may take effect."""

    SPECULATIVE = "speculative"
    CHUNK = "chunk"


@dataclass(frozen=True, slots=True)
class Policy:
    """What a session decides by.

    fps: frames a second of media time. window: K, the latents of a call. commit: see Commit. phase, offset: branch
    points are the positions p with (p - offset) % phase == 0. hard_limit: seconds after which a call is abandoned.
    attempts: calls in a row that may fail before the machine waits for the user.
    """

    fps: float
    window: int
    commit: Commit = Commit.SPECULATIVE
    phase: int = 1
    offset: int = 0
    hard_limit: float = 60.0
    attempts: int = 2

    def __post_init__(self) -> None:
        if self.fps <= 0 or self.window < 1 or self.phase < 1 or self.attempts < 1 or self.hard_limit <= 0:
            raise ValueError(f"impossible policy: {self}")


# --- events -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Update:
    """A condition arrived. arrival: when the key or prompt reached the application (not after `at`)."""

    at: float
    version: int
    arrival: float
    inputs_ready: bool = False


@dataclass(frozen=True, slots=True)
class InputsReady:
    """ready(inputs): everything that the version needs (embedding, action tensor, image) is there."""

    at: float
    version: int


@dataclass(frozen=True, slots=True)
class InputsRejected:
    """The version cannot be used; the old one stays in force."""

    at: float
    version: int
    reason: str


@dataclass(frozen=True, slots=True)
class GroupsReady:
    """ready(groups): the next groups of a call are deliverable. spans: frames of each."""

    at: float
    call: int
    spans: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Finish:
    """The call's worker is free. error: empty when it went well."""

    at: float
    call: int
    error: str = ""


@dataclass(frozen=True, slots=True)
class Tick:
    """Group `position` starts playing."""

    at: float
    position: int


class Cause(Enum):
    TIMER = "timer"
    HOLD = "hold"
    RELEASE = "release"
    POLICY = "policy"


@dataclass(frozen=True, slots=True)
class Wake:
    """Re-evaluate: a timer ran out, playback was held (paused, stalled) or goes on, or the policy changed."""

    at: float
    cause: Cause = Cause.TIMER
    policy: Policy | None = None


Event = Update | InputsReady | InputsRejected | GroupsReady | Finish | Tick | Wake


# --- commands ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Entry:
    """One predicted group: where it plays, which call made it, its index there, frames, and its condition."""

    position: int
    call: int
    source: int
    start: int
    span: int
    version: int


@dataclass(frozen=True, slots=True)
class Launch:
    """Sample `window` latents from `branch` under `version`. late: seconds by which the branch's deadline is missed."""

    call: int
    branch: int
    window: int
    version: int
    reason: str
    late: float = 0.0


@dataclass(frozen=True, slots=True)
class Revoke:
    """These predictions will not play."""

    entries: tuple[Entry, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Restore:
    """A failed call gives back what it had revoked."""

    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Abandon:
    """Stop the call; whatever it still sends is dropped."""

    call: int
    reason: str


class Outcome(StrEnum):
    """What became of a condition."""

    RECEIVED = "received"
    APPLIED = "applied"
    SUPERSEDED = "superseded"
    REJECTED = "rejected"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class Receipt:
    """How an update ended (or that it was received). Times are seconds; position is where it was first shown."""

    version: int
    outcome: Outcome
    at: float
    arrival: float
    position: int = -1
    by: int = -1
    wait: float = 0.0
    generate: float = 0.0
    queue: float = 0.0
    reason: str = ""

    @property
    def latency(self) -> float:
        """L = R + C + Q, seconds."""
        return self.wait + self.generate + self.queue


@dataclass(frozen=True, slots=True)
class SetWake:
    """Send Wake at this time (replaces the former request); infinity: not at all."""

    at: float


@dataclass(frozen=True, slots=True)
class Report:
    """Something the user should know."""

    message: str


Command = Launch | Revoke | Restore | Abandon | Receipt | SetWake | Report


# --- registers --------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Job:
    """The active call."""

    call: int
    branch: int
    window: int
    version: int
    launched: float
    reason: str
    first_ready: float | None = None
    made: int = 0
    shadow: tuple[Entry, ...] = ()


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


TABLE: dict[tuple[State, type], str] = {
    (State.CONSUME, Update): "record; receipt; if guard: launch",
    (State.PRODUCE, Update): "record; receipt; the call goes on",
    (State.CONSUME, InputsReady): "newest ready; if guard: launch",
    (State.PRODUCE, InputsReady): "newest ready; the call goes on",
    (State.CONSUME, InputsRejected): "receipt; the old version stays",
    (State.PRODUCE, InputsRejected): "receipt; the old version stays",
    (State.CONSUME, GroupsReady): "stale: dropped",
    (State.PRODUCE, GroupsReady): "cache grows; the first one ends C",
    (State.CONSUME, Finish): "stale: dropped",
    (State.PRODUCE, Finish): "slot free; if guard: launch, else consume",
    (State.CONSUME, Tick): "d moves; if guard: launch",
    (State.PRODUCE, Tick): "d moves",
    (State.CONSUME, Wake): "if guard: launch; re-arm",
    (State.PRODUCE, Wake): "past the hard limit: abandon; re-arm",
}
"""The transition table. The code below is its implementation; docs and tests read it."""

NEVER = float("inf")


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
        """at: seconds; playback counts as held from then on. version: the condition in force at the start. first, start: the position
        and the media frame that it goes on from, when it goes back into a world."""
        self.policy = policy
        self.estimator = estimator if estimator is not None else Estimator()
        self.state = State.CONSUME
        self.delivered = first
        self.locked = first
        self.cache: deque[Entry] = deque()
        self.newest = version
        self.running = version
        self.pending: int | None = None
        self.job: Job | None = None
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
        self._wake = NEVER

    @property
    def next_call(self) -> int:
        """The id that the next call will have."""
        return self._next_call

    # -- what others may ask -------------------------------------------------------------------------------------------

    @property
    def end(self) -> int:
        """e: the first position without a prediction."""
        return self.delivered + len(self.cache)

    @property
    def held(self) -> bool:
        return self._held is not None

    def origin(self, now: float) -> float:
        """The time at which media time 0 is due, as things stand."""
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
            i = bisect.bisect_left(self.cache, need - 1e-9, lo=first - self.delivered, key=lambda x: x.start)
            j = self.delivered + i
            off = (j - self.policy.offset) % self.policy.phase
            j += self.policy.phase - off if off else 0
            if j < end:
                return j, 0.0
        return end, self._late(now)

    def _late(self, now: float) -> float:
        """By how many seconds a call that starts now misses the deadline of the cache's end; while held, never."""
        late = now + self.estimator.first(self.policy.window) - self.deadline(self.end, now)
        return 0.0 if self.held else max(0.0, late)

    def refill_due(self, now: float) -> bool:
        return self.deadline(self.end, now) - now <= self.lead() + 1e-9

    # -- events --------------------------------------------------------------------------------------------------------

    def handle(self, event: Event) -> list[Command]:
        """The machine's answer to one event. Events must come in order of time."""
        out: list[Command] = []
        match event:
            case Update():
                self._on_update(event, out)
            case InputsReady():
                self._on_inputs(event)
            case InputsRejected():
                self._on_rejected(event, out)
            case GroupsReady():
                self._on_groups(event)
            case Finish():
                self._on_finish(event, out)
            case Tick():
                self._on_tick(event, out)
            case Wake():
                self._on_wake(event, out)
        if self.job is None:
            self._consider(event.at, out)
        self._arm(event.at, out)
        return out

    def close(self, at: float) -> list[Command]:
        """Ends the session: the call is abandoned, the cache revoked, open updates are dropped."""
        out: list[Command] = []
        if self.job is not None:
            out.append(Abandon(self.job.call, "closed"))
            self.job = None
            self.state = State.CONSUME
        self._revoke(max(self.delivered, self.locked), "reset", out)
        for version, p in sorted(self._open.items()):
            out.append(Receipt(version, Outcome.DROPPED, at, p.arrival))
        self._open.clear()
        return out

    def _on_update(self, e: Update, out: list[Command]) -> None:
        if e.version <= self.newest:
            raise ValueError(f"version {e.version} is not newer than {self.newest}")
        self.newest = e.version
        self._open[e.version] = Pending(e.arrival, e.inputs_ready)
        out.append(Receipt(e.version, Outcome.RECEIVED, e.at, e.arrival))
        self.failures = 0
        if e.inputs_ready:
            self._offer(e.version)

    def _on_inputs(self, e: InputsReady) -> None:
        entry = self._open.get(e.version)
        if entry is not None and not entry.ready:
            entry.ready = True
            self._offer(e.version)

    def _offer(self, version: int) -> None:
        """The newest ready version is the one to run; older ones fold into it and end as superseded when it shows."""
        if version > self._ready:
            self._ready = version
            self.pending = version

    def _on_rejected(self, e: InputsRejected, out: list[Command]) -> None:
        entry = self._open.get(e.version)
        if entry is not None and not entry.ready:
            del self._open[e.version]
            out.append(Receipt(e.version, Outcome.REJECTED, e.at, entry.arrival, reason=e.reason))

    def _on_groups(self, e: GroupsReady) -> None:
        job = self.job
        if job is None or job.call != e.call:
            return
        if job.made + len(e.spans) > job.window:
            raise ValueError(f"call {e.call} made more than its {job.window} groups")
        if job.first_ready is None:
            job.first_ready = e.at
            job.shadow = ()
            self.estimator.saw_first(job.window, e.at - job.launched)
            self._calls[job.call] = CallTimes(job.launched, e.at)
        for span in e.spans:
            self.cache.append(Entry(self.end, job.call, job.made, self._end_frame, span, job.version))
            self._end_frame += span
            job.made += 1
        self.counts.predicted += len(e.spans)

    def _on_finish(self, e: Finish, out: list[Command]) -> None:
        job = self.job
        if job is None or job.call != e.call:
            return
        self.job = None
        self.state = State.CONSUME
        if not e.error:
            self.failures = 0
            self.estimator.saw_call(job.window, e.at - job.launched)
            return
        self._failed(job, e.error, out)

    def _failed(self, job: Job, error: str, out: list[Command]) -> None:
        self.failures += 1
        if job.shadow and self.end == job.branch:
            self.cache.extend(job.shadow)
            self._end_frame = job.shadow[-1].start + job.shadow[-1].span
            self.counts.revoked -= len(job.shadow)
            out.append(Restore(job.shadow))
        if job.version == self._ready and job.reason == "update":
            self.pending = job.version
        if self.failures >= self.policy.attempts:
            kept = f"{len(self.cache)} predicted groups go on playing"
            out.append(Report(f"sampling failed {self.failures} times: {error}; {kept}; change the prompt or reset"))

    def _on_tick(self, e: Tick, out: list[Command]) -> None:
        if not self.cache or e.position != self.delivered:
            raise ValueError(f"group {e.position} cannot start: {self.delivered} is next of {len(self.cache)}")
        entry = self.cache.popleft()
        self.delivered += 1
        self.locked = max(self.locked, self.delivered)
        self.counts.delivered += 1
        if entry.version != self.shown_version:
            self._show(entry, e.at, out)
        self._origin = e.at - entry.start / self.policy.fps
        if self._held is not None:
            self._held = e.at
        if len(self._calls) > 8:
            alive = {x.call for x in self.cache} | {entry.call} | ({self.job.call} if self.job else set())
            self._calls = {c: t for c, t in self._calls.items() if c in alive}

    def _show(self, entry: Entry, at: float, out: list[Command]) -> None:
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

    def _on_wake(self, e: Wake, out: list[Command]) -> None:
        if e.cause is Cause.HOLD and self._held is None:
            self._held = e.at
        elif e.cause is Cause.RELEASE and self._held is not None:
            self._origin += e.at - self._held
            self._held = None
        elif e.cause is Cause.POLICY and e.policy is not None:
            self.policy = e.policy
        job = self.job
        if job is not None and e.at >= job.launched + self.policy.hard_limit - 1e-9:
            reason = f"no end after {self.policy.hard_limit:g} s"
            out.append(Abandon(job.call, reason))
            self.job = None
            self.state = State.CONSUME
            self._failed(job, reason, out)

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
        self._launch(j, late, "update" if updating else "refill", now, out)

    def _launch(self, j: int, late: float, reason: str, now: float, out: list[Command]) -> None:
        assert self.job is None and max(self.locked, self.delivered) <= j <= self.end
        self.locked = max(self.locked, j)
        shadow = self._revoke(j, "update", out)
        version = self._ready
        if self.pending == version:
            self.pending = None
        self.running = version
        self.job = Job(self._next_call, j, self.policy.window, version, now, reason, shadow=shadow)
        self._next_call += 1
        self.state = State.PRODUCE
        if late > 1e-6:
            self.missed_deadlines += 1
        out.append(Launch(self.job.call, j, self.job.window, version, reason, late))

    def _revoke(self, j: int, reason: str, out: list[Command]) -> tuple[Entry, ...]:
        gone: list[Entry] = []
        while self.end > j:
            gone.append(self.cache.pop())
        gone.reverse()
        if gone:
            self._end_frame = gone[0].start
            self.counts.revoked += len(gone)
            out.append(Revoke(tuple(gone), reason))
        return tuple(gone)

    def _arm(self, now: float, out: list[Command]) -> None:
        if self.job is not None:
            wake = self.job.launched + self.policy.hard_limit
        elif self.held or self.failures >= self.policy.attempts:
            wake = NEVER
        else:
            wake = max(now, self.deadline(self.end, now) - self.lead())
        if wake != self._wake:
            self._wake = wake
            out.append(SetWake(wake))
