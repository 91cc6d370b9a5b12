"""From nothing to weights in one command, resumable: python -m engine.training.pocket2.recipe [--work FOLDER] [--out
FOLDER] ...

Stages: the ground sampler (flow matching on true grounds, then on its own borders), textures of things, the drawer,
the reader, packing. Each stage that has finished in the work folder is not done again. `foreland
evaluate --looks --card` judges the result.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import torch

# of the project, outside of this family
from engine.models.pocket.prompt_reader import Reader
from engine.models.pocket2.drawing import Drawer, Textures
from engine.models.pocket2.load import Weights, shipped
from engine.models.pocket2.network import GroundNet
from engine.training.prompt_reader import train_reader

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
    weights.save(out)
    return weights


def main() -> None:
    """The command."""
    from engine.training.pocket2.draw import train_drawer, train_textures
    from engine.training.pocket2.train import train

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
