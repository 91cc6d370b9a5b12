"""Faults put into the code on purpose, and whether the tests notice: `python -m tests.engine.mutants [NAME ...]`.

Each mutant is one replacement in one file; the tests of that part are run on a copy of the tree until one fails. The score is the
share that is noticed. Names, or files of the engine, run those mutants only. On Unix only: each is tried out in a fork.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
OWN = ("engine", "tests", "app")
MODULES = "modules.txt"
CPU_SECONDS, WALL_SECONDS = 120, 300
"""That the tests of one mutant, and one of them, may take; a mutant may never end."""
CONTROL = ("tests/engine/control/test_controller.py", "tests/engine/control/test_controller_properties.py")
LIVE = (
    "tests/engine/runtime/test_decode_worker.py",
    "tests/engine/runtime/test_trouble.py",
    "tests/engine/runtime/test_live_properties.py",
    "tests/engine/runtime/test_engine.py",
    "tests/engine/runtime/test_takes.py",
    "tests/engine/runtime/test_regenerate.py",
)
"""The quickest first."""
TESTS = {
    "engine/control/controller.py": CONTROL,
    "engine/control/estimator.py": ("tests/engine/control/test_estimator.py", *CONTROL),
    "engine/control/conditions.py": ("tests/engine/control/test_conditions.py", *LIVE),
    "engine/playback/player.py": ("tests/engine/playback/test_player.py", *CONTROL, *LIVE),
    "engine/playback/shared_player.py": LIVE,
    "engine/runtime/session.py": LIVE,
    "engine/runtime/engine.py": LIVE,
    "engine/runtime/driver.py": ("tests/engine/runtime/test_driver.py", *LIVE),
    "engine/runtime/decode_worker.py": LIVE,
    "engine/runtime/view_builder.py": LIVE,
    "engine/runtime/regenerate.py": ("tests/engine/runtime/test_regenerate.py",),
    "engine/runtime/session_log.py": ("tests/engine/runtime/test_regenerate.py",),
}


class Mutant(NamedTuple):
    """One fault."""

    name: str
    file: str
    old: str
    new: str


C = "engine/control/controller.py"
E = "engine/control/estimator.py"
B = "engine/control/conditions.py"
P = "engine/playback/player.py"
S = "engine/runtime/session.py"
D = "engine/runtime/decode_worker.py"
R = "engine/runtime/driver.py"
A = "engine/runtime/regenerate.py"
L = "engine/runtime/session_log.py"
MUTANTS = [
    Mutant(
        "alternative-without-idle-time",
        C,
        "        if over > self.deadline(self.end, now) - self.lead():\n            return\n",
        "",
    ),
    Mutant("alternative-not-ahead", C, "if j >= in_time[0] + p.ahead), None)", "), None)"),
    Mutant("alternatives-without-end", C, " or self._tried >= ALTERNATIVES:", ":"),
    Mutant(
        "another-condition-takes-it",
        C,
        "elif made is not None and wanted and",
        "elif made is not None and",
    ),
    Mutant("taken-though-later", C, " and branch <= self.branch(now)[0]", ""),
    Mutant("taken-without-lock", C, "        self.locked = max(self.locked, made.branch)\n", ""),
    Mutant("promoted-before-it-came", C, "max(call.launched, call.taken)", "call.launched"),
    Mutant(
        "stale-alternative-stays",
        C,
        "if self.alternative is not None and not self._can_be_taken(self.alternative.branch, now):",
        "if False:",
    ),
    Mutant(
        "alternative-delays-refill",
        C,
        "if call.alternative and (self.refill_due(e.at) or",
        "if call.alternative and (False or",
    ),
    Mutant(
        "rejected-press-forgotten",
        C,
        "            if self._unmade.get(e.version) is not Change.PRESS:  # what is held is in the version that takes its place\n    ",
        "",
    ),
    Mutant(
        "dropped-alternative-not-counted", C, "            self.counts.revoked += len(self.alternative.spans)\n", ""
    ),
    Mutant("launch-does-not-lock", C, "        self.locked = max(self.locked, j)\n        shadow", "        shadow"),
    Mutant(
        "branch-without-margin",
        C,
        "now + self.estimator.lead(work) - self.origin",
        "now + self.estimator.first(work) - self.origin",
    ),
    Mutant("release-does-not-shift", C, "            self._origin += max(0.0, since - self._held)\n", ""),
    Mutant("failed-update-forgotten", C, "            self.pending = call.version\n", "            pass\n"),
    Mutant(
        "shadow-calls-forgotten",
        C,
        "(self.in_flight.call, *(x.call for x in self.in_flight.shadow))",
        "(self.in_flight.call,)",
    ),
    Mutant("no-limit", C, "if e.at >= call.launched + self._limit(call) - SIMULTANEOUS:", "if False:"),
    Mutant("limit-without-patience", C, "max(p.hard_limit, p.patience * own)", "p.hard_limit"),
    Mutant("limit-does-not-double", C, " * 2**self._abandoned", ""),
    Mutant(
        "steps-teach-nothing",
        C,
        "max(self.estimator.first(call.work), call.foreseen)\n        return float",
        "self.estimator.first(call.work)\n        return float",
    ),
    Mutant("rest-does-not-grow", C, "2.0 ** min(16, self.failures - p.attempts)", "1.0"),
    Mutant("no-rest", C, "return self.failures >= self.policy.attempts and", "return False and"),
    Mutant("press-locks-nothing", C, "        if call.press:\n", "        if False:\n"),
    Mutant(
        "edit-is-no-kind",
        C,
        "return any(v <= version and change is Change.PROMPT",
        "return False and any(v <= version and change is Change.PROMPT",
    ),
    Mutant("pause-is-latency", C, "(b - a - self.paused(a, b) for", "(b - a for"),
    Mutant("seen-when-due", C, "e.at if e.shown is None else e.shown", "e.at"),
    Mutant(
        "decode-is-free",
        C,
        "if self._is_branch_point(j) and not (slow and self._misses(j, work, now)):",
        "if self._is_branch_point(j):",
    ),
    Mutant(
        "wait-is-c",
        C,
        "took = e.at - began if e.sampled is None else e.sampled - began + self.estimator.decode",
        "took = e.at - began",
    ),
    Mutant("lost-group-stays", C, "        self._revoke(j, Reason.LOST, out)\n", ""),
    Mutant("lost-inside-a-block", C, "next((p for p in at if self._is_branch_point(p)), e.position)", "e.position"),
    Mutant("loss-is-no-failure", C, '        self._count_failure("decoding", e.reason, e.at, out)\n', ""),
    Mutant(
        "loss-forgiven-at-once",
        C,
        "            if self._lost is None:\n                self.failures = 0\n",
        "            self.failures = 0\n",
    ),
    Mutant("holds-are-one", C, "self._holds - {e.why} if e.why is not None else set()", "set()"),
    Mutant("preempt-at-any-step", C, "call.steps - call.step < STEPS_LEFT", "False"),
    Mutant("preempt-without-end", C, "or self._preempted >= p.preempt", "or not p.preempt"),
    Mutant(
        "preempt-stalls",
        C,
        "        if self.origin(now) + end / p.fps < now + step",
        "        if False and self.origin(now) + end / p.fps < now + step",
    ),
    Mutant("preempt-swallows-a-press", C, "if call.press and Change.RELEASE in self._unmade.values():", "if False:"),
    Mutant(
        "preempt-gives-nothing-back",
        C,
        "        self._give_back(call, out)\n        self._preempted += 1\n",
        "        self._preempted += 1\n",
    ),
    Mutant("answer-too-short", C, "k < p.window and k * group >= self.lead()", "k < p.window"),
    Mutant("aim-is-ignored", C, "return meets[-1] if meets else lasts[0]", "return lasts[0]"),
    Mutant(
        "refill-is-short",
        C,
        "self._answer() if reason is Reason.UPDATE else self._work",
        "self._answer() if reason else self._work",
    ),
    Mutant("settled-groups-again", C, "if call.made == 0 or not self.policy.retry_after:", "if True:"),
    Mutant(
        "guess-is-relied-on",
        E,
        "return self.first(work, careful=True) + self.margin",
        "return self.first(work) + self.margin",
    ),
    Mutant("median", E, "quantile: float = 0.9", "quantile: float = 0.5"),
    Mutant(
        "slowest-of-ten", E, "return values[int(self.quantile * (n - 1))] if n > 2 else values[-1]", "return values[-1]"
    ),
    Mutant(
        "start-is-no-start", E, "return max(self.cold, self._start[work] * BEFORE_HISTORY)", "return self._start[work]"
    ),
    Mutant(
        "steps-do-not-scale",
        E,
        "return out * _scale(self.steps / other.steps) if self.steps and other.steps else out",
        "return out",
    ),
    Mutant(
        "taps-never-served",
        B,
        "        self._taps = {a: v for a, v in self._taps.items() if v > version or a not in shown}\n",
        "",
    ),
    Mutant("taps-lost-with-a-call", B, "        self._in_call = frozenset()\n        waiting", "        waiting"),
    Mutant("a-call-serves-taps-that-it-lacks", B, "if v > version or a not in shown}", "if v > version}"),
    Mutant("drop-off-by-one", P, "p >= max(first, self.next_position)", "p > max(first, self.next_position)"),
    Mutant("pause-is-stall", P, "                self._stalled += now - self._paused\n", "                pass\n"),
    Mutant(
        "same-noise",
        S,
        "return world * FAILURES_A_WORLD + failures % FAILURES_A_WORLD",
        "return world * FAILURES_A_WORLD",
    ),
    Mutant(
        "restored-not-decoded",
        S,
        "self._effects.submit([(self._timeline[e.position], e.start) for e in entries])",
        "pass",
    ),
    Mutant("left-inputs-taken", S, "        if not self._views.knows(version):\n            return\n", ""),
    Mutant("left-books", S, "        self._past_counts.revoked += len(self.controller.cache)\n", ""),
    Mutant(
        "left-playback-taken",
        S,
        "                if epoch == self.player.epoch:\n                    self._played(events)",
        "                self._played(events)",
    ),
    Mutant("left-decode-arrives", S, "        self._effects.cancel_from(0)\n", ""),
    Mutant(
        "abandoned-groups-stay",
        S,
        "            self._effects.cancel_from(self._sampled[0].branch)\n            self._sampled = None\n        if",
        "            self._sampled = None\n        if",
    ),
    Mutant("shown-before-known", S, "        self._effects.present(first)\n", ""),
    Mutant("bad-prompt-stays", S, "            self._take_back(version, now)\n", ""),
    Mutant("bad-prompt-takes-the-next", S, "        if _words(current) != _words(rejected):\n            return\n", ""),
    Mutant(
        "old-version-first",
        S,
        "ConditionChanged(now, v, min(arrival, now), ready, change)",
        "ConditionChanged(now, v, min(arrival, now), False, change)",
    ),
    Mutant("stale-decode-shown", D, "wanted = self._work.get(position) is work", "wanted = position in self._work"),
    Mutant("drop-leaves-wanted", D, "            self._wanted_until = min(self._wanted_until, position - 1)\n", ""),
    Mutant(
        "resume-leaves-work",
        D,
        "            self._work.clear()\n            self._held = None\n            self._wanted_until = -1\n",
        "            self._held = None\n            self._wanted_until = -1\n",
    ),
    Mutant(
        "resume-needs-work",
        D,
        "self._closing or self._resume is not None or self._next() is not None",
        "self._closing or self._next() is not None",
    ),
    Mutant(
        "no-rewind", D, "                    self._decoder.rewind(work.group.position)\n", "                    pass\n"
    ),
    Mutant("one-try", D, "TRIES = 2", "TRIES = 1"),
    Mutant("prefix-waits", D, "urgent = -1 if first is None else first.group.position", "urgent = -1"),
    Mutant(
        "call-goes-on",
        R,
        "return not trouble and session.runs(launch) and not self._closing()",
        "return not trouble and not self._closing()",
    ),
    Mutant("negative-not-logged", L, "negative=None if self.private else condition.negative", "negative=None"),
    Mutant(
        "call-begins-at-its-launch",
        A,
        """        if name == "CallProgressed":
            return bool(data["step"] == 0)
        return name == "Launch" and data["call"] not in self.marked
""",
        """        return name == "Launch"
""",
    ),
    Mutant(
        "start-stays",
        A,
        'if (start := line["start"]) is not None:',
        'if (start := line["start"]) is not None and start["path"]:',
    ),
    Mutant(
        "trouble-is-swallowed",
        R,
        "            if trouble:\n                raise trouble[0] from None\n            return\n",
        "            return\n",
    ),
]


def run(tests: Sequence[str], tree: Path, report: Path) -> tuple[bool, str]:
    """Runs tests in a child that shares this process's imports but those of the project; whether one failed, and which."""
    child = os.fork()
    if child == 0:
        _run_here(tests, tree, report)
    _, status = os.waitpid(child, 0)
    failed = [
        x for x in report.read_text("utf-8", "replace").splitlines() if x.startswith(("FAILED tests/", "ERROR tests/"))
    ]
    if failed:
        return True, failed[0].split(" ", 1)[1]
    return status != 0, "" if status == 0 else f"its end ({status})"


def _run_here(tests: Sequence[str], tree: Path, report: Path) -> None:
    """In the child: never returns."""
    import resource

    code = 99
    try:
        handle = os.open(report, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(handle, 1)
        os.dup2(handle, 2)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 5))
        for name in [n for n in sys.modules if n.split(".")[0] in OWN]:
            del sys.modules[name]
        sys.path[:] = [str(tree), *(x for x in sys.path if x and Path(x).resolve() != ROOT)]
        os.chdir(tree)
        os.environ.update(PYTHONPATH=str(tree), FORELAND_SEQUENCES="60", FORELAND_LIVE="3")
        options = ["-x", "-q", "-p", "no:cacheprovider", "--timeout", str(WALL_SECONDS)]
        code = int(pytest.main([*options, *tests]))
        (tree / MODULES).write_text("\n".join(n for n in sys.modules if n.split(".")[0] not in OWN), "utf-8")
    finally:
        sys.stdout.flush()
        os._exit(code)


def try_out(mutant: Mutant, tree: Path, report: Path) -> tuple[bool, str]:
    """Whether a test notices a mutant, and which."""
    file = tree / mutant.file
    text = file.read_text("utf-8")
    assert text.count(mutant.old) == 1, f"{mutant.name}: its code is there {text.count(mutant.old)} times"
    compiled = Path(importlib.util.cache_from_source(str(file)))
    compiled.unlink(missing_ok=True)
    file.write_text(text.replace(mutant.old, mutant.new), "utf-8")
    try:
        return run(TESTS[mutant.file], tree, report)
    finally:
        file.write_text(text, "utf-8")
        compiled.unlink(missing_ok=True)


def main(names: list[str]) -> int:
    """Prints a line for each mutant and the score; 0 when it is at least 90 %."""
    chosen = [m for m in MUTANTS if not names or m.name in names or m.file in names]
    noticed = 0
    with tempfile.TemporaryDirectory() as folder:
        tree, report = Path(folder) / "tree", Path(folder) / "report.txt"
        ignore = shutil.ignore_patterns(".git", ".venv", "dist", "build", "runs", "__pycache__")
        shutil.copytree(ROOT, tree, ignore=ignore, symlinks=True)
        seen, by = run(sorted({t for m in chosen for t in TESTS[m.file]}), tree, report)
        if seen:
            print(f"{by} fails without a mutant")
            return 1
        for module in (tree / MODULES).read_text("utf-8").splitlines():
            with contextlib.suppress(Exception):  # a part that cannot be imported by itself
                importlib.import_module(module)
        for mutant in chosen:
            began = time.monotonic()
            seen, by = try_out(mutant, tree, report)
            noticed += seen
            words = f"noticed by {by[:120]}" if seen else "SURVIVES"
            print(f"{mutant.name:28} {words} ({time.monotonic() - began:.0f} s)", flush=True)
    print(f"{noticed} of {len(chosen)} are noticed: {noticed / len(chosen):.0%}")
    return 0 if noticed >= 0.9 * len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
