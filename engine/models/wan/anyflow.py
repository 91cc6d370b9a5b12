"""AnyFlow-FAR: a Wan transformer that is told both ends of a step, and keeps its far history in larger patches.

The last blocks of history are kept as they are, older ones with four times fewer tokens. diffusers' class computes its
attention with flex masks over a whole clip; here its layers run over [far | near | window] through the same window attention
as every other model, which gives the same numbers (tests/wan/test_anyflow.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from engine.models.attention import (
    CallHolder,
    KeyValue,
    RotaryEmbedding,
    WindowCall,
    grid_rotary_embedding,
    set_attn_processors,
)
from engine.models.interface import Group, HistoryPolicy, Request
from engine.models.kv_cache import concat_kv, split_kv
from engine.models.wan.backbone import TRAIN_STEPS, kept
from engine.models.wan.sampler import WanSampler

CLASS_NAME = "AnyFlowFARTransformer3DModel"
"""Of its transformer in config.json."""


class AnyFlowBackbone:
    """diffusers' `AnyFlowFARTransformer3DModel`. near: blocks of history in full resolution; compression: of the others' sides."""

    def __init__(self, model: Any, device: torch.device | None = None) -> None:
        self.model = model.eval().requires_grad_(False)
        self.holder: CallHolder = set_attn_processors(model)
        c = model.config
        self.inputs, self.channels = int(c.in_channels), int(c.out_channels)
        self.heads, self.head_dim, self.layers = (
            int(c.num_attention_heads),
            int(c.attention_head_dim),
            int(c.num_layers),
        )
        self.near = int(c.full_chunk_limit) - 1
        self._patch, self._far = tuple(c.patch_size), tuple(c.compressed_patch_size)
        self.compression = self._far[1] // self._patch[1]
        parameter = model.patch_embedding.weight
        self.device, self.dtype = device or parameter.device, parameter.dtype
        gate = model.condition_embedder
        gate.delta_emb_gate = torch.tensor([float(c.gate_value)], device=self.device)

    def tokens(self, height: int, width: int) -> tuple[int, int]:
        return height // self._patch[1], width // self._patch[2]

    def velocity(self, z: Tensor, sigmas: Sequence[float], after: float, text: Tensor, call: WindowCall) -> Tensor:
        """The mean velocity from `sigmas` to `after`."""
        hidden, temb = self._run(z, sigmas, after, text, call, False)
        m = self.model
        shift, scale = (m.scale_shift_table + temb.unsqueeze(2)).chunk(2, dim=2)
        hidden = (m.norm_out(hidden.float()) * (1 + scale.squeeze(2)) + shift.squeeze(2)).type_as(hidden)
        rows, columns = self.tokens(*z.shape[-2:])
        out = m.proj_out(hidden).reshape(1, z.shape[2], rows, columns, *self._patch[1:], self.channels)
        return out.permute(0, 6, 1, 2, 4, 3, 5).flatten(5, 6).flatten(3, 4).float()

    def keys(self, z: Tensor, noisy: float, text: Tensor, call: WindowCall, far: bool) -> list[KeyValue]:
        """Keys and values of clean latents, in large patches when they are far."""
        call.capture_kv = True
        self._run(z, [noisy] * z.shape[2], noisy, text, call, far)
        return kept(call)

    def _run(
        self, z: Tensor, sigmas: Sequence[float], after: float, text: Tensor, call: WindowCall, far: bool
    ) -> tuple[Tensor, Tensor]:
        m = self.model
        embed, patch = (m.far_patch_embedding, self._far) if far else (m.patch_embedding, self._patch)
        hidden = embed(z.to(self.dtype)).flatten(2).transpose(1, 2).contiguous()
        tokens = (z.shape[-2] // patch[1]) * (z.shape[-1] // patch[2])
        t = torch.tensor([[s * TRAIN_STEPS for s in sigmas]], device=z.device)
        r = torch.full_like(t, after * TRAIN_STEPS)
        embedder = m.condition_embedder
        delta = r if embedder.deltatime_type == "r" else t - r
        temb, modulation = embedder.forward_timestep(t, delta, text.to(self.dtype), tokens)
        context = embedder.text_embedder(text.to(self.dtype))
        with self.holder.calling(call):
            for block in m.blocks:
                hidden = block(hidden, context, modulation.unflatten(2, (6, -1)), None, None)
        return hidden, temb


class FarSampler(WanSampler):
    """Samples with a far history in large patches. KV of the near blocks depends on where the far history ends, so it is made
    again when that moves, as the published pipeline does."""

    def prefill_step(self, locked: int, history: HistoryPolicy) -> bool:
        return False

    def _prefix(
        self, key: tuple[int, int], known: Mapping[int, Group], positions: list[int], request: Request
    ) -> tuple[list[KeyValue], RotaryEmbedding]:
        model = self._experts[key[0]]
        assert isinstance(model, AnyFlowBackbone)
        store = self._stores[key]
        text = request.prepared.text if request.history is HistoryPolicy.RECACHE else None
        blocks = self._blocks(known, positions)
        border = max(0, len(blocks) - model.near)
        near_from = blocks[border][0][0] if border < len(blocks) else positions[-1] + 1
        layers: list[list[KeyValue]] = []
        rotations: list[RotaryEmbedding] = []
        done = 0
        for i, (block, _) in enumerate(blocks):
            far = i < border
            groups = [known[p] for p in block]
            kind = "far" if far else f"near from {near_from}"
            cache_key = (kind, *self._cache_key(key, groups, text)[1:])
            if not self._there(store, block, cache_key):
                under = self._text_of(key, groups[0].state.text if text is None else text)
                z = torch.stack([g.latent for g in groups]).transpose(0, 1)[None]
                before = _whole(rotations) if rotations else None
                call = WindowCall(
                    self._turn(model, done, len(block), far), concat_kv(layers) if layers else None, before
                )
                made = model.keys(z, self.config.context_noise, under.embedding, call, far)
                for p, part in zip(block, split_kv(made, len(block)), strict=True):
                    store.put(p, cache_key, part)
            layers += [self._found(store, p, cache_key) for p in block]
            rotations.append(self._turn(model, done, len(block), far))
            done += len(block)
        return concat_kv(layers), _whole(rotations)

    def _turn(self, model: AnyFlowBackbone, first: int, latents: int, far: bool) -> RotaryEmbedding:
        """RotaryEmbedding of a block; a large patch stands at the middle of those that it covers."""
        if not far:
            return self.rotation(first, latents)
        c = model.compression
        rows, columns = (torch.arange(n // c, device=self._device) * c + (c - 1) / 2 for n in self._grid)
        return grid_rotary_embedding(
            torch.arange(first, first + latents, device=self._device), rows, columns, model.head_dim
        )


def _whole(rotations: Sequence[RotaryEmbedding]) -> RotaryEmbedding:
    return RotaryEmbedding(torch.cat([r.cos for r in rotations], 1), torch.cat([r.sin for r in rotations], 1))
