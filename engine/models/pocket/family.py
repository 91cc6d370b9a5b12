"""The pocket world, which ships with Foreland."""

from __future__ import annotations

from pathlib import Path

from engine.assets import FOLDER
from engine.models.catalogue import Entry
from engine.models.family import Family, Frontend
from engine.models.interface import Model, ModelSpec, Progress
from engine.models.load_options import LoadOptions

WEIGHTS = FOLDER / "pocket"
HEADS = 3
"""Attention heads of the network."""


class PocketFamily(Family):
    """See `engine.models.pocket.sampler`. It computes on the CPU."""

    options = frozenset({"threads", "weights", "start_image", "image", "clip", "gpus", "cluster", "split"})

    def load(self, entry: Entry, spec: ModelSpec, options: LoadOptions, progress: Progress) -> Model:
        progress("importing torch", 0.05)
        import torch

        from engine.models.cores import default_threads

        torch.set_num_threads(options.threads or default_threads())
        progress("importing diffusers", 0.3)
        import diffusers.models.transformers.transformer_wan  # noqa: F401

        progress("reading the pocket weights", 0.7)
        from engine.models.pocket.sampler import PocketDecoder, PocketSampler, PocketWeights

        folder = options.weights or WEIGHTS
        weights = PocketWeights.load(folder)
        progress("preparing the pocket world", 0.9)
        sampler = PocketSampler(weights, options.start_image, spec)
        sampler.set_start(options.image or options.clip)
        return Model(sampler, PocketDecoder(weights), f"pocket-{_digest(folder / 'pocket.safetensors')}")

    def heads(self, entry: Entry, options: LoadOptions) -> int:
        return HEADS

    def load_frontend(
        self, entry: Entry, spec: ModelSpec, options: LoadOptions, device: str, progress: Progress
    ) -> Frontend:
        from engine.models.pocket.transport import PocketTransport

        model = self.load(entry, spec, options, progress)
        return Frontend(model.sampler.prepare, False, PocketTransport(), model.decoder, model.identity)


def _digest(file: Path) -> str:
    import hashlib

    return hashlib.sha256(file.read_bytes()).hexdigest()[:16]


FAMILY = PocketFamily()
