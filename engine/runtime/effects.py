"""What a session asks of whoever runs it: decoding, and inputs that are made elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from engine.control.conditions import Condition
from engine.models.interface import Group


class Effects(Protocol):
    """Passed to a `Session` when it is made. All but `decode_until` are called from the session's thread."""

    def submit(self, groups: Sequence[tuple[Group, int]], call: int | None = None) -> None:
        """Decode these groups, each with the media frame that it begins at, in order and in time to be played.

        call: they are a new call's. When the first of them is decoded, FirstGroupDecoded(call) comes, and that group plays
        from `present` on only: the controller hears of a call before any of it can play.
        """

    def present(self, position: int) -> None:
        """The first group of the newest call, which begins at this position, may play."""

    def cancel_from(self, position: int) -> None:
        """Groups from this position on will not play: neither their decode nor their frames are wanted."""

    def decode_until(self, position: int) -> None:
        """Decode the groups up to this position now: a call needs their frames. From any thread."""

    def resume_decoder(self, groups: Sequence[Group]) -> None:
        """Decoding goes on after the last of these groups, which were delivered before; none: a new world."""

    def prepare_later(self, condition: Condition) -> bool:
        """Whether the condition's inputs are made elsewhere; InputsMade then comes. False: the session makes them at once."""
