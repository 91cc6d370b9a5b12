"""Wan and what was made of it: Wan2.1, Wan2.2, Self-Forcing, Causal-Forcing, LongLive, minWM, ABot-World, LingBot-World,
AnyFlow-FAR, CausalWan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.models.catalogue import Entry
from engine.models.family import Family, Frontend
from engine.models.fit import Fit, Wish
from engine.models.interface import Model, ModelSpec, Progress
from engine.models.load_options import LoadOptions


class WanFamily(Family):
    """See `engine.models.wan.load`."""

    options = frozenset(
        {
            "device",
            "dtype",
            "text",
            "offload",
            "tiled",
            "decoder",
            "history_latents",
            "memory",
            "lora",
            "image",
            "clip",
            "base",
            "threads",
            "gpus",
            "cluster",
            "split",
        }
    )

    def load(self, entry: Entry, spec: ModelSpec, options: LoadOptions, progress: Progress) -> Model:
        progress("importing torch and diffusers", 0.01)
        from engine.models.wan.load import load

        return load(entry, spec, options, progress)

    def fit(self, entry: Entry, spec: ModelSpec, options: LoadOptions, wish: Wish, free: float, kind: str) -> Fit:
        from engine.models.wan import fit
        from engine.models.wan.sampling_config import SamplingConfig

        if entry.scale:  # a small checkpoint says how small
            from engine.models.wan.load import located, transformer_parts

            networks = [fit.network_of(t.config) for t in transformer_parts(entry, located(entry))]
        else:
            networks = fit.published(entry)
        return fit.fit(spec, SamplingConfig(**entry.recipe), networks, options, wish, free, kind)

    def heads(self, entry: Entry, options: LoadOptions) -> int:
        from engine.models.wan.load import heads

        return heads(entry)

    def load_frontend(
        self, entry: Entry, spec: ModelSpec, options: LoadOptions, device: str, progress: Progress
    ) -> Frontend:
        import torch

        from engine.models.boundary_frames import BoundaryFrames
        from engine.models.wan.load import load_parts
        from engine.models.wan.transport import WanTransport

        parts = load_parts(entry, spec, options, torch.device(device), progress)
        frames = BoundaryFrames()
        return Frontend(
            parts.conditions.prepare,
            True,
            WanTransport(parts.conditions, torch.device(device)),
            parts.session_decoder(frames),
            parts.identity,
            frames,
            parts.config.keyframes,
        )

    def write_tiny(self, entry: Entry, folder: Path) -> dict[str, Any]:
        from engine.models.wan.tiny import write

        return write(entry, folder)


FAMILY = WanFamily()
