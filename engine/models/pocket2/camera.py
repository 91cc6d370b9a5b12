"""Camera of the second pocket world: held keys to velocities and absolute poses.

The picture is a cylindrical panorama: a column is an azimuth, so that turning is a horizontal shift of FOCAL pixels a
radian, and looking up or down is a vertical shift. Units: pixels, radians, world units, frames.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

WIDTH, HEIGHT = 256, 160
FPS = 16
FRAMES_PER_GROUP = 4
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
"""Actions of the key map to axes (forward, strafe, yaw, pitch, lift)."""

Array = NDArray[np.float32]


def command(actions: tuple[str, ...]) -> Array:
    """Held actions to a camera command (5,) in [-1, 1]; opposite ones cancel. Unknown actions do nothing."""
    out = np.zeros(5, np.float32)
    for name in actions:
        if name in COMMANDS:
            axis, sign = COMMANDS[name]
            out[axis] += sign
    return np.clip(out, -1, 1)


def integrate(velocity: Array, commands: Array) -> Array:
    """Velocities after each frame. velocity: (5,) the one before; commands: (n, 5) in [-1, 1]. Returns (n, 5)."""
    out = np.empty_like(commands)
    v = velocity
    for i, a in enumerate(commands):
        v = v + (a - v) * np.float32(INERTIA)
        v = np.where(np.abs(v - a) < 1e-3, a, v).astype(np.float32)
        out[i] = v
    return out
