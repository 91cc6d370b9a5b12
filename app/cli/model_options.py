"""The options that choose a model and how it runs, shared by all commands."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from app.options import Choice, ChoiceError
from app.storage.paths import embeddings_folder, words_file
from engine.control.controller import Commit
from engine.models.interface import HistoryPolicy, ModelSpec
from engine.models.load_options import DTYPES, TEXT_PLACES, LoadOptions
from engine.models.registry import loader, names, spec_of
from engine.runtime.session import Settings


def add_model_options(p: argparse.ArgumentParser, sampling: bool = True) -> None:
    """sampling: also K, steps, seed and policies."""
    p.add_argument(
        "--model", default="pocket", help=f"name, folder or file: {', '.join(names())} (default: %(default)s)"
    )
    p.add_argument("--like", metavar="NAME", help="run a local folder or file as this model of the catalogue")
    p.add_argument("--size", metavar="WxH", help="picture size (default: the model's)")
    p.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:0, mps (default: %(default)s)")
    p.add_argument(
        "--dtype", default="auto", choices=DTYPES, help="precision; auto is bf16 on a GPU (default: %(default)s)"
    )
    p.add_argument(
        "--text-encoder", default="cpu", choices=TEXT_PLACES, help="where the text encoder lives (default: %(default)s)"
    )
    p.add_argument(
        "--offload", action="store_true", help="bring transformer blocks to the GPU one by one: slow, little memory"
    )
    p.add_argument("--vae-tiling", action="store_true", help="decode in tiles: little memory")
    p.add_argument("--latents", action="store_true", help="keep the latents in the session's folder too")
    p.add_argument(
        "--lora", type=Path, metavar="FILE", help="LoRA file to merge into the transformer (LTX-2.3, MiniMax-H3)"
    )
    p.add_argument(
        "--decoder", type=Path, metavar="FILE", help="decode with a tiny autoencoder (TAEHV: taew2_1, taew2_2)"
    )
    p.add_argument("--base", type=Path, metavar="DIR", help="folder with text encoder and VAE, for a lone weights file")
    p.add_argument("--image", type=Path, help="begin the world from a picture")
    p.add_argument("--clip", type=Path, help="begin the world from the end of a film")
    p.add_argument(
        "--gpus", default="1", metavar="N", help="spread one world over N GPUs, or auto for all (default: %(default)s)"
    )
    p.add_argument("--split", metavar="UxR", help="Ulysses x ring split of the ranks, such as 4x2 (default: the best)")
    p.add_argument(
        "--start",
        choices=["image", "noise"],
        default="image",
        help="what a pocket world begins from (default: %(default)s)",
    )
    p.add_argument("--threads", type=int, help="torch threads")
    p.add_argument("--weights", type=Path, help="folder of other weights of the pocket world")
    if sampling:
        p.add_argument("--seed", type=int, default=0, help="seed of all noise (default: %(default)s)")
        p.add_argument("--window", type=int, metavar="K", help="latents sampled by one call")
        p.add_argument("--steps", type=int, help="denoising steps of a call")
        p.add_argument("--commit", choices=[c.value for c in Commit], default=Commit.SPECULATIVE.value)
        p.add_argument(
            "--history", choices=[h.value for h in HistoryPolicy], help="how retained history conditions the next call"
        )


def model_words(args: argparse.Namespace) -> list[str]:
    """The model's options of `args` as words of a command line."""
    words = ["--model", args.model, "--device", args.device, "--dtype", args.dtype, "--text-encoder", args.text_encoder]
    words += ["--start", args.start]
    for name in ("gpus", "split", "like", "size", "decoder", "lora", "base", "image", "clip", "threads", "weights"):
        if (value := getattr(args, name)) is not None:
            words += [f"--{name}", str(value)]
    return words + [f"--{n}" for n in ("offload", "vae-tiling", "latents") if getattr(args, n.replace("-", "_"))]


def choose(args: argparse.Namespace) -> Choice:
    """Raises ChoiceError."""
    size = None
    if args.size is not None:
        if not (m := re.fullmatch(r"(\d+)x(\d+)", args.size)):
            raise ChoiceError(f"--size {args.size} is no size: say 832x480")
        size = int(m[1]), int(m[2])
    options = LoadOptions(
        gpus=_gpus(args),
        split=args.split,
        device=args.device,
        dtype=args.dtype,
        text=args.text_encoder,
        offload=args.offload,
        tiled=args.vae_tiling,
        decoder=args.decoder,
        lora=args.lora,
        image=args.image,
        clip=args.clip,
        words=words_file(),
        embeddings=embeddings_folder(),
        base=args.base,
        threads=args.threads,
        start_image=args.start == "image",
    )
    try:
        return Choice(
            args.model, spec_of(args.model, args.like, size), loader(args.model, options, args.weights, args.like, size)
        )
    except ValueError as e:
        raise ChoiceError(str(e)) from e


def _gpus(args: argparse.Namespace) -> int:
    """Raises ChoiceError."""
    if args.gpus == "auto":
        if args.device == "cpu":
            return 1
        import torch  # only to count them

        return max(1, torch.cuda.device_count())
    if not args.gpus.isdigit() or not int(args.gpus):
        raise ChoiceError(f"--gpus {args.gpus} is no number: say 1 to 8, or auto")
    return int(args.gpus)


def settings_of(args: argparse.Namespace, prompt: str, spec: ModelSpec) -> Settings:
    """Raises ChoiceError."""
    try:
        history = HistoryPolicy(args.history) if args.history else None
        return Settings(prompt, args.seed, args.window, args.steps, Commit(args.commit), history, args.latents).checked(
            spec
        )
    except ValueError as e:
        raise ChoiceError(str(e)) from e
