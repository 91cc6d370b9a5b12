"""Checkpoints as they are published: each layout gives the reference's output, broken ones are named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.control.conditions import Condition
from engine.models import checkpoints as layouts
from engine.models import weight_files
from engine.models.catalogue import MARK, UnknownModel, find
from engine.models.interface import HistoryPolicy, Model, Request
from engine.models.load_options import LoadOptions
from engine.models.tiny import TinyError, write_tiny
from engine.models.wan.load import load, transformer_parts
from engine.models.wan.sampler import WanSampler
from engine.models.wan.tiny import HEAD_DIM, TEXT, original_keys, transformer
from engine.models.weight_files import LayoutError
from tests.engine.models.conftest import NAMES

REPETITION = ("wan2.1-t2v-1.3b-causal-forcing", "causal-forcing-pp-2step")
"""Rows that differ from another one in nothing that a small checkpoint shows, or that other tests sample."""

CPU = torch.device("cpu")


def output(model: Any) -> Tensor:
    torch.manual_seed(1)
    z, text = torch.randn(1, 16, 2, 8, 12), torch.randn(1, 512, TEXT)
    with torch.no_grad():
        return model(z, torch.tensor([600.0]), text, return_dict=False)[0]


@pytest.fixture
def model() -> Any:
    torch.manual_seed(11)
    return transformer()


def built(state: dict[str, Tensor], source: Path = Path("x.pt")) -> Any:
    return layouts.build(layouts.original_config(state, HEAD_DIM), state, source, torch.float32, CPU)


def with_table(model: Any) -> Any:
    """The rotary table is computed, not stored: a fresh one, so that diffusers' own forward can run."""
    from diffusers.models.transformers.transformer_wan import WanRotaryPosEmbed

    model.rope = WanRotaryPosEmbed(HEAD_DIM, (1, 2, 2), 1024)
    return model


@pytest.mark.parametrize(
    "wrap",
    [
        lambda s: s,
        lambda s: {"generator": s},
        lambda s: {"generator_ema": s, "generator": {k: v + 1 for k, v in s.items()}},
        lambda s: {"generator": {f"model.{k}": v for k, v in s.items()}},
        lambda s: {"generator": {f"model._fsdp_wrapped_module.{k}": v for k, v in s.items()}, "step": 3},
        lambda s: {"generator": {k.replace(".self_attn", "._fsdp_wrapped_module.self_attn"): v for k, v in s.items()}},
        lambda s: {"state_dict": {f"module.model.{k}": v for k, v in s.items()}},
        lambda s: {f"model.diffusion_model.{k}": v for k, v in s.items()},
    ],
)
def test_original_keys_in_any_wrapping_give_the_reference_output(
    model: Any, wrap: Callable[[dict], dict], tmp_path: Path
) -> None:
    file = tmp_path / "model.pt"
    torch.save(wrap(original_keys(model.state_dict())), file)
    loaded = with_table(built(weight_files.read_file(file), file))
    assert torch.equal(output(model), output(loaded))


def test_original_keys_in_safetensors(model: Any, tmp_path: Path) -> None:
    from safetensors.torch import save_file

    file = tmp_path / "diffusion_pytorch_model.safetensors"
    save_file({k: v.contiguous() for k, v in original_keys(model.state_dict()).items()}, str(file))
    assert torch.allclose(output(model), output(with_table(built(weight_files.read_file(file)))), atol=1e-5)


@pytest.mark.parametrize("shard", ["10GB", "60KB"])
def test_diffusers_folders_whole_and_sharded(model: Any, shard: str, tmp_path: Path) -> None:
    model.save_pretrained(tmp_path, max_shard_size=shard)
    assert (len(list(tmp_path.glob("*.safetensors"))) > 1) == (shard == "60KB")
    config = weight_files.read_json(tmp_path / "config.json")
    loaded = layouts.build(config, weight_files.read_folder(tmp_path), tmp_path, torch.float32, CPU)
    assert torch.allclose(output(model), output(with_table(loaded)), atol=1e-5)


def test_half_precision_keeps_in_float32_what_diffusers_keeps(model: Any) -> None:
    state = original_keys(model.state_dict())
    loaded = layouts.build(layouts.original_config(state, HEAD_DIM), state, Path("x"), torch.bfloat16, CPU)
    kinds = {k: v.dtype for k, v in loaded.state_dict().items()}
    assert kinds["blocks.0.attn1.to_q.weight"] == torch.bfloat16
    assert kinds["blocks.0.scale_shift_table"] == torch.float32
    assert kinds["condition_embedder.time_embedder.linear_1.weight"] == torch.float32


def test_the_original_vae_and_text_encoder_give_the_same_modules(
    checkpoints: Callable[[str], Path], tmp_path: Path
) -> None:
    """Wan2.1_VAE.pth and models_t5_umt5-xxl-enc-bf16.pth, in their own names."""
    base = checkpoints("wan2.1-t2v-1.3b")
    config = weight_files.read_json(base / "text_encoder" / "config.json")
    state = weight_files.read_folder(base / "text_encoder", "model")
    names = {
        "layer.0.layer_norm": "norm1",
        "layer.0.SelfAttention.q": "attn.q",
        "layer.0.SelfAttention.k": "attn.k",
        "layer.0.SelfAttention.v": "attn.v",
        "layer.0.SelfAttention.o": "attn.o",
        "layer.0.SelfAttention.relative_attention_bias": "pos_embedding.embedding",
        "layer.1.layer_norm": "norm2",
        "layer.1.DenseReluDense.wi_0": "ffn.gate.0",
        "layer.1.DenseReluDense.wi_1": "ffn.fc1",
        "layer.1.DenseReluDense.wo": "ffn.fc2",
    }
    own = {"norm.weight": state["encoder.final_layer_norm.weight"]}
    own["token_embedding.weight"] = state.get("shared.weight", state.get("encoder.embed_tokens.weight"))
    for key, value in state.items():
        if key.startswith("encoder.block."):
            _, _, n, rest = key.removesuffix(".weight").split(".", 3)
            own[f"blocks.{n}.{names[rest]}.weight"] = value
    torch.save(own, tmp_path / "models_t5_umt5-xxl-enc-bf16.pth")
    one = layouts.build_text_encoder(base / "text_encoder", torch.float32, CPU)
    other = layouts.build_text_encoder(tmp_path / "models_t5_umt5-xxl-enc-bf16.pth", torch.float32, CPU, config)
    ids = torch.tensor([[5, 9, 12, 1]])
    with torch.no_grad():
        assert torch.equal(one(ids).last_hidden_state, other(ids).last_hidden_state)


def test_a_lora_is_merged(checkpoints: Callable[[str], Path]) -> None:
    folder = checkpoints("longlive-1.3b")
    entry = find(str(folder))
    assert entry.weights and entry.lora
    plain = layouts.converted(weight_files.read_file(folder / entry.weights))
    lora = weight_files.read_file(folder / entry.lora)
    merged = transformer_parts(entry, folder)[0].read()
    for own, key in (("self_attn.v", "attn1.to_v"), ("cross_attn.o", "attn2.to_out.0"), ("ffn.0", "ffn.net.0.proj")):
        down, up = (lora[f"base_model.model.blocks.1.{own}.lora_{x}.weight"] for x in "AB")
        key = f"blocks.1.{key}.weight"
        assert torch.allclose(merged[key], plain[key] + up @ down, atol=1e-6)
    assert torch.equal(merged["proj_out.weight"], plain["proj_out.weight"])


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n in REPETITION else n for n in NAMES])
def test_every_name_of_the_catalogue_samples_from_its_published_layout(
    name: str, load: Callable[..., Model], checkpoints: Callable[[str], Path]
) -> None:
    w, h = find(str(checkpoints(name))).size
    model = load(name, size=(w // 2, h // 2))  # small pictures: the decoder takes most of the time
    spec, sampler = model.spec, model.sampler
    k = 5
    for history in spec.history:
        sampler.reset()
        model.decoder.reset()
        prepared = sampler.prepare(Condition(0, "a forest", ("forward",)))
        groups = sampler.sample(Request(0, k, 2, 1, 0, prepared, history), lambda a, b: True)
        sampler.prefill_chunk(groups, history)
        sampler.extend(groups)
        assert [len(model.decoder.decode(g)) for g in groups] == [1, 4, 4, 4, 4]
        after = sampler.sample(Request(k, k, 2, 1, 0, prepared, history), lambda a, b: True)
        lost = {HistoryPolicy.BOUNDARY_IMAGE: 1, HistoryPolicy.LATENT_INPUT: 3}.get(history, 0)
        assert [g.position for g in after] == list(range(k, 2 * k - lost))
        sampler.extend(after)
        frames = [model.decoder.decode(g) for g in after]
        assert all(len(f) == 4 and f[0].shape == (spec.height, spec.width, 3) for f in frames)
        assert all(torch.isfinite(g.latent).all() for g in after)


# -- broken ones -------------------------------------------------------------------------------------------------------


def test_a_missing_an_extra_and_a_wrong_key_are_named(model: Any) -> None:
    state = original_keys(model.state_dict())
    del state["blocks.1.self_attn.q.weight"]
    state["blocks.0.strange.weight"] = torch.zeros(3)
    state["blocks.0.ffn.2.weight"] = torch.zeros(2, 2)
    with pytest.raises(LayoutError) as e:
        layouts.build(
            layouts.original_config(original_keys(model.state_dict()), HEAD_DIM),
            state,
            Path("w.pt"),
            torch.float32,
            CPU,
        )
    named = (
        "missing blocks.1.attn1.to_q.weight",
        "not known blocks.0.strange.weight",
        "wrong shape blocks.0.ffn.net.2.weight",
    )
    for part in ("w.pt", *named, "Likely"):
        assert part in str(e.value)


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (lambda s: {"blocks.0.attn1.to_q.lora_A.weight": torch.zeros(2, 2)}, "LoRA"),
        (lambda s: {"decoder.conv_in.weight": torch.zeros(2)}, "VAE"),
        (lambda s: {k: v for k, v in s.items() if ".1." not in k}, "not all shards"),
    ],
)
def test_the_likely_cause_is_said(model: Any, change: Callable[[dict], dict], cause: str) -> None:
    config = layouts.original_config(original_keys(model.state_dict()), HEAD_DIM)
    with pytest.raises(LayoutError, match=cause):
        layouts.build(config, change(model.state_dict()), Path("w"), torch.float32, CPU)


def test_a_file_with_code_is_not_opened(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple:
            return print, ("run",)

    torch.save({"generator": Evil()}, tmp_path / "evil.pt")
    with pytest.raises(LayoutError, match="hold code are not opened"):
        weight_files.read_file(tmp_path / "evil.pt")


def test_cut_short_missing_and_empty_files_are_said(tmp_path: Path, model: Any) -> None:
    from safetensors.torch import save_file

    save_file({"a": torch.zeros(100)}, str(tmp_path / "x.safetensors"))
    data = (tmp_path / "x.safetensors").read_bytes()
    (tmp_path / "x.safetensors").write_bytes(data[:-50])
    with pytest.raises(LayoutError, match="cut short"):
        weight_files.read_file(tmp_path / "x.safetensors")
    with pytest.raises(LayoutError, match="is missing"):
        weight_files.read_file(tmp_path / "nothing.pt")
    torch.save({"optimizer": {"lr": 1}}, tmp_path / "o.pt")
    with pytest.raises(LayoutError, match="no weights that are known"):
        weight_files.read_file(tmp_path / "o.pt")
    model.save_pretrained(tmp_path / "t", max_shard_size="60KB")
    first = sorted((tmp_path / "t").glob("*.safetensors"))[0]
    first.unlink()
    with pytest.raises(LayoutError, match="shards"):
        weight_files.read_folder(tmp_path / "t")


@pytest.mark.parametrize("data", [None, b"[" * 100_000, b"\xff", b"[]"], ids=["endless", "deep", "no text", "a list"])
def test_an_index_of_shards_that_is_none_is_said(tmp_path: Path, data: bytes | None) -> None:
    index = tmp_path / "diffusion_pytorch_model.safetensors.index.json"
    if data is None:
        index.symlink_to("/dev/zero")
    else:
        index.write_bytes(data)
    with pytest.raises(LayoutError, match=r"index\.json"):
        weight_files.read_folder(tmp_path)


def test_an_incomplete_folder_says_what_to_pull(checkpoints: Callable[[str], Path], tmp_path: Path) -> None:
    import shutil

    folder = tmp_path / "part"
    shutil.copytree(checkpoints("wan2.1-t2v-1.3b"), folder)
    shutil.rmtree(folder / "vae")
    with pytest.raises(LayoutError, match="no VAE"):
        load(find(str(folder)), find(str(folder)).spec(), LoadOptions(device="cpu"), lambda a, b: None)


# -- names and folders ---------------------------------------------------------------------------------------------------


def test_a_folder_is_recognised_by_its_index_or_its_mark(checkpoints: Callable[[str], Path], tmp_path: Path) -> None:
    for name in ("wan2.1-t2v-1.3b", "wan2.2-ti2v-5b", "anyflow-far-wan2.1-1.3b", "causal-wan2.2-i2v-a14b"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "model_index.json").write_text((checkpoints(name) / "model_index.json").read_text())
        assert find(str(folder)).name == name
    assert find(str(checkpoints("minwm-wan2.1-1.3b-action"))).name == "minwm-wan2.1-1.3b-action"
    assert json.loads((checkpoints("longlive-1.3b") / MARK).read_text())["model"] == "longlive-1.3b"
    with pytest.raises(UnknownModel, match="no such name"):
        find("wan9")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UnknownModel, match="--like"):
        find(str(tmp_path / "empty"))
    assert find(str(tmp_path / "empty"), "longlive-1.3b").name == "longlive-1.3b"


def test_a_lone_weights_file_runs_over_a_base(checkpoints: Callable[[str], Path]) -> None:
    folder = checkpoints("wan2.1-t2v-1.3b-self-forcing")
    file = folder / "checkpoints/self_forcing_dmd.pt"
    entry = find(str(file))
    from dataclasses import replace

    entry = replace(entry, head_dim=HEAD_DIM, scale={"tiny": True})
    model = load(entry, entry.spec((96, 64)), LoadOptions(device="cpu", base=folder / "base"), lambda a, b: None)
    assert isinstance(model.sampler, WanSampler)


def test_a_tiny_checkpoint_never_overwrites(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("x")
    with pytest.raises(TinyError, match="not empty"):
        write_tiny("longlive-1.3b", tmp_path)
    with pytest.raises(TinyError, match="unknown model"):
        write_tiny("nothing", tmp_path / "new")


# -- memory ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "history"),
    [
        ("wan2.1-t2v-1.3b-self-forcing", HistoryPolicy.KV_REUSE),
        ("anyflow-far-wan2.1-1.3b", HistoryPolicy.CLEAN_PREFILL),
    ],
)
def test_offloading_goes_through_diffusers_and_changes_no_number(
    name: str, history: HistoryPolicy, checkpoints: Callable[[str], Path]
) -> None:
    entry = find(str(checkpoints(name)))
    out = []
    for offload in (False, True):
        model = load(entry, entry.spec(), LoadOptions(device="cpu", offload=offload), lambda a, b: None)
        prepared = model.sampler.prepare(Condition(0, "snow"))
        out.append(model.sampler.sample(Request(0, 2, 2, 1, 0, prepared, history), lambda a, b: True))
    assert all(torch.equal(a.latent, b.latent) for a, b in zip(*out, strict=True))
