"""Judges the pocket world against its renderer on held-out worlds, scripts and wordings.

    foreland evaluate [--quick] [--json FILE] [--report DIR] [--card]

control: a window of K groups is sampled after the true history of a held-out world while one key is held; a group that
turns counts as right when the picture moved the commanded way by at least a pixel between its border frames. forward:
the same with the forward key and the best-fitting expansion. prompt: 2 s after an edit in a held-out wording, a
classifier that was trained on rendered frames names biome, time and weather. sharpness, drift: worlds from a prompt alone, wandered for
60 s: how sharp the end is against 5 s, and how much surer the classifier was of the land then. by_window: the paper's claim, larger K for
better pictures and motion, tested on this model.
"""

from __future__ import annotations

import json
import logging
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from engine.control.conditions import Condition
from engine.models.interface import Group, HistoryPolicy, Request
from engine.models.pocket.camera import COMMANDS, FRAMES_PER_GROUP
from engine.models.pocket.codec import Codec
from engine.models.pocket.memory import Place
from engine.models.pocket.sampler import GroupState, PocketDecoder, PocketSampler, PocketWeights
from engine.training import world
from engine.training.captions import HELD_OUT
from engine.training.data import Clip, clip
from engine.training.judge import Judge, expansion, horizontal_shift, sharpness, train_judge
from engine.training.train import one_hot

log = logging.getLogger(__name__)

HELD_OUT_SEED = 9_000_000
JUDGE = "judge.safetensors"
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
        self.sampler.extend([Group(g, latents[g], states[g]) for g in range(groups)])

    def go(
        self, branch: int, window: int, keys: tuple[str, ...], prompt: str, seed: int, steps: int = 4
    ) -> NDArray[np.uint8]:
        """Samples and adopts a window; its frames (4 K, 80, 128, 3)."""
        prepared = self.sampler.prepare(Condition(1, prompt, keys))
        groups = self.sampler.sample(
            Request(branch, window, steps, seed, 0, prepared, HistoryPolicy.CLEAN_PREFILL), _yes
        )
        self.sampler.extend(groups)
        for p in range(branch + 1, branch + window + 1):
            self.sampler.evict_before(p)
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


def judge_drift(
    bench: Bench, judge: Judge, worlds: int, seconds: int = 60, window: int = 7
) -> tuple[dict[str, float], list[NDArray[np.uint8]]]:
    """Sharpness, the classifier's confidence in the land, and movement at the end of a wander against those at 5 s; the films' frames,
    one a second."""
    ratios, moves, keeps, sure, films = [], [], [], [], []
    rng = np.random.default_rng(6)
    for i in range(worlds):
        bench.sampler.reset()
        label = [i % 8, (i * 3 + 1) % 4, 0]
        text = f"{HELD_OUT[0][label[0]][0]} {HELD_OUT[1][label[1]][0]}"
        shown: list[NDArray[np.uint8]] = []
        keys: tuple[str, ...] = ("forward",)
        branch = 0
        while branch * FRAMES_PER_GROUP < seconds * 16:
            shown.append(bench.go(branch, window, keys, text, i))
            branch += window
            if branch // 7 != (branch - window) // 7 or window > 7:
                keys = (("forward",), ("forward", "turn_right"), ("turn_left",), ("forward", "turn_left"))[
                    rng.integers(4)
                ]
        film = np.concatenate(shown)[: seconds * 16]
        early, late = film[64:112:4], film[-48::4]
        ratios.append(np.mean([sharpness(f) for f in late]) / np.mean([sharpness(f) for f in early]))
        before = judge.confidence(early, label[0])
        sure.append((judge.confidence(late, label[0]) - before) / max(before, 1e-6))
        moves.append(
            np.mean([np.abs(film[t].astype(float) - film[t - 4]).mean() for t in range(len(film) - 64, len(film), 8)])
        )
        keeps.append(bool(judge.name(film[-1:])[0, 0] == label[0]))
        films.append(film[::16])
    scores = {
        "sharpness": float(np.median(ratios)),
        "moves": float(np.min(moves)),
        "drift": float(max(0.0, -np.median(sure))),
        "land_lost": float(1 - np.mean(keeps)),
    }
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


def load_judge(folder: Path, fresh: int = 400) -> tuple[Judge, dict[str, float]]:
    """The classifier that ships in `folder`, and its accuracy on fresh rendered frames; trained and written there when it is not."""
    from safetensors.torch import load_file, save_file

    file, judge = folder / JUDGE, Judge()
    if file.exists():
        judge.load_state_dict({k: v.float() for k, v in load_file(str(file)).items()})
        judge.eval()
    else:
        judge = train_judge(*rendered_frames(8000, 8_000_000))
        folder.mkdir(parents=True, exist_ok=True)
        save_file({k: v.half().contiguous() for k, v in judge.state_dict().items()}, str(file))
    x, y = rendered_frames(fresh, 8_500_000)
    right = (judge.name(x) == y).mean(0)
    return judge, {"biome": float(right[0]), "time": float(right[1]), "weather": float(right[2])}


def contact_sheet(films: list[NDArray[np.uint8]], file: Path) -> None:
    from PIL import Image

    n = min(len(f) for f in films)
    rows = [np.concatenate(list(f[: n : max(1, n // 10)][:10]), 1) for f in films]
    Image.fromarray(np.concatenate(rows)).save(file)


def judge_quality(bench: Bench, judge: Judge, worlds: int, window: int, seconds: int = 15) -> dict[str, float]:
    """What a window length does to a walk from a prompt alone: how sharp it is, how much moves from frame to frame, how surely it is the
    land that was asked for. The oracle's own frames give the scale."""
    sharp, moves, sure = [], [], []
    for i in range(worlds):
        bench.sampler.reset()
        label = [(i * 5 + 2) % 8, (i * 3 + 1) % 4, 0]
        text = f"{HELD_OUT[0][label[0]][1]} {HELD_OUT[1][label[1]][1]}"
        shown: list[NDArray[np.uint8]] = []
        branch = 0
        while branch * FRAMES_PER_GROUP < seconds * 16:
            keys = (("forward",), ("forward", "turn_right"), ("forward",), ("forward", "turn_left"))[branch // 21 % 4]
            shown.append(bench.go(branch, window, keys, text, 100 + i))
            branch += window
        film = np.concatenate(shown)[: seconds * 16]
        sharp.append(np.mean([sharpness(f) for f in film[-64::4]]))
        moves.append(np.abs(np.diff(film[-64:].astype(np.float32), axis=0)).mean())
        sure.append(judge.confidence(film[-32::4], label[0]))
    return {"sharp": float(np.mean(sharp)), "motion": float(np.mean(moves)), "land": float(np.mean(sure))}


def oracle_quality(worlds: int, frames: int = 64) -> dict[str, float]:
    """The same of rendered walks."""
    sharp, moves = [], []
    for i in range(worlds):
        ground = world.Ground.make(HELD_OUT_SEED + 900 + i)
        scene = ground.scene(world.BIOME_NAMES[(i * 5 + 2) % 8], world.TIME_NAMES[(i * 3 + 1) % 4], "clear")
        walker = world.Walker(np.random.default_rng(i), scene)
        command = np.array([1, 0, 0.4, 0, 0], np.float32)
        film = []
        for _ in range(frames):
            walker.move(scene, command)
            film.append(walker.see(scene))
        sharp.append(np.mean([sharpness(f) for f in film[::4]]))
        moves.append(np.abs(np.diff(np.stack(film).astype(np.float32), axis=0)).mean())
    return {"sharp": float(np.mean(sharp)), "motion": float(np.mean(moves))}


TARGETS: dict[str, tuple[str, float]] = {
    "turn_sign": (">=", 0.95),
    "turn_correlation": (">=", 0.8),
    "biome": (">=", 0.9),
    "time": (">=", 0.9),
    "weather": (">=", 0.9),
    "sharpness": (">=", 0.9),
    "drift": ("<=", 0.1),
}
"""What is wanted of each score."""


def missed(report: dict[str, Any]) -> dict[str, float]:
    """Scores that miss their targets, and by how much."""
    out = {}
    for name, (sign, target) in TARGETS.items():
        short = target - report[name] if sign == ">=" else report[name] - target
        if short > 0:
            out[name] = round(short, 4)
    return out


def evaluate(
    weights: PocketWeights,
    judge: Judge,
    accuracy: dict[str, float],
    worlds: int,
    seconds: int,
    sheet: Path | None = None,
) -> dict[str, Any]:
    """All scores; see the top of this file. seconds: of the wander that drift is judged on."""
    began = time.monotonic()
    bench = Bench(weights)
    by_window = {}
    for window in (7, 1, 3, 21):
        scores = judge_control(bench, worlds if window == 7 else max(4, worlds // 3), window)
        by_window[str(window)] = scores | judge_quality(bench, judge, max(3, worlds // 4), window)
        log.info("K = %d: %s", window, by_window[str(window)])
    report: dict[str, Any] = {**by_window["7"], "by_window": by_window}
    report["oracle"] = oracle_control(worlds, 7) | oracle_quality(max(3, worlds // 4))
    log.info("true frames: %s", report["oracle"])
    report.update(judge_prompts(bench, judge, 4 * worlds))
    drift, films = judge_drift(bench, judge, max(3, worlds // 3), seconds)
    report.update(drift)
    report["classifier"] = accuracy
    report["missed"] = missed(report)
    report["worlds"], report["wandered_seconds"] = worlds, seconds
    report["seconds"] = round(time.monotonic() - began, 1)
    if sheet is not None:
        contact_sheet(films, sheet)
    return report


def table(report: dict[str, Any]) -> str:
    """The report as Markdown."""
    lines = ["| score | value | target | true frames |", "| --- | --- | --- | --- |"]
    truth = {"turn_sign": report["oracle"]["turn_sign"], **report["classifier"]}
    for name, (sign, target) in TARGETS.items():
        mark = "" if name not in report["missed"] else f", missed by {report['missed'][name]:g}"
        true = f"{truth[name]:.3f}" if name in truth else ""
        lines.append(f"| {name} | {report[name]:.3f} | {sign} {target:g}{mark} | {true} |")
    lines.append(f"| forward_expands | {report['forward_expands']:.3f} | | {report['oracle']['forward_expands']:.3f} |")
    names = ("turn_sign", "turn_correlation", "forward_expands", "sharp", "motion", "land")
    lines += ["", f"| K | {' | '.join(names)} |", "| --- " * (len(names) + 1) + "|"]
    for k in sorted(report["by_window"], key=int):
        r = report["by_window"][k]
        cells = " | ".join(f"{r[n]:.3f}" for n in names)
        lines.append(f"| {k} | {cells} |")
    o = report["oracle"]
    lines.append(
        f"| true frames | {o['turn_sign']:.3f} | | {o['forward_expands']:.3f} | {o['sharp']:.3f} | {o['motion']:.3f} | |"
    )
    return "\n".join(lines) + "\n"


def write_card(folder: Path, report: dict[str, Any]) -> None:
    """Puts the scores into the weights' card."""
    file = folder / "card.json"
    card = json.loads(file.read_text("utf-8"))
    card["scores"] = report
    file.write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
