"""What was delivered, kept as latents: a tree of takes that can be gone back into, looked at side by side, and filmed.

A take is a stretch of committed groups. Going back to a group ends the take on show and begins a new one that branches there.
Thread-safe: the engine thread writes, the window reads. Memory is bounded; the oldest groups go first.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise
from typing import Any

from engine.models.interface import ComesApart, Group, Sampler

KEPT_BYTES = 512 << 20
"""Of latents, over all takes."""
KEPT_GROUPS = 100_000
"""Over all takes, however small their latents: about seven hours, 45 MB."""
SUFFIXES = 6
"""Revoked suffixes that are kept to be looked at."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A delivered group."""

    group: Group
    start: int
    """Media frame that it begins at."""
    span: int
    """Frames."""
    call: int
    """That sampled it."""
    version: int
    """That it was made under."""
    prompt: str
    """That it was made under."""

    @property
    def position(self) -> int:
        """Of the group."""
        return self.group.position


@dataclass(slots=True)
class Take:
    """A stretch of groups that played one after the other."""

    id: int
    parent: int | None
    """The take that it branches from; None for the one that the world began with."""
    first: int
    """Its first position: it branches after the one before."""
    kept: list[Kept] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class TakeMark:
    """A take in a view: media frames [start, end) are its own and still kept."""

    id: int
    parent: int | None
    first: int
    start: int
    end: int
    groups: int
    prompt: str


@dataclass(frozen=True, slots=True)
class Suffix:
    """A revoked suffix: what would have played from media frame `start` on in take `take`, had nothing changed."""

    id: int
    take: int
    groups: tuple[Kept, ...]

    @property
    def position(self) -> int:
        """Of its first group."""
        return self.groups[0].position

    @property
    def start(self) -> int:
        """The media frame that it begins at."""
        return self.groups[0].start


class Takes:
    """The tree."""

    def __init__(self, limit: int = KEPT_BYTES, most: int = KEPT_GROUPS) -> None:
        """limit: bytes of latents that are kept; most: groups."""
        self._limit, self._most = limit, most
        self._lock = threading.Lock()
        self._next_suffix = 0
        self.clear()

    def clear(self) -> None:
        """A new world: a new tree."""
        with self._lock:
            self._takes: dict[int, Take] = {0: Take(0, None, 0)}
            self._suffixes: deque[Suffix] = deque(maxlen=SUFFIXES)
            self._current = 0
            self._bytes = 0
            self._order: deque[tuple[int, Kept]] = deque()

    @property
    def current(self) -> int:
        """The take on show."""
        return self._current

    def deliver(self, kept: Kept) -> Kept:
        """A group of the take on show began to play. Returns what is kept of it."""
        if isinstance(state := kept.group.state, ComesApart):
            kept = replace(kept, group=state.apart(kept.group))
        with self._lock:
            self._takes[self._current].kept.append(kept)
            self._order.append((self._current, kept))
            self._bytes += nbytes(kept.group)
            while (self._bytes > self._limit or len(self._order) > self._most) and len(self._order) > 1:
                take, oldest = self._order.popleft()
                self._takes[take].kept.remove(oldest)
                self._bytes -= nbytes(oldest.group)
        return kept

    def revoke(self, groups: Sequence[Kept]) -> None:
        """A suffix will not play."""
        if groups:
            with self._lock:
                self._suffixes.append(Suffix(self._next_suffix, self._current, tuple(groups)))
                self._next_suffix += 1

    def branch(self, take: int, position: int) -> list[Kept]:
        """A new take begins after a kept group; returns what is kept up to it, oldest first. Raises LookupError."""
        path = self.path(take, position)
        if not path or path[-1].position != position:
            raise LookupError(f"group {position} of take {take} is not kept any more")
        with self._lock:
            self._current = max(self._takes) + 1
            self._takes[self._current] = Take(self._current, take, position + 1)
        return path

    def path(self, take: int, last: int | None = None) -> list[Kept]:
        """What is kept of a take and of the takes that it came from, up to a position, without gaps, oldest first."""
        out: list[Kept] = []
        with self._lock:
            limit = last
            here: int | None = take
            while here is not None and here in self._takes:
                t = self._takes[here]
                own = [k for k in t.kept if limit is None or k.position <= limit]
                out[:0] = own
                if own and own[0].position > t.first:
                    break
                limit, here = t.first - 1, t.parent
        gaps = [i for i, (a, b) in enumerate(pairwise(out)) if b.position != a.position + 1]
        return out[gaps[-1] + 1 :] if gaps else out

    def suffixes(self) -> list[Suffix]:
        """The newest last."""
        with self._lock:
            return list(self._suffixes)

    def instead_of(self, suffix: Suffix) -> list[Kept]:
        """What was delivered in the place of a revoked suffix, as far as it has come."""
        end = suffix.groups[-1].start + suffix.groups[-1].span
        return [k for k in self.path(suffix.take) if k.position >= suffix.position and k.start < end]

    def marks(self) -> tuple[TakeMark, ...]:
        """All takes that have something, for a view."""
        with self._lock:
            out = []
            for t in self._takes.values():
                if t.kept or t.id == self._current:
                    start = t.kept[0].start if t.kept else -1
                    end = t.kept[-1].start + t.kept[-1].span if t.kept else -1
                    prompt = t.kept[-1].prompt if t.kept else ""
                    out.append(TakeMark(t.id, t.parent, t.first, start, end, len(t.kept), prompt))
            return tuple(out)

    @property
    def nbytes(self) -> int:
        """Of all kept latents."""
        return self._bytes


def whole(path: Sequence[Kept]) -> list[Kept]:
    """A path whose groups were kept apart, as a sampler and a decoder can go on after it."""
    out = []
    for _, kept in groupby(path, lambda k: k.call):
        call = list(kept)
        groups = [k.group for k in call]
        if isinstance(state := groups[0].state, ComesApart):
            groups = state.joined(groups)
        out += [replace(k, group=g) for k, g in zip(call, groups, strict=True)]
    return out


def retained_calls(path: Sequence[Kept]) -> list[list[Group]]:
    """The groups of a path, call by call: as samplers take them in."""
    out: list[list[Group]] = []
    before: int | None = None
    for k in path:
        if k.call != before:
            out.append([])
        out[-1].append(k.group)
        before = k.call
    return out


def resume_sampler(sampler: Sampler, path: Sequence[Kept]) -> None:
    """Sampling goes on after a path of kept groups, the last of which has been delivered."""
    sampler.reset()
    for groups in retained_calls(path):
        sampler.extend(groups)
        for g in groups:
            sampler.evict_before(g.position + 1)


def nbytes(group: Group) -> int:
    """Memory of a group's latent, roughly; 0 where it does not say."""
    latent: Any = group.latent
    return int(getattr(latent, "nbytes", 0) or 0)
