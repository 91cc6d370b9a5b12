"""A world of `foreland serve`, for programs and notebooks: `connect`, hold keys, look at frames.

from engine.client import connect

with connect("ws://localhost:7420", "~/.foreland-token", prompt="a meadow at noon") as world:
    world.hold("forward")
    for frame in world.play(3.0):
        ...                       # (height, width, 3) uint8, as they become due
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from engine.models.interface import ModelSpec
from engine.playback.player import Frame
from engine.remote.address import dial_to
from engine.remote.client import RemoteWorld
from engine.remote.trust import KNOWN, token_of
from engine.runtime.clock import SystemClock
from engine.runtime.live_engine import LiveEngine
from engine.runtime.settings import Settings
from engine.runtime.view import View
from engine.user_data import data_folder

LOOK_SECONDS = 0.05
"""Between two looks at an engine, at most."""
SOON = 0.005
"""Between two looks while nothing plays."""


class WorldEnded(RuntimeError):
    """The world plays no more. The message says why."""


class PlayedWorld:
    """A live engine that a program plays in real time; from one thread. What is not looked at waits while the world is paused, which
    it is outside of `play`; `frames` goes on by itself."""

    def __init__(self, engine: LiveEngine, spec: ModelSpec) -> None:
        """engine: not started yet; it is closed with this."""
        self.spec = spec
        self.engine = engine
        self._held: frozenset[str] = frozenset()
        self._shown: deque[Frame] = deque()
        engine.start()
        self._began = engine.clock.now()

    def __enter__(self) -> PlayedWorld:
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, where: TracebackType | None) -> None:
        self.close()

    @property
    def seconds(self) -> float:
        """Since it was begun."""
        return self.engine.clock.now() - self._began

    @property
    def view(self) -> View:
        """The session as it is now: cache, calls, latencies."""
        return self.engine.view

    def hold(self, *actions: str) -> None:
        """These actions (forward, turn_left, ...) are held from now on, and no others."""
        wanted = frozenset(actions)
        for action in sorted(self._held - wanted):
            self.engine.release(action)
        for action in sorted(wanted - self._held):
            self.engine.press(action)
        self._held = wanted

    def prompt(self, text: str) -> None:
        """Another prompt from now on."""
        self.engine.set_prompt(text)

    def new_world(self, prompt: str | None = None, seed: int | None = None) -> None:
        """Another world; nothing is held in it."""
        self._held = frozenset()
        self._shown.clear()
        self.engine.new_world(prompt, seed)

    def frames(self, n: int) -> list[Frame]:
        """The next n frames, as they become due. Raises WorldEnded."""
        while len(self._shown) < n:
            self._look()
        return [self._shown.popleft() for _ in range(n)]

    def play(self, seconds: float) -> Iterator[Frame]:
        """Frames of so many seconds of media, as they become due; then the world is paused until the next call. Raises WorldEnded."""
        held, self._held = self._held, frozenset()
        self.engine.resume()
        self.hold(*held)
        try:
            for _ in range(round(seconds * self.spec.fps)):
                yield self.frames(1)[0]
        finally:
            self.engine.pause()  # which releases what is held

    def _look(self) -> None:
        engine, now = self.engine, self.engine.clock.now()
        if engine.error is not None or not engine.running:
            raise WorldEnded(engine.error or "the engine stopped")
        self._shown.extend(p.image for p in engine.player.advance(now) if p.image is not None)
        due = engine.player.next_due()
        if not self._shown:
            engine.clock.sleep(SOON if due is None else min(max(due - now, 0.0), LOOK_SECONDS))

    def close(self) -> None:
        """Ends the session."""
        self.engine.close()


def connect(
    url: str,
    token_file: str | Path | None = None,
    *,
    prompt: str = "",
    seed: int = 0,
    fingerprint: str | None = None,
    session: Path | None = None,
    settings: Settings | None = None,
) -> PlayedWorld:
    """Begins a world at a server: ws://HOST:PORT on this machine or through `ssh -L`, wss://HOST:PORT anywhere.

    fingerprint: of the server's certificate; None: that of the first visit. session: folder for the log and summary, or None.
    settings: more than prompt and seed. Waits for the server's answer. Raises Refused (also FileError) and LineError.
    """
    token = token_of(Path(token_file).expanduser()) if token_file is not None else ""
    world = RemoteWorld.at(url, dial_to(url, data_folder() / KNOWN, fingerprint), token)
    chosen = settings if settings is not None else Settings(prompt, seed)
    return PlayedWorld(world.engine(chosen, session, SystemClock()), world.spec)
