"""Checkpoints as they are published, to the modules of diffusers.

Layouts: diffusers folders (sharded or not), original Wan key names in one .safetensors or .pt/.pth, the `generator`
dictionaries of Self-Forcing, Causal-Forcing, LongLive and minWM with their prefixes, AnyFlow-FAR, FastVideo's CausalWan.
What is missing, extra or of a wrong shape is named with the likely cause.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from engine.models.buttons import ButtonAdapter
from engine.models.rays import MODEL_LAYERS, add_layers
from engine.models.weight_files import LayoutError, all_finite, listed, read_file, read_folder, read_json

MODELS = {
    "WanTransformer3DModel": "WanTransformer3DModel",
    "CausalWanTransformer3DModel": "WanTransformer3DModel",
    "AnyFlowFARTransformer3DModel": "AnyFlowFARTransformer3DModel",
}
"""Class names in config.json to those of diffusers; FastVideo's causal class has the same weights."""
FLAT_NAMES = tuple(
    (re.compile(flat), dotted)
    for flat, dotted in (
        (r"^blocks_(\d+)_(self_attn|cross_attn)_(\w+)", r"blocks.\1.\2.\3"),
        (r"^blocks_(\d+)_ffn_(\d)", r"blocks.\1.ffn.\2"),
        (r"^(text_embedding|time_embedding|time_projection)_(\d)", r"\1.\2"),
        (r"^head_head", "head.head"),
    )
)
"""kohya's names of Wan's modules, in which every point is an underscore."""
HEAD_DIM = 128
"""Of every published Wan model; original files do not say it."""


def is_original(state: dict[str, Tensor]) -> bool:
    """Whether the keys are those of Wan's own code."""
    return any(".self_attn." in k for k in state) or "head.modulation" in state


def converted(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Original transformer keys to diffusers' ones (by its own mapping); others as they are."""
    return _converted(state) if is_original(state) else state


def _converted(state: dict[str, Tensor]) -> dict[str, Tensor]:
    from diffusers.loaders.single_file_utils import convert_wan_transformer_to_diffusers

    return convert_wan_transformer_to_diffusers(dict(state))


def original_config(state: dict[str, Tensor], head_dim: int = HEAD_DIM) -> dict[str, Any]:
    """The settings of a `WanTransformer3DModel`, read off the shapes of original or converted weights."""
    s = converted(state)
    try:
        width, inputs, *patch = s["patch_embedding.weight"].shape
        layers = 1 + max(int(m[1]) for k in s if (m := re.match(r"blocks\.(\d+)\.", k)))
        outputs = s["proj_out.weight"].shape[0] // (patch[0] * patch[1] * patch[2])
        config: dict[str, Any] = {
            "patch_size": tuple(patch),
            "num_attention_heads": width // head_dim,
            "attention_head_dim": head_dim,
            "in_channels": inputs,
            "out_channels": outputs,
            "num_layers": layers,
            "cross_attn_norm": "blocks.0.norm2.weight" in s,
            "ffn_dim": s["blocks.0.ffn.net.0.proj.weight"].shape[0],
            "text_dim": s["condition_embedder.text_embedder.linear_1.weight"].shape[1],
            "freq_dim": s["condition_embedder.time_embedder.linear_1.weight"].shape[1],
        }
    except (KeyError, ValueError) as e:
        raise LayoutError(f"these are not the weights of a Wan transformer: {e} is missing") from e
    if (image := s.get("condition_embedder.image_embedder.ff.net.0.proj.weight")) is not None:
        config["image_dim"] = config["added_kv_proj_dim"] = image.shape[1]
    return config


def build(
    config: dict[str, Any], state: dict[str, Tensor], source: Path, dtype: torch.dtype, device: torch.device
) -> nn.Module:
    """The transformer with these weights. Raises LayoutError naming what does not fit."""
    import diffusers

    name = MODELS.get(config.get("_class_name", "WanTransformer3DModel"))
    if name is None:
        raise LayoutError(
            f"{source} is a {config['_class_name']}, which is not a Wan transformer that can be sampled here"
        )
    cls = getattr(diffusers, name)
    model = made(cls, config)
    state = converted(state)
    if any(".prope_o." in k for k in state):
        _add_cameras(model)
    if (planes := state.get("act_control_adapter.conv.weight")) is not None:
        _add_buttons(model, planes.shape)
    if (rays := state.get(f"{MODEL_LAYERS[0]}.weight")) is not None:
        add_layers(model, rays.shape[1])
    fill(model, state, source, dtype, device)
    return model


def made(cls: Any, config: dict[str, Any]) -> Any:
    """A model of diffusers on the meta device. Settings that this version of the class does not know are left out with a warning,
    as its own loader does: converters and later versions write some."""
    with torch.device("meta"):
        return cls.from_config({k: v for k, v in config.items() if k != "_class_name"})


def _add_cameras(model: nn.Module) -> None:
    """minWM's second output projection, for attention by camera."""
    for block in model.blocks:  # type: ignore[union-attr]
        width = block.attn1.to_out[0].out_features
        with torch.device("meta"):
            block.attn1.prope_o = nn.Linear(width, width)


def _add_buttons(model: Any, shape: Sequence[int]) -> None:
    """ABot-World's adapter for held keys. shape: of its convolution's weight, (width, channels, patch, patch)."""
    width, channels, patch, _ = shape
    with torch.device("meta"):
        model.act_control_adapter = ButtonAdapter(channels, width, patch)


def fill(
    model: nn.Module,
    state: dict[str, Tensor],
    source: Path,
    dtype: torch.dtype,
    device: torch.device,
    full: tuple[str, ...] = (),
) -> None:
    """Puts weights into a model on the meta device, in `dtype` but for what must stay in float32: what diffusers says, and keys that
    begin with one of `full`. Raises LayoutError."""
    wanted = model.state_dict()
    ignored = getattr(model, "_keys_to_ignore_on_load_unexpected", None) or []
    extra = [k for k in state if k not in wanted and not any(i in k for i in ignored)]
    missing = [k for k in wanted if k not in state]
    wrong = [k for k in wanted if k in state and state[k].shape != wanted[k].shape]
    if missing or extra or wrong:
        raise LayoutError(f"{source} does not fit: " + _why(wanted, state, missing, extra, wrong))
    if broken := [k for k in wanted if not all_finite(state[k])]:
        raise LayoutError(f"{source}: {listed(broken)} holds numbers that are not finite: the file is damaged")
    kept = getattr(model, "_keep_in_fp32_modules", None) or []
    ready = {}
    for k in wanted:
        exact = k.startswith(full) or any(part in k.split(".") for part in kept)
        to = torch.float32 if exact or not state[k].is_floating_point() else dtype
        ready[k] = state[k].to(device, to if state[k].is_floating_point() else state[k].dtype)
    model.load_state_dict(ready, assign=True)
    for name, buffer in list(model.named_buffers()):
        if buffer.is_meta:  # tables that are computed, not stored
            owner = model.get_submodule(name.rpartition(".")[0])
            owner.register_buffer(name.rpartition(".")[2], torch.empty(0, device=device), persistent=False)


def _why(
    wanted: dict[str, Tensor], state: dict[str, Tensor], missing: list[str], extra: list[str], wrong: list[str]
) -> str:
    parts = []
    if missing:
        parts.append(f"missing {listed(missing)}")
    if extra:
        parts.append(f"not known {listed(extra)}")
    if wrong:
        k = wrong[0]
        more = "" if len(wrong) == 1 else f" and {len(wrong) - 1} more"
        parts.append(f"wrong shape {k} ({tuple(state[k].shape)}, {tuple(wanted[k].shape)} is wanted){more}")
    if any("lora" in k for k in extra):
        cause = "this is a LoRA: it belongs on top of a base model, not in its place"
    elif any("add_k_proj" in k or "image_embedder" in k for k in (*missing, *extra)):
        cause = "a text-to-video and an image-to-video checkpoint were taken for each other"
    elif any(k.startswith(("encoder.", "decoder.")) for k in extra):
        cause = "this is a VAE, not a transformer"
    elif missing and not extra and not wrong:
        cause = "the file is of another size of the model, or not all shards are there"
    elif len(missing) == len(wanted):
        cause = "the file is of another kind of model"
    else:
        cause = "the checkpoint is of another version or size of the model"
    return "; ".join(parts) + f". Likely: {cause}."


def wan_names(key: str) -> list[str]:
    """What a key of Wan's own code is called in diffusers; kohya's flat names are unfolded first."""
    for flat, dotted in FLAT_NAMES:
        key = flat.sub(dotted, key)
    return list(_converted({key: torch.empty(0)}))


# -- autoencoders and text encoders ------------------------------------------------------------------------------------


def build_vae(
    folder_or_file: Path, dtype: torch.dtype, device: torch.device, config: dict[str, Any] | None = None
) -> nn.Module:
    """An `AutoencoderKLWan` from a diffusers folder or from Wan's own .pth. Raises LayoutError.

    Its encoder stays in float32: pictures that calls begin with are encoded again and again, and bfloat16 shifts them (FastVideo,
    configs/pipelines/wan.py: SSIM 0.76 instead of 0.98); decoding in bfloat16 loses nothing that is seen.
    """
    from diffusers import AutoencoderKLWan

    if folder_or_file.is_dir():
        config = read_json(folder_or_file / "config.json")
        state = read_folder(folder_or_file)
    else:
        from diffusers.loaders.single_file_utils import convert_wan_vae_to_diffusers

        state = read_file(folder_or_file)
        if "conv1.weight" in state:
            state = convert_wan_vae_to_diffusers(state)
    vae = made(AutoencoderKLWan, config or {})
    fill(vae, state, folder_or_file, dtype, device, ("encoder.", "quant_conv."))
    return vae.eval()


def text_encoder_keys(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Wan's own T5 keys (models_t5_umt5-xxl-enc-bf16.pth) to those of transformers; others as they are."""
    if "token_embedding.weight" not in state:
        return state
    names = {
        "norm1": "layer.0.layer_norm",
        "attn.q": "layer.0.SelfAttention.q",
        "attn.k": "layer.0.SelfAttention.k",
        "attn.v": "layer.0.SelfAttention.v",
        "attn.o": "layer.0.SelfAttention.o",
        "pos_embedding.embedding": "layer.0.SelfAttention.relative_attention_bias",
        "norm2": "layer.1.layer_norm",
        "ffn.gate.0": "layer.1.DenseReluDense.wi_0",
        "ffn.fc1": "layer.1.DenseReluDense.wi_1",
        "ffn.fc2": "layer.1.DenseReluDense.wo",
    }
    out = {"shared.weight": state["token_embedding.weight"], "encoder.final_layer_norm.weight": state["norm.weight"]}
    for key, value in state.items():
        if m := re.match(r"blocks\.(\d+)\.(.+)\.weight$", key):
            out[f"encoder.block.{m[1]}.{names[m[2]]}.weight"] = value
    return out


def build_text_encoder(
    folder_or_file: Path, dtype: torch.dtype, device: torch.device, config: dict[str, Any] | None = None
) -> nn.Module:
    """A `UMT5EncoderModel` from a transformers folder or Wan's own .pth. Raises LayoutError."""
    from transformers import UMT5Config, UMT5EncoderModel

    if folder_or_file.is_dir():
        config = read_json(folder_or_file / "config.json")
        state = read_folder(folder_or_file, "model")
    else:
        state = text_encoder_keys(read_file(folder_or_file))
    with torch.device("meta"):
        model = UMT5EncoderModel(UMT5Config(**(config or {})))
    shared = state.get("shared.weight", state.get("encoder.embed_tokens.weight"))
    if shared is not None:
        state = {**state, "shared.weight": shared, "encoder.embed_tokens.weight": shared}
    fill(
        model,
        {k: v for k, v in state.items() if not k.startswith(("decoder.", "lm_head."))},
        folder_or_file,
        dtype,
        device,
    )
    return model.eval().requires_grad_(False)
