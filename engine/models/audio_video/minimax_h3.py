"""MiniMax-H3: one packed sequence of [text | keyframe conditions | audio | video], both modalities denoised by one forward a step.

Layout, schedules and decoding are those of diffusers' modular blocks, whose static parts are called; the loop is ours, since a call
must be stopped between two steps, and so are conditions of several retained latents, each at the rotary time of its own target.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.models.attention import SequenceParallel
from engine.models.audio_video.call import Call, CallState, ConditioningLatents
from engine.models.audio_video.conditions import AudioVideoInputs
from engine.models.audio_video.decoding import repeating
from engine.models.audio_video.sharding import shard_minimax_h3

FPS = 24
SPANS = (1, 4, 4, 4, 4)
"""Frames of the latents of a 17-frame clip."""
CLIP = 5
"""Latents of a clip."""
AUDIO_RATE = 40
"""Audio latents a second."""
STEREO = 2
ANCHOR = 0.999
"""The time at which conditions are held: just short of clean, as in training."""
PIXEL_MEAN, PIXEL_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
SHIFTS = (12.0, 3.0)
"""Of the schedules of video and audio, as released."""
TEXT, VIDEO, AUDIO = 1, 0, 2
"""Modality tags of rows."""


def frames_of(window: int) -> int:
    """Frames of a call of 5 n + 2 latents: 17 n + 5."""
    return (window - 2) // CLIP * 17 + 5


class H3:
    """See `engine.models.audio_video.sampler.AudioVideoModel`."""

    def __init__(
        self,
        transformer: Any,
        vae: Any,
        audio_vae: Any,
        height: int,
        width: int,
        device: torch.device,
    ) -> None:
        """transformer: None where ranks have it. device: that it samples on."""
        self.transformer, self.vae, self.audio_vae = transformer, vae, audio_vae
        self.device = device
        ratio = vae.spatial_compression_ratio
        self.latent = (vae.config.latent_channels, height // ratio, width // ratio)
        self._patch = (1, 2, 2) if transformer is None else tuple(transformer.config.patch_size)
        where = next(vae.parameters()).device
        shape = (1, -1, 1, 1, 1)
        self._mean, self._std = (
            torch.tensor(x, device=where).view(shape) for x in (vae.config.latents_mean, vae.config.latents_std)
        )
        self._pixel_mean, self._pixel_std = (torch.tensor(x, device=where).view(shape) for x in (PIXEL_MEAN, PIXEL_STD))

    def spans(self, window: int) -> tuple[int, ...]:
        return repeating(SPANS, window)

    def audio_latents(self, window: int) -> int:
        """Of one channel, for a call."""
        return round(frames_of(window) / FPS * AUDIO_RATE)

    def audio_shape(self, window: int) -> tuple[int, ...]:
        return STEREO * self.audio_latents(window), self.audio_vae.config.latent_channels

    def encode(self, frame: NDArray[np.uint8]) -> Tensor:
        """As released: ImageNet pixels, the posterior sampled under a seed of its own, rounded to half precision, normalised."""
        from diffusers.modular_pipelines.minimax_h3.encoders import encode_vae_condition

        where = self._mean.device
        pixels = torch.from_numpy(np.array(frame)).to(where).permute(2, 0, 1)[None, :, None]
        return encode_vae_condition(self.vae, pixels, PIXEL_MEAN, PIXEL_STD)[0, :, 0].to(self.device)

    def retained(self, state: CallState) -> ConditioningLatents | None:
        """The latents of the group's clip up to it: a call may begin with a whole phase only."""
        first = state.index // CLIP * CLIP
        return ConditioningLatents(tuple(state.call.video[:, i] for i in range(first, state.index + 1)))

    def shard(self, parallel: SequenceParallel) -> None:
        shard_minimax_h3(self.transformer, parallel)

    def denoise(
        self,
        prepared: AudioVideoInputs,
        conditioning: ConditioningLatents | None,
        video: Tensor,
        audio: Tensor,
        steps: int,
        report: Callable[[int, int], None],
    ) -> tuple[Tensor, Tensor]:
        """audio: (2 n, channels), channel-major rows."""
        from diffusers import MiniMaxH3Scheduler
        from diffusers.modular_pipelines.minimax_h3.before_denoise import patchify_video_latents

        text = prepared.tensors["text"]
        conditions = conditioning.latents if conditioning is not None else ()
        k = video.shape[1]
        layout, rows_before = self._layout(text.shape[1], k, audio.shape[0] // STEREO, len(conditions))
        rows = patchify_video_latents(video[None].float(), self._patch)
        if conditions:
            # noised as a request's keyframes are: the noise of the targets at the same places will do
            z = torch.stack([c.to(self.device).float() for c in conditions], 1)
            held = ANCHOR * z + (1 - ANCHOR) * video[:, : len(conditions)].float()
            rows = torch.cat((patchify_video_latents(held[None], self._patch), rows))
        audio = audio.float().clone()
        schedulers: list[Any] = [MiniMaxH3Scheduler(shift=x) for x in SHIFTS]
        for s in schedulers:
            s.set_timesteps(steps + 1)
            s.set_begin_index(0)
        # before the first step: between steps nothing is waited for that the GPU has to say
        times = self._times(schedulers, layout, rows_before, text.shape[1])
        layout = {name: x.to(self.device) for name, x in layout.items()}
        for i, (levels, of_rows) in enumerate(times):
            out, out_audio = self.transformer(
                hidden_states=rows[None],
                audio_hidden_states=audio[None],
                encoder_hidden_states=text,
                timestep=levels.to(self.device),
                timestep_indices=of_rows.to(self.device),
                return_dict=False,
                **layout,
            )
            t, u = (s.timesteps[i] for s in schedulers)
            rows[rows_before:] = schedulers[0].step(
                out[0, rows_before:].float(), t, rows[rows_before:], return_dict=False
            )[0]
            audio = schedulers[1].step(out_audio[0].float(), u, audio, return_dict=False)[0]
            report(i + 1, len(times))
        return self._unpacked(rows[rows_before:], k), audio

    def _times(
        self, schedulers: Sequence[Any], layout: dict[str, Tensor], conditions: int, tokens: int
    ) -> list[tuple[Tensor, Tensor]]:
        """Of each step: its distinct noise levels, and which of them each row has, both on the CPU. conditions: leading rows of video;
        tokens: of the text."""
        from diffusers.modular_pipelines.minimax_h3.before_denoise import MiniMaxH3SetTimestepsStep

        return [
            MiniMaxH3SetTimestepsStep.build_row_timesteps(
                layout["video_indices"],
                layout["audio_indices"],
                conditions,
                0,
                tokens,
                float(t),
                float(u),
                max(float(t), ANCHOR),
                1.0,
            )
            for t, u in zip(*(s.timesteps for s in schedulers), strict=True)
        ]

    def _layout(self, tokens: int, k: int, sounds: int, conditions: int) -> tuple[dict[str, Tensor], int]:
        """The packed sequence, on the CPU, and how many leading video rows are conditions."""
        from diffusers.modular_pipelines.minimax_h3.before_denoise import (
            MiniMaxH3PrepareLayoutStep,
            _temporal_position_grid,
        )

        _, h, w = self.latent
        tags = torch.full((tokens,), TEXT, dtype=torch.long)
        position, token_tags, video, audio, text, before, _ = MiniMaxH3PrepareLayoutStep.build_packed_sequence(
            tags, k, h, w, sounds, self._patch, STEREO, AUDIO, VIDEO, ("first",) * conditions
        )
        if conditions:
            each = before // conditions
            times = _temporal_position_grid(k, float(tokens))[:conditions]
            position[tokens : tokens + before, 0] = times.repeat_interleave(each)
        named = {
            "position_ids": position,
            "token_tags": token_tags,
            "video_indices": video,
            "audio_indices": audio,
            "text_indices": text,
        }
        if self.device.type == "mps":
            named["position_ids"] = position.float()
        return named, before

    def _unpacked(self, rows: Tensor, k: int) -> Tensor:
        """Rows to (channels, K, h, w)."""
        c, h, w = self.latent
        pt, ph, pw = self._patch
        x = rows.reshape(k // pt, h // ph, w // pw, c, pt, ph, pw).permute(3, 0, 4, 1, 5, 2, 6)
        return x.reshape(c, k, h, w).contiguous()

    # -- decoding ------------------------------------------------------------------------------------------------------

    def pictures(self, call: Call) -> H3Pictures:
        return H3Pictures(self, call)

    def waveform(self, audio: Tensor) -> NDArray[np.float32]:
        """(2 n, channels) rows to (samples, 2)."""
        n = audio.shape[0] // STEREO
        z = audio.reshape(STEREO, n, -1).permute(0, 2, 1)
        config = self.audio_vae.config
        where = next(self.audio_vae.parameters()).device
        z = z.to(where, torch.float32)
        mean = torch.zeros(1) if config.latents_mean is None else torch.tensor(config.latents_mean)
        std = torch.ones(1) if config.latents_std is None else torch.tensor(config.latents_std)
        z = z * std.to(where).view(1, -1, 1) + mean.to(where).view(1, -1, 1)
        return np.ascontiguousarray(self.audio_vae.decode(z, return_dict=False)[0][:, 0].float().cpu().numpy().T)


class H3Pictures:
    """The VAE's decode, clip by clip: 7 latents give 17 frames and the 5 that the next clip is cross-faded with. A group is final when
    its clip is there, but for the first 5 frames of a clip, which need the clip before as well."""

    def __init__(self, family: H3, call: Call) -> None:
        self._f, self._call = family, call
        self._n = (call.video.shape[1] - 2) // CLIP
        self._clips: dict[int, tuple[Tensor, Tensor]] = {}
        self.decoded = 0
        """Clips that were run."""

    def group(self, index: int) -> NDArray[np.uint8]:
        first = self._call.begin(index)
        span = self._call.spans[index]
        i = min(index // CLIP, self._n - 1)
        body, tail = self._clip(i)
        if index // CLIP > i:  # the last two latents of the call are the last clip's overlap
            frames = tail[:, :, first - 17 * self._n : first - 17 * self._n + span]
        else:
            at = first - 17 * i
            if i > 0 and at < tail.shape[2]:
                body = self._f.vae._blend(self._clip(i - 1)[1], body, self._f.vae.frame_overlap, dim=-3)
            frames = body[:, :, at : at + span]
        x = (frames.float() * self._f._pixel_std + self._f._pixel_mean).clamp(0, 1)
        x = (x[0].permute(1, 2, 3, 0) * 255).round().to(torch.uint8)
        return np.ascontiguousarray(x.cpu().numpy())

    def _clip(self, i: int) -> tuple[Tensor, Tensor]:
        """Its 17 frames, and the 5 after them that overlap with the next clip."""
        if i not in self._clips:
            vae = self._f.vae
            z = self._call.video[None, :, i * CLIP : i * CLIP + CLIP + vae.token_overlap].to(self._f._mean.device)
            z = (z * self._f._std + self._f._mean).to(vae.post_quant_conv.weight.dtype)
            clip = vae._decode_clip(z)
            whole = CLIP * vae.temporal_compression_ratio
            self._clips[i] = (clip[:, :, vae.frame_pre_padding : whole], clip[:, :, whole + vae.frame_pre_padding :])
            self.decoded += 1
            for old in [c for c in self._clips if c < i - 1]:
                del self._clips[old]
        return self._clips[i]
