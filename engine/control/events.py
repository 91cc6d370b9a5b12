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


class Change(StrEnum):
    """What is new in a condition."""

    PRESS = "press"
    """An action begins: however short it is held, a group must show it."""
    RELEASE = "release"
    """An action ends."""
    PROMPT = "prompt"
    """Other words, which a model may need longer to take in."""
    OTHER = "other"


class Hold(StrEnum):
    """Why playback stands still."""

    START = "start"
    """Nothing was made yet."""
    STALL = "stall"
    """What is due is not there."""
    PAUSE = "pause"
    """A person holds it: this time is nobody's latency."""


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
    """Seconds after which a call is taken for hung and abandoned, at least. [ours]"""
    patience: float = 4.0
    """A call has so many times its own estimate, where that is more than `hard_limit`, and twice as long after each that was
    abandoned. 0: `hard_limit` alone, as before schema 3."""
    attempts: int = 2
    """Calls in a row that may fail before the machine rests."""
    retry_after: float = 2.0
    """Seconds of the first rest, which doubles up to RETRY_MOST; a new condition ends it. 0: it rests until then, as before
    schema 3."""
    steps: int = 0
    """Denoising steps of a call, which its estimate depends on; 0: unknown."""
    history: str = ""
    """The history policy, which its estimate depends on as well."""
    answers: tuple[int, ...] = ()
    """Lengths that a call which answers an update may have instead of `window`; none: the paper's method. [ours]"""
    aim: float = 0.0
    """Seconds within which an update should be answered: of the answers that do, the longest is taken. 0: the shortest."""
    wait: float | None = None
    """Where worlds share a sampler: seconds that others may hold it when a call of this one is due. Calls then wait for SlotGranted.
    None: it is this world's own. [ours]"""
    preempt: int = 0
    """Calls in a row that are stopped at a step for a newer condition, at most; 0: the paper's method, which stops none. [ours]"""
    ahead: int = 0
    """In idle time an alternative is sampled for the likeliest next condition, so many groups after the first branch that could be in
    time; 0: none is. [ours]"""

    def __post_init__(self) -> None:
        counts = (self.window, self.phase, self.block, self.attempts)
        least = (
            self.patience,
            self.retry_after,
            self.steps,
            self.aim,
            self.preempt,
            self.ahead,
            self.wait or 0.0,
            *self.answers,
        )
        if self.fps <= 0 or min(counts) < 1 or self.hard_limit <= 0 or min(least) < 0:
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
    change: Change = Change.OTHER
    guessed: bool = False
    """It is what was guessed after the version before it: see `Guessed`."""


@dataclass(frozen=True, slots=True)
class Guessed:
    """The inputs of the likeliest condition after the newest version are there. [ours]"""

    at: float
    after: int
    """That version."""


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
class CallProgressed:
    """A call has done so many of its denoising steps; none: its sampling begins."""

    at: float
    call: int
    step: int
    steps: int


@dataclass(frozen=True, slots=True)
class GroupsReady:
    """The next groups of a call are deliverable."""

    at: float
    call: int
    spans: tuple[int, ...]
    """Frames of each."""
    sampled: float | None = None
    """When its sampling ended and the decode of the first group could begin, where that is known."""


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
    """When it was due."""
    position: int
    shown: float | None = None
    """When it was seen, where that is known: later than due when the window was busy."""


@dataclass(frozen=True, slots=True)
class GroupDecoded:
    """The frames of a cached group are made."""

    at: float
    position: int
    seconds: float
    """That it took."""


@dataclass(frozen=True, slots=True)
class GroupLost:
    """The frames of a group cannot be made: it cannot play."""

    at: float
    position: int
    reason: str


@dataclass(frozen=True, slots=True)
class TimerFired:
    """The time that SetTimer asked for has come."""

    at: float


@dataclass(frozen=True, slots=True)
class PlaybackHeld:
    """Playback stands still."""

    at: float
    why: Hold = Hold.STALL
    since: float | None = None
    """When that began, where it was before `at`."""


@dataclass(frozen=True, slots=True)
class PlaybackReleased:
    """A reason for playback to stand still is gone."""

    at: float
    why: Hold | None = None
    """None: there is no reason any more."""
    since: float | None = None
    """When it was gone, where that was before `at`."""


@dataclass(frozen=True, slots=True)
class PolicyChanged:
    """Another policy holds from the next call on."""

    at: float
    policy: Policy


@dataclass(frozen=True, slots=True)
class SlotGranted:
    """The sampler that worlds share is this one's for its next call."""

    at: float


@dataclass(frozen=True, slots=True)
class SessionClosed:
    """The world is left: nothing of it will play any more."""

    at: float


Event = (
    ConditionChanged
    | Guessed
    | InputsReady
    | InputsRejected
    | CallProgressed
    | GroupsReady
    | RequestFinished
    | GroupStarted
    | GroupDecoded
    | GroupLost
    | TimerFired
    | PlaybackHeld
    | PlaybackReleased
    | PolicyChanged
    | SlotGranted
    | SessionClosed
)


# --- commands ---------------------------------------------------------------------------------------------------------


class Reason(StrEnum):
    """Why a call is launched or predictions are revoked."""

    UPDATE = "update"
    REFILL = "refill"
    ALTERNATIVE = "alternative"
    """In idle time, for a condition that may come."""
    LOST = "lost"
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
    """Of an alternative, the one that it would follow: it is sampled under the condition that was guessed."""
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
class Take:
    """The condition came that an alternative was sampled for: its groups are predictions now."""

    call: int
    entries: tuple[Prediction, ...]


@dataclass(frozen=True, slots=True)
class Promote:
    """The condition came that the alternative in flight is sampled for: it is an ordinary call now, under this version."""

    call: int
    version: int


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
    """How an update ended, or that it was received. wait, generate, queue: R, C and Q of an applied one, in seconds, without
    the time that a person held playback."""

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
    paused: float = 0.0
    """Seconds between arrival and picture in which a person held playback."""

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


Command = Launch | Revoke | Restore | Take | Promote | Abandon | Receipt | SetTimer | Notice
