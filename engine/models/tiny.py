"""Small random checkpoints in the published layouts: every path can be tried and tested without a download.

What they show is noise; what they prove is that reading, sampling and decoding work.
"""

from __future__ import annotations

import json
from pathlib import Path

from engine.models.catalogue import MARK, load_catalogue
from engine.models.family import WritesTiny
from engine.models.registry import family


class TinyError(ValueError):
    """The checkpoint cannot be written. The message says why."""


def write_tiny(name: str, folder: Path, seed: int = 0) -> Path:
    """Writes the checkpoint of a catalogue's name into an empty or new folder. Raises TinyError."""
    known = load_catalogue()
    if name not in known:
        raise TinyError(f"unknown model {name!r}; known: {', '.join(known)}")
    writer = family(known[name].family)
    if not isinstance(writer, WritesTiny):
        raise TinyError(f"there is no small checkpoint of {name}")
    if folder.exists() and any(folder.iterdir()):
        raise TinyError(f"{folder} is not empty: nothing was written; name a new folder")
    folder.mkdir(parents=True, exist_ok=True)
    import torch
    from transformers.utils import logging

    logging.disable_progress_bar()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        about = writer.write_tiny(known[name], folder)
    (folder / MARK).write_text(json.dumps({"model": name} | about, indent=2) + "\n")
    return folder
