"""The judge of looks: what a person sees when standing, turning and walking, against true frames of the same
commands.

True frames are painted by code from true grounds, with four samples a pixel. Things are counted by the G-buffer's own
labels. python -m engine.training.pocket2.looks WEIGHTS OUT: scores on the screen and in OUT/looks.json, contact
sheets in OUT/*.png.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor, nn

# of the project, outside of this family
from engine.control.conditions import Condition
from engine.models.interface import Group, HistoryPolicy, Request
from engine.models.pocket2.camera import FOCAL, HEIGHT, HORIZON, WIDTH
from engine.models.pocket2.cells import LANDS
from engine.models.pocket2.gbuffer import DISTANCE, ON_BOX, ON_CARD, plane
from engine.models.pocket2.load import Weights
from engine.models.pocket2.model import GroupState, PocketDecoder, PocketSampler
from engine.training.pocket2.draw import JITTER
from engine.training.pocket2.teacher import painted, painted_atlas
from engine.training.pocket2.truth import TrueSampler

Picture = NDArray[np.uint8]
Script = Sequence[tuple[float, tuple[str, ...], str]]
"""Seconds, held keys and prompt, one after the other."""
SEED = 9_000_000
TIMES = ("noon", "night")
WINDOWS = (1, 7, 21)


def walk(
    sampler: PocketSampler, script: Script, seed: int, window: int = 7, begin: Sequence[Group] = ()
) -> list[Group]:
    """The groups of a script, all delivered, after those of `begin`, which are the first ones of the result."""
    sampler.reset()
    out = list(begin)
    if out:
        sampler.extend(out)
    for seconds, keys, prompt in script:
        left = round(seconds * 4)
        while left > 0:
            k = min(window, left)
            prepared = sampler.prepare(Condition(0, prompt, keys))
            request = Request(len(out), k, sampler.spec.steps, seed, 0, prepared, HistoryPolicy.LATENT_INPUT)
            groups = sampler.sample(request, lambda done, total: True)
            sampler.extend(groups)
            out += groups
            left -= k
            sampler.evict_before(len(out))
    return out


class TrueDecoder(PocketDecoder):
    """Painted frames, four samples a pixel."""

    def __init__(self, atlas: list[NDArray[np.float32]]) -> None:
        super().__init__(atlas, painted)

    def frame(self, group: Group, n: int = 3) -> Picture:
        s: GroupState = group.state
        moved = s.poses[n : n + 1].repeat(len(JITTER), 0)
        moved[:, 3:5] = moved[:, 3:5] + np.array(JITTER, np.float32) / np.array([FOCAL, 1], np.float32)
        b, m = self._renderer.buffers(s.ground, s.land, moved, s.light[1:].repeat(2, 0), s.seed)
        return (np.mean([self._renderer.drawn(*shot) for shot in zip(b, m, moved, strict=True)], 0) + 0.5).astype(
            np.uint8
        )


def frame(decoder: PocketDecoder, group: Group, n: int = 3) -> Picture:
    """One frame of a group."""
    return decoder.frame(group, n) if isinstance(decoder, TrueDecoder) else decoder.decode(group)[n]


def psnr(a: Picture, b: Picture) -> float:
    """Decibels, 99 for equal pictures."""
    error = float(((a.astype(np.float32) - b) ** 2).mean())
    return 99.0 if error == 0 else float(10 * np.log10(255**2 / error))


def spectrum(picture: Picture) -> tuple[float, float]:
    """Energy of the top octave, in luma and in chroma."""
    x = picture.astype(np.float32)
    luma = x @ np.array([0.299, 0.587, 0.114], np.float32)
    f = np.hypot(np.fft.fftfreq(HEIGHT)[:, None], np.fft.rfftfreq(WIDTH)[None])
    top = (f > 0.25) & (f <= 0.5)
    window = np.hanning(HEIGHT)[:, None] * np.hanning(WIDTH)[None]

    def energy(c: NDArray[np.float32]) -> float:
        return float((np.abs(np.fft.rfft2((c - c.mean()) * window)) ** 2)[top].mean())

    return energy(luma), energy(x[..., 0] - luma) + energy(x[..., 2] - luma)


def colour_gradient(picture: Picture) -> float:
    """Mean difference of chroma between neighbouring pixels."""
    x = picture.astype(np.float32)
    c = x - x.mean(2, keepdims=True)
    return float(np.abs(np.diff(c, axis=1)).mean())


def seam(picture: Picture) -> float:
    """The strongest difference of two neighbouring columns over the sky's rows, over its median."""
    x = picture[: int(HORIZON * 0.5)].astype(np.float32).mean(2)
    d = np.abs(np.diff(x, axis=1)).mean(0)
    return float(d.max() / max(float(np.median(d)), 0.25))


def seen_things(decoder: PocketDecoder, group: Group) -> tuple[float, float]:
    """How many things are nearer than 120 world units in the picture's angle, and the share of pixels that things
    cover.
    """
    s: GroupState = group.state
    b, _ = decoder._renderer.buffers(s.ground, s.land, s.poses[3:], s.light[1:].repeat(2, 0), s.seed)
    t = decoder._renderer.fields(s.ground, float(s.poses[3, 0]), float(s.poses[3, 1]), s.land).things
    d = t.where - s.poses[3, :2]
    turn = (np.arctan2(d[:, 1], d[:, 0]) - s.poses[3, 3] + np.pi) % (2 * np.pi) - np.pi
    r = np.hypot(d[:, 0], d[:, 1])
    column, row = (
        np.clip((turn * FOCAL + WIDTH / 2).astype(int), 0, WIDTH - 1),
        np.clip(
            (HORIZON + s.poses[3, 4] - (t.foot + 2 - s.poses[3, 2]) / np.maximum(r, 1) * FOCAL).astype(int),
            0,
            HEIGHT - 1,
        ),
    )
    inside = (np.abs(turn) < WIDTH / 2 / FOCAL) & (r < 120) & (plane(b[0], DISTANCE).numpy()[row, column] > r - 10)
    return float(inside.sum()), float((plane(b[0], ON_CARD) + plane(b[0], ON_BOX)).mean())


def prompt(land: int, time_: str) -> str:
    return f"{LANDS[land]} at {time_}"


def sheet(rows: list[list[Picture]], file: Path) -> None:
    Image.fromarray(np.concatenate([np.concatenate(r, 1) for r in rows], 0)).save(file)


class _Judge(nn.Module):
    """A small fixed network: frames (n, 3, 80, 128) to logits."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for a, b in ((3, 16), (16, 32), (32, 48), (48, 64)):
            layers += [nn.Conv2d(a, b, 3, 2, 1), nn.BatchNorm2d(b), nn.ReLU()]
        self.body = nn.Sequential(*layers)
        self.head = nn.Linear(64, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.body(x).mean((2, 3)))


def classify(train: tuple[Tensor, Tensor], test: tuple[Tensor, Tensor], classes: int, steps: int = 150) -> float:
    """Accuracy on `test` of a fresh judge with a fixed budget. Random crops of half the picture's size."""
    torch.manual_seed(0)
    net, (x, y), (u, v) = _Judge(classes), train, test
    opt = torch.optim.AdamW(net.parameters(), 2e-3, weight_decay=0.05)
    rng = np.random.default_rng(0)

    def crops(x: Tensor, j: int, i: int) -> Tensor:
        return x[:, :, j : j + 80, i : i + 128].float() / 127.5 - 1

    for step in range(steps):
        k = torch.from_numpy(rng.permutation(len(x))[:32])
        for g in opt.param_groups:
            g["lr"] = 2e-3 * (1 - step / steps)
        part = crops(x[k], int(rng.integers(81)), int(rng.integers(129)))
        if rng.random() < 0.5:
            part = part.flip(3)
        loss = nn.functional.cross_entropy(net(part), y[k])
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        logits = sum(net(crops(u, j, i)) for j in (0, 80) for i in (0, 64, 128))
    return float((logits.argmax(1) == v).float().mean())  # type: ignore[union-attr]


def judge(
    folder: Path, out: Path, windows: Sequence[int] = WINDOWS, lands: Sequence[int] = tuple(range(8))
) -> dict[str, Any]:
    """All rows; see the module's text. Window lengths after the first are judged on two lands."""
    torch.set_num_threads(1)
    out.mkdir(parents=True, exist_ok=True)
    weights = Weights.load(folder)
    ours, decoder = weights.sampler(), weights.decoder()
    true, painter = TrueSampler(), TrueDecoder(painted_atlas(out / "painted.npz"))
    scores: dict[str, Any] = {}

    def note(name: str, value: Any) -> None:
        scores[name] = value
        print(json.dumps({name: value}), flush=True)
        (out / "looks.json").write_text(json.dumps(scores, indent=2))

    note("speed", _speed(ours, decoder))
    _sheets(ours, decoder, out)
    for n, k in enumerate(sorted(windows, key=lambda k: k != 7)):
        note(f"K={k}", _standing(ours, decoder, k, lands if n == 0 else lands[:: max(1, len(lands) // 2)]))
    note("approach", _approach(ours, decoder, lands))
    for name, value in _walking(ours, decoder, true, painter, lands, out).items():
        note(name, value)
    return scores


def _standing(sampler: PocketSampler, decoder: PocketDecoder, k: int, lands: Sequence[int]) -> dict[str, float]:
    """Stillness, closure, round trip at one window length: the worst of all."""
    still, colour, ring, trip, seams = [], [], [], [], []
    for land in lands:
        p, seed = prompt(land, TIMES[land % 2]), SEED + land
        base = walk(sampler, [(2, (), p)], seed, k)
        first = frame(decoder, base[7])
        stood = walk(sampler, [(58, (), p)], seed, k, base)
        last = frame(decoder, stood[239])
        still.append(psnr(first, last))
        colour.append(colour_gradient(last) / max(colour_gradient(first), 1e-3))
        for key in ("turn_left", "turn_right"):
            groups = walk(sampler, [(8, (key,), p), (0.5, (), p)], seed, k, base)
            # the end's ground, looked at from the start's very pose
            again = replace(groups[-1], state=replace(groups[-1].state, poses=base[7].state.poses))
            ring.append(psnr(first, frame(decoder, again)))
            seams += [seam(frame(decoder, g)) for g in groups[10::12]]
        groups = walk(sampler, [(3, ("forward",), p), (3.5, ("back",), p)], seed, k, base)
        back = np.stack([g.state.poses for g in groups[20:]]).reshape(-1, 5)
        near = int(np.abs(back[:, :3] - base[7].state.poses[3, :3]).sum(1).argmin())
        trip.append(psnr(first, frame(decoder, groups[20 + near // 4], near % 4)))
    return {
        "stillness_worst_db": round(min(still), 2),
        "colour_gradient_ratio": round(float(np.mean(colour)), 3),
        "closure_worst_db": round(min(ring), 2),
        "seam_95": round(float(np.quantile(seams, 0.95)), 2),
        "round_trip_mean_db": round(float(np.mean(trip)), 2),
        "round_trip_worst_db": round(min(trip), 2),
    }


def _walking(
    ours: PocketSampler,
    decoder: PocketDecoder,
    true: TrueSampler,
    painter: TrueDecoder,
    lands: Sequence[int],
    out: Path,
    seeds: int = 2,
) -> dict[str, Any]:
    """Walks of 20 s of sampled and true worlds: things, detail, seams, whether they can be told, and whether the land
    can. With one seed a land and time, the judge that tells them has seen other frames of the same walks.
    """
    scores: dict[str, Any] = {}
    pictures: dict[str, list[Picture]] = {"ours": [], "true": []}
    labels: dict[str, list[int]] = {"ours": [], "true": []}
    worlds: dict[str, list[int]] = {"ours": [], "true": []}
    stats: dict[str, list[tuple[float, ...]]] = {"ours": [], "true": []}
    seams: dict[str, list[float]] = {"ours": [], "true": []}
    rows: dict[str, list[list[Picture]]] = {"ours": [], "true": []}
    for name, sampler, dec in (("ours", ours, decoder), ("true", true, painter)):
        for land in lands:
            for i, t in enumerate(TIMES):
                for again in range(seeds):
                    seed = SEED + land + 100 * i + 1000 * again
                    turn = ("forward", "turn_left" if again else "turn_right")
                    script = [
                        (9.0, ("forward",), prompt(land, t)),
                        (0.75, turn, prompt(land, t)),
                        (10.25, ("forward",), prompt(land, t)),
                    ]
                    groups = walk(sampler, script, seed)
                    for g in groups[40::8]:
                        picture = frame(dec, g)
                        pictures[name].append(picture)
                        labels[name].append(land)
                        worlds[name].append(again if seeds > 1 else len(pictures[name]) % 2)
                        seams[name].append(seam(picture))
                        stats[name].append(
                            (*seen_things(dec, g), *spectrum(picture), colour_gradient(picture), float(picture.mean()))
                        )
                    if again == 0:
                        rows[name].append([frame(dec, groups[n]) for n in (0, 16, 32, 48, 64, 79)])
        print(name, "walked", flush=True)
    sheet(rows["ours"], out / "walk-ours.png")
    sheet(rows["true"], out / "walk-true.png")
    a, b = (np.array(stats[n]) for n in ("ours", "true"))
    for k, title in enumerate(("things", "covered", "detail_luma", "detail_chroma", "colour_gradient", "brightness")):
        scores[f"walk_{title}_ratio"] = round(float(a[:, k].mean() / max(b[:, k].mean(), 1e-6)), 3)
    by_land = {}
    for land in lands:
        m, n = np.array(labels["ours"]) == land, np.array(labels["true"]) == land
        by_land[LANDS[land]] = {
            "things": round(float(a[m, 0].mean() / max(b[n, 0].mean(), 0.1)), 2),
            "detail_luma": round(float(a[m, 2].mean() / b[n, 2].mean()), 2),
        }
    scores["walk_by_land"] = by_land
    scores["seam_ratio_95"] = round(float(np.quantile(seams["ours"], 0.95) / np.quantile(seams["true"], 0.95)), 3)
    night = [
        p.mean()
        for p, la in zip(pictures["ours"], range(len(pictures["ours"])), strict=True)
        if (la // (5 * seeds)) % 2 == 1
    ]
    scores["night_mean_luma"] = round(float(np.mean(night)), 1) if night else None

    def tensor(x: list[Picture]) -> Tensor:
        return torch.from_numpy(np.stack(x)).permute(0, 3, 1, 2)

    both = tensor(pictures["ours"] + pictures["true"])
    which = torch.tensor([0] * len(pictures["ours"]) + [1] * len(pictures["true"]))
    world = torch.tensor(worlds["ours"] + worlds["true"])
    learn, test = world == 0, world == 1
    scores["two_sample_accuracy"] = round(classify((both[learn], which[learn]), (both[test], which[test]), 2), 3)
    y, v = torch.tensor(labels["true"]), torch.tensor(labels["ours"])
    scores["land_accuracy"] = round(classify((tensor(pictures["true"]), y), (tensor(pictures["ours"]), v), 8), 3)
    return scores


def _approach(sampler: PocketSampler, decoder: PocketDecoder, lands: Sequence[int]) -> dict[str, float]:
    """Walk 2 s towards what stands ahead: whether it is there, larger, of the same kind."""
    good, tried = 0, 0
    for land in lands:
        for seed in range(2):
            p = prompt(land, TIMES[seed % 2])
            first = walk(sampler, [(0.25, (), p)], SEED + 50 + 10 * land + seed)[0]
            s: GroupState = first.state
            t = decoder._renderer.fields(s.ground, float(s.poses[3, 0]), float(s.poses[3, 1]), s.land).things
            d = t.where - s.poses[3, :2]
            r = np.hypot(d[:, 0], d[:, 1])
            turn = (np.arctan2(d[:, 1], d[:, 0]) - s.poses[3, 3] + np.pi) % (2 * np.pi) - np.pi
            ahead = np.nonzero((np.abs(turn) < 0.4) & (r > 35) & (r < 110))[0]
            if not len(ahead):
                continue
            k = ahead[np.abs(turn[ahead]).argmin()]
            last = walk(sampler, [(2, ("forward",), p)], SEED + 50 + 10 * land + seed, 7, [first])[-1].state
            u = decoder._renderer.fields(
                last.ground, float(last.poses[3, 0]), float(last.poses[3, 1]), last.land
            ).things
            near = np.hypot(*(u.where - t.where[k]).T)
            tried += 1
            if len(near) and near.min() < 0.5:
                q = int(near.argmin())
                closer = np.hypot(*(u.where[q] - last.poses[3, :2])) < r[k] - 10
                good += int(u.index[q] == t.index[k] and u.ident[q] == t.ident[k] and closer)
    return {"share": round(good / max(tried, 1), 3), "cases": tried}


def _speed(sampler: PocketSampler, decoder: PocketDecoder) -> dict[str, float]:
    """Seconds of processor time on one thread: the first call, calls of K = 7 while walking, and a decoded second."""
    p = prompt(5, "noon")
    clock = time.process_time
    sampler.reset()
    at, position, calls = clock(), 0, []
    prepared = sampler.prepare(Condition(0, p, ("forward",)))
    out: list[Group] = []
    for n in range(9):
        begun = clock()
        groups = sampler.sample(
            Request(position, 7, sampler.spec.steps, SEED, 0, prepared, HistoryPolicy.LATENT_INPUT), lambda a, b: True
        )
        sampler.extend(groups)
        position += 7
        out += groups
        calls.append(clock() - begun)
        if n == 0:
            begun = clock()
            decoder.decode(groups[0])
            first = clock() - at
    begun = clock()
    for g in out[20:44]:
        decoder.decode(g)
    each = (clock() - begun) / 24 / 4
    return {
        "first_picture_s": round(first, 2),
        "call_K7_mean_s": round(float(np.mean(calls[1:])), 3),
        "call_K7_worst_s": round(max(calls[1:]), 3),
        "frame_s": round(each, 4),
        "times_real_time": round(1 / 16 / each, 2),
    }


def _sheets(sampler: PocketSampler, decoder: PocketDecoder, out: Path) -> None:
    """Contact sheets: standing 60 s, turning both ways, alternating keys, edits."""
    rows = []
    for land in range(8):
        p = prompt(land, TIMES[land % 2])
        groups = walk(sampler, [(60, (), p)], SEED + 7 + land)
        rows.append([frame(decoder, groups[n]) for n in (0, 8, 80, 239)])
    sheet(rows, out / "stand.png")
    rows = []
    for land in (0, 2, 4, 7):
        p = prompt(land, ("noon", "dusk", "dawn", "night")[land // 2])
        base = walk(sampler, [(1, (), p)], SEED + 7 + land)
        for key in ("turn_right", "turn_left"):
            groups = walk(sampler, [(7.85, (key,), p), (1, (), p)], SEED + 7 + land, 7, base)
            rows.append([frame(decoder, groups[n]) for n in (3, 8, 13, 18, 23, 28, 33, len(groups) - 1)])
    sheet(rows, out / "turn.png")
    rows = []
    for land in (0, 3, 6, 7):
        p = prompt(land, ("dawn", "night", "noon", "dusk")[land % 4])
        script = [
            (0.3, keys, p)
            for _ in range(10)
            for keys in (("turn_left",), ("forward",), ("turn_right",), ("forward", "turn_left"))
        ]
        groups = walk(sampler, script, SEED + 70 + land, window=2)
        rows.append([frame(decoder, groups[int(n)]) for n in np.linspace(0, len(groups) - 1, 7)])
    sheet(rows, out / "alternate.png")
    rows = []
    for a, b in (
        ("meadow at noon", "desert at noon"),
        ("autumn at noon", "autumn at night"),
        ("city at noon", "islands at dusk"),
        ("snow at dawn", "city at night"),
        ("islands at noon", "volcanic at night"),
        ("desert at dusk", "desert at noon in fog"),
    ):
        groups = walk(sampler, [(2, ("forward",), a), (4, ("forward",), b)], SEED + 90)
        rows.append([frame(decoder, groups[n], 1) for n in (7, 8, 9, 10, 11, 12, 14, 23)])
    sheet(rows, out / "edits.png")


if __name__ == "__main__":
    print(json.dumps(judge(Path(sys.argv[1]), Path(sys.argv[2])), indent=2))
