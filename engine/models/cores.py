"""How many threads torch takes where nobody says it."""

from __future__ import annotations

import os

MOST_THREADS = 16
"""More contend for memory."""


def default_threads() -> int:
    """All cores that this process may use, up to MOST_THREADS."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 2
    return min(MOST_THREADS, cores)
