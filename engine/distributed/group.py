"""The ranks as one thing: started, watched, told what to do together, and ended together.

Ranks are processes of multiprocessing's spawn context, so they start in the same way from a checkout, from an installation, from a
bundle without a Python of its own, and on every system.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NoReturn

from engine.assets import FOLDER
from engine.distributed.worker import Rank, run_rank
from engine.models.interface import Header, Tensors
from engine.models.transport import receive, send

log = logging.getLogger(__name__)

START_SECONDS = 600.0
"""For all ranks to load; large checkpoints take minutes."""
LEAST_PATIENCE = 20.0
"""Seconds without a sign of life after which a rank that should work counts as hung; five times the slowest step, if longer."""
COLLECTIVE_SECONDS = 120.0
"""A collective that takes longer fails; the engine has given the group up long before. Idle time does not count: nobody waits in
a collective then."""
GOODBYE_SECONDS = 3.0
"""For ranks to end by themselves when the group is closed."""
START_METHOD = "spawn"
"""Of multiprocessing: the one that works on every system and in a bundle."""


class RankError(RuntimeError):
    """A rank failed, ended or hung. The whole group was ended."""


@contextmanager
def safe_path() -> Iterator[None]:
    """Interpreters that start meanwhile do not take modules from the current folder."""
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before


class RankGroup:
    """N child processes. Used from one thread."""

    def __init__(
        self,
        request: Header,
        devices: list[str],
        progress: Callable[[str, float], None],
        rank: type[Rank] = Rank,
    ) -> None:
        """request: what to load; devices: one a rank; rank: what runs in each process. Raises RankError when one does not come up."""
        self.ranks = len(devices)
        self._children: list[BaseProcess] = []
        self._pipes: list[Connection] = []
        self._slowest = 0.0
        self.alive = True
        self._folder = tempfile.TemporaryDirectory(prefix="foreland-ranks-")
        try:
            self._start(request, devices, rank)
            self._load(progress)
        except BaseException:
            self.kill()
            raise

    def _start(self, request: Header, devices: list[str], kind: type[Rank]) -> None:
        context: Any = multiprocessing.get_context(START_METHOD)
        shared = {
            "op": "load",
            "ranks": self.ranks,
            "store": str(Path(self._folder.name) / "store"),
            "collective": COLLECTIVE_SECONDS,
            "assets": str(FOLDER),
        }
        for rank, device in enumerate(devices):
            mine, theirs = context.Pipe()
            self._pipes.append(mine)
            child = context.Process(target=run_rank, args=(theirs, kind), name=f"foreland-rank-{rank}", daemon=True)
            with safe_path():
                child.start()
            self._children.append(child)
            theirs.close()
            options = request["options"] | {"device": device}
            self._send(rank, request | shared | {"rank": rank, "options": options})

    def _load(self, progress: Callable[[str, float], None]) -> None:
        ready: set[int] = set()
        shares = [0.0] * self.ranks
        end = time.monotonic() + START_SECONDS
        while len(ready) < self.ranks:
            rank, header, _ = self._next(end - time.monotonic())
            if header["op"] == "ready":
                ready.add(rank)
                shares[rank] = 1.0
            elif header["op"] == "progress":
                shares[rank] = header["share"]
            stage = header.get("stage", "ready")
            progress(f"rank {rank} of {self.ranks}: {stage}", min(shares))

    @property
    def pids(self) -> list[int]:
        """Process ids, by rank."""
        return [c.pid for c in self._children if c.pid is not None]

    def tell(self, header: Header, tensors: Tensors | None = None) -> None:
        """To all ranks. Raises RankError."""
        for rank in range(self.ranks):
            self._send(rank, header, tensors)

    def _send(self, rank: int, header: Header, tensors: Tensors | None = None) -> None:
        try:
            send(self._pipes[rank], header, tensors)
        except OSError as e:
            self._fail(rank, self._ending(rank) or str(e))

    def answers(self, first: str | None = None) -> tuple[Header, Tensors]:
        """Waits until every rank has answered; the answer of rank 0. first: an op of rank 0 alone that is returned at once."""
        missing = set(range(self.ranks))
        answer: tuple[Header, Tensors] = ({}, {})
        began = time.monotonic()
        while missing:
            rank, header, tensors = self._next(max(LEAST_PATIENCE, 5 * self._slowest))
            if rank == 0 and header["op"] == first:
                self._slowest = max(self._slowest, time.monotonic() - began)
                return header, tensors
            missing.discard(rank)
            if rank == 0:
                answer = header, tensors
        self._slowest = max(self._slowest, time.monotonic() - began)
        return answer

    def _next(self, seconds: float) -> tuple[int, Header, Tensors]:
        """The next message of any rank. Raises RankError."""
        rank, header, tensors = self._wait(seconds)
        if header["op"] == "error":
            log.error("rank %d: %s", rank, header.get("traceback", header["text"]))
            self._fail(rank, header["text"])
        return rank, header, tensors

    def _wait(self, seconds: float) -> tuple[int, Header, Tensors]:
        """What any rank says next. Raises RankError."""
        ready = wait([*self._pipes, *(c.sentinel for c in self._children)], max(0.0, seconds))
        if not ready:
            self._fail(None, f"no sign of life for {seconds:.0f} s")
        # what a rank said before it ended comes first
        rank = next((i for i, pipe in enumerate(self._pipes) if pipe in ready), None)
        if rank is None:
            rank = next(i for i, child in enumerate(self._children) if child.sentinel in ready)
            self._fail(rank, self._ending(rank))
        try:
            header, tensors = receive(self._pipes[rank])
        except (EOFError, OSError):
            self._fail(rank, self._ending(rank) or "its pipe ended")
        except Exception as e:
            log.info("rank %d", rank, exc_info=e)
            self._fail(rank, f"what it sent is not a message ({type(e).__name__})")
        return rank, header, tensors

    def _ending(self, rank: int) -> str:
        self._children[rank].join(1.0)
        code = self._children[rank].exitcode
        return "" if code is None else f"it ended with status {code}"

    def _fail(self, rank: int | None, why: str) -> NoReturn:
        self.kill()
        who = "the ranks" if rank is None else f"rank {rank} of {self.ranks}"
        raise RankError(f"{who}: {why}")

    def kill(self) -> None:
        """Ends all ranks at once. Safe to call twice."""
        self.alive = False
        for child in self._children:
            child.kill()
        for child in self._children:
            child.join()
        for pipe in self._pipes:
            pipe.close()
        self._folder.cleanup()

    def close(self) -> None:
        """Says goodbye, and ends those that do not go."""
        if not self.alive:
            return
        for pipe in self._pipes:
            try:
                send(pipe, {"op": "close"})
            except OSError:
                continue
        end = time.monotonic() + GOODBYE_SECONDS
        for child in self._children:
            child.join(max(0.0, end - time.monotonic()))
        self.kill()
