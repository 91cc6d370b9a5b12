"""Window attention over [retained prefix KV | window] for `WanTransformer3DModel`.

Prefix and window are attended to apart, where their keys and values lie, and merged by log-sum-exp: nothing is copied
together. A call hands each layer its prefix through one `WindowCall`; nothing else of the model changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from engine.models import fused
from engine.models.attention_kernels import attend, attend_lse

THETA = 10000.0
"""Base of the rotary frequencies, Wan's."""
KeyValue = tuple[Tensor, Tensor]
"""Keys and values of one layer, each (batch, tokens, heads, head dim)."""


def attend_parts(query: Tensor, parts: Sequence[KeyValue], mask: Tensor | None = None) -> Tensor:
    """Attention over keys that lie in several places. mask: over all of them, in their order.

    Two parts are merged by the log-sum-exp of their scores, which equals attention over both to rounding. Where gradients are
    wanted or there is a mask, the parts are copied together: torch's log-sum-exp has no gradient.
    """
    if len(parts) > 1 and (mask is not None or torch.is_grad_enabled()):
        parts = [(torch.cat([k for k, _ in parts], 1), torch.cat([v for _, v in parts], 1))]
    if len(parts) == 1:
        return attend(query, *parts[0], mask)
    return attend_parts_lse(query, parts)[0]


def attend_parts_lse(query: Tensor, parts: Sequence[KeyValue]) -> tuple[Tensor, Tensor]:
    """As `attend_parts`, with the log-sum-exp of all scores, (batch, tokens, heads) in float32. Parts may be empty."""
    there = [part for part in parts if part[0].shape[1]]
    if not there:
        return torch.zeros_like(query), query.new_full(query.shape[:3], -torch.inf, dtype=torch.float32)
    out, lse = attend_lse(query, *there[0])
    for part in there[1:]:
        more, of_more = attend_lse(query, *part)
        out, lse = fused.merge(out, lse, more, of_more)
    return out, lse


@dataclass
class RotaryEmbedding:
    """Rotary cosines and sines, each (batch or 1, tokens, 1, head dim / 2), in float32. Applied in float32."""

    cos: Tensor
    sin: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        # the operator has no gradient, its formula has
        return (fused.rotate_formula if x.requires_grad else fused.rotate)(x, self.cos, self.sin)

    def then(self, other: RotaryEmbedding) -> RotaryEmbedding:
        """That of these tokens and then of others."""
        return RotaryEmbedding(torch.cat((self.cos, other.cos), 1), torch.cat((self.sin, other.sin), 1))


def grid_rotary_embedding(
    frames: Tensor, rows: Tensor, columns: Tensor, head_dim: int, device: torch.device | None = None
) -> RotaryEmbedding:
    """Wan's rotary embedding at any positions: frames (f,), rows (h,) and columns (w,) need not be whole or bounded.
    device: where it is wanted, by default where `frames` are.

    As diffusers' `WanRotaryPosEmbed`, whose table ends at 1024 frames.
    """
    side = 2 * (head_dim // 6)
    shape = (len(frames), len(rows), len(columns))
    tables: list[list[Tensor]] = []
    for axis, position, width in ((0, frames, head_dim - 2 * side), (1, rows, side), (2, columns, side)):
        frequency = THETA ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
        # in double precision on the CPU, which every machine has: a session of hours has positions that float32 cannot turn
        angle = position.cpu().double()[:, None] * frequency
        angle = angle.reshape(*(len(position) if i == axis else 1 for i in range(3)), -1)
        tables.append([f(angle).float().to(device or frames.device).expand(*shape, -1) for f in (torch.cos, torch.sin)])
    cos, sin = (torch.cat(parts, -1).flatten(0, 2)[None, :, None] for parts in zip(*tables, strict=True))
    return RotaryEmbedding(cos, sin)


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
    """Of the prefix's tokens; None: its keys are rotated already, and are used where they lie."""
    mask: Tensor | None = None
    """(tokens, prefix + tokens) bool, True where attention is allowed; None: everywhere."""
    context_mask: Tensor | None = None
    """(tokens, context) bool, the same for cross-attention."""
    cameras: Projections | None = None
    """For models with PRoPE; then `prefix_rotary` is given, since they need keys that are not rotated as well."""
    latents: int = 1
    """Of the window."""
    registers: int = 0
    """Tokens before the window's, empty when they enter, that are no part of what comes out; `rotary` begins with theirs."""
    buttons: Tensor | None = None
    """(latents, buttons) on the CPU: which are held, for models that take keys so; see `engine.models.buttons`."""
    rays: tuple[Tensor, list[int]] | None = None
    """Of `engine.models.rays`, for models that take keys so."""
    capture_kv: bool = False
    """Whether forwards append their keys and values to `captured_kv`."""
    capture_rotated: bool = False
    """Whether the keys among them are rotated."""
    captured_kv: list[KeyValue] = field(default_factory=list)
    """One KeyValue a layer, in the order of the layers."""
    context_kv: dict[int, KeyValue] = field(default_factory=dict)
    """Keys and values of the text by layer: made by the first forward, for all that have the same text. Calls may share it."""
    _rotated: dict[int, Tensor] = field(default_factory=dict)
    _mine: dict[str, RotaryEmbedding] = field(default_factory=dict)

    @property
    def latent_tokens(self) -> int:
        """Tokens of one of the window's latents."""
        return (self.rotary.cos.shape[1] - self.registers) // self.latents

    @property
    def nbytes(self) -> int:
        """Memory that the call holds beside the prefix."""
        kept = [*self._rotated.values(), *(x for pair in self.captured_kv for x in pair)]
        return sum(x.nbytes for x in kept)

    def window_rotary(self, parallel: SequenceParallel | None) -> RotaryEmbedding:
        """The window's rotary embedding, of this rank's slice where the call runs on several ranks."""
        return self.rotary if parallel is None else self._sharded("window", self.rotary, parallel)

    def _sharded(self, name: str, rotary: RotaryEmbedding, parallel: SequenceParallel) -> RotaryEmbedding:
        if name not in self._mine:
            self._mine[name] = parallel.shard_rotary(rotary)
        return self._mine[name]

    def parts(self, layer: int, key: Tensor, value: Tensor, parallel: SequenceParallel | None = None) -> list[KeyValue]:
        """What a layer attends to, with rotated keys: the prefix, where there is one, and the window's `key` and `value`.

        Keys of the prefix that are not rotated are once a call, not once a step.
        """
        if not self.prefix:
            return [(key, value)]
        before, content = self.prefix[layer]
        if self.prefix_rotary is not None:
            rotate = self.prefix_rotary if parallel is None else self._sharded("prefix", self.prefix_rotary, parallel)
            if torch.is_grad_enabled():
                return [(rotate(before), content), (key, value)]
            if layer not in self._rotated:
                self._rotated[layer] = rotate(before)
            before = self._rotated[layer]
        return [(before, content), (key, value)]


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

    def attend(self, query: Tensor, parts: Sequence[KeyValue], mask: Tensor | None) -> Tensor:
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


def window_attention(
    call: WindowCall, layer: int, query: Tensor, key: Tensor, value: Tensor, parallel: SequenceParallel | None
) -> Tensor:
    """Self-attention over [prefix | window] of queries, keys and values that are not rotated, (batch, tokens, heads, head dim);
    under ranks of their own slices and heads. The same shape, under ranks of the rank's own tokens."""
    rotate = call.window_rotary(parallel)
    turned = rotate(key)
    if call.capture_kv:
        call.captured_kv.append((turned if call.capture_rotated else key, value))
    return attend_window(call, layer, rotate(query), turned, value, parallel)


def attend_window(
    call: WindowCall, layer: int, query: Tensor, key: Tensor, value: Tensor, parallel: SequenceParallel | None
) -> Tensor:
    """As `window_attention`, of queries and keys that are rotated."""
    parts = call.parts(layer, key, value, parallel)
    if parallel is None:
        return attend_parts(query, parts, call.mask)
    return parallel.to_tokens(parallel.attend(query, parts, call.mask))


def camera_attention(
    call: WindowCall, layer: int, query: Tensor, key: Tensor, value: Tensor, parallel: SequenceParallel | None
) -> Tensor:
    """The same attention with camera matrices in place of the rotary embedding. Raises ValueError for a call without cameras."""
    cameras = call.cameras
    if cameras is None:
        raise ValueError("the call has no cameras")
    if parallel is not None:
        cameras = replace(cameras, tokens=parallel.slice_tokens)
    parts = [(cameras.apply(key, cameras.content), cameras.apply(value, cameras.content))]
    if call.prefix:
        before = [cameras.apply(x, cameras.prefix) for x in call.prefix[layer]]
        parts.insert(0, (before[0], before[1]))
    query = cameras.apply(query, cameras.query)
    if parallel is None:
        return cameras.apply(attend_parts(query, parts, call.mask), cameras.output)
    return parallel.to_tokens(cameras.apply(parallel.attend(query, parts, call.mask), cameras.output))


class WindowAttention:
    """Self-attention processor of one layer."""

    def __init__(self, holder: CallHolder, layer: int) -> None:
        self._holder = holder
        self._layer = layer

    def __call__(self, attn: Any, hidden_states: Tensor, *unused: Any, **more: Any) -> Tensor:
        call, parallel = self._holder.call, self._holder.parallel
        assert call is not None
        query = attn.norm_q(attn.to_q(hidden_states)).unflatten(2, (attn.heads, -1))
        key = attn.norm_k(attn.to_k(hidden_states)).unflatten(2, (attn.heads, -1))
        value = attn.to_v(hidden_states).unflatten(2, (attn.heads, -1))
        # some RMS norms answer in float32
        query, key = query.type_as(value), key.type_as(value)
        if parallel is not None:
            query, key, value = (parallel.to_heads(x) for x in (query, key, value))
        out = window_attention(call, self._layer, query, key, value, parallel)
        return attn.to_out[0](out.flatten(2).type_as(hidden_states))


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
