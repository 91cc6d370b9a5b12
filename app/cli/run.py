"""The commands that open the window: `foreland run` and `foreland soak`."""

from __future__ import annotations

import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import click

from app.cli.connect_options import Place, connect_options
from app.cli.display import display_problem
from app.cli.errors import FAILED, UserError, as_user_error
from app.cli.explore import Run, explore_by, load_script
from app.cli.model_options import model_options, sampling_options
from app.cli.parameters import FILE, Number, Whole
from app.cli.report import write_json
from app.options import ChoiceError, ModelOptions, SamplingOptions, WorldChoice
from app.storage.paths import data_folder
from engine.files import claim_folder
from engine.models.catalogue import find
from engine.models.gpu import finding


def new_session() -> Path:
    """A new folder for a session's log. Raises OSError."""
    return claim_folder(data_folder() / "sessions" / time.strftime("%Y-%m-%d-%H%M%S"))


def unused_gpu(model: ModelOptions) -> str:
    """Why the model will be computed on the CPU though nobody chose that, and what to do; '' where there is nothing to say."""
    if model.device != "auto":
        return ""
    found = finding()
    try:
        large = find(model.model, model.like).memory_gb > 0
    except ValueError:
        large = False  # an unknown name is refused in a moment
    if found.works or not (large or found.advice):
        return ""
    return f"{found.text}; {found.advice}" if found.advice else found.text


@click.command()
@model_options
@sampling_options
@connect_options
@click.option("--prompt", help="The world to begin with.")
@click.option("--session", type=FILE, metavar="DIR", help="Folder of the session log.  [default: in your data folder]")
@click.option(
    "--sound",
    type=click.Choice(["system", "null", "off"]),
    default="system",
    help="Audio output: the default device, a dummy device (for tests), or none.",
)
@click.option("--overlay", is_flag=True, help="Begin with the speculation overlay shown.")
def run(
    model: ModelOptions,
    sampling: SamplingOptions,
    place: Place,
    prompt: str | None,
    session: Path | None,
    sound: str,
    overlay: bool,
) -> int:
    """Open the window (the default command). Without a display a film is written instead."""
    script = load_script(None)
    if prompt is not None:
        if not prompt.strip():
            raise UserError("the prompt is empty: describe the world")
        script = replace(script, prompt=prompt)
    try:
        folder = session or new_session()
    except OSError as e:
        raise UserError(f"the session log cannot be written to {data_folder()}: {e.strerror}") from e
    if said := unused_gpu(model):
        click.echo(f"foreland: {said}", err=True)
    if problem := display_problem():
        click.echo(f"foreland: no display here: exploring with the bundled key script instead ({problem})", err=True)
        return explore_by(Run(model, sampling, script, folder / "world.mp4", folder, place=place))
    choice = place.choose(model, sampling.window)
    with as_user_error(ChoiceError):
        settings = sampling.settings(script.prompt, choice.spec)
    from app.window.main_window import open_window

    def another(name: str) -> WorldChoice:
        return place.another(model, name)

    try:
        return open_window(
            choice, settings, folder, overlay, another, new_session, data_folder(), sound, prompt is None
        )
    except OSError as e:
        raise UserError(f"the session log cannot be written to {folder}: {e}") from e


@click.command()
@model_options
@click.option("--seed", type=Whole(min=0), default=0, help="Seed of the input and of all noise.")
@click.option("--minutes", type=Number(0.2, 24 * 60), default=60.0, help="How long.")
@click.option(
    "--speed",
    type=click.Choice(["real", "rude"]),
    default="real",
    help="Speed of the input: a person's, or four times that.",
)
@click.option("--json", "report_file", type=FILE, metavar="FILE", help="Write the report to this file.")
def soak(model: ModelOptions, seed: int, minutes: float, speed: str, report_file: Path | None) -> int:
    """Stress test: drive the real window with random input for a long time and judge what is seen.

    Status 0 when every aim is met, 1 when one is missed.
    """
    with as_user_error(ChoiceError):
        choice = model.choose()
    if problem := display_problem():
        click.echo(f"foreland: no display here: the window is drawn offscreen ({problem})", err=True)
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from app.cli.soak import soak as drive

    with tempfile.TemporaryDirectory(prefix="foreland-soak-") as home:
        rude = 4.0 if speed == "rude" else 1.0
        try:
            report = drive(choice, minutes, rude, seed, Path(home), click.echo)
        except RuntimeError as e:
            raise UserError(f"the soak ended early: {e}") from e
    for name, row in report.items():
        if isinstance(row, dict) and "aim" in row:
            click.echo(f"{'ok  ' if row['ok'] else 'no  '} {name}: {row['value']} (aim: {row['aim']})")
    click.echo("ok" if report["ok"] else "not every aim was met")
    if report_file:
        write_json(report_file, report)
    return 0 if report["ok"] else FAILED
