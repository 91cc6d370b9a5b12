"""What is really published: every model of the catalogue is built from its settings and keys, and every LoRA is laid on it, without a
number in memory."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.models import checkpoints
from engine.models.audio_video.load import h3_lora, ltx_connector_names, ltx_names
from engine.models.catalogue import load_catalogue
from engine.models.lora import parsed, settings_beside
from engine.models.published import Weights, expanded, published
from engine.models.wan.load import with_loras

META = torch.device("meta")
CATALOGUE = load_catalogue()
PULLED = [name for name, entry in CATALOGUE.items() if entry.repo]
WAN = [name for name in PULLED if CATALOGUE[name].family == "wan"]
BFLOAT16 = torch.bfloat16


def on_meta(weights: Weights) -> dict[str, Tensor]:
    """Tensors of the published shapes and dtypes, without the prefix and the dictionary around them."""
    return {
        key: torch.empty(shape, dtype=getattr(torch, dtype), device=META)
        for key, (dtype, shape) in weights.keys.items()
    }


def test_every_model_that_is_pulled_has_what_is_published_of_it() -> None:
    for name in PULLED:
        entry, known = CATALOGUE[name], published(name)
        assert known.repository == entry.repo
        assert set(entry.files) <= set(known.weights)
        assert all(w.source for w in known.weights.values())
        assert (entry.base is None) == bool(known.settings)


@pytest.mark.parametrize("file", ["README.md", "docs/models.md"])
def test_the_tables_of_models_say_of_each_what_was_proven(file: str) -> None:
    text = (Path(__file__).resolve().parents[3] / file).read_text("utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows if row.split("`")[1] in CATALOGUE] and all(
        any(row.startswith(f"| `{name}` |") for row in rows) for name in PULLED
    )


def test_patterns_of_keys() -> None:
    assert list(expanded("blocks.{0..1}.norms.{3..4}.w")) == [f"blocks.{i}.norms.{j}.w" for i in (0, 1) for j in (3, 4)]
    assert list(expanded("head.modulation")) == ["head.modulation"]


@pytest.mark.parametrize(
    "name", [n for n in WAN if n != "wan2.1-t2v-1.3b-causal-forcing"]
)  # which keeps Self-Forcing's model
def test_a_wan_transformer_is_built_of_published_settings_and_keys(name: str) -> None:
    entry, known = CATALOGUE[name], published(name)
    if entry.weights is not None:
        state = on_meta(known.weights[entry.weights])
        config = checkpoints.original_config(state, entry.head_dim)
        model = checkpoints.build(config, state, Path(entry.weights), BFLOAT16, META)
        assert model.config.num_layers == entry.network["layers"]
        assert model.config.num_attention_heads == entry.network["width"] // entry.head_dim
        return
    for part in (p for p in known.weights if p.startswith("transformer")):
        config = known.settings[f"{part}/config.json"]
        model = checkpoints.build(config, on_meta(known.weights[part]), Path(part), BFLOAT16, META)
        assert {k for k in config if not k.startswith("_")} & {"num_layers"} and model.config.in_channels in (16, 48)


def test_lingbot_world_has_as_many_keys_and_numbers_as_was_read_off_the_file() -> None:
    """README.md of zinianly-aide/lingbot-world-v2: "1071 tensors", "1.710B", "6.84 GB"."""
    keys = published("lingbot-world-v2-1.3b").weights["model.safetensors.index.json"].keys
    numbers = sum(math.prod(shape) for _, shape in keys.values())
    assert len(keys) == 1071 and round(numbers / 1e6) == 1710 and round(4 * numbers / 1e7) == 684


def test_the_settings_of_every_vae_make_one_though_some_keys_are_unknown_here() -> None:
    from diffusers import AutoencoderKLWan

    for name in (n for n in WAN if "vae/config.json" in published(n).settings):
        settings = published(name).settings["vae/config.json"]
        assert checkpoints.made(AutoencoderKLWan, settings).config.z_dim == settings["z_dim"]
    assert "clip_output" in published("wan2.2-ti2v-5b").settings["vae/config.json"]


def test_files_of_wan_s_own_code_become_the_modules_of_diffusers() -> None:
    from diffusers import AutoencoderKLWan
    from diffusers.loaders.single_file_utils import convert_wan_vae_to_diffusers
    from transformers import UMT5Config, UMT5EncoderModel

    from engine.models.wan.load import UMT5_XXL

    known = published("wan2.1-t2v-1.3b")
    state = convert_wan_vae_to_diffusers(on_meta(known.weights["Wan2.1_VAE.pth"]))
    checkpoints.fill(checkpoints.made(AutoencoderKLWan, {}), state, Path("v"), BFLOAT16, META)
    state = checkpoints.text_encoder_keys(on_meta(known.weights["models_t5_umt5-xxl-enc-bf16.pth"]))
    with META:
        encoder = UMT5EncoderModel(UMT5Config(**UMT5_XXL))
    state["encoder.embed_tokens.weight"] = state["shared.weight"]
    checkpoints.fill(encoder, state, Path("t"), BFLOAT16, META)


@pytest.mark.parametrize(
    ("name", "part"),
    [("minimax-h3", "transformer"), ("ltx-2.3", "transformer"), ("ltx-2.3", "vocoder")],
)
def test_parts_of_models_with_sound_are_built_of_published_settings_and_keys(name: str, part: str) -> None:
    model, state = sound_part(name, part), on_meta(published(name).weights[part])
    wanted = model.state_dict()
    assert state.keys() == wanted.keys()
    assert all(state[k].shape == wanted[k].shape for k in wanted)


def sound_part(name: str, part: str) -> Any:
    import diffusers
    from diffusers.pipelines import ltx2

    settings = published(name).settings[f"{part}/config.json"]
    kind = settings["_class_name"]
    return checkpoints.made(getattr(diffusers, kind, None) or getattr(ltx2, kind), settings)


def test_the_published_vocoder_extends_the_bandwidth_to_what_the_catalogue_says() -> None:
    settings = published("ltx-2.3").settings["vocoder/config.json"]
    assert settings["_class_name"] == "LTX2VocoderWithBWE"
    assert settings["output_sampling_rate"] == CATALOGUE["ltx-2.3"].spec().sound_rate == 48000


# -- LoRA files by their headers ---------------------------------------------------------------------------------------


def test_the_lora_of_longlive_changes_every_linear_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.models import lora

    known = published("longlive-1.3b")
    monkeypatch.setattr(lora, "read_file", lambda file: on_meta(known.weights["models/lora.pt"]))
    before = checkpoints.converted(on_meta(known.weights["models/longlive_base.pt"]))
    after = with_loras(before.copy(), [Path("models/lora.pt")])
    changed = {k for k in before if after[k] is not before[k]}
    assert len(changed) == 30 * 10
    assert "blocks.29.attn2.to_out.0.weight" in changed and "blocks.0.ffn.net.0.proj.weight" in changed


def test_the_distilled_lora_of_ltx_fits_its_transformer_and_its_connectors() -> None:
    known = published("ltx-2.3")
    state = on_meta(known.weights["ltx-2.3-22b-distilled-lora-384-1.1.safetensors"])
    # of 48 blocks that are alike, the first and the last
    lora = parsed(
        {k: v for k, v in state.items() if "_blocks." not in k or "_blocks.0." in k or "_blocks.47." in k}, Path("l")
    )
    transformer, connectors = sound_part("ltx-2.3", "transformer"), sound_part("ltx-2.3", "connectors")
    changed = dict(lora.merged(transformer.state_dict(), ltx_names))
    assert {"proj_in.weight", "time_embed.linear.weight", "prompt_adaln.linear.weight"} <= changed.keys()
    assert "av_cross_attn_video_scale_shift.linear.weight" in changed
    assert len(dict(lora.merged(connectors.state_dict(), ltx_connector_names))) == 2
    lora.check_used()


def test_the_distilled_adapter_of_h3_fits_with_its_corrections(tmp_path: Path) -> None:
    from safetensors.torch import save_file

    weights = published("minimax-h3").weights["dense-datafree/adapter_model.safetensors"]
    file = tmp_path / "adapter_model.safetensors"
    save_file({"x": torch.zeros(1)}, str(file), weights.metadata)
    (tmp_path / "adapter_config.json").write_text('{"lora_alpha": 8, "r": 64}')
    state = h3_lora(on_meta(weights))
    lora = parsed(state, file, settings_beside(file))
    model = sound_part("minimax-h3", "transformer")
    changed = dict(lora.merged(model.state_dict()))
    lora.check_used()
    assert len(changed) == 362 + 76 and changed["proj_in.bias"].dtype is torch.float32
    assert lora.scale("transformer_blocks.0.attn.to_q", 64) == 1.0, "this format is added as it is"


def test_small_checkpoints_have_the_published_keys_of_their_settings(checkpoints: Callable[[str], Path]) -> None:
    from engine.models.weight_files import read_json

    for name in ("wan2.2-ti2v-5b", "causal-wan2.2-i2v-a14b"):
        folder = checkpoints(name)
        for file, settings in published(name).settings.items():
            assert read_json(folder / file).keys() >= settings.keys(), file
