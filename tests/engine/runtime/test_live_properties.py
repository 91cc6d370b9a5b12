"""The live session under a person who does anything: a few sessions at every run, and ten thousand new ones as a slow test."""

from __future__ import annotations

import os
import random

import pytest

from tests.engine.runtime.live_fuzz import KINDS, Fuzz, search

FEW = int(os.environ.get("FORELAND_LIVE", "6"))
"""Sessions of each kind."""
MANY = 10_000


FIRST = 200
"""Of the sessions of every run. New ones are searched by the slow test: it still finds a stall or a late press in one of a hundred."""


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_found_in_these_sessions(kind: str) -> None:
    found = search(range(FIRST, FIRST + FEW), [kind])
    assert not found, "repeat with: " + "; ".join(found.values())


def test_a_fault_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The books are awake: calls that are taken to need no time are seen as stalls."""
    monkeypatch.setattr("engine.control.estimator.Estimator._estimate", lambda estimator, work: 0.0)
    assert any(Fuzz(seed, "clean").run() for seed in range(4))


@pytest.mark.slow
@pytest.mark.timeout(6 * 3600)
def test_nothing_is_found_in_ten_thousand_new_sessions() -> None:
    first = random.randrange(10**6)
    found = search(range(first, first + MANY // len(KINDS) + 1))
    assert not found, "repeat with: " + "; ".join(found.values())
