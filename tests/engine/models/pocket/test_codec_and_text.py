"""The codec's transform, the camera and the prompt reader as shipped."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from engine.models.pocket import camera
from engine.models.pocket.camera import command
from engine.models.pocket.codec import CHANNELS, Codec, from_blocks, to_blocks
from engine.models.pocket.prompt_reader import Words
from engine.models.pocket.sampler import PocketWeights, WeightsError
from engine.models.registry import pocket_folder


@pytest.fixture(scope="module")
def shipped() -> PocketWeights:
    return PocketWeights.load(pocket_folder())


def test_blocks_hold_all_of_a_group() -> None:
    x = torch.randn(2, 3, 4, 80, 128, 3)
    assert torch.equal(from_blocks(to_blocks(x)), x)


def test_the_transform_inverts_itself_on_its_own_range(shipped: PocketWeights) -> None:
    z = torch.randn(3, CHANNELS, 10, 16)
    assert torch.allclose(shipped.codec.encode(shipped.codec.expand(z)), z, atol=1e-3)


def test_a_fitted_codec_keeps_what_varies() -> None:
    torch.manual_seed(0)
    mix = torch.randn(12, 10, 16, 20) @ torch.randn(20, 768)
    groups = (from_blocks(mix).div(40).clamp(-1, 1) * 127.5 + 127.5).to(torch.uint8)
    codec = Codec.fit(groups.numpy())
    x = groups.float() / 127.5 - 1
    assert (codec.expand(codec.encode(x)) - x).pow(2).mean() < 0.02 * x.var()


def test_a_still_group_stands_still(shipped: PocketWeights) -> None:
    image = np.zeros((80, 128, 3), np.uint8)
    image[40:] = (60, 120, 50)
    frames = shipped.codec.expand(shipped.codec.still(image)[None])[0]
    assert (frames[0] - frames[3]).abs().max() < 0.1


def test_weights_that_are_missing_or_truncated_are_named(tmp_path, shipped: PocketWeights) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(WeightsError, match="missing"):
        PocketWeights.load(tmp_path)
    shipped.save(tmp_path)
    file = tmp_path / "pocket.safetensors"
    file.write_bytes(file.read_bytes()[:100_000])
    with pytest.raises(WeightsError, match=r"pocket\.safetensors cannot be read"):
        PocketWeights.load(tmp_path)


def test_opposite_keys_cancel() -> None:
    assert command(("forward", "back", "turn_left")).tolist() == [0, 0, -1, 0, 0]


def test_velocities_have_inertia_and_settle() -> None:
    v = camera.integrate(np.zeros(5, np.float32), np.tile(np.array([1, 0, 0, 0, 0], np.float32), (16, 1)))
    assert 0 < v[0, 0] < 1
    assert v[-1, 0] == 1


def test_pitch_is_limited() -> None:
    pose, after = camera.relative_pose(np.tile(np.array([0, 0, 0, 1, 0], np.float32), (100, 1)), 5.0)
    assert after == camera.PITCH_LIMIT
    assert pose[-1, 4] == camera.PITCH_LIMIT - 5.0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("snowy mountains at noon", (2, 1, 3)),
        ("desert at dusk", (1, 2, 3)),
        ("a city skyline in dense fog", (7, 4, 2)),
        ("night", (8, 3, 3)),
        ("tropical beach", (4, 4, 3)),
        ("hello", (8, 4, 3)),
    ],
)
def test_prompts_are_read(shipped: PocketWeights, text: str, said: tuple[int, int, int]) -> None:
    parts = shipped.reader.read(Words(), text).split([9, 5, 4])
    assert tuple(int(p.argmax()) for p in parts) == said
