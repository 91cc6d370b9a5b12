"""What a forward costs on n GPUs: a model of compute and messages, fitted to the paper's figures on one GPU and held against
those on eight; and a measurement of the same on this machine.

    seconds = fixed + FLOPs / (n rate) + bytes that a rank sends / bandwidth

FLOPs are those of the published shapes with a history of one training window (21 latents), which the paper's own figures imply: with
it, two of its one-GPU figures give rate and fixed cost, and the others follow.
"""

from __future__ import annotations

import datetime
import queue
import tempfile
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from engine.distributed import group
from engine.distributed.group import safe_path
from engine.distributed.split import Split, choose
from engine.distributed.worker import end_with_parent, listen_on_loopback

WIDTH, LAYERS, FFN, HEADS, TEXT = 1536, 30, 8960, 12, 512
"""Wan2.1-1.3B."""
TOKENS = {"480p": 1560, "720p": 3600}
HISTORY = 21
LOOK_SECONDS = 1.0
"""Latents."""
GPUS = (1, 2, 4, 8)
"""Of the table's columns."""
PAPER = {
    ("480p", 1, 1): 0.0775,
    ("480p", 3, 1): 0.0775 * 2.05,
    ("720p", 21, 1): 6.4328,
    ("480p", 7, 8): 0.0786,
    ("720p", 21, 8): 0.8997,
}
"""(size, K, GPUs) to seconds of one forward on H200s."""


def flops(size: str, k: int) -> float:
    """Of one forward over K latents after HISTORY ones."""
    s, p = k * TOKENS[size], HISTORY * TOKENS[size]
    linear = 2 * s * (6 * WIDTH**2 + 2 * WIDTH * FFN)
    attention = 4 * s * (s + p) * WIDTH + 4 * s * TEXT * WIDTH
    return LAYERS * (linear + attention)


def bytes_sent(size: str, k: int, split: Split, element: int = 2, layers: int = LAYERS) -> float:
    """By one rank in one forward, prefix included: it sends nothing after its first step. See engine.distributed.usp."""
    n = split.ranks
    share = k * TOKENS[size] * WIDTH * element / n
    ulysses = 4 * share * (1 - 1 / split.ulysses)
    head = WIDTH / HEADS
    # queries travel in the element type, partial results with their log-sum-exp in float32
    ring = share * (split.ring - 1) + share * split.ring * (4 / element) * (head + 1) / head * (1 - 1 / split.ring)
    return layers * (ulysses + (ring if split.ring > 1 else 0)) + share * (n - 1)


@dataclass(frozen=True)
class Scaling:
    """fixed: seconds of a forward that no GPU more takes away; rate: FLOPs a second of one GPU; bandwidth: bytes a second that a
    rank sends."""

    fixed: float
    rate: float
    bandwidth: float

    def seconds(self, size: str, k: int, gpus: int) -> float:
        """Of one forward of K latents of a size on so many GPUs, by the model."""
        compute = flops(size, k) / (gpus * self.rate)
        return self.fixed + compute + (bytes_sent(size, k, choose(HEADS, gpus)) / self.bandwidth if gpus > 1 else 0.0)

    def bend(self, size: str, k: int) -> float:
        """GPUs at which compute has fallen to the fixed cost: beyond, a GPU more buys less than half of what it could."""
        return flops(size, k) / self.rate / self.fixed


def fitted() -> Scaling:
    """From three of the paper's figures: K = 1 and 3 at 480p on one GPU, K = 21 at 720p on eight."""
    one, three = PAPER["480p", 1, 1], PAPER["480p", 3, 1]
    rate = (flops("480p", 3) - flops("480p", 1)) / (three - one)
    fixed = one - flops("480p", 1) / rate
    left = PAPER["720p", 21, 8] - fixed - flops("720p", 21) / (8 * rate)
    return Scaling(fixed, rate, bytes_sent("720p", 21, choose(HEADS, 8)) / left)


def table(windows: Sequence[int] = (1, 3, 7, 21)) -> list[dict[str, Any]]:
    """Predicted milliseconds beside the paper's."""
    model = fitted()
    rows = []
    for size in TOKENS:
        for k in windows:
            row: dict[str, Any] = {
                "size": size,
                "K": k,
                "TFLOP": flops(size, k) / 1e12,
                "bends_at_gpus": model.bend(size, k),
            }
            for n in GPUS:
                row[f"{n}_ms"] = 1000 * model.seconds(size, k, n)
                if (size, k, n) in PAPER:
                    row[f"paper_{n}_ms"] = 1000 * PAPER[size, k, n]
            rows.append(row)
    names = list(dict.fromkeys(n for r in rows for n in r))
    return [{n: r.get(n) for n in names} for r in rows]


# -- on this machine -----------------------------------------------------------------------------------------------------


def _rank(rank: int, split: Split, store: str, kind: str, job: dict[str, Any], answers: Any) -> None:
    end_with_parent()
    listen_on_loopback()
    import torch
    import torch.distributed as dist

    try:
        device = torch.device("cpu" if kind == "cpu" else f"cuda:{rank}")
        if kind == "cpu":
            torch.set_num_threads(1)
        else:
            torch.cuda.set_device(device)
        dist.init_process_group(
            "gloo" if kind == "cpu" else "nccl",
            store=dist.FileStore(store, split.ranks),
            rank=rank,
            world_size=split.ranks,
            timeout=datetime.timedelta(seconds=300),
        )
        answers.put((rank, _times(split, device, job), ""))
    except BaseException:
        answers.put((rank, None, traceback.format_exc()))
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()


def _times(split: Split, device: Any, job: dict[str, Any]) -> list[dict[str, Any]]:
    import torch
    from diffusers import WanTransformer3DModel

    from engine.distributed.usp import UnifiedSequenceParallel, make_groups
    from engine.measure import bench_wan as bench
    from engine.models.wan.backbone import WanBackbone

    dtype = torch.float32 if device.type == "cpu" else torch.bfloat16
    config: dict[str, Any] = bench.WAN_1_3B | {"num_layers": job["layers"]}
    with torch.device(device):
        model: Any = WanTransformer3DModel(**config)
    backbone = WanBackbone(model.to(dtype))
    parallel = UnifiedSequenceParallel(make_groups(split)) if split.ranks > 1 else None
    if parallel is not None:
        backbone.shard(parallel)
    rows = []
    for size in job["sizes"]:
        for k in job["windows"]:
            torch.manual_seed(0)
            times = bench.forward_times(
                backbone, bench.SIZES[size], k, job["history"], job["repeats"], prefix_only=True
            )
            row: dict[str, Any] = {
                "size": size,
                "K": k,
                "gpus": split.ranks,
                "split": str(split),
                "ms": 1000 * times["reuse"],
            }
            if parallel is not None:
                row["sent_mb"] = times["sent"] / 1e6
            rows.append(row)
    return rows


def _answer(answers: Any, children: Sequence[BaseProcess]) -> tuple[int, Any, str]:
    """The next rank's answer. Raises RuntimeError when a rank ends without one."""
    while True:
        try:
            found: tuple[int, Any, str] = answers.get(timeout=LOOK_SECONDS)
            return found
        except queue.Empty:
            for rank, child in enumerate(children):
                if child.exitcode:
                    raise RuntimeError(f"rank {rank} ended with status {child.exitcode}") from None


def measure(
    ranks: int,
    split: str | None,
    kind: str,
    sizes: Sequence[str],
    windows: Sequence[int],
    repeats: int,
    layers: int = LAYERS,
    history: int = HISTORY,
) -> list[dict[str, Any]]:
    """Forwards of the published shapes with random weights over `ranks` processes. Raises RuntimeError or SplitError."""
    import multiprocessing

    chosen = choose(HEADS, ranks, split)
    job = {"sizes": list(sizes), "windows": list(windows), "repeats": repeats, "layers": layers, "history": history}
    context: Any = multiprocessing.get_context(group.START_METHOD)
    answers = context.Queue()
    with tempfile.TemporaryDirectory(prefix="foreland-scaling-") as folder:
        store = str(Path(folder) / "store")
        children = [
            context.Process(target=_rank, args=(r, chosen, store, kind, job, answers), daemon=True)
            for r in range(ranks)
        ]
        try:
            with safe_path():
                for child in children:
                    child.start()
            got = sorted((_answer(answers, children) for _ in children), key=lambda x: x[0])
        finally:
            for child in children:
                child.kill()
                child.join()
    for rank, _, error in got:
        if error:
            raise RuntimeError(f"rank {rank}: {error.strip().splitlines()[-1]}")
    model = fitted()
    rows: list[dict[str, Any]] = got[0][1]
    for row in rows:
        row["predicted_ms"] = 1000 * model.seconds(row["size"], row["K"], ranks) if kind != "cpu" else None
        row["sent_theory_mb"] = bytes_sent(row["size"], row["K"], chosen, 4 if kind == "cpu" else 2, layers) / 1e6
    return rows
