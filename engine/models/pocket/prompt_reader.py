"""Reads prompts for the pocket world: word embeddings that the package wordllama ships, and a small trained reader.

wordllama's own loader asks the network for its tokenizer; its two files are read directly instead.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import torch
from torch import Tensor, nn

from engine.models.pocket.network import ATTRIBUTES

EMBEDDING = 256
LONGEST = 96
"""Tokens that are read; a longer prompt is refused before it gets here."""


def _package() -> Path:
    """Where wordllama's files are; in a bundle, which has the files alone. Raises FileNotFoundError."""
    bundle = getattr(sys, "_MEIPASS", None)
    if bundle is not None:
        return Path(bundle) / "wordllama"
    spec = importlib.util.find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("the package wordllama is missing: install foreland again")
    return Path(spec.origin).parent


class Words:
    """Tokens and their embeddings."""

    def __init__(self) -> None:
        from safetensors.torch import load_file
        from tokenizers import Tokenizer

        root = _package()
        self._tokenizer = Tokenizer.from_file(str(root / "tokenizers" / "l2_supercat_tokenizer_config.json"))
        self._tokenizer.no_padding()
        self._table = load_file(str(root / "weights" / "l2_supercat_256.safetensors"))["embedding.weight"]

    def tokens(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text.lower(), add_special_tokens=False).ids)

    def embed(self, texts: list[str]) -> tuple[Tensor, Tensor]:
        """(n, longest, 256) float32 embeddings and (n, longest) bool, True where there is a token."""
        ids = [self.tokens(t)[:LONGEST] for t in texts]
        width = max(1, max(map(len, ids)))
        mask = torch.zeros(len(ids), width, dtype=torch.bool)
        out = torch.zeros(len(ids), width, EMBEDDING)
        for i, row in enumerate(ids):
            out[i, : len(row)] = self._table[row].float()
            mask[i, : len(row)] = True
        return out, mask


class Reader(nn.Module):
    """Embeddings to soft attributes: a convolution over neighbouring tokens, the strongest answer of each feature."""

    def __init__(self, width: int = 160) -> None:
        super().__init__()
        self.near = nn.Conv1d(EMBEDDING, width, 3, padding=1)
        self.mix = nn.Linear(2 * width, width)
        self.heads = nn.ModuleList(nn.Linear(width, n + 1) for n in ATTRIBUTES)

    def forward(self, embedded: Tensor, mask: Tensor) -> list[Tensor]:
        """Logits, one (n, classes + 1) an attribute; the last class is 'not said'."""
        h = torch.relu(self.near(embedded.transpose(1, 2))).transpose(1, 2)
        h = h.masked_fill(~mask[..., None], 0)
        top = h.amax(1)
        mean = h.sum(1) / mask.sum(1, keepdim=True).clamp_min(1)
        h = torch.relu(self.mix(torch.cat((top, mean), 1)))
        return [head(h) for head in self.heads]

    @torch.no_grad()
    def read(self, words: Words, text: str) -> Tensor:
        """(CONDITION,) probabilities, sharpened: what is said is said, what is not is left to the world."""
        return torch.cat([(2 * x).softmax(1) for x in self(*words.embed([text]))], 1)[0]
