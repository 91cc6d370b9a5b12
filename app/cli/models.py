"""`foreland models`: what can be run, getting it, checking it, and small checkpoints to try every path."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from app.cli.errors import FAILED, UserError, as_user_error
from app.cli.parameters import FILE, Number, Size, Whole, completing
from app.cli.progress import ProgressLine
from app.storage.paths import words_file
from engine.models import hub
from engine.models.catalogue import Entry, UnknownModel, find, load_catalogue, read_catalogue
from engine.models.load_options import DTYPES, LoadOptions

name_argument = click.argument("name", shell_complete=completing(lambda: list(load_catalogue())))


@click.group(no_args_is_help=False)
def models() -> None:
    """List, pull, verify, check and locate models; write small ones to try."""


def row(entry: Entry) -> dict[str, Any]:
    """What a listing says of an entry."""
    return {
        "name": entry.name,
        "title": entry.title,
        "here": hub.here(entry),
        "repo": entry.repo,
        "licence": entry.licence,
        "about_gb": sum(p.about_gb for p in hub.parts(entry)),
        "memory_gb": entry.memory_gb,
        "fps": entry.fps,
        "window": entry.window,
        "trained": list(entry.trained),
        "windows": list(entry.windows),
        "source": entry.source,
        "steps": entry.steps,
        "history": [h.value for h in entry.history],
    }


@models.command("list")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def list_models(as_json: bool) -> int:
    """All models of the catalogue, and which are installed."""
    catalogue = read_catalogue()
    rows = [row(e) for e in catalogue.entries.values()]
    if as_json:
        rows += [{"source": b.source, "error": b.error} for b in catalogue.broken]
        click.echo(json.dumps(rows, indent=2))
        return 0
    table = [("name", "here", "download", "GPU", "K", "history", "licence")]
    for r in rows:
        here = "yes" if r["here"] else "no"
        download = f"{r['about_gb']:.0f} GB" if r["repo"] else "none"
        memory = f"{r['memory_gb']:.0f} GB" if r["memory_gb"] else "none"
        lengths = "/".join(map(str, r["trained"])) or "{} to {}".format(*r["windows"])
        table.append((r["name"], here, download, memory, lengths, r["history"][0], r["licence"]))
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for cells in table:
        click.echo("  ".join(x.ljust(w) for x, w in zip(cells, widths, strict=True)).rstrip())
    for broken in catalogue.broken:
        click.echo(f"left out: {broken}")
    click.echo(
        "K: latents of a call that the weights were trained at; GPU: memory, at least. Pull: foreland models pull NAME"
    )
    return 0


def _entry(name: str) -> Entry:
    with as_user_error(UnknownModel):
        entry = find(name)
    if entry.ships:
        raise UserError(f"{name} ships with Foreland or with its plug-in: there is nothing to pull")
    return entry


@models.command()
@name_argument
@click.option("--yes", is_flag=True, help="Do not ask.")
def pull(name: str, yes: bool) -> int:
    """Download a model. What was downloaded before an interruption is kept and goes on from there."""
    with as_user_error(hub.HubError):
        plan = hub.plan(_entry(name))
        size = f"{hub.gb(plan.total)}, of which {hub.gb(plan.there)} are here"
        click.echo(f"{plan.entry.title}: {len(plan.files)} files, {size}")
        click.echo(f"licence: {plan.licence}")
        click.echo(f"to: {plan.folder} ({hub.gb(plan.free)} free)")
        if not yes:
            if not sys.stdin.isatty():
                raise UserError("nothing was downloaded: --yes agrees to the size and the licence")
            if not click.confirm("download it?"):
                click.echo("nothing was downloaded")
                return FAILED
        progress = ProgressLine()

        def report(file: str, done: int, total: int) -> bool:
            progress(Path(file).name or "done", done / total if total else 1.0)
            return True

        try:
            folder = hub.pull(plan, report)
        finally:
            progress.end()
    click.echo(folder)
    return 0


@models.command()
@name_argument
def verify(name: str) -> int:
    """Check the files of a pulled model against the hub. Status 1 when something is missing or damaged."""
    entry = _entry(name)
    with as_user_error(hub.HubError):
        problems = hub.verify(hub.plan(entry))
    for problem in problems:
        click.echo(problem)
    if problems:
        click.echo(f"foreland models pull {entry.name} repairs this")
        return FAILED
    click.echo(f"{entry.name} is complete and as the hub has it")
    return 0


@models.command()
@name_argument
def path(name: str) -> int:
    """Say where a pulled model is."""
    entry = _entry(name)
    with as_user_error(hub.HubError):
        click.echo(hub.locate(entry))
    return 0


@models.command()
@name_argument
@click.argument("folder", type=FILE)
@click.option("--seed", type=Whole(min=0), default=0, help="Of the weights.")
def tiny(name: str, folder: Path, seed: int) -> int:
    """Write a small random checkpoint in the published layout of a model. What it shows is noise."""
    from engine.models.tiny import TinyError, write_tiny

    with as_user_error(TinyError, OSError):
        written = write_tiny(name, folder, seed)
    click.echo(f"a small random {name}: what it shows is noise. Try: foreland explore --model {written} --device cpu")
    click.echo(written.resolve())
    return 0


@models.command()
@click.argument("name", metavar="NAME|FOLDER", shell_complete=completing(lambda: list(load_catalogue())))
@click.option("--like", metavar="NAME", help="Check a local folder or file as this model of the catalogue.")
@click.option("--device", default="auto", help="auto, cpu, cuda, cuda:0, mps.")
@click.option("--dtype", default="auto", type=click.Choice(DTYPES), help="Precision; auto is bf16 on a GPU.")
@click.option("--threads", type=Whole(min=1), help="Torch threads.")
@click.option("--window", type=Whole(min=1), metavar="K", help="Latents of a call.  [default: few]")
def check(name: str, like: str | None, device: str, dtype: str, threads: int | None, window: int | None) -> int:
    """Check that a model keeps what its interface promises. Status 1 when it breaks a promise.

    It samples some hundred latents: seconds on a small model, minutes on a large one.
    """
    from engine.loading import loader
    from engine.models import contract

    progress = ProgressLine()
    with as_user_error(ValueError, RuntimeError):
        try:
            model = loader(name, LoadOptions(device=device, dtype=dtype, threads=threads), like=like)(progress)
            if window is not None:
                model.spec.check_window(window)
        finally:
            progress.end()
    broken = 0
    try:
        for finding in contract.check(model, window):
            click.echo(str(finding))
            broken += not finding.kept
    finally:
        model.sampler.close()
    return FAILED if broken else 0


@models.command()
def words() -> int:
    """Say what keys mean in words, for models without a camera, and where to change it."""
    from engine.models.action_words import action_words

    file = words_file()
    with as_user_error(ValueError):
        table = action_words(file)
    for action, text in table.items():
        click.echo(f"{action:<12} {text}")
    there = "there" if file.exists() else "not there yet"
    click.echo(f"change any of them in {file} ({there}), as JSON of the same form")
    return 0


@models.command()
@click.argument("name", metavar="NAME|FOLDER", shell_complete=completing(lambda: list(load_catalogue())))
@click.option("--like", metavar="NAME", help="A local folder or file as this model of the catalogue.")
@click.option(
    "--memory", type=Number(0, min_open=True), metavar="GB", help="Of each GPU.  [default: what is free here]"
)
@click.option("--size", type=Size(), help="Picture size.  [default: the model's]")
@click.option("--window", type=Whole(min=1), metavar="K", help="Latents of a call.  [default: the model's]")
@click.option("--steps", type=Whole(min=1), help="Denoising steps of a call.  [default: the model's]")
@click.option("--gpus", type=Whole(min=1), default=1, help="GPUs that one world is spread over.")
@click.option(
    "--worlds", type=Whole(1, 64), default=1, metavar="N", help="Worlds of `foreland serve`: each has its own memory."
)
@click.option("--history-latents", type=Whole(min=1), metavar="N", help="Latents of retained history.")
@click.option("--offload", is_flag=True, help="With transformer blocks brought one by one.")
@click.option("--vae-tiling", is_flag=True, help="With the decoder in tiles.")
@click.option("--json", "as_json", is_flag=True, help="As JSON: fits, bytes, plan.")
def fit(
    name: str,
    like: str | None,
    memory: float | None,
    size: tuple[int, int] | None,
    window: int | None,
    steps: int | None,
    gpus: int,
    worlds: int,
    history_latents: int | None,
    offload: bool,
    vae_tiling: bool,
    as_json: bool,
) -> int:
    """Say how a model would run in a memory, or what would have to change. Nothing is downloaded. Status 1 when it does not fit."""
    from engine.models.fit import GB, Plans, Wish
    from engine.models.registry import family, spec_of

    with as_user_error(ValueError, RuntimeError):
        entry, spec = find(name, like), spec_of(name, like, size)
        code = family(entry.family)
        if not isinstance(code, Plans):
            raise UserError(f"{entry.name} runs on any machine: there is nothing to fit")
        if window is not None:
            spec.check_window(window)
        free, kind = (memory * GB, "cuda") if memory is not None else _free_here()
        wish = Wish(window or spec.window, steps or spec.steps, gpus)
        options = LoadOptions(offload=offload, tiled=vae_tiling, history_latents=history_latents).checked()
        found = code.fit(entry, spec, options, wish, free / worlds, kind)
    plan = found.plan or found.asked
    if as_json:
        report = {
            "name": entry.name,
            "fits": found.fits,
            "free": round(free),
            "worlds": worlds,
            "room_for_worlds": int(free / plan.total),
            "bytes": plan.to_json()["bytes"],
            "plan": plan.to_json(),
        }
        click.echo(json.dumps(report, indent=2))
        return 0 if found.fits else FAILED
    click.echo(found.say(entry.name))
    for part, size_of in plan.bytes.items():
        click.echo(f"  {part:<10} {size_of / GB:6.2f} GB")
    if worlds > 1:
        click.echo(f"{worlds} worlds take {worlds * plan.total / GB:.1f} GB of {free / GB:.1f} GB")
    elif (room := int(free / plan.total)) > 1:
        click.echo(f"there is memory for {room} such worlds: foreland serve --worlds {room}")
    if plan.call_seconds is not None:
        takes = f"{plan.call_seconds:.2f} s on {gpus if gpus > 1 else 'an'} H200 by the paper's figures"
        click.echo(f"a call of K = {plan.window} takes about {takes}, and plays {plan.plays_seconds:.2f} s")
        if plan.call_seconds > 1.05 * plan.plays_seconds:  # the forecast is no more exact than that
            click.echo(f"it would stall: {plan.call_seconds / plan.plays_seconds:.1f} times slower than it plays")
    if kind == "cpu":
        click.echo(
            "no GPU is here: this is the machine's memory, and a CPU samples far slower than it plays; --memory GB plans for a GPU"
        )
    return 0 if found.fits else FAILED


def _free_here() -> tuple[float, str]:
    """Free bytes of the device that `auto` takes, and its kind. Raises ValueError where nobody says."""
    from engine.models.loading import free_memory, torch_device

    device = torch_device(LoadOptions())
    free = free_memory(device)
    if free is None:
        raise ValueError("the free memory cannot be read here: give it with --memory GB")
    return free, device.type
