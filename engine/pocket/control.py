"""Control latents: the boundary frame re-projected by the commanded motion, with a mask of what it covers.

This is how published camera-controlled models are told where to look; the network repairs what the flat-ground guess
gets wrong and makes up what comes into view.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d, grid_sample, interpolate

from engine.pocket.camera import FOCAL, FRAMES_PER_GROUP, HEIGHT, HORIZON, WIDTH
from engine.pocket.codec import BLOCK, Codec

EYE = 17.0
"""Assumed height of the camera over flat ground, in world units (a middle value of the renderer's)."""
COARSE = 2
"""The geometry is computed at this fraction of the resolution and interpolated: it is smooth."""


def flow(pose: Tensor, pitch: Tensor) -> Tensor:
    """Where in the boundary frame each pixel of a later frame comes from.

    pose: (n, 5) as of `camera.relative_pose`; pitch: (n,) pixels, at the boundary. Returns (n, 80, 128, 2) in
    grid_sample's coordinates.
    """
    n = len(pose)
    x, y, z, yaw, tilt = (pose[:, i, None, None] for i in range(5))
    columns = (torch.arange(WIDTH // COARSE) + 0.5) * COARSE
    rows = (torch.arange(HEIGHT // COARSE) + 0.5) * COARSE
    azimuth = (columns[None, None] - WIDTH / 2) / FOCAL + yaw
    here = HORIZON + pitch[:, None, None]
    below = rows[None, :, None] - (here + tilt)
    ground = below > 0.5
    depth = (EYE + z).clamp_min(4) * FOCAL / below.clamp_min(0.5)
    px, py = x + depth * torch.cos(azimuth), y + depth * torch.sin(azimuth)
    # azimuth is kept continuous past half a turn: only the deviation from it is taken from atan2
    turn = torch.atan2(py * torch.cos(azimuth) - px * torch.sin(azimuth), px * torch.cos(azimuth) + py * torch.sin(azimuth))
    source = torch.where(ground, azimuth + turn, azimuth)
    column = WIDTH / 2 + source * FOCAL
    row = torch.where(ground, here + EYE * FOCAL / torch.hypot(px, py).clamp_min(1e-3), rows[None, :, None] - tilt)
    coarse = torch.stack((column / WIDTH * 2 - 1, row.expand_as(column) / HEIGHT * 2 - 1), 1)
    fine = interpolate(coarse, size=(HEIGHT, WIDTH), mode="bilinear", align_corners=False)
    return fine.reshape(n, 2, HEIGHT, WIDTH).permute(0, 2, 3, 1)


def control_latents(codec: Codec, boundary: Tensor, pose: Tensor, pitch: Tensor, beyond: str = "border") -> Tensor:
    """(n, groups, CHANNELS + 1, 10, 16): encoded re-projections and their cover.

    boundary: (n, 80, 128, 3) in [-1, 1]; pose: (n, 4 groups, 5) relative to the boundary; pitch: (n,). beyond: what stands in
    where nothing is covered, `border` (its colours go on) or `reflection`.
    """
    n, frames = pose.shape[:2]
    grid = flow(pose.flatten(0, 1), pitch.repeat_interleave(frames))
    image = boundary.permute(0, 3, 1, 2).repeat_interleave(frames, 0)
    warped = grid_sample(image, grid, mode="bicubic", padding_mode=beyond, align_corners=False)
    inside = (grid.abs() < 1).all(-1).float()[:, None]
    inside = avg_pool2d(inside, BLOCK).unflatten(0, (n, -1, FRAMES_PER_GROUP)).mean(2)
    covered = (inside > 0.999).float()
    groups = warped.permute(0, 2, 3, 1).unflatten(0, (n, -1, FRAMES_PER_GROUP))
    return torch.cat((codec.encode(groups), covered), 2)
