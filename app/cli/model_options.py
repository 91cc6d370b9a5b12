"""The options that choose a model and how it runs, shared by the commands that load one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import click

from app.cli.parameters import FILE, Gpus, Number, Size, Whole, completing
from app.options import ModelOptions, SamplingOptions
from engine.control.events import Commit
from engine.models.catalogue import DEFAULT
from engine.models.interface import HistoryPolicy
from engine.models.load_options import DTYPES, TEXT_PLACES
from engine.models.registry import names
from engine.runtime.settings import MOST_AIM

Command = Callable[..., Any]

MODEL = (
    click.option(
        "--model",
        default=DEFAULT,
        metavar="NAME",
        shell_complete=completing(names),
        help="Name, folder or file; `foreland models list` has the names.",
    ),
    click.option("--like", metavar="NAME", help="Run a local folder or file as this model of the catalogue."),
    click.option("--size", type=Size(), help="Picture size.  [default: the model's]"),
    click.option("--device", default="auto", help="auto, cpu, cuda, cuda:0, mps."),
    click.option("--dtype", default="auto", type=click.Choice(DTYPES), help="Precision; auto is bf16 on a GPU."),
    click.option(
        "--text-encoder",
        default="auto",
        type=click.Choice(TEXT_PLACES),
        help="Where the text encoder lives; auto is the GPU where it fits.",
    ),
    click.option(
        "--offload", is_flag=True, help="Bring transformer blocks to the GPU one by one: slow, little memory."
    ),
    click.option("--vae-tiling", is_flag=True, help="Decode in tiles: little memory."),
    click.option(
        "--history-latents",
        type=Whole(min=1),
        metavar="N",
        help="Latents of retained history.  [default: as in training]",
    ),
    click.option(
        "--memory",
        type=Number(0, min_open=True),
        metavar="GB",
        help="Take no more of the device.  [default: what is free]",
    ),
    click.option("--lora", type=FILE, metavar="FILE", help="LoRA to merge into the transformer; a folder for a pair."),
    click.option(
        "--decoder", type=FILE, metavar="FILE", help="Decode with a tiny autoencoder (TAEHV: taew2_1, taew2_2)."
    ),
    click.option("--base", type=FILE, metavar="DIR", help="Folder with text encoder and VAE, for a lone weights file."),
    click.option("--image", type=FILE, metavar="FILE", help="Begin the world from a picture."),
    click.option("--clip", type=FILE, metavar="FILE", help="Begin the world from the end of a film."),
    click.option("--gpus", default=1, type=Gpus(), help="Spread one world over N GPUs, or auto for all."),
    click.option(
        "--cluster", metavar="ray://HOST", help="Take those GPUs from the hosts of this Ray cluster (extra: cluster)."
    ),
    click.option("--split", metavar="UxR", help="Ulysses x ring split of the ranks, such as 4x2.  [default: the best]"),
    click.option(
        "--start", type=click.Choice(["image", "noise"]), default="image", help="What a pocket world begins from."
    ),
    click.option("--threads", type=Whole(min=1), help="Torch threads."),
    click.option("--weights", type=FILE, metavar="DIR", help="Other weights of the pocket world."),
)
SAMPLING = (
    click.option("--seed", type=Whole(min=0), default=0, help="Seed of all noise."),
    click.option(
        "--window", type=Whole(min=1), metavar="K", help="Latents sampled by one call.  [default: the model's]"
    ),
    click.option("--steps", type=Whole(min=1), help="Denoising steps of a call.  [default: the model's]"),
    click.option(
        "--commit",
        type=click.Choice([c.value for c in Commit]),
        default=Commit.SPECULATIVE.value,
        help="When predictions become final.",
    ),
    click.option(
        "--history",
        type=click.Choice([h.value for h in HistoryPolicy]),
        help="How retained history conditions the next call.  [default: the model's]",
    ),
    click.option(
        "--answer/--no-answer",
        default=None,
        help="Answer keys and prompts by short calls, which a refill of K follows.  [default: the model's]",
    ),
    click.option(
        "--preempt/--no-preempt",
        default=None,
        help="Stop a call at a step when something newer makes it worthless.  [default: the model's]",
    ),
    click.option(
        "--aim",
        type=Number(0, MOST_AIM),
        default=0.0,
        metavar="S",
        help="With --answer: seconds to be seen within; the longest answer that does.  [default: the shortest]",
    ),
    click.option("--latents", is_flag=True, help="Keep the latents in the session's folder too."),
)


def _with(options: tuple[Callable[[Command], Command], ...], command: Command) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


def model_options(command: Command) -> Command:
    """Adds the options of a model; the command gets them as `model`, a ModelOptions."""

    @functools.wraps(command)
    def collected(**values: Any) -> Any:
        chosen = {f.name: values.pop(f.name) for f in fields(ModelOptions)}
        return command(model=ModelOptions(**chosen), **values)

    return _with(MODEL, collected)


def sampling_options(command: Command) -> Command:
    """Adds the options of a session; the command gets them as `sampling`, a SamplingOptions."""

    @functools.wraps(command)
    def collected(**values: Any) -> Any:
        chosen = {f.name: values.pop(f.name) for f in fields(SamplingOptions)}
        chosen["commit"] = Commit(chosen["commit"])
        chosen["history"] = HistoryPolicy(chosen["history"]) if chosen["history"] else None
        return command(sampling=SamplingOptions(**chosen), **values)

    return _with(SAMPLING, collected)
