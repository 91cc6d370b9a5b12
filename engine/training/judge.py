"""Measures of pictures, and a small classifier trained on rendered frames: what sampled worlds are judged by."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from engine.models.pocket.camera import HORIZON
from engine.models.pocket.network import ATTRIBUTES

Picture = NDArray[np.uint8]


def grey(frame: Picture) -> NDArray[np.float32]:
    """(h, w, 3) uint8 to (h, w) float32, each row without its mean: the sky's gradient says nothing of a turn."""
    g = frame.astype(np.float32).mean(-1)
    return g - g.mean(1, keepdims=True)


def horizontal_shift(before: Picture, after: Picture, reach: int = 30) -> tuple[float, float]:
    """By how many pixels the picture moved to the right, and the correlation found there (normalised, at most 1)."""
    a, b = grey(before), grey(after)
    w = a.shape[1]
    scores = []
    for d in range(-reach, reach + 1):
        x = a[:, max(0, -d) : w - max(0, d)]
        y = b[:, max(0, d) : w - max(0, -d)]
        scores.append(float((x * y).sum() / (np.sqrt((x * x).sum() * (y * y).sum()) + 1e-6)))
    best = int(np.argmax(scores))
    return float(best - reach), scores[best]


def expansion(before: Picture, after: Picture) -> float:
    """The factor about the middle of the horizon by which the lower picture grew that fits best."""
    a, b = grey(before)[int(HORIZON) - 6 :], grey(after)[int(HORIZON) - 6 :]
    h, w = a.shape
    rows, cols = np.arange(h)[:, None] - 6.0, np.arange(w)[None] - (w - 1) / 2
    best, found = -2.0, 1.0
    for factor in np.exp(np.linspace(-0.4, 0.4, 41)):
        r = np.rint(rows / factor + 6).astype(int)
        c = np.rint(cols / factor + (w - 1) / 2).astype(int)
        ok = (r >= 0) & (r < h) & (c >= 0) & (c < w)
        x = a[np.clip(r, 0, h - 1), np.clip(c, 0, w - 1)] * ok
        y = b * ok
        score = float((x * y).sum() / (np.sqrt((x * x).sum() * (y * y).sum()) + 1e-6))
        if score > best:
            best, found = score, float(factor)
    return found


def sharpness(frame: Picture) -> float:
    """Mean absolute difference of neighbouring pixels, in grey levels."""
    g = frame.astype(np.float32).mean(-1)
    return float(np.abs(np.diff(g, axis=0)).mean() + np.abs(np.diff(g, axis=1)).mean())


class Judge(nn.Module):
    """Names biome, time and weather of a frame."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        sizes = (3, width, 2 * width, 3 * width, 3 * width)
        layers: list[nn.Module] = []
        for a, b in pairwise(sizes):
            layers += [nn.Conv2d(a, b, 3, 2, 1), nn.GroupNorm(8, b), nn.SiLU()]
        self.body = nn.Sequential(*layers)
        self.heads = nn.ModuleList(nn.Linear(2 * sizes[-1], n) for n in ATTRIBUTES)

    def forward(self, frames: Tensor) -> list[Tensor]:
        """(n, 80, 128, 3) uint8 or float in [0, 255] to logits, one (n, classes) an attribute."""
        h = self.body(frames.permute(0, 3, 1, 2).float() / 127.5 - 1)
        h = torch.cat((h.mean((2, 3)), h.amax((2, 3))), 1)
        return [head(h) for head in self.heads]

    @torch.no_grad()
    def confidence(self, frames: NDArray[np.uint8], biome: int) -> float:
        """The mean probability that (n, 80, 128, 3) frames show a land."""
        logits = self(torch.from_numpy(np.ascontiguousarray(frames)))[0]
        return float(logits.softmax(1)[:, biome].mean())

    @torch.no_grad()
    def name(self, frames: NDArray[np.uint8]) -> NDArray[np.int64]:
        """(n, 80, 128, 3) to labels (n, 3)."""
        return torch.stack([x.argmax(1) for x in self(torch.from_numpy(np.ascontiguousarray(frames)))], 1).numpy()


def train_judge(frames: NDArray[np.uint8], labels: NDArray[np.int64], seed: int = 0, steps: int = 900) -> Judge:
    """A judge that does not mind blur, noise and tone, which are not what it is asked about."""
    torch.manual_seed(seed)
    judge = Judge()
    opt = torch.optim.AdamW(judge.parameters(), lr=2e-3, weight_decay=0.02)
    for step in range(steps):
        i = torch.randint(len(frames), (64,))
        x = torch.from_numpy(frames[i.numpy()]).float().permute(0, 3, 1, 2)
        soft = nn.functional.avg_pool2d(x, 3, 1, 1, count_include_pad=False)
        softer = nn.functional.avg_pool2d(soft, 5, 1, 2, count_include_pad=False)
        u = torch.rand(64, 1, 1, 1)
        x = torch.where(u < 0.35, soft, torch.where(u < 0.6, softer, x))
        x = (
            x * (1 + 0.05 * torch.randn(64, 1, 1, 1))
            + 5 * torch.randn(64, 3, 1, 1)
            + 6 * torch.rand(64, 1, 1, 1) * torch.randn_like(x)
        )
        y = torch.from_numpy(labels[i.numpy()])
        losses = [nn.functional.cross_entropy(z, y[:, a]) for a, z in enumerate(judge(x.permute(0, 2, 3, 1)))]
        for group in opt.param_groups:
            group["lr"] = 2e-3 * (1 - step / steps)
        opt.zero_grad()
        torch.stack(losses).sum().backward()
        opt.step()
    return judge.eval()
