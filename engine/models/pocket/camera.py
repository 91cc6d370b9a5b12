"""Camera kinematics of the pocket world: held keys in, velocities and relative poses out.

The same integrator moves the camera in the renderer (training), in the control latents (training and play) and in
the session's pose accumulator, so a revoked suffix rewinds the pose by dropping its velocities.

The picture is a cylindrical panorama: a column is an azimuth, so that turning is an exact horizontal shift of
`FOCAL` pixels a radian, and looking up or down is a vertical shift. Units: pixels, radians, world units, frames.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

WIDTH, HEIGHT = 128, 80
FPS = 16
FRAMES_PER_GROUP = 4
FOCAL = 80.0
"""Pixels a radian; 128 columns see 1.6 rad (92 degrees)."""
HORIZON = 0.45 * HEIGHT
"""Row of the horizon of a level camera."""
AXES = ("forward", "strafe", "yaw", "pitch", "lift")
YAW_STEP = 0.05
"""Radians a frame at full turn: 4 pixels, one 16-pixel token a group."""
PITCH_STEP = 1.25
"""Pixels a frame at full look up or down."""
PITCH_LIMIT = 20.0
MOVE_STEP = 1.0
"""World units a frame at full speed: 16 a second."""
LIFT_STEP = 0.8
INERTIA = 0.5
"""Share of the difference to the command that a frame closes."""

COMMANDS: dict[str, tuple[int, int]] = {
    "forward": (0, 1),
    "back": (0, -1),
    "right": (1, 1),
    "left": (1, -1),
    "turn_right": (2, 1),
    "turn_left": (2, -1),
    "look_up": (3, 1),
    "look_down": (3, -1),
    "rise": (4, 1),
    "sink": (4, -1),
}
"""Actions of the key map to AXES."""

Array = NDArray[np.float32]


def command(actions: Sequence[str]) -> Array:
    """Held actions to a camera command (5,) in [-1, 1]; opposite ones cancel. Unknown actions do nothing."""
    out = np.zeros(5, np.float32)
    for name in actions:
        if name in COMMANDS:
            axis, sign = COMMANDS[name]
            out[axis] += sign
    return np.clip(out, -1, 1)


def integrate(velocity: Array, command: Array) -> Array:
    """Velocities after each of `len(command)` frames.

    velocity: (5,) the velocity before; command: (n, 5) in [-1, 1]. Returns (n, 5).
    """
    out = np.empty_like(command)
    v = velocity
    for i, a in enumerate(command):
        v = v + (a - v) * np.float32(INERTIA)
        v = np.where(np.abs(v - a) < 1e-3, a, v).astype(np.float32)
        out[i] = v
    return out


def relative_pose(velocity: Array, pitch: float = 0.0) -> tuple[Array, float]:
    """Poses after each velocity, relative to the pose before the first.

    velocity: (n, 5); pitch: pixels, the absolute pitch before (it is limited). Returns ((n, 5), pitch after), a row being
    (x forward, y right, z up, yaw in radians, pitch in pixels).
    """
    out = np.zeros((len(velocity), 5), np.float32)
    x = y = z = yaw = 0.0
    p0 = pitch
    for i, (f, s, w, p, lift) in enumerate(velocity.astype(np.float64)):
        yaw += w * YAW_STEP
        c, n = np.cos(yaw), np.sin(yaw)
        x += (c * f - n * s) * MOVE_STEP
        y += (n * f + c * s) * MOVE_STEP
        z += lift * LIFT_STEP
        pitch = float(np.clip(pitch + p * PITCH_STEP, -PITCH_LIMIT, PITCH_LIMIT))
        out[i] = (x, y, z, yaw, pitch - p0)
    return out, pitch
