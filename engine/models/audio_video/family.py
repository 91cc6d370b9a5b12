"""MiniMax-H3 and LTX-2.3: picture and sound together."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from engine.models import hub
from engine.models.catalogue import Entry
from engine.models.family import Family, Frontend
from engine.models.fit import Fit, Wish
from engine.models.interface import Model, ModelSpec, Progress
from engine.models.load_options import LoadOptions


class AudioVideoFamily(Family):
    """See `engine.models.audio_video.load`."""

    options = frozenset(
        {"device", "dtype", "text", "offload", "memory", "lora", "image", "clip", "threads", "gpus", "cluster", "split"}
    )

    def __init__(self, kind: Literal["minimax_h3", "ltx2"]) -> None:
        self._kind = kind

    def load(self, entry: Entry, spec: ModelSpec, options: LoadOptions, progress: Progress) -> Model:
        progress("importing torch and diffusers", 0.01)
        from engine.models.audio_video.load import load

        return load(self._kind, entry, spec, options, progress)

    def fit(self, entry: Entry, spec: ModelSpec, options: LoadOptions, wish: Wish, free: float, kind: str) -> Fit:
        from engine.models.audio_video.fit import fit

        return fit(entry, spec, options, wish, free, kind)

    def heads(self, entry: Entry, options: LoadOptions) -> int:
        from engine.models.audio_video.load import heads

        return heads(entry)

    def load_frontend(
        self, entry: Entry, spec: ModelSpec, options: LoadOptions, device: str, progress: Progress
    ) -> Frontend:
        import torch

        from engine.models.audio_video.load import load_parts
        from engine.models.audio_video.transport import AudioVideoTransport
        from engine.models.boundary_frames import BoundaryFrames

        frames = BoundaryFrames()
        parts = load_parts(self._kind, entry, spec, options, torch.device(device), progress, transformer=False)
        transport = AudioVideoTransport(parts.conditions, torch.device(device))
        return Frontend(parts.conditions.prepare, True, transport, parts.decoder(frames), parts.identity, frames)

    def write_tiny(self, entry: Entry, folder: Path) -> dict[str, Any]:
        from engine.models.audio_video import tiny

        return (tiny.write_h3 if self._kind == "minimax_h3" else tiny.write_ltx)(folder)


class Ltx2Family(AudioVideoFamily):
    """LTX-2.3: its VAE can work in tiles, and its vocoder says at which rate it makes sound."""

    options = AudioVideoFamily.options | {"tiled"}

    def spec(self, entry: Entry, size: tuple[int, int] | None = None) -> ModelSpec:
        folder = entry.where
        if folder is None and hub.here(entry):
            folder = hub.locate(entry)
        spec = entry.spec(size)
        try:
            said = json.loads(((folder or Path()) / "vocoder" / "config.json").read_text("utf-8"))
            return replace(spec, sound_rate=int(said["output_sampling_rate"]))
        except (OSError, ValueError, KeyError, TypeError):
            return spec  # not here, or damaged: loading it says so


MINIMAX_H3 = AudioVideoFamily("minimax_h3")
LTX2 = Ltx2Family("ltx2")
