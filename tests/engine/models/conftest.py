"""Small checkpoints, written once a test run in the published layouts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from engine.loading import loader
from engine.models.catalogue import load_catalogue
from engine.models.interface import Model
from engine.models.load_options import LoadOptions
from engine.models.tiny import write_tiny


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


NAMES = [name for name, entry in load_catalogue().items() if entry.family == "wan"]
torch.manual_seed(0)
torch.set_num_threads(1)  # small tensors: a second thread only waits
