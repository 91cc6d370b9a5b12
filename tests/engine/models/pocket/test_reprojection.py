"""Re-projection: turns are exact, walks agree with the renderer, and what cannot be seen is not said to be covered."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch.nn.functional import grid_sample

from engine.models.pocket import camera
from engine.models.pocket.depth import FARTHEST, NEAREST, DepthNet, flat_ground
from engine.models.pocket.reprojection import flow
from engine.training import world
from engine.training.depth import train


def poses(command: tuple[float, ...], frames: int) -> torch.Tensor:
    v = np.tile(np.array(command, np.float32), (frames, 1))
    return torch.from_numpy(camera.relative_pose(v)[0])[None]


def even(pitch: float = 0.0) -> torch.Tensor:
    """Distances over flat ground, (1, 80, 128) logarithms."""
    return flat_ground(torch.tensor([pitch])).expand(-1, 1, -1, camera.WIDTH)[:, 0]


def test_a_turn_moves_the_picture_by_exact_pixels() -> None:
    pose = torch.zeros(1, 1, 5)
    pose[..., 3] = 10 / camera.FOCAL
    grid, seen = flow(even(), pose, torch.zeros(1))
    columns = (grid[0, 0, 5, :, 0] + 1) * camera.WIDTH / 2 - 0.5
    # the outermost columns are off by half a pixel: the coarse geometry is not extrapolated
    assert torch.allclose(columns[1:-1], torch.arange(camera.WIDTH)[1:-1] + 10.0, atol=1e-3)
    assert seen[0, 0, :, :58].float().mean() > 0.95
    assert not seen[0, 0, :, 60:].any(), "what comes into view was not seen"


def test_the_sky_does_not_move_when_the_camera_walks() -> None:
    grid, seen = flow(even(), poses((1, 0.5, 0, 0, 0), 8), torch.zeros(1))
    rows = (grid[0, -1, 4:20, 10:-10, 1] + 1) * camera.HEIGHT / 2 - 0.5
    columns = (grid[0, -1, 4:20, 10:-10, 0] + 1) * camera.WIDTH / 2 - 0.5
    assert torch.allclose(rows, torch.arange(4.0, 20.0)[:, None].expand_as(rows), atol=1e-3)
    assert torch.allclose(columns, torch.arange(10.0, 118.0)[None].expand_as(columns), atol=1e-3)
    assert seen[0, -1, 2:10].all()


@pytest.mark.parametrize(
    ("command", "seed"), [((1, 0, 0, 0, 0), 6), ((1, 0, 0.3, 0, 0), 4), ((0, 1, 0, 0, 0), 7), ((-1, 0, 0, 0, 0), 8)]
)
def test_with_true_distances_a_walk_is_seen_as_the_renderer_sees_it(command: tuple[float, ...], seed: int) -> None:
    scene = world.Ground.make(seed).scene("desert", "noon", "clear")
    walker = world.Walker(np.random.default_rng(seed), scene)
    walker.pitch = 0.0
    before = walker.see(scene)
    distance = torch.from_numpy(np.log(np.clip(walker.distance(), NEAREST, FARTHEST)))[None]
    motion, height = [], walker.z
    for _ in range(12):
        motion.append(walker.move(scene, np.array(command, np.float32)))
        walker.z = height  # the ground's rise and fall is not among the commands
    after = walker.see(scene)
    pose, _ = camera.relative_pose(np.stack(motion))
    grid, seen = flow(distance, torch.from_numpy(pose)[None, -1:], torch.zeros(1))
    image = torch.from_numpy(before).permute(2, 0, 1)[None].float()
    guess = grid_sample(image, grid[0], mode="bilinear", align_corners=False)[0].permute(1, 2, 0).numpy()
    cover = seen[0, 0].repeat_interleave(2, 0).repeat_interleave(2, 1).numpy()
    cover[:40] = False  # the sky says nothing
    assert cover[40:].mean() > 0.4
    moved = np.abs(guess - after)[cover].mean()
    stayed = np.abs(before.astype(float) - after)[cover].mean()
    assert moved < 0.75 * stayed


def test_what_stands_behind_something_near_is_not_covered() -> None:
    distance = torch.full((1, camera.HEIGHT, camera.WIDTH), math.log(60.0))
    distance[:, :, 60:68] = math.log(6.0)  # a post in front of a wall
    _, seen = flow(distance, poses((0, 1, 0, 0, 0), 4), torch.zeros(1))
    row = seen[0, -1, 18]
    hidden = (~row[:55]).nonzero()[:, 0]
    assert len(hidden) > 2, "the strip of wall that the post hid"


@pytest.mark.slow  # trains, 20 s: of the first make, which does not change any more
def test_distances_are_learned_from_rendered_frames(tmp_path) -> None:  # type: ignore[no-untyped-def]
    torch.set_num_threads(2)
    net, error = train(0.05, 20, 1, batch=4)
    assert isinstance(net, DepthNet)
    assert 1 <= error < 10
    out = net(torch.zeros(2, camera.HEIGHT, camera.WIDTH, 3), torch.tensor([0.0, 10.0]))
    assert out.shape == (2, camera.HEIGHT, camera.WIDTH)
    assert torch.all((out >= math.log(NEAREST)) & (out <= math.log(FARTHEST)))
