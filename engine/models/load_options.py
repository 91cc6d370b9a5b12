"""How a model is loaded: where it computes, in what precision, from what it begins. Plain data, checked once.

A family of models names the options that it understands (`engine.models.family.Family.options`); one that it does not understand is
refused by its name before anything is loaded.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

from engine.errors import Refused

DTYPES = ("auto", "bf16", "fp16", "fp32")
TEXT_PLACES = ("auto", "cpu", "device", "release")
MOST_RANKS = 64


class OptionError(Refused):
    """An option that is out of range, or that the model does not understand. The message names it."""


def _option(default: Any, flag: str) -> Any:
    """A field that a person sets with `flag` on the command line."""
    return field(default=default, metadata={"flag": flag})


@dataclass(frozen=True)
class LoadOptions:
    """What a person may choose about loading, and what the program passes on."""

    device: str = _option("auto", "--device")
    """Where it computes: cpu, cuda, cuda:0, mps; 'auto' takes a GPU where there is one."""
    dtype: str = _option("auto", "--dtype")
    """Precision, one of DTYPES; 'auto' is bf16 on a GPU and fp32 on a CPU."""
    text: str = _option("auto", "--text-encoder")
    """Where the text encoder lives, one of TEXT_PLACES; 'auto': on the device where it fits beside all that a plan wants, else on the CPU;
    'release': nowhere between two new prompts."""
    offload: bool = _option(False, "--offload")
    """Transformer blocks come to the GPU one by one."""
    tiled: bool = _option(False, "--vae-tiling")
    """The VAE works in tiles."""
    decoder: Path | None = _option(None, "--decoder")
    """A TAEHV file to decode with instead of the VAE."""
    history_latents: int | None = _option(None, "--history-latents")
    """Latents of the retained prefix at most; None: as in training."""
    memory: float | None = _option(None, "--memory")
    """Gigabytes of the device that may be taken; None: what is free."""
    lora: Path | None = _option(None, "--lora")
    """A LoRA file to merge into the transformer."""
    image: Path | None = _option(None, "--image")
    """A picture that the world begins from."""
    clip: Path | None = _option(None, "--clip")
    """A film whose end the world begins from."""
    base: Path | None = _option(None, "--base")
    """The folder with text encoder and VAE, for a lone weights file."""
    threads: int | None = _option(None, "--threads")
    """Threads of torch; None: as many as suit the model."""
    weights: Path | None = _option(None, "--weights")
    """A folder of other weights, for a model that ships."""
    start_image: bool = _option(True, "--start noise")
    """Whether a world begins after one of the start images that ship."""
    gpus: int = _option(1, "--gpus")
    """Ranks that one world is spread over: processes, each with a GPU or on the CPU."""
    cluster: str | None = _option(None, "--cluster")
    """A Ray cluster whose hosts have the ranks, as ray://HOST; None: this machine has them."""
    split: str | None = _option(None, "--split")
    """Ulysses x ring, as '4x2'; None for the best."""
    words: Path | None = None
    """The person's table of words for keys, for models without a camera. Passed on by the program; need not be there."""
    embeddings: Path | None = None
    """Folder of cached prompt embeddings, or none. Passed on by the program."""
    window: int | None = None
    """K that the session will have, for a plan that fits it; None: the model's. Passed on by the program."""
    snapshots: int | None = None
    """States of the decoder that are kept; None: by what is free. Passed on by a plan."""
    planned: bool = False
    """Whether these options are a plan already, as those of a rank are: all ranks must have the same."""

    def checked(self) -> LoadOptions:
        """The same. Raises OptionError with what is allowed, or names the file that is not there."""
        if self.dtype not in DTYPES:
            raise OptionError(f"unknown dtype {self.dtype!r}; known: {', '.join(DTYPES)}")
        if self.text not in TEXT_PLACES:
            raise OptionError(f"unknown place for the text encoder {self.text!r}; known: {', '.join(TEXT_PLACES)}")
        if self.threads is not None and self.threads < 1:
            raise OptionError(f"threads = {self.threads} is out of range: at least 1")
        if self.history_latents is not None and self.history_latents < 1:
            raise OptionError(f"history = {self.history_latents} latents is out of range: at least 1")
        if self.memory is not None and self.memory <= 0:
            raise OptionError(f"memory = {self.memory} GB is out of range: more than 0")
        if not 1 <= self.gpus <= MOST_RANKS:
            raise OptionError(f"gpus = {self.gpus} is out of range: 1 to {MOST_RANKS}")
        if self.image is not None and self.clip is not None:
            raise OptionError("a world begins from an image or from a clip, not from both")
        for file in (self.decoder, self.lora, self.image, self.clip, self.base):
            if file is not None and not os.path.exists(file):
                raise OptionError(f"{file} is not there")
        return self

    def refuse_all_but(self, understood: frozenset[str], name: str) -> None:
        """Raises OptionError that names the options which were chosen and which the model `name` does not understand."""
        flags = {f.name: f.metadata["flag"] for f in fields(self) if "flag" in f.metadata}
        unknown = [
            flags[f.name] for f in fields(self) if f.name in flags and f.name not in understood and self._chose(f)
        ]
        if unknown:
            known = ", ".join(flag for n, flag in flags.items() if n in understood) or "no options"
            raise OptionError(f"{name} does not understand {', '.join(unknown)}; it understands {known}")

    def _chose(self, f: Any) -> bool:
        value = getattr(self, f.name)
        # everything computes on the CPU by default
        return value != f.default and not (f.name == "device" and value == "cpu")

    def to_json(self) -> dict[str, Any]:
        """For a rank: what `from_json` reads."""
        return {k: str(v) if isinstance(v, Path) else v for k, v in asdict(self).items()}


def from_json(data: dict[str, Any]) -> LoadOptions:
    """What `LoadOptions.to_json` wrote."""
    paths = {name for name, kind in get_type_hints(LoadOptions).items() if Path in get_args(kind)}
    values: dict[str, Any] = {k: Path(v) if k in paths and v is not None else v for k, v in data.items()}
    return LoadOptions(**values)
