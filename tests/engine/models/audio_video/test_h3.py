"""MiniMax-H3: a call equals diffusers' own blocks, decoding equals the whole clip, and a call begins only where it may."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.control.conditions import Condition
from engine.models.audio_video.call import Call, CallState, ConditioningLatents
from engine.models.audio_video.conditions import AudioVideoInputs
from engine.models.audio_video.minimax_h3 import CLIP, H3, SPANS, frames_of
from engine.models.catalogue import find
from engine.models.interface import HistoryPolicy, Model, Request
from engine.models.weight_files import LayoutError
from tests.engine.models.audio_video.conftest import load, spec

K = 37  # 124 frames: the shortest that diffusers' own layout accepts


def go_on(step: int, steps: int) -> None:
    return


def family(model: Model) -> H3:
    return model.sampler.family  # type: ignore[attr-defined,no-any-return]


def inputs(f: H3, seed: int = 0) -> tuple[AudioVideoInputs, torch.Tensor, torch.Tensor]:
    g = torch.Generator().manual_seed(seed)
    text = torch.randn(1, 9, f.transformer.config.text_dim, generator=g)
    video, audio = torch.randn(f.latent[0], K, *f.latent[1:], generator=g), torch.randn(*f.audio_shape(K), generator=g)
    return AudioVideoInputs("x", {"text": text}), video, audio


def diffusers_call(
    f: H3, prepared: AudioVideoInputs, video: torch.Tensor, audio: torch.Tensor, steps: int, **more: Any
) -> tuple[torch.Tensor, torch.Tensor]:
    """The same by diffusers' own blocks."""
    from diffusers import MiniMaxH3Scheduler
    from diffusers.modular_pipelines.minimax_h3 import modular_blocks_minimax_h3 as blocks

    chain = blocks.MiniMaxH3FL2VACoreDenoiseStep() if more else blocks.MiniMaxH3CoreDenoiseStep()
    pipe = chain.init_pipeline()
    pipe.update_components(
        transformer=f.transformer, scheduler=MiniMaxH3Scheduler(12.0), audio_scheduler=MiniMaxH3Scheduler(3.0)
    )
    n = audio.shape[0] // 2
    state = pipe(
        prompt_embeds=prepared.tensors["text"],
        text_token_tags=torch.ones(9, dtype=torch.long),
        height=f.latent[1] * 16,
        width=f.latent[2] * 16,
        num_frames=frames_of(K),
        num_inference_steps=steps + 1,
        latents=video[None],
        audio_latents=audio.reshape(2, n, -1).permute(0, 2, 1),
        **more,
    )
    return state.get("latents")[0], state.get("audio_latents")


def test_a_plain_call_equals_diffusers_blocks(h3: Model) -> None:
    f = family(h3)
    prepared, video, audio = inputs(f)
    with torch.no_grad():
        mine, sound = f.denoise(prepared, None, video, audio, 4, go_on)
        theirs, their_sound = diffusers_call(f, prepared, video, audio, 4)
    assert torch.allclose(mine, theirs, atol=1e-5)
    n = audio.shape[0] // 2
    assert torch.allclose(sound.reshape(2, n, -1).permute(0, 2, 1), their_sound, atol=1e-5)


def test_a_call_after_a_keyframe_equals_diffusers_blocks(h3: Model) -> None:
    f = family(h3)
    prepared, video, audio = inputs(f, 1)
    frame = np.random.default_rng(0).integers(0, 255, (f.latent[1] * 16, f.latent[2] * 16, 3), np.uint8)
    with torch.no_grad():
        z = f.encode(frame)
        # their condition's noise is the request's first draw: ours is that of the target at the same place
        video[:, 0] = torch.randn(1, f.latent[0], 1, *f.latent[1:], generator=torch.Generator().manual_seed(5))[0, :, 0]
        mine, sound = f.denoise(prepared, ConditioningLatents((z,)), video, audio, 3, go_on)
        theirs, their_sound = diffusers_call(
            f,
            prepared,
            video,
            audio,
            3,
            condition_latents=[z[None, :, None]],
            keyframe_anchors=("first",),
            generator=torch.Generator().manual_seed(5),
        )
    assert torch.allclose(mine, theirs, atol=1e-5)
    n = audio.shape[0] // 2
    assert torch.allclose(sound.reshape(2, n, -1).permute(0, 2, 1), their_sound, atol=1e-5)


def test_several_keyframes_stand_at_the_times_of_their_targets(h3: Model) -> None:
    f = family(h3)
    layout, before = f._layout(7, 12, 65, 3)
    rows = f.latent[1] // 2 * (f.latent[2] // 2)
    assert before == 3 * rows
    times = layout["position_ids"][7 : 7 + before : rows, 0]
    video = layout["position_ids"][7 + before + 2 * 65 :: rows, 0]
    assert torch.equal(times, video[:3])
    assert torch.equal(layout["position_ids"][7 : 7 + rows, 1:], layout["position_ids"][7 + rows : 7 + 2 * rows, 1:])


@pytest.mark.parametrize("k", [7, 12, 22])
def test_group_by_group_decode_equals_the_whole_clip(h3: Model, k: int) -> None:
    f = family(h3)
    z = torch.randn(f.latent[0], k, *f.latent[1:])
    call = Call(z, torch.zeros(*f.audio_shape(k)), 0, 0, f.spans(k))
    with torch.no_grad():
        pictures = f.pictures(call)
        parts = [pictures.group(i) for i in range(k)]
        whole = f.vae.decode(z[None] * f._std + f._mean, return_dict=False)[0]
        whole = (whole.float() * f._pixel_std + f._pixel_mean).clamp(0, 1)
    frames = (whole[0].permute(1, 2, 3, 0) * 255).round().to(torch.uint8).numpy()
    assert [len(p) for p in parts] == [SPANS[i % 5] for i in range(k)]
    assert np.array_equal(np.concatenate(parts), frames)
    assert pictures.decoded == (k - 2) // CLIP, "every clip once"


def test_the_first_group_takes_one_clip_and_a_group_in_the_middle_two(h3: Model) -> None:
    f = family(h3)
    call = Call(torch.randn(f.latent[0], 22, *f.latent[1:]), torch.zeros(1), 0, 1, f.spans(22))
    with torch.no_grad():
        first = f.pictures(call)
        first.group(1)
        assert first.decoded == 1
        middle = f.pictures(call)
        middle.group(11)
        assert middle.decoded == 2


def test_retained_latents_are_a_whole_phase(h3: Model) -> None:
    f = family(h3)
    call = Call(torch.randn(f.latent[0], 12, *f.latent[1:]), torch.zeros(1), 0, 0, f.spans(12))
    for index in range(12):
        conditioning = f.retained(CallState(call, index))
        assert conditioning is not None
        assert len(conditioning.latents) == index % CLIP + 1
        assert torch.equal(conditioning.latents[-1], call.video[:, index])


@pytest.mark.parametrize("history", [HistoryPolicy.BOUNDARY_IMAGE, HistoryPolicy.LATENT_INPUT])
def test_a_call_goes_on_and_plays_nothing_twice(h3: Model, history: HistoryPolicy) -> None:
    sampler, decoder = h3.sampler, h3.decoder
    sampler.reset()
    decoder.reset()
    prepared = sampler.prepare(Condition(0, "a forest at dawn"))
    groups = sampler.sample(Request(0, 7, 1, 3, 0, prepared, history), lambda step, steps: True)
    assert [g.span for g in groups] == [1, 4, 4, 4, 4, 1, 4]
    sampler.extend(groups)
    for g in groups[:4]:
        decoder.decode(g)
    again = sampler.sample(Request(4, 7, 1, 3, 0, prepared, history), lambda step, steps: True)
    overlap = again[0].state.call.overlap
    assert overlap == (1 if history is HistoryPolicy.BOUNDARY_IMAGE else 4)
    assert [g.position for g in again] == list(range(4, 4 + 7 - overlap))
    assert [g.span for g in again] == [SPANS[i % 5] for i in range(overlap, 7)]


@pytest.mark.parametrize(("k", "nearest"), [(8, 7), (10, 12), (36, 37), (100, 102)])
def test_lengths_between_the_grid_are_refused_with_the_nearest_one(h3_folder: Path, k: int, nearest: int) -> None:
    with pytest.raises(ValueError, match=f"the nearest is {nearest}"):
        spec(h3_folder).check_window(k)
    spec(h3_folder).check_window(nearest)
    with pytest.raises(ValueError, match="out of range"):
        spec(h3_folder).check_window(5)


def test_sizes_between_the_grid_are_refused_with_the_nearest_one() -> None:
    with pytest.raises(ValueError, match="832x480"):
        find("minimax-h3").spec((835, 470))


def test_a_folder_without_a_part_says_which(h3_folder: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(h3_folder, tmp_path / "x")
    shutil.rmtree(tmp_path / "x" / "audio_vae")
    with pytest.raises(LayoutError, match="no audio_vae/"):
        load(tmp_path / "x")


def test_a_prompt_that_is_too_long_is_refused(h3: Model) -> None:
    from engine.models.interface import ConditionError

    with pytest.raises(ConditionError, match="tokens"):
        h3.sampler.prepare(Condition(0, "x9?" * 600))
