"""Camera of the second pocket world: held keys to velocities and absolute poses.

The picture is a cylindrical panorama: a column is an azimuth, so that turning is a horizontal shift of FOCAL pixels a
radian, and looking up or down is a vertical shift. Units: pixels, radians, world units, frames.
"""

from __future__ import annotations

# what both makes share: keys to commands, inertia, groups
from engine.models.pocket.camera import FPS, FRAMES_PER_GROUP, command, integrate

WIDTH, HEIGHT = 256, 160
FOCAL = 160.0
"""Pixels a radian; 256 columns see 1.6 rad (92 degrees)."""
HORIZON = 0.45 * HEIGHT
"""Row of the horizon of a level camera."""
YAW_STEP = 0.05
"""Radians a frame at full turn."""
PITCH_STEP, PITCH_LIMIT = 2.5, 40.0
MOVE_STEP = 0.8
"""World units a frame at full speed."""
LIFT_STEP, LIFT_LIMIT = 0.6, 40.0
"""World units a frame at full rise, and the most above eye height; below it nobody sinks."""
EYE = 4.8
"""World units of the eye above the ground."""

__all__ = [
    "EYE",
    "FOCAL",
    "FPS",
    "FRAMES_PER_GROUP",
    "HEIGHT",
    "HORIZON",
    "LIFT_LIMIT",
    "LIFT_STEP",
    "MOVE_STEP",
    "PITCH_LIMIT",
    "PITCH_STEP",
    "WIDTH",
    "YAW_STEP",
    "command",
    "integrate",
]
