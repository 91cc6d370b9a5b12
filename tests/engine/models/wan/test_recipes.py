"""How each Wan model is sampled, against what its authors' code does with the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from engine.control.conditions import Condition
from engine.loading import loader
from engine.models import loading
from engine.models.attention import grid_rotary_embedding
from engine.models.catalogue import load_catalogue
from engine.models.interface import Group, HistoryPolicy, Model, Request
from engine.models.load_options import LoadOptions
from engine.models.schedulers import denoise, make_solver
from engine.models.wan.decoding import StreamDecoder
from engine.models.wan.sampler import WanSampler
from engine.models.wan.sampling_config import SamplingConfig
from engine.models.wan.vae import WanVae

CATALOGUE = load_catalogue()
GO_ON = lambda done, total: True  # noqa: E731
A14B = "causal-wan2.2-i2v-a14b"


# -- CausalWan2.2: FastVideo's causal_denoising.py, SelfForcingFlowMatchScheduler, SelfForcingWan2_2_T2V480PConfig ------


def fastvideo(start: Tensor, velocity: Callable[[float, Tensor], Tensor], fresh: Callable[[int], Tensor]) -> Tensor:
    """Its loop over one block: which levels, what the first expert predicts, and when noise is put back."""
    grid = torch.linspace(1.0, 0.0, 1001, dtype=torch.float64)[:-1]
    sigmas = 12.0 * grid / (1 + 11.0 * grid)
    steps = [1000, 850, 700, 550, 350, 275, 200, 125]
    levels = [float(sigmas[1000 - t]) for t in steps]
    bound = float(sigmas[(sigmas - 0.875).abs().argmin()])
    high = [s for s in levels if s >= 0.875]
    x = start
    for i, s in enumerate(levels):
        v = velocity(s, x)
        made = x - (s - bound) * v if s >= 0.875 else x - s * v
        if i == len(levels) - 1:
            return made
        after = levels[i + 1]
        if i < len(high) - 1:
            alpha = (1 - after) / (1 - bound)
            x = alpha * made + (after**2 - (alpha * bound) ** 2) ** 0.5 * fresh(i)
        elif i == len(high) - 1:
            x = made
        else:
            x = (1 - after) * made + after * fresh(i)
    raise AssertionError


def test_causal_wan22_takes_the_published_levels_experts_and_noise() -> None:
    config = SamplingConfig(**CATALOGUE[A14B].recipe)
    solver = make_solver("dmd", 8, config.shift, levels=config.levels, boundary=config.boundary)
    assert config.to_boundary and config.image is None
    g = torch.Generator().manual_seed(0)
    start, *noises = torch.randn(9, 3, 4, generator=g)
    told: list[float] = []

    def velocity(sigma: float, x: Tensor) -> Tensor:
        told.append(sigma)
        return torch.sin(3 * x + sigma)

    ours = denoise(solver, start, lambda i, x: velocity(solver.timesteps[i], x), lambda i: noises[i], GO_ON)
    mine, told = told, []
    theirs = fastvideo(start, velocity, lambda i: noises[i])
    assert mine == pytest.approx(told, abs=1e-6)
    assert torch.allclose(ours, theirs, atol=2e-3), "the boundary is the nearest of a grid of 1000 levels there"


def test_the_high_levels_go_to_the_first_expert_and_the_picture_is_the_clean_first_latent(
    checkpoints: Callable[[str], Path], tmp_path: Path
) -> None:
    from PIL import Image

    Image.fromarray(np.full((64, 96, 3), 90, np.uint8)).save(tmp_path / "p.png")
    options = LoadOptions(device="cpu", threads=1, image=tmp_path / "p.png")
    model = loader(str(checkpoints(A14B)), options)(lambda stage, share: None)
    sampler: Any = model.sampler
    calls: list[tuple[int, tuple[float, ...]]] = []
    for i, expert in enumerate(sampler._experts):
        plain = expert._run

        def run(z: Tensor, sigmas: list[float], *rest: Any, i: int = i, plain: Any = plain, **more: Any) -> Tensor:
            calls.append((i, tuple(sigmas)))
            return plain(z, sigmas, *rest, **more)

        expert._run = run
    prepared = sampler.prepare(Condition(0, "snow"))
    groups = sampler.sample(Request(0, 3, 8, 1, 0, prepared, HistoryPolicy.KV_REUSE), GO_ON)
    assert torch.equal(groups[0].latent, sampler._given[0]) and len(groups) == 3
    clean = [(i, s) for i, s in calls if set(s) == {0.0}]
    assert sorted(clean) == [(0, (0.0,)), (1, (0.0,))], "the picture fills the cache of both experts at t = 0"
    assert [i for i, s in calls if set(s) != {0.0}] == [0] * 4 + [1] * 4
    assert all(len(s) == 3 for _, s in calls if set(s) != {0.0}), "the blocks after it are of full length"


# -- a first block of one latent ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["anyflow-far-wan2.1-1.3b", A14B])
def test_a_session_s_first_call_begins_with_a_block_of_one_latent(name: str, load: Callable[..., Model]) -> None:
    """The same latents as a call of one, and one of three after it."""
    sampler = load(name).sampler
    assert isinstance(sampler, WanSampler)
    history = sampler.spec.history[0]
    prepared = sampler.prepare(Condition(0, "a forest"))
    steps: list[tuple[int, int]] = []
    together = sampler.sample(
        Request(0, 3, 2, 5, 0, prepared, history), lambda done, total: steps.append((done, total)) or True
    )
    assert steps == [(i, 4) for i in range(1, 5)] and [g.position for g in together] == [0, 1, 2]
    first = sampler.sample(Request(0, 1, 2, 5, 0, prepared, history), GO_ON)
    sampler.extend(first)
    rest = sampler.sample(Request(1, 3, 2, 5, 0, prepared, history), GO_ON)
    for ours, theirs in zip(together, [*first, *rest[:2]], strict=True):
        assert torch.allclose(ours.latent, theirs.latent, atol=1e-5)
    assert together[1].state.start == 1 and len(together[1].state.chunk) == 3


# -- sizes, context ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [n for n, e in CATALOGUE.items() if e.repo])
def test_every_size_that_a_row_lists_can_be_made(name: str) -> None:
    entry = CATALOGUE[name]
    for size in entry.sizes:
        spec = entry.spec(size)
        assert (spec.width, spec.height) == size
    with pytest.raises(ValueError, match="is not a size"):
        entry.spec((entry.size[0] + 8, entry.size[1]))


def test_no_prefix_is_longer_than_training_at_the_trained_length() -> None:
    """Latents that the authors' cache holds, this call's among them: LongLive 12 (local 9 and a sink of 3), minWM 20, others 21."""
    longest = {"longlive-1.3b": 12, "minwm-wan2.1-1.3b-action": 20}
    for name, entry in CATALOGUE.items():
        if entry.family == "wan" and entry.trained and "kv" in entry.history[0].value + "recache clean":
            config = SamplingConfig(**entry.recipe)
            if config.solver in ("dmd", "flowmap"):
                assert config.history + max(entry.trained) <= longest.get(name, 21), name


# -- devices -----------------------------------------------------------------------------------------------------------


class NoFloat64(TorchDispatchMode):
    """A device (here: meta) without float64, as Apple's is."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        for t in tree_leaves(out):
            if isinstance(t, Tensor) and t.is_meta and t.dtype is torch.float64:
                raise TypeError("this device has no float64")
        return out


def test_rotary_angles_need_no_float64_of_the_device() -> None:
    places = [torch.arange(n) for n in (3, 4, 5)]
    with NoFloat64():
        rotary = grid_rotary_embedding(*places, 16, torch.device("meta"))
    assert rotary.cos.is_meta and rotary.cos.shape == (1, 60, 1, 8)


@pytest.mark.parametrize(("card", "dtype"), [((7, 5), "fp16"), ((8, 0), "bf16"), ((9, 0), "bf16")])
def test_cards_without_attention_in_bf16_compute_in_fp16(
    card: tuple[int, int], dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "capability", lambda device: card)
    gpu, options = torch.device("cuda"), LoadOptions()
    assert loading.with_dtype(options, gpu, fp16=True).dtype == dtype
    assert loading.with_dtype(options, gpu).dtype == "bf16", "a model that does not compute in fp16"
    assert loading.with_dtype(options, torch.device("cpu"), fp16=True).dtype == "fp32"
    assert loading.with_dtype(LoadOptions(dtype="bf16"), gpu, fp16=True).dtype == "bf16"


def test_offloaded_anyflow_samples_the_same(checkpoints: Callable[[str], Path]) -> None:
    out = []
    for offload in (False, True):
        options = LoadOptions(device="cpu", threads=1, offload=offload)
        model = loader(str(checkpoints("anyflow-far-wan2.1-1.3b")), options)(lambda stage, share: None)
        prepared = model.sampler.prepare(Condition(0, "snow"))
        out.append(model.sampler.sample(Request(0, 2, 1, 1, 0, prepared, HistoryPolicy.CLEAN_PREFILL), GO_ON))
    assert all(torch.equal(a.latent, b.latent) for a, b in zip(*out, strict=True))


def test_the_vae_encodes_in_full_precision_and_decodes_in_half(checkpoints: Callable[[str], Path]) -> None:
    from engine.models import checkpoints as layouts

    folder = checkpoints("wan2.1-t2v-1.3b") / "vae"
    frame = np.random.default_rng(0).integers(0, 255, (1, 64, 96, 3), np.uint8)
    half, full = (
        WanVae(layouts.build_vae(folder, dtype, torch.device("cpu"))) for dtype in (torch.bfloat16, torch.float32)
    )
    assert torch.equal(half.encode(frame), full.encode(frame))
    picture, _ = half.step(full.encode(frame)[0], None)
    expected, _ = full.step(full.encode(frame)[0], None)
    assert 0 < (picture - expected).abs().max() < 0.2


def test_a_decoder_goes_on_in_the_stream_in_which_it_was_wound_back() -> None:
    class Streams(StreamDecoder):
        inside = 0

        def _beside(self, latent: Tensor) -> Any:
            outer = self

            class Stream:
                def __enter__(self) -> None:
                    outer.inside += 1

                def __exit__(self, *error: object) -> None:
                    outer.inside -= 1

            return Stream()

    class Counting:
        def step(self, latent: Tensor, state: Any, spend: bool = False) -> tuple[Tensor, Any]:
            assert decoder.inside == 1, "the state is made in another stream than the one that goes on with it"
            return torch.zeros(1, 3, 2, 2), (state or 0) + 1

        def nbytes(self, state: Any) -> int:
            return 1

    decoder = Streams(Counting())
    groups = [Group(i, torch.zeros(1), None) for i in range(3)]
    decoder.resume(groups)
    assert len(decoder.decode(Group(3, torch.zeros(1), None))) == 1
