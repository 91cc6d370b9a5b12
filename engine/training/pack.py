"""Puts trained parts together as the weights that ship: network, codec, reader, start images, card.

    python -m engine.training.pack runs assets/pocket [--scores report.json]

The folder holds net.pt, codec.pt, depth.pt and, where they were trained, refiner.pt and reader.pt; a missing reader is trained.
"""

from __future__ import annotations

import argparse
import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from engine.models.pocket.codec import Codec
from engine.models.pocket.network import NetworkConfig, PocketNet
from engine.models.pocket.prompt_reader import Reader
from engine.models.pocket.sampler import PocketWeights
from engine.training import world
from engine.training.prompt_reader import train_reader
from engine.training.train import codec_of, depth_of

log = logging.getLogger(__name__)
START_SEED = 3_000_000
VARIANTS = 6


def start_images(codec: Codec, variants: int = VARIANTS) -> Tensor:
    """(variants, biomes, times, weathers, CHANNELS, 10, 16): encoded views of rendered worlds."""
    out = []
    for v in range(variants):
        for b, biome in enumerate(world.BIOMES):
            ground = world.Ground.make(START_SEED + 100 * v + b)
            for time in world.TIMES:
                for weather in world.WEATHERS:
                    walker = world.Walker(np.random.default_rng([v, b, 3]), ground.scene(biome, "noon", "clear"))
                    walker.pitch = 0.0
                    out.append(codec.still(walker.see(ground.scene(biome, time, weather))))
    z = torch.stack(out)
    return z.reshape(variants, len(world.BIOMES), len(world.TIMES), len(world.WEATHERS), *z.shape[1:])


def pack(folder: Path, out: Path, facts: dict[str, Any]) -> PocketWeights:
    """Writes `out`; facts go into the card."""
    codec, depth = codec_of(folder), depth_of(folder)
    if not (folder / "reader.pt").exists():
        trained, accuracy = train_reader()
        log.info("reader on held-out wordings: %s", accuracy)
        torch.save(trained.state_dict(), folder / "reader.pt")
    reader = Reader()
    reader.load_state_dict(torch.load(folder / "reader.pt", weights_only=True))
    config = NetworkConfig()
    net = PocketNet(config)
    net.load_state_dict(torch.load(folder / "net.pt", weights_only=True))
    parameters = {"network": net, "codec refiner": codec.refiner, "distances": depth, "prompt reader": reader}
    card = {
        "name": "pocket",
        "network": config.as_dict(),
        "parameters": {k: sum(p.numel() for p in m.parameters()) for k, m in parameters.items()},
        **facts,
    }
    weights = PocketWeights(net, codec, reader, depth, start_images(codec), card)
    weights.save(out)
    return weights


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder", type=Path)
    p.add_argument("out", type=Path)
    p.add_argument("--facts", type=Path, help="JSON of facts for the card: data, steps, time")
    p.add_argument("--scores", type=Path, help="JSON of engine.training.evaluate for the card")
    a = p.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    facts: dict[str, Any] = json.loads(a.facts.read_text()) if a.facts else {}
    if a.scores:
        facts["scores"] = json.loads(a.scores.read_text())
    pack(a.folder, a.out, facts)


if __name__ == "__main__":
    main()
