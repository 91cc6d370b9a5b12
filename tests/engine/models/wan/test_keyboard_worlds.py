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
from engine.models import rays
from engine.models.buttons import ButtonAdapter
from engine.models.interface import HistoryPolicy, Model, Request
from engine.models.schedulers import make_solver, noise
from engine.models.wan.sampler import WanSampler
from engine.models.wan.tiny import HEAD_DIM
from tests.engine.models.wan.authors import (
    Block,
    FlowMatch,
    Transformer,
    UniPcTable,
    causal_mask,
    plucker,
    rollout,
    unipc_rollout,
)
from tests.engine.models.wan.test_prefix import Masked

GO_ON = lambda done, total: True  # noqa: E731
FRAMEWISE = "causal-forcing-pp-2step"
ABOT = "abot-world-0-5b-lf"
LINGBOT = "lingbot-world-v2-1.3b"
LONGLIVE = "longlive-2.0-5b"
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
    theirs = rollout(blocks, FlowMatch(5.0), forward, noise_for(sampler))
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
    theirs = rollout(blocks, FlowMatch(5.0), Transformer(weights, HEAD_DIM, text, REGISTERS, told), noise_for(sampler))
    assert torch.equal(ours[0], first[0])
    assert torch.allclose(ours, theirs, atol=1e-4)


def test_the_map_of_held_buttons_is_that_of_whole_planes() -> None:
    torch.manual_seed(0)
    adapter = ButtonAdapter(32 * 256, 8, 2)
    keys = {f"act_control_adapter.{k}": v for k, v in adapter.state_dict().items()}
    theirs = Transformer(keys, 8, torch.empty(0))._adapted(planes("WJ", (96, 64))[None])
    mine = adapter(torch.tensor([[1.0, 0, 0, 0, 0, 1, 0, 0]]), 2, 3)
    assert torch.allclose(mine[0].transpose(0, 1), theirs, atol=1e-5)


# -- LingBot-World-v2 ------------------------------------------------------------------------------------------------------


def walked(*ways: tuple[float, float, float, float]) -> Tensor:
    """Absolute poses, (latents, 4, 4), of a camera that starts at the origin: how far it goes right and ahead, how far it turns right and
    up (degrees), latent by latent. It turns before it goes."""
    poses, yaw, pitch, place = [torch.eye(4)], 0.0, 0.0, torch.zeros(3)
    for right, ahead, turn, up in ways:
        yaw, pitch = yaw + np.deg2rad(turn), pitch + np.deg2rad(up)
        level = torch.tensor([[np.cos(yaw), 0, np.sin(yaw)], [0, 1, 0], [-np.sin(yaw), 0, np.cos(yaw)]])
        tilt = torch.tensor([[1, 0, 0], [0, np.cos(pitch), -np.sin(pitch)], [0, np.sin(pitch), np.cos(pitch)]])
        place = place + level.float() @ torch.tensor([right, 0.0, ahead])
        pose = torch.eye(4)
        pose[:3, :3], pose[:3, 3] = (level @ tilt).float(), place
        poses.append(pose)
    return torch.stack(poses)


def test_lingbot_world_streams_as_its_authors_do(
    load: Callable[..., Model], checkpoints: Callable[[str], Path], tmp_path: Path
) -> None:
    """_generate_causal_fast: chunks of four latents, a cache of 18 with a sink of 6, rays of each latent's pose relative to the one before,
    the picture as extra channels. Longer than the cache, and with a block that was revoked."""
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (64, 96, 3), np.uint8)).save(tmp_path / "p.png")
    model = load(LINGBOT, image=tmp_path / "p.png")
    sampler, size = sampler_of(model), (model.spec.width, model.spec.height)
    step = 0.05
    moves = [
        (("forward",), (0, step, 0, 0), 3),
        (("left", "turn_right"), (-step, 0, 6, 0), 4),
        (("look_up", "back"), (0, -step, 0, 4), 4),
        ((), (0, 0, 0, 0), 4),
        (("right", "turn_left", "look_down"), (step, 0, -6, -4), 4),
        (("forward",), (0, step, 0, 0), 4),
    ]
    calls = [(4 * i, 4, Condition(i, "a forest", held)) for i, (held, _, _) in enumerate(moves)]
    calls.insert(2, (4, 4, Condition(9, "snow", ("forward", "right"))))
    calls[1:3] = reversed(calls[1:3])
    ours = played(sampler, calls, HistoryPolicy.KV_REUSE, 4)
    weights: dict[str, Tensor] = {}
    for file in sorted(checkpoints(LINGBOT).glob("model-*.safetensors")):
        weights |= load_file(file)
    poses = walked(*(way for _, way, times in moves for _ in range(times)))
    n = len(poses)
    picture = sampler._vae.encode_before_grey(np.asarray(Image.open(tmp_path / "p.png")), n)
    frames = torch.zeros(1 + 4 * (n - 1), *picture.shape[2:])
    frames[0] = 1
    mask = torch.cat((frames[:1].repeat(4, 1, 1), frames[1:])).unflatten(0, (n, 4))
    told = Transformer(
        weights,
        HEAD_DIM,
        sampler.prepare(calls[0][2]).text.embedding[0],
        image=torch.cat((mask, picture), 1),
        plucker=plucker(poses, (502.9116, 503.10812, 415.77786, 239.77779), *size[::-1]),
        kept=(18, 6),
    )
    theirs = rollout([Block(4, (1000, 750, 500, 250))] * len(moves), UniPcTable(5.0), told, noise_for(sampler))
    assert len(ours) == n == 24
    assert torch.allclose(ours, theirs, atol=1e-4)


def test_the_table_of_whole_timesteps_is_its_authors() -> None:
    """Neighbours share a timestep; x_0 is taken at the first, noise put back to the second of them."""
    theirs = UniPcTable(10.0)
    ours = make_solver("table-dmd", 4, 10.0, levels=(1000, 750, 500, 250))
    told = theirs.timesteps[torch.tensor((0, 250, 500, 750))]
    assert [1000 * t for t in ours.timesteps] == pytest.approx([*told.tolist(), 0])
    assert ours.sigmas == pytest.approx([*(float(theirs.noising(t)) for t in told), 0.0], abs=1e-6)
    x, v, fresh = torch.ones(1), torch.full((1,), 0.5), torch.full((1,), 3.0)
    clean, after = 1 - 0.5 * theirs.clearing(told[1]), theirs.noising(told[2])
    assert torch.allclose(ours.step(1, x, v, lambda: fresh), (1 - after) * clean + after * fresh, atol=1e-6)


def test_looking_up_ends_before_the_zenith_and_walking_stays_level() -> None:
    motion = rays.start_motion()
    for _ in range(40):
        motion = rays.onward(motion, ("look_up", "forward"))
    assert np.rad2deg(np.arcsin(-motion[0][1, 2])) == pytest.approx(84)
    assert motion[0][:3, 3] == pytest.approx([0, 0, 40])


# -- LongLive 2.0 --------------------------------------------------------------------------------------------------------


def test_longlive_2_streams_as_its_authors_do(
    load: Callable[..., Model], checkpoints: Callable[[str], Path], tmp_path: Path
) -> None:
    """configs/inference_i2v.yaml: blocks of eight latents of which the picture is the first, four steps of UniPC, a cache of 32 with a sink
    of 8. Longer than the cache, and with a block that was revoked."""
    Image.fromarray(np.full((128, 192, 3), 90, np.uint8)).save(tmp_path / "p.png")
    sampler = sampler_of(load(LONGLIVE, image=tmp_path / "p.png"))
    prompt = Condition(0, "a forest")
    calls = [(8 * i, 8, prompt) for i in range(5)]
    calls.insert(1, (8, 8, Condition(1, "snow")))
    ours = played(sampler, calls, HistoryPolicy.KV_REUSE, 4)
    weights = torch.load(checkpoints(LONGLIVE) / "model_bf16.pt", weights_only=True)["generator"]
    weights = {k.removeprefix("model."): v for k, v in weights.items()}
    told = Transformer(weights, HEAD_DIM, sampler.prepare(prompt).text.embedding[0], kept=(32, 8))
    picture = sampler._given[0][None]
    blocks = [Block(8, (), picture), *[Block(8, ())] * 4]
    theirs = unipc_rollout(blocks, 5.0, told, noise_for(sampler))
    assert len(ours) == 40 and torch.equal(ours[0], picture[0])
    assert torch.allclose(ours, theirs, atol=1e-4)


# -- revocations ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [FRAMEWISE, ABOT, LINGBOT, LONGLIVE])
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
