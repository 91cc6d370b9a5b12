"""Trains the codec's refiner: block borders and the network's noise out, detail back.

    python -m engine.pocket.refine runs/codec.pt runs/refiner.pt --minutes 10

The latents it sees are true ones with the kind of error that sampled ones have: noise of a random strength.
"""

from __future__ import annotations

import argparse
import logging
import multiprocessing
import time
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from engine.pocket.camera import FRAMES_PER_GROUP, HEIGHT, WIDTH
from engine.pocket.codec import Codec
from engine.pocket.data import clip, load_transform

log = logging.getLogger(__name__)
SEED = 6_000_000
GROUPS = 6
"""Of a clip."""


def _frames(seed: int) -> np.ndarray:
    return clip(seed, GROUPS).frames.reshape(GROUPS, FRAMES_PER_GROUP, HEIGHT, WIDTH, 3)


def worn(z: Tensor, scale: Tensor) -> Tensor:
    """Latents with noise of up to 0.3 standard deviations and, at times, without their weakest components."""
    n = len(z)
    noise = torch.randn_like(z) * (0.3 * torch.rand(n, 1, 1, 1)) * scale[:, None, None]
    keep = torch.where(torch.rand(n, 1) < 0.4, torch.randint(6, z.shape[1], (n, 1)), z.shape[1])
    weak = torch.arange(z.shape[1])[None] >= keep
    return (z + noise) * (1 - 0.8 * weak.float())[..., None, None]


def train(codec: Codec, frames: np.ndarray, minutes: float, batch: int = 12, seed: int = 0) -> float:
    """Trains codec.refiner in place; returns the gain in dB on held-out groups, without noise."""
    torch.manual_seed(seed)
    held, frames = frames[:48], frames[48:]
    opt = torch.optim.AdamW(codec.refiner.parameters(), lr=2e-3, weight_decay=1e-3)
    began, step = time.monotonic(), 0
    while (share := (time.monotonic() - began) / 60 / minutes) < 1:
        x = torch.from_numpy(frames[np.random.default_rng([seed, step]).integers(0, len(frames), batch)]).float() / 127.5 - 1
        with torch.no_grad():
            rough = codec.expand(worn(codec.encode(x), codec.scale))
        for group in opt.param_groups:
            group["lr"] = 2e-3 * min(1, (step + 1) / 50) * (1 - share)
        error = codec.refiner(rough) - x
        loss = (error.square() + 1e-4).sqrt().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        step += 1
        if step % 50 == 0:
            log.info("step %d, %.1f min, loss %.4f", step, share * minutes, loss.item())
    with torch.no_grad():
        x = torch.from_numpy(held).float() / 127.5 - 1
        rough = codec.expand(codec.encode(x))
        before, after = (rough - x).square().mean(), (codec.refiner(rough) - x).square().mean()
    return float(10 * torch.log10(before / after))


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("codec", type=Path)
    p.add_argument("out", type=Path)
    p.add_argument("--minutes", type=float, default=10)
    p.add_argument("--clips", type=int, default=700)
    p.add_argument("--threads", type=int, default=2)
    a = p.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    torch.set_num_threads(a.threads)
    with multiprocessing.get_context("spawn").Pool(a.threads) as pool:
        frames = np.concatenate(pool.map(_frames, range(SEED, SEED + a.clips), chunksize=4))
    codec = load_transform(a.codec)
    gain = train(codec, frames, a.minutes)
    log.info("gain %.2f dB on held-out groups", gain)
    torch.save(codec.refiner.state_dict(), a.out)


if __name__ == "__main__":
    main()
