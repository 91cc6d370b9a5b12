"""Keys as a moving camera, told as rays: what LingBot-World-v2 takes (robbyant/lingbot-world-v2 `wan/utils/cam_utils.py`,
`wan/modules/model_fast.py`, @2648877f76).

Each latent has the pose of its camera relative to the latent before it, as the Plücker rays of all its pixels. Its authors read poses from
a file and divide their translations by the longest of the path. Who plays with keys has no path, so one key's way is the unit, as in the
servers that its authors name for playing (vllm-project/vllm-omni `lingbot_world/camera.py` and `actions.py`, @9a1e1026c0, after SGLang).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import silu

Motion = NDArray[np.float64]
"""(2, 4, 4): the pose, camera to world in OpenCV's axes (x right, y down, z forward), and the pose relative to the latent before."""

YAW, PITCH = np.deg2rad(6.0), np.deg2rad(4.0)
"""Radians a latent."""
HIGHEST = np.deg2rad(85.0)
"""How far the camera looks up or down."""
FOCAL = (502.9116 / 832, 503.10812 / 480)
CENTRE = (415.77786 / 832, 239.77779 / 480)
"""Over the width and height of a picture: `examples/00/intrinsics.npy` of its authors."""
FOLD = 8
"""Pixels of a side that the VAE makes one place of a latent."""
MODEL_LAYERS = ("patch_embedding_wancamctrl", "c2ws_hidden_states_layer1", "c2ws_hidden_states_layer2")
BLOCK_LAYERS = ("cam_injector_layer1", "cam_injector_layer2", "cam_scale_layer", "cam_shift_layer")
"""Linear layers of the model and of each block, in the authors' names and order."""


def start_motion() -> Motion:
    """Of the first latent of a world."""
    return np.stack((np.eye(4), np.eye(4)))


def onward(motion: Motion, actions: Sequence[str]) -> Motion:
    """The motion of the next latent. Walking stays level, wherever the camera looks; actions that are not the camera's do nothing."""
    before = motion[0]

    def axis(more: str, less: str) -> float:
        return float(more in actions) - float(less in actions)

    pitch = PITCH * axis("look_up", "look_down")
    if abs(np.arcsin(np.clip(-before[1, 2], -1, 1)) + pitch) > HIGHEST:
        pitch = 0.0
    yaw = YAW * axis("turn_right", "turn_left")
    c, s = np.cos(yaw), np.sin(yaw)
    turned = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]) @ before[:3, :3]
    c, s = np.cos(pitch), np.sin(pitch)
    turned = turned @ np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    u, _, v = np.linalg.svd(turned)  # hours of small rotations must stay rotations
    pose = np.eye(4)
    pose[:3, :3] = u @ v
    pose[:3, 3] = before[:3, 3]
    for column, ways in ((2, ("forward", "back")), (0, ("right", "left"))):
        level = pose[:3, column] * (1, 0, 1)
        pose[:3, 3] += axis(*ways) * level / np.linalg.norm(level)
    return np.stack((pose, np.linalg.inv(before) @ pose))


def rays(motions: Sequence[Motion], width: int, height: int, patch: int) -> tuple[Tensor, list[int]]:
    """Rays of all motions that differ, (n, tokens, 6 * FOLD**2 * patch**2), and which of them each motion has.

    width, height: of a picture; patch: side of a token in places of a latent. A token's features are the origin and the direction of the
    rays of its pixels, ordered as its authors' two foldings leave them.
    """
    steps, which = np.unique(np.stack([m[1] for m in motions]).round(9), axis=0, return_inverse=True)
    x = (np.arange(width) + 0.5) / width
    y = (np.arange(height) + 0.5) / height
    there = np.ones((height, width, 3))
    there[..., 0] = (x[None] - CENTRE[0]) / FOCAL[0]
    there[..., 1] = (y[:, None] - CENTRE[1]) / FOCAL[1]
    there /= np.linalg.norm(there, axis=-1, keepdims=True)
    ways = np.einsum("nij,hwj->nihw", steps[:, :3, :3], there)
    origins = np.broadcast_to(steps[:, :3, 3, None, None], ways.shape)
    both = torch.from_numpy(np.concatenate((origins, ways), 1)).float()
    side = FOLD * patch
    parts = both.reshape(len(steps), 6, height // side, patch, FOLD, width // side, patch, FOLD)
    return parts.permute(0, 2, 5, 1, 4, 7, 3, 6).flatten(3).flatten(1, 2), which.reshape(-1).tolist()


def add_layers(model: Any, features: int) -> None:
    """The published layers, on the meta device. features: of a token's rays. model: of diffusers, without them."""
    width = model.patch_embedding.out_channels
    with torch.device("meta"):
        for name, inputs in zip(MODEL_LAYERS, (features, width, width), strict=True):
            setattr(model, name, nn.Linear(inputs, width))
        for block in model.blocks:
            for name in BLOCK_LAYERS:
                setattr(block, name, nn.Linear(width, width))


class RayEmbedding(nn.Module):
    """Rays to what all blocks are told of them, (1, motions * tokens, width)."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.embed, self.first, self.second = (getattr(model, name) for name in MODEL_LAYERS)

    def forward(self, rays: Tensor) -> Tensor:
        out = self.embed(rays.to(self.embed.weight.device, self.embed.weight.dtype).flatten(0, 1)[None])
        return out + self.second(silu(self.first(out)))


class RayInjector(nn.Module):
    """Where a block looks at the rays: a scale and a shift of its tokens, between self- and cross-attention."""

    def __init__(self, block: nn.Module) -> None:
        super().__init__()
        self.first, self.second, self.scale, self.shift = (getattr(block, name) for name in BLOCK_LAYERS)

    def forward(self, hidden: Tensor, told: Tensor, which: Sequence[int]) -> Tensor:
        """hidden: (1, latents * tokens, width). told: of motions that differ; which: of them each latent has."""
        told = told + self.second(silu(self.first(told)))
        motions = max(which) + 1
        scale, shift = (
            torch.cat([parts[i] for i in which], 1)
            for parts in (layer(told).chunk(motions, 1) for layer in (self.scale, self.shift))
        )
        return (1 + scale) * hidden + shift
