"""Loading a world that is spread over several ranks: the ranks in processes of their own, text and decoding in this one."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from engine.distributed.group import RankGroup
from engine.distributed.sampler import ParallelSampler
from engine.distributed.split import choose
from engine.models import registry as models
from engine.models.catalogue import find
from engine.models.interface import ModelSpec
from engine.models.load_options import LoadOptions

if TYPE_CHECKING:
    from engine.models.interface import Model, Progress

POCKET_HEADS = 3


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
    spec: ModelSpec,
    options: LoadOptions,
    weights: Path | None,
    like: str | None,
    size: tuple[int, int] | None,
    progress: Progress,
) -> Model:
    """Raises SplitError, RankError, or what loading raises."""
    from engine.models.interface import Model

    devices = devices_of(options)
    threads = options.threads or max(1, (os.cpu_count() or 2) // options.gpus)
    for_ranks = replace(options, gpus=1, split=None, threads=threads, text="release")
    order = {
        "name": name,
        "like": like,
        "size": list(size) if size else None,
        "weights": str(weights) if weights else None,
        "options": for_ranks.to_json(),
        "split": options.split or "auto",
        "faults": bool(os.environ.get("FORELAND_FAULTS")),
    }

    def starter(heads: int) -> Any:
        split = choose(heads, options.gpus, options.split)  # refused before anything is loaded

        def start() -> RankGroup:
            progress(f"starting {options.gpus} ranks, {split} (Ulysses x ring)", 0.1)
            return RankGroup(order | {"heads": heads}, devices, progress)

        return start

    if name == "pocket":
        start = starter(POCKET_HEADS)
        local = models.loader(name, replace(options, gpus=1, split=None), weights)(progress)
        from engine.models.pocket.transport import PocketWire

        sampler = ParallelSampler(spec, local.sampler.prepare, False, PocketWire(), start)
        return Model(sampler, local.decoder, local.identity)
    family = find(name, like).family
    return (_wan if family == "wan" else _joint)(name, spec, options, like, devices, starter, progress)


def _joint(
    name: str,
    spec: ModelSpec,
    options: LoadOptions,
    like: str | None,
    devices: list[str],
    starter: Any,
    progress: Progress,
) -> Model:
    """Picture and sound together: text, pictures and sound in this process, the transformer in the ranks."""
    from engine.models import hub
    from engine.models.audio_video.conditions import Conditions
    from engine.models.audio_video.decoding import JointDecoder
    from engine.models.audio_video.load import component, parts
    from engine.models.audio_video.transport import JointWire
    from engine.models.boundary_frames import LastFrames
    from engine.models.checkpoints import read_json
    from engine.models.interface import Model
    from engine.models.text_embeddings import EmbeddingCache
    from engine.models.wan.load import action_words, identity, torch_dtype

    entry = find(name, like)
    folder = entry.where or hub.locate(entry)
    config = read_json(component(folder, "transformer") / "config.json")
    start = starter(int(config["num_attention_heads"]))
    device = torch.device(devices[-1])
    family, encode, close = parts(
        entry, spec, folder, device, torch_dtype(options, device), options, progress, transformer=False
    )
    cache = EmbeddingCache(options.embeddings, f"{entry.name} {folder.name}")
    conditions = Conditions(spec, encode, close, cache, action_words(options.words), device)
    frames = LastFrames()
    sampler = ParallelSampler(spec, conditions.prepare, True, JointWire(conditions, device), start, frames, 0)
    files = sorted(p for p in folder.glob("transformer/*") if p.suffix in (".safetensors", ".bin"))
    decoder = JointDecoder(spec.fps, spec.sound_rate, family.pictures, family.waveform, frames)
    return Model(sampler, decoder, f"{entry.name}-{identity(files)}")


def _wan(
    name: str,
    spec: ModelSpec,
    options: LoadOptions,
    like: str | None,
    devices: list[str],
    starter: Any,
    progress: Progress,
) -> Model:
    from engine.models import hub
    from engine.models.boundary_frames import LastFrames
    from engine.models.interface import Model
    from engine.models.text_embeddings import EmbeddingCache, PromptEncoder
    from engine.models.wan import load
    from engine.models.wan.conditions import WanConditions
    from engine.models.wan.sampler import WanDecoder
    from engine.models.wan.sampling_config import Recipe
    from engine.models.wan.taehv import TinyDecoder
    from engine.models.wan.transport import WanWire
    from engine.models.wan.vae import VideoDecoder, WanVae

    entry = find(name, like)
    folder = entry.where or hub.locate(entry)
    base = load.base_folder(entry, folder, options)
    recipe = Recipe(**entry.recipe)
    config = load.transformer_states(entry, folder)[0].config
    if config.get("_class_name") == "AnyFlowFARTransformer3DModel":
        raise ValueError(
            f"{entry.name} keeps its far history in other patches, which is not spread over ranks yet: take --gpus 1"
        )
    start = starter(int(config["num_attention_heads"]))
    # decoding shares the last rank's device: its stream overlaps with that rank's sampling
    device = torch.device(devices[-1])
    dtype = load.torch_dtype(options, device)
    vae = WanVae(load.read_vae(base, dtype if device.type != "cpu" else torch.float32, device), options.tiled)
    decoder: VideoDecoder = vae if options.decoder is None else TinyDecoder.load(options.decoder, device, dtype)
    cache = EmbeddingCache(options.embeddings, f"{entry.name} {base.name}")
    where = device if options.text == "device" else torch.device("cpu")
    encoder = PromptEncoder(
        lambda: load.read_text_encoder(base, where, dtype), cache, device, dtype, options.text == "release"
    )
    conditions = WanConditions(spec, recipe, encoder, load.action_words(options.words))
    frames = LastFrames()
    sampler = ParallelSampler(
        spec, conditions.prepare, True, WanWire(conditions, device), start, frames, recipe.keyframes
    )
    return Model(sampler, WanDecoder(decoder, frames), f"{entry.name}-{load.identity(load.files_of(entry, folder))}")
