"""The album: what was seen of a world, so that a place that left the picture comes back as it was.

Only delivered groups enter it, so nothing that was revoked is remembered. A window's control latents are taken from the
boundary frame first; where that does not reach, from the pages of the album that do.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from engine.models.pocket.camera import Array
from engine.models.pocket.codec import Codec
from engine.models.pocket.depth import DepthNet
from engine.models.pocket.reprojection import Seen, behind, reprojected

PAGES = 32
"""Pages that are kept; the oldest goes first."""
APART_YAW, APART_WAY = 0.4, 4.0
"""Radians or world units by which a new page differs from all others."""
NEAR = 30.0
"""World units: from farther away a page's estimated distances are worse than making it up."""
USED = 2
"""Pages that one window looks at."""


@dataclass(frozen=True)
class Place:
    """Where a group ends: position in world units and yaw in radians, by dead reckoning from the start, and pitch in
    pixels."""

    x: float = 0.0
    y: float = 0.0
    z: float = 0.0
    yaw: float = 0.0
    pitch: float = 0.0

    def onward(self, pose: Array) -> Place:
        """The place after a relative pose (5,) of `camera.relative_pose`."""
        c, s = np.cos(self.yaw), np.sin(self.yaw)
        x, y, z, yaw, tilt = (float(v) for v in pose)
        return Place(self.x + c * x - s * y, self.y + s * x + c * y, self.z + z, self.yaw + yaw, self.pitch + tilt)

    def poses_from(self, start: Place, pose: Array) -> Array:
        """Poses (n, 5) that are relative to `start`, made relative to this place."""
        c, s = np.cos(start.yaw), np.sin(start.yaw)
        x = start.x + c * pose[:, 0] - s * pose[:, 1] - self.x
        y = start.y + s * pose[:, 0] + c * pose[:, 1] - self.y
        c, s = np.cos(-self.yaw), np.sin(-self.yaw)
        yaw = (start.yaw - self.yaw + np.pi) % (2 * np.pi) - np.pi + pose[:, 3]
        columns = (
            c * x - s * y,
            s * x + c * y,
            start.z - self.z + pose[:, 2],
            yaw,
            start.pitch - self.pitch + pose[:, 4],
        )
        return np.stack(columns, 1).astype(np.float32)

    def way(self, other: Place) -> float:
        return float(np.hypot(self.x - other.x, self.y - other.y))

    def turn(self, other: Place) -> float:
        """Radians between the headings, at most pi."""
        return abs((self.yaw - other.yaw + np.pi) % (2 * np.pi) - np.pi)


@dataclass
class Album:
    """Pages: a latent and the place at which its last frame was seen."""

    pages: list[tuple[Place, Tensor]] = field(default_factory=list)

    def add(self, place: Place, latent: Tensor) -> None:
        """Keeps a delivered group when it shows something new; a newer view of the same replaces the old one."""
        kept = [p for p in self.pages if p[0].turn(place) >= APART_YAW or p[0].way(place) >= APART_WAY]
        self.pages = [*kept, (place, latent)][-PAGES:]

    def fill(self, codec: Codec, depth: DepthNet, seen: Seen, start: Place, pose: Array) -> Seen:
        """What pages cover, put where nothing was."""
        end = start.onward(pose[-1])
        near = [p for p in self.pages if p[0].way(start) <= NEAR]
        near.sort(key=lambda p: min(p[0].turn(end), p[0].turn(start) + 0.5))
        for place, latent in near[:USED]:
            if bool((seen[1] > 0).all()):
                break
            frame, pitch = codec.boundary(latent[None]), torch.tensor([place.pitch])
            poses = torch.from_numpy(place.poses_from(start, pose))[None]
            seen = behind(seen, reprojected(frame, depth(frame, pitch), poses, pitch))
        return seen
