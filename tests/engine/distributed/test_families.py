"""MiniMax-H3 and LTX-2.3 over ranks give what diffusers gives on one."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from engine.distributed.split import Split
from engine.distributed.usp import UnifiedSequenceParallel, make_groups
from engine.models.audio_video.sharding import shard_ltx2, shard_minimax_h3
from tests.engine.distributed.ranks import on_ranks


def h3(split: Split | None) -> list[torch.Tensor]:
    """A packed sequence of 5 text, 7 audio and 18 video rows: 30 do not divide by 4."""
    from diffusers import MiniMaxH3Transformer3DModel

    torch.manual_seed(0)
    kind: Any = MiniMaxH3Transformer3DModel
    model = kind(
        num_attention_heads=4,
        attention_head_dim=16,
        hidden_size=48,
        num_layers=2,
        num_refiner_layers=1,
        ffn_dim=64,
        in_channels=4,
        audio_in_channels=6,
        text_dim=20,
        freq_dim=32,
        time_embed_hidden_dim=48,
        time_embed_dim=24,
        rope_freq_dim=2,
    ).eval()
    if split is not None:
        shard_minimax_h3(model, UnifiedSequenceParallel(make_groups(split)))
    torch.manual_seed(1)
    n = 30
    text, audio, video = torch.arange(5), torch.arange(5, 12), torch.arange(12, 30)
    tags = torch.cat((torch.full((5,), 1), torch.full((7,), 2), torch.zeros(18, dtype=torch.long)))
    with torch.no_grad():
        out = model(
            torch.randn(1, 18, 16),
            torch.randn(1, 7, 6),
            torch.randn(1, 5, 20),
            torch.tensor([0.2, 0.9]),
            torch.randint(0, 2, (n,)),
            tags,
            torch.rand(n, 3) * 9,
            video,
            audio,
            text,
            return_dict=False,
        )
    return list(out)


def ltx(split: Split | None, rope: str) -> list[torch.Tensor]:
    """3 x 2 x 3 video tokens (18 do not divide by 4) and 10 audio ones, as LTX-2.3: gates, prompt modulation, cross timesteps."""
    from diffusers import LTX2VideoTransformer3DModel

    torch.manual_seed(0)
    kind: Any = LTX2VideoTransformer3DModel
    model = kind(
        in_channels=8,
        out_channels=8,
        num_attention_heads=4,
        attention_head_dim=16,
        cross_attention_dim=64,
        audio_in_channels=8,
        audio_out_channels=8,
        audio_num_attention_heads=4,
        audio_attention_head_dim=8,
        audio_cross_attention_dim=32,
        num_layers=2,
        caption_channels=24,
        gated_attn=True,
        audio_gated_attn=True,
        cross_attn_mod=True,
        audio_cross_attn_mod=True,
        use_prompt_embeddings=False,
        rope_type=rope,
    ).eval()
    if split is not None:
        shard_ltx2(model, UnifiedSequenceParallel(make_groups(split)))
    torch.manual_seed(1)
    with torch.no_grad():
        out = model(
            torch.randn(1, 18, 8),
            torch.randn(1, 10, 8),
            torch.randn(1, 6, 64),
            torch.randn(1, 6, 32),
            timestep=torch.rand(1, 18) * 1000,
            audio_timestep=torch.tensor([700.0]),
            sigma=torch.tensor([800.0]),
            audio_sigma=torch.tensor([700.0]),
            num_frames=3,
            height=2,
            width=3,
            fps=24.0,
            audio_num_frames=10,
            use_cross_timestep=True,
            return_dict=False,
        )
    return list(out)


@pytest.mark.parametrize("split", [Split(2, 1), Split(2, 2), Split(1, 2)], ids=str)
def test_minimax_h3_over_ranks(split: Split) -> None:
    alone = h3(None)
    for made in on_ranks(split.ranks, h3, split):
        assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(alone, made, strict=True))


@pytest.mark.parametrize(
    ("split", "rope"), [(Split(2, 1), "split"), (Split(2, 2), "interleaved"), (Split(1, 2), "split")], ids=str
)
def test_ltx_over_ranks(split: Split, rope: str) -> None:
    alone = ltx(None, rope)
    for made in on_ranks(split.ranks, ltx, split, rope):
        assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(alone, made, strict=True))
