"""How long a call takes, what it was measured on, and how much memory the process had."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable
from typing import Any

import psutil

from engine.runtime.metrics import percentile


def timed(call: Callable[[], Any], repeats: int, clock: Callable[[], float] = time.perf_counter) -> dict[str, float]:
    """Seconds of a call: min, median and max of `repeats`; one call before them does not count."""
    call()
    times = []
    for _ in range(repeats):
        began = clock()
        call()
        times.append(clock() - began)
    return {"min": min(times), "median": percentile(times, 0.5) or 0.0, "max": max(times)}


def memory_mb() -> float:
    """Resident memory of this process, in MiB."""
    return float(psutil.Process().memory_info().rss) / 2**20


def machine() -> str:
    """What was measured on, in words."""
    import torch

    return f"{os.cpu_count()} cores, {platform.machine()}, Python {sys.version.split()[0]}, torch {torch.__version__}"
