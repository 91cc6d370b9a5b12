"""Joint models over two processes: the same latents as in one, through the same sampler interface."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from engine.control.conditions import Condition
from engine.models.interface import Group, HistoryPolicy, Model, Request
from engine.models.tiny import write_tiny
from tests.engine.models.audio_video.conftest import load


def calls(model: Model, k: int) -> list[list[Group]]:
    """A first call and one that branches from its middle."""
    sampler, decoder = model.sampler, model.decoder
    sampler.reset()
    decoder.reset()
    prepared = sampler.prepare(Condition(0, "a forest at dawn"))
    first = sampler.sample(Request(0, k, 2, 3, 0, prepared, HistoryPolicy.BOUNDARY_IMAGE), lambda a, b: True)
    sampler.extend(first)
    for g in first[:2]:
        decoder.decode(g)
    second = sampler.sample(Request(2, k, 2, 3, 0, prepared, HistoryPolicy.BOUNDARY_IMAGE), lambda a, b: True)
    sampler.extend(second)
    return [first, second]


@pytest.mark.parametrize(("name", "k"), [("minimax-h3", 7), ("ltx-2.3", 3)])
def test_two_ranks_give_the_latents_of_one(name: str, k: int, tmp_path: Path) -> None:
    folder = write_tiny(name, tmp_path / "m")
    alone = calls(load(folder), k)
    model = load(folder, gpus=2)
    try:
        spread = calls(model, k)
        for mine, theirs in zip(alone, spread, strict=True):
            assert [g.position for g in mine] == [g.position for g in theirs]
            assert [g.span for g in mine] == [g.span for g in theirs]
            for a, b in zip(mine, theirs, strict=True):
                assert torch.allclose(a.latent, b.latent, atol=1e-4)
            assert torch.allclose(mine[0].state.call.audio, theirs[0].state.call.audio, atol=1e-4)
    finally:
        model.sampler.close()
