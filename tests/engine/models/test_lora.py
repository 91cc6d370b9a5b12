"""LoRA files in every form that people have: the merged weights are those of diffusers' own converters, and nothing is passed over."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from diffusers.loaders import lora_conversion_utils as theirs
from safetensors.torch import save_file
from torch import Tensor

from engine.loading import loader
from engine.models.audio_video.load import h3_lora
from engine.models.audio_video.tiny import H3_LORA, LTX_LORA
from engine.models.checkpoints import wan_names
from engine.models.interface import Model
from engine.models.load_options import LoadOptions
from engine.models.lora import Lora, parsed, read_lora
from engine.models.wan.load import with_loras
from engine.models.wan.tiny import transformer
from engine.models.weight_files import LayoutError, read_folder

RANK = 4


@pytest.fixture(scope="module")
def state() -> dict[str, Tensor]:
    """Weights of a small Wan transformer, under diffusers' names."""
    torch.manual_seed(3)
    return transformer().state_dict()


def pair(name: str, weight: Tensor, down: str = "lora_A", up: str = "lora_B") -> dict[str, Tensor]:
    torch.manual_seed(len(name))
    rows, columns = weight.shape
    return {f"{name}.{down}.weight": torch.randn(RANK, columns), f"{name}.{up}.weight": torch.randn(rows, RANK)}


def linear_layers(state: dict[str, Tensor]) -> list[tuple[str, str]]:
    """(diffusers' name, Wan's own name) of every linear layer of the blocks."""
    names = (
        (".attn1.", ".self_attn."),
        (".attn2.", ".cross_attn."),
        (".to_out.0", ".o"),
        (".to_", "."),
        (".ffn.net.0.proj", ".ffn.0"),
        (".ffn.net.2", ".ffn.2"),
    )
    out = []
    for key in state:
        if re.match(r"blocks\.\d+\.(attn|ffn).*\.weight$", key) and state[key].ndim == 2:
            own = key = key.removesuffix(".weight")
            for new, old in names:
                own = own.replace(new, old)
            out.append((key, own))
    assert len(out) == 20
    return out


def merged(state: dict[str, Tensor], file: dict[str, Tensor], **settings: Any) -> dict[str, Tensor]:
    lora = parsed(file, Path("l.safetensors"), settings)
    out = {**state, **dict(lora.merged(state, wan_names))}
    lora.check_used()
    return out


def added(state: dict[str, Tensor], converted: dict[str, Tensor]) -> dict[str, Tensor]:
    """What peft makes of a file that diffusers has converted: W + B A, and the bias of B where there is one."""
    out = dict(state)
    for key, down in converted.items():
        if key.endswith(".lora_A.weight"):
            name = key.removeprefix("transformer.").removesuffix(".lora_A.weight")
            out[f"{name}.weight"] = state[f"{name}.weight"] + converted[key.replace("_A", "_B")] @ down
            if (bias := converted.get(key.replace("_A.weight", "_B.bias"))) is not None:
                out[f"{name}.bias"] = state[f"{name}.bias"] + bias
    return out


def same(a: dict[str, Tensor], b: dict[str, Tensor]) -> bool:
    assert a.keys() == b.keys()
    return all(torch.allclose(a[k], b[k], atol=1e-4) for k in a)


# -- names and forms ---------------------------------------------------------------------------------------------------


def test_wan_s_own_names_with_alpha_and_corrections_of_biases(state: dict[str, Tensor]) -> None:
    file: dict[str, Tensor] = {}
    for name, own in linear_layers(state):
        own = f"diffusion_model.{own}"
        file |= pair(own, state[f"{name}.weight"], "lora_down", "lora_up")
        file[f"{own}.alpha"] = torch.tensor(8.0)
        file[f"{own}.diff_b"] = torch.randn(state[f"{name}.bias"].shape)
    ours = merged(state, file)  # first: the converter scales the tensors that it is given
    assert same(ours, added(state, theirs._convert_non_diffusers_wan_lora_to_diffusers(file)))


def test_kohya_s_flat_names(state: dict[str, Tensor]) -> None:
    file: dict[str, Tensor] = {}
    for name, own in linear_layers(state):
        flat = "lora_unet_" + own.replace(".", "_")
        file |= pair(flat, state[f"{name}.weight"], "lora_down", "lora_up")
        file[f"{flat}.alpha"] = torch.tensor(2.0)
    ours = merged(state, file)
    assert same(ours, added(state, theirs._convert_musubi_wan_lora_to_diffusers(file)))


@pytest.mark.parametrize(
    ("name", "down", "up"),
    [
        ("base_model.model.blocks.1.attn1.to_q", "lora_A", "lora_B"),
        ("base_model.model.blocks.1.attn1.to_q", "lora_A.default", "lora_B.default"),
        ("transformer.blocks.1.attn1.to_q", "lora_A", "lora_B"),
        ("transformer.blocks.1.attn1.to_q", "lora.down", "lora.up"),
        ("transformer.blocks.1.attn1.processor.to_q_lora", "down", "up"),
        ("base_model.model.model.blocks.1.self_attn.q", "lora_A", "lora_B"),
    ],
)
def test_peft_s_names_and_diffusers_old_ones(state: dict[str, Tensor], name: str, down: str, up: str) -> None:
    key = "blocks.1.attn1.to_q.weight"
    file = pair(name, state[key], down, up)
    low, high = file.values()
    after = merged(state, file)
    assert torch.allclose(after[key], state[key] + high @ low, atol=1e-5)
    assert all(after[k] is state[k] for k in state if k != key)


def test_a_layer_of_patches_is_merged_in_the_shape_of_its_convolution(state: dict[str, Tensor]) -> None:
    key = "patch_embedding.weight"
    low, high = torch.randn(RANK, *state[key].shape[1:]), torch.randn(state[key].shape[0], RANK, 1, 1, 1)
    file = {"patch_embedding.lora_A.weight": low, "patch_embedding.lora_B.weight": high}
    expected = state[key] + torch.einsum("or,rcthw->octhw", high[..., 0, 0, 0], low)
    assert torch.allclose(merged(state, file)[key], expected, atol=1e-4)


def test_corrections_of_whole_weights(state: dict[str, Tensor]) -> None:
    """lightx2v and FastVideo keep norms, biases and modulation whole."""
    norm, table = state["blocks.0.norm2.weight"], state["blocks.0.scale_shift_table"]
    file = {
        "diffusion_model.blocks.0.norm3.diff": torch.full_like(norm, 0.5),
        "diffusion_model.blocks.0.norm3.diff_b": torch.full_like(norm, 0.25),
        "diffusion_model.blocks.0.diff_m": torch.full_like(table, 2.0),
        "diffusion_model.head.head.set_weight": torch.ones_like(state["proj_out.weight"]),
        **pair("diffusion_model.blocks.0.ffn.0", state["blocks.0.ffn.net.0.proj.weight"]),
        "diffusion_model.blocks.0.ffn.0.diff": torch.ones_like(state["blocks.0.ffn.net.0.proj.weight"]),
    }
    after = merged(state, file)
    assert torch.allclose(after["blocks.0.norm2.weight"], norm + 0.5)
    assert torch.allclose(after["blocks.0.norm2.bias"], state["blocks.0.norm2.bias"] + 0.25)
    assert torch.allclose(after["blocks.0.scale_shift_table"], table + 2)
    assert torch.equal(after["proj_out.weight"], torch.ones_like(state["proj_out.weight"]))
    low, high = (file[f"diffusion_model.blocks.0.ffn.0.{x}.weight"] for x in ("lora_A", "lora_B"))
    both = state["blocks.0.ffn.net.0.proj.weight"] + high @ low + 1
    assert torch.allclose(after["blocks.0.ffn.net.0.proj.weight"], both, atol=1e-5)


@pytest.mark.parametrize("ending", ["dora_scale", "lora_magnitude_vector"])
def test_dora_gives_each_row_the_length_that_the_file_says(state: dict[str, Tensor], ending: str) -> None:
    key, name = "blocks.0.attn2.to_k.weight", "blocks.0.attn2.to_k"
    rows = state[key].shape[0]
    magnitude = torch.rand(rows, 1) if ending == "dora_scale" else torch.rand(rows)
    file = {**pair(name, state[key]), f"{name}.{ending}": magnitude}
    after = merged(state, file)[key]
    assert torch.allclose(after.norm(dim=1), magnitude.flatten(), atol=1e-5)
    low, high = (file[f"{name}.{x}.weight"] for x in ("lora_A", "lora_B"))
    direction = state[key] + high @ low
    assert torch.allclose(torch.cosine_similarity(after, direction), torch.ones(rows), atol=1e-5)


def test_alpha_is_read_from_beside_the_file(state: dict[str, Tensor], tmp_path: Path) -> None:
    key, name = "blocks.0.attn1.to_v.weight", "base_model.model.blocks.0.attn1.to_v"
    file = pair(name, state[key])
    delta = file[f"{name}.lora_B.weight"] @ file[f"{name}.lora_A.weight"]

    def scale(metadata: dict[str, str] | None = None, config: dict[str, Any] | None = None) -> float:
        where = tmp_path / "adapter_model.safetensors"
        save_file(file, str(where), metadata)
        (tmp_path / "adapter_config.json").unlink(missing_ok=True)
        if config is not None:
            (tmp_path / "adapter_config.json").write_text(json.dumps(config))
        (after,) = dict(read_lora(tmp_path).merged(state, wan_names)).values()
        return float(((after - state[key]) / delta).median())

    assert scale() == pytest.approx(1, rel=1e-3)
    assert scale(config={"r": 4, "lora_alpha": 8}) == pytest.approx(2, rel=1e-3)
    assert scale(config={"r": 4, "lora_alpha": 8, "use_rslora": True}) == pytest.approx(4, rel=1e-3)
    pattern = {"r": 4, "lora_alpha": 8, "alpha_pattern": {"attn1.to_v": 2}}
    assert scale(config=pattern) == pytest.approx(0.5, rel=1e-3)
    assert scale({"lora_alpha": "12"}) == pytest.approx(3, rel=1e-3)
    own = json.dumps({"transformer.r": 4, "transformer.lora_alpha": 2})
    assert scale({"lora_adapter_metadata": own}) == pytest.approx(0.5, rel=1e-3)
    assert scale({"format": "fastvideo-lora-v2"}, {"r": 4, "lora_alpha": 8}) == pytest.approx(1, rel=1e-3)


def test_fused_names_of_h3_s_own_code() -> None:
    """A file of musubi-tuner, which only diffusers' converter can take apart."""
    torch.manual_seed(0)
    weights = {f"transformer_blocks.0.attn.to_{x}.weight": torch.randn(16, 8) for x in "qkv"}
    low, high = torch.randn(RANK, 8), torch.randn(48, RANK)
    flat = "lora_unet_blocks_0_attn_qkv_proj"
    file = {f"{flat}.lora_down.weight": low, f"{flat}.lora_up.weight": high, f"{flat}.alpha": torch.tensor(8.0)}
    after = dict(parsed(h3_lora(file), Path("l")).merged(weights))
    for i, x in enumerate("qkv"):
        key = f"transformer_blocks.0.attn.to_{x}.weight"
        assert torch.allclose(after[key], weights[key] + 2 * high[16 * i : 16 * i + 16] @ low, atol=1e-5)


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda f: {"foo": torch.ones(2)}, "foo is of no known form"),
        (lambda f: {**f, "blocks.0.attn1.to_q.lokr_w1": torch.ones(2, 2)}, "lokr_w1 is of no known form"),
        (lambda f: {k: v for k, v in f.items() if "_A" in k}, "lacks its other half"),
        (lambda f: {k.replace("attn1", "attn7"): v for k, v in f.items()}, "attn7.*fits no weight"),
        (lambda f: {**f, "blocks.0.norm1.diff": torch.ones(9)}, "blocks.0.norm1.diff fits no weight"),
        (lambda f: {k: v[:, :-1] if "_A" in k else v for k, v in f.items()}, "of another size"),
        (lambda f: {k: v[:-1] if "_A" in k else v for k, v in f.items()}, "do not go together"),
        (lambda f: {k: v[:0] if "_A" in k else v[:, :0] for k, v in f.items()}, "do not go together"),
        (lambda f: {**f, "blocks.0.attn1.to_q.alpha": torch.ones(3)}, "3 numbers instead of one"),
        (lambda f: {**f, "blocks.0.attn1.norm_q.diff_b": torch.ones(64)}, "has none of"),
        (lambda f: {**f, "blocks.0.attn1.to_gate_compress.set_weight": torch.ones(2, 2)}, "use the dense variant"),
    ],
)
def test_a_key_without_a_use_is_named_and_refused(
    state: dict[str, Tensor], change: Callable[[dict], dict], said: str
) -> None:
    with pytest.raises(LayoutError, match=said):
        merged(state, change(pair("blocks.0.attn1.to_q", state["blocks.0.attn1.to_q.weight"])))


@pytest.mark.parametrize("broken", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite_are_refused(state: dict[str, Tensor], tmp_path: Path, broken: float) -> None:
    file = pair("blocks.0.attn1.to_q", state["blocks.0.attn1.to_q.weight"])
    next(iter(file.values()))[0, 0] = broken
    save_file(file, str(tmp_path / "l.safetensors"))
    with pytest.raises(LayoutError, match="not finite"):
        with_loras(state, [tmp_path / "l.safetensors"])


# -- on every family ---------------------------------------------------------------------------------------------------


def loaded(folder: Path, **options: Any) -> Model:
    return loader(str(folder), LoadOptions(threads=1, **options))(lambda stage, share: None)


@pytest.mark.parametrize("name", ["wan2.1-t2v-1.3b", "anyflow-far-wan2.1-1.3b", "longlive-1.3b"])
def test_a_lora_is_merged_into_any_wan_model(checkpoints: Callable[[str], Path], tmp_path: Path, name: str) -> None:
    folder, file = checkpoints(name), tmp_path / "l.safetensors"
    plain: Any = loaded(folder, device="cpu")
    key = "blocks.1.ffn.net.2.weight"
    weight = plain.sampler._experts[0].model.state_dict()[key]
    parts = pair("diffusion_model.blocks.1.ffn.2", weight)
    save_file(parts, str(file))
    adapted: Any = loaded(folder, device="cpu", lora=file)
    low, high = parts.values()
    assert torch.allclose(adapted.sampler._experts[0].model.state_dict()[key], weight + high @ low, atol=1e-5)
    assert adapted.identity != plain.identity, "a replay sees that the weights are others"


def test_a_pair_of_files_is_merged_into_the_two_transformers(
    checkpoints: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = checkpoints("causal-wan2.2-i2v-a14b")
    key = "blocks.1.attn1.to_q.weight"
    before = [read_folder(folder / part)[key] for part in ("transformer", "transformer_2")]
    parts = [pair(f"{half}.blocks.1.self_attn.q", before[0]) for half in ("high", "low")]
    for half, tensors in zip(("low", "high"), reversed(parts), strict=True):
        named = {k.replace(f"{half}.", "diffusion_model.", 1): v for k, v in tensors.items()}
        save_file(named, str(tmp_path / f"{half}_noise_model.safetensors"))
    adapted: Any = loaded(folder, device="cpu", lora=tmp_path)
    for expert, weight, tensors in zip(adapted.sampler._experts, before, parts, strict=True):
        low, high = tensors.values()
        assert torch.allclose(expert.model.state_dict()[key], weight + high @ low, atol=1e-5)
    with pytest.raises(LayoutError, match="two transformers: give the folder"):
        loaded(folder, device="cpu", lora=tmp_path / "low_noise_model.safetensors")
    with pytest.raises(LayoutError, match="for a model with two transformers"):
        loaded(checkpoints("wan2.1-t2v-1.3b"), device="cpu", lora=tmp_path)


@pytest.mark.parametrize(
    ("name", "lora"), [("ltx-2.3", LTX_LORA), pytest.param("minimax-h3", H3_LORA, marks=pytest.mark.slow)]
)
def test_a_published_lora_is_merged_before_the_model_is_moved(
    checkpoints: Callable[[str], Path], name: str, lora: str
) -> None:
    """To a device that takes no arithmetic with tensors of the CPU, as a GPU does not."""
    folder = checkpoints(name)
    moved: Any = loaded(folder, device="meta", lora=folder / lora)
    assert all(p.is_meta for p in moved.sampler.family.transformer.parameters())
    adapted: Any = loaded(folder, device="cpu", lora=folder / lora)
    before, after = read_folder(folder / "transformer"), adapted.sampler.family.transformer.state_dict()
    file: Lora = read_lora(folder / lora)
    key = next(k for k in before if re.match(r"transformer_blocks\.1\.attn1?\.to_q\.weight", k))
    (parts,) = (m.tensors for n, m in file.modules.items() if n.endswith(key.removesuffix(".weight")))
    low, high = parts.values()
    assert torch.allclose(after[key], before[key] + high @ low, atol=1e-5)
