"""Makes the pictures of the worlds that ship, from the weights that ship: `python packaging/thumbnails.py [WORLD ...]`.

For each a PNG, the frame that the world shows when it has just begun, and a WebP: a short walk there and back, without end.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from app.storage.worlds import World, worlds
from engine.control.conditions import Condition
from engine.loading import loader
from engine.models.interface import Model, Request
from engine.playback.player import Frame

SECONDS = 1.75
"""Of a loop, one way."""
RATE = 10
"""Frames a second of a loop: a picture of this size need not be as smooth as the world."""
QUALITY = 55


def beginning(world: World, model: Model, keys: Sequence[str] = (), seconds: float = 0.0) -> list[Frame]:
    """The first frame of a world, or its first seconds with keys held, each (height, width, 3) uint8 RGB."""
    spec, sampler = model.spec, model.sampler
    sampler.reset()
    model.decoder.reset()
    prepared = sampler.prepare(Condition(0, world.prompt, tuple(keys)))
    request = Request(0, spec.window, spec.steps, world.seed, 0, prepared, spec.history[0])
    frames: list[Frame] = []
    for group in sampler.sample(request, lambda step, steps: True):
        frames += model.decoder.decode(group)
        if len(frames) >= max(1, seconds * spec.fps):
            break
    return frames


def first_frame(world: World, model: Model) -> Frame:
    """What a world shows when it has just begun."""
    return beginning(world, model)[0]


def save_loop(frames: Sequence[Frame], fps: float, file: Path) -> None:
    """There and back again, so that its end is its beginning."""
    count = round(len(frames) / fps * RATE)
    way = [Image.fromarray(frames[round(i * (len(frames) - 1) / (count - 1))]) for i in range(count)]
    first, *rest = [*way, *reversed(way[1:-1])]
    first.save(
        file,
        save_all=True,
        append_images=rest,
        duration=round(1000 / RATE),
        loop=0,
        quality=QUALITY,
        method=2,
    )


def main(names: Sequence[str]) -> None:
    """names: of the worlds' files, without ending; none for all."""
    models: dict[str, Model] = {}
    for world in worlds(None):
        assert world.file is not None
        if names and world.file.stem not in names:
            continue
        if world.model not in models:
            models[world.model] = loader(world.model)(lambda stage, share: None)
        model = models[world.model]
        picture, loop = world.file.with_suffix(".png"), world.file.with_suffix(".webp")
        Image.fromarray(first_frame(world, model)).save(picture, optimize=True)
        save_loop(beginning(world, model, ("forward",), SECONDS), model.spec.fps, loop)
        print(f"{picture.name}: {picture.stat().st_size >> 10} KB, {loop.name}: {loop.stat().st_size >> 10} KB")


if __name__ == "__main__":
    main(sys.argv[1:])
