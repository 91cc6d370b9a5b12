"""Small random Wan checkpoints in their published layouts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.models.catalogue import Entry
from engine.models.tiny_parts import SHARD, lively, tokenizer_of_words

HEADS, HEAD_DIM, LAYERS, TEXT = 4, 16, 2, 32
SIZE = (96, 64)
SIZE_16 = (192, 128)
"""For VAEs that shrink 16 times."""


def write(entry: Entry, folder: Path) -> dict[str, Any]:
    """See `engine.models.family.WritesTiny`."""
    if entry.layout == "generator":
        _generator(entry, folder)
    else:
        _diffusers(entry, folder)
    large = entry.name == "wan2.2-ti2v-5b"
    return {"size": SIZE_16 if large else SIZE, "head_dim": HEAD_DIM, "scale": {"tiny": True}}


def transformer(channels: int = 16, inputs: int | None = None, layers: int = LAYERS) -> Any:
    """A small `WanTransformer3DModel` whose every weight matters."""
    from diffusers import WanTransformer3DModel

    model = WanTransformer3DModel(
        num_attention_heads=HEADS,
        attention_head_dim=HEAD_DIM,
        in_channels=inputs or channels,
        out_channels=channels,
        text_dim=TEXT,
        freq_dim=32,
        ffn_dim=96,
        num_layers=layers,
        cross_attn_norm=True,
    )
    return lively(model)


def vae_config(large: bool) -> dict[str, Any]:
    """Settings of a small `AutoencoderKLWan`; large: in Wan2.2's layout, which shrinks 16 times."""
    if not large:
        return {"base_dim": 8, "z_dim": 16, "dim_mult": [1, 2, 4, 4], "num_res_blocks": 1}
    return {
        "base_dim": 8,
        "decoder_base_dim": 8,
        "z_dim": 48,
        "dim_mult": [1, 2, 4, 4],
        "num_res_blocks": 1,
        "is_residual": True,
        "in_channels": 12,
        "out_channels": 12,
        "patch_size": 2,
        "scale_factor_spatial": 16,
        "scale_factor_temporal": 4,
        "latents_mean": [0.1 * (i % 5 - 2) for i in range(48)],
        "latents_std": [0.8 + 0.1 * (i % 4) for i in range(48)],
    }


def _base(folder: Path, large: bool, pipeline: str, extra: dict[str, Any]) -> None:
    """Text encoder, tokenizer, VAE, scheduler and index of a diffusers folder."""
    from diffusers import AutoencoderKLWan, UniPCMultistepScheduler
    from transformers import UMT5Config, UMT5EncoderModel

    vae = lively(AutoencoderKLWan(**vae_config(large)))
    vae.save_pretrained(folder / "vae")
    tokenizer = tokenizer_of_words()
    tokenizer.save_pretrained(folder / "tokenizer")
    config = UMT5Config(
        vocab_size=len(tokenizer),
        d_model=TEXT,
        d_kv=8,
        d_ff=48,
        num_layers=2,
        num_heads=4,
        feed_forward_proj="gated-gelu",
    )
    UMT5EncoderModel(config).eval().save_pretrained(folder / "text_encoder", max_shard_size=SHARD)
    scheduler: Any = UniPCMultistepScheduler(prediction_type="flow_prediction", use_flow_sigmas=True, flow_shift=3.0)
    scheduler.save_pretrained(folder / "scheduler")
    index = {
        "_class_name": pipeline,
        "_diffusers_version": "0.42.1",
        "scheduler": ["diffusers", "UniPCMultistepScheduler"],
        "text_encoder": ["transformers", "UMT5EncoderModel"],
        "tokenizer": ["transformers", "T5TokenizerFast"],
        "vae": ["diffusers", "AutoencoderKLWan"],
        **extra,
    }
    (folder / "model_index.json").write_text(json.dumps(index, indent=2) + "\n")


def _diffusers(entry: Entry, folder: Path) -> None:
    large = entry.name == "wan2.2-ti2v-5b"
    wan = ["diffusers", "WanTransformer3DModel"]
    if entry.name.startswith("anyflow"):
        from diffusers import AnyFlowFARTransformer3DModel

        _base(folder, False, "AnyFlowFARPipeline", {"transformer": ["diffusers", "AnyFlowFARTransformer3DModel"]})
        lively(
            AnyFlowFARTransformer3DModel(
                num_attention_heads=HEADS,
                attention_head_dim=HEAD_DIM,
                text_dim=TEXT,
                freq_dim=32,
                ffn_dim=96,
                num_layers=LAYERS,
            )
        ).save_pretrained(folder / "transformer", max_shard_size=SHARD)
        return
    if entry.recipe.get("image") == "channels":
        _base(
            folder, False, "WanImageToVideoPipeline", {"transformer": wan, "transformer_2": wan, "boundary_ratio": 0.9}
        )
        for name in ("transformer", "transformer_2"):
            transformer(16, 36).save_pretrained(folder / name, max_shard_size=SHARD)
            file = folder / name / "config.json"
            config = json.loads(file.read_text()) | {"_class_name": "CausalWanTransformer3DModel"}
            file.write_text(json.dumps(config, indent=2) + "\n")
        return
    _base(folder, large, "WanPipeline", {"transformer": wan, **({"expand_timesteps": True} if large else {})})
    transformer(48 if large else 16).save_pretrained(folder / "transformer", max_shard_size=SHARD)


def _generator(entry: Entry, folder: Path) -> None:
    """A dictionary of original keys with the prefixes of training code, beside a base folder."""
    _base(folder / "base", False, "WanPipeline", {})
    model = transformer()
    state = original_keys(model.state_dict())
    if entry.recipe.get("keys") == "camera":
        width = HEADS * HEAD_DIM
        for i in range(LAYERS):
            state[f"blocks.{i}.self_attn.prope_o.weight"] = 0.1 * torch.randn(width, width)
            state[f"blocks.{i}.self_attn.prope_o.bias"] = 0.1 * torch.randn(width)
    assert entry.weights is not None
    file = folder / entry.weights
    file.parent.mkdir(parents=True, exist_ok=True)
    prefix = "model._fsdp_wrapped_module." if entry.name.endswith("self-forcing") else "model."
    torch.save({"generator": {prefix + k: v for k, v in state.items()}}, file)
    if entry.lora is not None:
        lora = {}
        for i in range(LAYERS):
            for part in ("q", "v"):
                key = f"base_model.model.model.blocks.{i}.self_attn.{part}"
                lora[f"{key}.lora_A.weight"] = 0.1 * torch.randn(4, HEADS * HEAD_DIM)
                lora[f"{key}.lora_B.weight"] = 0.1 * torch.randn(HEADS * HEAD_DIM, 4)
        torch.save({"generator_lora": lora}, folder / entry.lora)


RENAMED = (
    ("condition_embedder.time_embedder.linear_1", "time_embedding.0"),
    ("condition_embedder.time_embedder.linear_2", "time_embedding.2"),
    ("condition_embedder.text_embedder.linear_1", "text_embedding.0"),
    ("condition_embedder.text_embedder.linear_2", "text_embedding.2"),
    ("condition_embedder.time_proj", "time_projection.1"),
    (".attn1.", ".self_attn."),
    (".attn2.", ".cross_attn."),
    (".to_out.0.", ".o."),
    (".to_q.", ".q."),
    (".to_k.", ".k."),
    (".to_v.", ".v."),
    (".ffn.net.0.proj.", ".ffn.0."),
    (".ffn.net.2.", ".ffn.2."),
    (".norm2.", ".norm3."),
    ("proj_out.", "head.head."),
)


def original_keys(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """diffusers' keys of a Wan transformer in the names of Wan's own code."""
    out = {}
    for key, value in state.items():
        for new, old in RENAMED:
            key = key.replace(new, old)
        if key.endswith("scale_shift_table"):
            key = key.replace("scale_shift_table", "modulation") if key.startswith("blocks.") else "head.modulation"
        out[key] = value
    return out
