"""Parts of small random checkpoints that several families need."""

from __future__ import annotations

import string
from typing import Any

import torch

SHARD = "120KB"
"""Size of a file of weights: small, so that there are several."""


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
