"""LTX-2.3: a video and an audio stream that look at each other, denoised together by a distilled schedule.

The numbers are those of diffusers' LTX2 pipelines; the loop is ours, since a call must be stopped between two steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.models.attention import SequenceParallel
from engine.models.audio_video.call import Call, CallState, ConditioningLatents
from engine.models.audio_video.conditions import AudioVideoInputs
from engine.models.audio_video.sharding import shard_ltx2

SPAN = 8
"""Frames of a latent, but for the first, which has one."""
TRAIN_STEPS = 1000
DISTILLED = (1.0, 0.99375, 0.9875, 0.98125, 0.975, 0.909375, 0.725, 0.421875)
"""Noise levels of the distilled checkpoints, of which 0 is the end."""


def levels(steps: int) -> list[float]:
    """Noise levels of `steps` steps, ending at 0: those of the distilled checkpoints, or between them."""
    known = np.array((*DISTILLED, 0.0))
    return [float(x) for x in np.interp(np.linspace(0, len(DISTILLED), steps + 1), np.arange(len(known)), known)]


def frames_of(window: int) -> int:
    """Frames of a call of K latents: 8 (K - 1) + 1."""
    return (window - 1) * SPAN + 1


class Ltx:
    """See `engine.models.audio_video.sampler.AudioVideoModel`."""

    def __init__(
        self,
        transformer: Any,
        vae: Any,
        audio_vae: Any,
        vocoder: Any,
        height: int,
        width: int,
        fps: float,
        device: torch.device,
    ) -> None:
        """transformer: None where ranks have it. device: that it samples on."""
        self.transformer, self.vae, self.audio_vae, self.vocoder = transformer, vae, audio_vae, vocoder
        self.device = device
        self._dtype = vae.dtype if transformer is None else next(transformer.parameters()).dtype
        self.fps = fps
        ratio = vae.spatial_compression_ratio
        self.latent = (vae.config.latent_channels, height // ratio, width // ratio)
        a = audio_vae.config
        self.audio_per_second = a.sample_rate / a.mel_hop_length / audio_vae.temporal_compression_ratio
        self._bins = a.mel_bins // audio_vae.mel_compression_ratio

    def spans(self, window: int) -> tuple[int, ...]:
        return (1, *(SPAN for _ in range(window - 1)))

    def audio_shape(self, window: int) -> tuple[int, ...]:
        return round(
            frames_of(window) / self.fps * self.audio_per_second
        ), self.audio_vae.config.latent_channels * self._bins

    def encode(self, frame: NDArray[np.uint8]) -> Tensor:
        x = (
            torch.from_numpy(np.array(frame)).to(self._at(self.vae), self.vae.dtype).permute(2, 0, 1)[None, :, None]
            / 127.5
            - 1
        )
        z = self.vae.encode(x).latent_dist.mode().float()
        mean, std = (v.view(1, -1, 1, 1, 1).to(z) for v in (self.vae.latents_mean, self.vae.latents_std))
        return ((z - mean) / std)[0, :, 0].to(self.device)

    def retained(self, state: CallState) -> ConditioningLatents | None:
        """Only the first latent of a call has the form of a single frame: what is in the middle of one has to be encoded again."""
        return None

    def shard(self, parallel: SequenceParallel) -> None:
        shard_ltx2(self.transformer, parallel)

    def denoise(
        self,
        prepared: AudioVideoInputs,
        conditioning: ConditioningLatents | None,
        video: Tensor,
        audio: Tensor,
        steps: int,
        report: Callable[[int, int], None],
    ) -> tuple[Tensor, Tensor]:
        """audio: (n, channels x bins)."""
        model, t = self.transformer, prepared.tensors
        c, k, h, w = video.shape
        z = video.float().clone()
        known = 0
        if conditioning is not None:
            known = len(conditioning.latents)
            z[:, :known] = torch.stack([x.to(self.device).float() for x in conditioning.latents], 1)
        each = h * w
        free = torch.ones(1, k * each, device=self.device)
        free[:, : known * each] = 0
        a = audio.float()[None].clone()
        coords = model.rope.prepare_video_coords(1, k, h, w, self.device, fps=self.fps)
        audio_coords = model.audio_rope.prepare_audio_coords(1, a.shape[1], self.device)
        sigmas = levels(steps)
        for i in range(steps):
            time = torch.tensor([sigmas[i] * TRAIN_STEPS], device=self.device)
            rows = z.permute(1, 2, 3, 0).reshape(1, k * each, c)
            out, out_audio = model(
                hidden_states=rows.to(self._dtype),
                audio_hidden_states=a.to(self._dtype),
                encoder_hidden_states=t["text"],
                audio_encoder_hidden_states=t["audio"],
                timestep=time[:, None] * free,
                audio_timestep=time,
                sigma=time,
                encoder_attention_mask=t["mask"],
                audio_encoder_attention_mask=t["mask"],
                num_frames=k,
                height=h,
                width=w,
                fps=self.fps,
                audio_num_frames=a.shape[1],
                video_coords=coords,
                audio_coords=audio_coords,
                isolate_modalities=False,
                use_cross_timestep=True,
                return_dict=False,
            )
            v = out.float().reshape(k, h, w, c).permute(3, 0, 1, 2)
            step = sigmas[i + 1] - sigmas[i]
            z[:, known:] = z[:, known:] + step * v[:, known:]
            a = a + step * out_audio.float()
            report(i + 1, steps)
        return z, a[0]

    @staticmethod
    def _at(module: Any) -> torch.device:
        device: torch.device = next(module.parameters()).device
        return device

    # -- decoding ------------------------------------------------------------------------------------------------------

    def pictures(self, call: Call) -> LtxPictures:
        return LtxPictures(self, call)

    def decoded(self, latents: Tensor) -> NDArray[np.uint8]:
        """(channels, n, h, w) to (frames, H, W, 3)."""
        vae = self.vae
        z = latents[None].to(self._at(vae)).float()
        mean, std = (v.view(1, -1, 1, 1, 1).to(z) for v in (vae.latents_mean, vae.latents_std))
        z = (z * std / vae.config.scaling_factor + mean).to(vae.dtype)
        time = torch.zeros(1, device=z.device, dtype=z.dtype) if vae.config.timestep_conditioning else None
        x = vae.decode(z, time, return_dict=False)[0][0].float()
        x = ((x / 2 + 0.5).clamp(0, 1) * 255).round().to(torch.uint8).permute(1, 2, 3, 0)
        return np.ascontiguousarray(x.cpu().numpy())

    def waveform(self, audio: Tensor) -> NDArray[np.float32]:
        """(n, channels x bins) to (samples, 2)."""
        vae = self.audio_vae
        z = audio[None].to(self._at(vae)).float()
        z = z * vae.latents_std.to(z) + vae.latents_mean.to(z)
        z = z.unflatten(2, (-1, self._bins)).transpose(1, 2).to(vae.dtype)
        mel = vae.decode(z, return_dict=False)[0]
        out = self.vocoder(mel.to(next(self.vocoder.parameters()).dtype))[0].float().cpu().numpy()
        return np.ascontiguousarray(out.T if out.shape[0] == 2 else np.repeat(out.T, 2, 1))


class LtxPictures:
    """Where the decoder is causal, the first group is decoded from its own latents alone, and the rest of the call after it; the frames
    are those of the whole clip either way."""

    def __init__(self, family: Ltx, call: Call) -> None:
        self._f, self._call = family, call
        self._whole: NDArray[np.uint8] | None = None
        self.decoded = 0
        """Latents that went through the decoder."""

    def group(self, index: int) -> NDArray[np.uint8]:
        first, span = self._call.begin(index), self._call.spans[index]
        if self._whole is None and self._f.vae.config.decoder_causal and index <= max(1, self._call.overlap):
            self.decoded += index + 1
            return self._f.decoded(self._call.video[:, : index + 1])[first : first + span]
        if self._whole is None:
            self.decoded += self._call.video.shape[1]
            self._whole = self._f.decoded(self._call.video)
        return self._whole[first : first + span].copy()
