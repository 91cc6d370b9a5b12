"""Prompts of joint models: embeddings of any shape, made once, cached in memory and on disk."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from engine.control.conditions import Condition
from engine.models.action_words import with_actions
from engine.models.interface import ConditionError, ModelSpec
from engine.models.text_embeddings import EmbeddingCache

TEXTS = 256
LONGEST = 1000
"""Tokens of a prompt."""

Encode = Callable[[str], dict[str, Tensor]]
"""A prompt to named tensors. Raises ValueError when it does not fit."""


@dataclass(frozen=True)
class AudioVideoInputs:
    """A call's condition: the words that were encoded and what they became."""

    words: str
    tensors: dict[str, Tensor] = field(repr=False)


class AudioVideoConditions:
    """Makes inputs of calls. Thread-safe. Held keys are put into words: these models have no camera."""

    def __init__(
        self,
        spec: ModelSpec,
        encode: Encode,
        close: Callable[[], None],
        cache: EmbeddingCache,
        words: Mapping[str, str],
        device: torch.device,
    ) -> None:
        self._spec, self._encode, self._close, self._cache = spec, encode, close, cache
        self._actions, self._device = words, device
        self._texts: dict[str, AudioVideoInputs] = {}
        self._lock = threading.Lock()

    def prepare(self, condition: Condition) -> AudioVideoInputs:
        """Raises ConditionError."""
        if len(condition.prompt) > self._spec.text_limit:
            raise ConditionError(f"the prompt is too long: at most {self._spec.text_limit} characters are read")
        said = with_actions(condition.prompt, (*condition.keys, *condition.tapped), self._actions)
        try:
            after = self.text(said)
            if condition.share >= 1:
                return after
            before = self.text(condition.before)
        except ValueError as e:
            raise ConditionError(str(e)) from e
        return between(before, after, condition.share)

    def text(self, words: str) -> AudioVideoInputs:
        """The same words give the same object. Raises ValueError."""
        with self._lock:
            if words in self._texts:
                return self._texts[words]
            tensors = self._cached(words)
            return self._remember(AudioVideoInputs(words, {k: v.to(self._device) for k, v in tensors.items()}))

    def remember(self, prepared: AudioVideoInputs) -> AudioVideoInputs:
        """Takes what was made elsewhere."""
        with self._lock:
            return self._remember(prepared)

    def _remember(self, prepared: AudioVideoInputs) -> AudioVideoInputs:
        if len(self._texts) > TEXTS:
            self._texts.clear()
        return self._texts.setdefault(prepared.words, prepared)

    def _cached(self, words: str) -> dict[str, Tensor]:
        names = ("", "audio", "mask")
        there = {n: t for n in names if (t := self._cache.get(f"{n}|{words}")) is not None}
        if "" in there:
            return {n or "text": t for n, t in there.items()}
        made = self._encode(words)
        for name, tensor in made.items():
            self._cache.put(f"{'' if name == 'text' else name}|{words}", tensor)
        return made

    def close(self) -> None:
        """Lets the text encoder go."""
        self._close()


def between(before: AudioVideoInputs, after: AudioVideoInputs, share: float) -> AudioVideoInputs:
    """On the way from one prompt to another, where both have one shape; else the nearer one."""
    words = f"{before.words} -> {after.words} ({share:g})"
    same = all(before.tensors[k].shape == after.tensors[k].shape for k in after.tensors)
    if not same:
        return AudioVideoInputs(words, (after if share >= 0.5 else before).tensors)
    mixed = {}
    for name, there in after.tensors.items():
        here = before.tensors[name]
        mixed[name] = here + (there - here) * share if there.is_floating_point() else there
    return AudioVideoInputs(words, mixed)
