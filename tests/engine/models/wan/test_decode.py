"""Streaming decode against whole clips, rewinds, tiles, the tiny autoencoder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from diffusers import AutoencoderKLWan
from torch import Tensor, nn
from torch.nn import functional

from engine.models.boundary_frames import BoundaryFrames
from engine.models.interface import Group, Model
from engine.models.wan.decoding import StreamDecoder
from engine.models.wan.sampler import WanDecoder
from engine.models.wan.state import ConditioningLatents, WanState
from engine.models.wan.taehv import TinyDecoder
from engine.models.wan.tiny import vae as small_vae
from engine.models.wan.vae import State, WanVae, to_pictures
from engine.models.weight_files import LayoutError


@pytest.fixture(scope="module", params=[False, True], ids=["wan2.1", "wan2.2"])
def vae(request: pytest.FixtureRequest) -> AutoencoderKLWan:
    torch.manual_seed(5)
    return small_vae("wan2.2-ti2v-5b") if request.param else small_vae()


def groups(vae: AutoencoderKLWan, n: int, h: int = 4, w: int = 6) -> list[Group]:
    torch.manual_seed(7)
    return [Group(i, torch.randn(vae.config.z_dim, h, w), None) for i in range(n)]


def whole(vae: AutoencoderKLWan, clip: list[Group]) -> np.ndarray:
    """diffusers' own decode of the clip at once, (frames, H, W, 3) uint8."""
    z = torch.stack([g.latent for g in clip], 1)[None]
    mean, std = (torch.tensor(x).view(1, -1, 1, 1, 1) for x in (vae.config.latents_mean, vae.config.latents_std))
    with torch.no_grad():
        return to_pictures(vae.decode(z * std + mean).sample[0].transpose(0, 1))


def test_group_by_group_equals_the_whole_clip_bit_for_bit(vae: AutoencoderKLWan) -> None:
    clip = groups(vae, 6)
    decoder = StreamDecoder(WanVae(vae))
    frames = [decoder.decode(g) for g in clip]
    assert [len(f) for f in frames] == [1, 4, 4, 4, 4, 4]
    assert np.array_equal(np.concatenate(frames), whole(vae, clip))


@pytest.mark.parametrize(("limit", "snapshots"), [(1 << 30, None), (1, None), (1 << 30, 2)])
def test_after_a_rewind_it_still_equals_the_whole_clip(
    vae: AutoencoderKLWan, limit: int, snapshots: int | None
) -> None:
    """With room for every snapshot; with room for none but the two that must be; and where the second makes room for the next."""
    clip, other = groups(vae, 6), groups(vae, 9)[5:]
    steps: list[Tensor] = []

    class Counted(WanVae):
        def step(self, latent: Tensor, state: State, spend: bool = False) -> tuple[Tensor, State]:
            steps.append(latent)
            return super().step(latent, state, spend)

    decoder = StreamDecoder(Counted(vae), limit, snapshots)
    for g in clip:
        decoder.decode(g)
    steps.clear()
    replaced = [Group(3 + i, g.latent, None) for i, g in enumerate(other)]
    decoder.rewind(3)
    frames = [decoder.decode(g) for g in replaced]
    assert np.array_equal(np.concatenate(frames), whole(vae, clip[:3] + replaced)[9:])
    assert (len(steps) > len(replaced)) == (limit == 1 or snapshots == 2)
    assert snapshots is None or len(decoder._states) <= snapshots


def test_memory_is_bounded_and_nothing_is_kept_that_no_branch_needs(vae: AutoencoderKLWan) -> None:
    decoder = StreamDecoder(WanVae(vae))
    for g in groups(vae, 12):
        decoder.decode(g)
        decoder.evict_before(max(0, g.position - 2))
    assert len(decoder._states) <= 5
    assert len(decoder._groups) <= 5
    one = decoder.nbytes / len(decoder._states)
    decoder = StreamDecoder(WanVae(vae), int(3.5 * one))
    for g in groups(vae, 12):
        decoder.decode(g)
    assert decoder.nbytes <= 3.5 * one


def test_a_group_out_of_order_is_an_error(vae: AutoencoderKLWan) -> None:
    decoder = StreamDecoder(WanVae(vae))
    with pytest.raises(KeyError, match="come in order"):
        decoder.decode(groups(vae, 4)[3])


def test_a_call_after_an_image_starts_anew_and_drops_its_lead(vae: AutoencoderKLWan) -> None:
    """Frames of the boundary and of retained latents are decoded for their state and not shown twice."""
    clip, next_call = groups(vae, 4), groups(vae, 10)[4:]
    conditioning = ConditioningLatents(4, (next_call[0].latent, next_call[1].latent))
    state = WanState(np.eye(4), None, 4, (), conditioning)  # type: ignore[arg-type]
    played = [Group(4 + i, g.latent, state) for i, g in enumerate(next_call[2:])]
    decoder = StreamDecoder(WanVae(vae))
    for g in clip:
        decoder.decode(g)
    frames = [decoder.decode(g) for g in played]
    assert [len(f) for f in frames] == [4, 4, 4, 4]
    assert np.array_equal(np.concatenate(frames), whole(vae, next_call)[5:])
    decoder.rewind(6)
    assert np.array_equal(np.stack(decoder.decode(played[2])), np.stack(frames[2]))


def test_the_last_frame_of_a_group_reaches_the_sampler(vae: AutoencoderKLWan) -> None:
    frames = BoundaryFrames()
    clip = groups(vae, 2)
    decoder = WanDecoder(WanVae(vae), frames)
    shown = [decoder.decode(g) for g in clip]
    assert frames.get(clip[1]) is shown[1][-1]
    assert frames.get(Group(1, clip[1].latent, None)) is None  # another group at the same position


def test_tiles_are_diffusers_own() -> None:
    torch.manual_seed(5)
    vae = small_vae()
    vae.enable_tiling(64, 64, 48, 48)
    clip = groups(vae, 3, 12, 16)
    decoder = StreamDecoder(WanVae(vae, tiled=True))
    assert np.array_equal(np.concatenate([decoder.decode(g) for g in clip]), whole(vae, clip))


def test_an_encoded_picture_is_diffusers_mode(vae: AutoencoderKLWan) -> None:
    side = 16 * vae.config.scale_factor_spatial // 4
    frames = np.random.default_rng(0).integers(0, 256, (5, side, side, 3), np.uint8)
    x = torch.from_numpy(frames).float().permute(3, 0, 1, 2)[None] / 127.5 - 1
    mean, std = (torch.tensor(v).view(1, -1, 1, 1, 1) for v in (vae.config.latents_mean, vae.config.latents_std))
    with torch.no_grad():
        z = (vae.encode(x).latent_dist.mode() - mean) / std
    assert torch.allclose(WanVae(vae).encode(frames), z[0].transpose(0, 1), atol=1e-6)
    with pytest.raises(ValueError, match="1, 5, 9"):
        WanVae(vae).encode(frames[:3])


# -- the tiny autoencoder ------------------------------------------------------------------------------------------------


def at_once(model: TinyDecoder, z: Tensor) -> Tensor:
    """The published algorithm over a whole clip (n, c, h, w): each memory block sees its input one frame later."""
    x = z
    for layer in model.decoder:
        x = layer(x, functional.pad(x, (0, 0, 0, 0, 0, 0, 1, 0))[:-1]) if hasattr(layer, "skip") else layer(x)
    if model.patch > 1:
        x = functional.pixel_shuffle(x, model.patch)
    return x.clamp(0, 1)[3:]


@pytest.mark.parametrize(("channels", "patch"), [(16, 1), (48, 2)])
def test_the_tiny_autoencoder_streams_as_its_authors_decode(channels: int, patch: int, tmp_path: Path) -> None:
    torch.manual_seed(2)
    made = TinyDecoder(channels, patch, (12, 8, 8, 8))
    for m in made.modules():
        if isinstance(m, nn.Conv2d):
            nn.init.normal_(m.weight, std=0.05)
    file = tmp_path / "taew2_1.pth"
    torch.save({**made.state_dict(), "encoder.0.weight": torch.zeros(1)}, file)
    model = TinyDecoder.load(file, torch.device("cpu"), torch.float32)
    z = torch.randn(5, channels, 4, 6)
    decoder = StreamDecoder(model)
    clip = [Group(i, z[i], None) for i in range(5)]
    frames = [decoder.decode(g) for g in clip]
    assert [len(f) for f in frames] == [1, 4, 4, 4, 4]
    assert frames[0][0].shape == (4 * 8 * patch, 6 * 8 * patch, 3)
    with torch.no_grad():
        expected = to_pictures(at_once(model, z) * 2 - 1)
    assert np.abs(np.concatenate(frames).astype(int) - expected.astype(int)).max() <= 1
    decoder.rewind(2)
    assert np.array_equal(np.stack(decoder.decode(clip[2])), np.stack(frames[2]))


def test_a_file_that_is_no_tiny_autoencoder_is_refused(tmp_path: Path) -> None:
    torch.save({"something": torch.zeros(2)}, tmp_path / "x.pth")
    with pytest.raises(LayoutError, match="not a TAEHV decoder"):
        TinyDecoder.load(tmp_path / "x.pth", torch.device("cpu"), torch.float32)


def test_a_model_can_decode_with_the_tiny_one(load: Callable[..., Model], tmp_path: Path) -> None:
    torch.save(TinyDecoder(16, 1, (8, 8, 8, 8)).state_dict(), tmp_path / "t.pth")
    model = load("wan2.1-t2v-1.3b-self-forcing", decoder=tmp_path / "t.pth")
    assert len(model.decoder.decode(Group(0, torch.randn(16, 8, 12), None))) == 1
