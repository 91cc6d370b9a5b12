"""Small checkpoints, written once a test run in the published layouts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from diffusers.models.transformers.transformer_wan import WanRotaryPosEmbed

from engine.loading import loader
from engine.models import checkpoints as layouts
from engine.models.catalogue import find, load_catalogue
from engine.models.interface import Model
from engine.models.load_options import LoadOptions
from engine.models.tiny import write_tiny
from engine.models.wan.load import transformer_parts


@pytest.fixture(scope="session")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a small checkpoint by the catalogue's name."""
    root = tmp_path_factory.mktemp("tiny")
    made: dict[str, Path] = {}

    def get(name: str) -> Path:
        if name not in made:
            made[name] = write_tiny(name, root / name)
        return made[name]

    return get


@pytest.fixture
def load(checkpoints: Callable[[str], Path]) -> Callable[..., Model]:
    """Loads a small checkpoint on the CPU in float32."""

    def get(name: str, size: tuple[int, int] | None = None, **options: object) -> Model:
        chosen = LoadOptions(device="cpu", threads=1, **options)  # type: ignore[arg-type]
        return loader(str(checkpoints(name)), chosen, size=size)(lambda stage, share: None)

    return get


@pytest.fixture
def small_wan(checkpoints: Callable[[str], Path]) -> Callable[[str], Any]:
    """diffusers' transformer with the weights of a small checkpoint, and nothing of ours in it."""

    def get(name: str) -> Any:
        entry = find(str(checkpoints(name)))
        assert entry.where is not None
        part = transformer_parts(entry, entry.where)[0]
        model: Any = layouts.build(part.config, part.read(), part.source, torch.float32, torch.device("cpu"))
        model.rope = WanRotaryPosEmbed(model.config.attention_head_dim, tuple(model.config.patch_size), 1024)
        return model

    return get


NAMES = [name for name, entry in load_catalogue().items() if entry.family == "wan"]
torch.manual_seed(0)
torch.set_num_threads(1)  # small tensors: a second thread only waits
