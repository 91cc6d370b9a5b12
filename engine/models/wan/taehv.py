"""The tiny autoencoder for video (TAEHV: taew2_1, taew2_2), as a streaming decoder.

A few 2D convolutions whose only memory is the last frame of each block's input: a state is small enough to keep one for
every group. Latents are used as the transformer makes them, without mean and deviation. Layout and key names are those of
the published files (madebyollin/taehv, MIT).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import pixel_shuffle, relu

from engine.models.wan.vae import State

TRIM = 3
"""Frames that the decoder makes too many at the start: the first latent is one frame."""


def _conv(a: int, b: int, bias: bool = True) -> nn.Conv2d:
    return nn.Conv2d(a, b, 3, padding=1, bias=bias)


class Squash(nn.Module):
    """Keeps latents within [-3, 3], softly, as the published decoder does."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.tanh(x / 3) * 3


class MemoryBlock(nn.Module):
    """Convolutions over a frame and the one before it."""

    def __init__(self, a: int, b: int) -> None:
        super().__init__()
        self.conv = nn.Sequential(_conv(2 * a, b), nn.ReLU(), _conv(b, b), nn.ReLU(), _conv(b, b))
        self.skip = nn.Conv2d(a, b, 1, bias=False) if a != b else nn.Identity()

    def forward(self, x: Tensor, past: Tensor) -> Tensor:
        return relu(self.conv(torch.cat((x, past), 1)) + self.skip(x))


class Grow(nn.Module):
    """One frame to `stride` frames."""

    def __init__(self, width: int, stride: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(width, width * stride, 1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.conv(x).reshape(-1, *x.shape[1:])


def _decoder(channels: int, widths: tuple[int, int, int, int], patch: int) -> nn.Sequential:
    a, b, c, d = widths
    return nn.Sequential(
        Squash(),
        _conv(channels, a),
        nn.ReLU(),
        MemoryBlock(a, a),
        MemoryBlock(a, a),
        MemoryBlock(a, a),
        nn.Upsample(scale_factor=2),
        Grow(a, 1),
        _conv(a, b, False),
        MemoryBlock(b, b),
        MemoryBlock(b, b),
        MemoryBlock(b, b),
        nn.Upsample(scale_factor=2),
        Grow(b, 2),
        _conv(b, c, False),
        MemoryBlock(c, c),
        MemoryBlock(c, c),
        MemoryBlock(c, c),
        nn.Upsample(scale_factor=2),
        Grow(c, 2),
        _conv(c, d, False),
        nn.ReLU(),
        _conv(d, 3 * patch**2),
    )


class TinyDecoder(nn.Module):
    """The decoder of a TAEHV file."""

    def __init__(
        self, channels: int = 16, patch: int = 1, widths: tuple[int, int, int, int] = (256, 128, 64, 64)
    ) -> None:
        super().__init__()
        self.decoder = _decoder(channels, widths, patch)
        self.channels, self.patch = channels, patch

    @classmethod
    def load(cls, file: Path, device: torch.device, dtype: torch.dtype) -> TinyDecoder:
        """Reads a published .pth or .safetensors. Raises engine.models.weight_files.LayoutError."""
        from engine.models.weight_files import LayoutError, read_file

        state = {k: v for k, v in read_file(file).items() if k.startswith("decoder.")}
        try:
            channels = state["decoder.1.weight"].shape[1]
            patch = round((state["decoder.22.weight"].shape[0] / 3) ** 0.5)
            widths = tuple(state[f"decoder.{i}.weight"].shape[0] for i in (1, 8, 14, 20))
            model = cls(channels, patch, widths)  # type: ignore[arg-type]
            model.load_state_dict(state)
        except (KeyError, RuntimeError) as e:
            raise LayoutError(
                f"{file} is not a TAEHV decoder for Wan (taew2_1 or taew2_2): {str(e).splitlines()[0]}"
            ) from e
        return model.to(device, dtype).eval().requires_grad_(False)

    def step(self, latent: Tensor, state: State, spend: bool = False) -> tuple[Tensor, State]:
        """See `engine.models.wan.vae.VideoDecoder`."""
        parameter = next(self.parameters())
        x = latent[None].to(parameter.device, parameter.dtype)
        past: list[Any] = [None] * len(self.decoder) if state is None else state
        after: list[Any] = [None] * len(self.decoder)
        for i, layer in enumerate(self.decoder):
            if isinstance(layer, MemoryBlock):
                before = torch.zeros_like(x[:1]) if past[i] is None else past[i]
                after[i] = x[-1:]
                x = layer(x, torch.cat((before, x[:-1])))
            else:
                x = layer(x)
        if self.patch > 1:
            x = pixel_shuffle(x, self.patch)
        return (x[TRIM:] if state is None else x).float().clamp(0, 1) * 2 - 1, after

    def nbytes(self, state: State) -> int:
        return 0 if state is None else sum(t.nbytes for t in state if t is not None)
