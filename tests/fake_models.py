"""The catalogue's models at real size on the fake GPU (`tests.fake_device`), by the program's own loaders.

Settings, keys and shapes are the published ones (`assets/published`); what is read from a file is a tensor without data. Blocks may be
fewer than the model has, since all of them are alike: whoever compares says so to the plan as well. Text encoders are not run.
"""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.control.conditions import Condition
from engine.models import checkpoints, lora, weight_files
from engine.models.audio_video import load as audio_video
from engine.models.audio_video.conditions import AudioVideoConditions, AudioVideoInputs
from engine.models.catalogue import Entry, find
from engine.models.interface import Group, Model, ModelSpec, PrefillsAhead, Request
from engine.models.load_options import LoadOptions
from engine.models.published import Weights, published
from engine.models.schedulers import Euler, UniPC
from engine.models.text_embeddings import PromptEncoder
from engine.models.wan import load as wan
from engine.models.wan.taehv import TinyDecoder
from engine.models.weight_files import INDEX
from tests.fake_device import Counts, device, fake_gpu, on, really

BLOCK = re.compile(r"(?:^|\.)(?:blocks|transformer_blocks)\.(\d+)\.")
UMT5_WIDTH = 4096
LTX_TOKENS = 1024
TINY_AUTOENCODERS = {16: ("taew2_1.pth", 1), 48: ("taew2_2.pth", 2)}
"""By channels of a latent: a published file, and its patch."""


@dataclass
class Loaded:
    """A model on the fake GPU."""

    counts: Counts
    model: Model
    entry: Entry
    spec: ModelSpec
    options: LoadOptions
    base: int
    """Bytes that live on the device when everything is read."""

    def inputs(self, words: str = "snow") -> Any:
        """Of a condition."""
        return self.model.sampler.prepare(Condition(0, words))

    def request(self, branch: int, window: int, steps: int, **more: Any) -> Request[Any]:
        """With the model's usual history policy."""
        return Request(branch, window, steps, 1, 0, more.pop("prepared", None) or self.inputs(), self.spec.history[0])

    def call(self, request: Request[Any]) -> list[Group]:
        """A call, and what follows it in a session: its groups are kept, and the next call may come."""
        sampler = self.model.sampler
        groups = sampler.sample(request, lambda done, steps: True)
        if isinstance(sampler, PrefillsAhead):
            sampler.prefill_chunk(groups, request.history)
        sampler.extend(groups)
        return groups


def layers_of(entry: Entry) -> int:
    """Of one transformer as published."""
    return int(entry.network["layers"])


def empty(weights: Weights, layers: int) -> dict[str, Tensor]:
    """Of a file, its first blocks."""
    there = {k: x for k, x in weights.keys.items() if (m := BLOCK.search(k)) is None or int(m[1]) < layers}
    return {k: torch.empty(shape, dtype=getattr(torch, dtype)) for k, (dtype, shape) in there.items()}


def write(entry: Entry, folder: Path, layers: int) -> dict[Path, Callable[[], dict[str, Tensor]]]:
    """Settings on disk; and what is read from each file and folder of weights."""
    known, files = published(entry.name), {}
    base = published(entry.base) if entry.base is not None else known
    below = folder / "base" if entry.base is not None else folder
    for of, where in ((known, folder), (base, below)):
        for name, settings in of.settings.items():
            if name.endswith("config.json") and name.startswith(("transformer", "connectors")):
                settings = settings | {k: layers for k in ("num_layers",) if k in settings and "transformer" in name}
            (where / name).parent.mkdir(parents=True, exist_ok=True)
            (where / name).write_text(json.dumps(settings))
    for name, weights in known.weights.items():
        where = folder / name
        where.parent.mkdir(parents=True, exist_ok=True)
        if where.suffix:
            where.touch()
        files[where.parent if name.endswith(INDEX) else where] = lambda weights=weights: empty(weights, layers)
    return files


def vae(folder: Path) -> dict[str, Tensor]:
    """The weights of a folder with an `AutoencoderKLWan`."""
    from diffusers import AutoencoderKLWan

    made = checkpoints.made(AutoencoderKLWan, weight_files.read_json(folder / "config.json"))
    return {k: torch.empty(v.shape, dtype=v.dtype) for k, v in made.state_dict().items()}


@contextmanager
def loaded(
    name: str, folder: Path, layers: int = 3, size: tuple[int, int] | None = None, **chosen: Any
) -> Iterator[Loaded]:
    """A model of the catalogue with so many blocks. chosen: of its options; `decoder="tiny"` for the published tiny autoencoder."""
    entry = replace(find(name), where=folder)
    spec = entry.spec(size)
    with fake_gpu() as counts, pytest.MonkeyPatch.context() as patch:
        files = write(entry, folder, layers)
        channels = int(entry.network.get("channels", 0))
        if chosen.get("decoder") == "tiny":
            file, p = TINY_AUTOENCODERS[channels]
            chosen["decoder"] = folder / file
            files[folder / file] = lambda: dict(TinyDecoder(channels, p).state_dict())

        def read_file(file: Path, inside: str = "") -> dict[str, Tensor]:
            return files[file]()

        def read_folder(where: Path, name: str = "") -> dict[str, Tensor]:
            return vae(where) if where.name == "vae" else files[where]()

        for module, function in (
            (weight_files, read_file),
            (weight_files, read_folder),
            (checkpoints, read_file),
            (checkpoints, read_folder),
            (lora, read_file),
        ):
            patch.setattr(module, function.__name__, function)
        for module in (checkpoints, lora):
            patch.setattr(module, "all_finite", lambda tensor: True)
        patch.setattr(PromptEncoder, "encode", encoded)
        patch.setattr(audio_video, "read", read_part)
        patch.setattr(AudioVideoConditions, "text", told)
        beside_the_device(patch)
        options = LoadOptions(device=f"{device()}", planned=True, **chosen)
        if entry.family == "wan":
            model = wan.load(entry, spec, options, lambda stage, share: None)
        else:
            model = audio_video.load("ltx2", entry, spec, options, lambda stage, share: None)
        gc.collect()
        yield Loaded(counts, model, entry, spec, options, counts.live)
        model.sampler.close()


def encoded(self: PromptEncoder, text: str) -> Tensor:
    """In place of a text encoder."""
    return torch.zeros(1, 512, UMT5_WIDTH, dtype=self._dtype, device=self._device)


def told(self: AudioVideoConditions, words: str) -> AudioVideoInputs:
    """The same for LTX-2.3."""
    known = published("ltx-2.3").settings["transformer/config.json"]
    text, audio = known["cross_attention_dim"], known["audio_cross_attention_dim"]
    return AudioVideoInputs(
        words,
        {
            "text": torch.zeros(1, LTX_TOKENS, text, device=self._device, dtype=torch.bfloat16),
            "audio": torch.zeros(1, LTX_TOKENS, audio, device=self._device, dtype=torch.bfloat16),
            "mask": torch.ones(1, LTX_TOKENS, device=self._device, dtype=torch.int64),
        },
    )


def read_part(kind: Any, where: Path, dtype: torch.dtype | None, to: torch.device) -> Any:
    """A part of a diffusers folder, of its settings alone."""
    model = checkpoints.made(kind, weight_files.read_json(where / "config.json"))
    return on(to, model, dtype or torch.float32).requires_grad_(False)


def beside_the_device(patch: pytest.MonkeyPatch) -> None:
    """UniPC works its coefficients out on the CPU, and asks for numbers in each of its steps: these are Euler's here."""
    patch.setattr(UniPC, "__init__", really(UniPC.__init__))
    patch.setattr(UniPC, "step", Euler.step)
