"""What a session itself costs, without a model: log, memory and time by the number of groups, in virtual time.

The session, controller, player, takes and log are those that a person uses; calls take no work and pictures are one pixel.
"""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from engine.control.conditions import Condition
from engine.measure.timing import memory_mb
from engine.models.interface import (
    Decoder,
    Group,
    HistoryPolicy,
    Model,
    ModelSpec,
    Progress,
    Request,
    Sampler,
    StepCallback,
)
from engine.playback.player import Frame, Samples
from engine.runtime.explore import explore_virtual
from engine.runtime.replay import replay
from engine.runtime.script import Script, ScriptEvent
from engine.runtime.session_log import LOG
from engine.runtime.settings import Settings
from engine.runtime.takes import Takes

SPEC = ModelSpec("still", 1, 1, 16.0, (4, 4), (1, 21), 21, 4, (HistoryPolicy.CLEAN_PREFILL,))
"""Groups and K of Wan."""
CALL_SECONDS = 1.1
"""C of Wan with K = 21 in the paper."""
UPDATES_A_MINUTE = 30.0
PROMPT_EVERY = 5
"""Of so many updates one is another prompt, the rest are a key that goes down and up."""
SLICES = 10
KEPT = 2048
"""Groups of the takes, so that the rest of the memory can be seen: a session keeps up to `engine.runtime.takes.KEPT_GROUPS`."""
VIEWS = 200
"""Pictures of the session that are timed in each slice."""


class _Sampler(Sampler):
    """A latent is its position."""

    spec = SPEC

    def prepare(self, condition: Condition) -> int:
        return condition.version

    def sample(self, request: Request, report: StepCallback) -> list[Group]:
        for step in range(request.steps):
            report(step + 1, request.steps)
        return [Group(request.branch + i, (request.branch + i,), None) for i in range(request.window)]

    def extend(self, groups: Sequence[Group]) -> None:
        return

    def evict_before(self, position: int) -> None:
        return

    def reset(self) -> None:
        return


class _Decoder(Decoder):
    spec = SPEC
    _picture: Frame = np.zeros((1, 1, 3), np.uint8)

    def decode(self, group: Group) -> list[Frame]:
        return [self._picture] * SPEC.span(group.position)

    def rewind(self, position: int) -> None:
        return

    def reset(self) -> None:
        return


def played(seconds: float, per_minute: float = UPDATES_A_MINUTE, seed: int = 0) -> Script:
    """A key that is held half of the time, and prompt edits between, at random times."""
    rng = np.random.default_rng(seed)
    events, held = [], False
    for i, t in enumerate(np.sort(rng.uniform(2, seconds, round(seconds / 60 * per_minute)))):
        if i % PROMPT_EVERY == PROMPT_EVERY - 1:
            events.append(ScriptEvent(float(t), "prompt", f"a valley with a river and old trees, no. {i}"))
        else:
            held = not held
            events.append(ScriptEvent(float(t), "down" if held else "up", "forward"))
    return Script("a valley with a river", seconds, tuple(events))


def session(seconds: float, folder: Path | None, per_minute: float = UPDATES_A_MINUTE, seed: int = 0) -> dict[str, Any]:
    """Plays so many seconds of media. folder: for the log, which is replayed then; None: without.

    Returns groups, updates, CPU microseconds a group, megabytes of log an hour, what the replay says, the memory (MB) by which the
    second half grew, how many times as long a view takes in it as in the first half, and of each tenth of the session the CPU
    microseconds a group, the memory at its end and the CPU microseconds of a view.
    """
    script, frames = played(seconds, per_minute, seed), round(seconds * SPEC.fps)
    slices: list[dict[str, float]] = []
    shown, since = 0, time.process_time()
    looks: list[Any] = []

    def show(frame: Frame, sound: Samples | None) -> None:
        nonlocal shown, since
        shown += 1
        if shown * SLICES // frames == len(slices):
            return
        took = time.process_time() - since
        view, now = looks
        began = time.process_time()
        for _ in range(VIEWS):
            view(now())
        view_seconds = (time.process_time() - began) / VIEWS
        gc.collect()
        slices.append(
            {
                "groups": shown / SPEC.span(1),
                "us_a_group": round(1e6 * took * SLICES / frames * SPEC.span(1), 1),
                "view_us": round(1e6 * view_seconds, 1),
                "memory_mb": round(memory_mb(), 1),
            }
        )
        since = time.process_time()

    def load(progress: Progress) -> Model:
        return Model(_Sampler(), _Decoder(), "still")

    explore_virtual(
        load,
        SPEC,
        Settings(prompt=script.prompt),
        script,
        folder,
        show,
        lambda stage, share: None,
        CALL_SECONDS,
        lambda view, now: looks.extend((view, now)),
        Takes(most=KEPT),
    )

    def least(part: list[dict[str, float]]) -> float:
        return min(s["view_us"] for s in part)

    row: dict[str, Any] = {
        "seconds": seconds,
        "groups": round(frames / SPEC.span(1)),
        "updates": len(script.events),
        "us_a_group": round(sum(s["us_a_group"] for s in slices) / len(slices), 1),
        "memory_grown_mb": round(slices[-1]["memory_mb"] - slices[len(slices) // 2]["memory_mb"], 1),
        "view_ratio": round(least(slices[len(slices) // 2 :]) / least(slices[: len(slices) // 2]), 2),
        "slices": slices,
    }
    if folder is not None:
        size = (folder / LOG).stat().st_size
        result = replay(folder)
        row["log_mb_an_hour"] = round(size / 1e6 * 3600 / seconds, 2)
        row["replay"] = result.difference or "the same"
        row["events"], row["commands"] = result.events, result.commands
    return row


def compared(groups: int, per_minute: float, seed: int) -> dict[str, Any]:
    """`session` with a log, and what the log costs: log_us, CPU microseconds a group, and log_share of the session's own time.
    Raises OSError when the log cannot be written."""
    seconds = groups * SPEC.span(1) / SPEC.fps
    alone = session(seconds, None, per_minute, seed)
    with tempfile.TemporaryDirectory(prefix="foreland-bench-") as folder:
        logged = session(seconds, Path(folder) / "session", per_minute, seed)
    slices = logged.pop("slices")
    cost = logged["us_a_group"] - alone["us_a_group"]
    return {**logged, "log_us": round(cost, 1), "log_share": round(cost / logged["us_a_group"], 2), "slices": slices}
