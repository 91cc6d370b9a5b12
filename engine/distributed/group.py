"""The ranks as one thing: started, watched, told what to do together, and ended together."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from engine.models.transport import Header, Tensors, receive, send

log = logging.getLogger(__name__)

START_SECONDS = 600.0
"""For all ranks to load; large checkpoints take minutes."""
LEAST_PATIENCE = 20.0
"""Seconds without a sign of life after which a rank that should work counts as hung; five times the slowest step, if longer."""
COLLECTIVE_SECONDS = 120.0
"""A collective that takes longer fails; the engine has given the group up long before. Idle time does not count: nobody waits in
a collective then."""
GOODBYE_SECONDS = 3.0


class RankError(RuntimeError):
    """A rank failed, ended or hung. The whole group was ended."""


class RankGroup:
    """N child processes. Used from one thread."""

    def __init__(self, order: Header, devices: list[str], progress: Callable[[str, float], None]) -> None:
        """order: what to load; devices: one a rank. Raises RankError when a rank does not come up."""
        self.ranks = len(devices)
        self._children: list[subprocess.Popen[bytes]] = []
        self._pipes: list[Connection] = []
        self._slowest = 0.0
        self.alive = True
        self._folder = tempfile.TemporaryDirectory(prefix="foreland-ranks-")
        try:
            self._start(order, devices)
            self._load(progress)
        except BaseException:
            self.kill()
            raise

    def _start(self, order: Header, devices: list[str]) -> None:
        root = str(Path(__file__).resolve().parents[2])
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(p for p in (root, os.environ.get("PYTHONPATH")) if p),
        }
        patience = {"collective": COLLECTIVE_SECONDS}
        for rank, device in enumerate(devices):
            mine, theirs = Pipe()
            self._children.append(
                subprocess.Popen(
                    [sys.executable, "-m", "engine.distributed.worker", str(theirs.fileno())],
                    pass_fds=[theirs.fileno()],
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                )
            )
            theirs.close()
            self._pipes.append(mine)
            options = order["options"] | {"device": device}
            store = str(Path(self._folder.name) / "store")
            send(
                mine,
                order
                | {"op": "load", "rank": rank, "ranks": self.ranks, "options": options, "store": store}
                | patience,
            )

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
        return [c.pid for c in self._children]

    def tell(self, header: Header, tensors: Tensors | None = None) -> None:
        """To all ranks. Raises RankError."""
        for rank, pipe in enumerate(self._pipes):
            try:
                send(pipe, header, tensors)
            except OSError as e:
                self._fail(rank, self._ending(rank) or str(e))

    def tell_one(self, rank: int, header: Header) -> None:
        send(self._pipes[rank], header)

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
        there = wait(self._pipes, max(0.0, seconds))
        if not there:
            self._fail(None, f"no sign of life for {seconds:.0f} s")
        rank = self._pipes.index(there[0])  # type: ignore[arg-type]
        try:
            header, tensors = receive(self._pipes[rank])
        except (EOFError, OSError):
            self._fail(rank, self._ending(rank) or "its pipe ended")
        if header["op"] == "error":
            log.error("rank %d: %s", rank, header.get("traceback", header["text"]))
            self._fail(rank, header["text"])
        return rank, header, tensors

    def _ending(self, rank: int) -> str:
        try:
            code = self._children[rank].wait(1.0)
        except subprocess.TimeoutExpired:
            return ""
        return f"it ended with status {code}"

    def _fail(self, rank: int | None, why: str) -> Any:
        self.kill()
        who = "the ranks" if rank is None else f"rank {rank} of {self.ranks}"
        raise RankError(f"{who}: {why}")

    def kill(self) -> None:
        """Ends all ranks at once. Safe to call twice."""
        self.alive = False
        for child in self._children:
            if child.poll() is None:
                child.kill()
        for child in self._children:
            child.wait()
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
            try:
                child.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                break
        self.kill()
