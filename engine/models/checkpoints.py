"""Checkpoints as they are published, to the modules of diffusers.

Layouts: diffusers folders (sharded or not), original Wan key names in one .safetensors or .pt/.pth, the `generator`
dictionaries of Self-Forcing, Causal-Forcing, LongLive and minWM with their prefixes, AnyFlow-FAR, FastVideo's CausalWan.
Files are read as data only: nothing in them is run. What is missing, extra or of a wrong shape is named with the likely cause.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

WRAPPERS = ("generator_ema", "generator", "generator_lora", "model_state_dict", "state_dict", "model", "module")
"""Dictionaries that hold the weights one level down, in the order in which they are looked for."""
PREFIXES = (
    "_fsdp_wrapped_module.",
    "_orig_mod.",
    "_checkpoint_wrapped_module.",
    "model.diffusion_model.",
    "module.",
    "model.",
)
MODELS = {
    "WanTransformer3DModel": "WanTransformer3DModel",
    "CausalWanTransformer3DModel": "WanTransformer3DModel",
    "AnyFlowFARTransformer3DModel": "AnyFlowFARTransformer3DModel",
}
"""Class names in config.json to those of diffusers; FastVideo's causal class has the same weights."""
HEAD_DIM = 128
"""Of every published Wan model; original files do not say it."""
NAMED = 4
"""Keys that a message names before it counts the rest."""


class LayoutError(RuntimeError):
    """A checkpoint that cannot be read as what it should be. The message names the file, the keys and the likely cause."""


def read_json(file: Path) -> dict[str, Any]:
    """Raises LayoutError."""
    try:
        data = json.loads(file.read_text("utf-8"))
    except FileNotFoundError as e:
        raise LayoutError(
            f"{file} is missing: the download is not complete; `foreland models verify` says what else is"
        ) from e
    except (ValueError, OSError) as e:
        raise LayoutError(f"{file} cannot be read: {e}") from e
    if not isinstance(data, dict):
        raise LayoutError(f"{file} holds no settings")
    return data


def read_file(file: Path) -> dict[str, Tensor]:
    """The tensors of one .safetensors, .pt or .pth, unwrapped and without training prefixes. Raises LayoutError."""
    if not file.exists():
        raise LayoutError(f"{file} is missing: pull the model again, or give the folder that holds it")
    if file.suffix == ".safetensors":
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        try:
            return stripped(load_file(str(file)))
        except (SafetensorError, OSError) as e:
            raise LayoutError(
                f"{file} cannot be read ({e}): it may be cut short; `foreland models verify` checks its size"
            ) from e
    try:
        data = torch.load(file, map_location="cpu", weights_only=True, mmap=True)
    except Exception as e:  # torch raises many kinds, UnpicklingError among them, for files that hold more than tensors
        reason = str(e).splitlines()[0]
        raise LayoutError(
            f"{file} cannot be read as weights alone ({reason}); files that hold code are not opened"
        ) from e
    return stripped(unwrapped(data, file))


def unwrapped(data: Any, file: Path) -> dict[str, Tensor]:
    """The dictionary of tensors inside what training code saves. Raises LayoutError."""
    seen: list[str] = []
    while isinstance(data, dict):
        inside = next((w for w in WRAPPERS if isinstance(data.get(w), dict)), None)
        if inside is None:
            break
        seen.append(inside)
        data = data[inside]
    if not isinstance(data, dict) or not any(isinstance(v, Tensor) for v in data.values()):
        found = ", ".join(map(str, list(data)[:NAMED])) if isinstance(data, dict) else type(data).__name__
        raise LayoutError(
            f"{file} holds no weights that are known: looked into {seen or 'the top level'}, found {found}"
        )
    return {str(k): v for k, v in data.items() if isinstance(v, Tensor)}


def stripped(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Without the prefixes that wrappers leave in keys, wherever they stand."""
    out = {}
    for key, value in state.items():
        for inner in PREFIXES[:3]:
            key = key.replace(inner, "")
        changed = True
        while changed:
            changed = False
            for p in PREFIXES[3:]:
                if key.startswith(p):
                    key, changed = key[len(p) :], True
        out[key] = value
    return out


def read_folder(folder: Path, name: str = "diffusion_pytorch_model") -> dict[str, Tensor]:
    """The weights of a diffusers or transformers folder, of one file or of shards with an index. Raises LayoutError."""
    index = folder / f"{name}.safetensors.index.json"
    if index.exists():
        files = sorted(set(read_json(index)["weight_map"].values()))
        missing = [f for f in files if not (folder / f).exists()]
        if missing:
            raise LayoutError(f"{folder} lacks {listed(missing)} of its {len(files)} shards: pull the model again")
        state: dict[str, Tensor] = {}
        for f in files:
            state |= read_file(folder / f)
        return state
    for f in (f"{name}.safetensors", f"{name}.bin"):
        if (folder / f).exists():
            return read_file(folder / f)
    raise LayoutError(f"{folder} has neither {name}.safetensors nor an index of shards: pull the model again")


def listed(names: Iterable[str]) -> str:
    """The first NAMED names, and how many more there are."""
    names = list(names)
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")


def is_original(state: dict[str, Tensor]) -> bool:
    """Whether the keys are those of Wan's own code."""
    return any(".self_attn." in k for k in state) or "head.modulation" in state


def converted(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Original transformer keys to diffusers' ones (by its own mapping); others as they are."""
    if not is_original(state):
        return state
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
    with torch.device("meta"):
        model = cls(**{k: v for k, v in config.items() if not k.startswith("_")})
    state = converted(state)
    if any(".prope_o." in k for k in state):
        _add_cameras(model)
    fill(model, state, source, dtype, device)
    return model


def _add_cameras(model: nn.Module) -> None:
    """minWM's second output projection, for attention by camera."""
    for block in model.blocks:  # type: ignore[union-attr]
        width = block.attn1.to_out[0].out_features
        with torch.device("meta"):
            block.attn1.prope_o = nn.Linear(width, width)


def fill(model: nn.Module, state: dict[str, Tensor], source: Path, dtype: torch.dtype, device: torch.device) -> None:
    """Puts weights into a model on the meta device, in `dtype` but for what must stay in float32. Raises LayoutError."""
    wanted = model.state_dict()
    ignored = getattr(model, "_keys_to_ignore_on_load_unexpected", None) or []
    extra = [k for k in state if k not in wanted and not any(i in k for i in ignored)]
    missing = [k for k in wanted if k not in state]
    wrong = [k for k in wanted if k in state and state[k].shape != wanted[k].shape]
    if missing or extra or wrong:
        raise LayoutError(f"{source} does not fit: " + _why(wanted, state, missing, extra, wrong))
    full = getattr(model, "_keep_in_fp32_modules", None) or []
    ready = {}
    for k in wanted:
        exact = any(part in k.split(".") for part in full)
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


def apply_lora(state: dict[str, Tensor], lora: dict[str, Tensor], source: Path) -> dict[str, Tensor]:
    """Weights with a LoRA file merged in. Keys may be peft's or Wan's. Raises LayoutError for one that fits nowhere."""
    out = dict(state)
    downs = {k for k in lora if ".lora_A." in k or ".lora_down." in k}
    for down in sorted(downs):
        up = down.replace(".lora_A.", ".lora_B.").replace(".lora_down.", ".lora_up.")
        base = re.sub(r"\.lora_(A|down)\..*$", "", down)
        base = re.sub(r"^(base_model\.model\.|diffusion_model\.|transformer\.|model\.)+", "", base)
        key = next((k for k in (f"{base}.weight", *converted_key(f"{base}.weight")) if k in out), None)
        if key is None or up not in lora:
            raise LayoutError(f"{source}: {down} fits no weight of the model it is laid on")
        a, b = lora[down].float(), lora[up].float()
        alpha = lora.get(f"{re.sub(r'.lora_(A|down).*$', '', down)}.alpha")
        factor = float(alpha) / a.shape[0] if alpha is not None else 1.0
        out[key] = (out[key].float() + factor * (b @ a)).to(out[key].dtype)
    return out


def converted_key(key: str) -> list[str]:
    """An original key's name in diffusers."""
    return [k for k in converted({key: torch.empty(0)}) if k != key]


# -- autoencoders and text encoders ------------------------------------------------------------------------------------


def build_vae(
    folder_or_file: Path, dtype: torch.dtype, device: torch.device, config: dict[str, Any] | None = None
) -> nn.Module:
    """An `AutoencoderKLWan` from a diffusers folder or from Wan's own .pth. Raises LayoutError."""
    from diffusers import AutoencoderKLWan

    if folder_or_file.is_dir():
        config = read_json(folder_or_file / "config.json")
        state = read_folder(folder_or_file)
    else:
        from diffusers.loaders.single_file_utils import convert_wan_vae_to_diffusers

        state = read_file(folder_or_file)
        if "conv1.weight" in state:
            state = convert_wan_vae_to_diffusers(state)
    with torch.device("meta"):
        vae: Any = AutoencoderKLWan(**{k: v for k, v in (config or {}).items() if not k.startswith("_")})
    fill(vae, state, folder_or_file, dtype, device)
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
