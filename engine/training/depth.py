"""Trains the network that estimates how far away what a frame shows is, on rendered frames.

python -m engine.training.depth runs/depth.pt --minutes 8
"""

from __future__ import annotations

import argparse
import logging
import math
import multiprocessing
import time
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from engine.models.pocket.depth import FARTHEST, NEAREST, SKY, DepthNet
from engine.training import world
from engine.training.data import random_condition, scene_of
from engine.training.train import worn

log = logging.getLogger(__name__)

SEED = 6_500_000


def _samples(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Some frames of one world with their distances and pitches."""
    rng = np.random.default_rng([11, seed])
    ground = world.Ground.make(seed)
    frames, far, pitch = [], [], []
    for _ in range(2):
        scene = scene_of(ground, random_condition(rng))
        for _ in range(6):
            walker = world.Walker(rng, scene)
            walker.pitch = float(rng.uniform(-16, 16)) if rng.random() < 0.4 else walker.pitch
            frames.append(walker.see(scene))
            far.append(walker.distance())
            pitch.append(walker.pitch)
    return np.stack(frames), np.stack(far), np.array(pitch, np.float32)


def train(
    minutes: float,
    worlds: int,
    threads: int,
    seed: int = 0,
    batch: int = 16,
    resume: Path | None = None,
    device: str = "cpu",
) -> tuple[DepthNet, float]:
    """Returns the network and its mean error on held-out worlds, as a factor."""
    with multiprocessing.get_context("spawn").Pool(threads) as pool:
        parts = pool.map(_samples, range(SEED, SEED + worlds), chunksize=4)
    frames, far, pitch = (np.concatenate(x) for x in zip(*parts, strict=True))
    target = np.log(np.clip(far, NEAREST, FARTHEST)).astype(np.float16)
    log.info("%d frames", len(frames))
    torch.manual_seed(seed)
    net = DepthNet().to(device)
    if resume is not None:
        net.load_state_dict(torch.load(resume, weights_only=True))
    opt = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=0.01)
    held = 200
    began, step = time.monotonic(), 0

    def take(i: np.ndarray) -> tuple[Tensor, Tensor, Tensor]:
        x = torch.from_numpy(frames[i]).to(device).float().div(127.5).sub(1)
        return x, torch.from_numpy(pitch[i]).to(device), torch.from_numpy(target[i]).to(device).float()

    while (share := (time.monotonic() - began) / (60 * minutes)) < 1:
        x, p, y = take(np.random.default_rng([seed, step]).integers(held, len(frames), batch))
        if step % 2:
            x, y = x.flip(2), y.flip(2)
        with torch.autocast(x.device.type, torch.bfloat16):
            out = net.estimate(worn(x), p).float()
        edges = ((out.diff(dim=2) - y.diff(dim=2)).abs().mean() + (out.diff(dim=1) - y.diff(dim=1)).abs().mean()) * 0.5
        loss = (out - y).abs().mean() + edges
        for group in opt.param_groups:
            group["lr"] = 2e-3 * min(1.0, (1 - share) / 0.6 + 0.01)
        opt.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        step += 1
        if step % 200 == 0:
            log.info("step %d, %.1f min, loss %.4f", step, share * minutes, loss.item())
    net.eval()
    with torch.no_grad():
        x, p, y = take(np.arange(held))
        error = float((net(x, p) - y)[y < math.log(SKY)].abs().mean())
    return net.cpu(), math.exp(error)


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("out", type=Path)
    p.add_argument("--minutes", type=float, default=8)
    p.add_argument("--worlds", type=int, default=800)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--resume", type=Path)
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    a = p.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    torch.set_num_threads(a.threads)
    net, error = train(a.minutes, a.worlds, a.threads, resume=a.resume, device=a.device)
    log.info("distances on held-out worlds are off by a factor of %.3f", error)
    torch.save(net.state_dict(), a.out)


if __name__ == "__main__":
    main()
