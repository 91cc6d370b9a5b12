"""Window attention over [retained prefix KV | window] for `WanTransformer3DModel`.

The prefix holds keys *before* rotary embedding, so positions can be re-based at every call and never run out. A call
hands each layer its prefix through one `WindowCall`; nothing else of the model changes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

KeyValue = tuple[Tensor, Tensor]
"""Keys (not rotated) and values of one layer, each (batch, tokens, heads, head dim)."""


@dataclass
class Rotation:
    """Rotary cosines and sines, each (batch or 1, tokens, 1, head dim / 2)."""

    cos: Tensor
    sin: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        a, b = x.unflatten(-1, (-1, 2)).unbind(-1)
        cos, sin = self.cos.to(x.dtype), self.sin.to(x.dtype)
        return torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2)


@dataclass
class WindowCall:
    """What one forward attends with.

    rotation: of the window's tokens. prefix: one KeyValue a layer, or none. prefix_rotation: of the prefix's tokens.
    mask: (tokens, prefix + tokens) bool, True where attention is allowed, or none for all. context_mask: (tokens,
    context) bool, the same for cross-attention. keep: collect this forward's own keys and values in `kept`.
    """

    rotation: Rotation
    prefix: list[KeyValue] | None = None
    prefix_rotation: Rotation | None = None
    mask: Tensor | None = None
    context_mask: Tensor | None = None
    keep: bool = False
    kept: list[KeyValue] = field(default_factory=list)


class CallHolder:
    """Where the processors of one model find the call in progress."""

    call: WindowCall | None = None


class WindowAttention:
    """Self-attention processor of one layer."""

    def __init__(self, holder: CallHolder, layer: int) -> None:
        self._holder = holder
        self._layer = layer

    def __call__(self, attn, hidden_states, encoder_hidden_states=None, attention_mask=None, rotary_emb=None):  # type: ignore[no-untyped-def]
        call = self._holder.call
        assert call is not None
        query = attn.norm_q(attn.to_q(hidden_states)).unflatten(2, (attn.heads, -1))
        key = attn.norm_k(attn.to_k(hidden_states)).unflatten(2, (attn.heads, -1))
        value = attn.to_v(hidden_states).unflatten(2, (attn.heads, -1))
        if call.keep:
            call.kept.append((key, value))
        query, key = call.rotation(query), call.rotation(key)
        if call.prefix is not None and call.prefix_rotation is not None:
            before, content = call.prefix[self._layer]
            key = torch.cat((call.prefix_rotation(before), key), 1)
            value = torch.cat((content, value), 1)
        out = scaled_dot_product_attention(
            query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2), attn_mask=call.mask
        )
        return attn.to_out[0](out.transpose(1, 2).flatten(2))


class ContextAttention:
    """Cross-attention processor: the diffusers one with the call's context mask."""

    def __init__(self, holder: CallHolder) -> None:
        self._holder = holder

    def __call__(self, attn, hidden_states, encoder_hidden_states=None, attention_mask=None, rotary_emb=None):  # type: ignore[no-untyped-def]
        call = self._holder.call
        assert call is not None and encoder_hidden_states is not None
        query = attn.norm_q(attn.to_q(hidden_states)).unflatten(2, (attn.heads, -1))
        key = attn.norm_k(attn.to_k(encoder_hidden_states)).unflatten(2, (attn.heads, -1))
        value = attn.to_v(encoder_hidden_states).unflatten(2, (attn.heads, -1))
        out = scaled_dot_product_attention(
            query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2), attn_mask=call.context_mask
        )
        return attn.to_out[0](out.transpose(1, 2).flatten(2))


def install(model) -> CallHolder:  # type: ignore[no-untyped-def]
    """Puts window attention into every block of a `WanTransformer3DModel`; returns where to set the call."""
    holder = CallHolder()
    for layer, block in enumerate(model.blocks):
        block.attn1.set_processor(WindowAttention(holder, layer))
        block.attn2.set_processor(ContextAttention(holder))
    return holder
