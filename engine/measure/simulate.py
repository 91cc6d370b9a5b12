"""Virtual time: the real controller over a sampler that only takes time, and a player that plays whole groups.

Tens of thousands of trajectories a minute, so the paper's table can be reproduced from its own inputs and theory held against
simulation. Times are seconds; see `engine.control.controller` for the symbols.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from pydantic import Field, TypeAdapter, model_validator

from engine.assets import FOLDER
from engine.control.controller import PREEMPTED, Controller, Counts
from engine.control.estimator import Estimator, Work
from engine.control.events import (
    Abandon,
    CallProgressed,
    Commit,
    ConditionChanged,
    Event,
    GroupsReady,
    GroupStarted,
    Guessed,
    Launch,
    Outcome,
    PlaybackHeld,
    PlaybackReleased,
    Policy,
    Promote,
    Reason,
    Receipt,
    RequestFinished,
    Restore,
    Revoke,
    SetTimer,
    Take,
    TimerFired,
)
from engine.documents import Document, read_document
from engine.runtime.metrics import percentile

UPDATES = {"low": (1, 2), "high": (3, 11)}
"""The paper's protocol: updates of one trajectory, least and most. They cannot be guessed."""
KEYS = "keys"
"""A rate: presses and releases of keys, as a person's."""
HELD, APART = 0.45, 0.9
"""Seconds that a key is held for in the median, and from a release to the next press on average. [ours]"""
HELD_SPREAD = 0.6
"""Of the logarithm of the time that a key is held. [ours]"""
RELEASE_GUESSED, PRESS_GUESSED = 0.8, 0.5
"""How often the next change is the likeliest one: the held key is let go, the key let go is pressed again. [ours]"""
WARM_UP = 2.0
"""Seconds at the start of a trajectory without updates: the world has to be there first."""

DRAWS = 400
"""Resamplings of a bootstrap interval."""
REPLICATIONS = 40
"""Of the paper's protocol, for its range."""
INSTANT = 1e-9
"""Two things closer than this happen at once, and a group that is ready when it is due is in time."""


class ProfileError(ValueError):
    """A profile or setting that cannot be simulated; the message says why."""


@dataclass(frozen=True)
class Profile:
    """A sampler as times. window: playable groups of a call. spans: frames of its groups, by source index.

    first_span: frames of the session's very first group, where they differ. first: C, launch to the first deliverable
    group; call: launch until the worker is free; jitter: standard deviation of both, as a share. lead: seconds before a
    deadline at which calls are launched, at least; None: what the estimator says.
    """

    name: str
    fps: float
    window: int
    spans: tuple[int, ...]
    first: float
    call: float
    first_span: int | None = None
    jitter: float = 0.0
    lead: float | None = None
    gpus: int = 1
    about: str = ""
    paper: dict[str, Any] = field(default_factory=dict)
    answers: dict[int, float] = field(default_factory=dict)
    """C of shorter calls, by their groups: what an update may be answered by."""
    steps: int = 5
    """Parts of a call between which it can be stopped."""

    def __post_init__(self) -> None:
        if self.fps <= 0 or self.window < 1 or len(self.spans) != self.window or min(self.spans) < 1:
            raise ProfileError(f"profile {self.name}: fps, window and spans do not fit each other")
        if not 0 < self.first <= self.call or self.jitter < 0 or (self.lead is not None and self.lead < self.first):
            raise ProfileError(f"profile {self.name}: it needs 0 < first <= call, jitter >= 0 and lead >= first")

    @property
    def chunk_seconds(self) -> float:
        """T."""
        return sum(self.spans) / self.fps

    @property
    def alignment(self) -> float:
        """E[Q] of an arrival at a uniform phase: sum s^2 / (2 sum s)."""
        return sum(s * s for s in self.spans) / (2 * sum(self.spans)) / self.fps

    @property
    def slack(self) -> float:
        """By how much the launch lead exceeds C."""
        return max(0.0, (self.first if self.lead is None else self.lead) - self.first)


@dataclass(frozen=True)
class Method:
    """What a session decides by, for a report: a commitment and the policies beyond the paper."""

    commit: Commit = Commit.SPECULATIVE
    answer: bool = False
    """Whether updates are answered by short calls."""
    preempt: int = 0
    """See `Policy.preempt`."""
    ahead: int = 0
    """See `Policy.ahead`."""

    @property
    def by_step(self) -> bool:
        """Whether calls may be stopped at a step."""
        return self.preempt > 0 or self.ahead > 0

    def policy(self, profile: Profile) -> Policy:
        """For a profile's model."""
        answers = tuple(sorted(profile.answers)) if self.answer else ()
        return Policy(profile.fps, profile.window, self.commit, answers=answers, preempt=self.preempt, ahead=self.ahead)


AHEAD = 1
"""Groups after the first possible branch at which an alternative begins; docs/method.md has others. [ours]"""
METHODS = {
    "speculative": Method(),
    "chunk": Method(Commit.CHUNK),
    "paper": Method(),
    "answer": Method(answer=True),
    "preempt": Method(preempt=2),
    "answer+preempt": Method(answer=True, preempt=2),
    "alternative": Method(ahead=AHEAD),
    "all": Method(answer=True, preempt=2, ahead=AHEAD),
}
"""By name; `speculative` and `paper` are the same."""
LIVE = tuple(name for name, method in METHODS.items() if not method.ahead)
"""Those that a session can be set to: docs/method.md says why alternatives are simulated only."""


class ProfileEntry(Document):
    """A profile as it is in assets/profiles.json: see `Profile`. Either span or call_spans."""

    about: str = ""
    fps: float
    window: int
    span: int | None = None
    """Frames of each of a call's groups."""
    call_spans: list[int] | None = None
    """The same by source index, where they differ."""
    first_span: int | None = None
    first: float
    call: float
    jitter: float = 0.0
    lead: float | None = None
    gpus: int = 1
    paper: dict[str, Any] = Field(default_factory=dict)
    """What the paper says of it."""
    answers: dict[str, float] = Field(default_factory=dict)
    """C by K of shorter calls."""
    steps: int = 5

    @model_validator(mode="after")
    def _spans(self) -> ProfileEntry:
        if (self.span is None) == (self.call_spans is None):
            raise ValueError("either span or call_spans is needed")
        return self

    def profile(self, name: str) -> Profile:
        """Raises ProfileError."""
        spans = (self.span,) * self.window if self.span is not None else tuple(self.call_spans or ())
        rest = self.model_dump(exclude={"span", "call_spans", "answers"})
        answers = {int(k): c for k, c in self.answers.items()}
        return Profile(name=name, spans=spans, answers=answers, **rest)


PROFILES_FILE = TypeAdapter(dict[str, ProfileEntry])


def load_profiles() -> dict[str, Profile]:
    """The profiles of assets/profiles.json. Raises DocumentError or ProfileError."""
    file = FOLDER / "profiles.json"
    entries = read_document(PROFILES_FILE, file.read_text("utf-8"), str(file))
    return {name: entry.profile(name) for name, entry in entries.items()}


def uniform_profile(window: int, delta: float, first: float, call: float, jitter: float = 0.0) -> Profile:
    """K groups of `delta` seconds each, given by numbers alone; the lead is C, as theory has it."""
    if delta <= 0:
        raise ProfileError("delta must be more than 0")
    return Profile(
        "flags", 1 / delta, window, (1,) * window, first, call, jitter=jitter, lead=first if jitter == 0 else None
    )


def theory_mean(profile: Profile, commit: Commit) -> float:
    """E[L] of an isolated update: C + T/2 for chunk commitment, C + C_busy^2/(2T) + E[Q] for speculative."""
    t = profile.chunk_seconds
    if commit is Commit.CHUNK:
        return profile.first + profile.slack + t / 2
    return profile.first + profile.slack + profile.call**2 / (2 * t) + profile.alignment


def theory_overhead(profile: Profile, rate: float) -> float:
    """A = K p / (1 - (1 - p)^K) for updates at `rate` a second of playback."""
    p = 1 - math.exp(-rate * profile.chunk_seconds / profile.window)
    return 1.0 if p == 0 else profile.window * p / (1 - (1 - p) ** profile.window)


@dataclass
class TrajectoryResult:
    """What one trajectory gave. latencies: of applied updates; waits: their R; runs: latency from the first unanswered
    update of the run that each applied one closes."""

    latencies: list[float] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    runs: list[float] = field(default_factory=list)
    superseded: int = 0
    updates: int = 0
    calls: int = 0
    busy: float = 0.0
    stall: float = 0.0
    played: float = 0.0
    seconds: float = 0.0
    late_groups: int = 0
    preempted: int = 0
    """Calls that were stopped for a newer condition."""
    alternatives: int = 0
    taken: int = 0
    """Alternatives that were begun, and those that came true."""
    counts: Counts = field(default_factory=Counts)


class Trajectory:
    """One session in virtual time: the real controller over calls that only take time, played group by group.

    It is the session that the engine's player and driver give, event by event and to the last bit: a test holds it to them.
    """

    def __init__(
        self,
        profile: Profile,
        method: Method,
        updates: Sequence[float],
        seconds: float,
        seed: int,
        guessed: Sequence[bool] | None = None,
    ) -> None:
        """updates: times of arrival, seconds; seed: of the jitter. guessed: which updates are the likeliest ones; None: nobody can
        tell."""
        self.profile, self.seconds, self.method = profile, seconds, method
        self.now = 0.0
        margin = 2 * profile.jitter * profile.first if profile.lead is None else profile.lead - profile.first
        estimator = Estimator(profile.first, margin=margin)
        for window, first in profile.answers.items() if method.answer else ():
            estimator.saw_first(Work(window), first)
        self.controller = Controller(method.policy(profile), 0.0, estimator=estimator)
        self.out = TrajectoryResult(updates=len(updates), seconds=seconds)
        self.timer = math.inf
        self.launch: Launch | None = None
        """Waits for the worker."""
        self.unanswered: list[float] = []
        self._arrivals = deque(sorted(updates))
        self._guessed = None if guessed is None else deque(guessed)
        self._version = 0
        self.playback = _Playback(self)
        self.worker = _Worker(self, seed)

    def run(self) -> TrajectoryResult:
        """Plays it to the end."""
        playback, worker, arrivals, seconds = self.playback, self.worker, self._arrivals, self.seconds
        self.feed(TimerFired(0.0))
        worker.start()
        while self.now < seconds:
            at = min(seconds, worker.next_at, playback.next_at, self.timer)
            if arrivals and arrivals[0] < at:
                at = arrivals[0]
            now = self.now = max(self.now, at)
            if worker.next_at <= now + INSTANT:
                worker.run(now)
                worker.start()
            playback.run(now)
            worker.start()
            while arrivals and arrivals[0] <= now < seconds:
                self._arrive(arrivals.popleft(), now)
            worker.start()
            if self.timer <= now:
                self.timer = math.inf
                self.feed(TimerFired(now))
                worker.start()
        return self.finished()

    def finished(self) -> TrajectoryResult:
        """What it gave until now."""
        o = self.out
        o.stall = self.playback.stall_seconds(self.seconds)
        o.played = self.playback.frames(self.now) / self.profile.fps
        o.counts = self.controller.counts
        return o

    def feed(self, event: Event) -> None:
        """Hands an event to the controller and does what it answers."""
        for command in self.controller.handle(event):
            if isinstance(command, SetTimer):
                self.timer = command.at
            elif isinstance(command, Launch):
                self.launch = command
                self.out.alternatives += command.reason is Reason.ALTERNATIVE
            elif isinstance(command, Receipt):
                self._received(command)
            elif isinstance(command, Revoke):
                self.playback.drop(command.entries[0].position)
            elif isinstance(command, Restore | Take):
                for e in command.entries:
                    self.playback.put(e.position, e.start, e.span)
                self.out.taken += isinstance(command, Take)
            elif isinstance(command, Promote):
                self.out.taken += 1
            elif isinstance(command, Abandon):
                self.launch = None
                self.out.preempted += command.reason == PREEMPTED

    def _received(self, r: Receipt) -> None:
        if r.outcome is Outcome.SUPERSEDED:
            self.out.superseded += 1
        elif r.outcome is Outcome.APPLIED and r.version > 0:
            self.out.latencies.append(r.latency)
            self.out.waits.append(r.wait)
            answered = [t for t in self.unanswered if t <= r.arrival]
            self.out.runs.append(r.at - answered[0])
            self.unanswered = [t for t in self.unanswered if t > r.arrival]

    def _arrive(self, at: float, now: float) -> None:
        """An update, with its inputs ready."""
        self._version += 1
        self.unanswered.append(at)
        if self._guessed is None:
            self.feed(ConditionChanged(now, self._version, at, True))
            return
        self.feed(ConditionChanged(now, self._version, at, True, guessed=self._guessed.popleft()))
        self.feed(Guessed(now, self._version))


class _Worker:
    """A call is its times. One that was given up runs to the end of its step, and the next one begins then."""

    def __init__(self, trajectory: Trajectory, seed: int) -> None:
        self._t = trajectory
        self._rng = np.random.default_rng(seed) if trajectory.profile.jitter else None
        self._call: Launch | None = None
        self._began = self._took = 0.0
        self._step = 0
        self._step_at = self._ready_at = self._free_at = math.inf
        self.next_at = math.inf
        """When it has something to do, seconds."""

    @property
    def idle(self) -> bool:
        """Whether nothing is sampled."""
        return self._call is None

    def start(self) -> None:
        """Begins the call that was launched, if there is one and nothing is sampled."""
        t = self._t
        if t.launch is None or self._call is not None:
            return
        self._call, t.launch = t.launch, None
        profile, now = t.profile, t.now
        window = self._call.window
        wobble = 1.0 if self._rng is None else max(0.2, 1 + profile.jitter * float(self._rng.standard_normal()))
        first = profile.answers[window] if window != profile.window else profile.first
        self._took = first * wobble
        self._began, self._step = now, 0
        self._ready_at = now + self._took
        self._free_at = self._ready_at + (profile.call - profile.first) * wobble
        t.out.calls += 1
        t.out.busy += min(self._free_at - now, max(0.0, t.seconds - now))
        if t.method.by_step:
            self._step_at = now + self._took / profile.steps
            t.feed(CallProgressed(now, self._call.call, 0, profile.steps))
        self._plan()

    def _plan(self) -> None:
        self.next_at = min(self._step_at, self._ready_at, self._free_at)

    def run(self, now: float) -> None:
        """Does what is due."""
        if self._step_at <= now + INSTANT:
            self._take_step(now)
        if self._ready_at <= now + INSTANT:
            self._ready(now)
        if self._free_at <= now + INSTANT:
            self._free(now)
        self._plan()

    def _take_step(self, now: float) -> None:
        """A step is done; a call that is not wanted any more ends here."""
        t, call = self._t, self._call
        assert call is not None
        wanted = t.controller.in_flight
        if wanted is None or wanted.call != call.call:
            t.out.busy -= max(0.0, min(self._free_at, t.seconds) - now)
            self._call = None
            self._step_at = self._ready_at = self._free_at = math.inf
            return
        self._step += 1
        self._step_at = math.inf
        if self._step < t.profile.steps:
            self._step_at = self._began + self._took * (self._step + 1) / t.profile.steps
            t.feed(CallProgressed(now, call.call, self._step, t.profile.steps))

    def _ready(self, now: float) -> None:
        self._ready_at = math.inf
        t, call = self._t, self._call
        assert call is not None
        spans = t.profile.spans[: call.window]
        if call.branch == 0 and t.profile.first_span is not None:
            spans = (t.profile.first_span, *spans[1:])
        in_flight = t.controller.in_flight
        if in_flight is not None and in_flight.alternative:
            t.feed(GroupsReady(now, call.call, spans))
            return
        start = t.controller.start(t.controller.end)
        t.feed(GroupsReady(now, call.call, spans))
        for i, span in enumerate(spans):
            t.playback.put(call.branch + i, start, span)
            start += span

    def _free(self, now: float) -> None:
        self._free_at = math.inf
        call, self._call = self._call, None
        assert call is not None
        self._t.feed(RequestFinished(now, call.call))


class _Playback:
    """The player by groups: what `engine.playback.player` does, without what happens inside a group."""

    def __init__(self, trajectory: Trajectory) -> None:
        self._t = trajectory
        self._fps = trajectory.profile.fps
        self._groups: dict[int, tuple[int, int]] = {}
        """Start and end of those that wait, in frames."""
        self._position = self._end = 0
        """The group that comes next, and the media frame at which the one on show ends."""
        self._origin: float | None = None
        self._stalled: float | None = None
        self._stall_seconds = 0.0

    def put(self, position: int, start: int, span: int) -> None:
        """A group of `span` frames from media frame `start` on; nothing when it has begun to play already."""
        if position >= self._position:
            self._groups[position] = start, start + span

    def drop(self, first: int) -> None:
        """Groups from this position on were revoked."""
        for p in [p for p in self._groups if p >= first]:
            del self._groups[p]

    @property
    def next_at(self) -> float:
        """When the next group is due, or now after a stall or at the start; seconds."""
        if self._origin is None or self._stalled is not None:
            return self._t.now if self._position in self._groups else math.inf
        return self._origin + self._end / self._fps

    def run(self, now: float) -> None:
        """Begins the groups that are due. As the player, it does all that is due before it says so."""
        events: list[Event] = []
        if self._origin is None:
            if self._position not in self._groups:
                return
            self._origin = now
            events.append(PlaybackReleased(now))
        while (due := self._origin + self._end / self._fps) <= now + INSTANT:
            group = self._groups.pop(self._position, None)
            if group is None:
                if self._stalled is None:
                    self._stalled = due
                    self._t.out.late_groups += 1
                    events.append(PlaybackHeld(due))
                break
            if self._stalled is not None:
                self._stall_seconds += now - self._stalled
                self._origin += now - self._stalled
                self._stalled = None
                due = now
                events.append(PlaybackReleased(now))
            events.append(GroupStarted(due, self._position))
            self._position += 1
            self._end = group[1]
        for event in events:
            self._t.feed(event)

    def stall_seconds(self, now: float) -> float:
        """Of all stalls, the one in progress included."""
        return self._stall_seconds + (0.0 if self._stalled is None else now - self._stalled)

    def frames(self, now: float) -> int:
        """Frames shown."""
        if self._origin is None:
            return 0
        shown = max(0, min(self._end, math.floor((now - self._origin) * self._fps) + 2))
        while shown and self._origin + (shown - 1) / self._fps > now + INSTANT:
            shown -= 1
        return shown


def arrivals(rng: np.random.Generator, rate: str | float, seconds: float) -> list[float]:
    """Times of the updates of one trajectory: by the paper's protocol (a name of UPDATES), or Poisson at so many a second."""
    if isinstance(rate, str):
        low, high = UPDATES[rate]
        n = int(rng.integers(low, high + 1))
    else:
        n = int(rng.poisson(rate * (seconds - WARM_UP)))
    return [float(t) for t in np.sort(rng.uniform(WARM_UP, seconds, n))]


def key_presses(rng: np.random.Generator, seconds: float) -> tuple[list[float], list[bool]]:
    """One person's keys for one trajectory: when each is pressed and let go, and whether that is the likeliest change."""
    times: list[float] = []
    guessed: list[bool] = []
    now = WARM_UP
    while True:
        for wait, share in ((APART * rng.exponential(), PRESS_GUESSED), (_held(rng), RELEASE_GUESSED)):
            now += float(wait)
            if now >= seconds:
                return times, guessed
            times.append(now)
            guessed.append(bool(rng.random() < share))


def _held(rng: np.random.Generator) -> float:
    return HELD * math.exp(HELD_SPREAD * float(rng.standard_normal()))


def bootstrap_mean(values: Sequence[float]) -> tuple[float | None, float | None]:
    """The 95 % interval of the mean, by DRAWS resamplings; the same for the same values."""
    if len(values) < 2:
        return None, None
    x = np.asarray(values)
    means = x[np.random.default_rng(0).integers(0, len(x), (DRAWS, len(x)))].mean(1)
    return float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975))


def bootstrap_percentile(values: Sequence[float], share: float) -> tuple[float | None, float | None]:
    """The 95 % interval of a quantile of updates, by DRAWS resamplings of them; the same for the same values."""
    if len(values) < 2:
        return None, None
    x = np.asarray(values)
    found = np.quantile(x[np.random.default_rng(0).integers(0, len(x), (DRAWS, len(x)))], share, axis=1)
    return float(np.quantile(found, 0.025)), float(np.quantile(found, 0.975))


def simulate(
    profile: Profile, policy: str, rate: str | float, trajectories: int, seconds: float, seed: int
) -> dict[str, Any]:
    """One row of the report. policy: a name of METHODS. The arrivals are a function of the seed alone, so settings are paired."""
    method = METHODS[policy]
    commit = method.commit
    outcomes = []
    for i in range(trajectories):
        rng, guessed = np.random.default_rng([seed, i]), None
        if rate == KEYS:
            times, guessed = key_presses(rng, seconds)
        else:
            times = arrivals(rng, rate, seconds)
        outcomes.append(Trajectory(profile, method, times, seconds, seed * 1_000_003 + i, guessed).run())
    ls = [x for o in outcomes for x in o.latencies]
    runs = [x for o in outcomes for x in o.runs]
    predicted = sum(o.counts.predicted for o in outcomes)
    delivered = sum(o.counts.delivered for o in outcomes)
    revoked = sum(o.counts.revoked for o in outcomes)
    played, stall = sum(o.played for o in outcomes), sum(o.stall for o in outcomes)
    w = revoked / predicted if predicted else 0.0
    updates = sum(o.updates for o in outcomes)
    low, high = bootstrap_mean(ls)
    paper = profile.paper.get(commit.value, {}).get(rate) if isinstance(rate, str) else None
    return {
        "profile": profile.name,
        "policy": policy,
        "rate": rate,
        "trajectories": trajectories,
        "seconds": seconds,
        "updates": updates,
        "applied": len(ls),
        "superseded": sum(o.superseded for o in outcomes),
        "L50": percentile(ls, 0.5),
        "L95": percentile(ls, 0.95),
        "mean": float(np.mean(ls)) if ls else None,
        "mean_low": low,
        "mean_high": high,
        "mean_from_first": float(np.mean(runs)) if runs else None,
        "R_mean": float(np.mean([x for o in outcomes for x in o.waits])) if ls else None,
        "stall_share": stall / (played + stall) if played + stall else 0.0,
        "attainment": 1 - sum(o.late_groups for o in outcomes) / max(1, delivered),
        "w": w,
        "A": 1 / (1 - w) if w < 1 else None,
        "A_theory": theory_overhead(profile, updates / (trajectories * seconds))
        if commit is Commit.SPECULATIVE
        else 1.0,
        "waste": predicted / delivered if delivered else None,
        "alternatives": sum(o.alternatives for o in outcomes) / trajectories,
        "came_true": sum(o.taken for o in outcomes) / max(1, sum(o.alternatives for o in outcomes)),
        "preempted": sum(o.preempted for o in outcomes) / trajectories,
        "busy_share": sum(o.busy for o in outcomes) / (trajectories * seconds),
        "busy": sum(o.busy for o in outcomes) / (trajectories * seconds),
        "theory_mean": theory_mean(profile, commit),
        "paper_L50": paper,
        "K": profile.window,
        "T": profile.chunk_seconds,
        "C": profile.first,
        "lead": profile.lead,
        "gpus": profile.gpus,
    }


def protocol_range(profile: Profile, policy: str, rate: str, seconds: float, seed: int) -> tuple[float, float]:
    """5 to 95 % range of L50 over REPLICATIONS of the paper's own 30 trajectories."""
    seeds = [seed + 7919 * (r + 1) for r in range(REPLICATIONS)]
    values = [simulate(profile, policy, rate, 30, seconds, s)["L50"] for s in seeds]
    found = [v for v in values if v is not None]
    return percentile(found, 0.05) or 0.0, percentile(found, 0.95) or 0.0
