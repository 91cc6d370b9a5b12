"""A trajectory as a session plays it: the player frame by frame and the driver that live sessions run by. The ruler of the
simulator, which plays by group."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Sequence

import numpy as np

from engine.control.controller import Controller
from engine.control.estimator import Estimator, Work
from engine.control.events import (
    Abandon,
    CallProgressed,
    ConditionChanged,
    Event,
    GroupsReady,
    GroupStarted,
    Launch,
    Outcome,
    PlaybackHeld,
    PlaybackReleased,
    Receipt,
    RequestFinished,
    Restore,
    Revoke,
    SetTimer,
    TimerFired,
)
from engine.measure import simulate as by_group
from engine.measure.simulate import INSTANT, METHODS, Method, Profile, TrajectoryResult, arrivals, load_profiles
from engine.playback.player import PlaybackEventKind, Player
from engine.runtime.clock import Inbox, VirtualClock
from engine.runtime.driver import Driver, Source

_NOTHING = np.zeros((0, 0, 3), np.uint8)


class Trajectory:
    """One session in virtual time: the real controller, player and driver over calls that only take time."""

    def __init__(self, profile: Profile, method: Method, updates: Sequence[float], seconds: float, seed: int) -> None:
        """updates: times of arrival, seconds; seed: of the jitter."""
        self.profile, self.seconds, self.method = profile, seconds, method
        self.clock = VirtualClock()
        self.player = Player(profile.fps)
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
        worker = _Worker(self, np.random.default_rng(seed))
        sources: list[Source] = [worker, _Playback(self), _Arrivals(self, updates), _Timer(self)]
        self._driver = Driver(self.clock, Inbox(self.clock), sources, worker)

    def run(self) -> TrajectoryResult:
        """Plays it to the end."""
        self.feed(TimerFired(0.0))
        self._driver.run(lambda: self.clock.now() >= self.seconds, self.seconds)
        o = self.out
        o.stall = self.player.stall_seconds + self.player.stalled_for(self.seconds)
        o.played = self.player.shown / self.profile.fps
        o.counts = self.controller.counts
        return o

    def feed(self, event: Event) -> None:
        """Hands an event to the controller and does what it answers."""
        for command in self.controller.handle(event):
            match command:
                case Launch():
                    self.launch = command
                case Revoke():
                    self.player.drop(command.entries[0].position)
                case Restore():
                    for e in command.entries:
                        self.player.put(e.position, e.start, [_NOTHING] * e.span)
                case Abandon():
                    self.out.preempted += 1
                case SetTimer():
                    self.timer = command.at
                case Receipt(outcome=Outcome.APPLIED) if command.version > 0:
                    self._applied(command)
                case Receipt(outcome=Outcome.SUPERSEDED):
                    self.out.superseded += 1
                case _:
                    pass

    def _applied(self, r: Receipt) -> None:
        self.out.latencies.append(r.latency)
        self.out.waits.append(r.wait)
        answered = [t for t in self.unanswered if t <= r.arrival]
        self.out.runs.append(r.at - answered[0])
        self.unanswered = [t for t in self.unanswered if t > r.arrival]


class _Worker:
    """Executor and source: a call is its times. A call that was given up runs to the end of its step, and the next one begins then."""

    def __init__(self, trajectory: Trajectory, rng: np.random.Generator) -> None:
        self._t, self._rng = trajectory, rng
        self._call: Launch | None = None
        self._began = self._took = 0.0
        self._step = 0
        self._step_at = self._ready_at = self._free_at = math.inf

    def start_pending(self) -> None:
        t = self._t
        if t.launch is None or self._call is not None:
            return
        self._call, t.launch = t.launch, None
        profile, now = t.profile, t.clock.now()
        window = self._call.window
        wobble = max(0.2, 1 + profile.jitter * float(self._rng.standard_normal())) if profile.jitter else 1.0
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

    def work_ahead(self) -> bool:
        return False

    def next_at(self) -> float:
        return min(self._step_at, self._ready_at, self._free_at)

    def run(self, now: float) -> None:
        if self._step_at <= now + INSTANT:
            self._take_step(now)
        if self._ready_at <= now + INSTANT:
            self._ready(now)
        if self._free_at <= now + INSTANT:
            self._free(now)

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
        start = t.controller.start(t.controller.end)
        spans = list(t.profile.spans)[: call.window]
        if call.branch == 0 and t.profile.first_span is not None:
            spans[0] = t.profile.first_span
        t.feed(GroupsReady(now, call.call, tuple(spans)))
        for i, span in enumerate(spans):
            t.player.put(call.branch + i, start, [_NOTHING] * span)
            start += span

    def _free(self, now: float) -> None:
        self._free_at = math.inf
        call, self._call = self._call, None
        assert call is not None
        self._t.feed(RequestFinished(now, call.call))


class _Playback:
    """Source: the player, group by group."""

    def __init__(self, trajectory: Trajectory) -> None:
        self._t = trajectory

    def next_at(self) -> float:
        """The next group's due time, or now after a stall or at the start."""
        p, c = self._t.player, self._t.controller
        if not p.started or p.stalled:
            return self._t.clock.now() if p.has(p.next_position) else math.inf
        due = p.due(c.start(c.delivered))
        return math.inf if due is None else due

    def run(self, now: float) -> None:
        for x in self._t.player.advance(now):
            match x.what:
                case PlaybackEventKind.GROUP:
                    self._t.feed(GroupStarted(x.at, x.position))
                case PlaybackEventKind.STALLED:
                    self._t.out.late_groups += 1
                    self._t.feed(PlaybackHeld(x.at))
                case PlaybackEventKind.STARTED | PlaybackEventKind.RESUMED:
                    self._t.feed(PlaybackReleased(x.at))
                case PlaybackEventKind.FRAME:
                    pass


class _Arrivals:
    """Source: updates at given times, with their inputs ready."""

    def __init__(self, trajectory: Trajectory, times: Sequence[float]) -> None:
        self._t, self._left = trajectory, deque(sorted(times))
        self._version = 0

    def next_at(self) -> float:
        return self._left[0] if self._left else math.inf

    def run(self, now: float) -> None:
        while self._left and self._left[0] <= now < self._t.seconds:
            self._version += 1
            at = self._left.popleft()
            self._t.unanswered.append(at)
            self._t.feed(ConditionChanged(now, self._version, at, True))


class _Timer:
    """Source: what the controller waits for."""

    def __init__(self, trajectory: Trajectory) -> None:
        self._t = trajectory

    def next_at(self) -> float:
        return self._t.timer

    def run(self, now: float) -> None:
        if self._t.timer <= now:
            self._t.timer = math.inf
            self._t.feed(TimerFired(now))


def compared(trajectories: int) -> str:
    """CPU milliseconds of a trajectory by frame and by group, by turns, and their ratio."""
    profile, method, took = load_profiles()["wan-long"], METHODS["speculative"], [0.0, 0.0]
    for i in range(trajectories):
        times = arrivals(np.random.default_rng([0, i]), "high", 60.0)
        for k, kind in enumerate((Trajectory, by_group.Trajectory)):
            began = time.process_time()
            kind(profile, method, times, 60.0, i).run()
            took[k] += time.process_time() - began
    by_frame, group = (1e3 * t / trajectories for t in took)
    return f"by frame {by_frame:.2f} ms, by group {group:.2f} ms, {by_frame / group:.1f} times"


if __name__ == "__main__":
    print(compared(200))
