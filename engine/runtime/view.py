"""What a window may know of a session: one immutable picture of it, made when it is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from engine.control.controller import State
from engine.control.events import Commit

REVOKED_SECONDS = 3.0
"""How long a revoked suffix stays in the view."""


class Fate(StrEnum):
    """What became of a group, so far."""

    DELIVERED = "delivered"
    LOCKED = "locked"
    CACHED = "cached"
    REVOKED = "revoked"


class UpdateKind(StrEnum):
    """What an update came from: the beginning of a world, a key, or an edit of a prompt."""

    START = "start"
    KEY = "key"
    PROMPT = "prompt"


class UpdatePhase(StrEnum):
    """How far an update has come; the last four are ends."""

    RECEIVED = "received"
    GENERATING = "generating"
    LIVE = "live"
    SUPERSEDED = "superseded"
    REJECTED = "rejected"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class GroupMark:
    """A group on the ribbon."""

    position: int
    start: int
    """Media frame that it begins at."""
    span: int
    """Frames."""
    version: int
    fate: Fate
    at: float = 0.0
    """When it was revoked, seconds of the engine's clock."""


@dataclass(frozen=True, slots=True)
class FlightMark:
    """The call in progress: groups [branch, branch + window) from media frame `start`, and its denoising step."""

    call: int
    branch: int
    window: int
    start: int
    version: int
    step: int
    steps: int
    answer: bool = False
    """Whether it answers a key or prompt with fewer latents than a refill has."""
    stopped: float | None = None
    """When it was stopped for a newer condition, seconds of the engine's clock; None: it runs."""


@dataclass(frozen=True, slots=True)
class UpdateMark:
    """An update on its way: media time of arrival (seconds), the first media frame it changed (-1: not yet), and how
    far it has come. R, C, Q and L in seconds, once live.

    line and display are of a world at the other end of a line: from the key to the engine, and from the group's start there to its
    first picture here."""

    version: int
    kind: UpdateKind
    text: str
    arrival: float
    frame: int
    phase: UpdatePhase
    R: float = 0.0
    C: float = 0.0
    Q: float = 0.0
    line: float = 0.0
    display: float = 0.0

    @property
    def L(self) -> float:  # noqa: N802 (the paper's name)
        """Latency of the update, seconds."""
        return self.line + self.R + self.C + self.Q + self.display


@dataclass(frozen=True, slots=True)
class View:
    """Registers and figures. Times are seconds."""

    state: State | None = None
    """None while the model loads."""
    groups: tuple[GroupMark, ...] = ()
    revoked: tuple[GroupMark, ...] = ()
    flight: FlightMark | None = None
    stopped: FlightMark | None = None
    """The last call that was stopped for a newer condition, while it fades."""
    updates: tuple[UpdateMark, ...] = ()
    delivered: int = 0
    locked: int = 0
    end: int = 0
    cached: int = 0
    cached_seconds: float = 0.0
    window: int = 0
    commit: Commit = Commit.SPECULATIVE
    fps: float = 16.0
    C: float | None = None
    answer_window: int = 0
    """K of a call that would answer a key now; 0: not known."""
    answer_seconds: float = 0.0
    """From a key to its picture by that call, as foreseen."""
    last: UpdateMark | None = None
    L50: float | None = None
    stalls: int = 0
    stall_seconds: float = 0.0
    discarded: float = 0.0
    prompt: str = ""
    keys: tuple[str, ...] = ()
    version: int = 0
    paused: bool = False
    failures: int = 0
    """Calls in a row that failed."""
    message: str = ""
    reading: str = ""
    """What the model understood of the newest prompt, in a line; '' for models that do not say."""
    shared: int = 0
    """Other worlds on the same sampler."""
    epoch: int = 0
    """The player's: which world this is a picture of."""
