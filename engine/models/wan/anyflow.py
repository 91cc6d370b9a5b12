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

from engine.models.attention import KeyValue, RotaryEmbedding, WindowCall, grid_rotary_embedding
from engine.models.interface import Group, HistoryPolicy, Request
from engine.models.kv_cache import split_kv
from engine.models.wan.backbone import WanBackbone
from engine.models.wan.sampler import WanSampler

CLASS_NAME = "AnyFlowFARTransformer3DModel"
"""Of its transformer in config.json."""


class AnyFlowBackbone(WanBackbone):
    """diffusers' `AnyFlowFARTransformer3DModel`: `velocity` is the mean one from `sigmas` to `after`."""

    def __init__(self, model: Any, device: torch.device | None = None) -> None:
        super().__init__(model, device)
        c = model.config
        self.near = int(c.full_chunk_limit) - 1
        """Blocks of history in full resolution."""
        self.compression = tuple(c.compressed_patch_size)[1] // self._patch[1]
        """Of the sides of the others."""
        gate = model.condition_embedder
        gate.delta_emb_gate = torch.tensor([float(c.gate_value)], device=self.device)

    def keys(self, z: Tensor, noisy: float, text: Tensor, call: WindowCall, far: bool) -> list[KeyValue]:
        """Keys and values of clean latents, in large patches when they are far."""
        return self._keep(z, noisy, text, call, far)


class FarSampler(WanSampler):
    """Samples with a far history in large patches. KV of the near blocks depends on where the far history ends, so it is made
    again when that moves, as the published pipeline does."""

    def prefill_step(self, locked: int, history: HistoryPolicy) -> bool:
        return False

    def _prefix(
        self, key: tuple[int, int], known: Mapping[int, Group], positions: list[int], first: int, request: Request
    ) -> tuple[list[KeyValue], RotaryEmbedding | None, int]:
        model = self._experts[key[0]]
        assert isinstance(model, AnyFlowBackbone)
        store = self._stores[key]
        text = request.prepared.text if request.history is HistoryPolicy.RECACHE else None
        blocks = self._blocks(known, positions)
        border = max(0, len(blocks) - model.near)
        near_from = blocks[border][0][0] if border < len(blocks) else positions[-1] + 1
        rotations: list[RotaryEmbedding] = []
        done: list[int] = []
        for i, (block, _) in enumerate(blocks):
            far = i < border
            groups = [known[p] for p in block]
            turn = self._turn(model, len(done), len(block), far)
            kind = "far" if far else f"near from {near_from}"
            cache_key = (kind, *self._cache_key(key, groups, text)[1:])
            if not self._there(store, block, cache_key):
                under = self._text_of(key, groups[0].state.text if text is None else text)
                z = torch.stack([g.latent for g in groups]).to(self._device).transpose(0, 1)[None]
                prefix = store.prefix(done) if done else None
                call = WindowCall(turn, prefix, _whole(rotations) if done else None, latents=len(block))
                call.context_kv = self._context(key, under)
                made = model.keys(z, self.config.context_noise, under.embedding, call, far)
                for p, part in zip(block, split_kv(made, len(block)), strict=True):
                    store.put(p, cache_key, part, raw=True)
            rotations.append(turn)
            done += block
        return store.prefix(positions), _whole(rotations), len(positions)

    def _turn(self, model: AnyFlowBackbone, first: int, latents: int, far: bool) -> RotaryEmbedding:
        """RotaryEmbedding of a block; a large patch stands at the middle of those that it covers."""
        if not far:
            return self.rotation(first, latents)
        c = model.compression
        rows, columns = (torch.arange(n // c) * c + (c - 1) / 2 for n in self._grid)
        frames = torch.arange(first, first + latents)
        return grid_rotary_embedding(frames, rows, columns, model.head_dim, self._device)


def _whole(rotations: Sequence[RotaryEmbedding]) -> RotaryEmbedding:
    return RotaryEmbedding(torch.cat([r.cos for r in rotations], 1), torch.cat([r.sin for r in rotations], 1))
