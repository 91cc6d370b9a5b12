"""Worlds that take keys, against what their authors' code does with the same numbers, and under revocations without end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from engine.control.conditions import Condition
from engine.models.interface import HistoryPolicy, Model, Request
from engine.models.schedulers import noise
from engine.models.wan.sampler import WanSampler
from tests.engine.models.wan.authors import Block, causal_mask, rollout
from tests.engine.models.wan.test_prefix import Masked

GO_ON = lambda done, total: True  # noqa: E731
FRAMEWISE = "causal-forcing-pp-2step"
SEED = 5


def sampler_of(model: Model) -> Any:
    assert isinstance(model.sampler, WanSampler)
    return model.sampler


def played(sampler: Any, calls: Sequence[tuple[int, int, Condition]], history: HistoryPolicy, steps: int) -> Tensor:
    """The session's latents after calls (branch, K, condition)."""
    timeline: dict[int, Tensor] = {}
    for branch, k, condition in calls:
        request = Request(branch, k, steps, SEED, 0, sampler.prepare(condition), history)
        groups = sampler.sample(request, GO_ON)
        sampler.prefill_chunk(groups, history)
        sampler.extend(groups)
        timeline = {p: z for p, z in timeline.items() if p < branch} | {g.position: g.latent for g in groups}
    return torch.stack([timeline[p] for p in sorted(timeline)])


def noise_for(sampler: Any) -> Callable[[int, int], Tensor]:
    return lambda position, step: noise(sampler._shape, SEED, position, 0, step)


# -- Causal-Forcing++ ----------------------------------------------------------------------------------------------------


def test_the_first_latent_takes_four_steps_and_the_others_two(load: Callable[..., Model], small_wan: Any) -> None:
    """configs/causal_forcing_dmd_framewise_2step.yaml: denoising_step_list_first_chunk 1000 750 500 250, then 1000 500."""
    sampler = sampler_of(load(FRAMEWISE))
    prompt = Condition(0, "a forest")
    text = sampler.prepare(prompt).text.embedding
    plain = small_wan(FRAMEWISE)

    def forward(z: Tensor, times: Tensor, sizes: Sequence[int]) -> Tensor:
        tokens = z.shape[2] // 2 * (z.shape[3] // 2)
        for block in plain.blocks:
            block.attn1.set_processor(Masked(causal_mask(sizes, tokens)))
        with torch.no_grad():
            return plain(z.transpose(0, 1)[None], times.repeat_interleave(tokens)[None], text, return_dict=False)[0][
                0
            ].transpose(0, 1)

    blocks = [Block(1, (1000, 750, 500, 250)), *[Block(1, (1000, 500))] * 3]
    theirs = rollout(blocks, 5.0, forward, noise_for(sampler))
    calls = [(0, 1, prompt), (1, 1, Condition(1, "snow")), (1, 1, prompt), (2, 1, prompt), (3, 1, prompt)]
    ours = played(sampler, calls, HistoryPolicy.KV_REUSE, 2)
    assert torch.allclose(ours, theirs, atol=1e-4)


# -- revocations ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [FRAMEWISE])
def test_two_hundred_revocations_leave_no_trace(name: str, load: Callable[..., Model]) -> None:
    """A call after them is that of a session that was told of the retained latents only."""
    model = load(name)
    sampler, history = sampler_of(model), HistoryPolicy.CLEAN_PREFILL
    rng = np.random.default_rng(0)
    keys = ("forward", "left", "turn_right", "look_up")
    timeline: dict[int, Any] = {}
    delivered = 0

    def call(at: Any, branch: int, i: int) -> list[Any]:
        held = tuple(k for j, k in enumerate(keys) if i >> j & 1)
        prepared = at.prepare(Condition(i, "snow", held))
        return at.sample(Request(branch, model.spec.window, 1, SEED, i, prepared, history), GO_ON)

    for i in range(200):
        branch = int(rng.integers(delivered, len(timeline) + 1))
        groups = call(sampler, branch, i)
        assert [g.position for g in groups] == list(range(branch, branch + model.spec.window))
        sampler.extend(groups)
        timeline = {p: g for p, g in timeline.items() if p < branch} | {g.position: g for g in groups}
        delivered = min(i // 20, branch)
        sampler.evict_before(delivered)
    branch = delivered + 1
    assert 5 < branch < sampler.config.history, "what is made anew is made of all that there was"
    after = call(sampler, branch, 7)
    fresh = sampler_of(load(name))
    fresh.extend([timeline[p] for p in range(branch)])
    for ours, theirs in zip(after, call(fresh, branch, 7), strict=True):
        assert torch.allclose(ours.latent, theirs.latent, atol=1e-4)
