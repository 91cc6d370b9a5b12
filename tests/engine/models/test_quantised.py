"""Quantised files: what is read of them is what was written, to the precision of their format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

from engine.models import checkpoints
from engine.models.wan.tiny import HEAD_DIM, original_keys, transformer
from engine.models.weight_files import LayoutError, read_file

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def weights() -> dict[str, Tensor]:
    """Of a small Wan transformer, in Wan's own names."""
    torch.manual_seed(5)
    return {k: v.contiguous() for k, v in original_keys(transformer().state_dict()).items()}


def built(file: Path) -> dict[str, Tensor]:
    """The weights of the model that a file makes."""
    state = read_file(file)
    config = checkpoints.original_config(state, HEAD_DIM)
    return checkpoints.build(config, state, file, torch.float32, CPU).state_dict()


def near(made: dict[str, Tensor], weights: dict[str, Tensor], share: float) -> None:
    """Every weight within `share` of the largest of its tensor."""
    expected = checkpoints.converted(weights)
    assert made.keys() == expected.keys()
    for key, value in expected.items():
        assert (made[key] - value).abs().max() <= share * value.abs().max(), key


def large(weights: dict[str, Tensor]) -> list[str]:
    return [k for k, v in weights.items() if k.startswith("blocks.") and v.ndim == 2]


def test_float8_without_scales(weights: dict[str, Tensor], tmp_path: Path) -> None:
    file = tmp_path / "w.safetensors"
    eight = {k: v.to(torch.float8_e4m3fn) if k in large(weights) else v for k, v in weights.items()}
    save_file({f"model.diffusion_model.{k}": v for k, v in eight.items()}, str(file))
    near(built(file), weights, 0.07)


@pytest.mark.parametrize("by_row", [False, True])
@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.int8])
def test_eight_bits_with_scales(weights: dict[str, Tensor], tmp_path: Path, by_row: bool, dtype: torch.dtype) -> None:
    """ComfyUI's `scale_weight` of a whole tensor, lightx2v's `weight_scale` of each row."""
    most = 127.0 if dtype is torch.int8 else 448.0
    state: dict[str, Tensor] = {"scaled_fp8": torch.empty(0, dtype=torch.float8_e4m3fn)}
    for key, value in weights.items():
        if key not in large(weights):
            state[key] = value
            continue
        scale = (value.abs().amax(1, keepdim=True) if by_row else value.abs().max()) / most
        eight = value / scale
        state[key] = (eight.round() if dtype is torch.int8 else eight).to(dtype)
        name = key.removesuffix(".weight")
        state[f"{name}.weight_scale" if by_row else f"{name}.scale_weight"] = scale.clone()
        state[f"{name}.input_scale" if by_row else f"{name}.scale_input"] = torch.tensor(1.0)
    file = tmp_path / "w.safetensors"
    save_file(state, str(file))
    near(built(file), weights, 0.07)


def test_formats_with_packed_numbers_are_refused(weights: dict[str, Tensor], tmp_path: Path) -> None:
    file = tmp_path / "w.safetensors"
    packed = {
        "blocks.0.ffn.0.weight": torch.zeros(4, 2, dtype=torch.uint8),
        "blocks.0.ffn.0.weight_scale": torch.ones(1),
    }
    save_file(packed, str(file))
    with pytest.raises(LayoutError, match="fewer than 8 bits"):
        read_file(file)
    said = torch.tensor(list(json.dumps({"format": "nvfp4"}).encode()), dtype=torch.uint8)
    save_file({"blocks.0.ffn.0.weight": torch.zeros(2), "blocks.0.ffn.0.comfy_quant": said}, str(file))
    with pytest.raises(LayoutError, match="quantised as nvfp4"):
        read_file(file)


def test_gguf_by_the_package_that_writes_it(weights: dict[str, Tensor], tmp_path: Path) -> None:
    """Q8_0 in blocks of 32 as city96's files of Wan are; what is no matrix is kept whole."""
    import gguf

    writer = gguf.GGUFWriter(str(tmp_path / "w.gguf"), "wan")
    for key, value in weights.items():
        data = value.numpy()
        if key in large(weights) and value.shape[-1] % 32 == 0:
            kind = gguf.GGMLQuantizationType.Q8_0
            writer.add_tensor(key, gguf.quants.quantize(data, kind), raw_dtype=kind)
        else:
            writer.add_tensor(key, data)
    for step in (writer.write_header_to_file, writer.write_kv_data_to_file, writer.write_tensors_to_file, writer.close):
        step()
    near(built(tmp_path / "w.gguf"), weights, 0.02)


def test_a_damaged_gguf_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "w.gguf").write_bytes(b"GGUF" + bytes(40))
    with pytest.raises(LayoutError, match="not a readable GGUF file"):
        read_file(tmp_path / "w.gguf")
