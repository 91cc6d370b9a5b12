"""The pocket world (pocket2), which a person sees first. It computes on the CPU."""

from __future__ import annotations

from engine.assets import FOLDER
from engine.models.catalogue import Entry
from engine.models.family import Family
from engine.models.interface import Model, ModelSpec, Progress
from engine.models.load_options import LoadOptions

WEIGHTS = FOLDER / "pocket2"
THREADS = 1
"""Torch threads: sampling and decoding have a thread each, and their operations are too small to be split: with two threads and another
program on two cores, a frame takes 640 ms instead of 42."""


class Pocket2Family(Family):
    """See `engine.models.pocket2.model`."""

    options = frozenset({"threads", "weights", "image", "clip"})

    def load(self, entry: Entry, spec: ModelSpec, options: LoadOptions, progress: Progress) -> Model:
        progress("importing torch", 0.05)
        import torch

        torch.set_num_threads(options.threads or THREADS)
        from engine.models.pocket2.load import load

        sampler, decoder, identity = load(spec, progress, options.weights or WEIGHTS)
        sampler.set_start(options.image or options.clip)
        return Model(sampler, decoder, identity)


FAMILY = Pocket2Family()
