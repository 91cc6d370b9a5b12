"""What a window, or a script, may do with a world that plays, wherever its engine runs.

`engine.runtime.engine.Engine` is one in this process; `engine.remote.client.RemoteEngine` is one at the other end of a line. Who
shows a world knows this protocol and neither of the two.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any, Protocol

from engine.control.events import Commit
from engine.models.interface import Decoder, HistoryPolicy
from engine.playback.shared_player import SharedPlayer
from engine.runtime.clock import Clock
from engine.runtime.messages import PersonMessage
from engine.runtime.settings import StartFrom
from engine.runtime.takes import Takes
from engine.runtime.view import View


class LiveEngine(Protocol):
    """One world, live: `start` it; send keys, prompts and settings; show what `player` says; `close` it. From any thread; nothing
    here waits but `close`. What cannot be done becomes a message in the view, and nothing is changed then."""

    ready: threading.Event
    """Set when the first call is done, or the engine has ended."""
    error: str | None
    """Why the engine ended by itself; None while it has not."""
    summary: dict[str, Any] | None
    """The contents of summary.json, after `close`."""
    left_behind: bool
    """Whether a thread was still inside a step when the session was closed."""

    @property
    def clock(self) -> Clock:
        """What all times here are told by."""

    @property
    def player(self) -> SharedPlayer:
        """Frames, sound, and the media clock; whoever shows the world advances it."""

    @property
    def takes(self) -> Takes:
        """What was delivered."""

    @property
    def stage(self) -> tuple[str, float]:
        """What the engine does before the first picture, and how far it is in [0, 1]."""

    @property
    def view(self) -> View:
        """The session as it is now; cheap."""

    @property
    def running(self) -> bool:
        """Whether the engine was started and has not ended."""

    @property
    def reading(self) -> tuple[Path, float] | None:
        """The file that is being read for a new world, and how far it has come in [0, 1]; None when none is."""

    @property
    def log_error(self) -> str:
        """Why something of the session's log is not on the disk, '' while all of it is."""

    def start(self) -> None:
        """The model is loaded, and the world begins."""

    def send(self, message: PersonMessage) -> None:
        """Anything that a person does."""

    def press(self, action: str, arrival: float | None = None) -> None:
        """An action begins. arrival: when the key event came, seconds of the clock; None: now."""

    def release(self, action: str, arrival: float | None = None) -> None:
        """An action ends. arrival: as for `press`."""

    def release_all(self) -> None:
        """Nothing is held any more."""

    def set_prompt(self, prompt: str, arrival: float | None = None, seconds: float = 0.0) -> None:
        """A prompt edit. arrival: as for `press`; seconds: of a transition to it."""

    def set_negative_prompt(self, prompt: str | None) -> None:
        """Another negative prompt; None for the model's own."""

    def pause(self) -> None:
        """Holds playback at once; keys are released."""

    def resume(self) -> None:
        """Playback goes on at once."""

    def new_world(self, prompt: str | None = None, seed: int | None = None, start: StartFrom | None = None) -> None:
        """A new world; None leaves prompt, seed and start as they were."""

    def cancel_reading(self) -> None:
        """The new world whose file is being read is not wanted any more."""

    def rewind(self, take: int, position: int) -> None:
        """Another way on after a kept group."""

    def configure(
        self,
        window: int | None = None,
        steps: int | None = None,
        commit: Commit | None = None,
        history: HistoryPolicy | None = None,
        answer: bool | None = None,
        preempt: bool | None = None,
        aim: float | None = None,
    ) -> None:
        """Other settings from the next call on; None leaves one as it was."""

    def place(self) -> tuple[str, bytes] | None:
        """The place that is on the screen, as a file that a world can begin from: its suffix and its content; None without."""

    def fork_decoder(self) -> Decoder | None:
        """A decoder for looking back at kept groups, for one other thread; None before there is one."""

    def close(self, seconds: float = ...) -> None:
        """Ends the session and waits for its threads, at most so many seconds. Safe to call twice."""
