"""What a person sees in pictures, as figures; and a judge of looks that can take any world that sampler and decoder make.

These rows need nothing but frames: what stands still, what a full turn comes back to, what a way back comes back to,
whether pictures have seams, how bright a night is, how fast all of it is. `engine.training.pocket2.looks` adds the
rows that compare with true frames.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.control.conditions import Condition
from engine.models.interface import Group, Model, Request

Picture = NDArray[np.uint8]
Script = Sequence[tuple[float, tuple[str, ...], str]]
"""Seconds, held keys and prompt, one after the other."""
Say = Callable[[str], None]


@dataclass(frozen=True)
class Row:
    """A row of the table: what is judged, what must hold, in words and as limits."""

    name: str
    title: str
    must: str
    low: float = -np.inf
    high: float = np.inf

    def met(self, value: float) -> bool:
        return self.low <= value <= self.high


ROWS = (
    Row("stillness", "stillness, 60 s, where nothing moves, worst", "32 dB", 32),
    Row("colour", "colour gradient, 60 s against 2 s", "0.9 to 1.1", 0.9, 1.1),
    Row("closure", "closure, 360 degrees both ways, worst", "28 dB", 28),
    Row("seams", "seams while turning and walking, against true walks", "at most 1.2", high=1.2),
    Row("trip", "round trip, 3 s and back, worst", "24 dB", 24),
    Row("things", "walk: things against true walks", "0.7 to 1.3", 0.7, 1.3),
    Row("detail_luma", "walk: detail in luma", "0.7 to 1.3", 0.7, 1.3),
    Row("detail_chroma", "walk: detail in chroma", "0.7 to 1.3", 0.7, 1.3),
    Row("edit_things", "the first second after an edit: things against true walks", "0.7 to 1.3", 0.7, 1.3),
    Row("edit_detail", "the first second after an edit: detail in luma", "0.7 to 1.3", 0.7, 1.3),
    Row("two_sample", "two-sample accuracy", "at most 0.80", high=0.8),
    Row("two_sample_check", "the same judge, true frames against blurred ones", "at least 0.85", 0.85),
    Row("approach", "approach: reached, larger, the same", "80 %", 0.8),
    Row("land", "land, by a judge of true frames", "90 %", 0.9),
    Row("night", "night, mean luma", "45", 45),
    Row("call", "call, K = 7, s (of 1.75 s of film)", "at most 0.87", high=0.87),
    Row("first", "first picture after loading, s", "at most 8", high=8),
    Row("decode", "decoding on two cores, times real time", "2", 2),
)


def walk(model: Model, script: Script, seed: int, window: int = 7, begin: Sequence[Group] = ()) -> list[Group]:
    """The groups of a script, all delivered, after those of `begin`, which are the first ones of the result."""
    sampler = model.sampler
    sampler.reset()
    out = list(begin)
    if out:
        sampler.extend(out)
    a_second = model.spec.fps / model.spec.spans[1]
    for seconds, keys, prompt in script:
        left = round(seconds * a_second)
        while left > 0:
            k = min(window, left)
            prepared = sampler.prepare(Condition(0, prompt, keys))
            request = Request(len(out), k, model.spec.steps, seed, 0, prepared, model.spec.history[0])
            groups = sampler.sample(request, lambda done, total: True)
            sampler.extend(groups)
            out += groups
            left -= k
            sampler.evict_before(len(out))
    return out


def decoded(model: Model, groups: Sequence[Group]) -> list[list[Picture]]:
    """The frames of groups from the first on."""
    model.decoder.reset()
    return [[np.asarray(f) for f in model.decoder.decode(g)] for g in groups]


def psnr(a: Picture, b: Picture, where: NDArray[np.bool_] | None = None) -> float:
    """Decibels, 99 for equal pictures. where: (h, w), which pixels count."""
    x, y = (p.astype(np.float32) if where is None else p[where].astype(np.float32) for p in (a, b))
    error = float(((x - y) ** 2).mean()) if x.size else 0.0
    return 99.0 if error == 0 else float(10 * np.log10(255**2 / error))


def shifted_psnr(a: Picture, b: Picture, most: int = 10) -> float:
    """The best of all horizontal shifts, of what both pictures show: a turn stops within a frame of where it began."""
    w = a.shape[1]
    return max(psnr(a[:, max(0, d) : w + min(0, d)], b[:, max(0, -d) : w - max(0, d)]) for d in range(-most, most + 1))


def spectrum(picture: Picture) -> tuple[float, float]:
    """Energy of the top octave, in luma and in chroma."""
    x = picture.astype(np.float32)
    h, w = x.shape[:2]
    luma = x @ np.array([0.299, 0.587, 0.114], np.float32)
    f = np.hypot(np.fft.fftfreq(h)[:, None], np.fft.rfftfreq(w)[None])
    top = (f > 0.25) & (f <= 0.5)
    window = np.hanning(h)[:, None] * np.hanning(w)[None]

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
    x = picture[: int(picture.shape[0] * 0.22)].astype(np.float32).mean(2)
    d = np.abs(np.diff(x, axis=1)).mean(0)
    return float(d.max() / max(float(np.median(d)), 0.25))


def speed(model: Model, prompt: str, seed: int) -> dict[str, float]:
    """Calls of K = 7 and decoding while walking: seconds of processor time of all threads; decoding, which two threads share, also
    as a clock sees it, the median of groups.
    """
    sampler, clock = model.sampler, time.process_time
    sampler.reset()
    model.decoder.reset()
    begun, position, calls = clock(), 0, []
    prepared = sampler.prepare(Condition(0, prompt, ("forward",)))
    decoding: list[tuple[float, float]] = []
    first = 0.0
    for n in range(6):
        at = clock()
        request = Request(position, 7, model.spec.steps, seed, 0, prepared, model.spec.history[0])
        groups = sampler.sample(request, lambda done, total: True)
        calls.append(clock() - at)
        sampler.extend(groups)
        position += 7
        for g in groups:
            at, by_clock = clock(), time.monotonic()
            shown = model.decoder.decode(g)
            first = first or clock() - begun
            if n > 1:
                seconds = len(shown) / model.spec.fps
                decoding.append((seconds / (clock() - at), seconds / (time.monotonic() - by_clock)))
    return {
        "call": round(float(np.mean(calls[1:])), 3),
        "call_worst": round(max(calls[1:]), 3),
        "first": round(first, 2),
        "decode": round(float(np.median([seen for _, seen in decoding])), 2),
        "decode_processor": round(float(np.median([used for used, _ in decoding])), 2),
    }


def judge_frames(model: Model, prompts: Sequence[str], window: int, seed: int, seconds: float = 60) -> dict[str, float]:
    """The rows that need nothing but frames, the worst of some prompts each."""
    rows: dict[str, list[float]] = {n: [] for n in ("stillness", "colour", "closure", "trip", "seam")}
    for n, prompt in enumerate(prompts):
        stood = decoded(model, walk(model, [(seconds, (), prompt)], seed + n, window))
        first, last = stood[min(8, len(stood) - 1)][-1], stood[-1][-1]
        rows["stillness"].append(psnr(first, last))
        rows["colour"].append(colour_gradient(last) / max(colour_gradient(first), 1e-3))
        turned = decoded(model, walk(model, [(2, (), prompt), (8.5, ("turn_right",), prompt)], seed + n, window))
        rows["closure"].append(max(shifted_psnr(turned[8][-1], f) for g in turned[-8:] for f in g))
        rows["seam"] += [seam(g[-1]) for g in turned[10::6]]
        there = [(2, (), prompt), (3, ("forward",), prompt), (3.5, ("back",), prompt)]
        back = decoded(model, walk(model, there, seed + n, window))
        rows["trip"].append(max(psnr(back[7][-1], f) for g in back[-6:] for f in g))
    worst = {n: round(min(v), 2) for n, v in rows.items() if n in ("stillness", "closure", "trip")}
    away = max(rows["colour"], key=lambda c: abs(float(np.log(max(c, 1e-3)))))
    return worst | {"colour": round(away, 3), "seam_95": round(float(np.quantile(rows["seam"], 0.95)), 2)}


def table(scores: dict[str, Any]) -> str:
    """Scores as lines of Markdown: each row at each K where it was judged."""
    windows = list(scores["windows"])
    lines = ["| row | must | " + " | ".join(f"K = {k}" for k in windows) + " |", "| --- " * (2 + len(windows)) + "|"]
    for row in ROWS:
        cells = []
        for k in windows:
            value = scores["windows"][k].get(row.name)
            cells.append("" if value is None else f"{value:g}" if row.met(value) else f"**{value:g}**")
        if any(cells):
            lines.append(f"| {row.title} | {row.must} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def missed(scores: dict[str, Any]) -> list[str]:
    """What does not hold, a line each."""
    return [
        f"K = {k}, {row.title}: {value:g}, must be {row.must}"
        for k, values in scores["windows"].items()
        for row in ROWS
        if (value := values.get(row.name)) is not None and not row.met(value)
    ]
