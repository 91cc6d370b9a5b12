"""One forward of a Wan transformer over [retained prefix | window], for the plain model and for AnyFlow's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

from engine.models.attention import CallHolder, KeyValue, RotaryEmbedding, SequenceParallel, WindowCall
from engine.models.attention_kernels import preferred
from engine.models.wan.network import WanNetwork

TRAIN_STEPS = 1000


class Backbone(Protocol):
    """What the sampler asks of a transformer. Latents are (1, channels, latents, h, w)."""

    channels: int
    inputs: int
    heads: int
    head_dim: int
    layers: int
    model: Any
    device: torch.device

    def tokens(self, height: int, width: int) -> tuple[int, int]:
        """Rows and columns of tokens of a latent (h, w)."""

    def velocity(self, z: Tensor, sigmas: Sequence[float], after: float, text: Tensor, call: WindowCall) -> Tensor:
        """The velocity, (1, channels, latents, h, w). sigmas: noise level of each latent; after: where the step leads."""

    def keep(self, z: Tensor, sigma: float, text: Tensor, call: WindowCall) -> list[KeyValue]:
        """Keys and values of clean latents, which the model is told to have noise level `sigma`; see `WindowCall.capture_rotated`."""

    def rotated(self, keys: Tensor, rotary: RotaryEmbedding) -> Tensor:
        """Keys of one layer as `keep` gives them, which under ranks are the rank's own, rotated."""

    def shard(self, parallel: SequenceParallel) -> None:
        """Spreads the transformer over ranks. Every rank must then run the same forwards."""


class WanBackbone:
    """diffusers' `WanTransformer3DModel`."""

    def __init__(self, model: Any, device: torch.device | None = None) -> None:
        """device: where it computes, where that is not where its weights are (offloading)."""
        self.holder = CallHolder()
        self.model = WanNetwork(model.eval().requires_grad_(False), self.holder).eval()
        c = model.config
        self.inputs, self.channels = int(c.in_channels), int(c.out_channels)
        self.heads, self.head_dim, self.layers = (
            int(c.num_attention_heads),
            int(c.attention_head_dim),
            int(c.num_layers),
        )
        self._patch = tuple(c.patch_size)
        parameter = model.patch_embedding.weight
        self.device, self.dtype = device or parameter.device, parameter.dtype

    def tokens(self, height: int, width: int) -> tuple[int, int]:
        return height // self._patch[1], width // self._patch[2]

    def velocity(self, z: Tensor, sigmas: Sequence[float], after: float, text: Tensor, call: WindowCall) -> Tensor:
        return self._run(z, sigmas, after, text, call)

    def keep(self, z: Tensor, sigma: float, text: Tensor, call: WindowCall) -> list[KeyValue]:
        return self._keep(z, sigma, text, call)

    def rotated(self, keys: Tensor, rotary: RotaryEmbedding) -> Tensor:
        parallel = self.holder.parallel
        return (rotary if parallel is None else parallel.shard_rotary(rotary))(keys)

    def shard(self, parallel: SequenceParallel) -> None:
        self.model.shard(parallel)

    def _keep(self, z: Tensor, sigma: float, text: Tensor, call: WindowCall, far: bool = False) -> list[KeyValue]:
        call.capture_kv = True
        self._run(z, [sigma] * z.shape[2], sigma, text, call, far=far, keys_only=True)
        return kept(call)

    def _run(
        self, z: Tensor, sigmas: Sequence[float], after: float, text: Tensor, call: WindowCall, **more: bool
    ) -> Tensor:
        with self.holder.calling(call), preferred(self.device):
            levels, end = noise_levels(sigmas, self.device), noise_levels([after], self.device)
            return self.model(z.to(self.dtype), levels, end, text.to(self.dtype), **more)


def noise_levels(sigmas: Sequence[float], device: torch.device) -> Tensor:
    """As the model is told them: (1,) when all latents have one, else (latents,). Filled on the device: nothing waits for a copy."""
    if len(set(sigmas)) == 1:
        return torch.full((1,), sigmas[0] * TRAIN_STEPS, device=device, dtype=torch.float32)
    out = torch.empty(len(sigmas), device=device, dtype=torch.float32)
    for sigma in set(sigmas):
        first = sigmas.index(sigma)
        count = sum(s == sigma for s in sigmas)
        if list(sigmas[first : first + count]) != [sigma] * count:
            return torch.tensor([s * TRAIN_STEPS for s in sigmas], dtype=torch.float32).to(device)
        out[first : first + count] = sigma * TRAIN_STEPS
    return out


def kept(call: WindowCall) -> list[KeyValue]:
    """What a forward with `capture_kv` collected, cut loose from the call."""
    out, call.captured_kv, call.capture_kv = call.captured_kv, [], False
    return out
