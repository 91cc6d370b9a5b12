"""From nothing to weights in one command, resumable: python -m engine.training.pocket2.recipe [--work FOLDER] [--out
FOLDER] ...

Stages: the ground sampler (flow matching on true grounds, then on its own borders), textures of things, the drawer,
the reader, packing. Each stage that has finished in the work folder is not done again. `foreland
evaluate --looks --card` judges the result.
"""

from __future__ import annotations

import argparse
import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch

# of the project, outside of this family
from engine.models.pocket.prompt_reader import Reader
from engine.models.pocket2.cells import LANDS, TIMES, WEATHERS
from engine.models.pocket2.drawing import Drawer, LayerDrawer, Textures
from engine.models.pocket2.ground import Ground
from engine.models.pocket2.load import Weights, shipped
from engine.models.pocket2.network import GroundNet
from engine.models.pocket2.render import Renderer
from engine.models.pocket2.start import COLOURS, colours
from engine.training.pocket2.draw import place, train_drawer, train_textures
from engine.training.pocket2.land import SIDE, ground
from engine.training.pocket2.train import train
from engine.training.prompt_reader import train_reader

PALETTE_SEED = 500_000
ABOUT = (
    "A diffusion world model of the ground: a call samples, by few-step flow matching, the orthographic RGB-D latents of "
    "the ground that its K groups reveal, jointly and conditioned on what is known. They are projected to a G-buffer of "
    "256x160, which a small network draws (deferred neural rendering, with learned textures of things). Trained by this "
    "project on grounds and pictures that this project makes. Geometry (projection, visibility, walking), the words that "
    "are read first, mirrored water and sound are code."
)


def pack(work: Path, out: Path, facts: dict[str, Any]) -> Weights:
    """Weights from the checkpoints of a work folder."""
    net, drawer, textures, reader = GroundNet(), Drawer(), Textures(), Reader()
    net.load_state_dict(torch.load(work / "ground" / "ema.pt", weights_only=True))
    drawer.load_state_dict(torch.load(work / "drawing" / "drawer.pt", weights_only=True)["ema"])
    textures.load_state_dict(torch.load(work / "drawing" / "textures.pt", weights_only=True))
    reader.load_state_dict(torch.load(work / "reader.pt", weights_only=True))
    parts = {"ground sampler": net, "drawer": drawer, "textures": textures, "prompt reader": reader}
    card = {
        "name": "pocket",
        "make": 2,
        "about": ABOUT,
        "network": net.config.as_dict(),
        "parameters": {k: sum(p.numel() for p in m.parameters()) for k, m in parts.items()},
        "training": facts,
        "licence": "as the project",
    }
    weights = Weights(net, drawer, textures, reader, card)
    weights.palettes = palettes(weights)
    weights.save(out)
    return weights


def palettes(weights: Weights, looks: int = 3) -> torch.Tensor:
    """(lands, times, weathers, looks, COLOURS) of pictures from places in true grounds; see `start.likeness`."""
    renderer = Renderer(weights.textures.atlas(), LayerDrawer(weights.drawer))
    out = torch.zeros(len(LANDS), len(TIMES), len(WEATHERS), looks, COLOURS)
    for land, name in enumerate(LANDS):
        rng = np.random.default_rng([PALETTE_SEED, land])
        cells = ground(name, PALETTE_SEED + land)
        whole = Ground().written(0, 0, cells, np.ones((SIDE, SIDE), bool), (1024.0, 1024.0))
        poses = [place(rng, whole, land) for _ in range(looks)]
        for time, weather, look in product(range(len(TIMES)), range(len(WEATHERS)), range(looks)):
            mix = np.zeros(15, np.float32)
            mix[[land, 8 + time, 12 + weather]] = 1
            pose = poses[look] * np.array([1, 1, 1, 1, 0], np.float32)
            frame = renderer.frames(whole, land, pose, np.stack((mix, mix)), PALETTE_SEED + 10 * land + look)[0]
            out[land, time, weather, look] = torch.from_numpy(colours(frame))
    return out


def main() -> None:
    """The command."""
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--work", type=Path, default=Path("runs/pocket2"))
    p.add_argument("--out", type=Path, default=shipped())
    p.add_argument("--ground", type=float, default=75, help="minutes of the ground sampler")
    p.add_argument("--textures", type=float, default=4, help="minutes of the textures")
    p.add_argument("--drawer", type=float, default=18, help="minutes of the drawer")
    a = p.parse_args()
    torch.set_num_threads(1)
    a.work.mkdir(parents=True, exist_ok=True)
    facts: dict[str, Any] = {}
    file = a.work / "facts.json"
    if file.exists():
        facts = json.loads(file.read_text())
    (a.work / "drawing").mkdir(exist_ok=True)
    stages = {
        "ground": lambda: train(a.work / "ground", a.ground),
        "textures": lambda: train_textures(a.work / "drawing", a.textures),
        "drawer": lambda: train_drawer(a.work / "drawing", a.drawer),
        "reader": lambda: _reader(a.work / "reader.pt"),
    }
    for name, stage in stages.items():
        if name not in facts:
            facts[name] = stage()
            file.write_text(json.dumps(facts, indent=2))
    pack(a.work, a.out, facts)


def _reader(file: Path) -> dict[str, float]:
    reader, accuracy = train_reader()
    torch.save(reader.state_dict(), file)
    return accuracy


if __name__ == "__main__":
    main()
