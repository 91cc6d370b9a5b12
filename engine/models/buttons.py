"""Keys as buttons: which are held, as ABot-World is told of it (amap-cvlab/ABot-World `pipeline/causal_inference.py` set_act,
`wan/modules/model.py` SimpleAdapter, @e260168d3f)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

REPEATS = 4
"""Channels of a button: one for each frame of a latent, all the same."""
KEPT = 32
"""Sets of buttons whose maps are kept: at the published size one is 5 MB."""


def held(names: Sequence[str], actions: Sequence[str]) -> NDArray[np.float64]:
    """(len(names),): 1 for each of them that is held, else 0. Actions that the model has no button for do nothing."""
    return np.array([float(name in actions) for name in names])


class _Residual(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv1, self.conv2 = (nn.Conv2d(width, width, 3, padding=1) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.conv2(torch.relu(self.conv1(x)))


class ButtonAdapter(nn.Module):
    """What held buttons add to every token of a latent.

    The published one draws a plane of pixels a channel, folds it to patches and convolves these. A plane has one value, so that is a
    matrix times the buttons, and only the borders of the map differ from its inside: they come from the padding of the residual block.
    """

    def __init__(self, channels: int, width: int, patch: int) -> None:
        """channels: of the folded planes, buttons * REPEATS * pixels of a fold; patch: side of a token in folds."""
        super().__init__()
        self.conv = nn.Conv2d(channels, width, patch, patch)
        self.residual_blocks = nn.Sequential(_Residual(width))
        self._maps: dict[tuple[float, ...], Tensor] = {}

    def forward(self, buttons: Tensor, rows: int, columns: int) -> Tensor:
        """buttons: (latents, buttons) on the CPU. (1, width, latents, rows, columns)."""
        return torch.stack([self._map(b, rows, columns) for b in buttons], 1)[None]

    def _map(self, buttons: Tensor, rows: int, columns: int) -> Tensor:
        key = (*buttons.tolist(), rows, columns)
        if key not in self._maps:
            if len(self._maps) >= KEPT:
                self._maps.clear()
            matrix = self.conv.weight.sum((2, 3), dtype=torch.float32).unflatten(1, (len(buttons), -1)).sum(2)
            color = matrix @ buttons.to(matrix) + self.conv.bias.float()  # type: ignore[union-attr]
            flat = color.to(self.conv.weight.dtype)[None, :, None, None].expand(1, -1, rows, columns)
            self._maps[key] = self.residual_blocks(flat)[0]
        return self._maps[key]
