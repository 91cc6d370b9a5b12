"""Unified sequence parallelism under window attention: Ulysses x ring over [retained prefix KV | window].

Every rank runs the same sampler on the same numbers; only the transformer's blocks are shared out. A latent's tokens are cut
into as many shards as there are ranks, the same cut for every latent, so that keys and values can be kept latent by latent.

Before attention an all-to-all among Ulysses ranks turns (all heads, my shard) into (my heads, the ring slice). There the keys and
values of the window are kept when they are to be history: a prefix token crosses the wire once in its life, and stays head-sharded
and ring-sliced where it is. In the ring dimension it is the queries that travel, not the keys: all slices' queries are gathered,
each rank attends with them to its own slice of [prefix | window], partial results go home and are merged by their log-sum-exp.
So what a step sends does not depend on how long the history is. Tokens that do not divide are padded; padding is dropped from
keys before attention and from the output. Cross-attention stays local, its text is everywhere.

The all-to-alls are yunchang's, on whatever backend the process group has (gloo on the CPU, NCCL on GPUs).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from engine.distributed.split import Split
from engine.models.attention import KeyValue, RotaryEmbedding, attend_parts, attend_parts_lse


@dataclass
class Traffic:
    """Messages and bytes that this rank sent, by kind."""

    messages: Counter[str] = field(default_factory=Counter)
    sent: Counter[str] = field(default_factory=Counter)

    def count(self, kind: str, tensor: Tensor, away: float) -> None:
        """away: the share of the tensor that leaves this rank."""
        self.messages[kind] += 1
        self.sent[kind] += round(tensor.nbytes * away)

    def clear(self) -> None:
        """Counts from nothing again."""
        self.messages.clear()
        self.sent.clear()


@dataclass(frozen=True)
class Groups:
    """Process groups of a rank; None where there is nobody to talk to."""

    split: Split
    rank: int
    ulysses: Any = None
    ring: Any = None


def make_groups(split: Split) -> Groups:
    """Process groups of this rank; every rank must call it. On accelerators the groups are xfuser's where it is installed."""
    rank = dist.get_rank()
    if dist.get_world_size() != split.ranks:
        raise ValueError(f"the split {split} is for {split.ranks} ranks, not {dist.get_world_size()}")
    if dist.get_backend() != "gloo" and (made := _xfuser_groups(split)) is not None:
        return Groups(split, rank, *made)
    ulysses = ring = None
    for i in range(split.ring):
        ranks = list(range(i * split.ulysses, (i + 1) * split.ulysses))
        group = dist.new_group(ranks) if split.ulysses > 1 else None
        ulysses = group if rank in ranks else ulysses
    for j in range(split.ulysses):
        ranks = list(range(j, split.ranks, split.ulysses))
        group = dist.new_group(ranks) if split.ring > 1 else None
        ring = group if rank in ranks else ring
    return Groups(split, rank, ulysses, ring)


def _xfuser_groups(split: Split) -> tuple[Any, Any] | None:
    """xfuser's process groups, which it makes over the environment that is there already; None without xfuser."""
    try:
        from xfuser.core.distributed import get_sp_group, init_distributed_environment, initialize_model_parallel
    except (ImportError, NotImplementedError):
        return None
    init_distributed_environment(world_size=split.ranks, rank=dist.get_rank())
    initialize_model_parallel(
        sequence_parallel_degree=split.ranks, ulysses_degree=split.ulysses, ring_degree=split.ring
    )
    sp = get_sp_group()
    return sp.ulysses_group if split.ulysses > 1 else None, sp.ring_group if split.ring > 1 else None


class UnifiedSequenceParallel:
    """See `engine.models.attention.SequenceParallel`."""

    def __init__(self, groups: Groups) -> None:
        self.groups, self.split = groups, groups.split
        self.traffic = Traffic()
        self._ring_index = self.split.place(groups.rank)[0]
        self.tokens = 0
        self.shard_tokens = 0
        """Tokens of a latent outside attention, padding included."""

    # -- outside attention ---------------------------------------------------------------------------------------------

    def measure(self, tokens: int) -> None:
        self.tokens, self.shard_tokens = tokens, -(-tokens // self.split.ranks)

    def shard(self, x: Tensor) -> Tensor:
        y = x.unflatten(1, (-1, self.tokens))
        first = self.groups.rank * self.shard_tokens
        return _padded(y[:, :, first : first + self.shard_tokens], self.shard_tokens).contiguous()

    def gather(self, x: Tensor) -> Tensor:
        parts = [torch.empty_like(x) for _ in range(self.split.ranks)]
        self.traffic.count("gather", x, self.split.ranks - 1)
        dist.all_gather(parts, x.contiguous())
        y = torch.cat([p.unflatten(1, (-1, self.shard_tokens)) for p in parts], 2)
        return y[:, :, : self.tokens].flatten(1, 2)

    def shard_rows(self, x: Tensor) -> Tensor:
        return self.shard(x[None])[0]

    def attend_shards(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        mine = max(0, min(self.shard_tokens, self.tokens - self.groups.rank * self.shard_tokens))
        packed = _partial(query, [(key[:, :mine], value[:, :mine])])
        parts = [torch.empty_like(packed) for _ in range(self.split.ranks)]
        self.traffic.count("partials", packed, self.split.ranks - 1)
        dist.all_gather(parts, packed)
        return _merged(torch.stack(parts)).type_as(query)

    # -- inside attention ----------------------------------------------------------------------------------------------

    @property
    def slice_tokens(self) -> int:
        return self.shard_tokens * self.split.ulysses

    @property
    def valid_tokens(self) -> int:
        """Of a slice, those that are not padding."""
        return max(0, min(self.slice_tokens, self.tokens - self._ring_index * self.slice_tokens))

    def to_heads(self, x: Tensor) -> Tensor:
        if self.groups.ulysses is None:
            return x
        from yunchang.comm.all_to_all import all_to_all_4D

        self.traffic.count("ulysses", x, 1 - 1 / self.split.ulysses)
        b = x.shape[0]
        y = all_to_all_4D(x.unflatten(1, (-1, self.shard_tokens)).flatten(0, 1), 2, 1, self.groups.ulysses)
        return y.unflatten(0, (b, -1)).flatten(1, 2)

    def to_tokens(self, x: Tensor) -> Tensor:
        if self.groups.ulysses is None:
            return x
        from yunchang.comm.all_to_all import all_to_all_4D

        self.traffic.count("ulysses", x, 1 - 1 / self.split.ulysses)
        b = x.shape[0]
        y = all_to_all_4D(x.unflatten(1, (-1, self.slice_tokens)).flatten(0, 1).contiguous(), 1, 2, self.groups.ulysses)
        return y.unflatten(0, (b, -1)).flatten(1, 2)

    def shard_rotary(self, rotary: RotaryEmbedding) -> RotaryEmbedding:
        return RotaryEmbedding(*(self._slice(x) for x in (rotary.cos, rotary.sin)))

    def _slice(self, x: Tensor) -> Tensor:
        y = x.unflatten(1, (-1, self.tokens))
        first = self._ring_index * self.slice_tokens
        return _padded(y[:, :, first : first + self.slice_tokens], self.slice_tokens)

    def _without_padding(self, x: Tensor) -> Tensor:
        """Keys or values without padding."""
        if self.valid_tokens == self.slice_tokens:
            return x
        return x.unflatten(1, (-1, self.slice_tokens))[:, :, : self.valid_tokens].flatten(1, 2)

    def attend(self, query: Tensor, parts: Sequence[KeyValue], mask: Tensor | None) -> Tensor:
        if mask is not None:
            raise ValueError("a masked forward cannot be spread over ranks; calls have no mask")
        parts = [(self._without_padding(k), self._without_padding(v)) for k, v in parts]
        if self.groups.ring is None:
            return attend_parts(query, parts)
        r = self.split.ring
        query = query.contiguous()
        all_queries = [torch.empty_like(query) for _ in range(r)]
        self.traffic.count("queries", query, r - 1)
        dist.all_gather(all_queries, query, group=self.groups.ring)
        n = query.shape[1]
        visiting = torch.stack(all_queries, 1).flatten(1, 2)
        packed = _partial(visiting, parts).unflatten(1, (r, n)).transpose(0, 1).contiguous()
        home = torch.empty_like(packed)
        self.traffic.count("partials", packed, 1 - 1 / r)
        dist.all_to_all_single(home, packed, group=self.groups.ring)
        return _merged(home).type_as(query)


def _padded(x: Tensor, tokens: int) -> Tensor:
    """(b, latents, n, ...) to (b, latents * tokens, ...), with zeros where a latent has fewer than `tokens` here."""
    if x.shape[2] < tokens:
        x = torch.cat((x, x.new_zeros(*x.shape[:2], tokens - x.shape[2], *x.shape[3:])), 2)
    return x.flatten(1, 2)


def _partial(query: Tensor, parts: Sequence[KeyValue]) -> Tensor:
    """Attention over some of the keys, (b, n, heads, d + 1) in float32; the last feature is the log-sum-exp of its scores. Where there
    is padding only, nothing is added."""
    out, lse = attend_parts_lse(query, parts)
    return torch.cat((out.float(), lse[..., None]), -1).contiguous()


def _merged(partials: Tensor) -> Tensor:
    """(parts, b, n, heads, d + 1), as `_partial` gives them, to attention over all keys, (b, n, heads, d)."""
    weight = torch.softmax(partials[..., -1], 0)[..., None]
    return (partials[..., :-1] * weight).sum(0)
