"""One rank: a child process that runs the same sampler as all others, on messages from the engine.

It decides nothing by itself: every call, every stop and every piece of idle work comes as a message that all ranks get, so all
take the same branch. It waits on its pipe when there is nothing to do, never in a collective; when the pipe ends it ends.
"""

from __future__ import annotations

import ctypes
import os
import queue
import signal
import sys
import threading
import traceback
import zlib
from datetime import timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from engine.models.transport import Header, Tensors, Wire, receive, send


class Rank:
    """A loaded rank."""

    def __init__(self, pipe: Connection, inbox: queue.SimpleQueue[tuple[Header, Tensors]], order: Header) -> None:
        import torch
        import torch.distributed as dist

        from engine.distributed.split import choose
        from engine.distributed.usp import make_groups, spread_out
        from engine.models.load_options import from_json
        from engine.models.registry import loader

        self.pipe, self.inbox = pipe, inbox
        self.rank, self.ranks = order["rank"], order["ranks"]
        options = from_json(order["options"])
        torch.set_num_threads(options.threads or 1)
        self.faults = order.get("faults", False)
        cuda = options.device.startswith("cuda")
        if cuda:
            torch.cuda.set_device(torch.device(options.device))
        dist.init_process_group(
            "nccl" if cuda else "gloo",
            store=dist.FileStore(order["store"], self.ranks),
            rank=self.rank,
            world_size=self.ranks,
            timeout=timedelta(seconds=order["collective"]),
        )
        weights = Path(order["weights"]) if order["weights"] else None
        size = tuple(order["size"]) if order["size"] else None
        model = loader(order["name"], options, weights, order["like"], size)(self._progress)  # type: ignore[arg-type]
        self.sampler = model.sampler
        transformers = self.sampler.transformers()
        joint = getattr(self.sampler, "family", None)
        if not transformers and joint is None:
            raise ValueError(f"{order['name']} cannot be spread over several ranks yet")
        split = choose(order["heads"], self.ranks, order["split"])
        groups = make_groups(split)
        for transformer, holder in transformers:
            spread_out(transformer, holder, groups)
        if joint is not None:
            from engine.distributed.families import spread_joint

            spread_joint(joint.transformer, groups)
        self.wire: Wire = wire_of(order["name"], self.sampler, torch.device(options.device))
        self.made: list[Any] = []
        self._dist, self._torch = dist, torch
        self.agree(0)
        send(pipe, {"op": "ready"})

    def _progress(self, stage: str, share: float) -> None:
        send(self.pipe, {"op": "progress", "stage": stage, "share": share})

    def agree(self, value: int) -> None:
        """All ranks are about to do the same thing, or this fails."""
        mine = self._torch.tensor([value, -value], dtype=self._torch.int64)
        if self._dist.get_backend() == "nccl":
            mine = mine.cuda()
        self._dist.all_reduce(mine, self._dist.ReduceOp.MAX)
        if int(mine[0]) != value or int(mine[1]) != -value:
            raise RuntimeError("the ranks were told different things")

    def run(self) -> None:
        while True:
            header, tensors = self.inbox.get()
            op = header["op"]
            if op == "close":
                return
            if op == "fault" and self.faults:
                self._fault(header["kind"])
                continue
            try:
                self._do(op, header, tensors)
            except Exception as e:
                send(
                    self.pipe, {"op": "error", "text": f"{type(e).__name__}: {e}", "traceback": traceback.format_exc()}
                )

    def _do(self, op: str, header: Header, tensors: Tensors) -> None:
        from engine.models.interface import HistoryPolicy

        s = self.sampler
        if op == "sample":
            self._sample(header, tensors)
        elif op == "extend":
            groups = self.made if header.get("made") else self.wire.groups_in(header["groups"], tensors)
            s.extend(groups[: header["count"]])
        elif op == "prefill_chunk":
            s.prefill_chunk(self.made, HistoryPolicy(header["history"]))
            send(self.pipe, {"op": "done"})
        elif op == "prefill_step":
            send(self.pipe, {"op": "done", "more": s.prefill_step(header["locked"], HistoryPolicy(header["history"]))})
        elif op == "evict_before":
            s.evict_before(header["position"])
        elif op == "reset":
            s.reset()
        elif op == "set_start":
            s.set_start(Path(header["file"]) if header["file"] else None)
        else:
            raise ValueError(f"unknown message {op!r}")

    def _sample(self, header: Header, tensors: Tensors) -> None:
        from engine.models.interface import HistoryPolicy, Request, Stopped

        prepared = self.wire.prepared_in(header["prepared"], tensors)
        frames = getattr(self.sampler, "frames", None)
        for name, frame in tensors.items():
            if frames is not None and name.startswith("frame:"):
                frames.put(self.sampler._groups[int(name[6:])], frame.numpy())  # type: ignore[attr-defined]
        r = header["request"]
        self.agree(zlib.crc32(repr(sorted(r.items())).encode()))
        request = Request(
            r["branch"], r["window"], r["steps"], r["seed"], r["attempt"], prepared, HistoryPolicy(r["history"])
        )
        try:
            self.made = self.sampler.sample(request, self._report)
        except Stopped:
            send(self.pipe, {"op": "stopped"})
            return
        if self.rank == 0:
            about, parts = self.wire.groups_out(self.made)
            send(self.pipe, {"op": "groups", "groups": about}, parts)
        else:
            send(self.pipe, {"op": "done"})

    def _report(self, step: int, steps: int) -> bool:
        """Between two steps: the engine says whether to go on, to all ranks the same."""
        if self.rank == 0:
            send(self.pipe, {"op": "step", "step": step, "steps": steps})
        while True:
            header, _ = self.inbox.get()
            if header["op"] == "fault" and self.faults:
                self._fault(header["kind"])
                continue
            if header["op"] == "close":
                os._exit(0)
            return bool(header["go"])

    def _fault(self, kind: str) -> None:
        """For tests: what can go wrong on a rank."""
        if kind == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if kind == "hang":
            while True:
                signal.pause()
        if kind == "oom":
            self.sampler.sample = _out_of_memory  # type: ignore[method-assign, assignment]


def _out_of_memory(*unused: Any) -> Any:
    raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")


def wire_of(name: str, sampler: Any, device: Any) -> Wire:
    """The wire of a model, on a rank."""
    if name == "pocket":
        from engine.models.pocket.transport import PocketWire

        return PocketWire()
    if hasattr(sampler, "family"):
        from engine.models.audio_video.transport import JointWire

        return JointWire(sampler.conditions, device)
    from engine.models.wan.transport import WanWire

    return WanWire(sampler.conditions, device)


def _die_with_parent() -> None:
    """On Linux the kernel ends this process when its parent ends, whatever it is doing."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def main() -> None:
    """`python -m engine.distributed.worker FD`: FD is the rank's end of its pipe."""
    _die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is the parent's; it says goodbye
    pipe = Connection(int(sys.argv[1]))
    inbox: queue.SimpleQueue[tuple[Header, Tensors]] = queue.SimpleQueue()

    def read() -> None:
        while True:
            try:
                message = receive(pipe)
            except (EOFError, OSError):
                os._exit(0)  # the engine is gone; the main thread may be anywhere
            inbox.put(message)

    threading.Thread(target=read, daemon=True).start()
    order, _ = inbox.get()
    try:
        rank = Rank(pipe, inbox, order)
    except Exception as e:
        send(pipe, {"op": "error", "text": f"{e}", "traceback": traceback.format_exc()})
        os._exit(1)
    rank.run()
    os._exit(0)


if __name__ == "__main__":
    main()
