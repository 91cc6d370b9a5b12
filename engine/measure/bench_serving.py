"""Live measurements of serving and of the controller. Figures are distributions; settings are interleaved."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from engine.control.controller import Controller
from engine.control.events import (
    ConditionChanged,
    GroupsReady,
    GroupStarted,
    Launch,
    PlaybackReleased,
    Policy,
    RequestFinished,
    TimerFired,
)
from engine.measure.simulate import (
    METHODS,
    arrivals,
    bootstrap_mean,
    bootstrap_percentile,
    theory_mean,
    uniform_profile,
)
from engine.measure.timing import memory_mb
from engine.measure.utilisation import Activity
from engine.models.interface import Loader, ModelSpec
from engine.runtime.clock import Clock, SystemClock
from engine.runtime.explore import explore_live
from engine.runtime.keymap import ACTIONS
from engine.runtime.metrics import percentile
from engine.runtime.script import Script, ScriptEvent
from engine.runtime.settings import Settings

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Setting:
    """What is compared in a serving report, one row each."""

    window: int
    """K, latents of a call."""
    policy: str
    """A name of `engine.measure.simulate.METHODS`."""
    rate: str
    """low or high: see `engine.measure.simulate.UPDATES`."""

    @property
    def chosen(self) -> dict[str, Any]:
        """What of a session's settings it decides."""
        method = METHODS[self.policy]
        return {"commit": method.commit, "answer": method.answer, "preempt": method.preempt > 0}

    @property
    def name(self) -> str:
        """As reports and folders have it."""
        return f"K={self.window} {self.policy} {self.rate}"


def script_of(seed: int, rate: str, seconds: float, prompts: Sequence[str], tail: float = 0.0) -> Script:
    """A trajectory's keys and prompts, a function of its arguments: the same for every setting.

    It plays on for `tail` seconds without updates, so that those that wait longest are seen and counted too.
    """
    rng = np.random.default_rng([seed, 11])
    held: str | None = None
    events = []
    prompt = str(rng.choice(list(prompts)))
    said = prompt
    for t in arrivals(np.random.default_rng([seed, 0]), rate, seconds - 1):
        if held is not None:
            events.append(ScriptEvent(t, "up", held))
            held = None
        elif rng.random() < 0.4:
            said = str(rng.choice([p for p in prompts if p != said]))
            events.append(ScriptEvent(t, "prompt", said))
        else:
            held = str(rng.choice(list(ACTIONS[:6])))
            events.append(ScriptEvent(t, "down", held))
    return Script(prompt, seconds + tail, tuple(events))


def serve(
    load: Loader,
    spec: ModelSpec,
    settings: Sequence[Setting],
    trajectories: int,
    seconds: float,
    seed: int,
    prompts: Sequence[str],
    folder: Path,
    progress: Progress,
    clock: Callable[[], Clock] = SystemClock,
) -> dict[str, Any]:
    """Runs every setting on every trajectory, in an order drawn anew for each, and returns the report for JSON.

    seconds: of a trajectory with updates; each plays on until the last one is seen. folder: gets the session logs. clock: makes
    the one of a session. Raises what `explore_live` does when a run fails.
    """
    loaded = load(lambda stage, share: progress(stage, 0.0))
    rows: dict[str, list[dict[str, Any]]] = {s.name: [] for s in settings}
    activities: dict[str, list[Activity]] = {s.name: [] for s in settings}
    total, done, began = trajectories * len(settings), 0, time.monotonic()
    tail = (max(s.window for s in settings) + 4) * spec.spans[1] / spec.fps  # a chunk, and a call with its margin
    for i in range(trajectories):
        order = np.random.default_rng([seed, i, 5]).permutation(len(settings))
        for j in order:
            s = settings[j]
            script = script_of(seed * 1000 + i, s.rate, seconds, prompts, tail)
            chosen = Settings(prompt=script.prompt, seed=seed * 1000 + i, window=s.window, **s.chosen)
            where = folder / "sessions" / f"{s.name.replace(' ', '-')}-{i}"
            with Activity() as activity:
                summary = explore_live(
                    lambda p: loaded, spec, chosen, script, where, lambda f, s: None, lambda a, b: None, clock()
                )
            rows[s.name].append(summary)
            activities[s.name].append(activity)
            done += 1
            left = (time.monotonic() - began) / done * (total - done)
            progress(f"{s.name}, trajectory {i + 1} of {trajectories}; about {left / 60:.1f} min left", done / total)
    report = {
        "model": spec.name,
        "weights": loaded.identity,
        "trajectories": trajectories,
        "seconds": seconds,
        "seed": seed,
        "gpu": _gpu(),
        "settings": [_row(s, rows[s.name], activities[s.name], spec) for s in settings],
        "gains": _gains(settings, rows, spec),
    }
    return report


def _updates(summaries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [u for s in summaries for u in s["updates"] if u["kind"] != "start"]


def _row(s: Setting, summaries: list[dict[str, Any]], activities: list[Activity], spec: ModelSpec) -> dict[str, Any]:
    updates = _updates(summaries)
    applied = [u for u in updates if u["outcome"] == "applied"]
    ls = [u["L"] for u in applied]
    first = percentile([x["C_median"] for x in summaries if x["C_median"] is not None], 0.5) or 0.0
    profile = uniform_profile(s.window, spec.spans[1] / spec.fps, max(first, 1e-3), max(first, 1e-3))
    predicted = sum(x["groups"]["predicted"] for x in summaries)
    revoked = sum(x["groups"]["revoked"] for x in summaries)
    low, high = bootstrap_mean(ls)
    fifty, ninety_five = (bootstrap_percentile(ls, share) for share in (0.5, 0.95))
    return {
        "setting": s.name,
        "K": s.window,
        "policy": s.policy,
        "rate": s.rate,
        "updates": len(updates),
        "applied": len(applied),
        "superseded": sum(u["outcome"] == "superseded" for u in updates),
        "L50": percentile(ls, 0.5),
        "L95": percentile(ls, 0.95),
        "L50_low": fifty[0],
        "L50_high": fifty[1],
        "L95_low": ninety_five[0],
        "L95_high": ninety_five[1],
        "mean": float(np.mean(ls)) if ls else None,
        "mean_low": low,
        "mean_high": high,
        "theory_mean": theory_mean(profile, METHODS[s.policy].commit),
        "C": first,
        "T": profile.chunk_seconds,
        "C_over_T": first / profile.chunk_seconds,
        "stall_share": sum(x["stall_seconds"] for x in summaries)
        / sum(x["media_seconds"] + x["stall_seconds"] for x in summaries),
        "w": revoked / predicted if predicted else 0.0,
        "cpu": float(np.mean([a.cpu for a in activities])),
        "gpu": np.mean([a.gpu for a in activities], axis=0).tolist() if all(a.gpu for a in activities) else None,
        "latencies": ls,
        "parts": [[u["R"], u["C"], u["Q"]] for u in applied],
        "phases": [u["arrival_media"] % profile.chunk_seconds / profile.chunk_seconds for u in applied],
    }


def _gains(settings: Sequence[Setting], rows: dict[str, list[dict[str, Any]]], spec: ModelSpec) -> list[dict[str, Any]]:
    """Mean gain of each policy over chunk commitment, with its interval, beside theory of the paper's method."""
    out = []
    for s in settings:
        other = replace(s, policy="chunk")
        if s.policy == "chunk" or other.name not in rows:
            continue
        a, b = ([u["L"] for u in _updates(rows[x.name]) if u["outcome"] == "applied"] for x in (other, s))
        if len(a) < 2 or len(b) < 2:
            continue
        rng = np.random.default_rng(0)
        draws = [rng.choice(a, len(a)).mean() - rng.choice(b, len(b)).mean() for _ in range(1000)]
        delta, t = spec.spans[1] / spec.fps, s.window * spec.spans[1] / spec.fps
        c = percentile([x["C_median"] for x in rows[s.name] if x["C_median"] is not None], 0.5) or 0.0
        out.append(
            {
                "K": s.window,
                "rate": s.rate,
                "policy": s.policy,
                "gain": float(np.mean(a) - np.mean(b)),
                "low": float(np.quantile(draws, 0.025)),
                "high": float(np.quantile(draws, 0.975)),
                "theory": (t - delta) / 2 - c * c / (2 * t),
            }
        )
    return out


def _gpu() -> str | None:
    import torch

    return torch.cuda.get_device_name(0) if torch.cuda.is_available() else None


def serve_markdown(report: dict[str, Any], command: str) -> str:
    """The report as Markdown; `command` is what made it. Aims that were missed are named at the end."""
    lines = [
        f"# bench serve: {report['model']}",
        "",
        f"`{command}`",
        "",
        f"{report['trajectories']} trajectories of {report['seconds']:g} s a setting, interleaved; "
        + (f"GPU {report['gpu']}" if report["gpu"] else "no GPU: CPU time is shown instead of GPU activity"),
        "",
        "| setting | updates | applied | superseded | L50 (95 %) | L95 (95 %) | mean (95 %) "
        "| theory | C | C/T | stalls | revoked | CPU cores | GPU |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for r in report["settings"]:
        counts = f"{r['updates']} | {r['applied']} | {r['superseded']}"
        if r["mean"] is None:
            lines.append(f"| {r['setting']} | {counts} | - | - | - | {r['theory_mean']:.2f} | | | | | | |")
            continue
        used = f"{r['w']:.0%} | {r['cpu']:.2f} | {_gpus(r['gpu'])}"
        lines.append(
            f"| {r['setting']} | {counts} | {_between(r, 'L50')} | {_between(r, 'L95')} | {_between(r, 'mean')} "
            f"| {r['theory_mean']:.2f} | {r['C']:.2f} | {r['C_over_T']:.2f} | {r['stall_share']:.2%} | {used} |"
        )
    lines += [
        "",
        "Gain over chunk commitment, mean L in seconds; theory is of the paper's method:",
        "",
        "| K | policy | rate | gain (95 %) | theory | share |",
    ]
    lines.append("| --- | --- | --- | --- | --- | --- |")
    for g in report["gains"]:
        share = g["gain"] / g["theory"] if g["theory"] else 0.0
        lines.append(
            f"| {g['K']} | {g['policy']} | {g['rate']} | {g['gain']:.2f} ({g['low']:.2f} to {g['high']:.2f}) "
            f"| {g['theory']:.2f} | {share:.0%} |"
        )
    missed = [g for g in report["gains"] if g["gain"] < 0.9 * g["theory"]]
    lines.append("")
    for g in missed:
        lines.append(
            f"Missed aim: K={g['K']} {g['rate']}: {1 - g['gain'] / g['theory']:.0%} below theory, which knows no margin in the lead, "
            "no superseded updates and no jitter of C."
        )
    stalls = [r for r in report["settings"] if r["stall_share"] > (0.001 if r["rate"] == "low" else 0.005)]
    for r in stalls:
        lines.append(
            f"Missed aim: {r['setting']}: {r['stall_share']:.2%} of playback stalled; a stall means that C exceeded its estimate."
        )
    return "\n".join(lines) + "\n"


def _between(row: dict[str, Any], key: str) -> str:
    """A figure of a row with its interval, where there is one."""
    low, high = row[f"{key}_low"], row[f"{key}_high"]
    return f"{row[key]:.2f}" + ("" if low is None else f" ({low:.2f} to {high:.2f})")


def _gpus(shares: list[float] | None) -> str:
    return "-" if shares is None else ", ".join(f"{x:.0%}" for x in shares)


def controller_events(events: int = 1_000_000) -> dict[str, float]:
    """Feeds events to a controller and times each: microseconds at p50 and p99, and memory before and after, MB."""
    c = Controller(Policy(16.0, 21), 0.0)
    spent = np.empty(events, np.float32)
    n, now, version = 0, 0.0, 0
    job: Launch | None = None
    ready_at = 0.0
    memory = 0.0

    def feed(event: Any) -> None:
        nonlocal n, job, ready_at
        began = time.perf_counter_ns()
        commands = c.handle(event)
        if n < events:
            spent[n] = (time.perf_counter_ns() - began) / 1000
        n += 1
        for x in commands:
            if isinstance(x, Launch):
                job, ready_at = x, now + 1.0

    feed(TimerFired(0.0))
    while n < events:
        if n > events // 10 and not memory:
            memory = memory_mb()
        now += 0.05
        if job is not None and now >= ready_at:
            done, job = job, None
            feed(GroupsReady(now, done.call, (4,) * 21))
            feed(RequestFinished(now, done.call))
            if c.held:
                feed(PlaybackReleased(now))
        while c.cache and c.deadline(c.delivered, now) <= now:
            feed(GroupStarted(now, c.delivered))
        if n % 5 == 0:
            version += 1
            feed(ConditionChanged(now, version, now, True))
        feed(TimerFired(now))
    after = memory_mb()
    return {
        "events": float(events),
        "p50_us": float(np.quantile(spent, 0.5)),
        "p99_us": float(np.quantile(spent, 0.99)),
        "memory_at_10_percent_mb": memory,
        "memory_at_end_mb": after,
    }
