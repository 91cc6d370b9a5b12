"""`foreland evaluate`: the pocket world against its renderer."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from app.cli.progress import ProgressLine


class EvaluateError(Exception):
    """One clear line for the person."""


def add_commands(commands: Any) -> None:
    p = commands.add_parser("evaluate", help="judge the pocket world against its renderer on held-out worlds")
    p.add_argument("--quick", action="store_true", help="8 worlds and 20 s of wandering instead of 24 and 60")
    p.add_argument("--worlds", type=int, help="held-out worlds")
    p.add_argument("--seconds", type=int, help="of the wander that drift is judged on")
    p.add_argument("--weights", type=Path, help="folder of the weights (default: those that ship)")
    p.add_argument("--json", type=Path, help="write the scores to this file")
    p.add_argument("--report", type=Path, help="folder for report.md and a contact sheet of the wanders")
    p.add_argument("--card", action="store_true", help="put the scores into the weights' card")


def run_evaluate(args: argparse.Namespace) -> int:
    """Status 0 when every target is met, 1 when one is missed."""
    try:
        import numba  # noqa: F401
    except ImportError as e:
        raise EvaluateError("the renderer needs the package numba: pip install 'foreland[train]'") from e
    import torch

    from engine.models.pocket.sampler import PocketWeights, WeightsError
    from engine.models.registry import default_threads, pocket_folder
    from engine.training import evaluate

    worlds = args.worlds or (8 if args.quick else 24)
    seconds = args.seconds or (20 if args.quick else 60)
    if worlds < 1 or not 10 <= seconds <= 3600:
        raise EvaluateError("--worlds must be at least 1, --seconds 10 to 3600")
    torch.set_num_threads(default_threads())
    folder = args.weights or pocket_folder()
    progress = ProgressLine()
    try:
        weights = PocketWeights.load(folder)
    except WeightsError as e:
        raise EvaluateError(str(e)) from e
    progress("the classifier", 0.0)
    judge, accuracy = evaluate.load_judge(folder)
    progress(f"{worlds} worlds at K = 1, 3, 7 and 21: some minutes", 0.1)
    sheet = None
    if args.report:
        args.report.mkdir(parents=True, exist_ok=True)
        sheet = args.report / "wander.png"
    report = evaluate.evaluate(weights, judge, accuracy, worlds, seconds, sheet)
    progress.end()
    text = evaluate.table(report)
    print(text)
    if args.report:
        words = f"# The pocket world, {worlds} held-out worlds\n\n`foreland evaluate --worlds {worlds} --seconds {seconds}`\n\n{text}\n"
        words += "Ten instants of each wander, a row a world:\n\n![wanders](wander.png)\n"
        (args.report / "report.md").write_text(words, encoding="utf-8")
    if args.json:
        args.json.parent.mkdir(parents=True, exist_ok=True)
        args.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    if args.card:
        evaluate.write_card(folder, report)
    return 1 if report["missed"] else 0
