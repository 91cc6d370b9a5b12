"""Whether a model can run on this machine, in a word or two for the start screen."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from app.language import tr
from engine.models import hub
from engine.models.catalogue import Entry, load_catalogue


@dataclass(frozen=True)
class ModelStatus:
    """A model of the catalogue, as this machine sees it."""

    name: str
    title: str
    about: str
    kind: str
    """good: it can be opened now; plain: after a download; warning: not on this machine."""
    words: str

    @property
    def ready(self) -> bool:
        """Whether it can be opened now."""
        return self.kind == "good"


def status_of(entry: Entry, gpu_gb: float) -> ModelStatus:
    """gpu_gb: memory of the largest GPU, 0 without one."""
    size = tr("{width} x {height}, {fps:g} frames a second", width=entry.size[0], height=entry.size[1], fps=entry.fps)
    if entry.ships:
        return ModelStatus(entry.name, entry.title, size, "good", tr("ready, needs no GPU"))
    if gpu_gb < entry.memory_gb:
        return ModelStatus(entry.name, entry.title, size, "warning", tr("needs a GPU with {n:g} GB", n=entry.memory_gb))
    if hub.here(entry):
        return ModelStatus(entry.name, entry.title, size, "good", tr("ready"))
    gb = sum(p.about_gb for p in hub.parts(entry))
    return ModelStatus(entry.name, entry.title, size, "plain", tr("fits; download {n:.0f} GB", n=gb))


def model_statuses() -> list[ModelStatus]:
    """Of the whole catalogue: what can be opened first, and within that in the catalogue's order."""
    gpu = gpu_memory_gb()
    order = {"good": 0, "plain": 1, "warning": 2}
    return sorted((status_of(e, gpu) for e in load_catalogue().values()), key=lambda s: order[s.kind])


def gpu_memory_gb() -> float:
    """Of the largest GPU, 0 without one. torch is loaded by the engine anyway; before that, no GPU is known of."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "cuda") or not torch.cuda.is_available():
        return 0.0
    return (
        float(max(torch.cuda.get_device_properties(i).total_memory for i in range(torch.cuda.device_count()))) / 2**30
    )
