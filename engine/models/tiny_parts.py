"""Parts of small random checkpoints that several families need. Settings and names are those of `engine.models.published`; only sizes
are smaller."""

from __future__ import annotations

import json
import string
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.models.lora import ENDINGS, Finder, Names, Role
from engine.models.published import Weights

SHARD = "120KB"
"""Size of a file of weights: small, so that there are several."""


RANK = 4
"""Of a small LoRA file."""


def small_model(kind: Any, settings: Mapping[str, Any], **sizes: Any) -> Any:
    """A model of diffusers by published settings with these sizes in place of the published ones. Every weight matters."""
    chosen = {k: v for k, v in {**settings, **sizes}.items() if k != "_class_name"}
    return lively(kind.from_config(chosen))


def save(model: Any, folder: Path, settings: Mapping[str, Any], **sizes: Any) -> None:
    """Weights in shards, and the published settings with their keys, whatever the class made of them."""
    model.save_pretrained(folder, max_shard_size=SHARD)
    write_json(folder / "config.json", {**settings, **sizes})


def write_json(file: Path, data: Mapping[str, Any]) -> None:
    """Into a folder that is made where it is missing."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(data, indent=2) + "\n")


def under_published_names(weights: Weights, state: Mapping[str, Tensor], names: Names) -> dict[str, Tensor]:
    """Weights of a small model of diffusers under the names of a published file. What the small one is too shallow for is left out.

    names: what a published key is called in diffusers. Raises ValueError for a weight that has no published name.
    """
    out, left = {}, dict(state)
    for key in weights.keys:
        for name in (key, *names(key)):
            if name in left:
                out[weights.prefix + key] = left.pop(name)
                break
    if left:
        raise ValueError(f"the published file has no name for {', '.join(left)}")
    return out


def small_lora(weights: Weights, states: Sequence[tuple[Mapping[str, Tensor], Names]]) -> dict[str, Tensor]:
    """A random LoRA file with the keys of a published one, for small models. states: weights of each model that it is for."""
    out: dict[str, Tensor] = {}
    for key in weights.keys:
        role = next(r for r, ending in ENDINGS.items() if ending.search(key))
        module = ENDINGS[role].sub("", key)
        for state, names in states:
            find = Finder(state, names)
            weight = find.bias(module) if role is Role.BIAS_DIFFERENCE else find.weight(module)
            if weight is not None:
                shape = state[weight].shape
                sizes = {Role.DOWN: (RANK, shape[-1]), Role.UP: (shape[0], RANK)}
                out[key] = 0.1 * torch.randn(sizes.get(role, tuple(shape)))
                break
    return out


def lively(model: Any) -> Any:
    """Random biases and norms too, so that a wrong key shows."""
    with torch.no_grad():
        for p in model.parameters():
            if p.ndim <= 1:
                p.add_(0.1 * torch.randn_like(p))
    return model.eval()


def tokenizer_of_words() -> Any:
    """A tokenizer of letters and some words, for prompts of any text."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    words = (
        "the",
        "a",
        "of",
        "in",
        "at",
        "with",
        "and",
        "camera",
        "moves",
        "forward",
        "snow",
        "desert",
        "forest",
        "dawn",
        "dusk",
    )
    pieces = [
        "<pad>",
        "</s>",
        "<unk>",
        "▁",
        *("▁" + w for w in words),
        *string.ascii_letters,
        *string.digits,
        *string.punctuation,
    ]
    tokenizer = Tokenizer(models.Unigram([(p, 0.0 if len(p) > 3 else -2.0) for p in pieces], unk_id=2))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")
