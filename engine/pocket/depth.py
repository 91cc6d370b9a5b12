"""How far away what a frame shows is: a small network, trained on rendered frames, that a walk needs to re-project a picture.

    python -m engine.pocket.depth runs/depth.pt --minutes 8

It reads one frame, rendered, sampled or a photograph, and is told where the horizon is. Distances are over the ground, in world
units, as logarithms.
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
from torch import Tensor, nn
from torch.nn.functional import avg_pool2d, interpolate, pixel_unshuffle

from engine.pocket.camera import FOCAL, HEIGHT, HORIZON, WIDTH

log = logging.getLogger(__name__)

NEAREST, FARTHEST = 1.5, 700.0
"""World units; the sky counts as FARTHEST."""
SKY = 450.0
"""From here on a place does not move when the camera walks."""
GUESS = 90.0
"""What the network corrects is flat ground no farther away than this: it has no step at the horizon."""
SEED = 6_500_000


def flat_ground(pitch: Tensor, eye: float = 17.0) -> Tensor:
    """Logarithms of distances over flat ground `eye` units below the camera: (n,) pitch in pixels to (n, 1, 80, 1)."""
    rows = torch.arange(HEIGHT, device=pitch.device) + 0.5
    below = rows[None] - (HORIZON + pitch[:, None])
    return (eye * FOCAL / below.clamp_min(1e-3)).clamp(NEAREST, FARTHEST).log()[:, None, :, None]


class Block(nn.Module):
    """Two convolutions around what goes past them."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(8, width)
        self.first, self.second = nn.Conv2d(width, width, 3, padding=1), nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.second(nn.functional.silu(self.first(self.norm(x))))


class DepthNet(nn.Module):
    """A small U over the picture, as a correction of flat ground."""

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        w = width
        self.stem = nn.Sequential(nn.Conv2d(3 * 4 + 2, w // 2, 3, padding=1), nn.SiLU())
        self.down = nn.ModuleList([nn.Conv2d(w // 2, w, 3, 2, 1), nn.Conv2d(w, 2 * w, 3, 2, 1)])
        self.middle, self.deep = Block(w), nn.Sequential(Block(2 * w), Block(2 * w))
        self.up = nn.ModuleList([nn.Conv2d(3 * w, w, 1), nn.Conv2d(w + w // 2, w // 2, 1)])
        self.after = nn.ModuleList([Block(w), nn.Sequential(nn.GroupNorm(8, w // 2), nn.Conv2d(w // 2, w // 2, 3, padding=1), nn.SiLU())])
        self.head = nn.Conv2d(w // 2, 4, 3, padding=1)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)  # type: ignore[arg-type]

    def forward(self, frame: Tensor, pitch: Tensor) -> Tensor:
        """frame: (n, 80, 128, 3) in [-1, 1]; pitch: (n,) pixels. Returns (n, 80, 128) logarithms of distances, whose edges are
        where the picture's are."""
        return snapped(self.estimate(frame, pitch), frame)

    def estimate(self, frame: Tensor, pitch: Tensor) -> Tensor:
        """The same, soft at edges."""
        x = pixel_unshuffle(frame.permute(0, 3, 1, 2), 2)
        ground = flat_ground(pitch).clamp_max(math.log(GUESS))
        rows = (torch.arange(HEIGHT // 2, device=frame.device) * 2 + 1 - HORIZON)[None, None, :, None] - pitch.view(-1, 1, 1, 1)
        half = avg_pool2d(ground, (2, 1))
        extra = torch.cat((rows / 40, half / 4 - 1), 1).expand(-1, -1, -1, WIDTH // 2)
        a = self.stem(torch.cat((x, extra), 1))
        b = self.middle(self.down[0](a))
        c = self.deep(self.down[1](b))
        b = self.after[0](self.up[0](torch.cat((interpolate(c, size=b.shape[-2:]), b), 1)))
        a = self.after[1](self.up[1](torch.cat((interpolate(b, size=a.shape[-2:]), a), 1)))
        out = nn.functional.pixel_shuffle(self.head(a).float(), 2) * 2 + ground
        return out[:, 0].clamp(math.log(NEAREST), math.log(FARTHEST))


def snapped(distance: Tensor, frame: Tensor, reach: int = 2, colour: float = 0.1, rounds: int = 3) -> Tensor:
    """A joint bilateral filter at half resolution: a place takes the distances of its neighbours that look like it.

    distance: (n, 80, 128); frame: (n, 80, 128, 3); reach: of the neighbourhood, in pairs of pixels; colour: the difference that counts.
    """
    x = avg_pool2d(frame.permute(0, 3, 1, 2), 2)
    d = avg_pool2d(distance[:, None], 2)[:, 0]
    h, w = d.shape[1:]
    around = [(i, j) for i in range(2 * reach + 1) for j in range(2 * reach + 1)]
    wide = nn.functional.pad(x, (reach,) * 4, mode="replicate")
    weights = torch.stack(
        [
            torch.exp(
                -(wide[:, :, i : i + h, j : j + w] - x).square().sum(1) / (2 * colour**2)
                - ((i - reach) ** 2 + (j - reach) ** 2) / (2 * reach**2)
            )
            for i, j in around
        ]
    )
    weights = weights / weights.sum(0)
    for _ in range(rounds):
        wide = nn.functional.pad(d[:, None], (reach,) * 4, mode="replicate")[:, 0]
        d = (weights * torch.stack([wide[:, i : i + h, j : j + w] for i, j in around])).sum(0)
    return d.repeat_interleave(2, 1).repeat_interleave(2, 2)


def _samples(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Some frames of one world with their distances and pitches."""
    from engine.pocket import world
    from engine.pocket.data import random_condition, scene_of

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
    minutes: float, worlds: int, threads: int, seed: int = 0, batch: int = 16, resume: Path | None = None, device: str = "cpu"
) -> tuple[DepthNet, float]:
    """Returns the network and its mean error on held-out worlds, as a factor."""
    from engine.pocket.train import worn

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
