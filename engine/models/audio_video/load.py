"""Loading MiniMax-H3 and LTX-2.3 from the folders that diffusers publishes and reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from engine.models import hub
from engine.models.action_words import action_words
from engine.models.audio_video.conditions import LONGEST, AudioVideoConditions, Encode
from engine.models.audio_video.decoding import AudioVideoDecoder
from engine.models.audio_video.fit import fit
from engine.models.audio_video.sampler import AudioVideoModel, AudioVideoSampler
from engine.models.boundary_frames import BoundaryFrames
from engine.models.catalogue import Entry
from engine.models.fit import GB, Wish
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
)
from engine.models.lora import Lora, Names, read_lora, weights_in
from engine.models.text_embeddings import EmbeddingCache, clean, read_tokenizer
from engine.models.weight_files import LayoutError, read_json

Kind = Literal["minimax_h3", "ltx2"]
QWEN_LAYER = 50
"""The hidden state of Qwen3-VL that MiniMax-H3 was trained on."""
GEMMA_TOKENS = 1024
"""That LTX-2.3 pads a prompt to."""


@dataclass(frozen=True)
class Parts:
    """What a checkpoint is made of."""

    model: AudioVideoModel
    """Its transformer is None where ranks have it."""
    conditions: AudioVideoConditions
    spec: ModelSpec
    identity: str

    def decoder(self, frames: BoundaryFrames) -> AudioVideoDecoder:
        """A decoder that puts last frames into `frames`."""
        return AudioVideoDecoder(self.spec.fps, self.spec.sound_rate, self.model.pictures, self.model.waveform, frames)


def load(kind: Kind, entry: Entry, spec: ModelSpec, options: LoadOptions, progress: Progress) -> Model:
    """Reads everything. Raises LayoutError, HubError, MemoryNeeded or ValueError with what to do."""
    device = torch_device(options)
    set_threads(options)
    progress("looking for the checkpoint", 0.02)
    options = planned(entry, spec, device, options, progress)
    parts = load_parts(kind, entry, spec, options, device, progress)
    sampler = AudioVideoSampler(spec, parts.model, parts.conditions)
    if (file := options.image or options.clip) is not None:
        sampler.set_start(file)
    return Model(sampler, parts.decoder(sampler.frames), parts.identity)


def load_parts(
    kind: Kind,
    entry: Entry,
    spec: ModelSpec,
    options: LoadOptions,
    device: torch.device,
    progress: Progress,
    transformer: bool = True,
) -> Parts:
    """transformer: False where ranks have it."""
    folder = located(entry)
    read_parts = _minimax_h3 if kind == "minimax_h3" else _ltx2
    model, encode, close = read_parts(
        entry, spec, folder, device, torch_dtype(options, device), options, progress, transformer
    )
    progress("preparing the text encoder", 0.9)
    adapted = "" if options.lora is None else f" {identity(weights_in(options.lora))}"
    # a LoRA may change how prompts are read
    cache = EmbeddingCache(options.embeddings, f"{entry.name} {folder.name}{adapted}")
    conditions = AudioVideoConditions(spec, encode, close, cache, action_words(options.words), device)
    files = sorted(p for p in folder.glob("transformer/*") if p.suffix in (".safetensors", ".bin"))
    if options.lora is not None:
        files += weights_in(options.lora)
    return Parts(model, conditions, spec, f"{entry.name}-{identity(files)}")


def located(entry: Entry) -> Path:
    """The folder of a checkpoint. Raises HubError."""
    return entry.where or hub.locate(entry)


def heads(entry: Entry) -> int:
    """Attention heads of the transformer."""
    return int(read_json(component(located(entry), "transformer") / "config.json")["num_attention_heads"])


def component(folder: Path, name: str) -> Path:
    """A part of a diffusers folder. Raises LayoutError."""
    where = folder / name
    if not where.is_dir():
        raise LayoutError(f"{folder} has no {name}/: it is not a checkpoint of this model, or the pull is not complete")
    return where


def read(kind: Any, where: Path, dtype: torch.dtype | None, device: torch.device) -> Any:
    """A part by diffusers' or transformers' own loader, which keeps in full precision what has to be. Raises LayoutError."""
    try:
        more = {} if dtype is None else {"torch_dtype": dtype}
        model = kind.from_pretrained(str(where), local_files_only=True, **more)
    except (OSError, ValueError, KeyError, RuntimeError) as e:
        raise LayoutError(f"{where} cannot be read: {str(e).splitlines()[0]}") from e
    return model.to(device).eval().requires_grad_(False)


def _transformer(
    kind: Any,
    folder: Path,
    dtype: torch.dtype,
    device: torch.device,
    options: LoadOptions,
    progress: Progress,
    lora: Lora | None,
    names: Names,
) -> Any:
    """Where it samples or, offloaded, on the CPU. A LoRA is merged before it is moved."""
    progress("reading the transformer", 0.1)
    model = read(kind, component(folder, "transformer"), dtype, torch.device("cpu"))
    if lora is not None:
        progress("merging the LoRA", 0.6)
        merge(lora, model, names)
    if not options.offload or device.type == "cpu":
        return model.to(device)
    offload_blocks(model, device)
    return model


@torch.no_grad()
def merge(lora: Lora, model: torch.nn.Module, names: Names) -> None:
    """Merges what of a LoRA file is for this model into its weights. Raises LayoutError."""
    weights = dict(model.named_parameters())
    for key, value in lora.merged(weights, names):
        weights[key].copy_(value)


def planned(
    entry: Entry, spec: ModelSpec, device: torch.device, options: LoadOptions, progress: Progress
) -> LoadOptions:
    """The options of the plan that fits; as they are where a plan was made before. Raises MemoryNeeded in plain words."""
    free = free_memory(device) if options.memory is None else options.memory * GB
    if options.planned or entry.scale or free is None:
        return options
    if not entry.network:
        check_memory(entry, located(entry), device, torch_dtype(options, device), options)
        return options
    found = fit(entry, spec, options, Wish(options.window or spec.window, spec.steps), free, device.type)
    if found.plan is None:
        raise MemoryNeeded(found.say(entry.name))
    progress(found.say(entry.name), 0.05)
    return found.plan.applied(options)


def check_memory(entry: Entry, folder: Path, device: torch.device, dtype: torch.dtype, options: LoadOptions) -> None:
    """Raises MemoryNeeded in plain words. Counted from the files: every part but the text encoder is on the device."""
    there = free_memory(device)
    if entry.scale or there is None:
        return
    size = torch.empty(0, dtype=dtype).element_size()
    weights = (
        sum(f.stat().st_size for f in folder.glob("transformer/*.safetensors"))
        * size
        / 2
        * (0.1 if options.offload else 1)
    )
    rest = sum(
        f.stat().st_size
        for part in ("vae", "audio_vae", "vocoder", "connectors")
        for f in folder.glob(f"{part}/*.safetensors")
    )
    need = 1.15 * (weights + rest) + 6e9
    if need > there:
        hint = "take --offload" if not options.offload else "this machine is too small for it"
        raise MemoryNeeded(f"{entry.name} needs about {hub.gb(need)} on {device}, {hub.gb(there)} are free: {hint}")


# -- MiniMax-H3 ----------------------------------------------------------------------------------------------------------


class _TextOnly:
    """Stands in for Qwen3-VL's processor where a presentation is text alone."""

    def create_mm_token_type_ids(self, ids: list[list[int]]) -> list[list[int]]:
        return [[0] * len(row) for row in ids]


def _minimax_h3(
    entry: Entry,
    spec: ModelSpec,
    folder: Path,
    device: torch.device,
    dtype: torch.dtype,
    options: LoadOptions,
    progress: Progress,
    with_transformer: bool,
) -> tuple[Any, Encode, Callable[[], None]]:
    from diffusers import AutoencoderKLMiniMaxH3, AutoencoderKLMiniMaxH3Audio, MiniMaxH3Transformer3DModel

    from engine.models.audio_video.minimax_h3 import H3

    transformer = None
    if with_transformer:
        lora = None if options.lora is None else read_lora(options.lora, h3_lora)
        transformer = _transformer(
            MiniMaxH3Transformer3DModel, folder, dtype, device, options, progress, lora, lambda key: []
        )
        if lora is not None:
            lora.check_used()
    progress("reading the VAEs", 0.7)
    vae = read(AutoencoderKLMiniMaxH3, component(folder, "vae"), dtype, device)
    audio_vae = read(AutoencoderKLMiniMaxH3Audio, component(folder, "audio_vae"), None, device)
    family = H3(transformer, vae, audio_vae, spec.height, spec.width, device)
    where = device if options.text == "device" else torch.device("cpu")
    opened: list[Any] = []

    @torch.inference_mode()
    def encode(words: str) -> dict[str, Tensor]:
        from diffusers.modular_pipelines.minimax_h3.encoders import get_qwen3vl_prompt_embeds

        if not opened:
            from transformers import Qwen3VLForConditionalGeneration

            opened.append(read_tokenizer(component(folder, "tokenizer")))
            opened.append(read(Qwen3VLForConditionalGeneration, component(folder, "text_encoder"), dtype, where))
        tokenizer, encoder = opened
        ids = tokenizer(clean(words), add_special_tokens=False)["input_ids"]
        if not 0 < len(ids) <= LONGEST:
            raise ValueError(f"the prompt has {len(ids)} tokens: 1 to {LONGEST} are read")
        out = get_qwen3vl_prompt_embeds(encoder, _TextOnly(), ids, {}, QWEN_LAYER, where, dtype)
        if options.text == "release":
            opened.clear()
        return {"text": out.cpu()}

    return family, encode, opened.clear


def h3_lora(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """A LoRA file in the names of MiniMax-H3's own code, whose projections are fused, in those of diffusers; others as they are."""
    if not any(".qkv_proj." in k or ".mlp.fc" in k or k.startswith("lora_unet_") for k in state):
        return state
    from diffusers.loaders.lora_conversion_utils import _convert_non_diffusers_minimax_h3_lora_to_diffusers

    return _convert_non_diffusers_minimax_h3_lora_to_diffusers(dict(state))


# -- LTX-2.3 -------------------------------------------------------------------------------------------------------------


def ltx_names(key: str) -> list[str]:
    """What a key of Lightricks' transformer is called in diffusers."""
    return _ltx_names(key, "diffusion_model")


def ltx_connector_names(key: str) -> list[str]:
    """What a key of Lightricks' projections of text is called in diffusers' connectors."""
    before, _, rest = key.partition(".")
    return _ltx_names(rest, before) if before == "text_embedding_projection" else []


def _ltx_names(key: str, prefix: str) -> list[str]:
    from diffusers.loaders.lora_conversion_utils import _convert_non_diffusers_ltx2_lora_to_diffusers

    said = _convert_non_diffusers_ltx2_lora_to_diffusers({f"{prefix}.{key}": torch.empty(0)}, prefix)
    return [name.partition(".")[2] for name in said]


def _ltx2(
    entry: Entry,
    spec: ModelSpec,
    folder: Path,
    device: torch.device,
    dtype: torch.dtype,
    options: LoadOptions,
    progress: Progress,
    with_transformer: bool,
) -> tuple[Any, Encode, Callable[[], None]]:
    from diffusers import AutoencoderKLLTX2Audio, AutoencoderKLLTX2Video, LTX2VideoTransformer3DModel
    from diffusers.pipelines.ltx2 import LTX2TextConnectors
    from diffusers.pipelines.ltx2 import vocoder as vocoders

    from engine.models.audio_video.ltx2 import Ltx

    lora = None if options.lora is None else read_lora(options.lora)
    transformer = None
    if with_transformer:
        transformer = _transformer(
            LTX2VideoTransformer3DModel, folder, dtype, device, options, progress, lora, ltx_names
        )
    progress("reading the VAEs", 0.7)
    vae = read(AutoencoderKLLTX2Video, component(folder, "vae"), dtype, device)
    if options.tiled:
        vae.enable_tiling()
    audio_vae = read(AutoencoderKLLTX2Audio, component(folder, "audio_vae"), dtype, device)
    where = component(folder, "vocoder")
    kind = getattr(vocoders, read_json(where / "config.json").get("_class_name", "LTX2Vocoder"), vocoders.LTX2Vocoder)
    # its bandwidth extension loses a third of the sound's precision in bfloat16 (vllm-omni, issue 6342)
    vocoder = read(kind, where, torch.float32, device)
    connectors = read(LTX2TextConnectors, component(folder, "connectors"), dtype, torch.device("cpu"))
    if lora is not None:
        merge(lora, connectors, ltx_connector_names)
        if with_transformer:
            lora.check_used()
    text_at = device if options.text == "device" else torch.device("cpu")
    connectors.to(text_at)  # 6 GB that only prompts need
    family = Ltx(transformer, vae, audio_vae, vocoder, spec.height, spec.width, spec.fps, device)
    opened: list[Any] = []

    @torch.inference_mode()
    def encode(words: str) -> dict[str, Tensor]:
        if not opened:
            from transformers import Gemma3ForConditionalGeneration

            tokenizer = read_tokenizer(component(folder, "tokenizer"))
            tokenizer.padding_side = "left"
            if tokenizer.pad_token is None:
                tokenizer.pad_token = tokenizer.eos_token
            opened.append(tokenizer)
            opened.append(read(Gemma3ForConditionalGeneration, component(folder, "text_encoder"), dtype, text_at))
        tokenizer, encoder = opened
        longest = min(GEMMA_TOKENS, int(entry.scale.get("text_tokens", GEMMA_TOKENS)))
        if len(tokenizer(clean(words)).input_ids) > longest:
            raise ValueError(f"the prompt is too long: at most {longest} tokens are read; shorten it")
        inputs = tokenizer(
            [clean(words)], padding="max_length", max_length=longest, truncation=True, return_tensors="pt"
        )
        ids, mask = inputs.input_ids.to(text_at), inputs.attention_mask.to(text_at)
        hidden = encoder(input_ids=ids, attention_mask=mask, output_hidden_states=True).hidden_states
        packed = torch.stack(hidden, -1).flatten(2, 3).to(dtype)
        text, audio, seen = connectors(packed, mask, padding_side="left")
        if options.text == "release":
            opened.clear()
        return {"text": text.cpu(), "audio": audio.cpu(), "mask": seen.cpu()}

    return family, encode, opened.clear
