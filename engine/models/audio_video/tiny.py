"""Small random checkpoints of MiniMax-H3 and LTX-2.3, and the LoRA files that their steps need: published settings and names, small
sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from torch import Tensor

from engine.models.lora import Names
from engine.models.published import Published, published
from engine.models.tiny_parts import SHARD, save, small_lora, small_model, tokenizer_of_words, write_json

SIZE = (128, 96)
LAYERS = 2
TEXT = 32
TOKENS = 64
"""Tokens that the small LTX checkpoint pads a prompt to."""
SCALE = {"tiny": True, "text_tokens": TOKENS}
H3_LORA = "dense-datafree/adapter_model.safetensors"
LTX_LORA = "ltx-2.3-22b-distilled-lora-384-1.1.safetensors"
H3_SIZES: dict[str, dict[str, Any]] = {
    "transformer": {
        "num_attention_heads": 4,
        "attention_head_dim": 32,
        "hidden_size": 64,
        "num_layers": LAYERS,
        "num_refiner_layers": 1,
        "ffn_dim": 96,
        "text_dim": TEXT,
        "freq_dim": 32,
        "time_embed_hidden_dim": 64,
        "time_embed_dim": 32,
        "rope_freq_dim": 4,
    },
    "vae": {
        "block_out_channels": [8, 8, 8, 8, 8, 8],
        "layers_per_block": 1,
        "norm_num_groups": 4,
        "decoder_num_layers": 2,
        "decoder_num_attention_heads": 2,
        "decoder_attention_head_dim": 32,
        "decoder_num_register_tokens": 2,
        "decoder_ffn_mult": 2,
        "latents_mean": [0.05 * (i % 5 - 2) for i in range(24)],
        "latents_std": [0.9 + 0.05 * (i % 4) for i in range(24)],
    },
    "audio_vae": {
        "encoder_dim": 4,
        "latent_dim": 64,
        "num_attention_heads": 2,
        "decoder_dim": 128,
        "latents_mean": [0.02 * (i % 3) for i in range(32)],
        "latents_std": [0.9 + 0.05 * (i % 3) for i in range(32)],
    },
}
LTX_SIZES: dict[str, dict[str, Any]] = {
    "transformer": {
        "in_channels": 16,
        "out_channels": 16,
        "num_attention_heads": 2,
        "attention_head_dim": 16,
        "cross_attention_dim": 32,
        "audio_in_channels": 32,
        "audio_out_channels": 32,
        "audio_num_attention_heads": 2,
        "audio_attention_head_dim": 8,
        "audio_cross_attention_dim": 16,
        "num_layers": LAYERS,
        "caption_channels": TEXT,
    },
    "connectors": {
        "caption_channels": TEXT,
        "text_proj_in_factor": LAYERS + 1,
        "video_connector_num_attention_heads": 2,
        "video_connector_attention_head_dim": 16,
        "video_connector_num_layers": 1,
        "video_connector_num_learnable_registers": 8,
        "audio_connector_num_attention_heads": 2,
        "audio_connector_attention_head_dim": 8,
        "audio_connector_num_layers": 1,
        "audio_connector_num_learnable_registers": 8,
        "video_hidden_dim": 32,
        "audio_hidden_dim": 16,
    },
    "vae": {
        "latent_channels": 16,
        "block_out_channels": [8, 8, 8, 8],
        "decoder_block_out_channels": [8, 16, 16, 32],
        "layers_per_block": [1, 1, 1, 1, 1],
        "decoder_layers_per_block": [1, 1, 1, 1, 1],
    },
    "audio_vae": {"base_channels": 32, "ch_mult": [1, 1, 1], "num_res_blocks": 1, "mel_bins": 16},
    "vocoder": {
        "in_channels": 32,
        "hidden_channels": 64,
        "resnet_kernel_sizes": [3],
        "resnet_dilations": [[1]],
        "bwe_in_channels": 32,
        "bwe_hidden_channels": 32,
        "bwe_resnet_kernel_sizes": [3],
        "bwe_resnet_dilations": [[1]],
        "num_mel_channels": 16,
    },
}
"""What is smaller than published, by part."""


def _parts(known: Published, sizes: Mapping[str, dict[str, Any]], folder: Path) -> dict[str, Any]:
    """Writes the models of diffusers that a checkpoint is made of, and returns them by name."""
    made = {}
    for part, smaller in sizes.items():
        settings = known.settings[f"{part}/config.json"]
        made[part] = small_model(_kind(settings["_class_name"]), settings, **smaller)
        save(made[part], folder / part, settings, **smaller)
    for file, settings in known.settings.items():
        if not file.endswith("/config.json"):
            write_json(folder / file, settings)
    return made


def _kind(name: str) -> Any:
    import diffusers
    from diffusers.pipelines import ltx2

    return getattr(diffusers, name, None) or getattr(ltx2, name)


def _lora(known: Published, file: str, folder: Path, states: Sequence[tuple[Mapping[str, Tensor], Names]]) -> None:
    from safetensors.torch import save_file

    weights = known.weights[file]
    (folder / file).parent.mkdir(parents=True, exist_ok=True)
    save_file(small_lora(weights, states), str(folder / file), weights.metadata or None)


def write_h3(folder: Path) -> dict[str, Any]:
    """Writes MiniMax-H3; see `engine.models.family.WritesTiny`."""
    from transformers import Qwen3VLConfig, Qwen3VLForConditionalGeneration

    known = published("minimax-h3")
    made = _parts(known, H3_SIZES, folder)
    _lora(known, H3_LORA, folder, [(made["transformer"].state_dict(), lambda key: [])])
    words = tokenizer_of_words()
    words.save_pretrained(folder / "tokenizer")
    config = Qwen3VLConfig(
        text_config={
            "vocab_size": len(words),
            "hidden_size": TEXT,
            "intermediate_size": 32,
            "num_hidden_layers": 51,
            "num_attention_heads": 2,
            "num_key_value_heads": 1,
            "head_dim": 16,
            "rope_scaling": {"rope_type": "default", "mrope_section": [2, 3, 3]},
        },
        vision_config={
            "depth": 1,
            "hidden_size": 16,
            "intermediate_size": 16,
            "num_heads": 2,
            "out_hidden_size": TEXT,
            "deepstack_visual_indexes": [0],
        },
    )
    Qwen3VLForConditionalGeneration(config).eval().save_pretrained(folder / "text_encoder", max_shard_size=SHARD)
    return {"size": SIZE, "scale": SCALE}


def write_ltx(folder: Path) -> dict[str, Any]:
    """Writes LTX-2.3; see `engine.models.family.WritesTiny`."""
    from transformers import Gemma3Config, Gemma3ForConditionalGeneration

    from engine.models.audio_video.load import ltx_connector_names, ltx_names

    known = published("ltx-2.3")
    made = _parts(known, LTX_SIZES, folder)
    states = [(made["transformer"].state_dict(), ltx_names), (made["connectors"].state_dict(), ltx_connector_names)]
    _lora(known, LTX_LORA, folder, states)
    words = tokenizer_of_words()
    words.save_pretrained(folder / "tokenizer")
    config = Gemma3Config(
        text_config={
            "vocab_size": len(words),
            "hidden_size": TEXT,
            "intermediate_size": 32,
            "num_hidden_layers": LAYERS,
            "num_attention_heads": 2,
            "num_key_value_heads": 1,
            "head_dim": 16,
            "sliding_window": 32,
        },
        vision_config={
            "hidden_size": 16,
            "intermediate_size": 16,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "image_size": 28,
            "patch_size": 14,
        },
        mm_tokens_per_image=1,
    )
    Gemma3ForConditionalGeneration(config).eval().save_pretrained(folder / "text_encoder", max_shard_size=SHARD)
    return {"size": SIZE, "scale": SCALE}
