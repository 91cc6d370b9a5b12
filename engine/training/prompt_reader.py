"""Trains the reader of prompts on captions that the renderer's own lands give."""

from __future__ import annotations

import numpy as np
import torch

from engine.models.pocket.prompt_reader import Reader, Words
from engine.training.captions import HELD_OUT, caption


def train_reader(seed: int = 0, steps: int = 2500, batch: int = 128) -> tuple[Reader, dict[str, float]]:
    """Trains a reader on captions; returns it and its accuracy on held-out wordings."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    words, reader = Words(), Reader()
    opt = torch.optim.AdamW(reader.parameters(), lr=1e-3, weight_decay=0.02)
    for step in range(steps):
        pairs = [caption(rng) for _ in range(batch)]
        labels = torch.from_numpy(np.stack([p[1] for p in pairs]))
        embedded, mask = words.embed([p[0] for p in pairs])
        embedded = embedded * (torch.rand(embedded.shape[:2]) > 0.08)[..., None] + 0.05 * torch.randn_like(embedded)
        logits = reader(embedded, mask)
        losses = [
            torch.nn.functional.cross_entropy(x, labels[:, i], label_smoothing=0.02) for i, x in enumerate(logits)
        ]
        loss = torch.stack(losses).sum()
        for group in opt.param_groups:
            group["lr"] = 1e-3 * (1 - step / steps)
        opt.zero_grad()
        loss.backward()
        opt.step()
    reader.eval()
    rng = np.random.default_rng(seed + 1)
    pairs = [caption(rng, HELD_OUT) for _ in range(1000)]
    with torch.no_grad():
        logits = reader(*words.embed([p[0] for p in pairs]))
    labels = torch.from_numpy(np.stack([p[1] for p in pairs]))
    names = ("biome", "time", "weather")
    return reader, {n: float((logits[i].argmax(1) == labels[:, i]).float().mean()) for i, n in enumerate(names)}
