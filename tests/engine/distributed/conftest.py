"""Processes of these tests are forked from a server that has imported torch and diffusers once: a start takes 0.1 s, not 6."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator

import pytest

from engine.distributed import group


@pytest.fixture(scope="package", autouse=True)
def quick_starts() -> Iterator[None]:
    """Ranks start from the server too, except where a test asks for `true_starts`."""
    from tests.engine.distributed import preload  # the server itself would not say that an import fails

    multiprocessing.get_context("forkserver").set_forkserver_preload([preload.__name__])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(group, "START_METHOD", "forkserver")
        yield


@pytest.fixture
def true_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranks start as in the program."""
    monkeypatch.setattr(group, "START_METHOD", "spawn")
