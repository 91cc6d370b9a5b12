"""Trains the pocket network: flow matching on partly whitened latents, predicting the clean latent.

One command, reproducible from its seed up to the order of floating-point sums; uses a GPU where there is one.
"""

from __future__ import annotations

import argparse
import json
import logging
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import avg_pool2d

from engine.models.attention import WindowCall
from engine.models.pocket import camera
from engine.models.pocket.camera import FRAMES_PER_GROUP
from engine.models.pocket.codec import CHANNELS, Codec
from engine.models.pocket.depth import DepthNet
from engine.models.pocket.network import (
    ATTRIBUTES,
    CONTROL,
    HISTORY,
    NetworkConfig,
    PocketNet,
    extra_inputs,
    training_masks,
)
from engine.models.pocket.reprojection import control_latents
from engine.training.data import load_transform

log = logging.getLogger(__name__)

CPU = torch.device("cpu")

LEVEL, SPREAD, PURE = -0.3, 1.5, 0.1
"""Noise levels of training: the logistic of a normal variable with this mean and deviation, and the share of pure noise. Fine
detail is decided at low levels, where its small latents stand above the noise: too few of them and pictures are soft."""
AT_EDIT = 0.5
"""Share of windows that begin where the condition changes, among clips in which it does and the window fits."""
PRIOR = 0.2
"""Share of a latent's variance that the control latents leave open, over covered and uncovered places."""


OWN, OWN_AFTER, OWN_LEVELS = 0.3, 8.0, (1.0, 0.65, 0.35, 0.13)
"""Share of steps whose history the network made itself, the minutes after which they begin, and the noise levels it takes."""


@dataclass(frozen=True)
class TrainConfig:
    batch_tokens: int = 5200
    rate: float = 1.2e-3
    minutes: float = 60.0
    seed: int = 0
    bf16: bool = True


def one_hot(labels: np.ndarray, rng: np.random.Generator, silent: float) -> np.ndarray:
    """(n, 3) labels to (n, CONDITION); each attribute is 'not said' with probability `silent`."""
    parts = []
    for i, classes in enumerate(ATTRIBUTES):
        part = np.zeros((len(labels), classes + 1), np.float32)
        said = np.where(rng.random(len(labels)) < silent, classes, labels[:, i])
        part[np.arange(len(labels)), said] = 1
        parts.append(part)
    return np.concatenate(parts, 1)


class Clips:
    """Latent clips of one file, in memory."""

    def __init__(self, path: Path, held_out: int = 64) -> None:
        data = np.load(path)
        self.latents, self.motion, self.pitch = data["latents"], data["motion"], data["pitch"]
        self.before, self.after, self.edit = data["before"], data["after"], data["edit"]
        self.groups = self.latents.shape[1]
        self.held_out = held_out

    def __len__(self) -> int:
        return len(self.latents)


@dataclass
class Batch:
    """history latents (n, h, ...), window latents (n, k, ...), motion (n, h + k, 4, 5), pitch (n, h + k), condition
    (n, CONDITION), weight (n, k): which window groups count."""

    history: Tensor
    window: Tensor
    motion: Tensor
    pitch: Tensor
    condition: Tensor
    weight: Tensor


def draw(
    clips: Clips,
    rng: np.random.Generator,
    n: int,
    history: int,
    window: int,
    first: int,
    last: int,
    device: torch.device = CPU,
) -> Batch:
    """n windows of clips[first:last]; a window never reaches from an old condition into a new one unseen."""
    rows = rng.integers(first, last, n)
    start = rng.integers(history, clips.groups - window + 1, n)
    at_edit = (rng.random(n) < AT_EDIT) & (clips.edit[rows] >= history) & (clips.edit[rows] + window <= clips.groups)
    start = np.where(at_edit, clips.edit[rows], start)
    new = start >= clips.edit[rows]
    labels = np.where(new[:, None], clips.after[rows], clips.before[rows])
    index = start[:, None] + np.arange(-history, window)
    z = torch.from_numpy(clips.latents[rows[:, None], index]).float().to(device)
    weight = new[:, None] | (start[:, None] + np.arange(window) < clips.edit[rows][:, None])
    silent = 0.3 if rng.random() < 0.25 else 0.03
    return Batch(
        z[:, :history],
        z[:, history:],
        torch.from_numpy(clips.motion[rows[:, None], index]).to(device),
        torch.from_numpy(clips.pitch[rows[:, None], index]).to(device),
        torch.from_numpy(one_hot(labels, rng, silent)).to(device),
        torch.from_numpy(weight).float().to(device),
    )


def window_poses(motion: Tensor, pitch: Tensor, history: int) -> tuple[Tensor, Tensor]:
    """Frame poses of the window relative to the branch (n, 4 k, 5) and group positions (n, h + k, 2: yaw, pitch px)."""
    n, groups = motion.shape[:2]
    window, position = [], np.zeros((n, groups, 2), np.float32)
    velocity, before = motion.flatten(1, 2).cpu().numpy(), pitch.cpu().numpy()
    for v, p, at in zip(velocity, before, position, strict=True):
        pose, _ = camera.relative_pose(v[history * FRAMES_PER_GROUP :], float(p[history]))
        window.append(pose)
        yaw = np.cumsum(v[:, 2]) * camera.YAW_STEP * camera.FOCAL
        yaw = yaw[FRAMES_PER_GROUP - 1 :: FRAMES_PER_GROUP]
        at[:, 0] = yaw - (yaw[history - 1] if history else 0)
        at[:, 1] = np.append(p[1:], p[history] + pose[-1, 4]) - p[history]
    return torch.from_numpy(np.stack(window)).to(motion.device), torch.from_numpy(position).to(motion.device)


def worn(frame: Tensor) -> Tensor:
    """A boundary frame as the model's own frames are: a little blurred, noisy and off in tone. (n, 80, 128, 3)."""
    x = frame.permute(0, 3, 1, 2)

    def dice() -> Tensor:
        return torch.rand(len(x), 1, 1, 1, device=x.device)

    blur = dice() * (dice() < 0.6)
    soft = avg_pool2d(x, 3, 1, 1, count_include_pad=False)
    soft = torch.where(dice() < 0.3, avg_pool2d(soft, 3, 1, 1, count_include_pad=False), soft)
    x = x * (1 - blur) + soft * blur
    x = x * (1 + 0.06 * torch.randn_like(x[:, :1, :1, :1])) + 0.04 * torch.randn_like(x[:, :, :1, :1])
    return x.clamp(-1, 1).permute(0, 2, 3, 1)


def model_inputs(  # type: ignore[no-untyped-def]
    codec: Codec,
    depth: DepthNet,
    batch: Batch,
    noise: Tensor,
    sigma: Tensor,
    rng: np.random.Generator,
    net: PocketNet,
    train: bool,
):
    """The arguments of `PocketNet.forward` for [history | window], sigma (n, k)."""
    h, k = batch.history.shape[1], batch.window.shape[1]
    n, device = len(batch.window), batch.window.device
    pose, position = window_poses(batch.motion, batch.pitch, h)
    control = torch.zeros(n, h + k, CONTROL, *batch.window.shape[-2:], device=device)
    past = batch.history
    level = torch.zeros(n, h, device=device)
    if h:
        last = past[:, -1]
        if train:
            last = (
                last
                + torch.randn_like(last) * (0.2 * torch.rand(n, 1, 1, 1, device=device)) * codec.scale[:, None, None]
            )
        with torch.no_grad():
            frame = codec.boundary(last)
            frame = worn(frame) if train else frame
            control[:, h:] = control_latents(codec, frame, depth(frame, batch.pitch[:, h]), pose, batch.pitch[:, h])
        if train:
            level = torch.rand(n, h, device=device) * 0.25
            past = past * (1 - level[..., None, None, None]) + torch.randn_like(past) * level[..., None, None, None]
        else:
            level += 0.05
    s = sigma[:, :, None, None, None]
    noisy = (1 - s) * batch.window + s * noise
    flags = torch.cat((torch.ones(n, h, device=device), torch.zeros(n, k, device=device)), 1)
    extra = extra_inputs(batch.motion, batch.pitch, flags, batch.condition)
    index = torch.arange(-h, k, device=device).float()[None].expand(n, -1)
    mask, context_mask = (m.to(device) for m in training_masks(h, k))
    call = WindowCall(
        net.rotation(index, position[..., 0], position[..., 1]), mask=mask if h else None, context_mask=context_mask
    )
    return torch.cat((past, noisy), 1), control, torch.cat((level, sigma), 1), extra, net.context(batch.condition), call


def optimizers(net: PocketNet, rate: float) -> list[torch.optim.Optimizer]:
    """Muon for the matrices of the blocks, AdamW for the rest."""
    matrices = [p for p in net.wan.blocks.parameters() if p.ndim == 2]
    chosen = {id(p) for p in matrices}
    rest = [p for p in net.parameters() if id(p) not in chosen]
    return [
        torch.optim.Muon(matrices, lr=rate, weight_decay=0.02, adjust_lr_fn="match_rms_adamw"),
        torch.optim.AdamW(rest, lr=rate, betas=(0.9, 0.95), weight_decay=0.01),
    ]


class Average:
    """An exponential moving average of the weights, warmed up."""

    def __init__(self, net: nn.Module, decay: float = 0.998) -> None:
        self.state = {k: v.detach().clone() for k, v in net.state_dict().items()}
        self.decay, self.steps = decay, 0

    @torch.no_grad()
    def update(self, net: nn.Module) -> None:
        self.steps += 1
        d = min(self.decay, self.steps / (self.steps + 20))
        for k, v in net.state_dict().items():
            if v.is_floating_point():
                self.state[k].lerp_(v, 1 - d)

    def save(self, file: Path) -> None:
        torch.save({k: v.cpu() for k, v in self.state.items()}, file)


def component_weights(codec: Codec) -> Tensor:
    """(CHANNELS, 1, 1): how much the error of each component counts."""
    weights = ((codec.deviation / codec.deviation[0]) / codec.scale**2).view(CHANNELS, 1, 1)
    return (weights / weights.mean()).clamp(0.15, 5)


def codec_of(folder: Path) -> Codec:
    """The codec of a training folder, with its refiner where there is one."""
    codec = load_transform(folder / "codec.pt")
    if (folder / "refiner.pt").exists():
        codec.refiner.load_state_dict(torch.load(folder / "refiner.pt", weights_only=True))
    return codec.requires_grad_(False)


def depth_of(folder: Path) -> DepthNet:
    depth = DepthNet()
    depth.load_state_dict(torch.load(folder / "depth.pt", weights_only=True))
    return depth.eval().requires_grad_(False)


def loss_of(
    net: PocketNet,
    codec: Codec,
    depth: DepthNet,
    batch: Batch,
    rng: np.random.Generator,
    weights: Tensor,
    train: bool,
    bf16: bool,
) -> Tensor:
    n, k = batch.window.shape[:2]
    h = batch.history.shape[1]
    device = batch.window.device
    sigma = torch.sigmoid(torch.randn(n, device=device) * SPREAD + LEVEL)
    sigma = torch.where(torch.rand(n, device=device) < PURE, 1.0, sigma)[:, None].expand(n, k)
    noise = torch.randn_like(batch.window)
    inputs = model_inputs(codec, depth, batch, noise, sigma, rng, net, train)
    with torch.autocast(device.type, torch.bfloat16, enabled=bf16):
        out = net(*inputs)
    error = (out[:, h:].float() - batch.window) ** 2 * weights
    emphasis = batch.weight / (sigma**2 + 0.05**2)
    return (error.mean((2, 3, 4)) * emphasis).sum() / batch.weight.sum().clamp_min(1)


def went_on(
    net: PocketNet, codec: Codec, depth: DepthNet, batch: Batch, own: int, rng: np.random.Generator, bf16: bool
) -> Batch:
    """The batch with the first `own` groups of its window sampled by the network itself and made history: what it will meet when it
    plays, so that it learns to bring back what it lost."""
    h, n = batch.history.shape[1], len(batch.window)
    z = torch.zeros_like(batch.window[:, :own])
    pure, device = torch.randn_like(z), z.device
    first = Batch(
        batch.history, z, batch.motion[:, : h + own], batch.pitch[:, : h + own], batch.condition, batch.weight[:, :own]
    )
    net.eval()
    with torch.no_grad(), torch.autocast(device.type, torch.bfloat16, enabled=bf16):
        for level in OWN_LEVELS:
            now = Batch(first.history, z, first.motion, first.pitch, first.condition, first.weight)
            inputs = model_inputs(codec, depth, now, pure, torch.full((n, own), level, device=device), rng, net, False)
            z = net(*inputs)[:, h:].float()
    net.train()
    past = torch.cat((batch.history, z), 1)
    keep = min(HISTORY, past.shape[1])
    drop = past.shape[1] - keep
    return Batch(
        past[:, drop:],
        batch.window[:, own:],
        batch.motion[:, drop:],
        batch.pitch[:, drop:],
        batch.condition,
        batch.weight[:, own:],
    )


def train(
    config: TrainConfig,
    network: NetworkConfig,
    codec: Codec,
    depth: DepthNet,
    short: Clips,
    long: Clips,
    out: Path,
    resume: Path | None,
    device: torch.device = CPU,
) -> None:
    torch.manual_seed(config.seed)
    rng = np.random.default_rng(config.seed)
    net = PocketNet(network)
    if resume is not None:
        net.load_state_dict(torch.load(resume, weights_only=True))
    net, codec, depth = net.to(device), codec.to(device), depth.to(device)
    net.prior.copy_((PRIOR * codec.scale**2)[:, None, None])
    average = Average(net)
    opts = optimizers(net, config.rate)
    weights = component_weights(codec)
    began, step, seen, recent = time.monotonic(), 0, 0, []
    saved = began
    history_file = out.with_suffix(".log.jsonl")
    while (gone := (time.monotonic() - began) / 60) < config.minutes:
        share = gone / config.minutes
        factor = min(1.0, (step + 1) / 60) * min(1.0, (1 - share) / 0.5 + 0.01)
        for opt in opts:
            for group in opt.param_groups:
                group["lr"] = config.rate * factor
        history = int(rng.choice([0, 1, 2, 3, 4, HISTORY], p=[0.08, 0.08, 0.08, 0.12, 0.2, 0.44]))
        far = rng.random() < 0.12
        near = rng.choice(np.arange(1, 9), p=[0.08, 0.1, 0.16, 0.16, 0.12, 0.1, 0.18, 0.1])
        window = int(rng.integers(9, 22) if far else near)
        if history == 0:
            # a picture out of nothing is learned from many single groups, not from a few long windows
            far, window = False, int(rng.choice([1, 2, 3], p=[0.8, 0.1, 0.1]))
        clips = long if far else short
        n = max(2, config.batch_tokens // (40 * (history + window)))
        own = int(rng.integers(1, 4)) if history and gone > OWN_AFTER and rng.random() < OWN else 0
        own = min(own, clips.groups - history - window)
        batch = draw(clips, rng, n, history, own + window, clips.held_out, len(clips), device)
        if own:
            batch = went_on(net, codec, depth, batch, own, rng, config.bf16)
        loss = loss_of(net, codec, depth, batch, rng, weights, True, config.bf16)
        for opt in opts:
            opt.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        for opt in opts:
            opt.step()
        average.update(net)
        step, seen = step + 1, seen + n
        recent.append(loss.item())
        if step % 25 == 0:
            now = dict(step=step, minutes=round(gone, 2), clips=seen, loss=round(float(np.mean(recent[-25:])), 4))
            log.info("%s", now)
            with history_file.open("a") as f:
                f.write(json.dumps(now) + "\n")
        if time.monotonic() - saved > 240:
            average.save(out)
            saved = time.monotonic()
    average.save(out)


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("data", type=Path, help="folder with codec.pt, depth.pt, refiner.pt, short.npz and long.npz")
    p.add_argument("out", type=Path)
    p.add_argument("--minutes", type=float, default=60)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--rate", type=float, default=TrainConfig.rate)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--batch-tokens", type=int, default=TrainConfig.batch_tokens)
    p.add_argument("--no-bf16", action="store_true")
    p.add_argument("--resume", type=Path)
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    a = p.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    torch.set_num_threads(a.threads)
    config = TrainConfig(a.batch_tokens, a.rate, a.minutes, a.seed, not a.no_bf16)
    codec, depth = codec_of(a.data), depth_of(a.data)
    short, long = Clips(a.data / "short.npz"), Clips(a.data / "long.npz")
    train(config, NetworkConfig(), codec, depth, short, long, a.out, a.resume, torch.device(a.device))


if __name__ == "__main__":
    main()
