"""What a step over retained history costs beyond the arithmetic, as ratios that any machine can measure.

A small Wan transformer in its sampler, in its steady state, against diffusers' own forward over the window and the attention that the
prefix adds. All are timed in turn, round by round, so that a busy machine slows all of them. On a CPU it is CPU time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from engine.models.attention_kernels import attend
from engine.models.interface import HistoryPolicy, ModelSpec, Request
from engine.models.text_embeddings import EmbeddingCache, PromptEncoder
from engine.models.wan.backbone import WanBackbone
from engine.models.wan.conditions import Text, WanConditions, WanInputs
from engine.models.wan.sampler import WanSampler
from engine.models.wan.sampling_config import SamplingConfig
from engine.runtime.metrics import percentile

WINDOW, HISTORY, SINK, STEPS = 3, 9, 3, 4


TEXT = 512
NETWORK = {
    "num_attention_heads": 12,
    "attention_head_dim": 64,
    "in_channels": 16,
    "out_channels": 16,
    "text_dim": TEXT,
    "freq_dim": 256,
    "ffn_dim": 3072,
    "num_layers": 4,
    "cross_attn_norm": True,
}
"""Wan2.1-1.3B's proportions at half its width."""


def measure(
    rounds: int, device: torch.device, dtype: torch.dtype, layers: int = 4, grid: tuple[int, int] = (24, 40)
) -> dict[str, Any]:
    """step_ratio: a call's steps, the first among them, over the ideal; first_step_ratio: the first over the later ones; kv_ratio: bytes
    of keys and values that are held while a call runs over those of its history. Medians of `rounds`.

    grid: rows and columns of a latent.
    """
    from diffusers import WanTransformer3DModel

    torch.manual_seed(0)
    network: dict[str, Any] = NETWORK | {"num_layers": layers}
    with torch.device(device):
        made: list[Any] = [WanTransformer3DModel(**network) for _ in range(2)]
    plain, ours = (m.to(dtype).eval().requires_grad_(False) for m in made)
    ours.load_state_dict(plain.state_dict())
    sampler, prepared = _sampler(ours, device, dtype, grid)
    # at random, so that no round begins with memory that the round before left warm for one of them
    tokens = grid[0] // 2 * (grid[1] // 2)

    def random(n: int) -> Tensor:
        return torch.randn(1, n * tokens, 12, 64, device=device, dtype=dtype)

    query, short, long = random(WINDOW), random(WINDOW), random(WINDOW + HISTORY)
    z = torch.randn(1, 16, WINDOW, *grid, device=device, dtype=dtype)
    level, text = torch.tensor([500.0], device=device), prepared.text.embedding
    clock = _clock(device)
    branch = 0
    for _ in range(HISTORY // WINDOW + 2):
        branch, _ = _call(sampler, prepared, branch, 1, clock)
    rows: list[dict[str, float]] = []
    with torch.inference_mode():
        for _ in range(rounds + 1):
            row = {
                "plain": _timed(lambda: plain(z, level, text, return_dict=False), clock),
                "short": layers * _timed(lambda: attend(query, short, short), clock),
                "long": layers * _timed(lambda: attend(query, long, long), clock),
            }
            branch, steps = _call(sampler, prepared, branch, STEPS, clock)
            row |= {"first": steps[0], "later": sum(steps[1:]) / len(steps[1:]), "step": sum(steps) / len(steps)}
            row["kv"] = steps.held / steps.history
            rows.append(row)
    del rows[0]  # warms caches and compilers up
    of = {name: percentile([r[name] for r in rows], 0.5) or 0.0 for name in rows[0]}
    ideal = [r["plain"] + r["long"] - r["short"] for r in rows]
    return {
        "step_ratio": percentile([r["step"] / i for r, i in zip(rows, ideal, strict=True)], 0.5),
        "first_step_ratio": percentile([r["first"] / r["later"] for r in rows], 0.5),
        "kv_ratio": of["kv"],
        "plain_s": of["plain"],
        "ideal_s": percentile(ideal, 0.5),
        "first_s": of["first"],
        "later_s": of["later"],
        "rounds": rounds,
    }


def _sampler(
    model: Any, device: torch.device, dtype: torch.dtype, grid: tuple[int, int]
) -> tuple[WanSampler, WanInputs]:
    policies = (HistoryPolicy.KV_REUSE,)
    spec = ModelSpec("overhead", grid[1] * 8, grid[0] * 8, 16.0, (1, 4), (1, 21), WINDOW, STEPS, policies)
    config = SamplingConfig(history=HISTORY, sink=SINK, block=WINDOW)
    encoder = PromptEncoder(lambda: (None, None), EmbeddingCache(None, ""), device, dtype)
    text = Text("a text", torch.randn(1, 512, TEXT, device=device, dtype=dtype))
    vae: Any = SimpleNamespace(channels=16, ratio=8)
    sampler = WanSampler(spec, [WanBackbone(model)], WanConditions(spec, config, encoder, {}), vae, config, vae)
    return sampler, WanInputs(text, None, (), ())


class Steps(list[float]):
    """Seconds of each step of a call."""

    held = 0
    """Bytes of keys and values while it ran."""
    history = 1
    """Bytes of those of its prefix."""


def _call(
    sampler: WanSampler, prepared: WanInputs, branch: int, steps: int, clock: Callable[[], float]
) -> tuple[int, Steps]:
    """A call and what follows it in a session; the next branch, and its steps."""
    out = Steps()
    store = sampler._stores[0, 0]
    last = clock()

    def report(done: int, total: int) -> bool:
        nonlocal last
        now = clock()
        out.append(now - last)
        out.held = max(out.held, store.nbytes)
        last = clock()
        return True

    request = Request(branch, WINDOW, steps, 1, 0, prepared, HistoryPolicy.KV_REUSE)
    groups = sampler.sample(request, report)
    if branch >= HISTORY:
        out.history = round(HISTORY * sum(k.nbytes + v.nbytes for k, v in store.latest))
    sampler.prefill_chunk(groups, HistoryPolicy.KV_REUSE)
    sampler.extend(groups)
    sampler.evict_before(branch)  # as where a whole call is cached and not yet played
    return branch + len(groups), out


def _timed(run: Callable[[], Any], clock: Callable[[], float]) -> float:
    began = clock()
    run()
    return clock() - began


def _clock(device: torch.device) -> Callable[[], float]:
    """Seconds: of this process's CPU, or of a GPU that has done what it was given."""
    if device.type != "cuda":
        return time.process_time

    def now() -> float:
        torch.cuda.synchronize(device)
        return time.perf_counter()

    return now
