"""The shipped weights of the second pocket world."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

# of the project, outside of this family
from engine.control.conditions import Condition
from engine.models.interface import ConditionError, Group, HistoryPolicy, Request
from engine.models.pocket2.cells import LANDS
from engine.models.pocket2.load import Weights, WeightsError, load, shipped
from engine.models.pocket2.model import PocketSampler


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


def begun(sampler: PocketSampler, prompt: str, window: int = 1, branch: int = 0) -> list[Group]:
    prepared = sampler.prepare(Condition(0, prompt, ("forward",) if branch else ()))
    return sampler.sample(Request(branch, window, 4, 8, 0, prepared, HistoryPolicy.LATENT_INPUT), lambda d, t: True)


def test_a_world_begins_from_a_picture_whatever_the_prompt_says_until_it_is_another(tmp_path: Path) -> None:
    sampler, decoder, _ = load()
    file = tmp_path / "picture.png"
    Image.fromarray(decoder.decode(begun(sampler, "a city at night")[0])[3]).save(file)
    sampler.reset()
    sampler.set_start(file)
    first = begun(sampler, "snowy mountains at noon")
    assert (LANDS[first[0].state.land], first[0].state.light[1, 11]) == ("city", 1)
    sampler.extend(first)
    again = begun(sampler, "snowy mountains at noon", 1, 1)
    assert LANDS[again[0].state.land] == "city"
    sampler.extend(again)
    assert LANDS[begun(sampler, "snowy mountains at dawn", 1, 2)[0].state.land] == "snow"
    for strange in (np.zeros((90, 90, 3)), np.random.default_rng(0).integers(0, 256, (90, 90, 3))):
        Image.fromarray(strange.astype(np.uint8)).save(file)
        with pytest.raises(ConditionError, match="none of the places that this world can make"):
            sampler.set_start(file)
    file.write_bytes(b"no picture")
    with pytest.raises(ConditionError, match="cannot be read"):
        sampler.set_start(file)


def test_a_saved_world_begins_where_it_was_saved(tmp_path: Path) -> None:
    sampler, decoder, _ = load()
    sampler.extend(begun(sampler, "meadow at dusk, rain", 2))
    walked = begun(sampler, "meadow at dusk, rain", 14, 2)
    suffix, content = sampler.place(walked[-1])
    file = tmp_path / f"world{suffix}"
    file.write_bytes(content)
    assert len(content) < 400_000
    other, _, _ = load()
    other.set_start(file)
    state, was = begun(other, "meadow at dusk, rain")[0].state, walked[-1].state
    assert np.allclose(state.poses[-1], was.poses[-1], atol=1e-4) and state.land == was.land
    assert np.array_equal(state.light, np.stack((was.light[1], was.light[1]))) and state.falling[1, 0] > 0.2
    again = replace(walked[-1], state=replace(state, falling=was.falling))
    seen = [decoder.decode(g)[3].astype(int) for g in (again, walked[-1])]
    assert np.abs(seen[0] - seen[1]).mean() < 1
    file.write_bytes(content[:500])
    with pytest.raises(ConditionError, match="cannot be read as a saved place"):
        other.set_start(file)


def test_weights_that_are_missing_or_truncated_are_named(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="missing"):
        Weights.load(tmp_path)
    (tmp_path / "card.json").write_text("{}")
    (tmp_path / "pocket.safetensors").write_bytes(b"no weights")
    with pytest.raises(WeightsError, match="cannot be read"):
        Weights.load(tmp_path)
