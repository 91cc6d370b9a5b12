"""Keys and values of retained groups, by position: what a call's prefix is put together from.

Each entry remembers what it was made of, so that an entry of a revoked or re-sampled group is never taken for the new
one. Rolling back is free; what a rollback may still need is evicted only when groups were delivered.

Nothing is held twice: `prefix` lays the entries of a call beside each other, layer by layer, and from then on they are views of
what it made. Their order is that of their positions, so a session gives the same numbers whichever way it came to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.models.attention import KeyValue

Turn = Callable[[int, Tensor], Tensor]
"""Rotates the keys of a position, of one layer, to where they stand in a call."""


@dataclass
class _Entry:
    cache_key: object
    layers: list[KeyValue]
    raw: bool
    """Whether its keys are rotated anew for each call."""


@dataclass(frozen=True)
class _Prefix:
    """What was laid out for the last call."""

    positions: tuple[int, ...]
    base: object
    entries: list[_Entry]
    layers: list[KeyValue]

    def fits(self, positions: Sequence[int], base: object, entries: Sequence[_Entry]) -> bool:
        same = self.positions == tuple(positions) and self.base == base
        return same and all(a is b for a, b in zip(self.entries, entries, strict=True))


class PrefixKVCache:
    """Used from one thread."""

    def __init__(self) -> None:
        self._kept: dict[int, _Entry] = {}
        self._laid: _Prefix | None = None

    def get(self, position: int, cache_key: object) -> list[KeyValue] | None:
        """The layers of a group, or None when they are not there or were made of something else.

        cache_key is compared by identity or, for tuples of the same length, item by item.
        """
        entry = self._kept.get(position)
        return entry.layers if entry is not None and _same(entry.cache_key, cache_key) else None

    def put(self, position: int, cache_key: object, layers: list[KeyValue], raw: bool = False) -> None:
        """layers: one KeyValue each, (batch, tokens, heads, head dim), of the group at `position`, made of `cache_key`. raw: its keys
        are to be rotated for each call, by what `prefix` is given."""
        self._kept[position] = _Entry(cache_key, layers, raw)

    def prefix(self, positions: Sequence[int], base: object = None, turn: Turn | None = None) -> list[KeyValue]:
        """The KV of these entries, which are there, as one KeyValue a layer.

        base: names what `turn` does; the same positions with the same base are laid out once. What else is kept moves with them.
        """
        entries = [self._kept[p] for p in positions]
        if self._laid is not None and self._laid.fits(positions, base, entries):
            return self._laid.layers
        self._laid = None  # or what lay before would be held to the end
        others = [self._kept[p] for p in sorted(self._kept) if p not in set(positions)]
        layers = [self._lay(layer, positions, entries, others, turn) for layer in range(len(entries[0].layers))]
        self._laid = _Prefix(tuple(positions), base, entries, layers)
        return layers

    @staticmethod
    def _lay(
        layer: int, positions: Sequence[int], entries: list[_Entry], others: list[_Entry], turn: Turn | None
    ) -> KeyValue:
        """One layer. When this returns, what held the entries before is free."""
        turned = [
            turn(p, e.layers[layer][0]) if turn is not None and e.raw else e.layers[layer][0]
            for p, e in zip(positions, entries, strict=True)
        ]
        # keys that are rotated for each call keep their own memory: the rotated ones lie among the others
        free = [e for e in others if turn is None or not e.raw]
        keys = torch.cat([*turned, *(e.layers[layer][0] for e in free)], 1)
        values = torch.cat([e.layers[layer][1] for e in (*entries, *others)], 1)
        at = 0
        for e in (*entries, *free):
            n = e.layers[layer][0].shape[1]
            if turn is None or not e.raw:
                e.layers[layer] = keys[:, at : at + n], e.layers[layer][1]
            at += n
        at = 0
        for e in (*entries, *others):
            key, value = e.layers[layer]
            e.layers[layer] = key, values[:, at : at + value.shape[1]]
            at += value.shape[1]
        n = sum(e.layers[layer][1].shape[1] for e in entries)
        return keys[:, :n], values[:, :n]

    def drop(self, first: int, but: Mapping[int, object] | None = None) -> None:
        """Positions from `first` on are revoked, except entries that were made of the object named for their position."""
        now = but or {}
        self._kept = {
            p: x for p, x in self._kept.items() if p < first or (p in now and _cache_key(x.cache_key, now[p]))
        }

    def evict(self, needed: Iterable[int]) -> None:
        """Keeps only these."""
        needed = set(needed)
        self._kept = {p: x for p, x in self._kept.items() if p in needed}

    def clear(self) -> None:
        """Forgets everything."""
        self._kept.clear()
        self._laid = None

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def positions(self) -> list[int]:
        """Of the groups that are kept, rising."""
        return sorted(self._kept)

    @property
    def latest(self) -> list[KeyValue]:
        """The layers of the last position. Raises ValueError where nothing is kept."""
        return self._kept[max(self._kept)].layers

    @property
    def nbytes(self) -> int:
        """Memory that all keys and values hold, what was laid out for the last call included."""
        laid = [] if self._laid is None else self._laid.layers
        pairs = [*laid, *(pair for e in self._kept.values() for pair in e.layers)]
        storages = {s._cdata: s.nbytes() for pair in pairs for t in pair for s in [t.untyped_storage()]}
        return sum(storages.values())


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
    """The keys and values of a window of `parts` groups, group by group: views, until a prefix is laid out with them."""
    pieces = [(k.chunk(parts, 1), v.chunk(parts, 1)) for k, v in layers]
    return [[(k[i], v[i]) for k, v in pieces] for i in range(parts)]


def prefix_positions(branch: int, window: int, sink: int, known: Iterable[int]) -> list[int]:
    """Positions of the prefix of a call at `branch`: the first `sink` ones and the last ones before the branch, `window` in all.

    What lies before a gap in what is known is left out, but for the first ones: each of the others keeps its distance to the branch.
    """
    there = set(known)
    recent = range(max(0, branch - window), branch)
    if branch > window:
        recent = range(branch - max(0, window - sink), branch)
    first = branch
    while first - 1 in recent and first - 1 in there:
        first -= 1
    wanted = sorted({*range(min(sink, branch, window)), *range(first, branch)})
    return [p for p in wanted if p in there]
