"""Small random Wan checkpoints: published settings and names, small sizes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.models.buttons import ButtonAdapter
from engine.models.catalogue import Entry
from engine.models.checkpoints import wan_names
from engine.models.published import Published, published
from engine.models.rays import MODEL_LAYERS, add_layers
from engine.models.tiny_parts import (
    SHARD,
    lively,
    save,
    small_lora,
    small_model,
    tokenizer_of_words,
    under_published_names,
    write_json,
)
from engine.models.weight_files import INDEX

HEADS, HEAD_DIM, LAYERS, TEXT = 4, 16, 2, 32
SIZE = (96, 64)
SIZE_16 = (192, 128)
"""For VAEs that shrink 16 times."""
SIZES: dict[str, Any] = {
    "num_attention_heads": HEADS,
    "attention_head_dim": HEAD_DIM,
    "text_dim": TEXT,
    "freq_dim": 32,
    "ffn_dim": 96,
    "num_layers": LAYERS,
}
"""Of a transformer; channels, patches and what else it says are published."""
BASE = "wan2.1-t2v-1.3b"
GENERATOR = "wan2.1-t2v-1.3b-self-forcing"


def write(entry: Entry, folder: Path) -> dict[str, Any]:
    """See `engine.models.family.WritesTiny`."""
    known = published(entry.name)
    if entry.layout == "generator":
        base = published(entry.base or BASE)
        _base(folder / "base", base)
        _generator(entry, known, base, folder)
    else:
        _base(folder, known)
        for part in ("transformer", "transformer_2"):
            if (settings := known.settings.get(f"{part}/config.json")) is not None:
                save(_transformer(settings), folder / part, settings, **SIZES)
    ratio = int(published(entry.base or entry.name).settings["vae/config.json"].get("scale_factor_spatial", 8))
    return {"size": SIZE_16 if ratio > 8 else SIZE, "head_dim": HEAD_DIM, "scale": {"tiny": True}}


def transformer() -> Any:
    """A small `WanTransformer3DModel`, but for its size Wan2.1's. Every weight matters."""
    return _transformer(published(BASE).settings["transformer/config.json"])


def _transformer(settings: Mapping[str, Any]) -> Any:
    import diffusers

    kind = str(settings["_class_name"]).removeprefix("Causal")
    return small_model(getattr(diffusers, kind), settings, **SIZES)


def vae_sizes(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Of a small `AutoencoderKLWan`."""
    return {"base_dim": 8, "num_res_blocks": 1} | ({"decoder_base_dim": 8} if "decoder_base_dim" in settings else {})


def vae(name: str = BASE) -> Any:
    """A small `AutoencoderKLWan`, but for its size that of a name of the catalogue. Every weight matters."""
    from diffusers import AutoencoderKLWan

    settings = published(name).settings["vae/config.json"]
    return small_model(AutoencoderKLWan, settings, **vae_sizes(settings))


def _base(folder: Path, known: Published) -> None:
    """Text encoder, tokenizer, VAE, scheduler and index of a diffusers folder."""
    from diffusers import AutoencoderKLWan
    from transformers import UMT5Config, UMT5EncoderModel

    settings = known.settings["vae/config.json"]
    sizes = vae_sizes(settings)
    save(small_model(AutoencoderKLWan, settings, **sizes), folder / "vae", settings, **sizes)
    tokenizer = tokenizer_of_words()
    tokenizer.save_pretrained(folder / "tokenizer")
    settings = known.settings["text_encoder/config.json"]
    sizes = {
        "vocab_size": len(tokenizer),
        "d_model": TEXT,
        "d_kv": 8,
        "d_ff": 32,
        "num_layers": 2,
        "num_decoder_layers": 2,
        "num_heads": 4,
        "torch_dtype": "float32",
    }
    encoder = UMT5EncoderModel(UMT5Config(**{**settings, **sizes})).eval()
    save(encoder, folder / "text_encoder", settings, **sizes)
    for file in ("scheduler/scheduler_config.json", "model_index.json"):
        write_json(folder / file, known.settings[file])


def _generator(entry: Entry, known: Published, base: Published, folder: Path) -> None:
    """Original keys in one file, as training code saves it."""
    assert entry.weights is not None
    _, patches = known.weights[entry.weights].keys["patch_embedding.weight"]
    model = _transformer({**base.settings["transformer/config.json"], "in_channels": patches[1]})
    if entry.recipe.get("keys") == "rays":
        _, shape = known.weights[entry.weights].keys[f"{MODEL_LAYERS[0]}.weight"]
        add_layers(model, shape[1])
        for name, p in model.named_parameters():
            if p.is_meta:
                owner, _, last = name.rpartition(".")
                setattr(model.get_submodule(owner), last, torch.nn.Parameter(0.1 * torch.randn(p.shape)))
    state = model.state_dict()
    width = HEADS * HEAD_DIM
    if entry.recipe.get("keys") == "camera":
        for i in range(LAYERS):
            state[f"blocks.{i}.attn1.prope_o.weight"] = 0.1 * torch.randn(width, width)
            state[f"blocks.{i}.attn1.prope_o.bias"] = 0.1 * torch.randn(width)
    if entry.recipe.get("keys") == "buttons":
        _, shape = known.weights[entry.weights].keys["act_control_adapter.conv.weight"]
        adapter = lively(ButtonAdapter(shape[1], width, shape[2]))
        state |= {f"act_control_adapter.{key}": value for key, value in adapter.state_dict().items()}
    weights = known.weights[entry.weights]
    _save_inside(weights.inside, under_published_names(weights, state, wan_names), folder / entry.weights)
    if entry.lora is not None:
        weights = known.weights[entry.lora]
        _save_inside(weights.inside, small_lora(weights, [(state, wan_names)]), folder / entry.lora)


def _save_inside(name: str | None, state: dict[str, Tensor], file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.name.endswith(INDEX):
        from huggingface_hub import save_torch_state_dict

        pattern = file.name.removesuffix(INDEX) + "{suffix}.safetensors"
        save_torch_state_dict(state, file.parent, filename_pattern=pattern, max_shard_size=SHARD)
        return
    if file.suffix == ".safetensors":
        from safetensors.torch import save_file

        save_file({k: v.contiguous() for k, v in state.items()}, str(file))
        return
    torch.save(state if name is None else {name: state}, file)


def original_keys(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """diffusers' keys of a small Wan transformer in the names of Wan's own code."""
    (weights,) = published(GENERATOR).weights.values()
    named = under_published_names(weights, state, wan_names)
    return {k.removeprefix(weights.prefix): v for k, v in named.items()}
