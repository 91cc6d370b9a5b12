"""One forward of a Wan transformer over [retained prefix | window], for the plain model and for AnyFlow's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

from engine.models.attention import CallHolder, KeyValue, WindowCall, set_attn_processors

TRAIN_STEPS = 1000


class Backbone(Protocol):
    """What the sampler asks of a transformer. Latents are (1, channels, latents, h, w)."""

    channels: int
    inputs: int
    heads: int
    head_dim: int
    layers: int
    holder: CallHolder
    model: Any
    device: torch.device

    def tokens(self, height: int, width: int) -> tuple[int, int]:
        """Rows and columns of tokens of a latent (h, w)."""

    def velocity(self, z: Tensor, sigmas: Sequence[float], after: float, text: Tensor, call: WindowCall) -> Tensor:
        """The velocity, (1, channels, latents, h, w). sigmas: noise level of each latent; after: where the step leads."""


class WanBackbone:
    """diffusers' `WanTransformer3DModel`."""

    def __init__(self, model: Any, device: torch.device | None = None) -> None:
        """device: where it computes, where that is not where its weights are (offloading)."""
        self.model = model.eval().requires_grad_(False)
        self.holder = set_attn_processors(model)
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
        time = self._time(z, sigmas)
        with self.holder.calling(call):
            return self.model(z.to(self.dtype), time, text.to(self.dtype), return_dict=False)[0].float()

    def _time(self, z: Tensor, sigmas: Sequence[float]) -> Tensor:
        """(1,) when all latents have one noise level, else one value a token: the same numbers, much less memory."""
        t = torch.tensor([s * TRAIN_STEPS for s in sigmas], device=z.device, dtype=torch.float32)
        if len(set(sigmas)) == 1:
            return t[:1]
        rows, columns = self.tokens(*z.shape[-2:])
        return t.repeat_interleave(rows * columns)[None]


def kept(call: WindowCall) -> list[KeyValue]:
    """What a forward with `capture_kv` collected, cut loose from the call."""
    out, call.captured_kv, call.capture_kv = call.captured_kv, [], False
    return out
