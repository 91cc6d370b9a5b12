"""Training clips: rendered, encoded and kept as latents with the motion and the conditions that made them."""

from __future__ import annotations

import argparse
import logging
import multiprocessing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from engine.models.pocket.camera import FRAMES_PER_GROUP
from engine.models.pocket.codec import Codec
from engine.training import world

MORPH_FRAMES = 16
"""Frames over which an edit transforms the world in view."""
EDIT_SHARE = 0.5

log = logging.getLogger(__name__)


@dataclass
class Clip:
    """frames (4 g, 80, 128, 3) uint8; motion (g, 4, 5) velocities; pitch (g,) before each group; before, after (3,)
    indices of biome, time and weather; edit: the group at which `after` begins (g when there is none)."""

    frames: np.ndarray
    motion: np.ndarray
    pitch: np.ndarray
    before: np.ndarray
    after: np.ndarray
    edit: int


def random_condition(rng: np.random.Generator) -> np.ndarray:
    return np.array([rng.integers(8), rng.integers(4), rng.choice(3, p=[0.55, 0.25, 0.2])])


def scene_of(ground: world.Ground, c: np.ndarray) -> world.Scene:
    return ground.scene(world.BIOME_NAMES[c[0]], world.TIME_NAMES[c[1]], world.WEATHER_NAMES[c[2]])


def clip(seed: int, groups: int, ground_seed: int | None = None) -> Clip:
    """One clip, a function of its seeds."""
    rng = np.random.default_rng([7, seed])
    ground = world.Ground.make(seed if ground_seed is None else ground_seed)
    before = random_condition(rng)
    after, edit = before, groups
    if rng.random() < EDIT_SHARE:
        edit = int(rng.integers(2, groups - 3))
        fresh = random_condition(rng)
        after = np.where(rng.random(3) < 0.7, fresh, before)
    first, second = scene_of(ground, before), scene_of(ground, after)
    walker = world.Walker(rng, first)
    n = groups * FRAMES_PER_GROUP
    commands = world.wander(rng, n)
    frames = np.empty((n, world.HEIGHT, world.WIDTH, 3), np.uint8)
    motion = np.empty((n, 5), np.float32)
    pitch = np.empty(n, np.float32)
    scene = first
    for k in range(n):
        share = (k + 1 - edit * FRAMES_PER_GROUP) / MORPH_FRAMES
        if 0 < share <= 1:
            scene = first.mix(second, 3 * share**2 - 2 * share**3)
        elif share > 1:
            scene = second
        pitch[k] = walker.pitch
        motion[k] = walker.move(scene, commands[k])
        frames[k] = walker.see(scene)
    return Clip(frames, motion.reshape(groups, FRAMES_PER_GROUP, 5), pitch[::FRAMES_PER_GROUP], before, after, edit)


def mirrored(c: Clip) -> Clip:
    """The clip seen in a mirror: left and right are exchanged."""
    flip = np.array([1, -1, -1, 1, 1], np.float32)
    return Clip(np.ascontiguousarray(c.frames[:, :, ::-1]), c.motion * flip, c.pitch, c.before, c.after, c.edit)


def _encoded(job: tuple[int, int, Path]) -> list[tuple]:
    seed, groups, path = job
    torch.set_num_threads(1)
    codec = load_transform(path)
    rows = []
    first = clip(seed, groups)
    for c in (first, mirrored(first)):
        x = torch.from_numpy(c.frames).float().div(127.5).sub(1).unflatten(0, (groups, FRAMES_PER_GROUP))
        rows.append((codec.encode(x).half().numpy(), c.motion, c.pitch, c.before, c.after, c.edit))
    return rows


def load_transform(path: Path) -> Codec:
    codec = Codec()
    codec.load_state_dict(torch.load(path, weights_only=True), strict=False)
    return codec.eval()


def _rendered(job: tuple[int, int]) -> Clip:
    return clip(*job)


def fit_codec(seed: int, path: Path, workers: int, clips: int = 320) -> None:
    """Fits the transform on `clips` rendered clips and writes it to `path`."""
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        made = pool.map(_rendered, [(seed + i, 8) for i in range(clips)], chunksize=4)
    frames = np.stack([c.frames for c in made]).reshape(-1, FRAMES_PER_GROUP, world.HEIGHT, world.WIDTH, 3)
    codec = Codec.fit(frames)
    torch.save({k: v for k, v in codec.state_dict().items() if not k.startswith("refiner")}, path)


def build(seed: int, clips: int, groups: int, codec: Path, out: Path, workers: int) -> None:
    """Renders `clips` clips of `groups` groups and their mirror images, and writes one .npz of latents."""
    jobs = [(seed + i, groups, codec) for i in range(clips)]
    rows: list[tuple] = []
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        for i, pair in enumerate(pool.imap(_encoded, jobs, chunksize=4)):
            rows += pair
            if i % 200 == 0:
                log.info("clips %d of %d", i, clips)
    names = ("latents", "motion", "pitch", "before", "after", "edit")
    arrays: dict[str, Any] = {n: np.stack([r[i] for r in rows]) for i, n in enumerate(names)}
    np.savez(out, **arrays)


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("out", type=Path)
    p.add_argument("--seed", type=int, default=1_000_000)
    p.add_argument("--clips", type=int, default=4000)
    p.add_argument("--groups", type=int, default=14)
    p.add_argument("--workers", type=int, default=2)
    p.add_argument("--codec", type=Path, required=True)
    a = p.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    if not a.codec.exists():
        fit_codec(500_000, a.codec, a.workers)
    build(a.seed, a.clips, a.groups, a.codec, a.out, a.workers)


if __name__ == "__main__":
    main()
