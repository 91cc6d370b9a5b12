"""Trains the ground sampler by flow matching on true grounds with wide holes, and in the last part on its own borders.

python -m engine.training.pocket2.train FOLDER MINUTES: resumable; the folder gets state.pt and ema.pt and a log.
"""

from __future__ import annotations

import copy
import json
import sys
import time
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from engine.models.pocket2.cells import CHANNELS, COLOUR, COURSE, HEIGHT, KIND, LANDS, SIZE, WAY
from engine.models.pocket2.network import GroundNet, sample, scaled, skips
from engine.training.pocket2.land import SIDE, Noise, ground

WORLDS = 40
"""Seeds; each is seen as all eight lands."""
SEED = 100_000
BATCH, CROP = 4, 36
SHARES = (0.11, 0.08, 0.1, 0.1, 0.18, 0.13, 0.11, 0.19)
"""Of lands in training: a town, an archipelago and a dense wood are harder."""
RATE = 8e-4
OWN = 0.75
"""From this share of the time on, half of the batches have borders that the network sampled itself."""
WEIGHT = torch.ones(CHANNELS)
WEIGHT[HEIGHT], WEIGHT[WAY], WEIGHT[COURSE], WEIGHT[SIZE] = 3, 2, 2, 0.5
WEIGHT[KIND.start + 1] = 2  # what is built stands in narrow bands along roads


def pool(worlds: int = WORLDS, seed: int = SEED) -> list[Tensor]:
    """Grounds by land, each (worlds, CHANNELS, SIDE, SIDE) float16."""
    out: list[list[Tensor]] = [[] for _ in LANDS]
    for k in range(worlds):
        noise = Noise.make(seed + k)
        for i, land in enumerate(LANDS):
            out[i].append(torch.from_numpy(ground(land, seed + k, noise)).half())
    return [torch.stack(x) for x in out]


def crop(grounds: list[Tensor], rng: np.random.Generator, side: int = CROP) -> tuple[Tensor, int, tuple[int, int]]:
    """One random crop (CHANNELS, side, side) and its land; turned over at random but for the city, whose lots have an
    order.
    """
    land = int(rng.choice(len(LANDS), p=SHARES))
    whole = grounds[land][int(rng.integers(len(grounds[land])))]
    j, i = 2 * rng.integers(0, SIDE // 2, 2)
    rows, cols = (torch.arange(side) + int(j)) % SIDE, (torch.arange(side) + int(i)) % SIDE
    x = whole[:, rows][:, :, cols].float()
    if LANDS[land] != "city":
        if rng.random() < 0.5:
            x = x.flip(2)
        if rng.random() < 0.5:
            x = x.flip(1)
        if rng.random() < 0.5:
            x = x.transpose(1, 2)
    return x, land, (int(i), int(j))


def hole(rng: np.random.Generator, side: int = CROP) -> Tensor:
    """A mask (1, side, side), 1 where the ground is known: nothing, a side, what a walker left, a frame or scattered
    patches.
    """
    y, x = np.mgrid[:side, :side].astype(np.float32) - side / 2
    m: np.ndarray
    dice = rng.random()
    if dice < 0.15:
        m = np.zeros((side, side))
    elif dice < 0.65:
        a = rng.integers(4) * np.pi / 2 + (0 if rng.random() < 0.7 else rng.uniform(0, np.pi / 2))
        m = x * np.cos(a) + y * np.sin(a) < rng.uniform(-0.45, 0.45) * side
        if rng.random() < 0.3:
            b = a + np.pi / 2
            m &= x * np.cos(b) + y * np.sin(b) < rng.uniform(-0.1, 0.45) * side
    elif dice < 0.8:
        cx, cy = rng.uniform(-0.9, 0.9, 2) * side
        m = np.hypot(x - cx, y - cy) < rng.uniform(0.4, 1.0) * side
    elif dice < 0.92:
        w, h = rng.integers(6, side - 6, 2)
        i, j = rng.integers(0, side - w), rng.integers(0, side - h)
        m = np.ones((side, side))
        m[j : j + h, i : i + w] = 0
    else:
        m = np.kron(rng.random((side // 8 + 1, side // 8 + 1)) < rng.uniform(0.1, 0.6), np.ones((8, 8)))[:side, :side]
    return torch.from_numpy(np.asarray(m, np.float32))[None]


def train(folder: Path, minutes: float, threads: int = 1) -> dict[str, float]:
    """Trains for this long in all, counted over interruptions; returns facts for the card."""
    torch.set_num_threads(threads)
    folder.mkdir(parents=True, exist_ok=True)
    net = GroundNet().to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    ema = copy.deepcopy(net).requires_grad_(False)
    opt = torch.optim.AdamW(net.parameters(), RATE, betas=(0.9, 0.98), weight_decay=0.01)
    spent, step, usual = 0.0, 0, 1e3
    if (folder / "state.pt").exists():
        s = torch.load(folder / "state.pt", weights_only=True)
        net.load_state_dict(s["net"]), ema.load_state_dict(s["ema"]), opt.load_state_dict(s["opt"])
        spent, step = s["spent"], s["step"]
    grounds = pool()
    rng = np.random.default_rng([3, step])
    torch.manual_seed(step)
    begun, saved, losses = time.monotonic() - spent, time.monotonic(), []
    total = minutes * 60
    weight = WEIGHT[None, :, None, None]
    smooth = [HEIGHT, *range(COLOUR.start, COLOUR.stop), WAY, COURSE]
    while (spent := time.monotonic() - begun) < total:
        share = spent / total
        for group in opt.param_groups:
            group["lr"] = (
                RATE
                * min(1, (step + 1) / 100)
                * (1 if share < 0.3 else max(0.02, 0.5 + 0.5 * float(np.cos((share - 0.3) / 0.7 * np.pi))))
            )
        pairs = [crop(grounds, rng) for _ in range(BATCH)]
        x = torch.stack([p[0] for p in pairs])
        land = torch.eye(len(LANDS))[[p[1] for p in pairs]]
        origin = torch.tensor([p[2] for p in pairs])
        mask = torch.stack([hole(rng) for _ in range(BATCH)])
        known = x
        if share > OWN and step % 2:
            # what is known becomes the network's own, made to fit the truth that is to be predicted
            with torch.no_grad():
                known = sample(ema, x, 1 - mask, land, torch.randn_like(x), 4, origin)
        worn = known + 0.06 * torch.randn_like(x) * torch.rand(BATCH, 1, 1, 1) * (torch.rand(BATCH, 1, 1, 1) < 0.5)
        sigma = torch.sigmoid(torch.randn(BATCH) * 1.3 + 0.4)
        sigma = torch.where(torch.rand(BATCH) < 0.12, torch.ones(BATCH), sigma)
        s = sigma[:, None, None, None]
        z = (1 - s) * scaled(x) + s * torch.randn_like(x)
        clean = net(z, scaled(worn), mask, land, sigma, origin)
        open_ = (1 - mask) + 0.05
        error = ((clean - scaled(x)) / skips(sigma)[1].clamp_min(0.02)) ** 2 * weight
        error[:, smooth] *= 0.25 / (0.12 + s) ** 2
        loss = (error * open_ / open_.mean((1, 2, 3), keepdim=True)).mean()
        opt.zero_grad(set_to_none=True)
        loss.backward()
        norm = float(torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0))
        usual = norm if usual == 1e3 else 0.98 * usual + 0.02 * min(norm, 3 * usual)
        if norm < 6 * usual:  # a step far out of the usual is left out
            opt.step()
        keep = min(0.999, (1 + step) / (20 + step))
        with torch.no_grad():
            torch._foreach_lerp_(list(ema.parameters()), list(net.parameters()), 1 - keep)
        losses.append(loss.item())
        step += 1
        if step % 100 == 0:
            line = {"step": step, "seconds": round(spent), "loss": round(float(np.mean(losses[-100:])), 4)}
            print(json.dumps(line), flush=True)
        if time.monotonic() - saved > 120:
            _save(folder, net, ema, opt, spent, step)
            saved = time.monotonic()
    _save(folder, net, ema, opt, spent, step)
    return {"steps": step, "minutes": round(spent / 60, 1), "loss": float(np.mean(losses[-300:])) if losses else 0.0}


def _save(folder: Path, net: GroundNet, ema: GroundNet, opt: torch.optim.Optimizer, spent: float, step: int) -> None:
    s = {"net": net.state_dict(), "ema": ema.state_dict(), "opt": opt.state_dict(), "spent": spent, "step": step}
    torch.save(s, folder / "new.pt")
    (folder / "new.pt").replace(folder / "state.pt")
    torch.save(ema.state_dict(), folder / "ema.pt.new")
    (folder / "ema.pt.new").replace(folder / "ema.pt")


if __name__ == "__main__":
    print(json.dumps(train(Path(sys.argv[1]), float(sys.argv[2]))))
