"""A prompt edit that takes a while."""

from __future__ import annotations

from dataclasses import dataclass

STEPS = 4
"""Conditions that a transition goes through, evenly in time: each is a call of its own at most."""


@dataclass
class PromptTransition:
    """From one prompt to another in STEPS shares, the first of them at once."""

    prompt: str
    before: str
    began: float
    """Seconds of the session's clock."""
    seconds: float
    """Of the whole transition."""
    done: int = 1
    """Steps taken."""

    @property
    def share(self) -> float:
        """How far it has come, in (0, 1]."""
        return self.done / STEPS

    @property
    def over(self) -> bool:
        """Whether the last step was taken."""
        return self.done >= STEPS

    @property
    def due(self) -> float:
        """When the next step is to be taken, seconds; never when it is over."""
        return float("inf") if self.over else self.began + self.seconds * self.done / STEPS

    def step(self) -> None:
        """Takes the next step."""
        self.done += 1
