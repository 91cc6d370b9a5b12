"""Loading a Wan checkpoint: memory first, then the parts, each from where its layout has it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.models import checkpoints as layouts
from engine.models import hub, weight_files
from engine.models.action_words import action_words
from engine.models.boundary_frames import BoundaryFrames
from engine.models.catalogue import Entry, load_catalogue
from engine.models.fit import GB, Fit, Wish
from engine.models.interface import Model, ModelSpec, Progress
from engine.models.load_options import LoadOptions
from engine.models.loading import (
    MemoryNeeded,
    free_memory,
    identity,
    offload_blocks,
    set_threads,
    torch_device,
    torch_dtype,
    with_dtype,
)
from engine.models.lora import read_lora, weights_in
from engine.models.text_embeddings import EmbeddingCache, PromptEncoder, read_tokenizer
from engine.models.wan import fit
from engine.models.wan.anyflow import CLASS_NAME as ANYFLOW
from engine.models.wan.anyflow import AnyFlowBackbone, FarSampler
from engine.models.wan.backbone import Backbone, WanBackbone
from engine.models.wan.conditions import WanConditions
from engine.models.wan.sampler import WanDecoder, WanSampler
from engine.models.wan.sampling_config import SamplingConfig
from engine.models.wan.taehv import TinyDecoder
from engine.models.wan.vae import VideoDecoder, WanVae
from engine.models.weight_files import INDEX, LayoutError

UMT5_XXL = {
    "vocab_size": 256384,
    "d_model": 4096,
    "d_kv": 64,
    "d_ff": 10240,
    "num_layers": 24,
    "num_heads": 64,
    "relative_attention_num_buckets": 32,
    "relative_attention_max_distance": 128,
    "feed_forward_proj": "gated-gelu",
}
"""Settings of the text encoder in Wan's own files, which do not hold them."""


@dataclass(frozen=True)
class Parts:
    """What a checkpoint is made of, but for the transformers."""

    conditions: WanConditions
    vae: WanVae
    decoder: VideoDecoder
    """The VAE, or a tiny autoencoder in its place."""
    config: SamplingConfig
    identity: str
    snapshots: int | None = None
    """States of the decoder that are kept; None: as many as a limit of bytes allows."""

    def session_decoder(self, frames: BoundaryFrames) -> WanDecoder:
        """A decoder that puts last frames into `frames`."""
        more = {} if self.snapshots is None else {"snapshots": self.snapshots}
        return WanDecoder(self.decoder, frames, **more)


def load(entry: Entry, spec: ModelSpec, options: LoadOptions, progress: Progress) -> Model:
    """Reads everything. Raises LayoutError, HubError, MemoryNeeded or ValueError with what to do."""
    device = torch_device(options)
    options = with_dtype(options, device, fp16=True)
    set_threads(options)
    progress("looking for the checkpoint", 0.02)
    transformers = transformer_parts(entry, located(entry), options.lora)
    config = SamplingConfig(**entry.recipe)
    options, found = planned(entry, spec, config, [t.config for t in transformers], device, options)
    if found is not None:
        progress(found.say(entry.name), 0.05)
        spec = replace(spec, notes=(*spec.notes, found.say(entry.name)))
    dtype = torch_dtype(options, device)
    experts: list[Backbone] = []
    for i, part in enumerate(transformers):
        of = f" {i + 1} of {len(transformers)}" if len(transformers) > 1 else ""
        progress(f"reading the transformer{of}", 0.1 + 0.5 * i / len(transformers))
        experts.append(backbone(part, device, dtype, options))
    parts = load_parts(entry, spec, options, device, progress)
    kind = FarSampler if any(isinstance(e, AnyFlowBackbone) for e in experts) else WanSampler
    sampler = kind(spec, experts, parts.conditions, parts.vae, parts.config, parts.decoder)
    if (file := options.image or options.clip) is not None:
        progress("preparing what the world begins with", 0.92)
        sampler.set_start(file)
    return Model(sampler, parts.session_decoder(sampler.frames), parts.identity)


def load_parts(entry: Entry, spec: ModelSpec, options: LoadOptions, device: torch.device, progress: Progress) -> Parts:
    """Everything but the transformers, which may be on ranks."""
    dtype = torch_dtype(with_dtype(options, device, fp16=True), device)
    folder = located(entry)
    base = base_folder(entry, folder, options)
    progress("reading the VAE", 0.7)
    vae = WanVae(read_vae(base, dtype if device.type != "cpu" else torch.float32, device), options.tiled)
    decoder: VideoDecoder = vae
    if options.decoder is not None:
        decoder = TinyDecoder.load(options.decoder, device, dtype)
        vae.drop_decoder()
    progress("preparing the text encoder", 0.85)
    cache = EmbeddingCache(options.embeddings, f"{entry.name} {base.name}")
    text_device = device if options.text == "device" else torch.device("cpu")
    # T5 overflows in fp16
    text_dtype = torch.bfloat16 if dtype is torch.float16 else dtype
    encoder = PromptEncoder(
        lambda: read_text_encoder(base, text_device, text_dtype), cache, device, dtype, options.text == "release"
    )
    config = SamplingConfig(**entry.recipe)
    if options.history_latents is not None:
        config = replace(config, history=min(config.history, options.history_latents))
    conditions = WanConditions(spec, config, encoder, action_words(options.words))
    files = files_of(entry, folder) + ([] if options.lora is None else weights_in(options.lora))
    name = f"{entry.name}-{identity(files)}"
    return Parts(conditions, vae, decoder, config, name, options.snapshots)


def heads(entry: Entry) -> int:
    """Attention heads of the transformer. Raises ValueError for one that is not spread over ranks."""
    config = transformer_parts(entry, located(entry))[0].config
    if config.get("_class_name") == ANYFLOW:
        raise ValueError(
            f"{entry.name} keeps its far history in other patches, which is not spread over ranks yet: take --gpus 1"
        )
    if SamplingConfig(**entry.recipe).registers:
        raise ValueError(f"{entry.name} has tokens of no latent, which cannot be spread over ranks yet: use --gpus 1")
    return int(config["num_attention_heads"])


# -- where things are --------------------------------------------------------------------------------------------------


def located(entry: Entry) -> Path:
    """The folder or file of a checkpoint. Raises HubError."""
    return entry.where or hub.locate(entry)


def base_folder(entry: Entry, folder: Path, options: LoadOptions) -> Path:
    """The folder with text encoder and VAE."""
    if options.base is not None:
        return options.base
    if entry.base is None:
        return folder
    if folder.is_dir() and (folder / "base").exists():
        return folder / "base"
    return hub.locate(load_catalogue()[entry.base])


@dataclass(frozen=True)
class TransformerPart:
    """A transformer's settings, how to read its weights, and where they are from."""

    config: dict[str, Any]
    read: Callable[[], dict[str, Tensor]]
    source: Path


def transformer_parts(entry: Entry, folder: Path, lora: Path | None = None) -> list[TransformerPart]:
    """The transformers of an entry: one, or two experts. Only settings are read now, where the layout allows it.

    lora: of the person, merged after the one that the entry has. Raises LayoutError.
    """
    loras = [] if entry.lora is None or folder.is_file() else [folder / entry.lora]
    loras += [] if lora is None else [lora]
    if folder.is_file() or (entry.layout == "generator" and entry.weights is not None):
        file = folder if folder.is_file() else folder / str(entry.weights)
        state = with_loras(_read_original(file, entry.inside), loras)
        return [TransformerPart(layouts.original_config(state, entry.head_dim), lambda: state, file)]
    found = [folder / name for name in ("transformer", "transformer_2") if (folder / name).is_dir()]
    if found:
        if len(found) > 1 and lora is not None:
            of_each = [[file] for file in weights_in(lora)]
            if len(of_each) != len(found):
                raise LayoutError(
                    f"{entry.name} has two transformers: give the folder that holds the pair of LoRA files, one with 'high' in its "
                    "name and one with 'low'"
                )
        else:
            of_each = [loras for _ in found]
        return [
            TransformerPart(weight_files.read_json(where / "config.json"), partial(_read_with, where, files), where)
            for where, files in zip(found, of_each, strict=True)
        ]
    if (folder / "config.json").exists() and list(folder.glob("diffusion_pytorch_model*.safetensors")):
        # Wan's own folder: its config.json has other names for things, so shapes are asked
        state = _read_with(folder, loras)
        return [TransformerPart(layouts.original_config(state, entry.head_dim), lambda: state, folder)]
    raise LayoutError(
        f"{folder} has no transformer/: it is not a checkpoint of {entry.name}, or the pull is not complete"
    )


def _read_original(file: Path, inside: str) -> dict[str, Tensor]:
    """Of a file, or of the shards that an index names."""
    if file.name.endswith(INDEX):
        return weight_files.read_folder(file.parent, file.name.removesuffix(INDEX))
    return weight_files.read_file(file, inside)


def _read_with(folder: Path, loras: Sequence[Path]) -> dict[str, Tensor]:
    return with_loras(weight_files.read_folder(folder), loras)


def with_loras(state: dict[str, Tensor], files: Sequence[Path]) -> dict[str, Tensor]:
    """The weights with LoRA files merged in, one after another; under diffusers' names where there is any. Raises LayoutError."""
    if not files:
        return state
    state = layouts.converted(state)
    for file in files:
        lora = read_lora(file)
        state.update(lora.merged(state, layouts.wan_names))
        lora.check_used()
    return state


def files_of(entry: Entry, folder: Path) -> list[Path]:
    """The files that make the weights."""
    if folder.is_file():
        return [folder]
    if entry.layout == "generator" and entry.weights is not None:
        if entry.weights.endswith(INDEX):
            file = folder / entry.weights
            return sorted(file.parent.glob(f"{file.name.removesuffix(INDEX)}-*.safetensors"))
        return [folder / entry.weights] + ([] if entry.lora is None else [folder / entry.lora])
    return sorted(p for p in folder.glob("transformer*/*") if p.suffix in (".safetensors", ".bin")) or sorted(
        folder.glob("*.safetensors")
    )


# -- parts -------------------------------------------------------------------------------------------------------------


def backbone(part: TransformerPart, device: torch.device, dtype: torch.dtype, options: LoadOptions) -> Backbone:
    """The transformer, on its device or, offloaded, on the CPU with hooks that bring its blocks."""
    home = torch.device("cpu") if options.offload else device
    model = layouts.build(part.config, part.read(), part.source, dtype, home)
    if getattr(model.config, "image_dim", None) is not None:
        raise LayoutError(
            f"{part.source} needs a CLIP image encoder (Wan2.1 I2V), which is not supported: Wan2.2 models do not"
        )
    kind = AnyFlowBackbone if part.config.get("_class_name") == ANYFLOW else WanBackbone
    out = kind(model, device)
    if options.offload:
        offload_blocks(out.model, device)
    return out


def read_vae(base: Path, dtype: torch.dtype, device: torch.device) -> Any:
    """diffusers' `AutoencoderKLWan`. Raises LayoutError."""
    if (base / "vae").is_dir():
        return layouts.build_vae(base / "vae", dtype, device)
    for name in ("Wan2.1_VAE.pth", "Wan2.1_VAE.safetensors"):
        if (base / name).exists():
            mark = base / "vae_config.json"
            return layouts.build_vae(
                base / name, dtype, device, weight_files.read_json(mark) if mark.exists() else None
            )
    raise LayoutError(
        f"{base} has no VAE (vae/ or Wan2.1_VAE.pth): pull the base model, or name its folder with --base"
    )


def read_text_encoder(base: Path, device: torch.device, dtype: torch.dtype) -> tuple[Any, Any]:
    """(tokenizer, encoder). Raises LayoutError."""
    for names in ("tokenizer", "google/umt5-xxl"):
        if (base / names).is_dir():
            tokenizer = read_tokenizer(base / names)
            break
    else:
        raise LayoutError(f"{base} has no tokenizer (tokenizer/ or google/umt5-xxl/): pull the base model")
    if (base / "text_encoder").is_dir():
        return tokenizer, layouts.build_text_encoder(base / "text_encoder", dtype, device)
    file = base / "models_t5_umt5-xxl-enc-bf16.pth"
    mark = base / "text_config.json"
    return tokenizer, layouts.build_text_encoder(
        file, dtype, device, weight_files.read_json(mark) if mark.exists() else UMT5_XXL
    )


# -- memory ------------------------------------------------------------------------------------------------------------


def planned(
    entry: Entry,
    spec: ModelSpec,
    config: SamplingConfig,
    transformers: Sequence[dict[str, Any]],
    device: torch.device,
    options: LoadOptions,
) -> tuple[LoadOptions, Fit | None]:
    """The options of the plan that fits, and the plan; as they are where a plan was made before. Raises MemoryNeeded in plain words."""
    free = free_memory(device) if options.memory is None else options.memory * GB
    if options.planned or free is None:
        return options, None
    wish = Wish(options.window or spec.window, spec.steps)
    found = fit.fit(spec, config, [fit.network_of(t) for t in transformers], options, wish, free, device.type)
    if entry.scale and found.plan is None:
        return options, None
    if found.plan is None:
        raise MemoryNeeded(found.say(entry.name))
    return found.plan.applied(options), found
