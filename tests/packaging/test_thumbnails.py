"""The worlds of the start screen are the places that their thumbnails show."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from PIL import Image

from app.storage.worlds import worlds
from engine.loading import loader

sys.path.insert(0, str(Path(__file__).parents[2] / "packaging"))

from thumbnails import first_frame


def test_a_world_begins_as_its_thumbnail_shows() -> None:
    shipped = {w.name: w for w in worlds(None)}
    model = loader("pocket2")(lambda stage, share: None)
    for name in ("Snowy firs", "Night town"):
        thumbnail = shipped[name].thumbnail
        assert thumbnail is not None
        shown = np.asarray(Image.open(thumbnail).convert("RGB"), np.float32)
        made = first_frame(shipped[name], model).astype(np.float32)
        assert made.shape == shown.shape
        assert 10 * np.log10(255**2 / max(1e-3, float(((made - shown) ** 2).mean()))) > 30, name
