"""Streaming decode with `AutoencoderKLWan`: latent by latent, with a state that can be kept and gone back to.

The causal decoder keeps the last steps of every convolution. diffusers keeps them inside the model and clears them around
every call; here they are a value, `State`, so that a session owns its own, snapshots are free (a step replaces tensors, it
never writes into them), and a revocation goes back exactly. Decoding this way equals decoding the whole clip bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

State = Any
"""What a decoder carries from one latent to the next; None before the first."""


class VideoDecoder(Protocol):
    """Decodes one latent after another."""

    def step(self, latent: Tensor, state: State, spend: bool = False) -> tuple[Tensor, State]:
        """latent: (z, h, w), normalised. Returns frames (n, 3, H, W) in [-1, 1] and the state after it. `state` is not changed, unless it
        may be spent: its parts are then freed as the new ones are made."""

    def nbytes(self, state: State) -> int:
        """Memory that a state holds."""


@dataclass(frozen=True)
class Tile:
    """Where a tile of a latent begins, and how large it is."""

    top: int
    left: int
    height: int
    width: int


class WanVae:
    """An `AutoencoderKLWan` behind the streaming interface. tiled: in overlapping tiles, for little memory."""

    def __init__(self, vae: Any, tiled: bool = False) -> None:
        self._vae = vae.eval().requires_grad_(False)
        config = vae.config
        self.channels = int(config.z_dim)
        self.ratio = int(config.scale_factor_spatial)
        self._patch = config.patch_size or 1
        parameter = next(vae.decoder.parameters())
        self._device, self._dtype = parameter.device, parameter.dtype
        self._encoder_dtype = next(vae.encoder.parameters()).dtype
        shape = (1, self.channels, 1, 1, 1)
        self._mean = torch.tensor(config.latents_mean).view(shape).to(self._device)
        self._std = torch.tensor(config.latents_std).view(shape).to(self._device)
        self._slots = vae._cached_conv_counts["decoder"]
        self._tiled = tiled

    def drop_decoder(self) -> None:
        """Lets go of what only decoding needs, where something else decodes."""
        self._vae.decoder = self._vae.post_quant_conv = None

    def step(self, latent: Tensor, state: State, spend: bool = False) -> tuple[Tensor, State]:
        z = (latent[None, :, None].to(self._device, torch.float32) * self._std + self._mean).to(self._dtype)
        tiles = self._tiles(*z.shape[-2:])
        if len(tiles) == 1:
            out, after = self._one(z, None if state is None else state[0], spend)
            states = [after]
        else:
            parts, states = [], []
            for i, t in enumerate(tiles):
                piece = z[..., t.top : t.top + t.height, t.left : t.left + t.width]
                part, after = self._one(piece, None if state is None else state[i], spend)
                parts.append(part)
                states.append(after)
            out = self._blended(parts, tiles, z.shape[-2], z.shape[-1])
        if self._patch > 1:
            out = _unpatchify(out, self._patch)
        return out[0].float().clamp(-1, 1).transpose(0, 1), states

    def _one(self, z: Tensor, cache: list[Any] | None, spend: bool) -> tuple[Tensor, list[Any]]:
        first = cache is None
        after = [None] * self._slots if cache is None else cache if spend else list(cache)
        x = self._vae.post_quant_conv(z)
        out = self._vae.decoder(x, feat_cache=after, feat_idx=[0], first_chunk=first)
        return out, after

    def _tiles(self, height: int, width: int) -> list[Tile]:
        """As diffusers' tiled decode cuts; one tile when that is enough."""
        v = self._vae
        high, wide = v.tile_sample_min_height // self.ratio, v.tile_sample_min_width // self.ratio
        if not self._tiled or (height <= high and width <= wide):
            return [Tile(0, 0, height, width)]
        down, right = v.tile_sample_stride_height // self.ratio, v.tile_sample_stride_width // self.ratio
        return [
            Tile(top, left, min(high, height - top), min(wide, width - left))
            for top in range(0, height, down)
            for left in range(0, width, right)
        ]

    def _blended(self, parts: list[Tensor], tiles: list[Tile], height: int, width: int) -> Tensor:
        v, p = self._vae, self._patch
        down, right = v.tile_sample_stride_height // p, v.tile_sample_stride_width // p
        over_y, over_x = v.tile_sample_min_height // p - down, v.tile_sample_min_width // p - right
        columns = sum(t.top == 0 for t in tiles)
        rows = [parts[i : i + columns] for i in range(0, len(parts), columns)]
        out = []
        for i, row in enumerate(rows):
            done = []
            for j, tile in enumerate(row):
                if i > 0:
                    tile = v.blend_v(rows[i - 1][j], tile, over_y)
                if j > 0:
                    tile = v.blend_h(row[j - 1], tile, over_x)
                done.append(tile[..., :down, :right])
            out.append(torch.cat(done, -1))
        scale = self.ratio // p
        return torch.cat(out, -2)[..., : height * scale, : width * scale]

    def nbytes(self, state: State) -> int:
        return 0 if state is None else sum(t.nbytes for cache in state for t in cache if isinstance(t, Tensor))

    def encode(self, frames: NDArray[np.uint8]) -> Tensor:
        """Frames (1 + 4 n, H, W, 3) uint8 to normalised latents (1 + n, z, h, w), by the mode of the posterior.

        Raises ValueError for another number of frames.
        """
        if len(frames) % 4 != 1:
            raise ValueError(f"{len(frames)} frames cannot be encoded: Wan's VAE takes 1, 5, 9, ...")
        x = torch.from_numpy(np.array(frames)).to(self._device).float() / 127.5 - 1
        return self._encoded(x)

    def encode_before_grey(self, frame: NDArray[np.uint8], latents: int) -> Tensor:
        """A frame (H, W, 3) followed by grey, as (latents, z, h, w): the image condition of models with extra channels."""
        x = torch.from_numpy(np.array(frame)).to(self._device).float()[None] / 127.5 - 1
        return self._encoded(torch.cat((x, x.new_zeros(4 * (latents - 1), *x.shape[1:]))))

    @torch.inference_mode()
    def _encoded(self, x: Tensor) -> Tensor:
        posterior = self._vae.encode(x.permute(3, 0, 1, 2)[None].to(self._encoder_dtype)).latent_dist
        z = (posterior.mode().float() - self._mean) / self._std
        return z[0].transpose(0, 1).contiguous()


def _unpatchify(x: Tensor, patch: int) -> Tensor:
    from diffusers.models.autoencoders.autoencoder_kl_wan import unpatchify

    return unpatchify(x, patch)


def to_pictures(frames: Tensor) -> NDArray[np.uint8]:
    """(n, 3, H, W) in [-1, 1] to (n, H, W, 3) uint8."""
    x = ((frames.float() + 1) * 127.5).round().clamp(0, 255).to(torch.uint8)
    return np.ascontiguousarray(x.permute(0, 2, 3, 1).cpu().numpy())
