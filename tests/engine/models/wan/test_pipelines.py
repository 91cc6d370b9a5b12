"""Whole calls against the pipelines of diffusers, with the same noise."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from diffusers import (
    AnyFlowFARPipeline,
    AnyFlowFARTransformer3DModel,
    AutoencoderKLWan,
    FlowMapEulerDiscreteScheduler,
    UniPCMultistepScheduler,
    WanPipeline,
    WanTransformer3DModel,
)
from safetensors.torch import load_file
from torch import Tensor
from transformers import AutoTokenizer, UMT5EncoderModel

from engine.control.conditions import Condition
from engine.models.interface import HistoryPolicy, Model, Request
from engine.models.schedulers import noise
from engine.models.wan.sampler import WanSampler

PROMPT = "snow forest at dawn"


def plain(kind: Any, folder: Path) -> Any:
    """A model as diffusers builds it from its settings, with the weights of all files in the folder."""
    model = kind.from_config(kind.load_config(str(folder)))
    state: dict[str, Tensor] = {}
    for file in folder.glob("*.safetensors"):
        state |= load_file(str(file))
    model.load_state_dict(state)
    return model.eval()


def parts(folder: Path) -> dict[str, Any]:
    """Text encoder, tokenizer and VAE as the libraries load them themselves."""
    return {
        "tokenizer": AutoTokenizer.from_pretrained(str(folder / "tokenizer")),
        "text_encoder": UMT5EncoderModel.from_pretrained(str(folder / "text_encoder")),
        "vae": plain(AutoencoderKLWan, folder / "vae"),
    }


def start_noise(sampler: WanSampler, latents: int, seed: int = 4) -> Tensor:
    return torch.stack([noise(sampler._shape, seed, p, 0) for p in range(latents)], 1)[None]


def sampled(sampler: WanSampler, calls: list[tuple[int, int]], steps: int, history: HistoryPolicy) -> Tensor:
    """(1, z, latents, h, w) of consecutive calls (branch, K)."""
    prepared = sampler.prepare(Condition(0, PROMPT))
    out = []
    for branch, k in calls:
        groups = sampler.sample(Request(branch, k, steps, 4, 0, prepared, history), lambda a, b: True)
        sampler.prefill_chunk(groups, history)
        sampler.extend(groups)
        out += [g.latent for g in groups]
    return torch.stack(out, 1)[None]


@pytest.mark.parametrize("name", ["wan2.1-t2v-1.3b", "wan2.2-ti2v-5b"])
def test_a_first_call_is_the_wan_pipeline(
    name: str, checkpoints: Callable[[str], Path], load: Callable[..., Model]
) -> None:
    """UniPC, guidance 5, the shift, the text encoder: everything."""
    folder = checkpoints(name)
    model = load(name)
    sampler = model.sampler
    assert isinstance(sampler, WanSampler)
    scheduler = UniPCMultistepScheduler(
        prediction_type="flow_prediction", use_flow_sigmas=True, flow_shift=sampler.config.shift
    )
    pipe = WanPipeline(
        transformer=plain(WanTransformer3DModel, folder / "transformer"),
        scheduler=scheduler,
        expand_timesteps=name == "wan2.2-ti2v-5b",
        **parts(folder),
    )
    pipe.set_progress_bar_config(disable=True)
    k = 4
    expected = pipe(
        PROMPT,
        sampler.config.negative,
        model.spec.height,
        model.spec.width,
        num_frames=4 * k - 3,
        num_inference_steps=5,
        guidance_scale=sampler.config.guidance,
        latents=start_noise(sampler, k),
        output_type="latent",
        max_sequence_length=512,
    ).frames
    ours = sampled(sampler, [(0, k)], 5, model.spec.history[0])
    assert torch.allclose(expected, ours, atol=2e-4)


def test_calls_in_turn_are_the_anyflow_pipeline(checkpoints: Callable[[str], Path], load: Callable[..., Model]) -> None:
    """Chunks of 1, 3, 3, 3, 3: the last two calls have history in large patches, which diffusers computes with flex masks.

    128 tokens a latent: diffusers pads sequences to 128 and lets a denoising step attend to the padding, which we do not.
    """
    folder = checkpoints("anyflow-far-wan2.1-1.3b")
    sampler = load("anyflow-far-wan2.1-1.3b", (256, 128)).sampler
    assert isinstance(sampler, WanSampler)
    pipe = AnyFlowFARPipeline(
        transformer=plain(AnyFlowFARTransformer3DModel, folder / "transformer"),
        scheduler=FlowMapEulerDiscreteScheduler(shift=sampler.config.shift),
        **parts(folder),
    )
    pipe.set_progress_bar_config(disable=True)
    chunks = [1, 3, 3, 3, 3]
    expected = pipe(
        PROMPT,
        height=128,
        width=256,
        num_frames=4 * sum(chunks) - 3,
        num_inference_steps=2,
        latents=start_noise(sampler, sum(chunks)),
        output_type="latent",
        chunk_partition=chunks,
        max_sequence_length=512,
    ).frames
    calls = [(sum(chunks[:i]), k) for i, k in enumerate(chunks)]
    ours = sampled(sampler, calls, 2, HistoryPolicy.CLEAN_PREFILL)
    if expected.shape[1] != ours.shape[1]:
        expected = expected.permute(0, 2, 1, 3, 4)
    assert torch.allclose(expected, ours, atol=1e-4)
