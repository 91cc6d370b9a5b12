"""A whole live session under a person who does anything, in virtual time: the real engine, session, controller, decode worker and
player, over a sampler that only takes time. Its own books judge what is shown; nothing of the program's is believed.

`python -m tests.engine.runtime.live_fuzz FIRST LAST [KIND]` runs seeds FIRST to LAST - 1 and prints what it finds; KIND is one of
KINDS, or all of them. `FORELAND_LIVE=N pytest tests/engine/runtime/test_live_properties.py` runs N new ones.
"""

from __future__ import annotations

import logging
import random
import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import engine.runtime.engine as engine_module
import engine.runtime.session as session_module
from engine.control.conditions import Condition
from engine.control.events import Commit
from engine.models.interface import (
    ConditionError,
    Decoder,
    Group,
    HistoryPolicy,
    Model,
    ModelSpec,
    Request,
    Sampler,
    StepCallback,
    Stopped,
)
from engine.playback.player import Frame, PlaybackEventKind
from engine.runtime.clock import FOREVER
from engine.runtime.engine import Engine
from engine.runtime.messages import Pause, ReleaseAll
from engine.runtime.session import Session
from engine.runtime.settings import Settings
from tests.engine.runtime.turn_clock import TurnClock

KINDS = ("clean", "rough", "faulty")
"""Constant times and no faults; times that vary, a busy window, slow decoding and encoding; calls and decodes that fail as well."""
SECONDS = 24.0
"""That the person does things for."""
REST = 20.0
"""Seconds after that in which everything has to come to rest: more than the longest rest of the controller."""
ACTIONS = ("forward", "left", "right")
SPEC = ModelSpec("fuzz", 4, 2, 16.0, (1, 4), (1, 21), 7, 4, (HistoryPolicy.CLEAN_PREFILL,))


@dataclass
class Made:
    """A group that the sampler made. before: the one that its call continued."""

    number: int
    position: int
    condition: Condition
    before: int
    call: int


@dataclass
class Shown:
    """A frame that was shown."""

    group: int
    index: int
    at: float
    epoch: int


class FuzzSampler(Sampler[Condition]):
    def __init__(self, fuzz: Fuzz) -> None:
        self.fuzz, self.spec = fuzz, SPEC
        self.prepares_slowly = fuzz.encode > 0
        self.groups: dict[int, Group] = {}

    def prepare(self, condition: Condition) -> Condition:
        if self.fuzz.encode and condition.version:
            self.fuzz.clock.sleep(self.fuzz.encode)
        if condition.prompt.startswith("bad"):
            raise ConditionError("the prompt is bad")
        return condition

    def sample(self, request: Request[Condition], report: StepCallback) -> list[Group]:
        f = self.fuzz
        f.called.add(request.prepared.version)
        before = 0
        if request.branch:
            before = self.groups[request.branch - 1].latent
        seconds, fails = f.call(request.window)
        f.started[len(f.started) + 1] = f.clock.now()
        call = len(f.started)
        for i in range(request.steps):
            f.clock.sleep(seconds / request.steps)
            if fails and i == 1:
                raise RuntimeError("out of memory")
            if not report(i + 1, request.steps) and i + 1 < request.steps:
                raise Stopped
        out = []
        for position in range(request.branch, request.branch + request.window):
            number = len(f.made) + 1
            f.made[number] = Made(number, position, request.prepared, before, call)
            before = number
            out.append(Group(position, number, None))
        return out

    def extend(self, groups: Sequence[Group]) -> None:
        first = groups[0].position
        self.groups = {p: g for p, g in self.groups.items() if p < first} | {g.position: g for g in groups}

    def prefill_chunk(self, groups: Sequence[Group], history: HistoryPolicy) -> None:
        self.fuzz.clock.sleep(self.fuzz.settle())

    def prefill_step(self, locked: int, history: HistoryPolicy) -> bool:
        if self.fuzz.rng.random() < self.fuzz.ahead:
            self.fuzz.clock.sleep(0.03)
            return True
        return False

    def evict_before(self, position: int) -> None:
        self.groups = {p: g for p, g in self.groups.items() if p >= position - 2}

    def reset(self) -> None:
        self.groups.clear()


class FuzzDecoder(Decoder):
    """Paints the number of a group, and the index of the frame in it."""

    def __init__(self, fuzz: Fuzz) -> None:
        self.fuzz = fuzz

    def decode(self, group: Group) -> list[Frame]:
        f = self.fuzz
        f.clock.sleep(f.decode())
        if f.decode_fails(group.latent):
            raise RuntimeError("cannot decode")
        out = []
        for i in range(SPEC.span(group.position)):
            frame = np.zeros((1, 1, 4), np.uint8)
            frame[0, 0] = (group.latent // 65536, group.latent // 256 % 256, group.latent % 256, i)
            out.append(frame)
        return out

    def rewind(self, position: int) -> None:
        return

    def reset(self) -> None:
        return


@dataclass
class Fuzz:
    """One session. `run` returns what is wrong with it, in words."""

    seed: int
    kind: str
    problems: list[str] = field(default_factory=list)
    stalls: int = 0

    def __post_init__(self) -> None:
        r = self.rng = random.Random(f"{self.seed} {self.kind}")
        clean = self.kind == "clean"
        self.clock = TurnClock(100.0, f"{self.seed} {self.kind} turns")
        self.seconds = r.choice((0.12, 0.2, 0.42, 0.8, 1.1))
        windows = [k for k in (1, 3, 7, 21) if not clean or self.seconds < 0.6 * k * 0.25]
        self.window = r.choice(windows)
        self.decode_seconds = 0.005 if clean else r.choice((0.005, 0.03, 0.12))
        self.encode = 0.0 if clean or r.random() < 0.6 else r.choice((0.03, 0.3))
        self.ahead = 0.0 if clean else r.choice((0.0, 0.3))
        self.rate = r.choice((0.15, 0.3, 0.3, 2.0))
        self.only_keys = self.rate != 0.3
        self.calm = False
        """Whether nothing fails any more."""
        self.made: dict[int, Made] = {}
        self.started: dict[int, float] = {}
        self.shown: list[Shown] = []
        self.called: set[int] = set()
        """Versions that a call was begun under."""
        self.conditions: dict[int, tuple[Condition, float, int]] = {}
        """By version: with arrival and world."""
        self.held: set[str] = set()
        self.release_at: list[tuple[float, str]] = []
        self.paused = self.excused = False
        self.undecodable: set[int] = set()
        self.let_all_go: set[int] = set()
        """Versions in which everything was let go of at once, taps too: a pause, a focus that was lost."""

    # -- times and faults ----------------------------------------------------------------------------------------------

    def call(self, window: int) -> tuple[float, bool]:
        """Seconds that a call takes, and whether it fails."""
        if self.kind == "clean":
            return self.seconds, False
        seconds = self.seconds * self.rng.uniform(0.7, 1.4)
        if self.kind == "faulty" and not self.calm:
            x = self.rng.random()
            return (min(seconds * 30, 10.0) if x < 0.02 else seconds), 0.02 <= x < 0.14
        return seconds, False

    def settle(self) -> float:
        return 0.0 if self.kind == "clean" else self.rng.choice((0.0, 0.0, 0.02, 0.1))

    def decode(self) -> float:
        return self.decode_seconds * (1.0 if self.kind == "clean" else self.rng.uniform(0.5, 2))

    def decode_fails(self, number: int) -> bool:
        if self.kind != "faulty" or self.calm:
            return False
        if number not in self.undecodable and random.Random(f"{self.seed} {number}").random() < 0.01:
            self.undecodable.add(number)
        return number in self.undecodable

    # -- the run -------------------------------------------------------------------------------------------------------

    def run(self) -> list[str]:
        """Plays the session."""
        r = self.rng
        commit = r.choice((Commit.SPECULATIVE,) * 3 + (Commit.CHUNK,))
        settings = Settings("p0", window=self.window, commit=commit, answer=r.random() < 0.4, preempt=r.random() < 0.4)
        was = engine_module.Session, session_module.COLD_ESTIMATE
        engine_module.Session = _spy(self)  # type: ignore[misc, assignment]
        session_module.COLD_ESTIMATE = self.seconds + 0.1 if self.kind == "clean" else 0.6
        model = Model(FuzzSampler(self), FuzzDecoder(self), "fuzz")
        self.engine = e = Engine(lambda progress: model, SPEC, settings, None, self.clock)
        try:
            e.start()
            self.clock.sleep(1.5)
            self._play(self.clock.now() + SECONDS, acting=True)
            self._come_to_rest()
            self._play(self.clock.now() + REST, acting=False)
            if e.error is not None or not e.running:
                self.bad(f"the engine stopped: {e.error}")
            self._judge_rest()
        finally:
            e.close(FOREVER)
            engine_module.Session, session_module.COLD_ESTIMATE = was  # type: ignore[misc]
        self._judge()
        return self.problems

    def _play(self, until: float, acting: bool) -> None:
        act_at = self.clock.now() + self.rng.expovariate(1 / self.rate) if acting else FOREVER
        while (now := self.clock.now()) < until and not self.problems:
            for p in self.engine.player.advance(now):
                if p.what is PlaybackEventKind.FRAME and p.image is not None:
                    a, b, c, i = (int(x) for x in p.image[0, 0])
                    self._show(a * 65536 + b * 256 + c, i, p.shown)
                elif p.what is PlaybackEventKind.STALLED:
                    self._stalled(p.at)
            for at, action in [x for x in self.release_at if x[0] <= now]:
                self.release_at.remove((at, action))
                self._release(action)
            if now >= act_at:
                self._act()
                act_at = now + self.rng.expovariate(1 / self.rate)
            due = self.engine.player.next_due()
            next_look = now + (0.01 if due is None else 0.06)
            busy = self.rng.uniform(0.1, 0.7) if self.kind != "clean" and self.rng.random() < 0.003 else 0.0
            wake = min(
                [next_look if due is None else max(now + 0.001, due), act_at, until, *(t for t, _ in self.release_at)]
            )
            self.clock.sleep(max(wake - now, busy, 1e-4))

    def _act(self) -> None:
        r, e, now = self.rng, self.engine, self.clock.now()
        x = r.random()
        if self.only_keys or x < 0.7:
            action = r.choice(ACTIONS)
            if action in self.held:
                self._release(action)
            else:
                self.held.add(action)
                e.press(action, now)
                if r.random() < 0.4:
                    self.release_at.append((now + r.uniform(0.02, 0.25), action))
        elif x < 0.8:
            e.set_prompt(f"{'p' if r.random() < 0.8 else 'bad'}{r.randrange(9)}", now, r.choice((0, 0, 1.0)))
        elif x < 0.86:
            if self.paused:
                e.resume()
            else:
                e.pause()
                self.held.clear()
            self.paused, self.excused = not self.paused, True
        elif x < 0.9:
            self._left(lambda: e.new_world())
        elif x < 0.93:
            path = e.takes.path(e.takes.current)
            if len(path) > 3:
                position = path[-r.randrange(2, len(path))].position
                self._left(lambda: e.rewind(e.takes.current, position))
        elif x < 0.97:
            e.configure(window=r.choice((3, 7, 21)))
            self.excused = True
        elif x < 0.985:
            e.configure(commit=r.choice(list(Commit)))
        else:
            e.configure(answer=r.random() < 0.5, preempt=r.random() < 0.5, aim=r.choice((0.0, 0.5, 1.0)))

    def _left(self, leave: Any) -> None:
        """The world is left; what was held is not held in the next one, and the person lets go of it."""
        self.held.clear()
        self.release_at.clear()
        self.excused = self.excused or self.window == 1  # whose first call is one frame long
        leave()
        self.engine.release_all()  # as the window does; it matters where the person's wish was refused

    def _release(self, action: str) -> None:
        if action in self.held:
            self.held.discard(action)
            self.engine.release(action, self.clock.now())

    def _come_to_rest(self) -> None:
        self.calm = True
        if self.paused:
            self.engine.resume()
            self.paused = False
        for action in sorted(self.held):
            self.release_at.append((self.clock.now() + 0.01, action)) if self.rng.random() < 0.5 else None
        self.engine.set_prompt("pz", self.clock.now())

    # -- what is shown -------------------------------------------------------------------------------------------------

    def _show(self, number: int, index: int, at: float) -> None:
        epoch = self.engine.player.epoch
        g = self.made[number]
        last = self.shown[-1] if self.shown and self.shown[-1].epoch == epoch else None
        if last is not None:
            before = self.made[last.group]
            if last.group == number:
                if index != last.index + 1:
                    self.bad(f"frame {index} after {last.index} of group {number}")
            else:
                if last.index != SPEC.span(before.position) - 1 or index != 0:
                    self.bad(f"group {last.group} was cut at frame {last.index}, or {number} began at {index}")
                if g.position != before.position + 1:
                    self.bad(f"position {g.position} after {before.position}")
                if g.before != last.group:
                    self.bad(
                        f"group {number} of call {g.call} continues {g.before}, and {last.group} was shown before it"
                    )
                if g.condition.version < before.condition.version:
                    self.bad(f"version {g.condition.version} after {before.condition.version}")
        self.shown.append(Shown(number, index, at, epoch))

    def _stalled(self, at: float) -> None:
        self.stalls += 1
        if self.kind == "clean" and at > 103 and not self.excused:
            self.bad(f"a stall at {at:.2f}, though every call takes the same")

    def bad(self, text: str) -> None:
        """Something is wrong."""
        self.problems.append(f"{self.clock.now() - 100:.2f} s: {text}")

    # -- judging -------------------------------------------------------------------------------------------------------

    def _judge_rest(self) -> None:
        if not self.shown:
            self.bad("nothing was shown")
            return
        last, view = self.shown[-1], self.engine.view
        condition = self.made[last.group].condition
        if set(condition.keys) != self.held or set(view.keys) != self.held:
            self.bad(f"on show is {condition}, the view has {view.keys}, and the person holds {sorted(self.held)}")
        if condition.prompt != "pz" or view.prompt != "pz":
            self.bad(f"at rest the prompt is {condition.prompt!r}")
        slowest = 1.4 * self.seconds + 2 * self.decode_seconds + 0.1
        lasts = (self.engine.view.window or 1) * SPEC.span(1) / SPEC.fps
        if self.clock.now() - last.at > 1.0 + (slowest if slowest > lasts else 0.0):
            self.bad(f"nothing was shown for {self.clock.now() - last.at:.1f} s; {view.message}")
        sizes = {"cache": view.cached, "updates": len(view.updates), "groups": len(view.groups)}
        for name, size in sizes.items():
            if size > 120:
                self.bad(f"{name} has {size}")
        if "error in the program" in view.message:
            self.bad(view.message)

    def _judge(self) -> None:
        summary = self.engine.summary
        if summary is None:
            self.bad("there is no summary")
            return
        groups = summary["groups"]
        if groups["predicted"] != groups["delivered"] + groups["revoked"] + groups["cached"]:
            self.bad(f"groups are not conserved: {groups}")
        ends = Counter(u["version"] for u in summary["updates"])
        if any(n != 1 for n in ends.values()):
            self.bad(f"versions that ended more than once: {[v for v, n in ends.items() if n != 1]}")
        first: dict[int, Shown] = {}
        for s in self.shown:
            first.setdefault(self.made[s.group].condition.version, s)
        for u in summary["updates"]:
            self._judge_update(u, first)
        missing = set(self.conditions) - set(ends)
        if missing:
            self.bad(f"versions without an end: {sorted(missing)}")
        self._judge_presses(set(first))

    def _judge_update(self, u: dict[str, Any], first: dict[int, Shown]) -> None:
        version = u["version"]
        if version not in self.conditions:
            return
        if u["outcome"] != "applied":
            if version in first:
                self.bad(f"version {version} ended as {u['outcome']} and was shown at {first[version].at - 100:.2f}")
            return
        if version not in first:
            self.bad(f"version {version} was applied and never shown")
            return
        if min(u["R"], u["C"], u["Q"]) < -1e-6:
            self.bad(f"version {version} has a negative part: {u}")
        arrival = self.conditions[version][1]
        really = first[version].at - arrival
        if not self.excused and abs(really - u["L"]) > 1e-3:
            self.bad(f"version {version}: L is {u['L']:.4f}, really {really:.4f}")

    def _judge_presses(self, shown: set[int]) -> None:
        """Every press that was let go again is in a group that was shown, unless the world was left or paused soon after. Where
        calls fail, newer versions may be shown before the tap that it has become."""
        versions = sorted(self.conditions)
        for i, v in enumerate(versions[1:], 1):
            condition, _, world = self.conditions[v]
            before, _, world_before = self.conditions[versions[i - 1]]
            if world != world_before:
                continue
            for action in set(condition.keys) - set(before.keys):
                later = [w for w in versions[i:] if action not in self.conditions[w][0].keys]
                if not later or self.conditions[later[0]][2] != world or later[0] in self.let_all_go:
                    continue
                # presses of one action that no call was between are one
                pause = min((w for w in self.let_all_go if w > v), default=FOREVER)
                world_of = [w for w in versions[i:] if self.conditions[w][2] == world and w < pause]
                has = [w for w in world_of if self._has(action, w)]
                after = [w for w in world_of if w > later[0] and w in shown]
                waited = self._waited(action, [w for w in world_of if w > later[0]]) if self.kind == "faulty" else []
                if waited and not any(w in shown for w in world_of if w > waited[-1]):
                    continue  # it waited, or its call was under way, when the world was left or paused
                early = [w for w in has if not after or w <= after[0]]
                if self.kind == "faulty" and any(w in self.called for w in early):
                    waited += [
                        w for w in has if w > later[0]
                    ]  # its call failed: the next press of the action takes it in
                if after and not any(w in shown for w in (*early, *waited)):
                    self.bad(f"the press of {action} in version {v}, let go in {later[0]}, was never shown")

    def _has(self, action: str, version: int) -> bool:
        condition = self.conditions[version][0]
        return action in condition.keys or action in condition.tapped

    def _waited(self, action: str, versions: list[int]) -> list[int]:
        """Versions in which a tap waits after its call failed, from each that taps it on: until one is without it. A press of the
        same action meanwhile takes it in."""
        out: list[int] = []
        waits = False
        for v in versions:
            waits = self._has(action, v) and (waits or action in self.conditions[v][0].tapped)
            out += [v] if waits else []
        return out


def _spy(fuzz: Fuzz) -> type[Session]:
    class Spy(Session):
        """Says which conditions there were."""

        _lets_all_go = False

        def _do(self, message: Any, now: float) -> None:
            self._lets_all_go = isinstance(message, Pause | ReleaseAll)
            super()._do(message, now)
            self._lets_all_go = False

        def _change(self, condition: Any, kind: Any, arrival: float, now: float, change: Any = None) -> None:
            if condition is not None:
                fuzz.conditions[condition.version] = (condition, min(arrival, now), self.worlds_left)
                if self._lets_all_go:
                    fuzz.let_all_go.add(condition.version)
            super()._change(condition, kind, arrival, now, change)

    return Spy


def search(seeds: Sequence[int], kinds: Sequence[str] = KINDS) -> dict[str, str]:
    """What was found, by its kind, with how to repeat the first of each."""
    log = logging.getLogger("engine")
    level = log.level
    log.setLevel(logging.CRITICAL + 1)
    found: dict[str, str] = {}
    try:
        for seed in seeds:
            for kind in kinds:
                for problem in Fuzz(seed, kind).run()[:3]:
                    name = re.sub(r"[-\d.]+", "#", problem)[:110]
                    repeat = f"python -m tests.engine.runtime.live_fuzz {seed} {seed + 1} {kind}"
                    found.setdefault(name, f"{repeat}: {problem}")
    finally:
        log.setLevel(level)
    return found


if __name__ == "__main__":
    first_seed, last_seed, *rest = sys.argv[1:]
    known: dict[str, str] = {}
    for one in range(int(first_seed), int(last_seed)):
        for what, text in search([one], rest or KINDS).items():
            if what not in known:
                print(text, flush=True)
            known.setdefault(what, text)
    sessions = (int(last_seed) - int(first_seed)) * len(rest or KINDS)
    print(f"{sessions} sessions: " + (f"{len(known)} findings" if known else "nothing was found"))
    sys.exit(1 if known else 0)
