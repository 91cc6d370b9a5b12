"""The album: places that left the picture come back, and nothing revoked is remembered."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn.functional import max_pool2d

from engine.models.pocket import camera
from engine.models.pocket.codec import CHANNELS
from engine.models.pocket.memory import NEAR, PAGES, Album, Place
from engine.models.pocket.reprojection import FEATHER, encoded, reprojected
from engine.models.pocket.sampler import PocketSampler, PocketWeights
from tests.engine.models.pocket.test_prefix import request, weights, yes  # noqa: F401 (a fixture)


def turn(frames: int, sign: float = 1.0) -> np.ndarray:
    command = np.tile(np.array([0, 0, sign, 0, 0], np.float32), (frames, 1))
    pose, _ = camera.relative_pose(command)
    return pose


def test_a_place_seen_from_itself_changes_nothing() -> None:
    start = Place(3.0, -2.0, 1.0, 2.5, 4.0)
    pose = np.random.default_rng(0).normal(size=(8, 5)).astype(np.float32) * 0.3
    assert np.allclose(start.poses_from(start, pose), pose, atol=1e-5)


def test_poses_agree_with_walking_there() -> None:
    rng = np.random.default_rng(1)
    first, second = (rng.normal(size=(1, 5)).astype(np.float32) * 0.4 for _ in range(2))
    origin = Place()
    there = origin.onward(first[0])
    seen = origin.poses_from(there, second)[0]
    walked = there.onward(second[0])
    assert np.allclose(seen, (walked.x, walked.y, walked.z, walked.yaw, walked.pitch), atol=1e-5)


def test_what_left_the_picture_by_a_turn_is_covered_again(weights: PocketWeights) -> None:  # noqa: F811
    codec = weights.codec
    latent = torch.randn(CHANNELS, 10, 16)
    album = Album()
    album.add(Place(), latent)
    away = Place(yaw=1.2)
    back = turn(24, -1.0)
    boundary = torch.zeros(1, 80, 128, 3)
    image, cover = reprojected(
        boundary, weights.depth(boundary, torch.zeros(1)), torch.from_numpy(back)[None], torch.zeros(1)
    )
    filled, covered = album.fill(codec, weights.depth, (image, cover), away, back)
    assert covered.mean() > cover.mean() + 0.1
    deep = -max_pool2d(-cover.flatten(0, 1), 2 * FEATHER + 1, 1, FEATHER).unflatten(0, cover.shape[:2]) > 0
    assert torch.equal(torch.where(deep, filled, 0.0), torch.where(deep, image, 0.0)), "the boundary frame comes first"
    assert not torch.equal(filled, image)
    assert encoded(codec, (filled, covered)).shape == (1, len(back) // 4, CHANNELS + 1, 10, 16)


def test_pages_from_far_away_are_not_used(weights: PocketWeights) -> None:  # noqa: F811
    album = Album()
    album.add(Place(x=NEAR + 1), torch.randn(CHANNELS, 10, 16))
    back = turn(8, -1.0)
    grey = torch.zeros(1, 80, 128, 3)
    seen = reprojected(grey, weights.depth(grey, torch.zeros(1)), torch.from_numpy(back)[None], torch.zeros(1))
    assert album.fill(weights.codec, weights.depth, seen, Place(), back) is seen


def test_the_album_is_bounded_and_a_newer_view_replaces_the_old_one() -> None:
    album = Album()
    z = torch.zeros(CHANNELS, 10, 16)
    for i in range(3 * PAGES):
        album.add(Place(x=10.0 * i), z)
    assert len(album.pages) == PAGES
    newer = torch.ones_like(z)
    album.add(Place(x=10.0 * (3 * PAGES - 1) + 0.5), newer)
    assert len(album.pages) == PAGES
    assert album.pages[-1][1] is newer


@pytest.mark.usefixtures("weights")
def test_only_delivered_groups_enter_the_album_and_a_reset_empties_it(weights: PocketWeights) -> None:  # noqa: F811
    sampler = PocketSampler(weights)
    sampler.extend(sampler.sample(request(sampler, 0, 12, ("turn_right",)), yes))
    assert sampler._album.pages == []
    for position in range(1, 5):
        sampler.evict_before(position)
    delivered = [sampler._groups[p].latent for p in range(4)]
    views = sampler._starts.flatten(0, 3)
    for _, page in sampler._album.pages:
        assert any(page is z for z in delivered) or bool((views == page).all((1, 2, 3)).any()), (
            "delivered, or a view of the land"
        )
    sampler.reset()
    assert sampler._album.pages == []
