"""Teaches the pocket network to stay sharp on its own output: few-step self-rollout with a discriminator.

    python -m engine.pocket.distill runs runs/distilled.pt --resume runs/net.pt --minutes 60

Flow matching alone leaves a small network soft, and softness compounds: every window starts from what the last one made.
Here windows are sampled as in play, in few steps, after histories that the network made itself (as Self-Forcing does), and
a discriminator compares them with true clips under the same words. Where a true continuation is known, it still counts;
every step also takes a plain flow-matching batch, so that no window length is forgotten.
"""

from __future__ import annotations

import argparse
import logging
import time
from collections import deque
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import avg_pool2d, leaky_relu, softplus

from engine.pocket import camera, world
from engine.pocket.camera import FRAMES_PER_GROUP
from engine.pocket.codec import CHANNELS, Codec
from engine.pocket.data import load_transform
from engine.pocket.model import SHIFT
from engine.pocket.network import ATTRIBUTES, CONDITION, HISTORY, NetworkConfig, PocketNet
from engine.pocket.pack import start_images
from engine.pocket.train import Average, Batch, Clips, draw, loss_of, model_inputs, one_hot, optimizers
from engine.solver import make_solver

log = logging.getLogger(__name__)

STEPS = (2, 3, 4)
"""Denoising steps of a rollout, drawn at random; the gradient goes through the one that ends it."""
POOL = 192
"""Worlds that are being walked through at a time."""
OLDEST = 40
"""Groups after which a world is given up for a fresh one: 10 s."""
EDIT = 0.12
"""Chance that a continued world gets new words."""
ADVERSE = 0.8
"""Strength of the discriminator's gradient against that of the true continuation, at the latents."""
SMOOTH, SMOOTH_SIGMA = 2.0, 0.02
"""Weight and noise of the discriminator's approximate gradient penalty (as in adversarial post-training)."""


LEARN_FIRST = 60
"""Steps in which only the critic learns from what is made."""


class Critic(nn.Module):
    """Judges a group with the frame before it, under the words it was asked for; one value a patch."""

    def __init__(self, width: int = 40) -> None:
        super().__init__()
        sizes = (3 * (FRAMES_PER_GROUP + 1), width, 2 * width, 3 * width, 4 * width)
        self.layers = nn.ModuleList(nn.Conv2d(a, b, 4, 2, 1) for a, b in pairwise(sizes))
        self.extra = nn.ModuleList(nn.Conv2d(b, b, 3, 1, 1) for b in sizes[1:])
        self.fine = nn.Conv2d(sizes[2], 1, 3, 1, 1)
        self.words = nn.Linear(CONDITION, sizes[-1])
        self.out = nn.Conv2d(sizes[-1], 1, 1)

    def forward(self, frames: Tensor, condition: Tensor) -> tuple[Tensor, Tensor]:
        """frames: (n, 5, 80, 128, 3), the one before first. Returns a coarse (n, 5, 8) and a fine (n, 20, 32) map."""
        x = frames.permute(0, 1, 4, 2, 3).flatten(1, 2)
        fine = x
        for i, (down, more) in enumerate(zip(self.layers, self.extra, strict=True)):
            x = leaky_relu(down(x), 0.2)
            x = x + leaky_relu(more(x), 0.2)
            if i == 1:
                fine = self.fine(x)
        match = (x * self.words(condition)[..., None, None]).mean(1)
        return (self.out(x)[:, 0] + match), fine[:, 0]


@dataclass
class World:
    """Where a walk has come to: the last HISTORY groups (latents, motion), pitch before each and after the last, words."""

    latents: Tensor
    motion: np.ndarray
    pitch: np.ndarray
    level: float
    labels: np.ndarray
    age: int = 0


def onward(w: World, k: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, float]:
    """Motion (k, 4, 5) of a random continuation, pitch before each of its groups, and pitch after it."""
    motion = camera.integrate(w.motion[-1, -1], world.wander(rng, k * FRAMES_PER_GROUP))
    pose, level = camera.relative_pose(motion, w.level)
    ends = w.level + pose[FRAMES_PER_GROUP - 1 :: FRAMES_PER_GROUP, 4]
    return motion.reshape(k, FRAMES_PER_GROUP, 5), np.concatenate([[w.level], ends[:-1]]).astype(np.float32), level


class Pool:
    """Worlds in progress, begun from start images and true clips."""

    def __init__(self, codec: Codec, rng: np.random.Generator) -> None:
        self.worlds: deque[World] = deque()
        self._starts = start_images(codec)
        self._rng = rng

    def fresh(self) -> World:
        rng = self._rng
        labels = np.array([rng.integers(n) for n in ATTRIBUTES])
        z = self._starts[(int(rng.integers(len(self._starts))), *labels)]
        still = np.zeros((HISTORY, FRAMES_PER_GROUP, 5), np.float32)
        return World(z.expand(HISTORY, *z.shape).clone(), still, np.zeros(HISTORY, np.float32), 0.0, labels)

    def take(self, n: int) -> list[World]:
        """n worlds, at random; some with new words."""
        rng = self._rng
        while len(self.worlds) < POOL:
            self.worlds.append(self.fresh())
        out = []
        for _ in range(n):
            self.worlds.rotate(int(rng.integers(len(self.worlds))))
            w = self.worlds.popleft()
            if rng.random() < EDIT:
                w.labels = np.where(rng.random(3) < 0.6, [rng.integers(c) for c in ATTRIBUTES], w.labels)
            out.append(w)
        return out

    def give(self, worlds: list[World]) -> None:
        self.worlds.extend(w for w in worlds if w.age < OLDEST)


def with_before(codec: Codec, before: Tensor, groups: Tensor) -> Tensor:
    """Groups (n, k, ...) and the one before them (n, ...) as what the critic sees, (n k, 5, 80, 128, 3)."""
    frames = codec.expand(groups)
    last = torch.cat((codec.last_frame(before)[:, None], frames[:, :-1, -1]), 1)
    return torch.cat((last[:, :, None], frames), 2).flatten(0, 1)


def rollout(net: PocketNet, codec: Codec, batch: Batch, rng: np.random.Generator, bf16: bool) -> Tensor:
    """Windows sampled as in play, (n, k, ...); the last step has a gradient."""
    n, k = batch.window.shape[:2]
    h = batch.history.shape[1]
    sigmas = make_solver("euler", int(rng.choice(STEPS)), SHIFT).sigmas
    end = int(rng.integers(1, len(sigmas)))
    noise = torch.randn_like(batch.window)
    ones = torch.ones(n, k)
    _, control, level, extra, context, call = model_inputs(codec, batch, noise, ones, rng, net, False)
    z = noise
    for i, (now, after) in enumerate(pairwise(sigmas[: end + 1])):
        with torch.set_grad_enabled(i == end - 1), torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            if i == end - 1:
                context = net.context(batch.condition)
            sigma = torch.cat((level[:, :h], ones * now), 1)
            clean = net(torch.cat((batch.history, z), 1), control, sigma, extra, context, call)[:, h:].float()
        z = clean + (z - clean) * (after / now)
    return clean


def _mean(maps: tuple[Tensor, Tensor]) -> Tensor:
    return maps[0].mean() + 0.5 * maps[1].mean()


@dataclass
class Strength:
    """Running sizes of the two gradients at the latents."""

    true: float = 0.0
    adverse: float = 0.0

    def ratio(self, true: float, adverse: float) -> float:
        self.true = true if not self.true else 0.98 * self.true + 0.02 * true
        self.adverse = adverse if not self.adverse else 0.98 * self.adverse + 0.02 * adverse
        return self.true / max(self.adverse, 1e-12)


def critic_loss(critic: Critic, real: Tensor, fake: Tensor, words: Tensor, fake_words: Tensor) -> Tensor:
    """Logistic loss with a smoothness penalty on both sides."""
    total = torch.zeros(())
    for frames, condition, sign in ((real, words, 1.0), (fake, fake_words, -1.0)):
        maps = critic(frames, condition)
        other = critic(frames + SMOOTH_SIGMA * torch.randn_like(frames), condition)
        for weight, a, b in zip((1.0, 0.5), maps, other, strict=True):
            total = total + weight * softplus(-sign * a).mean() + SMOOTH * weight * (a - b).square().mean()
    return total


def distill(
    net: PocketNet, codec: Codec, short: Clips, long: Clips, out: Path, minutes: float, rate: float, tokens: int, seed: int, bf16: bool
) -> None:
    """Trains `net` in place and saves its running average to `out` every few minutes."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    critic = Critic()
    beside = out.with_suffix(".critic.pt")
    if beside.exists():
        critic.load_state_dict(torch.load(beside, weights_only=True))
    average = Average(net, 0.996)
    opts = optimizers(net, rate)
    critic_opt = torch.optim.AdamW(critic.parameters(), lr=1e-3, betas=(0.0, 0.95), weight_decay=1e-3)
    pool = Pool(codec, rng)
    strength = Strength()
    scale = codec.scale
    weights = ((codec.deviation / codec.deviation[0]) / scale**2).view(CHANNELS, 1, 1)
    weights = (weights / weights.mean()).clamp(0.15, 5)
    began = saved = time.monotonic()
    step = 0
    facts: list[tuple[float, ...]] = []
    while (gone := (time.monotonic() - began) / 60) < minutes:
        factor = min(1.0, (step + 1) / 40) * min(1.0, (1 - gone / minutes) / 0.35 + 0.02)
        for opt in (*opts, critic_opt):
            for group in opt.param_groups:
                group["lr"] = (1e-3 if opt is critic_opt else rate) * factor
        k = int(rng.choice([1, 2, 3, 4, 7], p=[0.2, 0.2, 0.25, 0.2, 0.15]))
        n = max(2, tokens // (40 * (HISTORY + k)) // 2)
        known = draw(short, rng, n, HISTORY, k, short.held_out, len(short))
        walked = pool.take(n)
        paths = [onward(w, k, rng) for w in walked]
        motion = torch.from_numpy(np.stack([np.concatenate([w.motion, p[0]]) for w, p in zip(walked, paths, strict=True)]))
        pitch = torch.from_numpy(np.stack([np.concatenate([w.pitch, p[1]]) for w, p in zip(walked, paths, strict=True)]))
        said = torch.from_numpy(one_hot(np.stack([w.labels for w in walked]), rng, 0.03))
        history = torch.cat((known.history, torch.stack([w.latents for w in walked])))
        batch = Batch(
            history, torch.cat((known.window, known.window)), torch.cat((known.motion, motion)), torch.cat((known.pitch, pitch)),
            torch.cat((known.condition, said)), torch.cat((known.weight, torch.zeros(n, k))),
        )  # fmt: skip
        made = rollout(net, codec, batch, rng, bf16)
        z = made.detach().requires_grad_()

        # the critic: true groups under their words against made ones
        real = draw(short, rng, 2 * n, 1, k, short.held_out, len(short))
        with torch.no_grad():
            true = with_before(codec, real.history[:, -1], real.window)
        counted = real.weight.flatten() > 0
        seen = with_before(codec, history[:, -1], z)
        words = batch.condition.repeat_interleave(k, 0)
        loss_c = critic_loss(critic, true[counted], seen.detach(), real.condition.repeat_interleave(k, 0)[counted], words)
        critic_opt.zero_grad(set_to_none=True)
        loss_c.backward()
        critic_opt.step()

        # the network: true continuations where known, the look of true ones everywhere
        error = ((z - batch.window).square() * weights).mean((2, 3, 4))
        loss_true = (error * batch.weight).sum() / batch.weight.sum().clamp_min(1)
        g_true = torch.autograd.grad(loss_true, z, retain_graph=True)[0]
        judged = critic(seen, words)
        loss_adverse = softplus(-judged[0]).mean() + 0.5 * softplus(-judged[1]).mean()
        g_adverse = torch.autograd.grad(loss_adverse, z)[0]
        size_true = float(g_true[:n].square().mean().sqrt())
        ratio = strength.ratio(size_true, float(g_adverse.square().mean().sqrt()))
        for opt in opts:
            opt.zero_grad(set_to_none=True)
        warm = min(1.0, max(0.0, (step - LEARN_FIRST) / 60))
        made.backward(8.0 * (g_true + warm * ADVERSE * ratio * g_adverse))

        # and plain flow matching
        h = int(rng.choice([1, 2, 3, HISTORY], p=[0.2, 0.15, 0.15, 0.5]))
        far = rng.random() < 0.15
        length = int(rng.integers(9, 22)) if far else int(rng.integers(1, 8))
        clips = long if far else short
        plain = draw(clips, rng, max(2, tokens // (40 * (h + length)) // 2), h, length, clips.held_out, len(clips))
        loss = loss_of(net, codec, plain, rng, weights, True, bf16)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        for opt in opts:
            opt.step()
        average.update(net)
        step += 1

        for i, w in enumerate(walked):
            w.latents = torch.cat((w.latents, z[n + i].detach()))[-HISTORY:]
            w.motion = np.concatenate([w.motion, paths[i][0]])[-HISTORY:]
            w.pitch = np.concatenate([w.pitch, paths[i][1]])[-HISTORY:]
            w.level, w.age = paths[i][2], w.age + k
        pool.give(walked)
        with torch.no_grad():
            sharp = [float((x - _soft(x)).square().mean().sqrt()) for x in (true, seen[n * k :])]
        facts.append((loss.item(), loss_true.item(), loss_adverse.item(), loss_c.item(), ratio, sharp[1] / sharp[0]))
        if step % 25 == 0:
            names = ("flow", "true", "adverse", "critic", "ratio", "detail")
            means = np.mean(facts[-25:], 0)
            log.info("step %d, %.1f min: %s", step, gone, {a: round(float(b), 4) for a, b in zip(names, means, strict=True)})
        if time.monotonic() - saved > 240:
            torch.save(average.state, out)
            torch.save(critic.state_dict(), beside)
            saved = time.monotonic()
    torch.save(average.state, out)
    torch.save(critic.state_dict(), beside)


def _soft(frames: Tensor) -> Tensor:
    return avg_pool2d(frames.movedim(-1, -3).flatten(0, 1), 3, 1, 1, count_include_pad=False).movedim(-3, -1).unflatten(0, frames.shape[:2])


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("data", type=Path, help="folder with codec.pt, short.npz and long.npz")
    p.add_argument("out", type=Path)
    p.add_argument("--resume", type=Path, required=True, help="network to start from")
    p.add_argument("--minutes", type=float, default=60)
    p.add_argument("--rate", type=float, default=4e-4)
    p.add_argument("--tokens", type=int, default=3600, help="of a step's rollouts and of its flow-matching batch, each half of it")
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--no-bf16", action="store_true")
    a = p.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    torch.set_num_threads(a.threads)
    codec = load_transform(a.data / "codec.pt")
    net = PocketNet(NetworkConfig())
    net.load_state_dict(torch.load(a.resume, weights_only=True))
    distill(net, codec, Clips(a.data / "short.npz"), Clips(a.data / "long.npz"), a.out, a.minutes, a.rate, a.tokens, a.seed, not a.no_bf16)


if __name__ == "__main__":
    main()
