"""The judge of looks of the pocket world (pocket2): what a person sees when standing, turning and walking, against true frames of the
same commands.

True frames are painted by code from true grounds, with four samples a pixel. Things are counted by the G-buffer's own
labels. `foreland evaluate --looks` runs it. python -m engine.training.pocket2.looks OUT: contact sheets, OUT/*.png.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image, ImageFilter
from torch import Tensor, nn

# of the project, outside of this family
from engine.models.interface import Group, Model
from engine.models.pocket2.camera import FOCAL, HEIGHT, HORIZON, WIDTH
from engine.models.pocket2.cells import LANDS
from engine.models.pocket2.gbuffer import DISTANCE, ON_BOX, ON_CARD, plane, resting
from engine.models.pocket2.load import Weights, shipped
from engine.models.pocket2.model import GroupState, PocketDecoder
from engine.training.looks import (
    Picture,
    Say,
    colour_gradient,
    psnr,
    seam,
    spectrum,
    speed,
    walk,
)
from engine.training.pocket2.draw import JITTER
from engine.training.pocket2.teacher import painted, painted_atlas
from engine.training.pocket2.truth import TrueSampler

SEED = 9_000_000
TIMES = ("noon", "night")
CAME_BACK, TRIES = 0.1, 8
"""World units from the start within which a walker has come back, and seeds that are tried for one who does."""
LEARN, TELL = 400, 400
"""Steps of the judge that tells ours from true frames, and of the one that names lands."""


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


def classify(train: tuple[Tensor, Tensor], test: tuple[Tensor, Tensor], classes: int, steps: int) -> float:
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


class Looks:
    """A model and its truth: the same walks over true grounds, painted by code."""

    def __init__(self, weights: Weights, out: Path, seeds: int = 2, lands: Sequence[int] = tuple(range(8))) -> None:
        """seeds: walks of a land and time; out: a folder that what is painted once is kept in."""
        self.decoder = weights.decoder()
        self.model = Model(weights.sampler(), self.decoder, "")
        self.painter = TrueDecoder(painted_atlas(out / "painted.npz"))
        self.seeds, self.lands = seeds, lands
        truth = Model(TrueSampler(), self.decoder, "")
        walks = self._walks(truth, 7)
        self.true = self._seen(walks, lambda g: self.painter.frame(g))
        self._check = _told_apart(replace(self.true, pictures=[_blurred(p) for p in self.true.pictures]), self.true)
        """What the judge of the two-sample row can see: were it chance, the row would say nothing."""
        self.drawn = [self.decoder.decode(g)[3] for _, _, groups in walks for g in groups[24::8]]
        self.drawn_lands = [land for land, _, groups in walks for _ in groups[24::8]]
        self.true_rows = lambda: self._rows(walks, self.painter.frame)
        self.true_edits = self._after_edits(truth, 7, self.painter.frame)

    def rows(self, window: int, say: Say) -> tuple[dict[str, float], dict[str, Any]]:
        """Rows of the table at one window length, and what else is worth knowing."""
        say(f"K = {window}: standing and turning")
        rows = _standing(self.model, self.decoder, window, self.lands)
        turning = rows.pop("seam_95")
        say(f"K = {window}: walking")
        walks = self._walks(self.model, window)
        ours, true = self._seen(walks, lambda g: self.decoder.decode(g)[3]), self.true
        a, b = ours.stats, true.stats
        for k, name in enumerate(("things", "covered", "detail_luma", "detail_chroma", "colour_walk", "brightness")):
            rows[name] = round(float(a[:, k].mean() / max(b[:, k].mean(), 1e-6)), 3)
        rows["seams"] = round(float(max(np.quantile(ours.seams, 0.95), turning) / np.quantile(true.seams, 0.95)), 3)
        edits = self._after_edits(self.model, window, lambda g: self.decoder.decode(g)[3]).mean(0)
        rows["edit_things"], rows["edit_detail"] = (edits / self.true_edits.mean(0)).round(3).tolist()
        night = [p.mean() for p, t in zip(ours.pictures, ours.times, strict=True) if t]
        rows["night"] = round(float(np.mean(night)), 1)
        say(f"K = {window}: telling ours from true frames")
        rows["two_sample"] = _told_apart(ours, true)
        rows["two_sample_check"] = self._check
        rows |= _land_rows(ours, true, self.drawn, self.drawn_lands)
        by_land = {}
        for land in self.lands:
            m = ours.lands == land
            by_land[LANDS[land]] = {
                "things": round(float(a[m, 0].mean() / max(b[m, 0].mean(), 0.1)), 2),
                "detail_luma": round(float(a[m, 2].mean() / b[m, 2].mean()), 2),
            }
        if window == 7:
            say("approach and speed")
            rows |= _approach(self.model, self.decoder, self.lands)
            rows |= speed(self.model, prompt(5, "noon"), SEED)
        return rows, {"by_land": by_land, "walks": self._rows(walks, lambda g: self.decoder.decode(g)[3])}

    def _walks(self, model: Model, window: int) -> list[tuple[int, int, list[Group]]]:
        """(land, time, groups) of walks of 20 s."""
        out = []
        for land in self.lands:
            for i, t in enumerate(TIMES):
                for again in range(self.seeds):
                    turn = ("forward", "turn_left" if again else "turn_right")
                    p = prompt(land, t)
                    script = [(9.0, ("forward",), p), (0.75, turn, p), (10.25, ("forward",), p)]
                    out.append((land, i, walk(model, script, SEED + land + 100 * i + 1000 * again, window)))
        return out

    def _after_edits(self, model: Model, window: int, frame: Callable[[Group], Picture]) -> NDArray[np.float64]:
        """(n, 2): share of things and detail in luma, in each group of the first second after a prompt edit while walking. window:
        the latents of the call that answers it, and of those before."""
        stats = []
        for land in self.lands:
            there, then = prompt(land, "noon"), prompt((land + 3) % len(LANDS), "dusk")
            groups = walk(model, [(6, ("forward",), there), (1, ("forward",), then)], SEED + 50_000 + land, window)
            stats += [(seen_things(self.decoder, g)[1], spectrum(frame(g))[0]) for g in groups[24:]]
        return np.array(stats)

    def _seen(self, walks: list[tuple[int, int, list[Group]]], frame: Callable[[Group], Picture]) -> Seen:
        some = [(land, i, n, g) for n, (land, i, groups) in enumerate(walks) for g in groups[40::8]]
        pictures = [frame(g) for *_, g in some]
        stats = [
            (*seen_things(self.decoder, g), *spectrum(p), colour_gradient(p), float(p.mean()))
            for (*_, g), p in zip(some, pictures, strict=True)
        ]
        lands, times = np.array([s[0] for s in some]), np.array([s[1] for s in some])
        # with one walk a land and time, what is learnt from and what is tested are of the same walks
        worlds = np.array([s[2] % self.seeds if self.seeds > 1 else k % 2 for k, s in enumerate(some)])
        return Seen(pictures, np.array(stats), lands, times, worlds, [seam(p) for p in pictures])

    def _rows(
        self, walks: list[tuple[int, int, list[Group]]], frame: Callable[[Group], Picture]
    ) -> list[list[Picture]]:
        """Six instants of the first walk of each land and time."""
        first = walks[:: self.seeds]
        return [[frame(groups[n]) for n in (0, 16, 32, 48, 64, 79)] for _, _, groups in first]


@dataclass(frozen=True)
class Seen:
    """Frames of walks. stats: (n, 6); lands, times: (n,); worlds: (n,), 0 to learn from and 1 to be tested on."""

    pictures: list[Picture]
    stats: NDArray[np.float64]
    lands: NDArray[np.int64]
    times: NDArray[np.int64]
    worlds: NDArray[np.int64]
    seams: list[float]


def _tensor(x: Sequence[Picture]) -> Tensor:
    return torch.from_numpy(np.stack(x)).permute(0, 3, 1, 2)


def _told_apart(ours: Seen, true: Seen) -> float:
    """How often a fresh judge tells ours from true frames of worlds that it has not seen."""
    both = _tensor(ours.pictures + true.pictures)
    which = torch.tensor([0] * len(ours.pictures) + [1] * len(true.pictures))
    world = torch.from_numpy(np.concatenate((ours.worlds, true.worlds)))
    learn, test = world == 0, world == 1
    return round(classify((both[learn], which[learn]), (both[test], which[test]), 2, LEARN), 3)


def _blurred(picture: Picture) -> Picture:
    """By a Gaussian of one pixel, which a person sees at once."""
    return np.asarray(Image.fromarray(picture).filter(ImageFilter.GaussianBlur(1.0)))


def _land_rows(ours: Seen, true: Seen, drawn: list[Picture], drawn_lands: list[int]) -> dict[str, float]:
    """How often a judge that learnt from true grounds, painted and drawn, names our land; and, of one that has seen half of
    the worlds, how often it names the true land of the others.
    """
    pictures, lands = _tensor(true.pictures + drawn), torch.tensor([*true.lands.tolist(), *drawn_lands])
    test = (_tensor(ours.pictures), torch.from_numpy(ours.lands))
    half = torch.from_numpy(true.worlds == 0)
    known, labels = _tensor(true.pictures), torch.from_numpy(true.lands)
    return {
        "land": round(classify((pictures, lands), test, 8, TELL), 3),
        "land_of_true": round(classify((known[half], labels[half]), (known[~half], labels[~half]), 8, TELL), 3),
    }


def _standing(model: Model, decoder: PocketDecoder, k: int, lands: Sequence[int]) -> dict[str, float]:
    """Stillness where nothing moves, closure, round trip, seams at one window length: the worst of all."""
    still, ring, trip, seams = [], [], [], []
    colour: list[float] = []
    for land in lands:
        p, seed = prompt(land, TIMES[land % 2]), SEED + land
        base = walk(model, [(2, (), p)], seed, k)
        first = decoder.decode(base[7])[3]
        stood = walk(model, [(58, (), p)], seed, k, base)
        last = decoder.decode(stood[239])[3]
        s: GroupState = base[7].state
        rests = resting(decoder._renderer.buffers(s.ground, s.land, s.poses[3:], s.light, s.seed)[0][0]).numpy()
        still.append(psnr(first, last, rests))
        colour.append(colour_gradient(last) / max(colour_gradient(first), 1e-3))
        for key in ("turn_left", "turn_right"):
            groups = walk(model, [(8, (key,), p), (0.5, (), p)], seed, k, base)
            ring.append(psnr(first, _as_of(decoder, groups[-1], base[7])))
            seams += [seam(decoder.decode(g)[3]) for g in groups[10::12]]
        trip.append(_trip(model, decoder, p, seed, k))
    away = max(colour, key=lambda c: abs(float(np.log(c))))
    return {
        "stillness": round(min(still), 2),
        "colour": round(away, 3),
        "closure": round(min(ring), 2),
        "trip": round(min(trip), 2),
        "seam_95": round(float(np.quantile(seams, 0.95)), 2),
    }


def _trip(model: Model, decoder: PocketDecoder, p: str, seed: int, k: int) -> float:
    """Decibels of the frame that is nearest to the start on a way of 3 s and back. A walker whom a tree or a wall turned aside,
    in true grounds too, comes back to another place; such walks are left out, and the next seed's is taken.
    """
    for again in range(TRIES):
        groups = walk(model, [(2, (), p), (3, ("forward",), p), (3.5, ("back",), p)], seed + 10_000 * again, k)
        start: GroupState = groups[7].state
        back = np.stack([g.state.poses for g in groups[20:]]).reshape(-1, 5)
        away = np.abs(back[:, :3] - start.poses[3, :3]).sum(1)
        near = int(away.argmin())
        if away[near] < CAME_BACK:
            break
    first = decoder.decode(groups[7])[3]
    return psnr(first, _as_of(decoder, groups[20 + near // 4], groups[7], near % 4))


def _as_of(decoder: PocketDecoder, group: Group, then: Group, n: int | None = None) -> Picture:
    """A group's ground as it was seen at the time of another group: by its clouds and waves, and, without n, from its very
    pose; n: from the pose of the group's own frame.
    """
    poses = then.state.poses if n is None else then.state.poses.copy()
    if n is not None:
        poses[3] = group.state.poses[n]
    return decoder.decode(Group(then.position, group.latent, replace(group.state, poses=poses)))[3]


def sheets(model: Model, decoder: PocketDecoder, out: Path) -> None:
    """Contact sheets: standing 60 s, turning both ways, alternating keys, edits."""
    rows = []
    for land in range(8):
        p = prompt(land, TIMES[land % 2])
        groups = walk(model, [(60, (), p)], SEED + 7 + land)
        rows.append([decoder.decode(groups[n])[3] for n in (0, 8, 80, 239)])
    sheet(rows, out / "stand.png")
    rows = []
    for land in (0, 2, 4, 7):
        p = prompt(land, ("noon", "dusk", "dawn", "night")[land // 2])
        base = walk(model, [(1, (), p)], SEED + 7 + land)
        for key in ("turn_right", "turn_left"):
            groups = walk(model, [(7.85, (key,), p), (1, (), p)], SEED + 7 + land, 7, base)
            rows.append([decoder.decode(groups[n])[3] for n in (3, 8, 13, 18, 23, 28, 33, len(groups) - 1)])
    sheet(rows, out / "turn.png")
    rows = []
    for land in (0, 3, 6, 7):
        p = prompt(land, ("dawn", "night", "noon", "dusk")[land % 4])
        script = [
            (0.3, keys, p)
            for _ in range(10)
            for keys in (("turn_left",), ("forward",), ("turn_right",), ("forward", "turn_left"))
        ]
        groups = walk(model, script, SEED + 70 + land, window=2)
        rows.append([decoder.decode(groups[int(n)])[3] for n in np.linspace(0, len(groups) - 1, 7)])
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
        groups = walk(model, [(2, ("forward",), a), (4, ("forward",), b)], SEED + 90)
        rows.append([decoder.decode(groups[n])[1] for n in (7, 8, 9, 10, 11, 12, 14, 23)])
    sheet(rows, out / "edits.png")


def _approach(model: Model, decoder: PocketDecoder, lands: Sequence[int]) -> dict[str, float]:
    """Walk 2 s towards what stands ahead: whether it is there, larger, of the same kind."""
    good, tried = 0, 0
    for land in lands:
        for seed in range(2):
            p = prompt(land, TIMES[seed % 2])
            first = walk(model, [(0.25, (), p)], SEED + 50 + 10 * land + seed)[0]
            s: GroupState = first.state
            t = decoder._renderer.fields(s.ground, float(s.poses[3, 0]), float(s.poses[3, 1]), s.land).things
            d = t.where - s.poses[3, :2]
            r = np.hypot(d[:, 0], d[:, 1])
            turn = (np.arctan2(d[:, 1], d[:, 0]) - s.poses[3, 3] + np.pi) % (2 * np.pi) - np.pi
            ahead = np.nonzero((np.abs(turn) < 0.4) & (r > 35) & (r < 110))[0]
            if not len(ahead):
                continue
            k = ahead[np.abs(turn[ahead]).argmin()]
            last = walk(model, [(2, ("forward",), p)], SEED + 50 + 10 * land + seed, 7, [first])[-1].state
            u = decoder._renderer.fields(
                last.ground, float(last.poses[3, 0]), float(last.poses[3, 1]), last.land
            ).things
            near = np.hypot(*(u.where - t.where[k]).T)
            tried += 1
            if len(near) and near.min() < 0.5:
                q = int(near.argmin())
                closer = np.hypot(*(u.where[q] - last.poses[3, :2])) < r[k] - 10
                good += int(u.index[q] == t.index[k] and u.ident[q] == t.ident[k] and closer)
    return {"approach": round(good / max(tried, 1), 3), "approach_cases": tried}


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    shipped_weights = Weights.load(shipped())
    drawer = shipped_weights.decoder()
    sheets(Model(shipped_weights.sampler(), drawer, ""), drawer, folder)
