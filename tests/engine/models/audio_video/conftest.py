"""Small checkpoints of MiniMax-H3 and LTX-2.3 in their published layouts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from engine.loading import loader
from engine.models.interface import Model
from engine.models.load_options import LoadOptions
from engine.models.registry import spec_of


@pytest.fixture(scope="session")
def h3_folder(checkpoints: Callable[[str], Path]) -> Path:
    return checkpoints("minimax-h3")


@pytest.fixture(scope="session")
def ltx_folder(checkpoints: Callable[[str], Path]) -> Path:
    return checkpoints("ltx-2.3")


def load(folder: Path, **options: object) -> Model:
    torch.set_num_threads(1)
    return loader(str(folder), LoadOptions(device="cpu", **options))(lambda stage, share: None)  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def h3(h3_folder: Path) -> Model:
    return load(h3_folder)


@pytest.fixture(scope="session")
def ltx(ltx_folder: Path) -> Model:
    return load(ltx_folder)


def spec(folder: Path):  # type: ignore[no-untyped-def]
    return spec_of(str(folder))
