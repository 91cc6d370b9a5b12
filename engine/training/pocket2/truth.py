"""Walks over true grounds, by the same camera, commands and decoder: what sampled walks are judged against."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from engine.models.interface import Request
from engine.models.pocket2.cells import LANDS
from engine.models.pocket2.model import PocketSampler
from engine.training.pocket2.land import SIDE, Noise, ground

Array = NDArray[np.float32]


class TrueSampler(PocketSampler):
    """Reveals a true ground instead of sampling one; the request's seed is the world's."""

    def __init__(self) -> None:
        super().__init__(lambda *_: None)  # type: ignore[arg-type, return-value]
        self._worlds: dict[tuple[int, int], Array] = {}

    def _made(
        self,
        values: Array,
        known: NDArray[np.bool_],
        land: int,
        i: int,
        j: int,
        request: Request,
        count: int,
        steps: Callable[[int], None],
    ) -> Array:
        if (request.seed, land) not in self._worlds:
            self._worlds = {(request.seed, land): ground(LANDS[land], request.seed, Noise.make(request.seed))}
        world = self._worlds[request.seed, land]
        rows, cols = (np.arange(known.shape[0]) + j) % SIDE, (np.arange(known.shape[1]) + i) % SIDE
        new = world[:, rows][:, :, cols].copy()
        new[:, known] = values[:, known]
        for n in range(count):
            steps(n + 1)
        return new
