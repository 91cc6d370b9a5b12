"""`foreland bench`: live measurements on this machine, one command each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from app.cli.errors import UserError, as_user_error
from app.cli.model_options import model_options
from app.cli.parameters import FILE, Gpus, Listed, Number, Whole
from app.cli.progress import ProgressLine
from app.cli.report import markdown, write_json
from app.options import ChoiceError, ModelOptions, gpu_count
from engine.assets import prompt_presets
from engine.measure.simulate import LIVE, UPDATES
from engine.models.cores import default_threads
from engine.models.interface import Model
from engine.models.load_options import DTYPES
from engine.models.registry import pocket_folder

if TYPE_CHECKING:
    from engine.models.interface import ModelSpec

KS = Listed(Whole(min=1))
SIZES = Listed(click.Choice(["480p", "720p"]))
json_option = click.option("--json", "json_file", type=FILE, metavar="FILE", help="Also write the figures there.")
repeats_option = click.option("--repeats", type=Whole(min=1), default=7, help="Timed repetitions.")
windows_option = click.option(
    "--window", "windows", type=KS, metavar="K,...", default="7,21", help="Latents of a call."
)
sizes_option = click.option("--sizes", type=SIZES, default="480p,720p", help="Picture sizes.")
layers_option = click.option("--layers", type=Whole(min=1), help="Fewer layers than Wan-1.3B's 30, to try it.")
threads_option = click.option("--threads", type=Whole(min=1), help="Torch threads.")
device_option = click.option("--device", default="auto", help="auto, cpu, cuda, cuda:0, mps.")


@click.group(no_args_is_help=False)
def bench() -> None:
    """Live measurements on this machine."""


@bench.command()
@model_options
@windows_option
@click.option("--policy", type=Listed(click.Choice(LIVE)), default="speculative,chunk", help="What decides.")
@click.option("--rate", type=Listed(click.Choice(list(UPDATES))), default="low,high", help="Updates as in the paper.")
@click.option("--trajectories", type=Whole(min=1), default=2, help="Of each setting.")
@click.option("--seconds", type=Number(5), default=30.0, help="Of one trajectory.")
@click.option("--seed", type=Whole(min=0), default=0, help="Of all updates and noise.")
@click.option("--out", type=FILE, metavar="DIR", default=Path("bench"), help="Folder for the report.")
def serve(
    model: ModelOptions,
    windows: list[int],
    policy: list[str],
    rate: list[str],
    trajectories: int,
    seconds: float,
    seed: int,
    out: Path,
) -> int:
    """Latency of updates: speculative against chunk commitment, live, with a report and plots."""
    from engine.measure import bench_serving, plots
    from engine.measure.timing import machine

    with as_user_error(ChoiceError):
        choice = model.choose()
    _check_windows(choice.spec, windows)
    settings = [bench_serving.Setting(k, p, r) for k in windows for p in policy for r in rate]
    prompts = prompt_presets()
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise UserError(f"cannot write to {out}: {e.strerror}") from e
    progress = ProgressLine()
    try:
        with as_user_error(RuntimeError, ValueError, OSError):
            report = bench_serving.serve(
                choice.load, choice.spec, settings, trajectories, seconds, seed, prompts, out, progress
            )
    finally:
        progress.end()
    report["machine"] = machine()
    command = (
        f"foreland bench serve --model {model.model} --window {','.join(map(str, windows))} --policy {','.join(policy)} "
        f"--rate {','.join(rate)} --trajectories {trajectories} --seconds {seconds:g} --seed {seed} --out {out}"
    )
    text = bench_serving.serve_markdown(report, command)
    write_json(out / "report.json", report)
    drawn = plots.draw(report, out)
    text += "\n" + "\n".join(f"![{f.stem}]({f.name})" for f in drawn) + "\n"
    (out / "report.md").write_text(text, encoding="utf-8")
    click.echo(text)
    click.echo(out.resolve() / "report.md")
    return 0


DECODED_GROUPS = 8
"""About two seconds of most models."""


def _bench_of(model: Model) -> Any:
    """The measurements of a model's family: those of its own parts, or those of any model."""
    from engine.measure import bench_audio_video, bench_model, bench_wan
    from engine.models.audio_video.sampler import AudioVideoSampler
    from engine.models.wan.sampler import WanSampler

    if isinstance(model.sampler, AudioVideoSampler):
        return bench_audio_video
    return bench_wan if isinstance(model.sampler, WanSampler) else bench_model


@bench.command()
@model_options
@windows_option
@click.option("--steps", type=Whole(min=1), default=4, help="Denoising steps of a call.")
@repeats_option
@json_option
def sampler(model: ModelOptions, windows: list[int], steps: int, repeats: int, json_file: Path | None) -> int:
    """Time of a step and of a call by K, with the prefix KV kept and recomputed."""
    with as_user_error(ChoiceError):
        choice = model.choose()
    _check_windows(choice.spec, windows)
    _use_threads(model.threads)
    if model.model == "pocket":
        from engine.measure import bench_pocket

        with as_user_error(RuntimeError):
            rows = bench_pocket.sampler(model.weights or pocket_folder(), windows, steps, repeats)
        return _report(rows, json_file)
    with as_user_error(RuntimeError, ValueError):
        loaded = choice.load(lambda stage, share: None)
        return _report(_bench_of(loaded).sampler(loaded, windows, steps, repeats), json_file)


@bench.command()
@model_options
@repeats_option
@json_option
def decode(model: ModelOptions, repeats: int, json_file: Path | None) -> int:
    """Time to decode the first group, and a group in the steady state, against the whole clip."""
    with as_user_error(ChoiceError):
        choice = model.choose()
    _use_threads(model.threads)
    if model.model == "pocket":
        from engine.measure import bench_pocket

        with as_user_error(RuntimeError):
            row = bench_pocket.decode(model.weights or pocket_folder(), 14, repeats)
        return _report([row], json_file)
    with as_user_error(RuntimeError, ValueError):
        loaded = choice.load(lambda stage, share: None)
        return _report(
            [_bench_of(loaded).decode(loaded, loaded.spec.nearest_window(DECODED_GROUPS), repeats)], json_file
        )


@bench.command()
@model_options
@click.option("--seconds", type=Number(5), default=30.0, help="Of each of the three runs.")
@json_option
def window(model: ModelOptions, seconds: float, json_file: Path | None) -> int:
    """Pacing of the real window: plain, with the overlay, and while a film is made."""
    with as_user_error(ChoiceError):
        choice = model.choose()
    from app.cli.bench_window import measure

    try:
        rows = [measure(choice, seconds, *how) for how in ((False, False), (True, False), (False, True))]
    except RuntimeError as e:
        raise UserError(f"the window could not be measured: {e}") from e
    return _report(rows, json_file)


@bench.command()
@click.option("--events", type=Whole(min=1000), default=1_000_000, help="Events.")
@json_option
def controller(events: int, json_file: Path | None) -> int:
    """Time and memory of the controller alone, per event."""
    from engine.measure.bench_serving import controller_events

    return _report([controller_events(events)], json_file)


@bench.command()
@device_option
@click.option("--dtype", default="auto", type=click.Choice(DTYPES), help="Precision; auto is bf16 on a GPU.")
@threads_option
@windows_option
@sizes_option
@layers_option
@repeats_option
@json_option
def shapes(
    device: str,
    dtype: str,
    threads: int | None,
    windows: list[int],
    sizes: list[str],
    layers: int | None,
    repeats: int,
    json_file: Path | None,
) -> int:
    """Wan-1.3B's true shapes with random weights, beside the paper's table; downloads nothing."""
    from engine.measure import bench_wan
    from engine.models.load_options import LoadOptions
    from engine.models.loading import torch_device, torch_dtype

    _use_threads(threads)
    options = LoadOptions(device=device, dtype=dtype)
    with as_user_error(RuntimeError, ValueError):
        place = torch_device(options)
        rows = bench_wan.shapes(place, torch_dtype(options, place), windows, sizes, repeats, layers)
    return _report(rows, json_file)


@bench.command()
@click.option("--gpus", default=1, type=Gpus(), help="Measure on N GPUs (processes, on a CPU), or auto for all.")
@click.option("--split", metavar="UxR", help="Ulysses x ring split of the ranks, such as 4x2.  [default: the best]")
@device_option
@threads_option
@windows_option
@sizes_option
@layers_option
@repeats_option
@json_option
def scaling(
    gpus: int | Literal["auto"],
    split: str | None,
    device: str,
    threads: int | None,
    windows: list[int],
    sizes: list[str],
    layers: int | None,
    repeats: int,
    json_file: Path | None,
) -> int:
    """What n GPUs buy: a model that fits the paper's figures or, with --gpus, forwards measured here."""
    from engine.measure import scaling as measured

    _use_threads(threads)
    if (n := gpu_count(gpus, device)) == 1:
        return _report(measured.table(windows), json_file)
    from engine.models.load_options import LoadOptions
    from engine.models.loading import torch_device

    with as_user_error(RuntimeError, ValueError):
        kind = torch_device(LoadOptions(device=device)).type
        rows = measured.measure(n, split, kind, sizes, windows, repeats, layers or measured.LAYERS)
    return _report(rows, json_file)


@bench.command()
@click.option("--groups", type=Whole(min=100), default=2400, help="To play; four are a second.")
@click.option("--updates", type=Number(0), default=30.0, help="A minute.")
@click.option("--seed", type=Whole(min=0), default=0, help="Of the times of the updates.")
@json_option
def session(groups: int, updates: float, seed: int, json_file: Path | None) -> int:
    """Log, memory and time of a session alone, in virtual time: no model, no pictures."""
    from engine.measure.bench_session import compared

    with as_user_error(OSError):
        found = compared(groups, updates, seed)
    click.echo(markdown([{name: value for name, value in found.items() if name != "slices"}]))
    click.echo(markdown(found["slices"]))
    if json_file:
        write_json(json_file, found)
    return 0


@bench.command("all")
@click.option("--repeats", type=Whole(min=1), default=5, help="Timed repetitions of each.")
@threads_option
@json_option
def everything(repeats: int, threads: int | None, json_file: Path | None) -> int:
    """Ratios of what can be measured on any machine, one page: the same on a fast one and a slow one, as far as that goes."""
    from engine.measure.bench_all import ratios

    _use_threads(threads or 1)
    with as_user_error(RuntimeError, ValueError, OSError):
        return _report(ratios(repeats), json_file)


@bench.command()
@device_option
@click.option("--dtype", default="auto", type=click.Choice(DTYPES), help="Precision; auto is bf16 on a GPU.")
@threads_option
@click.option("--rounds", type=Whole(min=1), default=9, help="Rounds, of which the medians are taken.")
@json_option
def overhead(device: str, dtype: str, threads: int | None, rounds: int, json_file: Path | None) -> int:
    """What a step over retained history costs beyond the arithmetic: ratios, by turns in one run."""
    from engine.measure.overhead import measure
    from engine.measure.timing import machine
    from engine.models.load_options import LoadOptions
    from engine.models.loading import torch_device, torch_dtype

    _use_threads(threads or 1)
    options = LoadOptions(device=device, dtype=dtype)
    with as_user_error(RuntimeError, ValueError):
        place = torch_device(options)
        found = measure(rounds, place, torch_dtype(options, place))
    click.echo(markdown([found]))
    if json_file:
        write_json(json_file, {"machine": machine()} | found)
    return 0


@bench.command()
@click.option(
    "--models",
    "names",
    type=Listed(click.STRING),
    metavar="NAME,...",
    help="Of the catalogue, Wan and what was made of it.  [default: Self-Forcing]",
)
@click.option("--random-weights", is_flag=True, help="Nothing is read or downloaded (always so by now).")
@click.option(
    "--tiny", is_flag=True, help="Small shapes, to try the command where there is no GPU; its figures mean nothing."
)
@device_option
@click.option("--dtype", default="auto", type=click.Choice(DTYPES), help="Precision; auto is bf16 on a GPU.")
@repeats_option
@json_option
def gpu(
    names: list[str] | None,
    random_weights: bool,
    tiny: bool,
    device: str,
    dtype: str,
    repeats: int,
    json_file: Path | None,
) -> int:
    """This GPU with the published shapes and random weights, beside the paper and our forecast; under ten minutes on one card."""
    from engine.measure import bench_gpu
    from engine.measure.timing import machine
    from engine.models.load_options import LoadOptions
    from engine.models.loading import torch_device, torch_dtype

    options = LoadOptions(device=device, dtype=dtype)
    with as_user_error(RuntimeError, ValueError):
        place = torch_device(options)
        if place.type == "cpu" and not tiny:
            raise UserError("no GPU is here: --tiny tries the command on the CPU")
        report = bench_gpu.measure(names or bench_gpu.MODELS, place, torch_dtype(options, place), repeats, tiny)
    click.echo(markdown(bench_gpu.lines(report)))
    sessions = [{k: v for k, v in m.items() if k != "forwards"} for m in report["models"]]
    click.echo(markdown(sessions))
    click.echo(markdown([report["transfers"]]))
    for name in report["left_out"]:
        click.echo(f"left out for want of time: {name}")
    if json_file:
        write_json(json_file, {"machine": machine()} | report)
    return 0


def _check_windows(spec: ModelSpec, windows: Sequence[int]) -> None:
    """Raises UserError for a K that the model does not sample."""
    with as_user_error(ValueError):
        for k in windows:
            spec.check_window(k)


def _use_threads(threads: int | None) -> None:
    import torch

    torch.set_num_threads(threads or default_threads())


def _report(rows: Sequence[dict[str, Any]], json_file: Path | None) -> int:
    from engine.measure.timing import machine

    click.echo(markdown(rows))
    if json_file:
        write_json(json_file, {"machine": machine(), "rows": list(rows)})
    return 0
