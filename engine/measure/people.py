"""Several people on one sampler, in virtual time: the real controllers and the real `Slot`, over calls that only take time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from engine.control.controller import Controller
from engine.control.events import SlotGranted, TimerFired
from engine.control.sharing import MOST_AHEAD, Slot
from engine.measure.simulate import INSTANT, METHODS, Method, Profile, Trajectory, TrajectoryResult, arrivals
from engine.runtime.metrics import percentile


class Person(Trajectory):
    """One of them: a trajectory whose calls wait for the slot."""

    def __init__(
        self, people: int, profile: Profile, method: Method, updates: Sequence[float], seconds: float, seed: int
    ) -> None:
        super().__init__(profile, method, updates, seconds, seed)
        wait = min(people - 1, MOST_AHEAD) * profile.call
        policy = replace(self.controller.policy, wait=wait)
        self.controller = Controller(policy, 0.0, estimator=self.controller.estimator)

    @property
    def next_at(self) -> float:
        """When something happens, seconds."""
        arrival = self._arrivals[0] if self._arrivals else math.inf
        return min(self.worker.next_at, self.playback.next_at, self.timer, arrival)

    def advance(self, now: float) -> None:
        """All that is due."""
        self.now = now
        if self.worker.next_at <= now + INSTANT:
            self.worker.run(now)
        self.playback.run(now)
        while self._arrivals and self._arrivals[0] <= now < self.seconds:
            self._arrive(self._arrivals.popleft(), now)
        if self.timer <= now:
            self.timer = math.inf
            self.feed(TimerFired(now))


class Room:
    """Several of them, and the slot, which is granted as soon as it is free and wanted."""

    def __init__(
        self, profile: Profile, method: Method, updates: Sequence[Sequence[float]], seconds: float, seed: int
    ) -> None:
        """updates: of each person, times of arrival in seconds."""
        self.seconds = seconds
        self.slot = Slot(profile.call)
        self._persons = [
            Person(len(updates), profile, method, times, seconds, seed * 101 + who) for who, times in enumerate(updates)
        ]
        for who in range(len(updates)):
            self.slot.join(who)

    def _grant(self, now: float) -> None:
        while True:
            holder = self.slot.holder
            if holder is not None:
                p = self._persons[holder]
                if p.controller.in_flight is not None or not p.worker.idle:
                    return
                self.slot.done(now)
            for who, p in enumerate(self._persons):
                self.slot.ask(who, p.controller.want, now)
            granted = self.slot.grant(now)
            if granted is None:
                return
            p = self._persons[granted]
            p.feed(SlotGranted(now))
            p.worker.start()
            if p.worker.idle:
                self.slot.done(now, used=False)

    def play(self) -> list[TrajectoryResult]:
        """Plays it to the end."""
        now = 0.0
        for p in self._persons:
            p.feed(TimerFired(now))
        self._grant(now)
        while now < self.seconds:
            now = max(now, min(self.seconds, *(p.next_at for p in self._persons)))
            for p in self._persons:
                p.advance(now)
            self._grant(now)
        return [p.finished() for p in self._persons]


def simulate_people(
    profile: Profile,
    policy: str,
    people: int,
    rate: str | float,
    trajectories: int,
    seconds: float,
    seed: int,
    masher: float = 0.0,
) -> dict[str, Any]:
    """One row. masher: updates a second of the first person, who is then left out of the figures; 0: he is like the others."""
    outcomes: list[TrajectoryResult] = []
    busy = 0.0
    for i in range(trajectories):
        rates: list[str | float] = [rate] * people
        if masher:
            rates[0] = masher
        times = [arrivals(np.random.default_rng([seed, i, who]), r, seconds) for who, r in enumerate(rates)]
        all_of_them = Room(profile, METHODS[policy], times, seconds, seed * 1_000_003 + i).play()
        busy += sum(o.busy for o in all_of_them)
        outcomes += all_of_them[1:] if masher else all_of_them
    latencies = [x for o in outcomes for x in o.latencies]
    played, stall = sum(o.played for o in outcomes), sum(o.stall for o in outcomes)
    return {
        "profile": profile.name,
        "policy": policy,
        "rate": rate,
        "people": people,
        "updates": sum(o.updates for o in outcomes),
        "L50": percentile(latencies, 0.5),
        "L95": percentile(latencies, 0.95),
        "mean": float(np.mean(latencies)) if latencies else None,
        "stall_share": stall / (played + stall) if played + stall else 0.0,
        "superseded": sum(o.superseded for o in outcomes),
        "busy_share": busy / (trajectories * seconds),
    }
