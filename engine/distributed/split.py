"""Splits of attention over ranks: Ulysses by heads times ring by tokens."""

from __future__ import annotations

from dataclasses import dataclass


class SplitError(ValueError):
    """A split that the heads do not allow. The message names those that they do."""


@dataclass(frozen=True)
class Split:
    """ulysses: ranks that share the heads of a slice of tokens; ring: slices of tokens. Rank = ring index * ulysses + Ulysses
    index."""

    ulysses: int = 1
    ring: int = 1

    @property
    def ranks(self) -> int:
        """Processes, each with an accelerator or on the CPU."""
        return self.ulysses * self.ring

    def place(self, rank: int) -> tuple[int, int]:
        """(ring index, Ulysses index) of a rank."""
        return divmod(rank, self.ulysses)

    def __str__(self) -> str:
        return f"{self.ulysses} x {self.ring}"


def legal(heads: int, ranks: int) -> list[Split]:
    """All splits of `ranks` whose Ulysses degree divides the heads, the largest Ulysses degree first: a head moves once, in two
    all-to-alls, where ring slices pass queries and partial results on top."""
    return [Split(u, ranks // u) for u in range(ranks, 0, -1) if ranks % u == 0 and heads % u == 0]


def choose(heads: int, ranks: int, wanted: str | None = None) -> Split:
    """The split to use, or the wanted one ('4x2'). Raises SplitError naming the legal ones."""
    if ranks < 1:
        raise SplitError(f"{ranks} ranks: at least 1 is needed")
    known = legal(heads, ranks)
    if wanted is None or wanted == "auto":
        return known[0]
    names = ", ".join(f"{s.ulysses}x{s.ring}" for s in known)
    try:
        u, r = (int(x) for x in wanted.lower().split("x"))
    except ValueError:
        raise SplitError(f"{wanted!r} is not a split: use auto or one of {names} (Ulysses x ring)") from None
    for s in known:
        if (s.ulysses, s.ring) == (u, r):
            return s
    why = f"{heads} heads do not divide by {u}" if u and heads % u else f"{u} x {r} is not {ranks} ranks"
    raise SplitError(f"{wanted} cannot be: {why}; legal for {heads} heads on {ranks} ranks: {names}")
