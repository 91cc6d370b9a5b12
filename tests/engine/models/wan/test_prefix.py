"""A step over [prefix KV | window] against diffusers' own model over the joined sequence, and what a revocation leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from diffusers.models.transformers.transformer_wan import WanAttnProcessor
from torch import Tensor

from engine.control.conditions import Condition
from engine.models.attention import WindowCall, grid_rotary_embedding
from engine.models.interface import Group, HistoryPolicy, Model, Request
from engine.models.wan.backbone import WanBackbone
from engine.models.wan.sampler import WanSampler
from engine.models.wan.tiny import HEAD_DIM, TEXT, transformer

FLOW = "wan2.1-t2v-1.3b-self-forcing"
H, W = 8, 12
TOKENS = (H // 2) * (W // 2)


def yes(step: int, steps: int) -> bool:
    return True


def request(
    branch: int, window: int, prepared: Any, history: HistoryPolicy, seed: int = 1, attempt: int = 0
) -> Request:
    return Request(branch, window, 4, seed, attempt, prepared, history)


class Masked(WanAttnProcessor):
    """diffusers' processor with a mask that its block does not pass on."""

    def __init__(self, mask: Tensor | None) -> None:
        super().__init__()
        self.mask = mask

    def __call__(self, attn, hidden_states, encoder_hidden_states=None, attention_mask=None, rotary_emb=None):  # type: ignore[no-untyped-def]
        return super().__call__(attn, hidden_states, encoder_hidden_states, self.mask, rotary_emb)


def reference(model: Any, z: Tensor, times: Tensor, text: Tensor, mask: Tensor | None) -> Tensor:
    """diffusers' forward over (1, c, f, h, w) with a time for every latent."""
    for block in model.blocks:
        block.attn1.set_processor(Masked(mask))
    t = times.repeat_interleave(TOKENS)[None]
    with torch.no_grad():
        return model(z, t, text, return_dict=False)[0]


def rotation(first: int, latents: int):  # type: ignore[no-untyped-def]
    return grid_rotary_embedding(
        torch.arange(first, first + latents), torch.arange(H // 2), torch.arange(W // 2), HEAD_DIM
    )


@pytest.fixture
def pair() -> tuple[Any, WanBackbone]:
    """The same weights as diffusers runs them and as the sampler does."""
    torch.manual_seed(3)
    model = transformer()
    other = transformer()
    other.load_state_dict(model.state_dict())
    return model, WanBackbone(other)


def test_without_a_prefix_a_forward_is_diffusers_own(pair: tuple[Any, WanBackbone]) -> None:
    model, backbone = pair
    z, text = torch.randn(1, 16, 5, H, W), torch.randn(1, 512, TEXT)
    plain = model(z, torch.tensor([700.0]), text, return_dict=False)[0]
    with torch.no_grad():
        ours = backbone.velocity(z, [0.7] * 5, 0.5, text, WindowCall(rotation(0, 5)))
    assert torch.allclose(plain, ours, atol=1e-5)


@pytest.mark.parametrize(("history", "window"), [(1, 1), (3, 3), (6, 3), (5, 7)])
def test_a_step_over_prefix_and_window_equals_the_joined_sequence(
    pair: tuple[Any, WanBackbone], history: int, window: int
) -> None:
    model, backbone = pair
    past, z, text = torch.randn(1, 16, history, H, W), torch.randn(1, 16, window, H, W), torch.randn(1, 512, TEXT)
    with torch.no_grad():
        prefix = backbone.keep(past, 0.0, text, WindowCall(rotation(0, history)))
        call = WindowCall(rotation(history, window), prefix, rotation(0, history))
        ours = [backbone.velocity(z, [s] * window, 0.0, text, call) for s in (0.9, 0.4)]
    which = torch.arange(history + window).repeat_interleave(TOKENS) >= history
    mask = which[:, None] | ~which[None]  # the window sees all, the history itself
    for sigma, out in zip((0.9, 0.4), ours, strict=True):
        times = torch.tensor([0.0] * history + [1000 * sigma] * window)
        joined = reference(model, torch.cat((past, z), 2), times, text, mask)
        assert torch.allclose(joined[:, :, history:], out, atol=1e-5)


def test_a_clean_first_latent_is_diffusers_per_token_timestep(pair: tuple[Any, WanBackbone]) -> None:
    model, backbone = pair
    z, text = torch.randn(1, 16, 4, H, W), torch.randn(1, 512, TEXT)
    plain = reference(model, z, torch.tensor([0.0, 800.0, 800.0, 800.0]), text, None)
    with torch.no_grad():
        ours = backbone.velocity(z, [0.0, 0.8, 0.8, 0.8], 0.5, text, WindowCall(rotation(0, 4)))
    assert torch.allclose(plain, ours, atol=1e-5)


def test_positions_may_be_rebased(pair: tuple[Any, WanBackbone]) -> None:
    """Only differences of positions count: what lies 5,000 latents on is as what lies at the start."""
    _, backbone = pair
    past, z, text = torch.randn(1, 16, 3, H, W), torch.randn(1, 16, 3, H, W), torch.randn(1, 512, TEXT)
    with torch.no_grad():
        prefix = backbone.keep(past, 0.0, text, WindowCall(rotation(0, 3)))
        near = backbone.velocity(z, [0.5] * 3, 0.0, text, WindowCall(rotation(3, 3), prefix, rotation(0, 3)))
        far = backbone.velocity(z, [0.5] * 3, 0.0, text, WindowCall(rotation(5003, 3), prefix, rotation(5000, 3)))
    assert torch.allclose(near, far, atol=1e-4)


# -- the sampler -------------------------------------------------------------------------------------------------------


def begun(model: Model, history: HistoryPolicy, window: int = 6) -> tuple[WanSampler, Any, list[Group]]:
    """A session of one call, settled and adopted."""
    sampler = model.sampler
    assert isinstance(sampler, WanSampler)
    prepared = sampler.prepare(Condition(0, "snow forest"))
    groups = sampler.sample(request(0, window, prepared, history), yes)
    sampler.prefill_chunk(groups, history)
    sampler.extend(groups)
    return sampler, prepared, groups


def test_a_call_without_history_is_the_same_under_every_policy(load: Callable[..., Model]) -> None:
    first = {}
    for history in (HistoryPolicy.KV_REUSE, HistoryPolicy.CLEAN_PREFILL, HistoryPolicy.RECACHE):
        _, _, groups = begun(load(FLOW), history)
        first[history] = torch.stack([g.latent for g in groups])
    assert all(torch.equal(x, first[HistoryPolicy.KV_REUSE]) for x in first.values())


def test_under_clean_prefill_a_revoked_suffix_leaves_no_trace(load: Callable[..., Model]) -> None:
    """Bit-equal to a session that never sampled it."""
    policy = HistoryPolicy.CLEAN_PREFILL
    sampler, prepared, groups = begun(load(FLOW), policy)
    other = load(FLOW).sampler
    assert isinstance(other, WanSampler)
    short = tuple(g.latent for g in groups[:3])
    state = groups[0].state
    other.extend(
        [Group(g.position, g.latent, type(state)(g.state.control, g.state.text, 0, short)) for g in groups[:3]]
    )
    again = other.prepare(Condition(0, "snow forest"))
    with_suffix = sampler.sample(request(3, 5, prepared, policy), yes)
    without = other.sample(request(3, 5, again, policy), yes)
    for a, b in zip(with_suffix, without, strict=True):
        assert torch.equal(a.latent, b.latent)


def test_under_kv_reuse_the_suffix_speaks_through_kept_entries(load: Callable[..., Model]) -> None:
    """The difference to a clean prefill of the same latents is real and small; the policy's name in the log tells them apart."""
    after = {}
    for policy in (HistoryPolicy.KV_REUSE, HistoryPolicy.CLEAN_PREFILL):
        sampler, prepared, _ = begun(load(FLOW), policy)
        after[policy] = torch.stack([g.latent for g in sampler.sample(request(3, 5, prepared, policy), yes)])
    gap = (after[HistoryPolicy.KV_REUSE] - after[HistoryPolicy.CLEAN_PREFILL]).abs().max()
    assert 0 < gap < 0.5


def test_kept_entries_are_the_same_when_they_are_made_late(load: Callable[..., Model]) -> None:
    policy = HistoryPolicy.KV_REUSE
    sampler, prepared, _ = begun(load(FLOW), policy)
    lazy = load(FLOW).sampler
    assert isinstance(lazy, WanSampler)
    again = lazy.prepare(Condition(0, "snow forest"))
    lazy.extend(lazy.sample(request(0, 6, again, policy), yes))  # not settled
    for a, b in zip(
        sampler.sample(request(3, 4, prepared, policy), yes),
        lazy.sample(request(3, 4, again, policy), yes),
        strict=True,
    ):
        assert torch.allclose(a.latent, b.latent, atol=1e-6)


def counted(sampler: WanSampler) -> list[None]:
    """Has an item for each forward of the sampler's transformer from now on."""
    forwards: list[None] = []
    sampler._experts[0].model.register_forward_hook(lambda *unused: forwards.append(None))
    return forwards


def test_idle_prefill_changes_nothing_but_when_it_is_done(load: Callable[..., Model]) -> None:
    policy = HistoryPolicy.CLEAN_PREFILL
    ahead, prepared, _ = begun(load(FLOW), policy)
    late, again, _ = begun(load(FLOW), policy)
    done = 0
    while ahead.prefill_step(6, policy):
        done += 1
    assert done == 2  # two blocks of three
    forwards = counted(ahead)
    one = ahead.sample(request(6, 3, prepared, policy), yes)
    assert len(forwards) == 4  # the steps and nothing else
    for a, b in zip(one, late.sample(request(6, 3, again, policy), yes), strict=True):
        assert torch.equal(a.latent, b.latent)


def test_each_latent_is_prefilled_once(load: Callable[..., Model]) -> None:
    policy = HistoryPolicy.CLEAN_PREFILL
    sampler, prepared, _ = begun(load(FLOW), policy, 3)
    forwards = counted(sampler)
    for j in range(3, 30, 3):
        forwards.clear()
        groups = sampler.sample(request(j, 3, prepared, policy), yes)
        assert len(forwards) == 4 + 1
        sampler.extend(groups)
        sampler.evict_before(j)


def test_after_an_edit_recache_equals_a_cache_built_under_the_new_prompt(load: Callable[..., Model]) -> None:
    """Not the old prompt's (LongLive 12), and the sink is kept."""
    policy = HistoryPolicy.RECACHE
    sampler, _, _ = begun(load(FLOW), policy, 3)
    for j in range(3, 27, 3):
        old = sampler.prepare(Condition(0, "snow forest"))
        sampler.extend(sampler.sample(request(j, 3, old, policy), yes))
        sampler.evict_before(j)
    new = sampler.prepare(Condition(1, "desert at dusk"))
    after = sampler.sample(request(27, 3, new, policy), yes)
    fresh = load(FLOW).sampler
    assert isinstance(fresh, WanSampler)
    scratch = fresh.prepare(Condition(0, "desert at dusk"))
    fresh.extend([sampler._groups[p] for p in sorted(sampler._groups)])
    built = fresh.sample(request(27, 3, scratch, policy), yes)
    for a, b in zip(after, built, strict=True):
        assert torch.equal(a.latent, b.latent)
    positions = sampler._stores[0, 0].positions
    assert positions[:3] == [0, 1, 2]  # the sink
    kept_old, _, _ = begun(load(FLOW), HistoryPolicy.CLEAN_PREFILL, 3)
    assert not torch.equal(
        built[0].latent, kept_old.sample(request(3, 3, scratch, HistoryPolicy.CLEAN_PREFILL), yes)[0].latent
    )


def test_a_failed_call_or_a_revocation_needs_no_undoing(load: Callable[..., Model]) -> None:
    sampler, prepared, _ = begun(load(FLOW), HistoryPolicy.KV_REUSE)
    once = sampler.sample(request(3, 4, prepared, HistoryPolicy.KV_REUSE), yes)
    again = sampler.sample(request(3, 4, prepared, HistoryPolicy.KV_REUSE), yes)
    assert all(torch.equal(a.latent, b.latent) for a, b in zip(once, again, strict=True))
    other = sampler.sample(request(3, 4, prepared, HistoryPolicy.KV_REUSE, attempt=1), yes)
    assert not torch.equal(once[0].latent, other[0].latent)


def test_two_thousand_latents_leave_memory_and_positions_flat(load: Callable[..., Model]) -> None:
    """Beyond the 1,024 entries of diffusers' rotary table."""
    model = load(FLOW, (32, 32))
    sampler, prepared, _ = begun(model, HistoryPolicy.KV_REUSE, 8)
    sizes = []
    for j in range(8, 2000, 8):
        groups = sampler.sample(Request(j, 8, 1, 1, 0, prepared, HistoryPolicy.KV_REUSE), yes)
        sampler.prefill_chunk(groups, HistoryPolicy.KV_REUSE)
        sampler.extend(groups)
        sampler.evict_before(j)
        sizes.append((sampler._stores[0, 0].nbytes, len(sampler._groups)))
    assert sizes[-1] == sizes[10]
    assert torch.isfinite(groups[-1].latent).all()


def test_a_prefix_that_is_not_there_is_an_error(load: Callable[..., Model]) -> None:
    sampler, prepared, _ = begun(load(FLOW), HistoryPolicy.KV_REUSE)
    with pytest.raises(KeyError, match="cannot continue"):
        sampler.sample(request(9, 3, prepared, HistoryPolicy.KV_REUSE), yes)
