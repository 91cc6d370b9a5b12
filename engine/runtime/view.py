"""What a window may know of a session: one immutable picture of it, made by the engine thread after every event."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GroupMark:
    """A group on the ribbon. start, span: media frames. fate: delivered, locked, cached or revoked; at: when revoked."""

    position: int
    start: int
    span: int
    version: int
    fate: str
    at: float = 0.0


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


@dataclass(frozen=True, slots=True)
class UpdateMark:
    """An update on its way: media time of arrival (seconds), the first media frame it changed (-1: not yet), and its
    phase: received, generating, live, superseded, rejected or dropped. L in seconds, once live."""

    version: int
    kind: str
    text: str
    arrival: float
    frame: int
    phase: str
    R: float = 0.0
    C: float = 0.0
    Q: float = 0.0

    @property
    def L(self) -> float:  # noqa: N802 (the paper's name)
        return self.R + self.C + self.Q


@dataclass(frozen=True, slots=True)
class View:
    """Registers and figures. Times are seconds."""

    state: str = "loading"
    groups: tuple[GroupMark, ...] = ()
    revoked: tuple[GroupMark, ...] = ()
    flight: FlightMark | None = None
    updates: tuple[UpdateMark, ...] = ()
    delivered: int = 0
    locked: int = 0
    end: int = 0
    cached: int = 0
    cached_seconds: float = 0.0
    window: int = 0
    commit: str = "speculative"
    fps: float = 16.0
    C: float | None = None
    last: UpdateMark | None = None
    L50: float | None = None
    stalls: int = 0
    stall_seconds: float = 0.0
    discarded: float = 0.0
    prompt: str = ""
    keys: tuple[str, ...] = ()
    version: int = 0
    paused: bool = False
    message: str = ""
