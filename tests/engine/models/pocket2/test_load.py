"""The shipped weights of the second pocket world."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

# of the project, outside of this family
from engine.control.conditions import Condition
from engine.models.interface import HistoryPolicy, Request
from engine.models.pocket2.load import Weights, WeightsError, load, shipped


def test_the_shipped_weights_make_a_picture_and_are_small_enough() -> None:
    sampler, decoder, identity = load()
    assert identity.startswith("pocket2-")
    assert sum(f.stat().st_size for f in shipped().iterdir()) < 40e6
    prepared = sampler.prepare(Condition(0, "snowy mountains at noon"))
    request = Request(0, 2, 2, 5, 0, prepared, HistoryPolicy.LATENT_INPUT)
    groups = sampler.sample(request, lambda done, total: True)
    frame = decoder.decode(groups[1])[3]
    assert frame.shape == (160, 256, 3) and frame.std() > 20
    assert decoder.sound(groups[0], 0) is not None
    # the sky is bright at noon, and neither it nor the ground is one colour
    assert frame[:40].mean() > 100 and np.abs(frame[:60].mean((0, 1)) - frame[100:].mean((0, 1))).max() > 8


def test_weights_that_are_missing_or_truncated_are_named(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="missing"):
        Weights.load(tmp_path)
    (tmp_path / "card.json").write_text("{}")
    (tmp_path / "pocket.safetensors").write_bytes(b"no weights")
    with pytest.raises(WeightsError, match="cannot be read"):
        Weights.load(tmp_path)
