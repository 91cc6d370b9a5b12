"""The pocket network: a small `WanTransformer3DModel` between a convolutional stem and head.

Tokens are 16x16 pixels of one group; rotary positions are those of the world's panorama, not of the screen: a token's
column is its azimuth, so under a turn the same place keeps its position. Attention is causal by groups in the history
and bidirectional inside the window; the history sees neither the window nor any prompt, so retained-prefix KV is exact
and an old prompt does not speak through it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn

from engine.models.attention import KeyValue, RotaryEmbedding, WindowCall, set_attn_processors
from engine.models.pocket.camera import FRAMES_PER_GROUP
from engine.models.pocket.codec import CHANNELS, COLUMNS, ROWS

PATCH = 2
TOKEN_ROWS, TOKEN_COLUMNS = ROWS // PATCH, COLUMNS // PATCH
TOKENS = TOKEN_ROWS * TOKEN_COLUMNS
TOKEN_PIXELS = 16
ATTRIBUTES = (8, 4, 3)
"""Biomes, times, weathers; each has one more class for 'not said'."""
CONDITION = sum(n + 1 for n in ATTRIBUTES)
MOTION = FRAMES_PER_GROUP * 5
CONTROL = CHANNELS + 1
HISTORY = 5
"""Groups of history that a window attends to."""


@dataclass(frozen=True)
class NetworkConfig:
    width: int = 192
    layers: int = 6
    head_width: int = 64
    stem: int = 96
    text: int = 64

    def as_dict(self) -> dict[str, int]:
        return asdict(self)


class Conditions(nn.Module):
    """Stands in for Wan's time and text embedder: noise level, motion and prompt make the per-group modulation."""

    def __init__(self, original: Any, width: int) -> None:
        super().__init__()
        self.timesteps_proj = original.timesteps_proj
        self.time_embedder = original.time_embedder
        self.act_fn = original.act_fn
        self.time_proj = original.time_proj
        self.text_embedder = original.text_embedder
        self.motion = nn.Sequential(nn.Linear(MOTION + 2, width), nn.SiLU(), nn.Linear(width, width))
        self.prompt = nn.Linear(CONDITION, width, bias=False)

    def forward(self, timestep, encoder_hidden_states, encoder_hidden_states_image, timestep_seq_len=None):  # type: ignore[no-untyped-def]
        """timestep: (batch * groups,); encoder_hidden_states_image: (batch, groups, MOTION + 2 + CONDITION)."""
        extra = encoder_hidden_states_image
        groups = extra.shape[1]
        time = self.time_embedder(self.timesteps_proj(timestep).unflatten(0, (-1, groups)))
        temb = time + self.motion(extra[..., : MOTION + 2]) + self.prompt(extra[..., MOTION + 2 :])
        modulation = self.time_proj(self.act_fn(temb))
        text = self.text_embedder(encoder_hidden_states)
        return temb.repeat_interleave(TOKENS, 1), modulation.repeat_interleave(TOKENS, 1), text, None


class PocketNet(nn.Module):
    """Predicts clean latents as a correction of the best linear guess from the control latents and the noisy ones.

    prior: (CHANNELS, 1, 1), the variance of clean latents about the control, which weighs the two.
    """

    wan: Any
    prior: Tensor

    def __init__(self, config: NetworkConfig = NetworkConfig()) -> None:
        super().__init__()
        from diffusers import WanTransformer3DModel  # seconds to import: not before a model is wanted

        self.config = config
        c = config
        self.stem = nn.Sequential(
            nn.Conv2d(CHANNELS + CONTROL, c.stem, 3, padding=1), nn.SiLU(), nn.Conv2d(c.stem, c.stem, 3, padding=1)
        )
        self.wan = WanTransformer3DModel(
            patch_size=(1, PATCH, PATCH),
            num_attention_heads=c.width // c.head_width,
            attention_head_dim=c.head_width,
            in_channels=c.stem,
            out_channels=c.stem,
            text_dim=c.text,
            freq_dim=128,
            ffn_dim=4 * c.width,
            num_layers=c.layers,
            cross_attn_norm=True,
        )
        self.wan.condition_embedder = Conditions(self.wan.condition_embedder, c.width)
        self.words = nn.ModuleList(nn.Linear(n + 1, c.text, bias=False) for n in ATTRIBUTES)
        self.silence = nn.Parameter(torch.zeros(1, 1, c.text))
        self.head = nn.Sequential(
            nn.Conv2d(2 * c.stem, c.stem, 3, padding=1), nn.SiLU(), nn.Conv2d(c.stem, CHANNELS, 3, padding=1)
        )
        self.register_buffer("prior", torch.full((CHANNELS, 1, 1), 0.1))
        self.holder = set_attn_processors(self.wan)
        for parameter in self.words.parameters():
            nn.init.normal_(parameter, std=1.0)

    def rotation(self, groups: Tensor, yaw: Tensor, pitch: Tensor) -> RotaryEmbedding:
        """Rotary embedding by group index, pitch and yaw in pixels, each (batch, groups) relative to the branch."""
        d = self.config.head_width
        side = 2 * (d // 6)
        rows = torch.arange(TOKEN_ROWS, device=yaw.device)[None, None, :, None] - pitch[:, :, None, None] / TOKEN_PIXELS
        cols = (
            torch.arange(TOKEN_COLUMNS, device=yaw.device)[None, None, None, :] + yaw[:, :, None, None] / TOKEN_PIXELS
        )
        shape = (*yaw.shape, TOKEN_ROWS, TOKEN_COLUMNS)
        angles = []
        for position, width, top, base in (
            (groups[:, :, None, None], d - 2 * side, 1.0, 200.0),
            (rows, side, 1.5, 100.0),
            (cols, side, 1.5, 100.0),
        ):
            frequency = top * base ** (-torch.arange(width // 2, device=yaw.device, dtype=torch.float32) / (width // 2))
            angles.append(position.float().expand(shape)[..., None] * frequency)
        angle = torch.cat(angles, -1).flatten(1, 3)[:, :, None]
        return RotaryEmbedding(torch.cos(angle), torch.sin(angle))

    def context(self, condition: Tensor) -> Tensor:
        """(batch, CONDITION) soft attributes to (batch, 4, text): one token each, and silence for the history."""
        parts = condition.split([n + 1 for n in ATTRIBUTES], 1)
        tokens = [w(p)[:, None] for w, p in zip(self.words, parts, strict=True)]
        return torch.cat([self.silence.expand(len(condition), -1, -1), *tokens], 1)

    def forward(
        self, latents: Tensor, control: Tensor, sigma: Tensor, extra: Tensor, context: Tensor, call: WindowCall
    ) -> Tensor:
        """The clean latents that are expected.

        latents: (batch, groups, CHANNELS, 10, 16); control: the same with CONTROL channels; sigma: (batch, groups) in
        [0, 1]; extra: (batch, groups, MOTION + 2 + CONDITION); context: of `context`. Returns the latents' shape.
        """
        n, groups = latents.shape[:2]
        s = sigma[:, :, None, None, None].clamp_min(1e-3)
        total = (1 - s) ** 2 * self.prior + s**2
        guess = control[:, :, :CHANNELS]
        # what the noisy latents say beyond the guess: nothing at sigma 1, everything at 0
        news = (1 - s) * self.prior / total * (latents - (1 - s) * guess)
        features = self.stem(torch.cat((news, control), 2).flatten(0, 1))
        grid = features.unflatten(0, (n, groups)).transpose(1, 2)
        with self.holder.calling(call):
            out = self.wan(grid, sigma * 1000, context, extra, return_dict=False)[0]
        out = out.transpose(1, 2).flatten(0, 1)
        residual = self.head(torch.cat((features, out), 1)).unflatten(0, (n, groups))
        return guess + news + residual * (s / total.sqrt())

    def prefill(
        self, latents: Tensor, extra: Tensor, context: Tensor, call: WindowCall, sigma: float
    ) -> list[KeyValue]:
        """Keys and values of clean groups, (batch, groups, CHANNELS, 10, 16), one a layer."""
        call.capture_kv = True
        blank = latents.new_zeros(*latents.shape[:2], CONTROL, ROWS, COLUMNS)
        self(latents, blank, latents.new_full(latents.shape[:2], sigma), extra, context, call)
        return call.captured_kv


def extra_inputs(motion: Tensor, pitch: Tensor, history: Tensor, condition: Tensor) -> Tensor:
    """(batch, groups, MOTION + 2 + CONDITION) from motion (b, g, 4, 5), pitch in pixels (b, g), history flags (b, g)
    and condition (b, CONDITION), which the history does not see."""
    c = condition[:, None] * (1 - history)[..., None]
    return torch.cat((motion.flatten(2), pitch[..., None] / 20, history[..., None], c), -1)


def training_masks(history: int, window: int) -> tuple[Tensor, Tensor]:
    """Self-attention mask (tokens, tokens) and context mask (tokens, 4) of [history | window]."""
    g = torch.arange(history + window).repeat_interleave(TOKENS)
    mask = (g[None] <= g[:, None]) | (g[:, None] >= history)
    past = (g < history)[:, None]
    return mask, torch.cat((past, (~past).expand(-1, 3)), 1)
