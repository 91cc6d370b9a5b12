"""LTX-2.3: calls equal diffusers' own pipelines, decoding equals the whole clip, sound comes with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.control.conditions import Condition
from engine.models.audio_video.call import Call, ConditioningLatents
from engine.models.audio_video.ltx2 import DISTILLED, Ltx, frames_of, levels
from engine.models.interface import Model
from engine.playback.player import sample_at

K = 4


def go_on(step: int, steps: int) -> None:
    return


def family(model: Model) -> Ltx:
    return model.sampler.family  # type: ignore[attr-defined,no-any-return]


def pipeline(model: Model, folder: Path, kind: str) -> Any:
    """Its text encoder is asked for nothing but its precision."""
    from diffusers import FlowMatchEulerDiscreteScheduler
    from diffusers.pipelines import ltx2
    from diffusers.pipelines.ltx2 import LTX2TextConnectors
    from transformers import Gemma3ForConditionalGeneration

    f = family(model)
    text_encoder = Gemma3ForConditionalGeneration.from_pretrained(str(folder / "text_encoder"))
    connectors = LTX2TextConnectors.from_config(LTX2TextConnectors.load_config(str(folder / "connectors"))).eval()
    return getattr(ltx2, kind)(
        scheduler=FlowMatchEulerDiscreteScheduler(shift=1.0),
        vae=f.vae,
        audio_vae=f.audio_vae,
        text_encoder=text_encoder,
        tokenizer=None,
        connectors=connectors,
        transformer=f.transformer,
        vocoder=f.vocoder,
    )


def inputs(f: Ltx) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    g = torch.Generator().manual_seed(0)
    return (
        torch.randn(1, 16, 96, generator=g),
        torch.ones(1, 16, dtype=torch.long),
        torch.randn(f.latent[0], K, *f.latent[1:], generator=g),
        torch.randn(*f.audio_shape(K), generator=g),
    )


def their_call(
    pipe: Any, f: Ltx, embeds: torch.Tensor, mask: torch.Tensor, video: torch.Tensor, audio: torch.Tensor, **more: Any
):  # type: ignore[no-untyped-def]
    _, k, h, w = video.shape
    mean, std = (v.view(1, -1, 1, 1, 1) for v in (f.vae.latents_mean, f.vae.latents_std))
    given = video[None] * std + mean  # they are normalised again
    sound = audio[None] * f.audio_vae.latents_std + f.audio_vae.latents_mean  # they are normalised again
    out = pipe(
        prompt_embeds=embeds,
        prompt_attention_mask=mask,
        height=h * 32,
        width=w * 32,
        num_frames=frames_of(k),
        frame_rate=f.fps,
        num_inference_steps=len(DISTILLED),
        sigmas=list(DISTILLED),
        latents=given,
        audio_latents=sound,
        guidance_scale=1.0,
        stg_scale=0.0,
        modality_scale=1.0,
        audio_guidance_scale=1.0,
        audio_stg_scale=0.0,
        audio_modality_scale=1.0,
        guidance_rescale=0.0,
        output_type="latent",
        return_dict=False,
        **more,
    )
    theirs = ((out[0] - mean) / std)[0]
    heard = out[1].transpose(1, 2).flatten(2, 3)[0]
    return theirs, (heard - f.audio_vae.latents_mean) / f.audio_vae.latents_std


def test_a_plain_call_equals_diffusers_pipeline(ltx: Model, ltx_folder: Path) -> None:
    from engine.models.audio_video.conditions import AudioVideoInputs

    f = family(ltx)
    embeds, mask, video, audio = inputs(f)
    pipe = pipeline(ltx, ltx_folder, "LTX2Pipeline")
    with torch.no_grad():
        theirs, heard = their_call(pipe, f, embeds, mask, video, audio)
        text, spoken, seen = pipe.connectors(embeds, mask, padding_side="left")
        mine, sound = f.denoise(
            AudioVideoInputs("x", {"text": text, "audio": spoken, "mask": seen}),
            None,
            video,
            audio,
            len(DISTILLED),
            go_on,
        )
    assert torch.allclose(mine, theirs, atol=1e-4)
    assert torch.allclose(sound, heard, atol=1e-4)


def test_a_call_after_a_picture_equals_diffusers_pipeline(ltx: Model, ltx_folder: Path) -> None:
    from PIL import Image

    from engine.models.audio_video.conditions import AudioVideoInputs

    f = family(ltx)
    embeds, mask, video, audio = inputs(f)
    frame = np.random.default_rng(0).integers(0, 255, (f.latent[1] * 32, f.latent[2] * 32, 3), np.uint8)
    pipe = pipeline(ltx, ltx_folder, "LTX2ImageToVideoPipeline")
    with torch.no_grad():
        z = f.encode(frame)
        begun = video.clone()
        begun[:, 0] = z
        theirs, heard = their_call(pipe, f, embeds, mask, begun, audio, image=Image.fromarray(frame), image_crf=0)
        text, spoken, seen = pipe.connectors(embeds, mask, padding_side="left")
        prepared = AudioVideoInputs("x", {"text": text, "audio": spoken, "mask": seen})
        mine, sound = f.denoise(prepared, ConditioningLatents((z,)), video, audio, len(DISTILLED), go_on)
    assert torch.allclose(mine[:, 0], z, atol=1e-6), "what it begins with stays clean"
    assert torch.allclose(mine, theirs, atol=1e-4)
    assert torch.allclose(sound, heard, atol=1e-4)


def test_levels_are_the_distilled_ones_and_between_them() -> None:
    assert levels(8) == [*DISTILLED, 0.0]
    assert len(levels(4)) == 5 and levels(4)[0] == 1.0 and levels(4)[-1] == 0.0
    assert all(a > b for a, b in zip(levels(5), levels(5)[1:], strict=False))


def test_group_by_group_decode_equals_the_whole_clip(ltx: Model) -> None:
    f = family(ltx)
    call = Call(torch.randn(f.latent[0], K, *f.latent[1:]), torch.zeros(1), 0, 1, f.spans(K))
    with torch.no_grad():
        pictures = f.pictures(call)
        first = pictures.group(1)
        # the published decoder looks ahead, so that a group needs the latents after it
        assert pictures.decoded == (2 if f.vae.config.decoder_causal else K)
        rest = [pictures.group(i) for i in range(2, K)]
        whole = f.decoded(call.video)
    # the last bits of a convolution depend on its input's length: one grey level at most
    assert np.abs(np.concatenate([first, *rest]).astype(int) - whole[1:]).max() <= 1


def test_sound_has_the_length_of_the_pictures(ltx: Model) -> None:
    f = family(ltx)
    with torch.no_grad():
        wave = f.waveform(torch.randn(*f.audio_shape(K)))
    assert wave.shape[1] == 2
    assert abs(len(wave) - sample_at(frames_of(K), f.fps, 48_000)) <= 48_000 / 25


def test_prompts_are_read_and_too_long_ones_are_refused(ltx: Model) -> None:
    from engine.models.interface import ConditionError

    prepared = ltx.sampler.prepare(Condition(0, "a forest at dawn", ("forward",)))
    assert "forest" in prepared.words and prepared.words != "a forest at dawn", "keys are put into words"
    assert set(prepared.tensors) == {"text", "audio", "mask"}
    with pytest.raises(ConditionError, match="too long"):
        ltx.sampler.prepare(Condition(0, "x9? " * 60))
