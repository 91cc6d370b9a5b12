"""Held actions as cameras or as words, for models that know the one or the other.

minWM's action model takes one camera pose a latent through PRoPE (projective positional encoding): attention a second
time, with queries, keys and values multiplied by camera matrices instead of rotary embeddings, so that only relative poses
count. Poses are camera-to-world, OpenCV axes (x right, y down, z forward), as the authors' trajectory code integrates them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.models.attention import Projections

Pose = NDArray[np.float64]
"""(4, 4) camera to world."""

STEP = 0.08
"""Units a latent."""
TURN = np.deg2rad(3.0)
"""Radians a latent."""
FOCAL = (969.6969696969696 / 1920, 969.6969696969696 / 1080)
"""Focal lengths over picture width and height, of the authors' intrinsics; the principal point plays no part in PRoPE."""

MOVES: dict[str, tuple[float, float, float]] = {
    "forward": (0, 0, STEP),
    "back": (0, 0, -STEP),
    "left": (-STEP, 0, 0),
    "right": (STEP, 0, 0),
    "rise": (0, -STEP, 0),
    "sink": (0, STEP, 0),
}
"""Translations in the camera's axes: the authors' w, s, a, d, u and dn."""
TURNS: dict[str, tuple[float, float]] = {
    "turn_left": (-TURN, 0),
    "turn_right": (TURN, 0),
    "look_up": (0, TURN),
    "look_down": (0, -TURN),
}
"""(yaw, pitch): j, l, i and k."""


def start_pose() -> Pose:
    """Where every world begins."""
    return np.eye(4)


def onward(pose: Pose, actions: Sequence[str]) -> Pose:
    """The pose one latent later. Actions that are not the camera's do nothing."""
    out = pose.copy()
    yaw = sum(TURNS[a][0] for a in actions if a in TURNS)
    pitch = sum(TURNS[a][1] for a in actions if a in TURNS)
    c, s = np.cos(yaw), np.sin(yaw)
    out[:3, :3] = out[:3, :3] @ np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    c, s = np.cos(pitch), np.sin(pitch)
    out[:3, :3] = out[:3, :3] @ np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    for a in actions:
        if a in MOVES:
            out[:3, 3] += out[:3, :3] @ np.array(MOVES[a])
    # hours of small rotations must stay rotations
    u, _, v = np.linalg.svd(out[:3, :3])
    out[:3, :3] = u @ v
    return out


def projections(window: Sequence[Pose], prefix: Sequence[Pose], tokens: int, device: torch.device) -> Projections:
    """Camera matrices of a call. Poses are taken relative to the window's first, so that a long way from the start costs no
    precision; PRoPE sees relative poses only."""
    origin = np.linalg.inv(window[0])
    lift = np.diag([FOCAL[0], FOCAL[1], 1.0, 1.0])

    def matrices(poses: Sequence[Pose]) -> tuple[Tensor, Tensor]:
        """(n, 4, 4) image from world, and its inverse."""
        to_image = [lift @ np.linalg.inv(origin @ p) for p in poses]
        back = [np.linalg.inv(m) for m in to_image]
        empty = np.zeros((0, 4, 4))
        return tuple(torch.from_numpy(np.stack(m) if m else empty).float().to(device) for m in (to_image, back))  # type: ignore[return-value]

    here, inverse = matrices(window)
    return Projections(here.transpose(1, 2), inverse, here, matrices(prefix)[1], tokens)
