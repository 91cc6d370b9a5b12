"""The same spreading for MiniMax-H3 and LTX-2.3: models with attention of their own and, here, without retained KV.

MiniMax-H3 runs one packed sequence of text, audio and video rows: it is cut like one large latent. LTX-2.3 has a long video and a
short audio stream: video rows are cut, audio runs on every rank; where audio looks at video, each rank looks at its own rows and the
partial results are merged by their log-sum-exp.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from engine.distributed.usp import Groups, Spread, attend_lse


def _merge(parts: list[Tensor]) -> Tensor:
    """Partial outputs with their log-sum-exp as the last feature."""
    packed = torch.stack(parts)
    weight = torch.softmax(packed[..., -1], 0)[..., None]
    return (packed[..., :-1] * weight).sum(0)


# -- MiniMax-H3 ----------------------------------------------------------------------------------------------------------


class PackedAttention:
    """Processor of a `MiniMaxH3Attention` in the block stack."""

    def __init__(self, spread: Spread) -> None:
        self._spread = spread

    def __call__(
        self, attn: Any, hidden_states: Tensor, rotary_emb: Any = None, attention_mask: Tensor | None = None
    ) -> Tensor:
        from diffusers.models.transformers.transformer_minimax_h3 import _apply_rotary_emb

        s = self._spread
        query, key, value = (
            f(hidden_states).unflatten(-1, (attn.heads, -1)) for f in (attn.to_q, attn.to_k, attn.to_v)
        )
        query, key = attn.norm_q(query), attn.norm_k(key)
        if rotary_emb is not None:
            query, key = _apply_rotary_emb(query, *rotary_emb), _apply_rotary_emb(key, *rotary_emb)
        query, key, value = (s.to_heads(x.type_as(value)) for x in (query, key, value))
        out = s.to_tokens(s.attend(query, key, value, attention_mask))
        return attn.to_out[0](out.flatten(2).type_as(hidden_states))


def spread_h3(model: Any, groups: Groups) -> Spread:
    """Spreads a `MiniMaxH3Transformer3DModel` over the ranks of `groups`."""
    spread = Spread(groups)
    blocks = list(model.transformer_blocks)

    def before(first: bool) -> Callable[..., Any]:
        def hook(module: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
            hidden, temb, rows, rotary, *rest = inputs
            if first:
                spread.measure(hidden.shape[1])
                hidden = spread.take(hidden)
            return hidden, temb, spread.rows(rows), tuple(spread.rows(x) for x in rotary), *rest

        return hook

    for i, block in enumerate(blocks):
        block.attn.set_processor(PackedAttention(spread))
        block.register_forward_pre_hook(before(i == 0))
    blocks[-1].register_forward_hook(lambda module, inputs, out: spread.whole(out))
    return spread


# -- LTX-2.3 ---------------------------------------------------------------------------------------------------------------


class VideoAttention:
    """Processor of an `LTX2Attention`. merged: keys and values are this rank's rows of the video, queries are everybody's."""

    def __init__(self, spread: Spread, merged: bool = False) -> None:
        self._spread, self._merged = spread, merged

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
        out = self._everybodys(query, key, value) if self._merged else self._own(query, key, value)
        if attn.to_gate_logits is not None:
            out = out * (2 * torch.sigmoid(attn.to_gate_logits(hidden_states)))[..., None]
        return attn.to_out[0](out.flatten(2).type_as(hidden_states))

    def _own(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        s = self._spread
        query, key, value = (s.to_heads(x) for x in (query, key, value))
        return s.to_tokens(s.attend(query, key, value, None))

    def _everybodys(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        s = self._spread
        mine = max(0, min(s.shard, s.tokens - s.groups.rank * s.shard))
        if mine:
            out, lse = attend_lse(query, key[:, :mine], value[:, :mine])
        else:
            out, lse = torch.zeros_like(query), query.new_full(query.shape[:3], -torch.inf, dtype=torch.float32)
        packed = torch.cat((out.float(), lse[..., None]), -1).contiguous()
        parts = [torch.empty_like(packed) for _ in range(s.split.ranks)]
        s.traffic.count("partials", packed, s.split.ranks - 1)
        dist.all_gather(parts, packed)
        return _merge(parts).type_as(query)


def spread_ltx2(model: Any, groups: Groups) -> Spread:
    """Spreads an `LTX2VideoTransformer3DModel` over the ranks of `groups`."""
    spread = Spread(groups)
    blocks = list(model.transformer_blocks)

    def cut(x: Any) -> Any:
        """What has a row for each video token: (b, tokens, ...), or (b, heads, tokens, ...) as some rotary tables are."""
        if isinstance(x, tuple):
            return tuple(cut(y) for y in x)
        if x is None or x.ndim < 3:
            return x
        if x.ndim == 4:
            return spread.take(x.transpose(1, 2)).transpose(1, 2)
        return spread.take(x) if x.shape[1] == spread.tokens else x

    def before(first: bool) -> Callable[..., Any]:
        def hook(module: Any, inputs: tuple[Any, ...], named: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
            named = dict(named)
            if first:
                spread.measure(named["hidden_states"].shape[1])
                named["hidden_states"] = spread.take(named["hidden_states"])
            for name in ("temb", "temb_ca_scale_shift", "temb_ca_gate", "video_rotary_emb", "ca_video_rotary_emb"):
                named[name] = cut(named[name])
            return inputs, named

        return hook

    for i, block in enumerate(blocks):
        block.attn1.set_processor(VideoAttention(spread))
        block.video_to_audio_attn.set_processor(VideoAttention(spread, merged=True))
        block.register_forward_pre_hook(before(i == 0), with_kwargs=True)
    blocks[-1].register_forward_hook(lambda module, inputs, out: (spread.whole(out[0]), out[1]))
    return spread


def spread_joint(model: Any, groups: Groups) -> Spread:
    """Spreads the transformer of a model that makes picture and sound together."""
    return spread_h3(model, groups) if type(model).__name__.startswith("MiniMaxH3") else spread_ltx2(model, groups)
