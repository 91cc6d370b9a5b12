"""Trains the codec's refiner: block borders and the network's noise out, detail back, at the end against a critic.

    python -m engine.training.refine runs/codec.pt runs/refiner.pt --minutes 10

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
from torch.nn.functional import pixel_unshuffle

from engine.models.pocket.camera import FRAMES_PER_GROUP, HEIGHT, WIDTH
from engine.models.pocket.codec import BLOCK, Codec
from engine.training.critic import Balance, Critic, critic_loss
from engine.training.data import clip, load_transform
from engine.training.train import Average

log = logging.getLogger(__name__)
SEED = 6_000_000
GROUPS = 6
"""Of a clip."""
RATE = 2e-3
NOISE = 0.1
CROP = (48, 64)
PLAIN, ADVERSE = 0.35, 1.5
"""Share of the time without the critic, and the length of its gradient as a share of the plain loss's."""


def _frames(seed: int) -> np.ndarray:
    return clip(seed, GROUPS).frames.reshape(GROUPS, FRAMES_PER_GROUP, HEIGHT, WIDTH, 3)


def worn(z: Tensor, scale: Tensor) -> Tensor:
    """Latents with noise of up to NOISE standard deviations: more would teach it to smooth."""
    strength = NOISE * torch.rand(len(z), 1, 1, 1, device=z.device)
    return z + torch.randn_like(z) * strength * scale[:, None, None]


def cropped(x: Tensor, rng: np.random.Generator) -> Tensor:
    """The same part of CROP pixels of all frames, on the codec's grid."""
    top, left = (
        BLOCK * int(rng.integers((side - part) // BLOCK + 1)) for side, part in zip((HEIGHT, WIDTH), CROP, strict=True)
    )
    return x[:, :, top : top + CROP[0], left : left + CROP[1]]


def train(codec: Codec, frames: np.ndarray, minutes: float, batch: int = 16, seed: int = 0) -> tuple[float, float]:
    """Trains codec.refiner in place: towards the true frames first, then against a critic as well. Returns the gain in dB on held-out
    groups without noise, and their sharpness as a share of the true frames'."""
    torch.manual_seed(seed)
    held, frames = frames[:48], frames[48:]
    device = codec.mean.device
    net, critic = codec.refiner, Critic(2 * 4 * 3 * FRAMES_PER_GROUP, (64, 128, 128), (False, True, True)).to(device)
    opt = torch.optim.AdamW(net.parameters(), lr=RATE, betas=(0.9, 0.95), weight_decay=1e-3)
    judge = torch.optim.AdamW(critic.parameters(), lr=4e-4, betas=(0.0, 0.9))
    balance = Balance(list(net.parameters()), ADVERSE)
    average = Average(net, 0.995)
    began, step = time.monotonic(), 0
    while (share := (time.monotonic() - began) / 60 / minutes) < 1:
        rng = np.random.default_rng([seed, step])
        x = cropped(torch.from_numpy(frames[rng.integers(0, len(frames), batch)]).to(device) / 127.5 - 1, rng)
        with torch.no_grad():
            rough = codec.expand(worn(codec.encode(x), codec.scale))
        for group in opt.param_groups:
            group["lr"] = RATE * min(1, (step + 1) / 50) * min(1.0, (1 - share) / 0.6 + 0.01)
        with torch.autocast(device.type, torch.bfloat16):
            out = net(rough)
            plain = ((out - x).square() + 1e-4).sqrt().mean()
            adverse = None
            if share > PLAIN:
                judged = critic_loss(critic(seen(x, rough)), critic(seen(out.detach(), rough)))
                judge.zero_grad()
                judged.backward()
                judge.step()
                if share > PLAIN + 0.03:
                    adverse = -critic(seen(out, rough)).mean()
        balance.backward(plain, adverse)
        opt.step()
        average.update(net)
        step += 1
        if step % 50 == 0:
            log.info("step %d, %.1f min, loss %.4f", step, share * minutes, plain.item())
    net.load_state_dict(average.state)
    with torch.no_grad():
        x = torch.from_numpy(held).to(device) / 127.5 - 1
        rough = codec.expand(codec.encode(x))
        out = net(rough).clamp(-1, 1)
        before, after = (rough - x).square().mean(), (out - x).square().mean()
        steep = [float(sum(v.diff(dim=d).abs().mean() for d in (2, 3))) for v in (x, out)]
    return float(10 * torch.log10(before / after)), steep[1] / steep[0]


def seen(frames: Tensor, rough: Tensor) -> Tensor:
    """What the critic looks at: a group's frames beside the linear decode that they were made from, (n, 96, 40, 64)."""
    x = torch.cat((frames, rough), 1).permute(0, 1, 4, 2, 3)
    return pixel_unshuffle(x.flatten(1, 2), 2)


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("codec", type=Path)
    p.add_argument("out", type=Path)
    p.add_argument("--minutes", type=float, default=10)
    p.add_argument("--clips", type=int, default=700)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    a = p.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    torch.set_num_threads(a.threads)
    with multiprocessing.get_context("spawn").Pool(a.threads) as pool:
        frames = np.concatenate(pool.map(_frames, range(SEED, SEED + a.clips), chunksize=4))
    codec = load_transform(a.codec).to(a.device)
    gain, sharp = train(codec, frames, a.minutes)
    log.info("gain %.2f dB on held-out groups, %.2f of the true frames' sharpness", gain, sharp)
    torch.save(codec.cpu().refiner.state_dict(), a.out)


if __name__ == "__main__":
    main()
