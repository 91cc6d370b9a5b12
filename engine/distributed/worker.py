"""One rank: a child process that runs the same sampler as all others, on messages from the engine.

It decides nothing by itself: every call, every stop and every piece of idle work comes as a message that all ranks get, so all
take the same branch. It waits on its pipe when there is nothing to do, never in a collective; when the pipe ends it ends.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import queue
import signal
import socket
import sys
import threading
import traceback
import zlib
from contextlib import suppress
from datetime import timedelta
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NoReturn

from engine.assets import FOLDER
from engine.distributed.wire import address_towards, keep_beating, meet
from engine.models.interface import (
    Group,
    Header,
    HistoryPolicy,
    NeedsBoundaryFrames,
    PrefillsAhead,
    Request,
    Shardable,
    StartsFromMedia,
    Stopped,
    Tensors,
)
from engine.models.transport import receive, send

Inbox = queue.SimpleQueue[tuple[Header, Tensors]]
MEET_SECONDS = 30.0
"""For a rank to reach the engine."""
ORPHAN_SECONDS = 30.0
"""Without a word of the engine, after which a rank on another host ends. Longer than the engine's limit: a rank that ends is lost."""


def store_of(request: Header) -> Any:
    """Where ranks find each other: a file of this machine, or the engine's port."""
    import torch.distributed as dist

    if "meeting" not in request:
        return dist.FileStore(request["store"], request["ranks"])
    host, port = request["meeting"]
    return dist.TCPStore(host, port, is_master=False, timeout=timedelta(seconds=request["collective"]))


class Rank:
    """A loaded rank."""

    def __init__(self, pipe: Connection, inbox: Inbox, request: Header) -> None:
        """request: what to load, as `engine.distributed.load` asks for it. Raises what loading raises."""
        if "assets" in request and Path(request["assets"]) != FOLDER:
            raise RuntimeError(
                f"this rank found another package named engine, beside {FOLDER}: start Foreland elsewhere, or take that "
                "folder out of PYTHONPATH"
            )
        import torch
        import torch.distributed as dist

        from engine.distributed.split import choose
        from engine.distributed.usp import UnifiedSequenceParallel, make_groups
        from engine.models.load_options import from_json
        from engine.models.registry import loader

        self.pipe, self.inbox = pipe, inbox
        self.rank, self.ranks = request["rank"], request["ranks"]
        options = from_json(request["options"])
        torch.set_num_threads(options.threads or 1)
        cuda = options.device.startswith("cuda")
        if cuda:
            torch.cuda.set_device(torch.device(options.device))
        dist.init_process_group(
            "nccl" if cuda else "gloo",
            store=store_of(request),
            rank=self.rank,
            world_size=self.ranks,
            timeout=timedelta(seconds=request["collective"]),
        )
        size = (request["size"][0], request["size"][1]) if request["size"] else None
        self.sampler = loader(request["name"], options, None, request["like"], size)(self._progress).sampler
        if not isinstance(self.sampler, Shardable):
            raise ValueError(f"{request['name']} cannot be spread over several ranks yet")
        groups = make_groups(choose(request["heads"], self.ranks, request["split"]))
        self.sampler.shard(lambda: UnifiedSequenceParallel(groups))
        self.transport = self.sampler.transport()
        self.chunk: list[Group] = []
        """The groups of the last call."""
        self._dist, self._torch = dist, torch
        self.agree(0)
        send(pipe, {"op": "ready"})

    def _progress(self, stage: str, share: float) -> None:
        send(self.pipe, {"op": "progress", "stage": stage, "share": share})

    def agree(self, value: int) -> None:
        """All ranks are about to do the same thing. Raises RuntimeError where they are not."""
        mine = self._torch.tensor([value, -value], dtype=self._torch.int64)
        if self._dist.get_backend() == "nccl":
            mine = mine.cuda()
        self._dist.all_reduce(mine, self._dist.ReduceOp.MAX)
        if int(mine[0]) != value or int(mine[1]) != -value:
            raise RuntimeError("the ranks were told different things")

    def run(self) -> None:
        """Until a message says to close."""
        while True:
            header, tensors = self.inbox.get()
            if header["op"] == "close":
                return
            try:
                self.do(header["op"], header, tensors)
            except Exception as e:
                send(
                    self.pipe, {"op": "error", "text": f"{type(e).__name__}: {e}", "traceback": traceback.format_exc()}
                )

    def do(self, op: str, header: Header, tensors: Tensors) -> None:
        """Carries out one message. Raises what the sampler raises."""
        s = self.sampler
        if op == "sample":
            self.sample(header, tensors)
        elif op == "extend":
            groups = self.chunk if header.get("made") else self.transport.groups_in(header["groups"], tensors)
            s.extend(groups[: header["count"]])
        elif op == "prefill_chunk":
            if isinstance(s, PrefillsAhead):
                s.prefill_chunk(self.chunk, HistoryPolicy(header["history"]))
            send(self.pipe, {"op": "done"})
        elif op == "prefill_step":
            history = HistoryPolicy(header["history"])
            more = isinstance(s, PrefillsAhead) and s.prefill_step(header["locked"], history)
            send(self.pipe, {"op": "done", "more": more})
        elif op == "evict_before":
            s.evict_before(header["position"])
        elif op == "reset":
            s.reset()
        elif op == "set_start":
            if isinstance(s, StartsFromMedia):
                s.set_start(Path(header["file"]) if header["file"] else None)
        else:
            raise ValueError(f"unknown message {op!r}")

    def sample(self, header: Header, tensors: Tensors) -> None:
        """One call; rank 0 sends its groups, the others say that they are done."""
        inputs = self.transport.prepared_in(header["prepared"], tensors)
        if isinstance(self.sampler, NeedsBoundaryFrames):
            for name, frame in tensors.items():
                if name.startswith("frame:"):
                    self.sampler.put_boundary_frame(int(name[6:]), frame.numpy())
        r = header["request"]
        self.agree(zlib.crc32(repr(sorted(r.items())).encode()))
        request = Request(
            r["branch"], r["window"], r["steps"], r["seed"], r["attempt"], inputs, HistoryPolicy(r["history"])
        )
        try:
            self.chunk = self.sampler.sample(request, self._report)
        except Stopped:
            send(self.pipe, {"op": "stopped"})
            return
        if self.rank == 0:
            about, parts = self.transport.groups_out(self.chunk)
            send(self.pipe, {"op": "groups", "groups": about}, parts)
        else:
            send(self.pipe, {"op": "done"})

    def _report(self, step: int, steps: int) -> bool:
        """Between two steps: the engine says whether to go on, to all ranks the same."""
        if self.rank == 0:
            send(self.pipe, {"op": "step", "step": step, "steps": steps})
        header, _ = self.inbox.get()
        if header["op"] == "close":
            os._exit(0)
        return bool(header["go_on"])


def end_with_parent() -> None:
    """This process ends when its parent does, however that ends and whatever this one is doing: on Linux by the kernel, and anywhere by
    a thread that looks (a process that a fork server started has another parent for the kernel)."""
    parent = multiprocessing.parent_process()
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if parent is None:
        return

    def look() -> None:
        wait([parent.sentinel])
        os._exit(0)

    threading.Thread(target=look, name="foreland-parent", daemon=True).start()


def listen_on_loopback() -> None:
    """gloo and NCCL take whatever address the host's name means otherwise, which may be that of a network. To be called before a process
    group is made."""
    names = [name for _, name in socket.if_nameindex()] if hasattr(socket, "if_nameindex") else []
    for loopback in ("lo", "lo0"):
        if loopback in names:
            os.environ["GLOO_SOCKET_IFNAME"] = os.environ["NCCL_SOCKET_IFNAME"] = loopback


def _without_output() -> None:
    """What libraries print in a rank is nobody's."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.close(null)
    except OSError:
        pass


def listen_on(address: str) -> None:
    """gloo and NCCL take the network that this address of the machine is on."""
    import psutil

    for name, addresses in psutil.net_if_addrs().items():
        if any(a.address == address for a in addresses):
            os.environ["GLOO_SOCKET_IFNAME"] = os.environ["NCCL_SOCKET_IFNAME"] = name


def run_rank(pipe: Connection, kind: type[Rank]) -> None:
    """The whole life of a rank's process. pipe: its end of the pipe to the engine."""
    end_with_parent()
    listen_on_loopback()
    _without_output()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is the parent's; it says goodbye
    _live(pipe, kind)


def run_far_rank(address: tuple[str, int], key: bytes, rank: int, kind: type[Rank]) -> None:
    """The life of a rank on another host than the engine's. address, key: of its `Meeting`. Raises OSError when nobody is there."""
    import safetensors.torch  # noqa: F401  (with torch: takes long, and nothing is heard meanwhile)

    pipe = meet(address, key, rank, MEET_SECONDS)
    end_with_parent()
    listen_on(address_towards(address[0]))
    keep_beating(pipe, ORPHAN_SECONDS, lambda: os._exit(0))
    _live(pipe, kind)  # type: ignore[arg-type]


def _live(pipe: Connection, kind: type[Rank]) -> NoReturn:
    inbox: Inbox = queue.SimpleQueue()

    def read() -> None:
        while True:
            try:
                message = receive(pipe)
            except (EOFError, OSError):
                os._exit(0)  # the engine is gone; the main thread may be anywhere
            except Exception as e:  # what came is no message: nothing after it can be trusted
                text = f"what came from the engine is not a message ({type(e).__name__})"
                with suppress(OSError):
                    send(pipe, {"op": "error", "text": text, "traceback": traceback.format_exc()})
                os._exit(1)
            inbox.put(message)

    threading.Thread(target=read, daemon=True).start()
    request, _ = inbox.get()
    try:
        rank = kind(pipe, inbox, request)
    except Exception as e:
        send(pipe, {"op": "error", "text": f"{e}", "traceback": traceback.format_exc()})
        os._exit(1)
    rank.run()
    os._exit(0)
