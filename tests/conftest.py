"""Torch computes with one thread in tests: several processes of them share the cores. The longest files run first."""

from __future__ import annotations

import pytest

from engine.models import cores

cores.MOST_THREADS = 1
LONGEST = (
    "distributed/test_group.py",
    "distributed/test_usp.py",
    "wan/test_sessions.py",
    "cli/test_cli.py",
    "models/test_checkpoints.py",
    "pocket2/test_pocket2.py",
    "measure/test_simulate.py",
    "models/test_hub.py",
)
"""Where files are dealt out to processes, none shall begin with one of these when the others are done."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    rank = {name: i for i, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get("/".join(item.path.parts[-2:]), len(rank)))
