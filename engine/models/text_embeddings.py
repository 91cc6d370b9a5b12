"""Prompts to embeddings by UMT5, cached in memory and on disk by model and text.

The encoder is larger than the small Wan models: it lives on the CPU, on the sampler's device, or nowhere between two new
prompts (it is then read again for the next unknown text).
"""

from __future__ import annotations

import hashlib
import html
import logging
import re
import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.models.interface import ConditionError
from engine.models.weight_files import LayoutError

log = logging.getLogger(__name__)

TOKENS = 512
"""Length that Wan's embeddings are padded to with zeros."""
IN_MEMORY = 128


def clean(text: str) -> str:
    """The text as diffusers' pipelines clean it (without ftfy, as they do where that is not installed)."""
    return re.sub(r"\s+", " ", html.unescape(html.unescape(text)).strip()).strip()


def read_tokenizer(folder: Path) -> Any:
    """The tokenizer of a checkpoint. Code that lies in the folder is never run, nor asked about. Raises LayoutError."""
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError) as e:
        raise LayoutError(f"{folder} holds no tokenizer that can be read: {str(e).strip().splitlines()[0]}") from e


class EmbeddingCache:
    """Embeddings on disk: one small safetensors file a text, without its padding. A file that cannot be read is made again."""

    def __init__(self, folder: Path | None, model: str) -> None:
        self._folder = folder
        self._model = model

    def _file(self, text: str) -> Path | None:
        if self._folder is None:
            return None
        name = hashlib.sha256((self._model + "\n" + text).encode()).hexdigest()
        return self._folder / f"{name}.safetensors"

    def get(self, text: str) -> Tensor | None:
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        file = self._file(text)
        if file is None or not file.exists():
            return None
        try:
            return load_file(str(file))["embedding"]
        except (SafetensorError, KeyError, OSError) as e:
            log.warning("the cached embedding %s cannot be read (%s) and is made again", file.name, e)
            return None

    def put(self, text: str, embedding: Tensor) -> None:
        from safetensors.torch import save_file

        file = self._file(text)
        if file is None:
            return
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            part = file.with_suffix(".part")
            save_file({"embedding": embedding.contiguous().cpu()}, str(part))
            part.replace(file)
        except OSError as e:
            log.warning("the embedding could not be cached: %s", e)


class PromptEncoder:
    """Embeddings (1, TOKENS, dim) of prompts. Thread-safe."""

    def __init__(
        self,
        load: Callable[[], tuple[Any, Any]],
        cache: EmbeddingCache,
        device: torch.device,
        dtype: torch.dtype,
        release: bool = False,
    ) -> None:
        """load: reads (tokenizer, encoder); called when a text has to be encoded and the encoder is not there. release: it is
        let go after each new text."""
        self._load, self._cache, self._device, self._dtype, self._release = load, cache, device, dtype, release
        self._parts: tuple[Any, Any] | None = None
        self._memory: OrderedDict[str, Tensor] = OrderedDict()
        self._lock = threading.Lock()
        self.encoded = 0

    def length(self, text: str) -> int:
        """Tokens of a text; reads the tokenizer. Used to refuse what would be cut off."""
        with self._lock:
            tokenizer, _ = self._open()
            return len(tokenizer(clean(text)).input_ids)

    def encode(self, text: str) -> Tensor:
        """(1, TOKENS, dim) on the sampler's device. Raises ConditionError when the text does not fit."""
        text = clean(text)
        with self._lock:
            if text in self._memory:
                self._memory.move_to_end(text)
                return self._memory[text]
            short = self._cache.get(text)
            if short is None:
                short = self._run(text)
                self._cache.put(text, short)
            out = torch.zeros(1, TOKENS, short.shape[-1], dtype=self._dtype, device=self._device)
            out[0, : len(short)] = short.to(self._device, self._dtype)
            self._memory[text] = out
            while len(self._memory) > IN_MEMORY:
                self._memory.popitem(last=False)
            return out

    def release(self) -> None:
        """Frees the encoder; known texts stay."""
        with self._lock:
            self._parts = None

    def _open(self) -> tuple[Any, Any]:
        if self._parts is None:
            self._parts = self._load()
        return self._parts

    @torch.inference_mode()
    def _run(self, text: str) -> Tensor:
        tokenizer, encoder = self._open()
        ids = tokenizer(text, return_tensors="pt", add_special_tokens=True).input_ids
        if ids.shape[1] > TOKENS:
            raise ConditionError(
                f"the prompt is too long: {ids.shape[1]} tokens, at most {TOKENS} are read; shorten it"
            )
        where = next(encoder.parameters()).device
        mask = torch.ones_like(ids)
        out = encoder(ids.to(where), mask.to(where)).last_hidden_state[0]
        self.encoded += 1
        if self._release:
            self._parts = None
        return out.float().cpu()
