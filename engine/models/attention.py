"""Window attention over [retained prefix KV | window] for `WanTransformer3DModel`.

The prefix holds keys *before* rotary embedding, so positions can be re-based at every call and never run out. A call
hands each layer its prefix through one `WindowCall`; nothing else of the model changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

THETA = 10000.0
"""Base of the rotary frequencies, Wan's."""
KeyValue = tuple[Tensor, Tensor]
"""Keys (not rotated) and values of one layer, each (batch, tokens, heads, head dim)."""


def attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    """Plain attention by torch, on one device."""
    q, k, v = (x.transpose(1, 2) for x in (query, key, value))
    return scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2)


@dataclass
class RotaryEmbedding:
    """Rotary cosines and sines, each (batch or 1, tokens, 1, head dim / 2), in float32. Applied in float32."""

    cos: Tensor
    sin: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        a, b = x.unflatten(-1, (-1, 2)).unbind(-1)
        return torch.stack((a * self.cos - b * self.sin, a * self.sin + b * self.cos), -1).flatten(-2).type_as(x)


def grid_rotary_embedding(frames: Tensor, rows: Tensor, columns: Tensor, head_dim: int) -> RotaryEmbedding:
    """Wan's rotary embedding at any positions: frames (f,), rows (h,) and columns (w,) need not be whole or bounded.

    As diffusers' `WanRotaryPosEmbed`, whose table ends at 1024 frames.
    """
    side = 2 * (head_dim // 6)
    shape = (len(frames), len(rows), len(columns))
    parts = []
    for axis, position, width in ((0, frames, head_dim - 2 * side), (1, rows, side), (2, columns, side)):
        frequency = THETA ** (-torch.arange(0, width, 2, dtype=torch.float64, device=position.device) / width)
        angle = position.double()[:, None] * frequency
        angle = angle.reshape(*(len(position) if i == axis else 1 for i in range(3)), -1)
        parts.append(angle.expand(*shape, -1))
    angle = torch.cat(parts, -1).flatten(0, 2)[None, :, None]
    return RotaryEmbedding(torch.cos(angle).float(), torch.sin(angle).float())


@dataclass
class Projections:
    """Camera matrices of tokens for PRoPE: `query`, `content` and `output`, each (latents, 4, 4); see `engine.models.wan.camera`.

    prefix: `content` of the prefix's latents. tokens: of one latent.
    """

    query: Tensor
    content: Tensor
    output: Tensor
    prefix: Tensor
    tokens: int

    def apply(self, x: Tensor, matrix: Tensor) -> Tensor:
        """Each 4 features of (batch, tokens, heads, dim) by the matrix of the token's latent."""
        y = x.unflatten(1, (-1, self.tokens)).unflatten(-1, (-1, 4))
        return torch.einsum("fij,bfthkj->bfthki", matrix.to(x.dtype), y).flatten(-2).flatten(1, 2)


@dataclass
class WindowCall:
    """What the forwards of one call attend with."""

    rotary: RotaryEmbedding
    """Of the window's tokens."""
    prefix: list[KeyValue] | None = None
    """One KeyValue a layer, or none."""
    prefix_rotary: RotaryEmbedding | None = None
    """Of the prefix's tokens."""
    mask: Tensor | None = None
    """(tokens, prefix + tokens) bool, True where attention is allowed; None: everywhere."""
    context_mask: Tensor | None = None
    """(tokens, context) bool, the same for cross-attention."""
    cameras: Projections | None = None
    """For models with PRoPE."""
    latents: int = 1
    """Of the window."""
    capture_kv: bool = False
    """Whether forwards append their keys and values to `captured_kv`."""
    captured_kv: list[KeyValue] = field(default_factory=list)
    """One KeyValue a layer, in the order of the layers."""
    _joined: dict[int, KeyValue] = field(default_factory=dict)
    _mine: dict[str, RotaryEmbedding] = field(default_factory=dict)

    @property
    def latent_tokens(self) -> int:
        """Tokens of one of the window's latents."""
        return self.rotary.cos.shape[1] // self.latents

    def window_rotary(self, parallel: SequenceParallel | None) -> RotaryEmbedding:
        """The window's rotary embedding, of this rank's slice where the call runs on several ranks."""
        return self.rotary if parallel is None else self._sharded("window", self.rotary, parallel)

    def _sharded(self, name: str, rotary: RotaryEmbedding, parallel: SequenceParallel) -> RotaryEmbedding:
        if name not in self._mine:
            self._mine[name] = parallel.shard_rotary(rotary)
        return self._mine[name]

    def join(self, layer: int, key: Tensor, value: Tensor, parallel: SequenceParallel | None = None) -> KeyValue:
        """[prefix | window] of a layer, each (batch, prefix + window tokens, heads, head dim). `key` is rotated.

        The prefix is rotated and copied once a call, not once a step.
        """
        if not self.prefix or self.prefix_rotary is None:
            return key, value
        rotate = self.prefix_rotary if parallel is None else self._sharded("prefix", self.prefix_rotary, parallel)
        if layer not in self._joined:
            before, content = self.prefix[layer]
            n = before.shape[1]
            shape = (key.shape[0], n + key.shape[1], *key.shape[2:])
            both = key.new_empty(shape), value.new_empty(shape)
            both[0][:, :n] = rotate(before)
            both[1][:, :n] = content
            self._joined[layer] = both
        k, v = self._joined[layer]
        n = k.shape[1] - key.shape[1]
        k[:, n:] = key
        v[:, n:] = value
        return k, v


class SequenceParallel(Protocol):
    """How one rank takes part in the forwards of a model that runs on several; see `engine.distributed.usp`.

    Every latent's tokens are cut into one shard a rank. Outside attention a rank has its shard of all heads; in attention it has some
    heads of a slice, which is one or several shards.
    """

    @property
    def tokens(self) -> int:
        """Of one latent, as last measured."""

    @property
    def slice_tokens(self) -> int:
        """Tokens of a latent that attention sees on this rank, padding included."""

    def measure(self, tokens: int) -> None:
        """tokens: of one latent, from now on."""

    def shard(self, x: Tensor) -> Tensor:
        """This rank's shard of every latent: (b, latents * tokens, ...) to (b, latents * shard, ...)."""

    def gather(self, x: Tensor) -> Tensor:
        """The inverse of `shard`, on every rank."""

    def shard_rows(self, x: Tensor) -> Tensor:
        """`shard` of what has no batch: (tokens, ...), such as a mask of cross-attention."""

    def shard_rotary(self, rotary: RotaryEmbedding) -> RotaryEmbedding:
        """The rows of a rotary embedding that this rank's slice needs."""

    def to_heads(self, x: Tensor) -> Tensor:
        """(b, latents * shard, heads, d) to (b, latents * slice, heads of this rank, d)."""

    def to_tokens(self, x: Tensor) -> Tensor:
        """The inverse of `to_heads`."""

    def attend(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        """Attention of this rank's slice of queries over everybody's keys. Raises ValueError for a mask."""

    def attend_shards(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """Attention of queries that every rank has whole, (b, n, heads, d), over keys of which each rank has its shard."""


class CallHolder:
    """Where the processors of one model find the call in progress, and the other ranks where there are any."""

    call: WindowCall | None = None
    parallel: SequenceParallel | None = None

    @contextmanager
    def calling(self, call: WindowCall) -> Iterator[None]:
        """Sets the call while the model runs."""
        self.call = call
        try:
            yield
        finally:
            self.call = None


class WindowAttention:
    """Self-attention processor of one layer."""

    def __init__(self, holder: CallHolder, layer: int) -> None:
        self._holder = holder
        self._layer = layer

    def __call__(self, attn: Any, hidden_states: Tensor, *unused: Any, **more: Any) -> Tensor:
        call = self._holder.call
        assert call is not None
        query = attn.norm_q(attn.to_q(hidden_states)).unflatten(2, (attn.heads, -1))
        key = attn.norm_k(attn.to_k(hidden_states)).unflatten(2, (attn.heads, -1))
        value = attn.to_v(hidden_states).unflatten(2, (attn.heads, -1))
        # some RMS norms answer in float32
        query, key = query.type_as(value), key.type_as(value)
        parallel = self._holder.parallel
        if parallel is not None:
            query, key, value = (parallel.to_heads(x) for x in (query, key, value))
        if call.capture_kv:
            call.captured_kv.append((key, value))
        rotate = call.window_rotary(parallel)
        keys, values = call.join(self._layer, rotate(key), value, parallel)
        out = self._attend(rotate(query), keys, values, call.mask)
        out = attn.to_out[0](out.flatten(2).type_as(hidden_states))
        if call.cameras is not None and (project := getattr(attn, "prope_o", None)) is not None:
            by_camera = self._by_camera(call, call.cameras, query, key, value)
            out = out + project(by_camera.flatten(2).type_as(hidden_states))
        return out

    def _attend(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        parallel = self._holder.parallel
        if parallel is None:
            return attend(query, key, value, mask)
        return parallel.to_tokens(parallel.attend(query, key, value, mask))

    def _by_camera(self, call: WindowCall, cameras: Projections, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """The same attention with camera matrices in place of the rotary embedding."""
        if (parallel := self._holder.parallel) is not None:
            cameras = replace(cameras, tokens=parallel.slice_tokens)
        keys, values = cameras.apply(key, cameras.content), cameras.apply(value, cameras.content)
        if call.prefix:
            before, content = call.prefix[self._layer]
            keys = torch.cat((cameras.apply(before, cameras.prefix), keys), 1)
            values = torch.cat((cameras.apply(content, cameras.prefix), values), 1)
        query = cameras.apply(query, cameras.query)
        if parallel is None:
            return cameras.apply(attend(query, keys, values, call.mask), cameras.output)
        return parallel.to_tokens(cameras.apply(parallel.attend(query, keys, values, call.mask), cameras.output))


class ContextAttention:
    """Cross-attention processor: the diffusers one with the call's context mask."""

    def __init__(self, holder: CallHolder) -> None:
        self._holder = holder

    def __call__(
        self, attn: Any, hidden_states: Tensor, encoder_hidden_states: Tensor | None = None, *unused: Any, **more: Any
    ) -> Tensor:
        call = self._holder.call
        assert call is not None and encoder_hidden_states is not None
        query = attn.norm_q(attn.to_q(hidden_states)).unflatten(2, (attn.heads, -1))
        key = attn.norm_k(attn.to_k(encoder_hidden_states)).unflatten(2, (attn.heads, -1))
        value = attn.to_v(encoder_hidden_states).unflatten(2, (attn.heads, -1))
        mask, parallel = call.context_mask, self._holder.parallel
        if mask is not None and parallel is not None:
            mask = parallel.shard_rows(mask)
        out = attend(query.type_as(value), key.type_as(value), value, mask)
        return attn.to_out[0](out.flatten(2).type_as(hidden_states))


class NoRotaryEmbedding(nn.Module):
    """Takes the place of a model's rotary table: positions come with the call."""

    def forward(self, hidden_states: Tensor) -> None:
        return None


def set_attn_processors(model: Any) -> CallHolder:
    """Puts window attention into every block of a `WanTransformer3DModel`; returns where to set the call."""
    holder = CallHolder()
    for layer, block in enumerate(model.blocks):
        block.attn1.set_processor(WindowAttention(holder, layer))
        block.attn2.set_processor(ContextAttention(holder))
    model.rope = NoRotaryEmbedding()
    return holder


def shard_blocks(model: Any, holder: CallHolder, parallel: SequenceParallel) -> None:
    """Runs the blocks of a model with window attention on shards: what enters the first block is sharded, and so is a modulation by
    token; what leaves the last one is gathered. Every rank must then run the same forwards."""
    holder.parallel = parallel
    blocks = list(model.blocks)

    def before(first: bool) -> Callable[..., Any]:
        def hook(module: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
            hidden, context, modulation, *rest = inputs
            assert holder.call is not None
            if first:
                parallel.measure(holder.call.latent_tokens)
                hidden = parallel.shard(hidden)
            if modulation.ndim == 4:
                modulation = parallel.shard(modulation)
            return hidden, context, modulation, *rest

        return hook

    for i, block in enumerate(blocks):
        block.register_forward_pre_hook(before(i == 0))
    blocks[-1].register_forward_hook(lambda module, inputs, out: parallel.gather(out))
