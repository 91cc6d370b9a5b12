"""Times of the pocket world's forwards, calls and decodes: prefix KV against recomputing it, a group against the whole clip."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from engine.control.conditions import Condition
from engine.measure.timing import timed
from engine.models.attention import WindowCall
from engine.models.catalogue import find
from engine.models.interface import Group, HistoryPolicy, Request
from engine.models.pocket.codec import CHANNELS, COLUMNS, ROWS
from engine.models.pocket.network import (
    CONDITION,
    CONTROL,
    HISTORY,
    TOKENS,
    PocketNet,
    extra_inputs,
    training_masks,
)
from engine.models.pocket.sampler import PocketDecoder, PocketSampler, PocketWeights

SPEC = find("pocket").spec()
GROUP_SECONDS = SPEC.spans[1] / SPEC.fps
FIRST_WINDOW = 7
"""K of the call that makes the history: at least HISTORY groups, so that nothing of the start image is in it."""


def forwards(net: PocketNet, k: int) -> dict[str, Callable[[], Any]]:
    """Forwards of K groups after HISTORY ones, all of random latents.

    reuse: over kept prefix KV; recompute: the history in the same forward; alone: without a history; diffusers: the transformer
    as diffusers runs it, of the same shape as alone.
    """
    h = HISTORY
    z = torch.randn(1, h + k, CHANNELS, ROWS, COLUMNS)
    control = torch.zeros(1, h + k, CONTROL, ROWS, COLUMNS)
    sigma = torch.full((1, h + k), 0.5)
    flags = torch.cat((torch.ones(1, h), torch.zeros(1, k)), 1)
    condition = torch.zeros(1, CONDITION)
    extra = extra_inputs(torch.zeros(1, h + k, 4, 5), torch.zeros(1, h + k), flags, condition)
    context = net.context(condition)
    index, zero = torch.arange(-h, k).float()[None], torch.zeros(1, h + k)
    whole = net.rotation(index, zero, zero)
    past = net.rotation(index[:, :h], zero[:, :h], zero[:, :h])
    here = net.rotation(index[:, h:], zero[:, h:], zero[:, h:])
    mask, context_mask = training_masks(h, k)
    n = TOKENS * h
    history = WindowCall(past, mask=mask[:n, :n], context_mask=context_mask[:n])
    prefix = net.prefill(z[:, :h], extra[:, :h], context, history, 0.05)
    window = (z[:, h:], control[:, h:], sigma[:, h:], extra[:, h:], context)

    def reuse() -> Any:
        return net(*window, WindowCall(here, prefix, past, None, context_mask[n:]))

    def recompute() -> Any:
        return net(z, control, sigma, extra, context, WindowCall(whole, mask=mask, context_mask=context_mask))

    def alone() -> Any:
        return net(*window, WindowCall(here, context_mask=context_mask[n:]))

    settings = {name: value for name, value in net.wan.config.items() if not name.startswith("_")}
    plain = type(net.wan)(**settings).eval().requires_grad_(False)
    grid, text = torch.randn(1, net.config.stem, k, ROWS, COLUMNS), torch.randn(1, 4, net.config.text)
    steps = torch.full((1, TOKENS * k), 500.0)
    return {
        "reuse": reuse,
        "recompute": recompute,
        "alone": alone,
        "diffusers": partial(plain, grid, steps, text, return_dict=False),
    }


def whole_call(weights: PocketWeights, k: int, steps: int) -> Callable[[], Any]:
    """A call of K groups after a history whose KV it has to prefill first, as after an edit."""
    sampler = PocketSampler(weights)
    prepared = sampler.prepare(Condition(1, "desert"))
    first = Request(0, FIRST_WINDOW, steps, 0, 0, prepared, HistoryPolicy.CLEAN_PREFILL)
    past = sampler.sample(first, lambda step, of: True)
    request = replace(first, branch=FIRST_WINDOW, window=k)

    def call() -> Any:
        sampler.extend(past)  # drops the KV that an earlier call kept
        return sampler.sample(request, lambda step, of: True)

    return call


def sampler(folder: Path, windows: Sequence[int], steps: int, repeats: int) -> list[dict[str, Any]]:
    """A row for each K: medians in seconds of the forwards and of a whole call; T is what the call plays."""
    weights = PocketWeights.load(folder)
    rows = []
    with torch.inference_mode():
        for k in windows:
            row: dict[str, Any] = {"K": k, "steps": steps, "T": k * GROUP_SECONDS}
            for name, call in {**forwards(weights.net, k), "call": whole_call(weights, k, steps)}.items():
                row[name] = timed(call, repeats)["median"]
            row["tokens_ratio"] = (HISTORY + k) / k
            row["call_over_T"] = row["call"] / row["T"]
            rows.append(row)
    return rows


def decode(folder: Path, groups: int, repeats: int) -> dict[str, float]:
    """First group and steady state against the whole clip at once, seconds; speed in multiples of real time."""
    weights = PocketWeights.load(folder)
    decoder = PocketDecoder(weights)
    z = torch.randn(groups, CHANNELS, ROWS, COLUMNS)
    with torch.inference_mode():
        whole = timed(lambda: weights.codec.decode(z), repeats)["median"]
    one = timed(lambda: decoder.decode(Group(0, z[0], None)), 4 * repeats)["median"]
    steady = timed(lambda: [decoder.decode(Group(i, z[i], None)) for i in range(groups)], repeats)["median"] / groups
    share = whole / groups
    return {
        "first_group": one,
        "steady_group": steady,
        "whole_clip_share": share,
        "first_over_share": one / share,
        "real_time": GROUP_SECONDS / steady,
    }
