"""What the hosts of a cluster can send to each other, and whether one world over them pays: Ulysses, ring, or one host's GPUs alone.

Measured: the all-to-all among all ranks, and among those of one host. Compute and bytes are those of `engine.measure.scaling`.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing.connection import Connection

from engine.distributed.cluster import Cluster, FarGroup
from engine.distributed.split import Split, choose, legal
from engine.distributed.worker import Inbox, Rank, store_of
from engine.measure.scaling import HEADS, LAYERS, bytes_sent, fitted, flops
from engine.models.interface import Header, Tensors
from engine.models.transport import send

SMALL, LARGE = 1 << 12, 1 << 24
"""Bytes of a rank in an all-to-all: for its latency and its bandwidth."""
REPEATS = 5


@dataclass(frozen=True)
class Link:
    """seconds: of the smallest all-to-all; rate: bytes a second that leave a rank."""

    seconds: float
    rate: float

    def of(self, messages: int, size: float) -> float:
        """Seconds of so many messages of `size` bytes in all."""
        return messages * self.seconds + size / self.rate


@dataclass(frozen=True)
class Links:
    """ranks: by host. across: among all ranks; inside: among those of one host, None where there is one a host."""

    ranks: tuple[int, ...]
    across: Link
    inside: Link | None

    @property
    def all(self) -> int:
        """Ranks on all hosts."""
        return sum(self.ranks)

    @property
    def choices(self) -> dict[str, Split]:
        """Ways to run one world here, by name: one host, Ulysses over all, Ulysses inside hosts and ring across them."""
        here, out = min(self.ranks), dict[str, Split]()
        out[f"one host alone ({here} GPU{'s' if here > 1 else ''})"] = choose(HEADS, here)
        for split in legal(HEADS, self.all):
            name = "Ulysses" if split.ulysses > here else "ring"
            if here % split.ulysses == 0 or name == "Ulysses":
                out.setdefault(name, split)
        return {
            name if name.startswith("one") else f"{name} across hosts (--split {s.ulysses}x{s.ring})": s
            for name, s in out.items()
        }

    def seconds(self, split: Split, size: str, k: int) -> float:
        """Of a forward of Wan2.1-1.3B on H200s that are linked so."""
        model, here = fitted(), min(self.ranks)
        compute = model.fixed + flops(size, k) / (split.ranks * model.rate)
        far = split.ranks > max(self.ranks)
        near = self.inside or self.across
        if split.ring == 1:
            return compute + (self.across if far else near).of(4 * LAYERS, bytes_sent(size, k, split))
        alone = Split(split.ulysses, 1)
        turned = bytes_sent(size, k, alone) / split.ring if split.ulysses > 1 else 0.0
        wide = self.across if far and split.ulysses > here else near
        ring = bytes_sent(size, k, split) - turned
        return (
            compute
            + wide.of(4 * LAYERS if split.ulysses > 1 else 0, turned)
            + (self.across if far else near).of(2 * LAYERS, ring)
        )


class LinkRank(Rank):
    """A rank without a model, which times messages."""

    def __init__(self, pipe: Connection, inbox: Inbox, request: Header) -> None:
        import torch
        import torch.distributed as dist

        self.pipe, self.inbox = pipe, inbox
        self.rank, self.ranks = request["rank"], request["ranks"]
        self.device = torch.device(request["options"]["device"])
        dist.init_process_group(
            "gloo" if self.device.type == "cpu" else "nccl",
            store=store_of(request),
            rank=self.rank,
            world_size=self.ranks,
            timeout=timedelta(seconds=request["collective"]),
        )
        members = request["hosts"]
        groups = {h: dist.new_group([r for r, x in enumerate(members) if x == h]) for h in dict.fromkeys(members)}
        self._mine = groups[members[self.rank]]
        self._dist, self._torch = dist, torch
        send(pipe, {"op": "ready"})

    def do(self, op: str, header: Header, tensors: Tensors) -> None:
        group = self._mine if header["inside"] else None
        send(self.pipe, {"op": "done", "seconds": self._time(header["bytes"], group)})

    def _time(self, size: int, group: object) -> float:
        torch, dist = self._torch, self._dist
        n = dist.get_world_size(group)
        sent = torch.zeros(max(1, size // (4 * n)) * n, device=self.device)
        got = torch.empty_like(sent)
        times = []
        for _ in range(REPEATS + 1):
            dist.barrier()
            began = time.perf_counter()
            dist.all_to_all_single(got, sent, group=group)
            if self.device.type == "cuda":
                torch.cuda.synchronize()
            times.append(time.perf_counter() - began)
        return sorted(times[1:])[REPEATS // 2]


def measure(url: str, ranks: int, progress: Callable[[str, float], None] = lambda stage, share: None) -> Links:
    """Places ranks, times them and gives the places back. Raises ClusterError, RankError."""
    cluster = Cluster(url)
    device = cluster.device("auto")
    placed = cluster.place(ranks, device)
    hosts = placed.hosts
    group = FarGroup({"options": {}, "hosts": hosts}, cluster, placed, device, progress, LinkRank)
    try:
        across = _link(group, False, ranks)
        count = tuple(Counter(hosts).values())
        inside = _link(group, True, min(count)) if min(count) > 1 else None
    finally:
        group.close()
    return Links(count, across, inside)


def _link(group: FarGroup, inside: bool, ranks: int) -> Link:
    seconds = []
    for size in (SMALL, LARGE):
        group.tell({"op": "time", "inside": inside, "bytes": size})
        seconds.append(group.answers()[0]["seconds"])
    away = 1 - 1 / ranks
    return Link(seconds[0], away * (LARGE - SMALL) / max(1e-9, seconds[1] - seconds[0]))


def findings(links: Links) -> list[str]:
    """In sentences: what was measured, forwards of Wan2.1-1.3B on H200s that are linked so, and what pays."""
    hosts, n = len(links.ranks), links.all
    out = [f"{n} ranks on {hosts} host(s); an all-to-all among them: {_said(links.across)}"]
    if links.inside is not None:
        out.append(f"an all-to-all inside a host: {_said(links.inside)}")
    if hosts == 1:
        return [*out, "all ranks are on one host: nothing goes over a network"]
    for size, k in (("480p", 3), ("480p", 21), ("720p", 21)):
        times = {name: links.seconds(split, size, k) for name, split in links.choices.items()}
        best = min(times, key=lambda name: times[name])
        said = ", ".join(f"{name} {1000 * s:.0f} ms" for name, s in times.items())
        out.append(f"a forward of Wan 1.3B at {size}, K = {k}: {said}; the best is {best}")
    return out


def _said(link: Link) -> str:
    return f"{1000 * link.seconds:.2f} ms at least, {link.rate / 1e9:.2f} GB/s from each rank"
