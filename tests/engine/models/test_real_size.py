"""Models at real size on the fake GPU: they are loaded by their loaders, sample, settle, decode, go back and go on, and take what their
plans say. And what the catalogue and docs/models.md say of all of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from engine.models.audio_video import fit as of_sound
from engine.models.catalogue import find, load_catalogue
from engine.models.fit import Plan, Wish
from engine.models.interface import Group
from engine.models.wan import fit as of_wan
from engine.models.wan.sampling_config import SamplingConfig
from engine.runtime.takes import Kept, Takes, resume_sampler, whole
from tests import memory_table
from tests.fake_models import Loaded, loaded

BLOCKS = 2
"""Of each transformer. Weights, keys and values go by blocks, in plans as on the device."""
SOUND = ("minimax-h3", "ltx-2.3")
IMAGE = ("wan2.1-t2v-1.3b", "wan2.2-ti2v-5b", *SOUND)
"""Whose calls begin with the frame before them."""

DECODED = 4
"""Groups until the decoder is in its steady state."""


def plan_of(m: Loaded, blocks: int) -> Plan:
    """The plan of a model with so many blocks, of the options that it was loaded with."""
    entry, wish = m.entry, Wish(m.spec.window, m.spec.steps)
    if entry.name in SOUND:
        network = of_sound.Network(**entry.network)
        return of_sound.plan(network.of_blocks(blocks), m.spec, m.options, wish, "bf16")
    networks = of_wan.published(entry)
    networks = [type(n)(**{**vars(n), "layers": blocks}) for n in networks]
    return of_wan.plan(m.spec, SamplingConfig(**entry.recipe), networks, m.options, wish, "bf16", 2)


def played(m: Loaded) -> tuple[int, int]:
    """A session in its steady state: bytes at the peak of a call, all of whose groups may still be revoked, and those that decoding takes
    beside what lives already."""
    k, longest = m.spec.window, m.spec.windows[1]
    image = m.entry.name in IMAGE
    calls = [(k, 1), (k, 2)] if image else [(longest, 1), (k, 1), (k, 1), (k, 2)]
    branch, calling = 0, 0
    made: list[Group] = []
    for window, steps in calls:
        m.counts.begin()
        groups = m.call(m.request(branch, window, steps))
        calling = m.counts.peak
        m.model.sampler.evict_before(branch)
        if image:
            m.model.sampler.put_boundary_frame(groups[-1].position, picture_of(m))  # type: ignore[attr-defined]
        made += groups
        branch += len(groups)
    of_call = made[:DECODED]
    decoding = decoded(m, of_call)
    gone_back(m, made[:2])
    return calling, decoding


def picture_of(m: Loaded) -> np.ndarray:
    return np.zeros((m.spec.height, m.spec.width, 3), np.uint8)


def decoded(m: Loaded, groups: list[Group]) -> int:
    """Bytes at the peak of decoding groups, beside what lives already."""
    decoder: Any = m.model.decoder
    before = m.counts.live
    m.counts.begin()
    start = 0
    for g in groups:
        decoder.evict_before(g.position)
        frames = decoder.decode(g)
        assert frames[0].shape == (m.spec.height, m.spec.width, 3)
        if m.spec.sound_rate:
            assert len(decoder.sound(g, start)) > 0
        start += len(frames)
    return m.counts.peak - before


def gone_back(m: Loaded, groups: list[Group]) -> None:
    """Into what was kept, and on from there."""
    takes = Takes()
    path = whole([takes.deliver(Kept(g, 0, 4, 0, 0, "")) for g in groups])
    resume_sampler(m.model.sampler, path)
    m.model.decoder.resume([k.group for k in path])
    after = m.call(m.request(path[-1].position + 1, m.spec.window, 1))
    m.model.decoder.decode(after[0])


def checked(name: str, folder: Path, **chosen: Any) -> None:
    chosen.setdefault("snapshots", None if name in SOUND else 2)
    with loaded(name, folder, BLOCKS, **chosen) as m:
        calling, decoding = played(m)
        plan = plan_of(m, BLOCKS)
        parts = {k: round(v / 1e6) for k, v in plan.bytes.items()}
        fixed = sum(plan.bytes.get(x, 0) for x in ("weights", "prefix", "work", "vae"))
        of_decoder = plan.bytes["decoding"] + plan.bytes.get("snapshots", 0)
        said = (
            name,
            chosen,
            parts,
            "base",
            m.base // 10**6,
            "calling",
            calling // 10**6,
            "decoding",
            decoding // 10**6,
        )
    print(said)
    assert calling + decoding == pytest.approx(fixed + of_decoder, rel=0.1), said
    assert calling == pytest.approx(fixed, rel=0.1), said


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    file = tmp_path / "start.png"
    Image.fromarray(np.full((480, 832, 3), 90, np.uint8)).save(file)
    return file


@pytest.mark.slow
@pytest.mark.parametrize("name", ["wan2.1-t2v-1.3b-self-forcing", "wan2.2-ti2v-5b", "ltx-2.3"])
def test_a_model_takes_what_its_plan_says(name: str, tmp_path: Path) -> None:
    checked(name, tmp_path)


@pytest.mark.slow
def test_two_experts_from_a_picture(tmp_path: Path, picture: Path) -> None:
    checked("causal-wan2.2-i2v-a14b", tmp_path, image=picture)


@pytest.mark.slow
def test_buttons_registers_and_the_tiny_decoder(tmp_path: Path) -> None:
    checked("abot-world-0-5b-lf", tmp_path, decoder="tiny")


@pytest.mark.slow
def test_rays_and_a_picture_in_channels(tmp_path: Path, picture: Path) -> None:
    checked("lingbot-world-v2-1.3b", tmp_path, image=picture)


def test_blocks_of_a_plan_are_those_of_the_published_files() -> None:
    from engine.models.published import published

    for name in (n for n in (*IMAGE, "causal-wan2.2-i2v-a14b", "wan2.1-t2v-1.3b-self-forcing")):
        entry, known = find(name), published(name)
        numbers = sum(
            int(np.prod(shape))
            for file, weights in known.weights.items()
            if file.startswith("transformer") or file == entry.weights
            for _, shape in weights.keys.values()
        )
        networks = [of_sound.Network(**entry.network)] if name in SOUND else of_wan.published(entry)
        said = sum(n.parameters for n in networks)  # type: ignore[attr-defined]
        assert said == pytest.approx(numbers, rel=0.01), name


def test_rows_say_what_their_training_does_not_cover() -> None:
    rows = load_catalogue()
    for name in ("self-forcing", "causal-forcing"):
        assert "81 frames" in "".join(rows[f"wan2.1-t2v-1.3b-{name}"].notes)
    for name in ("wan2.1-t2v-1.3b", "wan2.2-ti2v-5b"):
        assert "30 of the 50 steps" in "".join(rows[name].notes)
        assert len(rows[name].recipe["negative"]) > 100, "the one of Wan's shared settings"
    assert rows["wan2.2-ti2v-5b"].size == (1280, 704)


def test_the_test_of_every_fault_is_there() -> None:
    root = Path(__file__).parent
    page = (root.parents[2] / "docs" / "models.md").read_text("utf-8").partition("## Faults")[2]
    named = re.findall(r"`([\w/]+\.py)::(test_\w+)`", page)
    assert len(named) > 25
    for file, test in named:
        assert f"def {test}(" in (root / file).read_text("utf-8"), (file, test)


def test_the_catalogue_and_the_page_have_the_memory_of_the_plans() -> None:
    """`python -m tests.memory_table` writes both."""
    said = {e.name: e.memory_gb for e in memory_table.pulled()}
    assert said == memory_table.figures()
    page = memory_table.PAGE.read_text("utf-8")
    assert memory_table.table() in page
    cards = re.findall(r"^\| (\d+) GB \| `([\w.-]+)`", page, re.MULTILINE)
    assert len(cards) > 3 and all(int(gb) >= said[name] for gb, name in cards)
