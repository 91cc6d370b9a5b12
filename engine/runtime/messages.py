"""What the engine thread is told: by a person (these are in the session log), by the player, by the threads that help it.

`Session.handle` takes them. Times are seconds of the engine's clock; `at` is when a key or prompt reached the application.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.control.events import Commit
from engine.models.interface import ConditionError, Group, HistoryPolicy
from engine.playback.player import PlaybackEvent
from engine.runtime.settings import StartFrom

# -- from a person -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Press:
    """An action of the key map begins."""

    action: str
    at: float


@dataclass(frozen=True, slots=True)
class Release:
    """An action ends."""

    action: str
    at: float


@dataclass(frozen=True, slots=True)
class ReleaseAll:
    """Nothing is held any more: focus was lost, or a dialog opened."""

    at: float


@dataclass(frozen=True, slots=True)
class SetPrompt:
    """Another prompt, at once or over some seconds."""

    prompt: str
    at: float
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class SetNegativePrompt:
    """Another negative prompt; None: the model's own."""

    prompt: str | None
    at: float


@dataclass(frozen=True, slots=True)
class Pause:
    """Playback was held; nothing is held down any more."""

    at: float


@dataclass(frozen=True, slots=True)
class Resume:
    """Playback goes on."""

    at: float


@dataclass(frozen=True, slots=True)
class NewWorld:
    """Another world; None leaves what was."""

    prompt: str | None = None
    seed: int | None = None
    start: StartFrom | None = None


@dataclass(frozen=True, slots=True)
class Rewind:
    """Another way on after a kept group of a take."""

    take: int
    position: int


@dataclass(frozen=True, slots=True)
class Configure:
    """Other settings from the next call on; None leaves what was."""

    window: int | None = None
    steps: int | None = None
    commit: Commit | None = None
    history: HistoryPolicy | None = None
    answer: bool | None = None
    preempt: bool | None = None
    aim: float | None = None


PersonMessage = (
    Press | Release | ReleaseAll | SetPrompt | SetNegativePrompt | Pause | Resume | NewWorld | Rewind | Configure
)

# -- from the engine's own parts ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Played:
    """What the player did in one of its worlds; frames are left out."""

    events: tuple[PlaybackEvent, ...]
    epoch: int


@dataclass(frozen=True, slots=True)
class InputsMade:
    """A condition's inputs are made, or cannot be."""

    version: int
    inputs: Any | ConditionError


@dataclass(frozen=True, slots=True)
class FirstGroupDecoded:
    """The first group of a call is decoded, or cannot be."""

    call: int
    error: BaseException | None = None


@dataclass(frozen=True, slots=True)
class Decoded:
    """The frames of a group are made."""

    position: int
    seconds: float
    """That it took."""


@dataclass(frozen=True, slots=True)
class DecodeFailed:
    """A group that would play cannot be decoded, and was tried twice."""

    group: Group
    error: BaseException


@dataclass(frozen=True, slots=True)
class Granted:
    """The sampler that worlds share is this one's for its next call."""


@dataclass(frozen=True, slots=True)
class Close:
    """The session is over."""


Message = PersonMessage | Played | InputsMade | FirstGroupDecoded | Decoded | DecodeFailed | Granted | Close
