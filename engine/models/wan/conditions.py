"""Conditions of Wan models: prompts to embeddings, keys to actions or words."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from torch import Tensor
from torch.nn.functional import pad

from engine.control.conditions import Condition
from engine.models.action_words import with_actions
from engine.models.interface import ConditionError, ModelSpec
from engine.models.text_embeddings import PromptEncoder
from engine.models.wan.sampling_config import SamplingConfig

TEXTS = 256
"""Prompts that are kept in memory."""


@dataclass(frozen=True)
class Text:
    """A prompt's embedding (1, tokens, dim)."""

    words: str
    embedding: Tensor = field(repr=False)


@dataclass(frozen=True)
class WanInputs:
    """Inputs of a call. held: actions of all its latents; first: of its first one, with what was tapped."""

    text: Text
    negative: Text | None
    held: tuple[str, ...]
    first: tuple[str, ...]


class WanConditions:
    """Makes inputs of calls. Thread-safe."""

    def __init__(
        self, spec: ModelSpec, config: SamplingConfig, encoder: PromptEncoder, words: Mapping[str, str]
    ) -> None:
        """words: actions in words, for models without a camera."""
        self._spec, self._config, self._encoder, self._words = spec, config, encoder, words
        self._texts: dict[str, Text] = {}
        self._lock = threading.Lock()

    def prepare(self, condition: Condition) -> WanInputs:
        """Raises ConditionError."""
        if len(condition.prompt) > self._spec.text_limit:
            raise ConditionError(f"the prompt is too long: at most {self._spec.text_limit} characters are read")
        said = condition.prompt
        if self._config.keys == "words":
            said = with_actions(said, (*condition.keys, *condition.tapped), self._words)
        try:
            text = self.text(said)
            if condition.share < 1:
                text = self._between(self.text(condition.before), text, condition.share)
            avoided = self._config.negative if condition.negative is None else condition.negative
            negative = self.text(avoided) if self._config.guidance != 1 else None
        except ValueError as e:
            raise ConditionError(str(e)) from e
        return WanInputs(text, negative, condition.keys, (*condition.keys, *condition.tapped))

    def text(self, words: str) -> Text:
        """The same words give the same object. Raises ValueError when they do not fit."""
        with self._lock:
            if words in self._texts:
                return self._texts[words]
        return self.remember(Text(words, self._encoder.encode(words)))

    def _between(self, before: Text, after: Text, share: float) -> Text:
        """An embedding on the way from one prompt to another; what one has no token for counts as empty, as its padding does."""
        words = f"{before.words} -> {after.words} ({share:g})"
        with self._lock:
            if words in self._texts:
                return self._texts[words]
        n = max(before.embedding.shape[1], after.embedding.shape[1])
        a, b = (pad(t.embedding, (0, 0, 0, n - t.embedding.shape[1])) for t in (before, after))
        return self.remember(Text(words, a + (b - a) * share))

    def remember(self, text: Text) -> Text:
        """Takes an embedding that was made elsewhere."""
        with self._lock:
            if len(self._texts) > TEXTS:
                self._texts.clear()
            return self._texts.setdefault(text.words, text)

    def close(self) -> None:
        """Lets the text encoder go."""
        self._encoder.release()
