"""Plans: what is said to be taken is what the real sampler and decoder take, counted at real size on a fake GPU."""

from __future__ import annotations

import gc
import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from diffusers import AutoencoderKLWan, WanTransformer3DModel

from app.cli.models import models
from engine.measure.bench_wan import WAN_1_3B
from engine.models.catalogue import find
from engine.models.fit import GB, Wish
from engine.models.interface import Group, HistoryPolicy, Request
from engine.models.load_options import LoadOptions
from engine.models.wan import decoding, fit
from engine.models.wan.backbone import WanBackbone
from engine.models.wan.conditions import Text, WanInputs
from engine.models.wan.family import FAMILY
from engine.models.wan.sampler import WanSampler
from engine.models.wan.sampling_config import SamplingConfig
from engine.models.wan.taehv import TinyDecoder
from engine.models.wan.vae import WanVae
from tests.fake_device import device, fake_gpu, on

FLOW = "wan2.1-t2v-1.3b-self-forcing"
LAYERS = 3
"""Of the model's 30: KV and weights are counted by layer, and the plan is asked for as many."""


def said(*words: str) -> dict[str, Any]:
    out = CliRunner().invoke(models, ["fit", *words, "--json"], standalone_mode=False)
    assert out.exception is None, out.output
    return json.loads(out.output)


def test_self_forcing_fits_a_card_of_16_gb_and_says_how() -> None:
    report = said(FLOW, "--memory", "15.5", "--size", "832x480")
    assert report["fits"] and report["bytes"]["total"] <= 15.5e9
    assert report["plan"]["window"] == 3 and not report["plan"]["offload"] and report["plan"]["history"] >= 9


def test_more_memory_gives_more_history_and_less_gives_what_is_nearest() -> None:
    large, small = said(FLOW, "--memory", "24"), said(FLOW, "--memory", "10")
    assert large["plan"]["history"] == 18 and large["plan"]["snapshots"] > 2
    assert small["plan"]["offload"] and small["bytes"]["total"] <= 10e9
    assert not said(FLOW, "--memory", "2")["fits"]


def test_the_text_encoder_is_on_the_gpu_where_it_fits_beside_everything_else() -> None:
    large, small = said(FLOW, "--memory", "80"), said(FLOW, "--memory", "24")
    assert large["bytes"]["text"] > 11e9 and "text" not in small["bytes"]
    assert small["plan"]["history"] == large["plan"]["history"] == 18
    entry, options = find(FLOW), LoadOptions(device="cuda")
    for memory, place in ((80e9, "device"), (24e9, "cpu")):
        found = FAMILY.fit(entry, entry.spec(), options, Wish(3, 4), memory, "cuda")
        assert found.plan is not None and found.plan.applied(options).text == place
        kept = LoadOptions(device="cuda", text="release")
        found = FAMILY.fit(entry, entry.spec(), kept, Wish(3, 4), memory, "cuda")
        assert found.plan is not None and found.plan.applied(kept).text == "release"


def test_history_shrinks_with_k_to_what_training_had() -> None:
    for k, history in ((1, 18), (3, 18), (7, 14), (12, 9), (21, 3)):
        assert said(FLOW, "--memory", "80", "--window", str(k))["plan"]["history"] == history
    assert SamplingConfig(**find("longlive-1.3b").recipe).reach(3) == 9


def test_minimax_h3_fits_four_cards_of_80_gb_and_not_one() -> None:
    report = said("minimax-h3", "--memory", "80", "--gpus", "4")
    assert report["fits"] and report["plan"]["window"] == 37 and not report["plan"]["offload"]
    assert report["bytes"]["weights"] == pytest.approx(66.3e9, rel=0.01)  # of the published files
    alone = said("minimax-h3", "--memory", "40")
    assert alone["fits"] and alone["plan"]["offload"]


@pytest.mark.parametrize("k", [3, pytest.param(7, marks=pytest.mark.slow)])
def test_what_a_plan_counts_is_what_the_sampler_takes(k: int) -> None:
    """Weights, prefix and work, within 10 %: a session in its steady state, branches up to K behind, on the fake GPU at 832x480."""
    entry = find(FLOW)
    spec, config = entry.spec(), SamplingConfig(**entry.recipe)
    network = fit.network_of(WAN_1_3B | {"num_layers": LAYERS})
    plan = fit.plan(spec, config, [network], LoadOptions(text="cpu"), Wish(k, 4), "bf16")
    with fake_gpu() as counts:
        where = device()
        with torch.device("meta"):
            model: Any = WanTransformer3DModel(**(WAN_1_3B | {"num_layers": LAYERS}))  # type: ignore[arg-type]
        model.rope = None
        backbone = WanBackbone(on(where, model, torch.bfloat16))
        gc.collect()
        weights = counts.live
        text = Text("x", torch.zeros(1, 512, 4096, device=where, dtype=torch.bfloat16))
        conditions: Any = SimpleNamespace(text=lambda words: text, close=lambda: None)
        vae: Any = SimpleNamespace(channels=16, ratio=8)
        sampler = WanSampler(spec, [backbone], conditions, vae, config, vae)
        prepared = WanInputs(text, None, (), ())
        branch = 0
        for window, steps in ((21, 1), (k, 1), (k, 1), (k, 2)):
            counts.begin()
            request = Request(branch, window, steps, 1, 0, prepared, HistoryPolicy.KV_REUSE)
            groups = sampler.sample(request, lambda a, b: True)
            sampler.prefill_chunk(groups, HistoryPolicy.KV_REUSE)
            sampler.extend(groups)
            sampler.evict_before(branch)
            branch += window
        peak = counts.peak
        call = sampler._call((0, 0), sampler._groups, sampler._stores[0, 0].positions[-3:], branch, 3, [], request)
        call.context_kv = sampler._context((0, 0), text)
        z = torch.zeros(1, 16, 3, 60, 104, device=where)
        block, seen = backbone.model.blocks[1], [0, 0]
        block.register_forward_pre_hook(lambda *unused: seen.__setitem__(0, counts.kernels.total()))
        block.register_forward_hook(lambda *unused: seen.__setitem__(1, counts.kernels.total()))
        counts.begin()
        with torch.inference_mode():
            backbone.velocity(z, [0.5] * 3, 0.0, text.embedding, call)
        of_a_block = seen[1] - seen[0]
        kernels = counts.kernels.total() + (30 - LAYERS) * of_a_block
    assert weights == pytest.approx(plan.bytes["weights"], rel=0.1)
    assert peak == pytest.approx(sum(plan.bytes[x] for x in ("weights", "prefix", "work")), rel=0.1)
    assert kernels <= 700, (of_a_block, kernels)


@pytest.mark.parametrize("name", [pytest.param("wan2.1", marks=pytest.mark.slow), "taehv"])
def test_what_a_plan_counts_is_what_the_decoder_takes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the fewest states that can be kept: the second makes room for the next, part by part."""
    monkeypatch.setattr(decoding, "to_pictures", lambda frames: np.zeros((len(frames), 1, 1, 3), np.uint8))
    cost = fit.DECODERS["vae" if name == "wan2.1" else "tiny", 16]
    with fake_gpu() as counts:
        where = device()
        with torch.device("meta"):
            model: Any = AutoencoderKLWan() if name == "wan2.1" else TinyDecoder()
        model = on(where, model, torch.bfloat16)
        gc.collect()
        weights = counts.live
        decoder = decoding.StreamDecoder(WanVae(model) if name == "wan2.1" else model, snapshots=2)
        for i in range(4):
            decoder.evict_before(i)
            decoder.decode(Group(i, torch.zeros(16, 60, 104, device=where), None))
        peak, states = counts.peak - weights, decoder.nbytes
    assert weights <= cost.weights
    assert states == pytest.approx(2 * cost.state, rel=0.1)
    assert peak == pytest.approx(2 * cost.state + cost.work, rel=0.1)


def test_devices_that_are_mixed_raise_on_the_fake_gpu() -> None:
    with fake_gpu(), pytest.raises(RuntimeError, match="device"):
        torch.zeros(2, device=device()) + torch.zeros(2)
    assert GB == 1e9
