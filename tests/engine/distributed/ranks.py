"""Runs a function on several gloo processes and gathers what they return."""

from __future__ import annotations

import datetime
import io
import multiprocessing
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist


def _child(rank: int, world: int, store: str, work: Callable[..., Any], arguments: tuple, answers: Any) -> None:
    torch.set_num_threads(1)
    try:
        dist.init_process_group(
            "gloo",
            store=dist.FileStore(store, world),
            rank=rank,
            world_size=world,
            timeout=datetime.timedelta(seconds=60),
        )
        # as bytes: tensors would be shared through this process, which may be gone when they are read
        data = io.BytesIO()
        torch.save(work(*arguments), data)
        answers.put((rank, data.getvalue(), ""))
    except BaseException:
        answers.put((rank, None, traceback.format_exc()))
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()


def on_ranks(world: int, work: Callable[..., Any], *arguments: Any) -> list[Any]:
    """What `work(*arguments)` returned on each rank. Raises AssertionError with the first traceback."""
    context = multiprocessing.get_context("forkserver")  # see conftest.py
    answers = context.Queue()
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "store")
        children = [
            context.Process(target=_child, args=(r, world, store, work, arguments, answers)) for r in range(world)
        ]
        for c in children:
            c.start()
        got = sorted((answers.get(timeout=150) for _ in children), key=lambda x: x[0])
        for c in children:
            c.join(20)
    for _, _, error in got:
        assert not error, error
    return [torch.load(io.BytesIO(value), weights_only=False) for _, value, _ in got]
