"""What a person chooses for a session, and what a new world starts from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from engine.control.events import Commit
from engine.errors import Refused
from engine.files import is_text
from engine.models.interface import HistoryPolicy, ModelSpec

PREEMPTED = 2
"""Calls in a row that are stopped for a newer condition at most: a person who plays the keys like a piano still sees something. [ours]"""
MOST_AIM = 60.0
MOST_STEPS = 50
"""Of a call; more are taken for a slip of the keyboard."""


def refuse_half_characters(text: str | None) -> None:
    """Raises Refused for a text that no tokenizer and no file takes: see `engine.files.is_text`."""
    if text is not None and not is_text(text):
        raise Refused("the text holds half a character (a lone surrogate): type or paste it again")


@dataclass(frozen=True, slots=True)
class StartFrom:
    """What a new world starts from: `StartFrom.model()` or `StartFrom.file(path)`."""

    path: Path | None = None

    @classmethod
    def model(cls) -> StartFrom:
        """What the model starts from by itself."""
        return cls()

    @classmethod
    def file(cls, path: Path) -> StartFrom:
        """The picture, or the end of the film, in a file."""
        return cls(path)


@dataclass(frozen=True)
class Settings:
    """What a person chooses."""

    prompt: str = ""
    seed: int = 0
    window: int | None = None
    """K, latents of a call; None: the model's own."""
    steps: int | None = None
    """Denoising steps of a call; None: the model's own."""
    commit: Commit = Commit.SPECULATIVE
    history: HistoryPolicy | None = None
    """None: the model's own."""
    answer: bool | None = None
    """Whether a key or prompt is answered by a short call, which a refill of K follows: `Policy.answers`. None: as the model's spec
    has it."""
    preempt: bool | None = None
    """Whether a call is stopped at a step when something newer makes it worthless: `Policy.preempt`. None: as the model's spec has it."""
    aim: float = 0.0
    """With `answer`: seconds within which an update should be seen; the longest answer that does is taken. 0: the shortest."""
    latents: bool = False
    """At the end, the kept latents of the take on show go into the session's folder."""

    def checked(self, spec: ModelSpec) -> Settings:
        """With everything filled in. Raises Refused with what is allowed."""
        refuse_half_characters(self.prompt)
        window = spec.window if self.window is None else self.window
        spec.check_window(window)
        steps = spec.steps if self.steps is None else self.steps
        if not 1 <= steps <= MOST_STEPS:
            raise Refused(f"steps = {steps} is out of range: 1 to {MOST_STEPS}")
        if not 0 <= self.aim <= MOST_AIM:
            raise Refused(f"aim = {self.aim:g} is out of range: 0 to {MOST_AIM:g} s")
        history = spec.history[0] if self.history is None else self.history
        if history not in spec.history:
            known = ", ".join(h.value for h in spec.history)
            raise Refused(f"{spec.name} does not know the history policy {history.value}; it has {known}")
        if not 0 <= self.seed < 2**63:
            raise Refused(f"seed = {self.seed} is out of range: 0 to 2^63 - 1")
        answer = spec.short_answers if self.answer is None else self.answer
        preempt = spec.short_answers if self.preempt is None else self.preempt
        return replace(self, window=window, steps=steps, history=history, answer=answer, preempt=preempt)
