"""Trains the pocket network on its own walks, against a critic: what a mean of squares leaves soft and lets run dry.

    python -m engine.training.polish runs runs/net.pt --resume runs/net_plain.pt --minutes 80

After Self-Forcing (Huang et al., 2025), with its GAN objective: worlds are walked as they are played, window after window, each continued
from the network's own last ones; of each window one denoising step, drawn at random, keeps its gradient. A critic that knows
prompt and motion compares neighbouring groups with those of rendered walks. A plain denoising loss on rendered clips goes beside it.
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
from torch import Tensor

from engine.models.attention import RotaryEmbedding, WindowCall
from engine.models.pocket import camera
from engine.models.pocket.camera import FRAMES_PER_GROUP
from engine.models.pocket.codec import CHANNELS, COLUMNS, ROWS, Codec
from engine.models.pocket.depth import DepthNet
from engine.models.pocket.memory import Place
from engine.models.pocket.network import (
    CONDITION,
    HISTORY,
    MOTION,
    TOKENS,
    NetworkConfig,
    PocketNet,
    extra_inputs,
    training_masks,
)
from engine.models.pocket.reprojection import Seen, behind, encoded, reprojected
from engine.models.pocket.sampling_config import EASE, EMPHASIS, HISTORY_SIGMA, SHIFT, firmness, held
from engine.models.schedulers import make_solver
from engine.training.critic import Balance, Critic, critic_loss
from engine.training.data import MORPH_FRAMES, random_condition
from engine.training.train import Average, Clips, codec_of, component_weights, depth_of, draw, loss_of, one_hot
from engine.training.world import wander

log = logging.getLogger(__name__)

MORPH = MORPH_FRAMES // FRAMES_PER_GROUP
WINDOWS, OFTEN = (1, 2, 3, 4, 5, 7, 9, 14), (0.04, 0.06, 0.14, 0.12, 0.14, 0.34, 0.1, 0.06)
"""Lengths of the windows that are walked, and how often."""
STEPS, LAST = (3, 4, 5), (0.45, 0.3, 0.15, 0.1)
"""Steps of a window, and how often the last, the last but one and so on keeps its gradient."""
EDITS = 0.1
"""Share of windows before which the prompt changes."""
VIEWS, AROUND = 0.5, 1.26
"""Share of windows that find a view of the land where they turn to, and how far aside it was seen, in radians."""
OLDEST = 14
"""Windows that a world is walked at most; the mean is about half."""


@dataclass(frozen=True)
class PolishConfig:
    """groups: of all windows of a step together."""

    minutes: float = 80.0
    rate: float = 2e-4
    groups: int = 64
    share: float = 1.0
    seed: int = 0
    bf16: bool = True


class Walks:
    """Worlds that are being walked: what each one's next window continues."""

    def __init__(self, clips: Clips, rng: np.random.Generator, n: int = 96, edits: float = EDITS) -> None:
        self._clips, self._rng, self._edits = clips, rng, edits
        self.latents = torch.zeros(n, HISTORY, CHANNELS, ROWS, COLUMNS)
        self.motion = np.zeros((n, HISTORY, FRAMES_PER_GROUP, 5), np.float32)
        self.pitch = np.zeros((n, HISTORY + 1), np.float32)
        """Before each group, and after the last."""
        self.labels = np.zeros((n, 3), np.int64)
        self.since = np.full(n, 99)
        self.left = np.zeros(n, np.int64)

    def take(self, n: int) -> np.ndarray:
        """Rows of n worlds; those that ended begin anew with a rendered clip's first groups."""
        rows = self._rng.choice(len(self.left), n, replace=False)
        c = self._clips
        for i in rows[self.left[rows] <= 0]:
            while True:
                j = int(self._rng.integers(c.held_out, len(c)))
                first = int(self._rng.integers(0, c.groups - HISTORY))
                if not first - MORPH < c.edit[j] < first + HISTORY:
                    break
            part = slice(first, first + HISTORY)
            self.latents[i] = torch.from_numpy(c.latents[j, part]).float()
            self.motion[i], self.pitch[i] = c.motion[j, part], c.pitch[j, first : first + HISTORY + 1]
            self.labels[i] = c.after[j] if c.edit[j] < first else c.before[j]
            self.since[i], self.left[i] = 99, self._rng.integers(1, OLDEST + 1)
        for i in rows[self._rng.random(n) < self._edits]:
            self.labels[i] = np.where(self._rng.random(3) < 0.7, random_condition(self._rng), self.labels[i])
            self.since[i] = 0
        return rows

    def onward(self, rows: np.ndarray, motion: np.ndarray, pitch: np.ndarray, made: Tensor) -> None:
        """Keeps what was sampled: motion (n, k, 4, 5), pitch (n, k) after each group, latents (n, k, ...)."""
        k = made.shape[1]
        self.latents[rows] = torch.cat((self.latents[rows], made.cpu()), 1)[:, -HISTORY:]
        self.motion[rows] = np.concatenate((self.motion[rows], motion), 1)[:, -HISTORY:]
        self.pitch[rows] = np.concatenate((self.pitch[rows], pitch), 1)[:, -HISTORY - 1 :]
        self.since[rows] += k
        self.left[rows] -= 1


def next_motion(
    walks: Walks, rows: np.ndarray, k: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of random keys: motion (n, k, 4, 5), poses (n, 4 k, 5) relative to the branch and pitch (n, k) after each group."""
    motion, poses, pitch = [], [], []
    for i in rows:
        v = camera.integrate(walks.motion[i, -1, -1], wander(rng, k * FRAMES_PER_GROUP))
        pose, _ = camera.relative_pose(v, float(walks.pitch[i, -1]))
        motion.append(v.reshape(k, FRAMES_PER_GROUP, 5))
        poses.append(pose)
        pitch.append(walks.pitch[i, -1] + pose[FRAMES_PER_GROUP - 1 :: FRAMES_PER_GROUP, 4])
    return np.stack(motion), np.stack(poses), np.stack(pitch).astype(np.float32)


def ahead(codec: Codec, depth: DepthNet, latent: Tensor, pitch: np.ndarray, pose: np.ndarray) -> Seen:
    """Frames from the last ones of latents (n, ...), seen at `pitch` (n,), under poses (n, 4 k, 5)."""
    with torch.no_grad():
        frame, at = codec.boundary(latent), torch.from_numpy(pitch).to(latent.device)
        return reprojected(frame, depth(frame, at), torch.from_numpy(pose).to(latent.device), at)


def surrounded(
    codec: Codec,
    depth: DepthNet,
    seen: Seen,
    clips: Clips,
    walks: Walks,
    rows: np.ndarray,
    pose: np.ndarray,
    rng: np.random.Generator,
) -> Seen:
    """Frames with what a view of such a land, a quarter turn aside, shows put where nothing was: as the album does in play."""
    views, pitch, poses = (
        np.zeros((len(rows), *clips.latents.shape[2:]), np.float32),
        np.zeros(len(rows), np.float32),
        [],
    )
    fits = np.zeros(len(rows), bool)
    for n, i in enumerate(rows):
        like = np.flatnonzero((clips.before == walks.labels[i]).all(1) & (clips.edit > 1))
        fits[n] = len(like) > 0 and walks.since[i] > MORPH
        if fits[n]:
            j = int(rng.choice(like))
            g = int(rng.integers(min(clips.edit[j], clips.groups) - 1))
            views[n], pitch[n] = clips.latents[j, g], clips.pitch[j, g + 1]
        side = AROUND if pose[n, -1, 3] > 0 or (pose[n, -1, 3] == 0 and rng.random() < 0.5) else -AROUND
        poses.append(Place(yaw=side, pitch=float(pitch[n])).poses_from(Place(pitch=float(walks.pitch[i, -1])), pose[n]))
    device = seen[0].device
    image, cover = ahead(codec, depth, torch.from_numpy(views).to(device), pitch, np.stack(poses))
    return behind(seen, (image, cover * torch.from_numpy(fits).to(device)[:, None, None, None, None]))


def walked(
    net: PocketNet,
    walks: Walks,
    rows: np.ndarray,
    motion: np.ndarray,
    after: np.ndarray,
    control: Tensor,
    condition: Tensor,
    pure: Tensor,
    sigmas: list[float],
    last: int,
    bf16: bool,
) -> Tensor:
    """A window of each world as it is played, up to step `last`, which alone has a gradient: clean latents (n, k, ...).

    motion, after: of `next_motion`; control: latents; condition: (n, CONDITION); pure: noise (n, k, ...).
    """
    device = net.prior.device
    n, h, k = len(rows), HISTORY, motion.shape[1]
    past, before = walks.latents[rows].to(device), walks.pitch[rows]
    level = torch.from_numpy(np.concatenate((before, after), 1)).to(device)
    whole = np.concatenate((walks.motion[rows], motion), 1)
    turned = whole[..., 2].sum(2).cumsum(1) * camera.YAW_STEP * camera.FOCAL
    yaw = torch.from_numpy((turned - turned[:, h - 1 : h]).astype(np.float32)).to(device)
    tilt = level[:, 1:] - level[:, h : h + 1]
    index = torch.arange(-h, k, device=device).float()[None].expand(n, -1)
    rotation = net.rotation(index, yaw, tilt)
    both = torch.from_numpy(whole).to(device)
    ones, zeros = torch.ones(n, h, device=device), torch.zeros(n, k, device=device)
    context = net.context(condition)
    mask, said = (m.to(device) for m in training_masks(h, k))
    first, second = (
        RotaryEmbedding(rotation.cos[:, part], rotation.sin[:, part])
        for part in (slice(h * TOKENS), slice(h * TOKENS, None))
    )
    autocast = torch.autocast(device.type, torch.bfloat16, enabled=bf16)
    with torch.no_grad(), autocast:
        call = WindowCall(first, mask=mask[: h * TOKENS, : h * TOKENS], context_mask=said[: h * TOKENS])
        kept = net.prefill(
            past, extra_inputs(both[:, :h], level[:, :h], ones, condition * 0), context.detach(), call, HISTORY_SIGMA
        )
    extra = extra_inputs(both[:, h:], level[:, h : h + k], zeros, condition)
    hold = firmness(torch.from_numpy(walks.since[rows][:, None] + np.arange(k)).to(device).float())
    z = clean = pure
    for i, sigma in enumerate(sigmas[: last + 1]):
        # a call of its own each step: what it joins belongs to that step's gradient
        call = WindowCall(second, kept, first, context_mask=said[h * TOKENS :])
        with torch.set_grad_enabled(i == last), autocast:
            clean = net(
                z, control, torch.full((n, k), sigma, device=device), extra, net.context(condition), call
            ).float()
        clean = held(clean, control, sigma, hold)
        z = z - (sigma - sigmas[i + 1]) * (z - clean) / sigma
    return clean


def steps_of(rng: np.random.Generator) -> tuple[list[float], int]:
    """Noise levels of a window, and which step keeps its gradient: mostly a late one, where detail is decided."""
    sigmas = make_solver("euler", int(rng.choice(STEPS)), SHIFT, EASE).sigmas
    back = int(rng.choice(len(LAST), p=LAST))
    return sigmas, max(0, len(sigmas) - 2 - back)


def true_pairs(clips: Clips, rng: np.random.Generator, n: int) -> tuple[Tensor, np.ndarray, np.ndarray, np.ndarray]:
    """n pairs of neighbouring groups (n, 2 CHANNELS, 10, 16) of rendered walks, with motion (n, 4, 5) and pitch (n,) of the second and
    labels (n, 3); none while an edit transforms the world."""
    rows = rng.integers(clips.held_out, len(clips), 2 * n)
    start = rng.integers(1, clips.groups, 2 * n)
    edit = clips.edit[rows]
    fine = np.flatnonzero((start < edit) | (start > edit + MORPH))[:n]
    rows, start, edit = rows[fine], start[fine], edit[fine]
    z = torch.from_numpy(np.concatenate((clips.latents[rows, start - 1], clips.latents[rows, start]), 1)).float()
    labels = np.where((start > edit)[:, None], clips.after[rows], clips.before[rows])
    return z, clips.motion[rows, start], clips.pitch[rows, start], labels


def told(motion: np.ndarray, pitch: np.ndarray, labels: np.ndarray) -> Tensor:
    """What the critic is told: (n, CONDITION + MOTION + 1)."""
    said = one_hot(labels, np.random.default_rng(0), 0.0)
    return torch.from_numpy(
        np.concatenate((said, motion.reshape(len(motion), -1), pitch[:, None] / 20), 1).astype(np.float32)
    )


def polish(
    config: PolishConfig,
    net: PocketNet,
    codec: Codec,
    depth: DepthNet,
    short: Clips,
    long: Clips,
    out: Path,
    device: torch.device,
) -> None:
    """Trains `net` in place and writes the moving average of its weights to `out`."""
    torch.manual_seed(config.seed)
    rng = np.random.default_rng([config.seed, 17])
    walks = Walks(long, rng)
    critic = Critic(2 * CHANNELS, (160, 192, 256), (False, True, False), CONDITION + MOTION + 1).to(device)
    scale = torch.cat((codec.scale, codec.scale))[:, None, None].to(device)
    parameters = list(net.parameters())
    opt = torch.optim.AdamW(parameters, lr=config.rate, betas=(0.5, 0.95), weight_decay=0.01)
    judge = torch.optim.AdamW(critic.parameters(), lr=5e-4, betas=(0.0, 0.95))
    balance, average = Balance(parameters, config.share), Average(net, 0.995)
    weights = component_weights(codec).to(device)
    began = saved = last = time.monotonic()
    gone, step = 0.0, 0
    recent: list[tuple[float, float, float]] = []
    while gone < 60 * config.minutes:
        now = time.monotonic()
        gone += min(now - last, 60.0)  # a pause does not count
        last = now
        share = gone / 60 / config.minutes
        for group in opt.param_groups:
            group["lr"] = config.rate * min(1.0, (step + 1) / 50) * min(1.0, (1 - share) / 0.4 + 0.02)
        k = int(rng.choice(WINDOWS, p=OFTEN))
        n = max(3, min(20, config.groups // k))
        rows = walks.take(n)
        # the pair's first group is the one before, which the network may have made as well
        before = walks.latents[rows][:, -1:].to(device)
        motion, pose, pitch = next_motion(walks, rows, k, rng)
        seen = ahead(codec, depth, walks.latents[rows][:, -1].to(device), walks.pitch[rows][:, -1], pose)
        if rng.random() < VIEWS:
            seen = surrounded(codec, depth, seen, short, walks, rows, pose, rng)
        control = encoded(codec, seen)
        condition = EMPHASIS * torch.from_numpy(one_hot(walks.labels[rows], rng, 0.05)).to(device)
        pure = torch.randn(n, k, CHANNELS, ROWS, COLUMNS, device=device)
        made = walked(net, walks, rows, motion, pitch, control, condition, pure, *steps_of(rng), config.bf16)
        fine = torch.from_numpy(walks.since[rows][:, None] + np.arange(k) >= MORPH).flatten().to(device)
        pairs = torch.cat((torch.cat((before, made[:, :-1]), 1), made), 2).flatten(0, 1) / scale
        starts = np.concatenate((walks.pitch[rows][:, -1:], pitch[:, :-1]), 1)
        said = told(
            motion.reshape(-1, FRAMES_PER_GROUP, 5), starts.reshape(-1), np.repeat(walks.labels[rows], k, 0)
        ).to(device)
        truth, *facts = true_pairs(long if rng.random() < 0.3 else short, rng, n * k)
        with torch.autocast(device.type, torch.bfloat16, enabled=config.bf16):
            judged = critic_loss(
                critic(truth.to(device) / scale, told(*facts).to(device)), critic(pairs.detach()[fine], said[fine])
            )
        judge.zero_grad()
        judged.backward()
        judge.step()
        batch = draw(short, rng, max(2, config.groups // 14), HISTORY, 7, short.held_out, len(short), device)
        plain = loss_of(net, codec, depth, batch, rng, weights, True, config.bf16)
        adverse = None
        if step >= 40 and bool(fine.any()):
            with torch.autocast(device.type, torch.bfloat16, enabled=config.bf16):
                adverse = -critic(pairs[fine], said[fine]).float().mean()
        factor = balance.backward(plain, adverse)
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        opt.step()
        average.update(net)
        walks.onward(rows, motion, pitch, made.detach())
        step += 1
        recent.append((plain.item(), judged.item(), factor))
        if step % 25 == 0:
            means = [round(float(x), 4) for x in np.mean(recent[-25:], 0)]
            now_ = dict(step=step, minutes=round(gone / 60, 2), plain=means[0], critic=means[1], factor=means[2])
            log.info("%s", now_)
            with out.with_suffix(".log.jsonl").open("a") as f:
                f.write(json.dumps(now_) + "\n")
        if time.monotonic() - saved > 180:
            average.save(out)
            saved = time.monotonic()
    log.info("%d steps in %.1f min", step, (time.monotonic() - began) / 60)
    average.save(out)


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("data", type=Path, help="folder with codec.pt, depth.pt, refiner.pt, short.npz and long.npz")
    p.add_argument("out", type=Path)
    p.add_argument("--resume", type=Path, required=True, help="a network that engine.training.train made")
    p.add_argument("--minutes", type=float, default=PolishConfig.minutes)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--rate", type=float, default=PolishConfig.rate)
    p.add_argument("--groups", type=int, default=PolishConfig.groups)
    p.add_argument("--share", type=float, default=PolishConfig.share)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    a = p.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    torch.set_num_threads(a.threads)
    device = torch.device(a.device)
    net = PocketNet(NetworkConfig())
    net.load_state_dict(torch.load(a.resume, weights_only=True))
    config = PolishConfig(a.minutes, a.rate, a.groups, a.share, a.seed)
    short, long = Clips(a.data / "short.npz"), Clips(a.data / "long.npz")
    polish(config, net.to(device), codec_of(a.data).to(device), depth_of(a.data).to(device), short, long, a.out, device)


if __name__ == "__main__":
    main()
