"""Retained-prefix KV of the pocket network: exact by construction, and without a trace of what was revoked."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from engine.control.conditions import Condition
from engine.models.attention import WindowCall
from engine.models.interface import ConditionError, Group, HistoryPolicy, Request, Stopped
from engine.models.pocket import camera
from engine.models.pocket.codec import CHANNELS, COLUMNS, ROWS, Codec
from engine.models.pocket.depth import DepthNet
from engine.models.pocket.network import (
    ATTRIBUTES,
    CONDITION,
    CONTROL,
    HISTORY,
    NetworkConfig,
    PocketNet,
    extra_inputs,
    training_masks,
)
from engine.models.pocket.prompt_reader import Reader
from engine.models.pocket.sampler import PocketSampler, PocketWeights
from engine.models.pocket.sampling_config import HISTORY_SIGMA
from engine.models.schedulers import noise


@pytest.fixture(scope="module")
def weights() -> PocketWeights:
    """Small and random."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = PocketNet(NetworkConfig(width=128, layers=3, stem=32))
    with torch.no_grad():
        for p in net.parameters():
            p.add_(0.05 * torch.randn_like(p))
    codec = Codec()
    codec.basis.copy_(torch.linalg.qr(torch.randn(codec.basis.shape))[0])
    starts = torch.randn(2, *ATTRIBUTES, CHANNELS, ROWS, COLUMNS)
    return PocketWeights(net.eval(), codec.eval(), Reader().eval(), DepthNet().eval(), starts, {})


def request(
    sampler: PocketSampler, branch: int, window: int, keys: tuple[str, ...] = (), prompt: str = "desert", **more: int
) -> Request:
    prepared = sampler.prepare(Condition(1, prompt, keys))
    return Request(branch, window, more.get("steps", 2), more.get("seed", 3), 0, prepared, HistoryPolicy.CLEAN_PREFILL)


def yes(step: int, steps: int) -> bool:
    return True


def latents(groups: list[Group]) -> torch.Tensor:
    return torch.stack([g.latent for g in groups])


def test_prefix_and_window_equal_the_joined_sequence_under_the_block_mask(weights: PocketWeights) -> None:
    net, h, k = weights.net, HISTORY, 4
    torch.manual_seed(1)
    z = torch.randn(1, h + k, CHANNELS, ROWS, COLUMNS)
    control = torch.cat((torch.zeros(1, h, CONTROL, ROWS, COLUMNS), torch.randn(1, k, CONTROL, ROWS, COLUMNS)), 1)
    sigma = torch.cat((torch.full((1, h), HISTORY_SIGMA), torch.full((1, k), 0.7)), 1)
    motion, pitch = torch.randn(1, h + k, 4, 5), torch.randn(1, h + k)
    condition = torch.rand(1, CONDITION)
    flags = torch.cat((torch.ones(1, h), torch.zeros(1, k)), 1)
    extra = extra_inputs(motion, pitch, flags, condition)
    index, yaw = torch.arange(-h, k).float()[None], 30 * torch.randn(1, h + k)
    mask, context_mask = training_masks(h, k)
    context = net.context(condition)
    with torch.inference_mode():
        whole = net(
            z,
            control,
            sigma,
            extra,
            context,
            WindowCall(net.rotation(index, yaw, pitch), mask=mask, context_mask=context_mask),
        )
        tokens = 40
        first = WindowCall(
            net.rotation(index[:, :h], yaw[:, :h], pitch[:, :h]),
            mask=mask[: h * tokens, : h * tokens],
            context_mask=context_mask[: h * tokens],
        )
        prefix = net.prefill(z[:, :h], extra[:, :h], context, first, HISTORY_SIGMA)
        second = WindowCall(
            net.rotation(index[:, h:], yaw[:, h:], pitch[:, h:]),
            prefix,
            first.rotary,
            None,
            context_mask[h * tokens :],
        )
        window = net(z[:, h:], control[:, h:], sigma[:, h:], extra[:, h:], context, second)
    assert torch.allclose(window, whole[:, h:], atol=1e-5, rtol=1e-5)


def test_the_history_does_not_depend_on_the_prompt(weights: PocketWeights) -> None:
    """Nothing has to be recached after an edit: an old prompt does not speak through the history."""
    prefixes = []
    for prompt in ("desert", "city at night"):
        sampler = PocketSampler(weights)
        sampler.extend(sampler.sample(request(sampler, 0, 6), yes))
        sampler.sample(request(sampler, 6, 2, prompt=prompt), yes)
        prefixes.append([kv for entry in sampler._prefix._kept.values() for layer in entry.layers for kv in layer])
    assert prefixes[0]
    for a, b in zip(*prefixes, strict=True):
        assert torch.equal(a, b)


def test_a_revoked_suffix_leaves_no_trace(weights: PocketWeights) -> None:
    one, two = PocketSampler(weights), PocketSampler(weights)
    made = one.sample(request(one, 0, 9), yes)
    one.extend(made)
    two.sample(request(two, 0, 9), yes)
    two.extend(made[:4])
    one.sample(request(one, 9, 3, ("turn_left",)), yes)
    a = latents(one.sample(request(one, 4, 5, ("turn_right",)), yes))
    b = latents(two.sample(request(two, 4, 5, ("turn_right",)), yes))
    assert torch.equal(a, b)


def test_resampling_a_position_after_it_changed_uses_the_new_history(weights: PocketWeights) -> None:
    sampler, fresh = PocketSampler(weights), PocketSampler(weights)
    sampler.extend(sampler.sample(request(sampler, 0, 6), yes))
    sampler.sample(request(sampler, 6, 2), yes)
    changed = sampler.sample(request(sampler, 3, 3, ("back",)), yes)
    sampler.extend(changed)
    fresh.extend([sampler._groups[p] for p in range(-1, 3)])
    fresh.extend(changed)
    assert torch.equal(
        latents(sampler.sample(request(sampler, 6, 2), yes)), latents(fresh.sample(request(fresh, 6, 2), yes))
    )


def test_the_same_seed_gives_the_same_latents_bit_for_bit_and_another_does_not(weights: PocketWeights) -> None:
    results = []
    for seed in (3, 3, 4):
        sampler = PocketSampler(weights)
        sampler.extend(sampler.sample(request(sampler, 0, 3, seed=seed), yes))
        results.append(latents(sampler.sample(request(sampler, 3, 4, ("forward",), seed=seed), yes)))
    assert torch.equal(results[0], results[1])
    assert not torch.equal(results[0], results[2])


def test_noise_is_a_function_of_seed_position_and_attempt() -> None:
    assert torch.equal(noise((3,), 1, 2, 0), noise((3,), 1, 2, 0))
    for other in (noise((3,), 2, 2, 0), noise((3,), 1, 3, 0), noise((3,), 1, 2, 1), noise((3,), 1, 2, 0, 1)):
        assert not torch.equal(noise((3,), 1, 2, 0), other)


def test_memory_is_bounded_however_long_the_session(weights: PocketWeights) -> None:
    sampler = PocketSampler(weights)
    for n in range(12):
        sampler.extend(sampler.sample(request(sampler, 5 * n, 5, ("forward",), steps=1), yes))
        sampler.evict_before(5 * n + 4)
    assert len(sampler._groups) <= 2 * HISTORY + 5
    assert len(sampler._prefix) <= 2 * HISTORY + 5


def test_sampling_stops_at_a_step_when_it_is_asked_to_and_changes_nothing(weights: PocketWeights) -> None:
    sampler = PocketSampler(weights)
    sampler.extend(sampler.sample(request(sampler, 0, 3), yes))
    kept = dict(sampler._groups)
    with pytest.raises(Stopped):
        sampler.sample(request(sampler, 2, 4, steps=4), lambda step, steps: step < 2)
    assert sampler._groups == kept


def test_the_pose_is_integrated_from_the_branch_so_a_revocation_rewinds_it(weights: PocketWeights) -> None:
    sampler = PocketSampler(weights)
    sampler.extend(sampler.sample(request(sampler, 0, 8, ("turn_right", "look_up")), yes))
    groups = sampler.sample(request(sampler, 2, 2), yes)
    before = sampler._groups[1].state
    assert groups[0].state.pitch == before.place.pitch
    expected = camera.integrate(before.motion[-1], np.zeros((8, 5), np.float32)).reshape(2, 4, 5)
    assert np.array_equal(np.stack([g.state.motion for g in groups]), expected)


def test_impossible_windows_and_prompts_are_refused(weights: PocketWeights) -> None:
    sampler = PocketSampler(weights)
    with pytest.raises(ValueError, match="K = 22 is out of range"):
        sampler.sample(request(sampler, 0, 22), yes)
    with pytest.raises(ConditionError, match="too long"):
        sampler.prepare(Condition(1, "sand " * 200))
