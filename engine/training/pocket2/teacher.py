"""What the drawing networks learn from: painted textures, and G-buffers painted by code."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from engine.models.pocket2.gbuffer import Buffer, planes
from engine.training.pocket2.paint import paint
from engine.training.pocket2.sprites import Atlas

Array = NDArray[np.float32]


def painted_atlas(file: Path) -> list[Array]:
    """Painted textures, kept in a file since to paint them takes seconds."""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        np.savez(file, *[x.astype(np.float16) for x in Atlas().levels])
    with np.load(file) as z:
        return [z[k].astype(np.float32) for k in z.files]


def painted(buffer: Buffer, mix: Array) -> Tensor:
    """A picture (3, HEIGHT, WIDTH) by code; stands in for the drawing network."""
    return paint(planes(buffer), mix)
