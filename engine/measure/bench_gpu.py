"""What a GPU does with the published models' shapes: forwards beside the paper's and our forecast, memory beside `foreland models fit`,
a call's first group, decoding and transfers. Weights are random, so nothing is downloaded.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from engine.measure.bench_wan import PAPER_FORWARD, SIZES, forward_times
from engine.models.catalogue import Entry, find
from engine.models.fit import FIXED, GB, RATE, Wish
from engine.models.interface import Group, HistoryPolicy, ModelSpec, Request
from engine.models.load_options import LoadOptions
from engine.models.loading import empty_cache
from engine.models.text_embeddings import EmbeddingCache, PromptEncoder
from engine.models.wan import fit
from engine.models.wan.backbone import WanBackbone
from engine.models.wan.conditions import Text, WanConditions, WanInputs
from engine.models.wan.decoding import StreamDecoder
from engine.models.wan.sampler import WanSampler
from engine.models.wan.sampling_config import SamplingConfig
from engine.models.wan.vae import WanVae

MODELS = ("wan2.1-t2v-1.3b-self-forcing",)
SECONDS = 600.0
"""That all of it may take; what would begin after is left out and named."""
WINDOWS = (1, 3, 7, 21)
TRANSFER = 256 << 20
"""Bytes that go to the device and back."""


def wan_config(network: fit.Network, layers: int | None = None, small: bool = False) -> dict[str, Any]:
    """Settings of a diffusers transformer of these shapes. small: of a head's width, to try the command where there is no GPU."""
    width = 128 if small else network.width
    return {
        "num_attention_heads": width // 128,
        "attention_head_dim": 128,
        "in_channels": network.channels,
        "out_channels": network.channels,
        "text_dim": 64 if small else 4096,
        "freq_dim": 256,
        "ffn_dim": 256 if small else network.ffn,
        "num_layers": layers or network.layers,
        "cross_attn_norm": True,
    }


def measure(
    names: Sequence[str], device: torch.device, dtype: torch.dtype, repeats: int, small: bool = False
) -> dict[str, Any]:
    """All rows. small: tiny shapes, to try the command on a CPU; its figures mean nothing.

    Raises ValueError for a model that is not a Wan: others are measured by `foreland bench sampler --model NAME`.
    """
    began = time.perf_counter()
    out: dict[str, Any] = {"device": _name(device), "small": small, "transfers": transfers(device, small)}
    rows: list[dict[str, Any]] = []
    left_out: list[str] = []
    for name in names:
        entry = find(name)
        if entry.family != "wan":
            raise ValueError(f"{name} cannot be measured with random weights: foreland bench sampler --model {name}")
        if time.perf_counter() - began > SECONDS:
            left_out.append(name)
            continue
        rows.append(_model(entry, device, dtype, repeats, small, began + SECONDS))
    return out | {"models": rows, "left_out": left_out, "seconds": time.perf_counter() - began}


def transfers(device: torch.device, small: bool = False) -> dict[str, float]:
    """Gigabytes a second to the device and back, from memory that is pinned where there is a GPU."""
    n = TRANSFER >> (8 if small else 0)
    here = torch.empty(n, dtype=torch.uint8, pin_memory=device.type == "cuda")
    there = torch.empty(n, dtype=torch.uint8, device=device)
    return {
        "to_device_gb_s": n / GB / _seconds(lambda: there.copy_(here, non_blocking=True), device, 3),
        "from_device_gb_s": n / GB / _seconds(lambda: here.copy_(there, non_blocking=True), device, 3),
    }


def _model(
    entry: Entry, device: torch.device, dtype: torch.dtype, repeats: int, small: bool, until: float
) -> dict[str, Any]:
    from diffusers import AutoencoderKLWan, WanTransformer3DModel

    network = fit.published(entry)[0]
    spec = entry.spec()
    grid = (8, 8) if small else (spec.height // 8, spec.width // 8)
    if network.channels == 48 and not small:
        grid = (grid[0] // 2, grid[1] // 2)
    with torch.device(device):
        model: Any = WanTransformer3DModel(**wan_config(network, 2 if small else None, small))
    backbone = WanBackbone(model.to(dtype))
    row: dict[str, Any] = {"name": entry.name, "forwards": []}
    config = SamplingConfig(**entry.recipe)
    for k in (2,) if small else WINDOWS:
        if time.perf_counter() > until:
            row["forwards"].append({"K": k, "left_out": "no time was left"})
            continue
        try:
            ms = 1000 * forward_times(backbone, grid, k, 2 if small else 21, repeats, prefix_only=True)["reuse"]
        except torch.OutOfMemoryError:
            empty_cache(device)
            row["forwards"].append({"K": k, "left_out": "the memory ran out"})
            continue
        tokens = network.tokens(spec)
        forecast = 1000 * (FIXED + network.flops(k * tokens, 21 * tokens) / RATE)
        paper = PAPER_FORWARD.get(("480p", k)) if network.width == 1536 and grid == SIZES["480p"] else None
        row["forwards"].append({"K": k, "ms": ms, "paper_ms": paper, "forecast_h200_ms": forecast})
    with torch.device(device):
        autoencoder: Any = AutoencoderKLWan(**(_small_vae() if small else _vae(network.channels)))
    vae = WanVae(autoencoder.to(dtype))
    row |= _session(entry, spec, config, backbone, vae, network, grid, device, dtype, small)
    del backbone, model, vae, autoencoder
    gc.collect()
    empty_cache(device)
    return row


def _session(
    entry: Entry,
    spec: ModelSpec,
    config: SamplingConfig,
    backbone: WanBackbone,
    vae: WanVae,
    network: fit.Network,
    grid: tuple[int, int],
    device: torch.device,
    dtype: torch.dtype,
    small: bool,
) -> dict[str, Any]:
    """Calls in the steady state, with the first group of each decoded as in a session: C, T, decoding, and the peak of memory."""
    height, width = grid[0] * vae.ratio, grid[1] * vae.ratio
    k = 2 if small else spec.window
    steps = 2 if small else spec.steps
    size = ModelSpec(spec.name, width, height, spec.fps, spec.spans, spec.windows, k, steps, spec.history)
    encoder = PromptEncoder(lambda: (None, None), EmbeddingCache(None, ""), device, dtype)
    text = Text("a text", torch.randn(1, 512, int(backbone.model.config.text_dim), device=device, dtype=dtype))
    sampler = WanSampler(size, [backbone], WanConditions(size, config, encoder, {}), vae, config, vae)
    prepared = WanInputs(text, text if config.guidance != 1 else None, (), ())
    decoder = StreamDecoder(vae, snapshots=fit.LEAST_SNAPSHOTS)
    history = HistoryPolicy.KV_REUSE
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    branch, calls, first, settled, decoded = 0, [], [], [], []
    for _ in range(3 if small else config.history // k + 3):
        begins = time.perf_counter()
        # the first calls only fill the history
        n = steps if branch >= config.history or small else 1
        groups = sampler.sample(Request(branch, k, n, 1, 0, prepared, history), lambda a, b: True)
        calls.append(time.perf_counter() - begins)
        for j, group in enumerate(groups):
            t = time.perf_counter()
            decoder.decode(Group(group.position, group.latent, None))
            decoded.append(time.perf_counter() - t)
            if j == 0:
                first.append(time.perf_counter() - begins)
        t = time.perf_counter()
        sampler.prefill_chunk(groups, history)
        _sync(device)
        settled.append(time.perf_counter() - t)
        sampler.extend(groups)
        sampler.evict_before(branch)
        decoder.evict_before(branch)
        branch += len(groups)
    plan = fit.plan(
        size, config, [network], LoadOptions(), Wish(k, steps), "bf16" if dtype != torch.float32 else "fp32", 2
    )
    out: dict[str, Any] = {
        "K": k,
        "steps": steps,
        "call_s": calls[-1],
        "C_s": first[-1],
        "T_s": k * spec.spans[1] / spec.fps,
        "settle_s": settled[-1],
        "decode_group_s": decoded[-1],
        "call_forecast_h200_s": plan.call_seconds,
        "plan_gb": sum(plan.bytes.values()) / GB,
    }
    if device.type == "cuda":
        out["peak_gb"] = torch.cuda.max_memory_allocated(device) / GB
    return out


def _vae(channels: int) -> dict[str, Any]:
    """Settings of Wan's published autoencoders, of which diffusers' defaults are those of Wan2.1."""
    if channels == 16:
        return {}
    return {
        "base_dim": 160,
        "decoder_base_dim": 256,
        "z_dim": 48,
        "is_residual": True,
        "in_channels": 12,
        "out_channels": 12,
        "patch_size": 2,
        "scale_factor_spatial": 16,
        "latents_mean": [0.0] * 48,
        "latents_std": [1.0] * 48,
    }


def _small_vae() -> dict[str, Any]:
    return {"base_dim": 8, "z_dim": 16, "dim_mult": [1, 2, 4, 4], "num_res_blocks": 1}


def _seconds(run: Callable[[], Any], device: torch.device, repeats: int) -> float:
    """The least of several, after one that does not count."""
    times = []
    for _ in range(repeats + 1):
        _sync(device)
        began = time.perf_counter()
        run()
        _sync(device)
        times.append(time.perf_counter() - began)
    return min(times[1:])


def _sync(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _name(device: torch.device) -> str:
    if device.type == "cuda":
        return str(torch.cuda.get_device_name(device))
    return device.type


def lines(report: dict[str, Any]) -> list[dict[str, Any]]:
    """The forwards and sessions as rows of a table."""
    rows: list[dict[str, Any]] = []
    for model in report["models"]:
        rows += [{"model": model["name"], **forward} for forward in model["forwards"]]
    names = list(dict.fromkeys(n for r in rows for n in r))
    return [{n: r.get(n) for n in names} for r in rows]
