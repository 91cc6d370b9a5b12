"""Sequence parallelism for MiniMax-H3 and LTX-2.3: models with attention of their own and, here, without retained KV.

MiniMax-H3 runs one packed sequence of text, audio and video rows: it is cut like one large latent. LTX-2.3 has a long video and a
short audio stream: video rows are cut, audio runs on every rank; where audio attends to video, each rank attends to its own rows and
the partial results are merged by their log-sum-exp.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from engine.models.attention import SequenceParallel

# -- MiniMax-H3 ----------------------------------------------------------------------------------------------------------


class PackedAttention:
    """Processor of a `MiniMaxH3Attention` in the block stack."""

    def __init__(self, parallel: SequenceParallel) -> None:
        self._parallel = parallel

    def __call__(
        self, attn: Any, hidden_states: Tensor, rotary_emb: Any = None, attention_mask: Tensor | None = None
    ) -> Tensor:
        from diffusers.models.transformers.transformer_minimax_h3 import _apply_rotary_emb

        s = self._parallel
        query, key, value = (
            f(hidden_states).unflatten(-1, (attn.heads, -1)) for f in (attn.to_q, attn.to_k, attn.to_v)
        )
        query, key = attn.norm_q(query), attn.norm_k(key)
        if rotary_emb is not None:
            query, key = _apply_rotary_emb(query, *rotary_emb), _apply_rotary_emb(key, *rotary_emb)
        query, key, value = (s.to_heads(x.type_as(value)) for x in (query, key, value))
        out = s.to_tokens(s.attend(query, [(key, value)], attention_mask))
        return attn.to_out[0](out.flatten(2).type_as(hidden_states))


def shard_minimax_h3(model: Any, parallel: SequenceParallel) -> None:
    """Runs the blocks of a `MiniMaxH3Transformer3DModel` on shards."""
    blocks = list(model.transformer_blocks)

    def before(first: bool) -> Callable[..., Any]:
        def hook(module: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
            hidden, temb, rows, rotary, *rest = inputs
            if first:
                parallel.measure(hidden.shape[1])
                hidden = parallel.shard(hidden)
            return hidden, temb, parallel.shard_rows(rows), tuple(parallel.shard_rows(x) for x in rotary), *rest

        return hook

    for i, block in enumerate(blocks):
        block.attn.set_processor(PackedAttention(parallel))
        block.register_forward_pre_hook(before(i == 0))
    blocks[-1].register_forward_hook(lambda module, inputs, out: parallel.gather(out))


# -- LTX-2.3 ---------------------------------------------------------------------------------------------------------------


class VideoAttention:
    """Processor of an `LTX2Attention`. merged: keys and values are this rank's rows of the video; every rank has all queries."""

    def __init__(self, parallel: SequenceParallel, merged: bool = False) -> None:
        self._parallel, self._merged = parallel, merged

    def __call__(
        self,
        attn: Any,
        hidden_states: Tensor,
        encoder_hidden_states: Tensor | None = None,
        attention_mask: Tensor | None = None,
        query_rotary_emb: Any = None,
        key_rotary_emb: Any = None,
        perturbation_mask: Tensor | None = None,
        all_perturbed: Any = None,
    ) -> Tensor:
        if attention_mask is not None or perturbation_mask is not None:
            raise ValueError("masks and perturbations of video attention cannot be spread over ranks")
        source = hidden_states if encoder_hidden_states is None else encoder_hidden_states
        query, key, value = attn.norm_q(attn.to_q(hidden_states)), attn.norm_k(attn.to_k(source)), attn.to_v(source)
        if query_rotary_emb is not None:
            from diffusers.models.transformers import transformer_ltx2 as ltx

            turn = ltx.apply_interleaved_rotary_emb if attn.rope_type == "interleaved" else ltx.apply_split_rotary_emb
            query = turn(query, query_rotary_emb)
            key = turn(key, query_rotary_emb if key_rotary_emb is None else key_rotary_emb)
        query, key, value = (x.unflatten(2, (attn.heads, -1)) for x in (query, key, value))
        out = self._parallel.attend_shards(query, key, value) if self._merged else self._own(query, key, value)
        if attn.to_gate_logits is not None:
            out = out * (2 * torch.sigmoid(attn.to_gate_logits(hidden_states)))[..., None]
        return attn.to_out[0](out.flatten(2).type_as(hidden_states))

    def _own(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        s = self._parallel
        query, key, value = (s.to_heads(x) for x in (query, key, value))
        return s.to_tokens(s.attend(query, [(key, value)], None))


def shard_ltx2(model: Any, parallel: SequenceParallel) -> None:
    """Runs the blocks of an `LTX2VideoTransformer3DModel` on shards."""
    blocks = list(model.transformer_blocks)

    def cut(x: Any) -> Any:
        """What has a row for each video token: (b, tokens, ...), or (b, heads, tokens, ...) as some rotary tables are."""
        if isinstance(x, tuple):
            return tuple(cut(y) for y in x)
        if x is None or x.ndim < 3:
            return x
        if x.ndim == 4:
            return parallel.shard(x.transpose(1, 2)).transpose(1, 2)
        return parallel.shard(x) if x.shape[1] == parallel.tokens else x

    def before(first: bool) -> Callable[..., Any]:
        def hook(module: Any, inputs: tuple[Any, ...], named: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
            named = dict(named)
            if first:
                parallel.measure(named["hidden_states"].shape[1])
                named["hidden_states"] = parallel.shard(named["hidden_states"])
            for name in ("temb", "temb_ca_scale_shift", "temb_ca_gate", "video_rotary_emb", "ca_video_rotary_emb"):
                named[name] = cut(named[name])
            return inputs, named

        return hook

    for i, block in enumerate(blocks):
        block.attn1.set_processor(VideoAttention(parallel))
        block.video_to_audio_attn.set_processor(VideoAttention(parallel, merged=True))
        block.register_forward_pre_hook(before(i == 0), with_kwargs=True)
    blocks[-1].register_forward_hook(lambda module, inputs, out: (parallel.gather(out[0]), out[1]))
