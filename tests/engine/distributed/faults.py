"""A rank in which tests let things go wrong."""

from __future__ import annotations

import os
import signal
import threading
from multiprocessing.connection import Connection
from typing import Any, NoReturn

from engine.distributed.worker import Inbox, Rank
from engine.models.interface import Header, Tensors
from engine.models.transport import send


class FaultyRank(Rank):
    """Does what a message `fault` names."""

    def do(self, op: str, header: Header, tensors: Tensors) -> None:
        if op != "fault":
            super().do(op, header, tensors)
        elif header["kind"] == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        elif header["kind"] == "hang":
            threading.Event().wait()
        elif header["kind"] == "oom":
            self.sampler.sample = _out_of_memory  # type: ignore[method-assign]


def _out_of_memory(*unused: Any) -> NoReturn:
    raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")


class BareRank(Rank):
    """A rank without a model: it is there, and goes when it is told to."""

    def __init__(self, pipe: Connection, inbox: Inbox, request: Header) -> None:
        self.inbox = inbox
        if request["rank"] == request.get("refuses"):
            raise ValueError("nothing to load")
        send(pipe, {"op": "ready"})

        self.pipe = pipe

    def run(self) -> None:
        while (op := self.inbox.get()[0]["op"]) != "close":
            if op == "garbage":
                self.pipe.send_bytes(b"\xff" * 40)
