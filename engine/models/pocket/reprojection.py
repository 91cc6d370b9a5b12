"""Control latents: the boundary frame re-projected by the commanded motion, with how much of each place it covers.

This is how published camera-controlled models are told where to look: the frame's distances are estimated (`depth.py`), its
points are moved, and the later frame is looked up in it. The network repairs what the estimate gets wrong and makes up what comes
into view.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d, grid_sample, interpolate, max_pool2d

from engine.models.pocket.camera import FOCAL, FRAMES_PER_GROUP, HEIGHT, HORIZON, WIDTH
from engine.models.pocket.codec import BLOCK, Codec
from engine.models.pocket.depth import FARTHEST, SKY, flat_ground

COARSE = 2
"""The geometry is computed at this fraction of the resolution and interpolated: it is mostly smooth."""
ROWS, COLUMNS = HEIGHT // COARSE, WIDTH // COARSE
FEATHER = 12
"""Pixels over which one view goes into another."""
AGREE = 0.22
"""By how much the logarithm of a distance may differ from that of the place it is looked up at; more means that it is hidden."""


def _cells(device: torch.device) -> tuple[Tensor, Tensor]:
    """Rows (rows, 1) and azimuths (1, columns) of the coarse cells' middles."""
    rows = (torch.arange(ROWS, device=device) + 0.5) * COARSE
    columns = (torch.arange(COLUMNS, device=device) + 0.5) * COARSE
    return rows[:, None], (columns[None] - WIDTH / 2) / FOCAL


def seen_distance(distance: Tensor, pose: Tensor, pitch: Tensor) -> tuple[Tensor, Tensor]:
    """The distances that later frames see, from those of the boundary frame.

    distance: (n, rows, columns) logarithms, coarse; pose: (n, m, 5) as of `camera.relative_pose`; pitch: (n,) at the boundary.
    Returns (n, m, rows, columns) logarithms, flat ground where nothing is known, and whether it is known.
    """
    n, m = pose.shape[:2]
    rows, azimuth = _cells(distance.device)
    x, y, z, yaw, tilt = (pose[:, :, i, None, None] for i in range(5))
    here = (HORIZON + pitch)[:, None, None, None]
    r = distance.exp()[:, None]
    up = (here - rows) * r / FOCAL
    far = r >= SKY
    px, py = r * torch.cos(azimuth) - x, r * torch.sin(azimuth) - y
    moved = torch.hypot(px, py)
    column = torch.where(far, azimuth - yaw, torch.atan2(py, px) - yaw)
    column = (torch.remainder(column + torch.pi, 2 * torch.pi) - torch.pi) * FOCAL + WIDTH / 2
    row = torch.where(far, rows + tilt, here + tilt - (up - z) / moved.clamp_min(0.5) * FOCAL)
    value = torch.where(far, distance[:, None], moved.clamp_min(0.5).log())
    i, j = torch.floor(row / COARSE).long(), torch.floor(column / COARSE).long()
    inside = (i >= 0) & (i < ROWS) & (j >= 0) & (j < COLUMNS) & (moved > 1.0)
    cell = torch.where(inside, i * COLUMNS + j, ROWS * COLUMNS).flatten(2)
    empty = 99.0
    field = distance.new_full((n, m, ROWS * COLUMNS + 1), empty)
    field = field.scatter_reduce(2, cell, value.expand(n, m, ROWS, COLUMNS).flatten(2), "amin")
    field = field[..., :-1].unflatten(2, (ROWS, COLUMNS)).flatten(0, 1)[:, None]
    # a near surface that came nearer has gaps through which farther ones show: they are closed
    for side in (3, 5):
        shut = max_pool2d(-max_pool2d(-field, side, 1, side // 2), side, 1, side // 2)
        field = torch.where(field > shut + AGREE, shut, field)
    known = field < empty - 1
    level = (pitch[:, None] + pose[:, :, 4]).flatten()
    ground = flat_ground(level)[:, :, COARSE // 2 :: COARSE].expand(-1, -1, -1, COLUMNS)
    field = torch.where(known, field, ground)
    return field[:, 0].unflatten(0, (n, m)), known[:, 0].unflatten(0, (n, m))


def flow(distance: Tensor, pose: Tensor, pitch: Tensor) -> tuple[Tensor, Tensor]:
    """Where in the boundary frame each pixel of later frames comes from, and where that is what they really see.

    distance: (n, 80, 128) logarithms of the boundary frame's; pose: (n, m, 5); pitch: (n,) pixels, at the boundary. Returns
    (n, m, 80, 128, 2) in grid_sample's coordinates and (n, m, 40, 64) bool.
    """
    n, m = pose.shape[:2]
    near = -max_pool2d(-distance[:, None], COARSE)[:, 0]
    field, known = seen_distance(near, pose, pitch)
    rows, azimuth = _cells(distance.device)
    x, y, z, yaw, tilt = (pose[:, :, i, None, None] for i in range(5))
    here = (HORIZON + pitch)[:, None, None, None]
    r = field.exp()
    far = r >= SKY
    a = azimuth + yaw
    px, py = x + r * torch.cos(a), y + r * torch.sin(a)
    # azimuth is kept continuous past half a turn: only the deviation from it is taken from atan2
    turn = torch.atan2(py * torch.cos(a) - px * torch.sin(a), px * torch.cos(a) + py * torch.sin(a))
    back = torch.hypot(px, py).clamp_min(1e-3)
    up = (here + tilt - rows) * r / FOCAL + z
    column = torch.where(far, a, a + turn) * FOCAL + WIDTH / 2
    row = torch.where(far, rows - tilt, here - up / back * FOCAL)
    coarse = torch.stack((column / WIDTH * 2 - 1, row / HEIGHT * 2 - 1), 2).flatten(0, 1)
    there = grid_sample(
        near[:, None].repeat_interleave(m, 0), coarse.permute(0, 2, 3, 1), mode="nearest", align_corners=False
    )
    there = there[:, 0].unflatten(0, (n, m))
    expected = torch.where(far, field, back.log().clamp_max(math.log(FARTHEST)))
    seen = known & ((there - expected).abs() < AGREE) | (far & (there.exp() >= SKY))
    seen &= (coarse.abs() < 1).all(1).unflatten(0, (n, m))
    fine = interpolate(coarse, size=(HEIGHT, WIDTH), mode="bilinear", align_corners=False)
    return fine.permute(0, 2, 3, 1).unflatten(0, (n, m)), seen


Seen = tuple[Tensor, Tensor]
"""Re-projected frames (n, m, 3, 80, 128) in [-1, 1], and which of their pixels are covered, (n, m, 1, 80, 128) in {0, 1}."""


def reprojected(boundary: Tensor, distance: Tensor, pose: Tensor, pitch: Tensor) -> Seen:
    """The boundary frame as later poses see it; where nothing is covered its reflection stands in.

    boundary: (n, 80, 128, 3) in [-1, 1]; distance: (n, 80, 128) logarithms; pose: (n, m, 5) relative to the boundary; pitch: (n,).
    """
    n, m = pose.shape[:2]
    grid, seen = flow(distance, pose, pitch)
    image = boundary.permute(0, 3, 1, 2).repeat_interleave(m, 0)
    warped = grid_sample(
        image, grid.flatten(0, 1), mode="bicubic", padding_mode="reflection", align_corners=False
    ).clamp(-1, 1)
    cover = interpolate(seen.flatten(0, 1)[:, None].float(), scale_factor=COARSE, mode="nearest")
    return warped.unflatten(0, (n, m)), cover.unflatten(0, (n, m))


def behind(front: Seen, back: Seen) -> Seen:
    """Both: `back` where the front covers nothing, with an edge of FEATHER pixels that goes from one into the other."""
    (image, seen), (other, more) = front, back
    near = avg_pool2d(seen.flatten(0, 1), 2 * FEATHER + 1, 1, FEATHER, count_include_pad=False).unflatten(
        0, seen.shape[:2]
    )
    take = more * (1 - seen * (2 * near - 1).clamp(0, 1))
    return image + (other - image) * take, torch.maximum(seen, more)


def encoded(codec: Codec, seen: Seen) -> Tensor:
    """Control latents (n, groups, CHANNELS + 1, 10, 16): the frames, and the covered share of each place."""
    image, cover = seen
    share = avg_pool2d(cover.flatten(0, 1), BLOCK).unflatten(0, (len(cover), -1, FRAMES_PER_GROUP)).mean(2)
    return torch.cat((codec.encode(image.movedim(2, -1).unflatten(1, (-1, FRAMES_PER_GROUP))), share), 2)


def control_latents(codec: Codec, boundary: Tensor, distance: Tensor, pose: Tensor, pitch: Tensor) -> Tensor:
    """Of the boundary frame alone; see `reprojected` and `encoded`."""
    return encoded(codec, reprojected(boundary, distance, pose, pitch))
