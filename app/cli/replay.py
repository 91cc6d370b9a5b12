"""`foreland replay`: a session's log once more."""

from __future__ import annotations

import logging
from pathlib import Path

import click

from app.cli.errors import FAILED, as_user_error
from app.cli.parameters import FILE, Whole
from engine.models.load_options import LoadOptions
from engine.runtime.replay import ReplayError, read_session
from engine.runtime.replay import replay as replay_log

log = logging.getLogger(__name__)


@click.command()
@click.argument("session", type=FILE)
@click.option("--film", type=FILE, metavar="FILE", help="Sample every call again, compare each group, write the film.")
@click.option("--model", metavar="NAME", help="Name or folder of the model, where it is not the one in the log.")
@click.option("--device", default="auto", help="cpu, cuda, cuda:1 or auto.")
@click.option("--threads", type=Whole(min=1), help="Torch threads, to make the world again as it was made.")
@click.option("--check", is_flag=True, hidden=True, help="Kept for old scripts: the commands are always compared.")
def replay(session: Path, film: Path | None, model: str | None, device: str, threads: int | None, check: bool) -> int:
    """Feed the event log of the folder SESSION to the controller again, or make its world again.

    Status 0 when everything is the same, 1 when something differs.
    """
    with as_user_error(ReplayError):
        result = replay_log(session)
    if result.difference:
        click.echo(f"different after {result.events} events: {result.difference}")
        return FAILED
    click.echo(f"the same: {result.events} events gave the same {result.commands} commands")
    return 0 if film is None else _film_again(session, film, model, LoadOptions(device=device, threads=threads))


def _film_again(session: Path, film: Path, model_name: str | None, options: LoadOptions) -> int:
    """Makes the session's world again; status 0 when it is the same bit for bit."""
    from engine.loading import loader
    from engine.models.registry import spec_of
    from engine.playback.recorder import Recorder, RecordingError
    from engine.runtime.regenerate import regenerate

    with as_user_error(ReplayError, RecordingError, ValueError, RuntimeError, OSError):
        lines = read_session(session)
        name = model_name or lines[0].get("model")
        if not isinstance(name, str):
            raise ReplayError(f"{session}: its first line does not name a model: give one with --model NAME")
        spec = spec_of(name)
        model = loader(name, options)(lambda stage, share: None)
        recorder = Recorder(film, spec.width, spec.height, spec.fps, rate=spec.sound_rate)
        try:
            result = regenerate(lines, model, recorder.add)
        except (AttributeError, LookupError, TypeError, ArithmeticError) as e:
            log.info("%s cannot be made again", session, exc_info=e)
            raise ReplayError(
                f"{session} cannot be made again: a line is not one of a session's ({type(e).__name__}: {str(e)[:200]})"
            ) from e
        finally:
            recorder.close()
    same = not result.different
    click.echo(
        f"{result.groups} groups made again: "
        + ("the same bit for bit" if same else f"{result.different} differ, first {result.first}")
    )
    for what in result.machine:
        click.echo(f"  {what}")
    click.echo(film.resolve())
    return 0 if same else FAILED
