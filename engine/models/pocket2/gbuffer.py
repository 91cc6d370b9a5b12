"""G-buffers: what is seen at each pixel, before anything is drawn.

A picture's buffer is kept as layers, one for each sort of thing that is seen, with only the features that this sort
has: most of a pixel's features are those of other sorts. `planes` puts them together, zero where a feature is none of
a pixel's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor
from torch.nn.functional import max_pool2d

from engine.models.pocket2.camera import HEIGHT, WIDTH
from engine.models.pocket2.fields import RANGE
from engine.models.pocket2.sky import SKY_FEATURES

# channels of a G-buffer
ON_LAND, ON_CARD, ON_BOX, WET, ROOF = range(5)
BASE = slice(5, 8)
"""Ground: its colour. Card: the colour of its texture. Box: two random numbers and the tone, of its own."""
FACE = 8
"""How much it faces the sun: ground 0 to 1.6, else -1 to 1."""
DARK, SHINE = 9, 10
"""Shadow of things; ground: light of lamps, card: what glows, box: whether its window is lit."""
FINE_TEXTURE, MID_TEXTURE, WIDE_TEXTURE = slice(11, 15), slice(15, 19), 19
"""Noise that is anchored to the world, fading with its distance."""
TRACK, DEPTH_, DISTANCE, SLAB = 20, 21, 22, 23
"""Path field; height above the water (-4 to 4 world units); distance in world units; lines between paving slabs."""
SORT = slice(24, 29)
"""Of a box."""
WALL = slice(29, 34)
"""Of a box: place within a window's cell (2), height above the foot, distance from the wall's middle (world units),
how well windows are seen.
"""
SKY = slice(34, 34 + SKY_FEATURES)
OWN = 43
"""A random number of a card's own."""
FEATURES = 44
LAND, CARD, BOX, AIR = range(4)
"""Sorts of what is seen. Nothing but `DISTANCE` and `SKY` is known of the air."""
FLAG: dict[int, int | None] = {LAND: ON_LAND, CARD: ON_CARD, BOX: ON_BOX, AIR: None}
"""The channel that is 1 where a sort is seen."""


def _range(s: slice) -> tuple[int, ...]:
    return tuple(range(s.start, s.stop))


INPUTS: dict[int, tuple[int, ...]] = {
    LAND: (
        WET,
        *_range(BASE),
        FACE,
        DARK,
        SHINE,
        *_range(FINE_TEXTURE),
        *_range(MID_TEXTURE),
        WIDE_TEXTURE,
        TRACK,
        DEPTH_,
        DISTANCE,
        SLAB,
    ),
    CARD: (*_range(BASE), FACE, SHINE, DISTANCE, OWN),
    BOX: (ROOF, *_range(BASE), FACE, SHINE, DISTANCE, *_range(SORT), *_range(WALL)),
    AIR: (DISTANCE, *_range(SKY)),
}
"""Channels that a sort has beside its flag, in the order of a layer's rows."""
ROW = {sort: {channel: row for row, channel in enumerate(channels)} for sort, channels in INPUTS.items()}
"""Rows of channels in a layer of a sort."""


class Layer(ABC):
    """Pixels of one sort. at: (k,), pixels of the picture, row by row."""

    def __init__(self, sort: int, at: Tensor) -> None:
        self.sort, self.at = sort, at

    @property
    @abstractmethod
    def values(self) -> Tensor:
        """(len(INPUTS[sort]), k)."""

    def row(self, channel: int) -> Tensor:
        """(k,) of one channel."""
        return self.values[ROW[self.sort][channel]]


class Solid(Layer):
    """Pixels whose values are known one by one."""

    def __init__(self, sort: int, at: Tensor, values: Tensor) -> None:
        super().__init__(sort, at)
        self._values = values

    @property
    def values(self) -> Tensor:
        return self._values


class Air(Layer):
    """Pixels of the sky, between two columns of a strip of it that several pictures share."""

    def __init__(self, at: Tensor, strip: Tensor, row: Tensor, column: Tensor, share: float) -> None:
        """strip: (SKY_FEATURES, rows, columns); row, column: (k,) of what lies left of each pixel; share: of what lies
        right of it.
        """
        super().__init__(AIR, at)
        self.strip, self.share = strip, share
        self._place = row * strip.shape[2] + column

    def between(self, of: Tensor) -> Tensor:
        """(k, c) of values (rows * columns, c) of the strip's places."""
        return torch.lerp(of.index_select(0, self._place), of.index_select(0, self._place + 1), self.share)

    @property
    def values(self) -> Tensor:
        """(len(INPUTS[AIR]), k)."""
        sky = self.between(self.strip.reshape(len(self.strip), -1).T).T
        return torch.cat((torch.full((1, len(self.at)), RANGE), sky))


Buffer = list[Layer]
"""The layers of a picture. Each pixel is in one of them."""


def resting(buffer: Buffer) -> Tensor:
    """(HEIGHT, WIDTH), where a picture is the same at any time: not on water or in the sky, nor two pixels beside them."""
    moves = plane(buffer, WET)
    for layer in buffer:
        if layer.sort == AIR:
            moves.view(-1)[layer.at] = 1
    return max_pool2d(moves[None, None], 5, 1, 2)[0, 0] == 0


def planes(buffer: Buffer) -> Tensor:
    """(FEATURES, HEIGHT, WIDTH)."""
    out = torch.zeros(FEATURES, HEIGHT * WIDTH)
    for layer in buffer:
        flag = FLAG[layer.sort]
        if flag is not None:
            out[flag, layer.at] = 1
        for channel, values in zip(INPUTS[layer.sort], layer.values, strict=True):
            out[channel, layer.at] = values
    return out.view(FEATURES, HEIGHT, WIDTH)


def plane(buffer: Buffer, channel: int) -> Tensor:
    """One of `planes`, (HEIGHT, WIDTH)."""
    out = torch.zeros(HEIGHT * WIDTH)
    for layer in buffer:
        if channel == FLAG[layer.sort]:
            out[layer.at] = 1
        elif channel in ROW[layer.sort]:
            out[layer.at] = layer.row(channel)
    return out.view(HEIGHT, WIDTH)
