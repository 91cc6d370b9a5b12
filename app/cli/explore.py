"""`foreland explore`: a key script instead of a window."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from app.cli.connect_options import Place, connect_options
from app.cli.errors import UserError, as_user_error
from app.cli.model_options import model_options, sampling_options
from app.cli.parameters import FILE, Number
from app.cli.progress import ProgressLine
from app.options import Choice, ChoiceError, ModelOptions, SamplingOptions
from engine.assets import FOLDER
from engine.files import FileError, read_text
from engine.models.interface import ModelSpec
from engine.runtime.keymap import load_keymap
from engine.runtime.script import LONGEST_SECONDS, Script, ScriptError, parse_script

if TYPE_CHECKING:
    from engine.playback.player import Frame, Samples
    from engine.runtime.settings import Settings


@dataclass(frozen=True)
class Run:
    """One exploration without a window."""

    model: ModelOptions
    sampling: SamplingOptions
    script: Script
    out: Path
    """The film."""
    session: Path | None = None
    """Folder of the session log, or none."""
    raw: Path | None = None
    """A .npy of the shown frames, (frames, height, width, 3) uint8, or none."""
    assume_call: float | None = None
    """Virtual time: seconds that every call is said to take."""
    place: Place = Place()
    """Where the world is played."""


@click.command()
@model_options
@sampling_options
@connect_options
@click.option(
    "--script", type=FILE, metavar="FILE", help="JSON script of keys and prompts.  [default: the bundled one]"
)
@click.option("--out", type=FILE, metavar="FILE", default=Path("world.mp4"), help="Film to write.")
@click.option("--session", type=FILE, metavar="DIR", help="Folder for events.jsonl and summary.json.")
@click.option(
    "--seconds",
    type=Number(0, LONGEST_SECONDS, min_open=True),
    metavar="S",
    help="Seconds of film.  [default: the script's]",
)
@click.option("--raw", type=FILE, metavar="FILE", help="Also write the shown frames, losslessly, to this .npy.")
@click.option(
    "--assume-call",
    type=Number(0, 60, min_open=True),
    metavar="S",
    help="Virtual time: every call is said to take S seconds, so that equal runs give equal frames.",
)
def explore(script: Path | None, seconds: float | None, **run: Any) -> int:
    """Explore without a window, by a key script, and write a film.

    Prints the film's path. `foreland schema script` prints what a script may hold.
    """
    read = load_script(script)
    return explore_by(Run(script=replace(read, seconds=seconds) if seconds is not None else read, **run))


def load_script(path: Path | None) -> Script:
    """A person's script, or the bundled one. Raises UserError."""
    with as_user_error(FileError, ScriptError):
        text = read_text(path) if path else (FOLDER / "demo-script.json").read_text("utf-8")
        return parse_script(text, load_keymap(), str(path or "the bundled script"))


def explore_by(run: Run) -> int:
    """Plays the script and writes film, log and frames. Raises UserError; what was recorded until then is kept."""
    import numpy as np

    from engine.playback.recorder import Recorder, RecordingError
    from engine.runtime.clock import SystemClock
    from engine.runtime.explore import ExploreError, explore_on, explore_virtual

    choice = run.place.choose(run.model, run.sampling.window)
    with as_user_error(ChoiceError):
        settings = run.sampling.settings(run.script.prompt, choice.spec)
    spec = choice.spec
    advise(spec, settings)
    raw: list[Frame] = []
    progress = ProgressLine()
    with as_user_error(RecordingError, OSError):
        if run.raw:
            run.raw.parent.mkdir(parents=True, exist_ok=True)
            run.raw.open("wb").close()
        recorder = Recorder(run.out, spec.width, spec.height, spec.fps, rate=spec.sound_rate)

    def show(frame: Frame, sound: Samples | None) -> None:
        recorder.add(frame, sound)
        if run.raw:
            raw.append(frame)

    failure: Exception | None = None
    try:
        if run.assume_call is None:
            engine = choice.engine(settings, run.session, SystemClock())
            summary = explore_on(engine, run.script, show, progress)
        elif not isinstance(choice, Choice):
            raise ValueError("--assume-call is virtual time: a server plays in real time")
        else:
            summary = explore_virtual(
                choice.load, spec, settings, run.script, run.session, show, progress, run.assume_call
            )
    except (ExploreError, RuntimeError, ValueError, OSError) as e:
        failure = e
    finally:
        progress.end()
        try:
            recorder.close()
        except RecordingError as e:
            failure = failure or e
        if run.raw:
            shape = (0, spec.height, spec.width, 3)
            np.save(run.raw, np.stack(raw) if raw else np.zeros(shape, np.uint8))
    if failure is not None:
        kept = f"; what was recorded until then is in {run.out}" if recorder.written else "; nothing was recorded"
        raise UserError(f"{failure}{kept}")
    click.echo(_sentence(summary))
    click.echo(run.out.resolve())
    return 0


def advise(spec: ModelSpec, settings: Settings) -> None:
    """What to know of a model and of these settings, once, on the terminal."""
    for note in (*spec.notes, spec.advice(settings.window or spec.window)):
        if note:
            click.echo(f"foreland: {spec.name}: {note}", err=True)


def _sentence(s: dict[str, Any]) -> str:
    l50 = (
        "no update was seen before the end"
        if s["L50"] is None
        else f"L50 {s['L50']:.2f} s over {len(s['updates']) - 1} updates"
    )
    return (
        f"{s['frames_shown']} frames at {s['fps']:g} fps, {l50}, stalled {s['stall_seconds']:.2f} s, "
        f"{s['discarded_share']:.0%} of the predictions revoked"
    )
