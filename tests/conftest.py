"""Torch computes with one thread in tests: several processes of them share the cores."""

from __future__ import annotations

from engine.models import cores

cores.MOST_THREADS = 1
