"""Splits of heads and tokens over ranks."""

from __future__ import annotations

import pytest

from engine.distributed.split import Split, SplitError, choose, legal


@pytest.mark.parametrize(
    ("heads", "ranks", "expected"),
    [
        (12, 8, "4 x 2"),
        (24, 8, "8 x 1"),
        (40, 8, "8 x 1"),
        (32, 8, "8 x 1"),
        (56, 8, "8 x 1"),
        (3, 2, "1 x 2"),
        (3, 4, "1 x 4"),
        (12, 6, "6 x 1"),
        (12, 5, "1 x 5"),
        (12, 1, "1 x 1"),
    ],
)
def test_the_largest_ulysses_degree_that_divides_the_heads(heads: int, ranks: int, expected: str) -> None:
    assert str(choose(heads, ranks)) == expected


def test_all_legal_splits_are_known() -> None:
    assert [str(s) for s in legal(12, 8)] == ["4 x 2", "2 x 4", "1 x 8"]
    assert choose(12, 8, "2x4") == Split(2, 4)


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("8x1", "12 heads do not divide by 8; legal for 12 heads on 8 ranks: 4x2, 2x4, 1x8"),
        ("4x4", "4 x 4 is not 8 ranks"),
        ("four", "is not a split"),
        ("0x8", "is not 8 ranks"),
    ],
)
def test_an_impossible_split_names_the_legal_ones(wanted: str, message: str) -> None:
    with pytest.raises(SplitError) as e:
        choose(12, 8, wanted)
    assert message in str(e.value) and "4x2" in str(e.value)


def test_places_fill_the_ulysses_groups_first() -> None:
    assert [Split(4, 2).place(r) for r in (0, 3, 4, 7)] == [(0, 0), (0, 3), (1, 0), (1, 3)]
