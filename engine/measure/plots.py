"""Pictures of a serving report: latency distributions, R/C/Q stacks, latency against phase, one timeline."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from engine.runtime.replay import read_session


def draw(report: dict[str, Any], folder: Path) -> list[Path]:
    """Writes the plots of a report of `bench_serving.serve` into `folder` as PNG; returns their paths.

    The timeline is that of the last speculative session whose log lies in `folder`.
    """
    rows = [r for r in report["settings"] if r["latencies"]]
    out = [_distributions(rows, folder), _stacks(rows, folder), _phases(rows, folder)]
    sessions = sorted((folder / "sessions").glob("*speculative*/events.jsonl"))
    if sessions:
        out.append(_timeline(sessions[-1], folder))
    return out


def _save(figure: Figure, file: Path) -> Path:
    figure.savefig(file, dpi=110, bbox_inches="tight")
    return file


def _distributions(rows: list[dict[str, Any]], folder: Path) -> Path:
    figure = Figure(figsize=(7, 4))
    axes = figure.subplots()
    for r in rows:
        x = np.sort(r["latencies"])
        axes.step(x, (np.arange(len(x)) + 1) / len(x), where="post", label=f"{r['setting']} (n = {len(x)})")
    axes.set(xlabel="L, seconds", ylabel="share of updates", title="From input to the first group it changed")
    axes.legend(fontsize=7)
    return _save(figure, folder / "latency.png")


def _stacks(rows: list[dict[str, Any]], folder: Path) -> Path:
    figure = Figure(figsize=(7, 4))
    axes = figure.subplots()
    bottom = np.zeros(len(rows))
    means = np.array([np.mean(r["parts"], axis=0) for r in rows])
    for i, name in enumerate(("R", "C", "Q")):
        axes.bar(range(len(rows)), means[:, i] if len(rows) else [], bottom=bottom, label=name)
        bottom += means[:, i] if len(rows) else 0
    axes.scatter(range(len(rows)), [r["theory_mean"] for r in rows], marker="_", s=300, color="black", label="theory")
    axes.set_xticks(range(len(rows)), [r["setting"].replace(" ", "\n") for r in rows], fontsize=7)
    axes.set(ylabel="mean, seconds", title="L = R + C + Q")
    axes.legend(fontsize=8)
    return _save(figure, folder / "stacks.png")


def _phases(rows: list[dict[str, Any]], folder: Path) -> Path:
    figure = Figure(figsize=(7, 4))
    axes = figure.subplots()
    for r in rows:
        points = axes.scatter(r["phases"], r["latencies"], s=14, label=r["setting"])
        colour = points.get_facecolor()[0]
        axes.axhline(r["theory_mean"], color=colour, lw=0.8, ls="--")
    axes.set(
        xlabel="phase of the arrival in T (media time)",
        ylabel="L, seconds",
        title="Latency against phase; theory dashed",
    )
    axes.legend(fontsize=7)
    return _save(figure, folder / "phase.png")


def _timeline(file: Path, folder: Path) -> Path:
    lines = read_session(file.parent)
    t0 = lines[0]["t0"]
    figure = Figure(figsize=(9, 3))
    axes = figure.subplots()
    launches = {x["data"]["call"]: (x["t"], x["data"]) for x in lines if x.get("name") == "Launch"}
    for x in lines:
        if x.get("name") == "RequestFinished" and x["data"]["call"] in launches:
            began, data = launches[x["data"]["call"]]
            axes.barh(2, x["t"] - began, left=began, height=0.6, color=f"C{data['version'] % 10}")
        elif x.get("name") == "GroupStarted":
            axes.plot([x["data"]["at"] - t0] * 2, [0.8, 1.2], color="0.6", lw=0.6)
        elif x.get("name") == "Revoke":
            axes.plot(x["t"], 2.5, "rx", ms=5)
        elif x.get("name") == "Receipt" and x["data"]["outcome"] == "applied" and x["data"]["version"] > 0:
            a, b = x["data"]["arrival"] - t0, x["data"]["at"] - t0
            axes.annotate(
                "", (b, 1.0), (a, 0.2), arrowprops={"arrowstyle": "->", "color": f"C{x['data']['version'] % 10}"}
            )
    axes.set_yticks([0.2, 1, 2, 2.5], ["arrival", "groups shown", "calls", "revoked"])
    axes.set(xlabel="seconds", title=f"One trajectory: {file.parent.name}")
    return _save(figure, folder / "timeline.png")
