"""`foreland evaluate`: the pocket world against its renderer."""

from __future__ import annotations

from pathlib import Path

import click

from app.cli.errors import FAILED, UserError
from app.cli.parameters import FILE, Whole
from app.cli.progress import ProgressLine
from app.cli.report import write_json


@click.command()
@click.option("--quick", is_flag=True, help="8 worlds and 20 s of wandering instead of 24 and 60.")
@click.option("--worlds", type=Whole(min=1), help="Held-out worlds.")
@click.option("--seconds", type=Whole(10, 3600), help="Of the wander that drift is judged on.")
@click.option("--weights", type=FILE, metavar="DIR", help="Folder of the weights.  [default: those that ship]")
@click.option("--json", "json_file", type=FILE, metavar="FILE", help="Write the scores to this file.")
@click.option("--report", type=FILE, metavar="DIR", help="Folder for report.md and a contact sheet of the wanders.")
@click.option("--card", is_flag=True, help="Put the scores into the weights' card.")
def evaluate(
    quick: bool,
    worlds: int | None,
    seconds: int | None,
    weights: Path | None,
    json_file: Path | None,
    report: Path | None,
    card: bool,
) -> int:
    """Judge the pocket world against its renderer on held-out worlds.

    Status 0 when every target is met, 1 when one is missed.
    """
    try:
        import numba  # noqa: F401
    except ImportError as e:
        raise UserError("the renderer needs the package numba: pip install 'foreland[train]'") from e
    import torch

    from engine.models.pocket.sampler import PocketWeights, WeightsError
    from engine.models.registry import default_threads, pocket_folder
    from engine.training import evaluate as judged

    worlds = worlds or (8 if quick else 24)
    seconds = seconds or (20 if quick else 60)
    torch.set_num_threads(default_threads())
    folder = weights or pocket_folder()
    progress = ProgressLine()
    try:
        loaded = PocketWeights.load(folder)
    except WeightsError as e:
        raise UserError(str(e)) from e
    try:
        progress("the classifier", 0.0)
        judge, accuracy = judged.load_judge(folder)
        progress(f"{worlds} worlds at K = 1, 3, 7 and 21: some minutes", 0.1)
        sheet = None
        if report:
            report.mkdir(parents=True, exist_ok=True)
            sheet = report / "wander.png"
        scores = judged.evaluate(loaded, judge, accuracy, worlds, seconds, sheet)
    finally:
        progress.end()
    text = judged.table(scores)
    click.echo(text)
    if report:
        command = f"foreland evaluate --worlds {worlds} --seconds {seconds}"
        words = f"# The pocket world, {worlds} held-out worlds\n\n`{command}`\n\n{text}\n"
        words += "Ten instants of each wander, a row a world:\n\n![wanders](wander.png)\n"
        (report / "report.md").write_text(words, encoding="utf-8")
    if json_file:
        write_json(json_file, scores)
    if card:
        judged.write_card(folder, scores)
    return FAILED if scores["missed"] else 0
