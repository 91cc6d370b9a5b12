"""`foreland evaluate`: the pocket world against its renderer."""

from __future__ import annotations

from pathlib import Path

import click

from app.cli.errors import FAILED, UserError, as_user_error
from app.cli.parameters import FILE, Listed, Whole
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
@click.option("--looks", is_flag=True, help="Judge what a person sees: stillness, closure, walks, speed.")
@click.option(
    "--model",
    type=click.Choice(["pocket", "pocket2"]),
    default="pocket2",
    show_default=True,
    help="Which pocket world, with --looks.",
)
@click.option(
    "--window",
    type=Listed(Whole(1, 21)),
    default="7,1,21",
    show_default=True,
    metavar="K,...",
    help="Latents a call, with --looks.",
)
@click.option("--walks", type=Whole(1, 8), help="Walks of a land and time, with --looks.  [default: 2, quick: 1]")
def evaluate(
    looks: bool,
    model: str,
    window: list[int],
    walks: int | None,
    quick: bool,
    worlds: int | None,
    seconds: int | None,
    weights: Path | None,
    json_file: Path | None,
    report: Path | None,
    card: bool,
) -> int:
    """Judge the pocket world against its renderer on held-out worlds.

    Status 0 when every target is met, 1 when one is missed. With --looks: pictures as a person sees them, against true
    walks of the same commands; --quick takes two lands and one walk of each.
    """
    if looks:
        return _looks(model, window, walks or (1 if quick else 2), quick, weights, json_file, report, card)
    try:
        import numba  # noqa: F401
    except ImportError as e:
        raise UserError("the renderer needs the package numba: pip install 'foreland[train]'") from e
    import torch

    from engine.models.cores import default_threads
    from engine.models.pocket.sampler import PocketWeights, WeightsError
    from engine.models.registry import pocket_folder
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


def _looks(
    name: str,
    windows: list[int],
    walks: int,
    quick: bool,
    weights: Path | None,
    json_file: Path | None,
    report: Path | None,
    card: bool,
) -> int:
    """`--looks`."""
    from engine.training import judged_looks

    progress = ProgressLine()
    try:
        with as_user_error(judged_looks.LooksError):
            scores = judged_looks.judge(name, weights, windows, walks, quick, report, lambda text: progress(text, 0.5))
    finally:
        progress.end()
    text = judged_looks.table(scores)
    click.echo(text)
    if report:
        (report / "looks.md").write_text(text + "\n", encoding="utf-8")
    if json_file:
        write_json(json_file, scores)
    if card:
        judged_looks.write_card(name, weights, scores)
    return FAILED if scores["missed"] else 0
