"""From keys and prompts to conditions: one complete, numbered condition for every change."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Condition:
    """What the user wants, complete: one version of it conditions one call."""

    version: int
    prompt: str
    keys: tuple[str, ...] = ()
    """Actions held, sorted."""
    tapped: tuple[str, ...] = ()
    """Actions pressed and released again before any call could see them; they act for the first group only."""
    before: str = ""
    """In a transition, the prompt that it comes from."""
    share: float = 1.0
    """In a transition, how far it has come, in [0, 1]."""
    negative: str | None = None
    """What not to show; None for the model's own negative prompt."""


class ConditionBook:
    """Follows the keys that are held and the prompts, and numbers every change.

    A press that was released before any call could take it in is not lost: it stays in the condition as a tap, which acts
    for one group. Auto-repeat (a press of what is held) and releases of what is not held change nothing.
    """

    def __init__(self, prompt: str, version: int = 0, negative: str | None = None) -> None:
        """version: of the first condition, in which nothing is held. negative: see `Condition`."""
        self.current = Condition(version, prompt, negative=negative)
        self._launched = version
        self._pressed_in: dict[str, int] = {}
        self._taps: dict[str, int] = {}

    def press(self, action: str) -> Condition | None:
        """The new condition, or None when nothing changed."""
        if action in self._pressed_in:
            return None
        self._pressed_in[action] = self.current.version + 1
        return self._next()

    def release(self, action: str) -> Condition | None:
        """The new condition, or None when the action was not held."""
        pressed = self._pressed_in.pop(action, None)
        if pressed is None:
            return None
        if pressed > self._launched:
            self._taps[action] = pressed
        return self._next()

    def release_all(self) -> Condition | None:
        """Releases everything: focus was lost, a dialog opened, or playback paused."""
        if not self._pressed_in:
            return None
        self._pressed_in.clear()
        self._taps.clear()
        return self._next()

    def set_prompt(self, prompt: str, before: str = "", share: float = 1.0) -> Condition | None:
        """A prompt edit, or a step on the way to it. The same words again are no change."""
        c = self.current
        if (prompt, share) == (c.prompt, c.share) and (share == 1 or before == c.before):
            return None
        return self._next(prompt=prompt, before=before if share < 1 else "", share=share)

    def set_negative_prompt(self, negative: str | None) -> Condition | None:
        """Another negative prompt."""
        return None if negative == self.current.negative else self._next(negative=negative)

    def launched(self, version: int) -> None:
        """A call took `version` in: taps up to it have had their group."""
        self._launched = max(self._launched, version)
        self._taps = {a: v for a, v in self._taps.items() if v > self._launched}

    def revert_prompt(self, prompt: str) -> None:
        """The last prompt edit was rejected: later conditions keep this one."""
        self.current = replace(self.current, prompt=prompt, before="", share=1.0)

    def _next(self, **changes: Any) -> Condition:
        keys = tuple(sorted(self._pressed_in))
        taps = tuple(sorted(a for a in self._taps if a not in self._pressed_in))
        self.current = replace(self.current, version=self.current.version + 1, keys=keys, tapped=taps, **changes)
        return self.current
