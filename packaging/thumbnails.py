"""Makes the thumbnails of the worlds that ship, from the weights that ship: `python packaging/thumbnails.py`.

Each is the frame that the world shows when it has just begun.
"""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from app.storage.worlds import World, worlds
from engine.control.conditions import Condition
from engine.loading import loader
from engine.models.interface import Model, Request
from engine.playback.player import Frame


def first_frame(world: World, model: Model) -> Frame:
    """The first frame of a world, (height, width, 3) uint8 RGB."""
    spec, sampler = model.spec, model.sampler
    sampler.reset()
    model.decoder.reset()
    prepared = sampler.prepare(Condition(0, world.prompt))
    request = Request(0, spec.window, spec.steps, world.seed, 0, prepared, spec.history[0])
    return model.decoder.decode(sampler.sample(request, lambda step, steps: True)[0])[0]


def main() -> None:
    models: dict[str, Model] = {}
    for world in worlds(None):
        assert world.file is not None
        if world.model not in models:
            models[world.model] = loader(world.model)(lambda stage, share: None)
        file = Path(world.file).with_suffix(".png")
        Image.fromarray(first_frame(world, models[world.model])).save(file, optimize=True)
        print(file)


if __name__ == "__main__":
    main()
