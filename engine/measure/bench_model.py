"""Times of any model through its interface: calls by K, and decoding group by group."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from engine.control.conditions import Condition
from engine.measure.timing import timed
from engine.models.interface import Group, Model, Request


def _walk(model: Model, windows: Sequence[int], steps: int) -> list[Group]:
    """Calls one after the other from a new world on, forward held; returns their groups."""
    s = model.sampler
    s.reset()
    prepared = s.prepare(Condition(0, "a valley", ("forward",)))
    out: list[Group] = []
    for k in windows:
        groups = s.sample(Request(len(out), k, steps, 0, 0, prepared, model.spec.history[0]), lambda a, b: True)
        s.extend(groups)
        out += groups
    return out


def sampler(model: Model, windows: Sequence[int], steps: int, repeats: int) -> list[dict[str, Any]]:
    """Seconds of a call that goes on after a call of the same K, and their share of what it plays; medians."""
    rows = []
    for k in windows:
        last = _walk(model, [k], steps)[-1]
        request = Request(
            last.position + 1,
            k,
            steps,
            0,
            0,
            model.sampler.prepare(Condition(0, "a valley", ("forward",))),
            model.spec.history[0],
        )

        def call(request: Request[Any] = request) -> list[Group]:
            return model.sampler.sample(request, lambda a, b: True)

        seconds = timed(call, repeats)["median"]
        played = sum(model.spec.span_of(g) for g in call()) / model.spec.fps
        rows.append({"K": k, "steps": steps, "T": played, "call": seconds, "call_over_T": seconds / played})
    return rows


def decode(model: Model, groups: int, repeats: int) -> dict[str, float]:
    """Seconds until the first group is decoded and of each later one, and how many times faster than playback that is; the best of
    `repeats` runs."""
    made = _walk(model, [model.spec.nearest_window(groups)], model.spec.steps)
    first, whole = [], []
    for _ in range(repeats):
        model.decoder.reset()
        began = time.perf_counter()
        for i, group in enumerate(made):
            model.decoder.decode(group)
            if i == 0:
                first.append(time.perf_counter() - began)
        whole.append(time.perf_counter() - began)
    played = sum(model.spec.span_of(g) for g in made) / model.spec.fps
    return {"first_group": min(first), "group": min(whole) / len(made), "real_time": played / min(whole)}
