"""Keys and values of retained groups, by position: what a call's prefix is put together from.

Each entry remembers what it was made of, so that an entry of a revoked or re-sampled group is never taken for the new
one. Rolling back is free; what a rollback may still need is evicted only when groups were delivered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import torch

from engine.models.attention import KeyValue


class PrefixKVCache:
    """Used from one thread."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[object, list[KeyValue]]] = {}

    def get(self, position: int, cache_key: object) -> list[KeyValue] | None:
        """The layers of a group, or None when they are not there or were made of something else.

        cache_key is compared by identity or, for tuples of the same length, item by item.
        """
        entry = self._kept.get(position)
        return entry[1] if entry is not None and _same(entry[0], cache_key) else None

    def put(self, position: int, cache_key: object, layers: list[KeyValue]) -> None:
        """layers: one KeyValue each, (batch, tokens, heads, head dim), of the group at `position`, made of `cache_key`."""
        self._kept[position] = (cache_key, layers)

    def drop(self, first: int, but: Mapping[int, object] | None = None) -> None:
        """Positions from `first` on are revoked, except entries that were made of the object named for their position."""
        now = but or {}
        self._kept = {p: x for p, x in self._kept.items() if p < first or (p in now and _cache_key(x[0], now[p]))}

    def evict(self, needed: Iterable[int]) -> None:
        """Keeps only these."""
        needed = set(needed)
        self._kept = {p: x for p, x in self._kept.items() if p in needed}

    def clear(self) -> None:
        """Forgets everything."""
        self._kept.clear()

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def positions(self) -> list[int]:
        """Of the groups that are kept, rising."""
        return sorted(self._kept)

    @property
    def nbytes(self) -> int:
        """Memory of all keys and values."""
        return sum(t.nbytes for _, layers in self._kept.values() for pair in layers for t in pair)


def _same(a: object, b: object) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(
            x is y or (isinstance(x, (int, str, float)) and x == y) for x, y in zip(a, b, strict=True)
        )
    return a is b


def _cache_key(whole: object, part: object) -> bool:
    return any(x is part for x in whole) if isinstance(whole, tuple) else whole is part


def concat_kv(stores: Sequence[list[KeyValue]]) -> list[KeyValue]:
    """Consecutive groups as one prefix, layer by layer."""
    return [
        (torch.cat([k for k, _ in layer], 1), torch.cat([v for _, v in layer], 1))
        for layer in zip(*stores, strict=True)
    ]


def split_kv(layers: list[KeyValue], parts: int) -> list[list[KeyValue]]:
    """The keys and values of a window of `parts` groups, group by group. The parts are copies: a revoked one frees its memory."""
    pieces = [(k.chunk(parts, 1), v.chunk(parts, 1)) for k, v in layers]
    return [[(k[i].clone(), v[i].clone()) for k, v in pieces] for i in range(parts)]


def prefix_positions(branch: int, window: int, sink: int, known: Iterable[int]) -> list[int]:
    """Positions of the prefix of a call at `branch`: the first `sink` ones and the last ones before the branch, `window` in all."""
    there = set(known)
    recent = range(max(0, branch - window), branch)
    if branch > window:
        recent = range(branch - max(0, window - sink), branch)
    wanted = sorted({*range(min(sink, branch)), *recent})
    return [p for p in wanted if p in there]
