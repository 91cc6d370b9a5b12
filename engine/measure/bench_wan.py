"""Times of Wan forwards and decodes: prefix KV against recomputing it, and the published sizes against the paper's table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from engine.control.conditions import Condition
from engine.measure.timing import timed
from engine.models.attention import WindowCall, grid_rotary_embedding
from engine.models.interface import Group, HistoryPolicy, Model, Request
from engine.models.wan.anyflow import AnyFlowBackbone
from engine.models.wan.backbone import WanBackbone
from engine.models.wan.sampler import WanSampler

WAN_1_3B = {
    "num_attention_heads": 12,
    "attention_head_dim": 128,
    "in_channels": 16,
    "out_channels": 16,
    "text_dim": 4096,
    "freq_dim": 256,
    "ffn_dim": 8960,
    "num_layers": 30,
    "cross_attn_norm": True,
}
"""Settings of Wan2.1-T2V-1.3B's transformer."""
PAPER_FORWARD = {("480p", 1): 77.5, ("480p", 3): 77.5 * 2.05, ("720p", 21): 6432.8}
"""Milliseconds of one forward on one H200, as far as the paper's table says (the second from its ratio of 2.05)."""
SIZES = {"480p": (60, 104), "720p": (90, 160)}
"""Latent rows and columns."""
HISTORY = 21
"""Latents of history in the published-shape timings: of one training window."""


def _sync(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def forward_times(
    backbone: WanBackbone, grid: tuple[int, int], k: int, history: int, repeats: int, prefix_only: bool = False
) -> dict[str, float]:
    """Seconds (medians) of one forward over K latents of `grid`: with the prefix kept, with the prefix recomputed in the same
    forward, and without any prefix. prefix_only: just the first, and where it runs on several ranks, the bytes that this rank sends."""
    device, dtype = backbone.device, backbone.dtype
    h, w = grid
    rows, columns = (torch.arange(n, device=device) for n in backbone.tokens(h, w))
    tokens = len(rows) * len(columns)
    z = torch.randn(1, backbone.inputs, history + k, h, w, device=device, dtype=dtype)
    text = torch.randn(1, 512, backbone.model.config.text_dim, device=device, dtype=dtype)

    def rotation(first: int, n: int) -> Any:
        return grid_rotary_embedding(torch.arange(first, first + n, device=device), rows, columns, backbone.head_dim)

    def run(latents: torch.Tensor, call: WindowCall) -> None:
        backbone.velocity(latents, [0.5] * latents.shape[2], 0.0, text, call)
        _sync(device)

    out: dict[str, float] = {}
    window = z[:, :, history:]
    with torch.inference_mode():
        past = WindowCall(rotation(0, history), latents=history, capture_rotated=True)
        prefix = backbone.keep(z[:, :, :history], 0.0, text, past)
        call = WindowCall(rotation(history, k), prefix, latents=k)
        parallel: Any = backbone.holder.parallel
        if parallel is not None:
            run(window, call)
            parallel.traffic.clear()
            run(window, call)
            out["sent"] = float(sum(parallel.traffic.sent.values()))
        out["reuse"] = timed(lambda: run(window, call), repeats)["median"]
        if prefix_only:
            return out
        prefix.clear()
        call.prefix = None
        joined = WindowCall(rotation(0, history + k), latents=history + k)
        if device.type != "cpu" or (history + k) * tokens < 40000:
            # without the mask between history and window: a plain forward of all of it is what recomputing costs
            out["recompute"] = timed(lambda: run(z, joined), repeats)["median"]
        alone = WindowCall(rotation(0, k), latents=k)
        out["alone"] = timed(lambda: run(window, alone), repeats)["median"]
    out["tokens_ratio"] = (history + k) / k
    return out


def plain_time(
    config: dict[str, Any], grid: tuple[int, int], k: int, device: torch.device, dtype: torch.dtype, repeats: int
) -> float:
    """Seconds of diffusers' own forward over K latents."""
    from diffusers import WanTransformer3DModel

    with torch.device(device):
        model: Any = WanTransformer3DModel(**{n: v for n, v in config.items() if not n.startswith("_")})
    model = model.to(dtype).eval().requires_grad_(False)
    z = torch.randn(1, model.config.in_channels, k, *grid, device=device, dtype=dtype)
    text = torch.randn(1, 512, model.config.text_dim, device=device, dtype=dtype)
    t = torch.tensor([500.0], device=device)

    def run() -> None:
        model(z, t, text, return_dict=False)
        _sync(device)

    with torch.inference_mode():
        return timed(run, repeats)["median"]


def sampler(model: Model, windows: Sequence[int], steps: int, repeats: int) -> list[dict[str, Any]]:
    """Forward and call times of a loaded model by K; seconds, medians."""
    s = model.sampler
    assert isinstance(s, WanSampler)
    backbone = s._experts[0]
    rows = []
    for k in windows:
        row: dict[str, Any] = {"K": k, "steps": steps, "T": k * model.spec.spans[1] / model.spec.fps}
        if isinstance(backbone, WanBackbone):
            row |= forward_times(backbone, s._shape[1:], k, s.config.history, repeats)
            row["diffusers"] = plain_time(
                dict(backbone.model.config), s._shape[1:], k, backbone.device, backbone.dtype, repeats
            )
        else:
            assert isinstance(backbone, AnyFlowBackbone)
        history = model.spec.history[0]
        prepared = s.prepare(Condition(0, "a valley"))
        s.reset()
        model.decoder.reset()
        groups = s.sample(Request(0, k, steps, 0, 0, prepared, history), lambda a, b: True)
        s.prefill_chunk(groups, history)
        s.extend(groups)
        branch = groups[-1].position + 1
        if history in (HistoryPolicy.BOUNDARY_IMAGE, HistoryPolicy.LATENT_INPUT):
            for g in groups:
                model.decoder.decode(g)

        def call(branch: int = branch, prepared: Any = prepared, history: HistoryPolicy = history, k: int = k) -> None:
            made = s.sample(Request(branch, k, steps, 0, 0, prepared, history), lambda a, b: True)
            s.prefill_chunk(made, history)

        row["call"] = timed(call, max(1, repeats // 2))["median"]
        row["call_over_T"] = row["call"] / row["T"]
        row["reuse_gap"] = reuse_gap(s, k, steps) if HistoryPolicy.KV_REUSE in model.spec.history else None
        rows.append(row)
    return rows


def reuse_gap(s: WanSampler, k: int, steps: int) -> float:
    """What a revoked suffix leaves in kept KV: root mean square difference of a call's latents after half a chunk, by
    kv-reuse against clean-prefill of the same latents, over their root mean square."""
    prepared = s.prepare(Condition(0, "a valley"))
    made: list[torch.Tensor] = []
    for history in (HistoryPolicy.KV_REUSE, HistoryPolicy.CLEAN_PREFILL):
        s.reset()
        groups = s.sample(Request(0, k, steps, 0, 0, prepared, history), lambda a, b: True)
        s.prefill_chunk(groups, history)
        s.extend(groups)
        after = s.sample(Request(max(1, k // 2), k, steps, 0, 0, prepared, history), lambda a, b: True)
        made.append(torch.stack([g.latent for g in after]).float())
    return float(((made[0] - made[1]).square().mean() / made[1].square().mean()).sqrt())


def decode(model: Model, groups: int, repeats: int) -> dict[str, float]:
    """First group and steady state of the streaming decode against the whole clip at once, seconds."""
    s = model.sampler
    assert isinstance(s, WanSampler)
    z = torch.randn(groups, *s._shape, device=s._device)

    def stream(n: int) -> None:
        model.decoder.reset()
        for i in range(n):
            model.decoder.decode(Group(i, z[i], None))
        _sync(s._device)

    def whole() -> None:
        vae = s._vae
        clip = (z.transpose(0, 1)[None] * vae._std + vae._mean).to(vae._dtype)
        with torch.inference_mode():
            vae._vae.decode(clip)
        _sync(s._device)

    at_once = timed(whole, repeats)["median"]
    one, all_ = timed(lambda: stream(1), repeats)["median"], timed(lambda: stream(groups), repeats)["median"]
    steady = (all_ - one) / (groups - 1)
    # the first latent is one frame, the later ones four: shares by frames
    share = at_once / (1 + 4 * (groups - 1))
    return {
        "first_group": one,
        "steady_group": steady,
        "whole_clip": at_once,
        "first_over_share": one / share,
        "steady_over_share": steady / (4 * share),
        "real_time": model.spec.spans[1] / model.spec.fps / steady,
    }


def shapes(
    device: torch.device,
    dtype: torch.dtype,
    windows: Sequence[int],
    sizes: Sequence[str],
    repeats: int,
    layers: int | None = None,
) -> list[dict[str, Any]]:
    """One forward of Wan2.1-1.3B's shapes with random weights, by size and K, beside the paper's figures; milliseconds.

    layers: fewer than the model's 30, to try the command on a machine that is too small; times are then not the model's.
    """
    from diffusers import WanTransformer3DModel

    config = WAN_1_3B | ({"num_layers": layers} if layers else {})
    with torch.device(device):
        model: Any = WanTransformer3DModel(**config)  # type: ignore[arg-type]
    backbone = WanBackbone(model.to(dtype))
    rows = []
    for size in sizes:
        for k in windows:
            grid = SIZES[size]
            times = forward_times(backbone, grid, k, HISTORY, repeats)
            row: dict[str, Any] = {"size": size, "K": k, "layers": config["num_layers"], "history": HISTORY}
            row |= {f"{n}_ms": 1000 * v for n, v in times.items() if n != "tokens_ratio"}
            row["paper_ms"] = PAPER_FORWARD.get((size, k))
            rows.append(row)
    return rows
