"""Quantised weights that people have, to bfloat16: GGUF, and 8 bits with scales beside them.

They are multiplied out when they are read: a smaller download and a smaller file, not a smaller model in memory.
"""

from __future__ import annotations

import json
from pathlib import Path

import torch
from torch import Tensor

WEIGHT_SCALES = (".scale_weight", ".weight_scale")
SCALES = (*WEIGHT_SCALES, ".scale_input", ".input_scale", ".comfy_quant")
"""Beside quantised weights: what they are multiplied by, and what inputs would be."""


BY_SCALE = ("float8_e4m3fn", "float8_e5m2", "int8_tensorwise")
"""ComfyUI's names of formats in which a number times its scale is the weight."""


def read_gguf(file: Path) -> dict[str, Tensor]:
    """A quantised file of llama.cpp's format, through diffusers' reader, as bfloat16. Raises ValueError."""
    from diffusers.models.model_loading_utils import load_gguf_checkpoint
    from diffusers.quantizers.gguf.utils import dequantize_gguf_tensor

    try:
        state = load_gguf_checkpoint(str(file))
    except Exception as e:  # the package gguf raises many kinds for a damaged file
        raise ValueError(f"it is not a readable GGUF file ({str(e).splitlines()[0]})") from e
    return {
        k: dequantize_gguf_tensor(v).to(torch.bfloat16) if hasattr(v, "quant_type") else v for k, v in state.items()
    }


def dequantised(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Weights of 8 bits with their scales beside them (`.scale_weight`, `.weight_scale`) multiplied out to bfloat16.

    float8 without scales is left to whoever chooses the dtype. Raises ValueError for formats with packed numbers.
    """
    out = {k: v for k, v in state.items() if not k.endswith(SCALES) and k != "scaled_fp8"}
    for key, said in state.items():
        if key.endswith(".comfy_quant") and (form := _format(said)) not in BY_SCALE:
            raise ValueError(f"{key.removesuffix('.comfy_quant')} is quantised as {form}, which is not read")
    for key, scale in state.items():
        if not key.endswith(WEIGHT_SCALES):
            continue
        weight = next(key.removesuffix(end) + ".weight" for end in WEIGHT_SCALES if key.endswith(end))
        quantised = state.get(weight)
        if quantised is None or quantised.element_size() != 1:
            raise ValueError(
                f"{key} is the scale of no weight of 8 bits: it is quantised in a way that is not known here"
            )
        if quantised.dtype is torch.uint8 or (scale.ndim > 1 and scale.shape[-1] != 1):
            raise ValueError(
                f"{weight} holds packed numbers of fewer than 8 bits, or scales by blocks, which are not read"
            )
        by_row = scale.float().reshape(-1, *[1] * (quantised.ndim - 1)) if scale.numel() > 1 else scale.float()
        out[weight] = (quantised.float() * by_row).to(torch.bfloat16)
    return out


def _format(said: Tensor) -> str:
    """The name of a format in the JSON that ComfyUI keeps beside a weight."""
    try:
        return str(json.loads(bytes(said.tolist()))["format"])
    except (ValueError, KeyError, TypeError):
        return "something that is not said"
