"""Attention over ranks against one process: every split, odd token counts, prefix KV, revocation, cameras, messages."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import torch

from engine.control.conditions import Condition
from engine.distributed.split import Split
from engine.distributed.usp import UnifiedSequenceParallel, make_groups
from engine.loading import loader
from engine.models.attention import WindowCall, grid_rotary_embedding
from engine.models.attention_kernels import attend_lse
from engine.models.interface import HistoryPolicy, Request
from engine.models.load_options import LoadOptions
from engine.models.tiny import write_tiny
from engine.models.wan.backbone import WanBackbone
from engine.models.wan.sampler import WanSampler
from engine.models.wan.tiny import HEAD_DIM, LAYERS, TEXT, transformer
from tests.engine.distributed.ranks import on_ranks

SPLITS = [Split(2, 1), Split(1, 2), Split(4, 1), Split(2, 2), Split(1, 4)]


def test_partial_attention_and_its_log_sum_exp_merge_to_the_whole() -> None:
    q, k, v = (torch.randn(2, n, 3, 16) for n in (5, 11, 11))
    whole, lse = attend_lse(q, k, v)
    assert torch.allclose(lse, torch.logsumexp(torch.einsum("bqhd,bkhd->bqhk", q, k) / 4, -1), atol=1e-5)
    parts = [attend_lse(q, k[:, a:b], v[:, a:b]) for a, b in ((0, 4), (4, 11))]
    weight = torch.softmax(torch.stack([p[1] for p in parts]), 0)[..., None]
    assert torch.allclose((weight * torch.stack([p[0] for p in parts])).sum(0), whole, atol=1e-5)


def forwards(split: Split | None, rows: int, columns: int) -> tuple[list[torch.Tensor], Counter, list[int]]:
    """A prefix of 3 latents, then three steps over it and a window of 2; with messages sent in each step."""
    torch.manual_seed(3)
    model = transformer()
    backbone = WanBackbone(model)
    parallel = UnifiedSequenceParallel(make_groups(split)) if split else None
    if parallel is not None:
        backbone.shard(parallel)

    def rotation(first: int, n: int):  # type: ignore[no-untyped-def]
        return grid_rotary_embedding(
            torch.arange(first, first + n), torch.arange(rows), torch.arange(columns), HEAD_DIM
        )

    torch.manual_seed(4)
    past, z = torch.randn(1, 16, 3, 2 * rows, 2 * columns), torch.randn(1, 16, 2, 2 * rows, 2 * columns)
    text = torch.randn(1, 512, TEXT)
    out, bytes_a_step = [], []
    with torch.inference_mode():
        out.append(backbone.velocity(past, [0.0] * 3, 0.0, text, WindowCall(rotation(0, 3), latents=3)))
        prefix = backbone.keep(past, 0.0, text, WindowCall(rotation(0, 3), latents=3))
        call = WindowCall(rotation(3, 2), prefix, rotation(0, 3), latents=2)
        for sigma in (0.9, 0.5, 0.2):
            if parallel:
                parallel.traffic.clear()
            out.append(backbone.velocity(z, [sigma] * 2, 0.0, text, call))
            out.append(backbone.velocity(z, [0.0, sigma], 0.0, text, WindowCall(rotation(0, 2), latents=2)))
            if parallel:
                bytes_a_step.append(sum(parallel.traffic.sent.values()))
    return out, parallel.traffic.messages if parallel else Counter(), bytes_a_step


GRIDS = [(4, 6), (3, 5), (1, 3)]
"""24 tokens divide by 4; 15 and 3 do not: shards are padded, and some ranks have nothing but padding."""


def of_all_grids(split: Split | None) -> list[list[torch.Tensor]]:
    return [forwards(split, *grid)[0] for grid in GRIDS]


@pytest.mark.parametrize("split", SPLITS, ids=str)
def test_every_split_and_token_count_gives_the_single_process_result(split: Split) -> None:
    alone = of_all_grids(None)
    for made in on_ranks(split.ranks, of_all_grids, split):
        for grid, one in zip(made, alone, strict=True):
            assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(one, grid, strict=True))


@pytest.mark.parametrize("split", [Split(2, 1), Split(2, 2)], ids=str)
def test_messages_of_a_step_are_those_of_theory(split: Split) -> None:
    """A layer: q, k, v and the output by all-to-all; in the ring dimension one gather of queries and one exchange of partials.
    The prefix is not among them: a step sends the same bytes with it and without."""
    rows, columns = 4, 6
    for _, messages, sent in on_ranks(split.ranks, forwards, split, rows, columns):
        forwards_counted = 2
        assert messages["ulysses"] == 4 * LAYERS * forwards_counted
        assert messages["gather"] == forwards_counted
        assert messages.get("queries", 0) == (LAYERS * forwards_counted if split.ring > 1 else 0)
        assert messages.get("partials", 0) == messages.get("queries", 0)
        window = 2 * rows * columns * 4 * HEAD_DIM * 4 // split.ranks  # bytes of a rank's share of q, k or v
        theory = LAYERS * 4 * window * (1 - 1 / split.ulysses) + window * (split.ranks - 1)
        if split.ring > 1:
            partial = window * split.ring * (HEAD_DIM + 1) / HEAD_DIM
            theory += LAYERS * (window * (split.ring - 1) + partial * (1 - 1 / split.ring))
        assert sent == [pytest.approx(2 * theory)] * 3


# -- whole calls of the sampler ------------------------------------------------------------------------------------------


def session(folder: str, split: Split | None, history: str, size: tuple[int, int]) -> list[torch.Tensor]:
    """Calls with a revocation, a sliding window and an edit."""
    sampler = loader(folder, LoadOptions(device="cpu", threads=1), size=size)(lambda a, b: None).sampler
    assert isinstance(sampler, WanSampler)
    if split is not None:
        groups = make_groups(split)
        sampler.shard(lambda: UnifiedSequenceParallel(groups))
    policy = HistoryPolicy(history)
    out = []
    for i, (branch, k) in enumerate([(0, 5), (3, 4), (7, 4), (9, 5), (14, 7), (21, 3), (23, 3)]):
        branch = min(branch, max(sampler._groups, default=-1) + 1)  # image policies make fewer groups than K
        prepared = sampler.prepare(
            Condition(i, "snow" if i < 4 else "desert", ("forward", "turn_right") if i % 2 else ())
        )
        made = sampler.sample(Request(branch, k, 2, 1, 0, prepared, policy), lambda a, b: True)
        sampler.prefill_chunk(made, policy)
        sampler.extend(made)
        sampler.evict_before(branch)
        out += [g.latent for g in made]
    return out


@pytest.mark.parametrize(
    ("name", "history", "split", "size"),
    [
        ("wan2.1-t2v-1.3b-self-forcing", "kv-reuse", Split(2, 1), (96, 64)),
        ("wan2.1-t2v-1.3b-self-forcing", "clean-prefill", Split(2, 2), (96, 64)),
        ("wan2.1-t2v-1.3b-self-forcing", "recache", Split(1, 2), (80, 48)),
        ("minwm-wan2.1-1.3b-action", "clean-prefill", Split(1, 4), (80, 48)),
        ("causal-wan2.2-i2v-a14b", "kv-reuse", Split(4, 1), (96, 64)),
        ("lingbot-world-v2-1.3b", "clean-prefill", Split(2, 1), (80, 48)),
        ("wan2.2-ti2v-5b", "latent-input", Split(2, 1), (192, 128)),
    ],
)
def test_sessions_over_ranks_are_those_of_one_process(
    name: str, history: str, split: Split, size: tuple[int, int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder: Path = write_tiny(name, tmp_path_factory.mktemp("ranks") / "m")
    alone = session(str(folder), None, history, size)
    for made in on_ranks(split.ranks, session, str(folder), split, history, size):
        for a, b in zip(alone, made, strict=True):
            assert torch.allclose(a, b, atol=2e-4 if "image" in history or "input" in history else 1e-4)
