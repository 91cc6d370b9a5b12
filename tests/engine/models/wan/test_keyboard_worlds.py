"""Worlds that take keys, against what their authors' code does with the same numbers, and under revocations without end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file
from torch import Tensor

from engine.control.conditions import Condition
from engine.models.buttons import ButtonAdapter
from engine.models.interface import HistoryPolicy, Model, Request
from engine.models.schedulers import noise
from engine.models.wan.sampler import WanSampler
from engine.models.wan.tiny import HEAD_DIM
from tests.engine.models.wan.authors import Block, Transformer, causal_mask, rollout
from tests.engine.models.wan.test_prefix import Masked

GO_ON = lambda done, total: True  # noqa: E731
FRAMEWISE = "causal-forcing-pp-2step"
ABOT = "abot-world-0-5b-lf"
REGISTERS = (5, 2)
SEED = 5


def sampler_of(model: Model) -> Any:
    """The sampler, with few registers where it has any: what 1280 of them cost shows nothing here."""
    sampler = model.sampler
    assert isinstance(sampler, WanSampler)
    if sampler.config.registers:
        sampler.config = replace(sampler.config, registers=REGISTERS)
    return sampler


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


# -- ABot-World ----------------------------------------------------------------------------------------------------------


def planes(keys: Sequence[str], size: tuple[int, int]) -> Tensor:
    """set_act: a plane of pixels a key of W A S D I J K L, each four times, for one latent."""
    held = torch.tensor([float(k in keys) for k in "WASDIJKL"])
    return held.repeat_interleave(4)[:, None, None].expand(-1, size[1], size[0])


def test_abot_world_streams_as_its_authors_do(
    load: Callable[..., Model], checkpoints: Callable[[str], Path], tmp_path: Path
) -> None:
    """generate_next_block: blocks of three latents of which the picture is the first, keys a block, five slots of reference tokens."""
    Image.fromarray(np.full((128, 192, 3), 90, np.uint8)).save(tmp_path / "p.png")
    model = load(ABOT, image=tmp_path / "p.png")
    sampler, size = sampler_of(model), (model.spec.width, model.spec.height)
    moves = [(("forward",), "W"), (("left", "turn_right"), "AL"), (("look_up", "back"), "SI")]
    calls = [(3 * i, 3, Condition(i, "a forest", held)) for i, (held, _) in enumerate(moves)]
    ours = played(sampler, calls, HistoryPolicy.KV_REUSE, 4)
    weights = load_file(checkpoints(ABOT) / "diffusion_pytorch_model.safetensors")
    told = torch.stack([planes(keys, size) for _, keys in moves for _ in range(3)])
    text = sampler.prepare(calls[0][2]).text.embedding[0]
    first = sampler._given[0][None]
    blocks = [Block(3, (1000, 750, 500, 250), first), *[Block(3, (1000, 750, 500, 250))] * 2]
    theirs = rollout(blocks, 5.0, Transformer(weights, HEAD_DIM, text, REGISTERS, told), noise_for(sampler))
    assert torch.equal(ours[0], first[0])
    assert torch.allclose(ours, theirs, atol=1e-4)


def test_the_map_of_held_buttons_is_that_of_whole_planes() -> None:
    torch.manual_seed(0)
    adapter = ButtonAdapter(32 * 256, 8, 2)
    keys = {f"act_control_adapter.{k}": v for k, v in adapter.state_dict().items()}
    theirs = Transformer(keys, 8, torch.empty(0))._adapted(planes("WJ", (96, 64))[None])
    mine = adapter(torch.tensor([[1.0, 0, 0, 0, 0, 1, 0, 0]]), 2, 3)
    assert torch.allclose(mine[0].transpose(0, 1), theirs, atol=1e-5)


# -- revocations ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [FRAMEWISE, ABOT])
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
