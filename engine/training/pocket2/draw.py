"""Trains the drawing networks on painted textures and on painted pictures with four samples a pixel.

python -m engine.training.pocket2.draw FOLDER TEXTURE_MINUTES DRAWER_MINUTES: resumable.
"""

from __future__ import annotations

import copy
import json
import sys
import time
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import pixel_unshuffle

from engine.models.pocket2.camera import FOCAL, HEIGHT, WIDTH
from engine.models.pocket2.cells import LANDS
from engine.models.pocket2.drawing import CODES, TEXELS, Drawer, Textures
from engine.models.pocket2.gbuffer import ON_BOX, ON_CARD, SKY, planes
from engine.models.pocket2.ground import Ground
from engine.models.pocket2.model import Surroundings
from engine.models.pocket2.render import Renderer
from engine.training.pocket2.land import SIDE, Noise, ground
from engine.training.pocket2.teacher import painted, painted_atlas

Array = NDArray[np.float32]
SEED = 300_000
PER_WORLD = 8
BATCH, CROP = 12, 64
JITTER = ((-0.25, -0.25), (0.25, -0.25), (-0.25, 0.25), (0.25, 0.25))
"""Of a pixel, in which the four samples of a training picture are taken; a cylinder's picture moves exactly by them."""


def random_mix(rng: np.random.Generator, land: int) -> Array:
    """Shares (15,) of a land and random light; sometimes on the way between two."""
    out = np.zeros(15, np.float32)
    for start, n, i in ((0, 8, land), (8, 4, int(rng.integers(4))), (12, 3, int(rng.choice(3, p=(0.55, 0.25, 0.2))))):
        out[start + i] = 1
        if rng.random() < (0.05 if start == 0 else 0.15):
            share = rng.random()
            out[start : start + n] *= 1 - share
            out[start + int(rng.integers(n))] += share
    return out


def place(rng: np.random.Generator, whole: Ground, land: int) -> Array:
    """A pose (1, 5) where nothing stands."""
    while True:
        x, y = rng.uniform(700, 1300, 2)
        around = Surroundings(whole, x, y, land, 4)
        if not around.blocked(x, y):
            lift = rng.uniform(0, 25) if rng.random() < 0.15 else 0.0
            pitch = rng.uniform(-35, 35) if rng.random() < 0.3 else 0.0
            return np.array([[x, y, around.eye(x, y, lift), rng.uniform(0, 2 * np.pi), pitch]], np.float32)


def pictures(atlas: list[Array], worlds: int, seed: int = SEED) -> tuple[Tensor, Tensor, Tensor]:
    """G-buffers (n, FEATURES, HEIGHT, WIDTH) float16, shares (n, 15) and pictures (n, 3, HEIGHT, WIDTH) uint8."""
    buffers, mixes, images = [], [], []
    renderer = Renderer(atlas, painted)
    for k in range(worlds):
        rng = np.random.default_rng([seed, k])
        land = k % len(LANDS)
        cells = ground(LANDS[land], seed + k, Noise.make(seed + k))
        whole = Ground().written(0, 0, cells, np.ones((SIDE, SIDE), bool), (1024.0, 1024.0))
        for _ in range(PER_WORLD):
            pose, mix = place(rng, whole, land), random_mix(rng, land)
            one, _ = renderer.buffers(whole, land, pose, np.stack((mix, mix)), seed + k)
            shots = []
            for u, v in JITTER:
                moved = pose.copy()
                moved[0, 3] += u / FOCAL
                moved[0, 4] += v
                f, _ = renderer.buffers(whole, land, moved, np.stack((mix, mix)), seed + k)
                shots.append(painted(f[0], mix))
            buffers.append(planes(one[0]).half())
            mixes.append(torch.from_numpy(mix))
            images.append((torch.stack(shots).mean(0) * 255 + 0.5).to(torch.uint8))
    return torch.stack(buffers), torch.stack(mixes), torch.stack(images)


def train_textures(folder: Path, minutes: float) -> dict[str, float]:
    """Fits codes and their decoder to the painted textures: principal components, then a correction for this long.

    Returns facts for the card.
    """
    target = torch.from_numpy(painted_atlas(folder / "painted.npz")[0]).clone()
    target[:, 4] = (target[:, 4] + 1) / 2
    target[:, [0, 1, 2, 4, 5]] *= target[:, 3:4]
    torch.manual_seed(0)
    net, file = Textures(), folder / "textures.pt"
    blocks = pixel_unshuffle(target, 2)
    flat = blocks.permute(0, 2, 3, 1).reshape(-1, 24)
    mean = flat.mean(0)
    _, vectors = torch.linalg.eigh((flat - mean).T @ (flat - mean) / len(flat))
    parts = vectors.flip(1)[:, :CODES]
    with torch.no_grad():
        net.codes.copy_(((flat - mean) @ parts).reshape(len(blocks), TEXELS, TEXELS, CODES).permute(0, 3, 1, 2))
        net.linear.weight.copy_(parts[:, :, None, None])
        net.linear.bias.copy_(mean)  # type: ignore[union-attr]
    opt = torch.optim.Adam([{"params": [net.codes], "lr": 2e-3}, {"params": net.correction.parameters(), "lr": 2e-3}])
    begun, step, loss = time.monotonic(), 0, torch.zeros(())
    while (spent := time.monotonic() - begun) < minutes * 60:
        for g in opt.param_groups:
            g["lr"] = 2e-3 * (1 - spent / (minutes * 60)) + 1e-5
        which = torch.randperm(len(target))[:24]
        loss = (net(which) - target[which]).abs().mean()
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        step += 1
        if step % 50 == 0:
            print(json.dumps({"textures": step, "seconds": round(spent), "loss": round(loss.item(), 5)}), flush=True)
    torch.save(net.state_dict(), file)
    with torch.no_grad():
        error = torch.stack(
            [((net(torch.tensor([i])).clamp(0, 1) - target[i]) ** 2).mean() for i in range(len(target))]
        )
    return {"steps": step, "minutes": minutes, "psnr": round(float(-10 * error.mean().log10()), 2)}


def train_drawer(folder: Path, minutes: float, worlds: int = 48) -> dict[str, float]:
    """Fits the drawer to painted pictures; the last 8 worlds are held out. Returns facts for the card."""
    torch.set_num_threads(1)
    textures = Textures()
    textures.load_state_dict(torch.load(folder / "textures.pt", weights_only=True))
    data = folder / "pictures.pt"
    if not data.exists():
        torch.save(pictures(textures.atlas(), worlds), folder / "new.pt")
        (folder / "new.pt").replace(data)
        print(json.dumps({"pictures": worlds * PER_WORLD}), flush=True)
    buffers, mixes, images = torch.load(data, weights_only=True)
    held = 8 * PER_WORLD
    count = len(buffers) - held
    torch.manual_seed(1)
    net = Drawer()
    ema = copy.deepcopy(net).requires_grad_(False)
    opt = torch.optim.Adam(net.parameters(), 2e-3, betas=(0.9, 0.99))
    rng = np.random.default_rng(5)
    file, spent, step = folder / "drawer.pt", 0.0, 0
    if file.exists():
        s = torch.load(file, weights_only=True)
        net.load_state_dict(s["net"]), ema.load_state_dict(s["ema"]), opt.load_state_dict(s["opt"])
        spent, step = s["spent"], s["step"]
    begun, saved, losses = time.monotonic() - spent, time.monotonic(), []
    while (spent := time.monotonic() - begun) < minutes * 60:
        share = spent / (minutes * 60)
        for g in opt.param_groups:
            g["lr"] = 2e-3 * min(1, (step + 1) / 100) * max(0.02, 0.5 + 0.5 * float(np.cos(share * np.pi)))
        fs, xs, ms = [], [], []
        for _ in range(BATCH):
            n, j, i = (
                int(rng.integers(count)),
                int(rng.integers(HEIGHT - CROP + 1)),
                int(rng.integers(WIDTH - CROP + 1)),
            )
            fs.append(buffers[n, :, j : j + CROP, i : i + CROP])
            xs.append(images[n, :, j : j + CROP, i : i + CROP])
            ms.append(mixes[n])
        f, x = torch.stack(fs).float(), torch.stack(xs).float() / 255
        made = net(f, torch.stack(ms))
        error = (made - x).abs() + 2 * (made - x) ** 2
        star, disc = f[:, SKY.start + 2 : SKY.start + 3], f[:, SKY.start + 5 : SKY.start + 6]
        weight = 1 + f[:, ON_CARD : ON_CARD + 1] + 2 * f[:, ON_BOX : ON_BOX + 1] + 6 * (star > 0.05) + 3 * (disc > 0)
        loss = (error * weight).mean()
        for axis in (2, 3):
            loss = loss + (made.diff(dim=axis) - x.diff(dim=axis)).abs().mean()
        opt.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        opt.step()
        with torch.no_grad():
            torch._foreach_lerp_(
                list(ema.parameters()), list(net.parameters()), 1 - min(0.998, (1 + step) / (20 + step))
            )
        losses.append(loss.item())
        step += 1
        if step % 200 == 0:
            print(
                json.dumps({"drawer": step, "seconds": round(spent), "loss": round(float(np.mean(losses[-200:])), 4)}),
                flush=True,
            )
        if time.monotonic() - saved > 60:
            torch.save(
                {
                    "net": net.state_dict(),
                    "ema": ema.state_dict(),
                    "opt": opt.state_dict(),
                    "spent": spent,
                    "step": step,
                },
                file,
            )
            saved = time.monotonic()
    torch.save(
        {"net": net.state_dict(), "ema": ema.state_dict(), "opt": opt.state_dict(), "spent": spent, "step": step}, file
    )
    with torch.inference_mode():
        errors = []
        for n in range(count, len(buffers)):
            made = ema(buffers[n : n + 1].float(), mixes[n : n + 1]).clamp(0, 1)
            errors.append(float(((made - images[n : n + 1].float() / 255) ** 2).mean()))
    psnr = float(-10 * np.log10(np.mean(errors)))
    return {"steps": step, "minutes": round(spent / 60, 1), "held_out_psnr": round(psnr, 2)}


if __name__ == "__main__":
    where = Path(sys.argv[1])
    where.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    train_textures(where, float(sys.argv[2]))
    print(json.dumps(train_drawer(where, float(sys.argv[3]))))
