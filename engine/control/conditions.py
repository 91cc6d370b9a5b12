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
        self._made = version
        """The newest version that a call has made groups of."""
        self._carried: dict[int, frozenset[str]] = {version: frozenset()}
        """Actions that a version holds or taps, from the newest made one on."""
        self._in_call: frozenset[str] = frozenset()
        """Actions that the call in flight holds or taps."""
        self._launched = version
        """The version that it has taken in."""
        self._pressed_in: dict[str, int] = {}
        self._taps: dict[str, int] = {}
        """Actions that were let go, with the version that they were pressed in, until a call has made it."""

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
        if pressed > self._made:
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
        """A call takes `version` in: what it taps has its group, unless the call fails."""
        self._launched, self._in_call = version, self._carried.get(version, frozenset())

    def made(self, version: int) -> None:
        """The call under `version` made its groups: what it held or tapped was shown. A tap of another call, which failed, waits on."""
        self._made = max(self._made, version)
        shown = self._carried.get(version, frozenset())
        self._taps = {a: v for a, v in self._taps.items() if v > version or a not in shown}
        self._carried = {v: actions for v, actions in self._carried.items() if v >= self._made}
        self._in_call = frozenset()

    def failed(self) -> Condition | None:
        """The call that was launched made nothing. The new condition where a tap would be lost by that, or None."""
        self._in_call = frozenset()
        waiting = set(self._taps) - set(self._pressed_in)
        return self._next() if waiting - set(self.current.tapped) else None

    def revert(self, to: Condition, changed: bool) -> Condition:
        """The last edit was rejected: the words of an earlier condition are in force again. changed: as a new condition."""
        words: dict[str, Any] = {"prompt": to.prompt, "negative": to.negative, "before": "", "share": 1.0}
        if changed:
            return self._next(**words)
        self.current = replace(self.current, **words)
        return self.current

    def _next(self, **changes: Any) -> Condition:
        keys = tuple(sorted(self._pressed_in))
        under_way = {a for a, v in self._taps.items() if v <= self._launched and a in self._in_call}
        taps = tuple(sorted(set(self._taps) - under_way - set(self._pressed_in)))
        self.current = replace(self.current, version=self.current.version + 1, keys=keys, tapped=taps, **changes)
        self._carried[self.current.version] = frozenset((*keys, *taps))
        return self.current
