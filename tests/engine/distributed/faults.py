"""A rank in which tests let things go wrong."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any, NoReturn

from engine.distributed.worker import Rank
from engine.models.interface import Header, Tensors


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
