"""Judges the pocket world against its renderer on held-out worlds, scripts and wordings.

    python -m engine.pocket.evaluate --weights assets/pocket --json report.json [--quick]

control: a window of K groups is sampled after the true history of a held-out world while one key is held; a group that
turns counts as right when the picture moved the commanded way by at least a pixel between its border frames. forward:
the same with the forward key and the best-fitting expansion. prompt: 2 s after an edit in a held-out wording, a
classifier that was trained on rendered frames names biome and time. drift: worlds from a prompt alone, wandered for 30 s.
"""

from __future__ import annotations

import argparse
import json
import logging
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from engine.pocket import world
from engine.pocket.camera import FRAMES_PER_GROUP
from engine.pocket.captions import HELD_OUT
from engine.pocket.codec import Codec
from engine.pocket.data import Clip, clip
from engine.pocket.judge import Judge, expansion, horizontal_shift, sharpness, train_judge
from engine.pocket.memory import Place
from engine.pocket.model import COMMANDS, GroupState, PocketDecoder, PocketSampler, PocketWeights
from engine.pocket.train import one_hot
from engine.sampler import Condition, Group, HistoryPolicy, Request

log = logging.getLogger(__name__)

HELD_OUT_SEED = 9_000_000
CONTEXT = 6
"""Groups of true history before what is judged."""


def _yes(step: int, steps: int) -> bool:
    return True


class Bench:
    """A sampler and a decoder, with worlds to put them into."""

    def __init__(self, weights: PocketWeights) -> None:
        self.sampler, self.decoder = PocketSampler(weights), PocketDecoder(weights)
        self.codec: Codec = weights.codec

    def enter(self, c: Clip, groups: int = CONTEXT) -> None:
        """The first groups of a rendered clip become the session's history."""
        self.sampler.reset()
        frames = torch.from_numpy(c.frames[: groups * FRAMES_PER_GROUP]).float().div(127.5).sub(1)
        latents = self.codec.encode(frames.unflatten(0, (groups, FRAMES_PER_GROUP)))
        after = [*c.pitch[1 : groups + 1]]
        old = torch.from_numpy(one_hot(c.before[None], np.random.default_rng(0), 0.0))[0]
        states = [GroupState(c.motion[g], float(c.pitch[g]), Place(pitch=float(after[g])), old) for g in range(groups)]
        self.sampler.adopt([Group(g, latents[g], states[g]) for g in range(groups)])

    def go(self, branch: int, window: int, keys: tuple[str, ...], prompt: str, seed: int, steps: int = 4) -> NDArray[np.uint8]:
        """Samples and adopts a window; its frames (4 K, 80, 128, 3)."""
        prepared = self.sampler.prepare(Condition(1, prompt, keys))
        groups = self.sampler.sample(Request(branch, window, steps, seed, 0, prepared, HistoryPolicy.CLEAN_PREFILL), _yes)
        self.sampler.adopt(groups)
        for p in range(branch + 1, branch + window + 1):
            self.sampler.keep(p)
        return np.concatenate([np.stack(self.decoder.decode(g)) for g in groups])


def held_out(i: int, groups: int = CONTEXT + 2, edit: bool = False) -> Clip:
    """A rendered clip of a world that was never trained on."""
    n = HELD_OUT_SEED + i * 40
    while True:
        c = clip(n, groups)
        if (c.edit < groups) == edit or (not edit and c.edit >= groups):
            return c
        n += 1


def judge_control(bench: Bench, worlds: int, window: int) -> dict[str, Any]:
    """Signs and sizes of turns, and expansion under the forward key."""
    signs, got, wanted, forward = [], [], [], []
    for i in range(worlds):
        c = held_out(i)
        last = c.frames[CONTEXT * FRAMES_PER_GROUP - 1]
        for keys in (("turn_right",), ("turn_left",)):
            bench.enter(c)
            frames = np.concatenate((last[None], bench.go(CONTEXT, window, keys, "", i)))
            axis, sign = COMMANDS[keys[0]]
            velocity = c.motion[CONTEXT - 1, -1, axis]
            if velocity * sign < -0.1:
                continue
            for g in range(window):
                moved, _ = horizontal_shift(frames[g * FRAMES_PER_GROUP], frames[(g + 1) * FRAMES_PER_GROUP])
                signs.append(bool(moved * sign <= -1))
                got.append(-moved)
                wanted.append(sign * (16.0 if g else 12.0))
        bench.enter(c)
        frames = np.concatenate((last[None], bench.go(CONTEXT, window, ("forward",), "", i)))
        for g in range(window):
            forward.append(expansion(frames[g * FRAMES_PER_GROUP], frames[(g + 1) * FRAMES_PER_GROUP]) > 1.005)
    return {
        "turn_sign": float(np.mean(signs)),
        "turn_correlation": float(np.corrcoef(got, wanted)[0, 1]) if np.std(got) > 0 else 0.0,
        "turning_groups": len(signs),
        "forward_expands": float(np.mean(forward)),
    }


def oracle_control(worlds: int, window: int) -> dict[str, float]:
    """What the same measures say of true frames: their ceiling."""
    signs, forward = [], []
    for i in range(worlds):
        c = held_out(i)
        rng = np.random.default_rng(i)
        ground = world.Ground.make(HELD_OUT_SEED + 77 + i)
        names = (world.BIOME_NAMES[c.before[0]], world.TIME_NAMES[c.before[1]], world.WEATHER_NAMES[c.before[2]])
        scene = ground.scene(*names)
        for axis, sign in ((2, 1), (2, -1), (0, 1)):
            walker = world.Walker(rng, scene)
            command = np.zeros(5, np.float32)
            command[axis] = sign
            seen = [walker.see(scene)]
            for _ in range(window * FRAMES_PER_GROUP):
                walker.move(scene, command)
                seen.append(walker.see(scene))
            for g in range(window):
                a, b = seen[g * FRAMES_PER_GROUP], seen[(g + 1) * FRAMES_PER_GROUP]
                if axis == 2:
                    signs.append(horizontal_shift(a, b)[0] * sign <= -1)
                else:
                    forward.append(expansion(a, b) > 1.005)
    return {"turn_sign": float(np.mean(signs)), "forward_expands": float(np.mean(forward))}


def judge_prompts(bench: Bench, judge: Judge, worlds: int) -> dict[str, float]:
    """Whether the world is what an edit in a held-out wording asked for, 2 s after it."""
    rng = np.random.default_rng(4)
    frames, wanted = [], []
    for i in range(worlds):
        c = held_out(500 + i)
        label = [int(rng.integers(8)), int(rng.integers(4)), 0 if rng.random() < 0.6 else int(rng.integers(1, 3))]
        words = [str(rng.choice(HELD_OUT[a][label[a]])) for a in range(3)]
        text = f"{words[0]} {words[1]}" + (f", {words[2]}" if label[2] else ", in clear weather")
        bench.enter(c)
        keys = ("forward",) if i % 2 else ()
        shown = np.concatenate([bench.go(CONTEXT + 7 * k, 7, keys, text, i) for k in range(2)])
        frames.append(shown[32])
        wanted.append(label)
    right = judge.name(np.stack(frames)) == np.array(wanted)
    return {"biome": float(right[:, 0].mean()), "time": float(right[:, 1].mean()), "weather": float(right[:, 2].mean())}


def judge_drift(bench: Bench, judge: Judge, worlds: int, seconds: int = 30) -> tuple[dict[str, float], list[NDArray[np.uint8]]]:
    """Sharpness and movement at the end of a wander against its beginning; the films' frames, one a second."""
    ratios, moves, keeps, films = [], [], [], []
    rng = np.random.default_rng(6)
    for i in range(worlds):
        bench.sampler.reset()
        label = [i % 8, (i * 3 + 1) % 4, 0]
        text = f"{HELD_OUT[0][label[0]][0]} {HELD_OUT[1][label[1]][0]}"
        shown: list[NDArray[np.uint8]] = []
        keys: tuple[str, ...] = ("forward",)
        branch = 0
        while branch * FRAMES_PER_GROUP < seconds * 16:
            shown.append(bench.go(branch, 7, keys, text, i))
            branch += 7
            keys = (("forward",), ("forward", "turn_right"), ("turn_left",), ("forward", "turn_left"))[rng.integers(4)]
        film = np.concatenate(shown)[: seconds * 16]
        early = np.mean([sharpness(f) for f in film[32:80:4]])
        late = np.mean([sharpness(f) for f in film[-48::4]])
        ratios.append(late / early)
        moves.append(np.mean([np.abs(film[t].astype(float) - film[t - 4]).mean() for t in range(len(film) - 64, len(film), 8)]))
        keeps.append(bool(judge.name(film[-1:])[0, 0] == label[0]))
        films.append(film[:: 16])
    scores = {
        "sharpness": float(np.median(ratios)), "moves": float(np.min(moves)), "drift": float(1 - np.mean(keeps)),
    }  # fmt: skip
    return scores, films


def rendered_frames(n: int, seed: int) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """n frames of as many conditions, for training and testing the classifier."""
    rng = np.random.default_rng(seed)
    frames: list[NDArray[np.uint8]] = []
    labels: list[NDArray[np.int64]] = []
    while len(frames) < n:
        ground = world.Ground.make(int(rng.integers(2**31)))
        for _ in range(4):
            label = np.array([rng.integers(8), rng.integers(4), rng.integers(3)])
            scene = ground.scene(world.BIOME_NAMES[label[0]], world.TIME_NAMES[label[1]], world.WEATHER_NAMES[label[2]])
            for _ in range(2):
                frames.append(world.Walker(rng, scene).see(scene))
                labels.append(label)
    return np.stack(frames[:n]), np.stack(labels[:n])


def load_judge(file: Path, frames: int = 8000) -> tuple[Judge, dict[str, float]]:
    """The classifier of `file`, trained and written there when it is not; and its accuracy on fresh frames."""
    judge = Judge()
    if file.exists():
        judge.load_state_dict(torch.load(file, weights_only=True))
        judge.eval()
    else:
        judge = train_judge(*rendered_frames(frames, 8_000_000))
        file.parent.mkdir(parents=True, exist_ok=True)
        torch.save(judge.state_dict(), file)
    x, y = rendered_frames(400, 8_500_000)
    right = (judge.name(x) == y).mean(0)
    return judge, {"biome": float(right[0]), "time": float(right[1]), "weather": float(right[2])}


def contact_sheet(films: list[NDArray[np.uint8]], file: Path) -> None:
    from PIL import Image

    n = min(len(f) for f in films)
    rows = [np.concatenate(list(f[: n : max(1, n // 10)][:10]), 1) for f in films]
    Image.fromarray(np.concatenate(rows)).save(file)


def evaluate(weights: PocketWeights, judge_file: Path, worlds: int, sheet: Path | None = None) -> dict[str, Any]:
    """All scores; see the top of this file."""
    began = time.monotonic()
    bench = Bench(weights)
    judge, accuracy = load_judge(judge_file)
    log.info("classifier on true frames: %s", accuracy)
    by_window = {}
    for window in (7, 1, 21):
        by_window[str(window)] = judge_control(bench, worlds if window == 7 else max(4, worlds // 3), window)
        log.info("K = %d: %s", window, by_window[str(window)])
    report: dict[str, Any] = {**by_window["7"], "by_window": by_window}
    report["oracle"] = oracle_control(worlds, 7)
    log.info("true frames: %s", report["oracle"])
    report.update(judge_prompts(bench, judge, 4 * worlds))
    drift, films = judge_drift(bench, judge, max(3, worlds // 3))
    report.update(drift)
    report["classifier"] = accuracy
    report["worlds"] = worlds
    report["seconds"] = round(time.monotonic() - began, 1)
    if sheet is not None:
        contact_sheet(films, sheet)
    return report


def main() -> None:
    from engine.models import pocket_folder

    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--weights", type=Path, default=pocket_folder())
    p.add_argument("--judge", type=Path, default=Path("runs/judge.pt"), help="classifier; trained there when missing")
    p.add_argument("--json", type=Path)
    p.add_argument("--sheet", type=Path, help="contact sheet of the drift test (PNG)")
    p.add_argument("--worlds", type=int, default=32, help="held-out worlds (default: %(default)s)")
    p.add_argument("--quick", action="store_true", help="8 worlds")
    a = p.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    report = evaluate(PocketWeights.load(a.weights), a.judge, 8 if a.quick else a.worlds, a.sheet)
    text = json.dumps(report, indent=2)
    print(text)
    if a.json:
        a.json.write_text(text + "\n")


if __name__ == "__main__":
    main()
