"""Small random checkpoints of MiniMax-H3 and LTX-2.3 in their published layouts: all folders, settings and names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from engine.models.tiny_parts import SHARD, lively, tokenizer_of_words

SIZE = (128, 96)
LAYERS = 2
TEXT = 32
TOKENS = 64
"""Tokens that the small LTX checkpoint pads a prompt to."""
SCALE = {"tiny": True, "text_tokens": TOKENS}


def write_h3(folder: Path) -> dict[str, Any]:
    """Writes MiniMax-H3; see `engine.models.family.WritesTiny`."""
    from diffusers import (
        AutoencoderKLMiniMaxH3,
        AutoencoderKLMiniMaxH3Audio,
        MiniMaxH3Scheduler,
        MiniMaxH3Transformer3DModel,
    )
    from transformers import Qwen3VLConfig, Qwen3VLForConditionalGeneration

    transformer = MiniMaxH3Transformer3DModel(
        num_attention_heads=4,
        attention_head_dim=32,
        hidden_size=64,
        num_layers=LAYERS,
        num_refiner_layers=1,
        ffn_dim=96,
        in_channels=24,
        audio_in_channels=32,
        text_dim=TEXT,
        freq_dim=32,
        time_embed_hidden_dim=64,
        time_embed_dim=32,
        rope_freq_dim=4,
    )
    lively(transformer).save_pretrained(folder / "transformer", max_shard_size=SHARD)
    vae = AutoencoderKLMiniMaxH3(
        latent_channels=24,
        block_out_channels=(8, 8, 8, 8, 8, 8),
        layers_per_block=1,
        norm_num_groups=4,
        decoder_num_layers=2,
        decoder_num_attention_heads=2,
        decoder_attention_head_dim=32,
        decoder_num_register_tokens=2,
        decoder_ffn_mult=2,
        latents_mean=tuple(0.05 * (i % 5 - 2) for i in range(24)),
        latents_std=tuple(0.9 + 0.05 * (i % 4) for i in range(24)),
    )
    lively(vae).save_pretrained(folder / "vae")
    audio: Any = AutoencoderKLMiniMaxH3Audio(
        encoder_dim=4,
        latent_dim=64,
        latent_channels=32,
        num_attention_heads=2,
        decoder_dim=128,
        latents_mean=[0.02 * (i % 3) for i in range(32)],
        latents_std=[0.9 + 0.05 * (i % 3) for i in range(32)],
    )
    audio.eval().save_pretrained(folder / "audio_vae")
    for name, shift in (("scheduler", 12.0), ("audio_scheduler", 3.0)):
        scheduler: Any = MiniMaxH3Scheduler(shift=shift)
        scheduler.save_pretrained(folder / name)
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
    library = {
        "transformer": "MiniMaxH3Transformer3DModel",
        "vae": "AutoencoderKLMiniMaxH3",
        "audio_vae": "AutoencoderKLMiniMaxH3Audio",
        "scheduler": "MiniMaxH3Scheduler",
        "audio_scheduler": "MiniMaxH3Scheduler",
    }
    index: dict[str, Any] = {"_class_name": "MiniMaxH3ModularPipeline", "_blocks_class_name": "MiniMaxH3Blocks"}
    index["_diffusers_version"] = "0.42.1"
    for name, kind in library.items():
        index[name] = ["diffusers", kind, {"repo": None, "subfolder": name}]
    index["text_encoder"] = [
        "transformers",
        "Qwen3VLForConditionalGeneration",
        {"repo": None, "subfolder": "text_encoder"},
    ]
    index["tokenizer"] = ["transformers", "Qwen2TokenizerFast", {"repo": None, "subfolder": "tokenizer"}]
    (folder / "modular_model_index.json").write_text(json.dumps(index, indent=2) + "\n")
    return {"size": SIZE, "scale": SCALE}


def write_ltx(folder: Path) -> dict[str, Any]:
    """Writes LTX-2.3; see `engine.models.family.WritesTiny`."""
    from diffusers import (
        AutoencoderKLLTX2Audio,
        AutoencoderKLLTX2Video,
        FlowMatchEulerDiscreteScheduler,
        LTX2VideoTransformer3DModel,
    )
    from diffusers.pipelines.ltx2 import LTX2TextConnectors
    from diffusers.pipelines.ltx2.vocoder import LTX2Vocoder
    from transformers import Gemma3Config, Gemma3ForConditionalGeneration

    transformer = LTX2VideoTransformer3DModel(
        in_channels=16,
        out_channels=16,
        num_attention_heads=2,
        attention_head_dim=16,
        cross_attention_dim=32,
        audio_in_channels=32,
        audio_out_channels=32,
        audio_num_attention_heads=2,
        audio_attention_head_dim=8,
        audio_cross_attention_dim=16,
        num_layers=LAYERS,
        caption_channels=TEXT,
    )
    lively(transformer).save_pretrained(folder / "transformer", max_shard_size=SHARD)
    vae = AutoencoderKLLTX2Video(
        latent_channels=16,
        block_out_channels=(8, 8, 8, 8),
        decoder_block_out_channels=(8, 16, 32),
        layers_per_block=(1, 1, 1, 1, 1),
        decoder_layers_per_block=(1, 1, 1, 1),
        spatial_compression_ratio=32,
        temporal_compression_ratio=8,
    )
    lively(vae).save_pretrained(folder / "vae")
    audio: Any = AutoencoderKLLTX2Audio(
        base_channels=32,
        ch_mult=(1, 1, 1),
        num_res_blocks=1,
        latent_channels=8,
        mel_bins=16,
    )
    audio.eval().save_pretrained(folder / "audio_vae")
    LTX2Vocoder(in_channels=32, hidden_channels=64).eval().save_pretrained(folder / "vocoder")
    connectors = LTX2TextConnectors(
        caption_channels=TEXT,
        text_proj_in_factor=LAYERS + 1,
        video_connector_num_attention_heads=2,
        video_connector_attention_head_dim=16,
        video_connector_num_layers=1,
        video_connector_num_learnable_registers=8,
        audio_connector_num_attention_heads=2,
        audio_connector_attention_head_dim=16,
        audio_connector_num_layers=1,
        audio_connector_num_learnable_registers=8,
    )
    lively(connectors).save_pretrained(folder / "connectors")
    scheduler: Any = FlowMatchEulerDiscreteScheduler(shift=1.0)
    scheduler.save_pretrained(folder / "scheduler")
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
    index = {
        "_class_name": "LTX2Pipeline",
        "_diffusers_version": "0.42.1",
        "scheduler": ["diffusers", "FlowMatchEulerDiscreteScheduler"],
        "vae": ["diffusers", "AutoencoderKLLTX2Video"],
        "audio_vae": ["diffusers", "AutoencoderKLLTX2Audio"],
        "text_encoder": ["transformers", "Gemma3ForConditionalGeneration"],
        "tokenizer": ["transformers", "GemmaTokenizerFast"],
        "connectors": ["ltx2", "LTX2TextConnectors"],
        "transformer": ["diffusers", "LTX2VideoTransformer3DModel"],
        "vocoder": ["ltx2", "LTX2Vocoder"],
    }
    (folder / "model_index.json").write_text(json.dumps(index, indent=2) + "\n")
    return {"size": SIZE, "scale": SCALE}
