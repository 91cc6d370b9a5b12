"""A controller and a player under a made-up sampler, in virtual time, with every invariant checked at every step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engine.control.controller import Controller, State
from engine.control.events import (
    Abandon,
    Change,
    Command,
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
    PlaybackHeld,
    PlaybackReleased,
    Policy,
    Promote,
    Reason,
    Receipt,
    RequestFinished,
    Restore,
    Revoke,
    SessionClosed,
    SetTimer,
    Take,
    TimerFired,
)
from engine.playback.player import PlaybackEventKind, Player


class Machine:
    """Plays a session and keeps its own books, from which the invariants are judged."""

    def __init__(self, policy: Policy, span_of=lambda p: 4) -> None:  # type: ignore[no-untyped-def]
        self.policy, self.span_of = policy, span_of
        self.now = 0.0
        self.wake = float("inf")
        self.player = Player(policy.fps)
        self.controller = Controller(policy, 0.0)
        self.in_flight: Launch | None = None
        self.made = False
        self.trace: list[str] = []
        self.predicted: dict[int, tuple[int, int]] = {}
        self.delivered: dict[int, tuple[int, int]] = {}
        self.retained_at_launch: dict[int, dict[int, tuple[int, int]]] = {}
        self.ends: dict[int, Receipt] = {}
        self.received: set[int] = {0}
        self.ready_at: dict[int, float] = {0: 0.0}
        self.shown: list[int] = []
        self.version = 0
        self.branches: dict[int, int] = {}
        self.launches = 0
        self.lost = False
        self.guess = -1
        self.waits: tuple[Launch, int] | None = None
        """The alternative whose groups are there, with the version that was the newest at its launch."""
        self.newest_at_launch: dict[int, int] = {}
        self.taken = self.promoted = 0
        self.feed(TimerFired(0.0))

    # -- the outside world ---------------------------------------------------------------------------------------------

    def feed(self, event: Event) -> None:
        c = self.controller
        before = dict(self.predicted)
        self.trace.append(f"{event}")
        answers = c.handle(event)
        for command in answers:
            self.trace.append(f"    {command}")
            self.obey(command, before)
        self.check()

    def obey(self, command: Command, before: dict[int, tuple[int, int]]) -> None:
        match command:
            case Launch():
                assert self.in_flight is None, "I2: a second call while one is active"
                if command.branch in before:
                    p = self.controller.policy
                    source = command.branch - self.branches[before[command.branch][0]]
                    at_phase = (command.branch - p.phase_offset) % p.phase == 0
                    assert at_phase or self.lost, "I8: no branch point of the model"
                    assert source % p.block == 0 or self.lost, "I8: a branch inside a block"
                self.branches[command.call] = command.branch
                assert command.branch >= len(self.delivered), "I1: a branch inside what was delivered"
                p = self.controller.policy
                assert command.window in (p.window, *p.answers), "a call is a full window, or an answer"
                if command.reason == "alternative":
                    assert p.ahead and self.guess == self.version, "an alternative without a guess"
                    assert self._locked <= command.branch < len(self.delivered) + len(before), (
                        "no group to take the place of"
                    )
                    assert before == self.predicted, "an alternative revokes nothing"
                self.newest_at_launch[command.call] = self.version
                assert command.reason != "refill" or command.window == p.window, "a refill is a full window"
                self.in_flight, self.made = command, False
                self.launches += 1
                self.retained_at_launch[command.call] = {p: x for p, x in self.predicted.items() if p < command.branch}
            case Revoke():
                for e in command.entries:
                    assert e.position not in self.delivered, "I1: a delivered position was revoked"
                    assert e.position >= self.locked_before or self.lost, "I1: a locked position was revoked"
                    del self.predicted[e.position]
                self.player.drop(command.entries[0].position)
            case Restore():
                for e in command.entries:
                    self.predicted[e.position] = (e.call, e.version)
                    self.player.put(e.position, e.start, self.frames(e.position))
            case Take():
                assert self.waits is not None
                launch, version = self.waits
                self.waits = None
                self.taken += 1
                assert (launch.call, launch.branch) == (command.call, command.entries[0].position)
                assert version == self.version - 1 and self.guessed, "it was made for another condition"
                for e in command.entries:
                    assert e.position not in self.predicted and e.version == self.version
                    self.predicted[e.position] = (e.call, e.version)
                    self.player.put(e.position, e.start, self.frames(e.position))
            case Promote():
                assert self.in_flight is not None and self.in_flight.call == command.call and not self.made
                self.promoted += 1
                assert self.newest_at_launch[command.call] == self.version - 1 and self.guessed
                assert command.version == self.version and max(self.predicted, default=-1) < self.in_flight.branch
                self.in_flight = replace(self.in_flight, version=command.version, reason=Reason.UPDATE)
            case Abandon():
                self.in_flight = None
            case Receipt():
                if command.outcome == "received":
                    assert command.version not in self.received
                    self.received.add(command.version)
                else:
                    assert command.version not in self.ends, "I5: an update ended twice"
                    assert command.version in self.received
                    self.ends[command.version] = command
                    if command.outcome == "applied":
                        assert min(command.wait, command.generate, command.queue) > -1e-9
                        assert abs(command.arrival + command.latency + command.paused - command.at) < 1e-9, (
                            "L = R + C + Q"
                        )
            case SetTimer():
                self.wake = command.at

    @property
    def locked_before(self) -> int:
        return self._locked

    _locked = 0

    def check(self) -> None:
        c = self.controller
        d, lock, e = c.delivered, c.locked, c.end
        assert d <= lock <= e or (d <= lock and c.in_flight is not None and e == lock), f"I4: {d} {lock} {e}"
        assert lock >= self._locked or self.lost, "I4: the lock moved back"
        self._locked = lock
        assert [x.position for x in c.cache] == list(range(d, e)), "I4: positions are contiguous"
        versions = [x.version for x in c.cache]
        assert versions == sorted(versions), "I4: versions fall along positions"
        if self.shown and versions:
            assert versions[0] >= self.shown[-1], "I7: an older version after a newer one"
        starts = [x.start for x in c.cache]
        for a, b in zip(list(c.cache)[:-1], list(c.cache)[1:], strict=True):
            assert a.start + a.span == b.start, "media time is a sum of spans"
        assert starts == sorted(starts)
        n = c.counts
        assert n.predicted == n.delivered + n.revoked + len(c.cache), "I6: groups are conserved"
        assert (c.state is State.PRODUCE) == (c.in_flight is not None), "a call is active exactly in Produce"
        assert self.predicted == {x.position: (x.call, x.version) for x in c.cache}
        for x in c.cache:
            for p, kept in self.retained_at_launch.get(x.call, {}).items():
                if p in self.predicted and p < x.position:
                    assert self.predicted[p] == kept, "I4: history holds what was retained"
                if p in self.delivered:
                    assert self.delivered[p] == kept, "I4: history holds what was retained"

    def frames(self, position: int) -> list[np.ndarray]:
        return [np.zeros((1, 1, 3), np.uint8)] * self.span_of(position)

    # -- what can happen -----------------------------------------------------------------------------------------------

    guessed = False

    def update(self, ready: bool, change: Change = Change.OTHER, as_guessed: bool = False) -> None:
        self.guessed = as_guessed and ready and self.guess == self.version
        self.version += 1
        if ready:
            self.ready_at[self.version] = self.now
        self.feed(ConditionChanged(self.now, self.version, self.now, ready, change, self.guessed))
        if self.waits is not None and self.controller.alternative is None:
            self.waits = None

    def guess_next(self) -> None:
        """The likeliest condition after the newest one is known, once that one can run."""
        if self.version in self.ready_at:
            self.guess = self.version
            self.feed(Guessed(self.now, self.version))

    def inputs(self, good: bool) -> None:
        """The oldest update without inputs gets them, or is rejected."""
        waiting = [v for v in range(1, self.version + 1) if v not in self.ready_at and v not in self.ends]
        if not waiting:
            return
        v = waiting[0]
        if good:
            self.ready_at[v] = self.now
            self.feed(InputsReady(self.now, v))
        else:
            self.feed(InputsRejected(self.now, v, "bad"))

    def groups(self) -> None:
        """The active call's groups become deliverable."""
        if self.in_flight is None or self.made:
            return
        call, self.made = self.in_flight, True
        spans = tuple(self.span_of(call.branch + i) for i in range(call.window))
        if call.reason is Reason.ALTERNATIVE:
            self.waits = call, self.newest_at_launch[call.call]
            self.feed(GroupsReady(self.now, call.call, spans))
            return
        for i in range(call.window):
            self.predicted[call.branch + i] = (call.call, call.version)
        start = self.controller.start(self.controller.end)
        self.feed(GroupsReady(self.now, call.call, spans))
        for i, span in enumerate(spans):
            self.player.put(call.branch + i, start, self.frames(call.branch + i))
            start += span

    def finish(self, error: str = "") -> None:
        if self.in_flight is None or not (self.made or error):
            return
        call, self.in_flight = self.in_flight, None
        self.feed(RequestFinished(self.now, call.call, error))

    def stale(self) -> None:
        """Late output of a call that is over."""
        call = self.controller.next_call - 1 if self.in_flight is None else self.in_flight.call - 1
        if call >= 0:
            before = self.controller.counts.predicted
            self.feed(GroupsReady(self.now, call, (4,)))
            self.feed(RequestFinished(self.now, call))
            assert self.controller.counts.predicted == before

    def pause(self) -> None:
        self.player.pause(self.now)
        self.feed(PlaybackHeld(self.now, Hold.PAUSE))

    def resume(self) -> None:
        self.player.resume(self.now)
        self.feed(PlaybackReleased(self.now, Hold.PAUSE))

    def decode(self, seconds: float) -> None:
        """The next group that is not decoded is."""
        c = self.controller
        for p in range(c.delivered, c.end):
            if p not in c.decoded:
                self.feed(GroupDecoded(self.now, p, seconds))
                return

    def lose(self, ahead: int) -> None:
        """A group of the cache that is not on show yet cannot be decoded."""
        position = self.controller.delivered + ahead
        if position < self.player.next_position:
            return
        self.lost = True
        if self.in_flight is not None:
            self.made = True
        self.player.drop(position)
        self.feed(GroupLost(self.now, position, "NaN"))
        self.lost = False
        self._locked = self.controller.locked

    def elapse(self, seconds: float) -> None:
        """Time passes; the player plays and the wake-ups come when they are due."""
        end = self.now + seconds
        for _ in range(10_000):
            due = self.player.next_due()
            if not self.player.started and not self.player.paused and self.player.has(0):
                due = self.now
            if self.player.stalled and not self.player.paused and self.player.has(self.player.next_position):
                due = self.now
            at = min(end, self.wake, due if due is not None else end)
            self.now = max(self.now, at)
            if self.wake <= self.now:
                self.wake = float("inf")
                self.feed(TimerFired(self.now))
            for p in self.player.advance(self.now):
                if p.what is PlaybackEventKind.GROUP:
                    position = self.controller.cache[0].position
                    assert position == p.position
                    self.delivered[position] = self.predicted.pop(position)
                    self.shown.append(self.delivered[position][1])
                    assert self.ready_at[self.shown[-1]] <= self.now, "I7: shown before its inputs were ready"
                    self.feed(GroupStarted(p.at, p.position))
                    answered = {v for v in self.received if v <= self.shown[-1]}
                    assert answered <= set(self.ends), "I5: what was overtaken has ended"
                elif p.what is PlaybackEventKind.STALLED:
                    self.feed(PlaybackHeld(p.at, Hold.STALL))
                elif p.what in (PlaybackEventKind.STARTED, PlaybackEventKind.RESUMED):
                    started = p.what is PlaybackEventKind.STARTED
                    self.feed(PlaybackReleased(p.at, Hold.START if started else Hold.STALL))
            if self.now >= end:
                return
        raise AssertionError("time does not pass")

    def end(self) -> None:
        """Closes the session: every update has exactly one end."""
        self._locked = min(self._locked, self.controller.end)
        for command in self.controller.handle(SessionClosed(self.now)):
            if isinstance(command, Receipt):
                assert command.version not in self.ends
                self.ends[command.version] = command
        assert set(self.ends) == set(range(self.version + 1)), "I5: every update ends exactly once"
        n = self.controller.counts
        assert n.predicted == n.delivered + n.revoked + len(self.controller.cache)
