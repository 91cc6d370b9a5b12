"""What the controller is told (events), what it answers (commands), and what it decides by (a policy): plain frozen data.

Times are seconds of one monotonic clock, positions count groups (latent frames), spans and starts count frames of media time.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Commit(StrEnum):
    """When a new condition may take effect: at the first group that can still change, or at the end of what is predicted."""

    SPECULATIVE = "speculative"
    CHUNK = "chunk"


@dataclass(frozen=True, slots=True)
class Policy:
    """What a session decides by. Raises ValueError when it is impossible."""

    fps: float
    """Frames a second of media time."""
    window: int
    """K: latents of a call."""
    commit: Commit = Commit.SPECULATIVE
    phase: int = 1
    """Branch points are the positions p with (p - phase_offset) % phase == 0."""
    phase_offset: int = 0
    block: int = 1
    """Latents of a block of the model. A branch keeps whole blocks, counted from the start of the call that sampled them."""
    hard_limit: float = 60.0
    """Seconds after which a call is taken for hung and abandoned. [ours]"""
    attempts: int = 2
    """Calls in a row that may fail before the machine waits for a new condition."""

    def __post_init__(self) -> None:
        counts = (self.window, self.phase, self.block, self.attempts)
        if self.fps <= 0 or min(counts) < 1 or self.hard_limit <= 0:
            raise ValueError(f"impossible policy: {self}")


# --- events -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ConditionChanged:
    """A new condition arrived."""

    at: float
    version: int
    arrival: float
    """When the key or prompt reached the application; not after `at`."""
    inputs_ready: bool = False


@dataclass(frozen=True, slots=True)
class InputsReady:
    """Everything that the version needs (embedding, action tensor, image) is there."""

    at: float
    version: int


@dataclass(frozen=True, slots=True)
class InputsRejected:
    """The version cannot be used; the old one stays in force."""

    at: float
    version: int
    reason: str


@dataclass(frozen=True, slots=True)
class GroupsReady:
    """The next groups of a call are deliverable."""

    at: float
    call: int
    spans: tuple[int, ...]
    """Frames of each."""


@dataclass(frozen=True, slots=True)
class RequestFinished:
    """The call's worker is free."""

    at: float
    call: int
    error: str = ""
    """Empty when it went well."""


@dataclass(frozen=True, slots=True)
class GroupStarted:
    """A group starts playing."""

    at: float
    position: int


@dataclass(frozen=True, slots=True)
class TimerFired:
    """The time that SetTimer asked for has come."""

    at: float


@dataclass(frozen=True, slots=True)
class PlaybackHeld:
    """Playback stands still: it was paused, or it stalled."""

    at: float


@dataclass(frozen=True, slots=True)
class PlaybackReleased:
    """Playback started or goes on."""

    at: float


@dataclass(frozen=True, slots=True)
class PolicyChanged:
    """Another policy holds from the next call on."""

    at: float
    policy: Policy


@dataclass(frozen=True, slots=True)
class SessionClosed:
    """The world is left: nothing of it will play any more."""

    at: float


Event = (
    ConditionChanged
    | InputsReady
    | InputsRejected
    | GroupsReady
    | RequestFinished
    | GroupStarted
    | TimerFired
    | PlaybackHeld
    | PlaybackReleased
    | PolicyChanged
    | SessionClosed
)


# --- commands ---------------------------------------------------------------------------------------------------------


class Reason(StrEnum):
    """Why a call is launched or predictions are revoked."""

    UPDATE = "update"
    REFILL = "refill"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Prediction:
    """One predicted group: where it plays, which call made it, its index there, and the version that it was made under."""

    position: int
    call: int
    source: int
    start: int
    span: int
    version: int


@dataclass(frozen=True, slots=True)
class Launch:
    """Sample `window` latents from position `branch` on, under `version`."""

    call: int
    branch: int
    window: int
    version: int
    reason: Reason
    late: float = 0.0
    """Seconds by which the branch's deadline is missed."""


@dataclass(frozen=True, slots=True)
class Revoke:
    """These predictions will not play."""

    entries: tuple[Prediction, ...]
    reason: Reason


@dataclass(frozen=True, slots=True)
class Restore:
    """A failed call gives back what it had revoked."""

    entries: tuple[Prediction, ...]


@dataclass(frozen=True, slots=True)
class Abandon:
    """Stop the call; whatever it still sends is dropped."""

    call: int
    reason: str


class Outcome(StrEnum):
    """What became of a condition."""

    RECEIVED = "received"
    APPLIED = "applied"
    SUPERSEDED = "superseded"
    REJECTED = "rejected"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class Receipt:
    """How an update ended, or that it was received. wait, generate, queue: R, C and Q of an applied one, in seconds."""

    version: int
    outcome: Outcome
    at: float
    arrival: float
    position: int = -1
    """Of the group that showed it first."""
    by: int = -1
    """The version that superseded it."""
    wait: float = 0.0
    generate: float = 0.0
    queue: float = 0.0
    reason: str = ""

    @property
    def latency(self) -> float:
        """L = R + C + Q, seconds."""
        return self.wait + self.generate + self.queue


@dataclass(frozen=True, slots=True)
class SetTimer:
    """Send TimerFired at this time, which replaces the former one; infinity: not at all."""

    at: float


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that the person should know."""

    message: str


Command = Launch | Revoke | Restore | Abandon | Receipt | SetTimer | Notice
