"""Loading a world that is spread over several ranks: the ranks in processes of their own, here or on the hosts of a cluster, text and
decoding in this one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

import torch

from engine.distributed.cluster import Cluster, ClusterError, FarGroup
from engine.distributed.group import RankError, RankGroup
from engine.distributed.sampler import ParallelSampler
from engine.distributed.split import choose
from engine.distributed.worker import Rank
from engine.models.catalogue import Entry, find
from engine.models.family import SpreadsOverRanks
from engine.models.fit import GB, Plans, Wish
from engine.models.interface import Header, Model, ModelSpec, Progress
from engine.models.load_options import LoadOptions
from engine.models.loading import MemoryNeeded, free_memory, torch_device
from engine.models.registry import family


def devices_of(options: LoadOptions) -> list[str]:
    """One device a rank. Raises ValueError when there are fewer GPUs than ranks."""
    cuda = options.device.startswith("cuda") or (options.device == "auto" and torch.cuda.is_available())
    if not cuda:
        return ["cpu"] * options.gpus
    there = torch.cuda.device_count()
    if options.gpus > there:
        raise ValueError(
            f"--gpus {options.gpus} needs {options.gpus} GPUs, {there} are here: take --gpus {there} or --device cpu"
        )
    return [f"cuda:{i}" for i in range(options.gpus)]


def load_parallel(
    name: str,
    options: LoadOptions,
    like: str | None,
    size: tuple[int, int] | None,
    progress: Progress,
    rank: type[Rank] = Rank,
) -> Model:
    """Reads what stays here and starts the ranks. rank: what runs in each process.

    Raises SplitError, RankError, or what loading raises.
    """
    entry = find(name, like)
    code = family(entry.family)
    if not isinstance(code, SpreadsOverRanks):
        raise ValueError(f"{entry.name} cannot be spread over several ranks: use --gpus 1")
    options = options.checked()
    alone = replace(options, gpus=1, split=None)
    heads = code.heads(entry, alone)
    split = choose(heads, options.gpus, options.split)  # refused before anything is loaded
    spec = code.spec(entry, size)
    threads = options.threads or max(1, (os.cpu_count() or 2) // options.gpus)

    def request(planned: LoadOptions) -> Header:
        for_ranks = replace(planned, threads=threads, cluster=None)
        if "text" in code.options:
            for_ranks = replace(for_ranks, text="release")
        return {
            "name": name,
            "like": like,
            "size": list(size) if size else None,
            "options": for_ranks.to_json(),
            "split": f"{split.ulysses}x{split.ring}",
            "heads": heads,
        }

    on_gpu = "device" in code.options
    if options.cluster is not None:
        cluster = Cluster(options.cluster)
        device = cluster.device(options.device) if on_gpu else "cpu"
        progress(f"asking the cluster for {options.gpus} places", 0.02)
        placed = cluster.place(options.gpus, device)
        try:
            alone = _planned(entry, spec, code, alone, [device] * options.gpus, placed.free, progress)
            here = str(torch_device(LoadOptions())) if on_gpu else "cpu"
            frontend = code.load_frontend(entry, spec, alone, here, progress)
        except BaseException:
            placed.end()
            raise
        waiting = [placed]

        def start_there() -> RankGroup:
            progress(f"starting {options.gpus} ranks, {split} (Ulysses x ring)", 0.1)
            try:
                place = waiting.pop() if waiting else cluster.place(options.gpus, device)
            except ClusterError as e:
                raise RankError(str(e)) from e
            return FarGroup(request(alone), cluster, place, device, progress, rank)

        return Model(ParallelSampler(spec, frontend, start_there), frontend.decoder, frontend.identity)
    devices = devices_of(options if on_gpu else replace(options, device="cpu"))
    free = [free_memory(torch.device(d)) for d in dict.fromkeys(devices)]
    alone = _planned(entry, spec, code, alone, devices, free, progress)

    def start() -> RankGroup:
        progress(f"starting {options.gpus} ranks, {split} (Ulysses x ring)", 0.1)
        return RankGroup(request(alone), devices, progress, rank)

    # decoding shares the last rank's device: its stream overlaps with that rank's sampling
    frontend = code.load_frontend(entry, spec, alone, devices[-1], progress)
    return Model(ParallelSampler(spec, frontend, start), frontend.decoder, frontend.identity)


def _planned(
    entry: Entry,
    spec: ModelSpec,
    code: object,
    options: LoadOptions,
    devices: list[str],
    free: Sequence[float | None],
    progress: Progress,
) -> LoadOptions:
    """free: bytes of each device that are free; None: not known.

    The options of the plan that fits every rank's device: one plan for all, since ranks that differed would wait for each other for
    ever. Raises MemoryNeeded."""
    if not isinstance(code, Plans) or not (entry.network or entry.scale):
        return replace(options, planned=True)
    known = [x for x in free if x is not None]
    if options.memory is not None:
        known = [options.memory * GB]
    if not known:
        return replace(options, planned=True)
    kind = torch.device(devices[0]).type
    least = min(known) / (len(devices) if kind == "cpu" else 1)
    wish = Wish(options.window or spec.window, spec.steps, len(devices))
    if entry.scale:  # a small random checkpoint fits everywhere
        return replace(options, planned=True)
    found = code.fit(entry, spec, options, wish, least, kind)
    if found.plan is None:
        raise MemoryNeeded(found.say(entry.name))
    progress(found.say(entry.name), 0.05)
    return found.plan.applied(options)
