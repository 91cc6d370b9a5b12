"""Ratios of the parts of Foreland that run on any machine, each against the best that is known for it: one page."""

from __future__ import annotations

from typing import Any

import torch

from engine.measure import bench_pocket, bench_session
from engine.measure.overhead import measure
from engine.models.registry import pocket_folder

WINDOW, STEPS, GROUPS = 7, 4, 2400


def ratios(repeats: int) -> list[dict[str, Any]]:
    """Rows of what was measured, its value, and what 1 would mean. Ratios are of medians of times that were taken by turns."""
    found: list[tuple[str, float, str]] = []
    s = bench_session.compared(GROUPS, bench_session.UPDATES_A_MINUTE, 0)
    found += [
        ("session: log", s["log_share"], "share of a session's own time that its log takes"),
        ("session: view", s["view_ratio"], "a view in the second half of ten minutes, over one in the first"),
        ("session: log, MB an hour", s["log_mb_an_hour"], "4 is asked"),
    ]
    o = measure(repeats, torch.device("cpu"), torch.float32)
    found += [
        ("wan: step", o["step_ratio"], "diffusers' network and the attention to its history alone"),
        ("wan: first step", o["first_step_ratio"], "the later steps of the call"),
        ("wan: KV", o["kv_ratio"], "the keys and values of the history"),
    ]
    (p,) = bench_pocket.sampler(pocket_folder(), (WINDOW,), STEPS, repeats)
    d = bench_pocket.decode(pocket_folder(), 2 * WINDOW, repeats)
    found += [
        ("pocket: network", p["alone"] / p["diffusers"], "diffusers' network of the same shape"),
        ("pocket: kept prefix", p["reuse"] / p["recompute"], "the history in the same forward"),
        ("pocket: call, C/T", p["call_over_T"], "as long as what it plays; 0.5 is asked"),
        ("pocket: decoded first group", d["first_over_share"], "its share of the whole clip"),
        ("pocket: decode", 1 / d["real_time"], "as long as what it plays"),
    ]
    return [{"what": what, "ratio": round(value, 3), "of": of} for what, value, of in found]
