"""A world as a Gymnasium environment, `foreland/World-v0`, for agents. Needs the optional package gymnasium (`foreland[gym]`).

    import gymnasium, engine.gym

    env = gymnasium.make("foreland/World-v0", prompt="a meadow at noon", call_seconds=0.5)

An action is what is held while the next `frames` frames play; the observation is those frames. How slow the model is belongs to the
environment: in virtual time every call takes `call_seconds`, so an action shows only when its call is done, and equal seeds and
actions give equal observations; in real time the world of a server goes on while the agent thinks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import gymnasium
import numpy as np
from numpy.typing import NDArray

from engine.client import PlayedWorld, connect
from engine.loading import loader
from engine.models.catalogue import DEFAULT
from engine.models.interface import Model
from engine.models.load_options import LoadOptions
from engine.playback.player import Frame
from engine.runtime.keymap import ACTIONS
from engine.runtime.settings import Settings
from engine.runtime.stepped import SteppedWorld
from engine.runtime.view import View

Observation = NDArray[np.uint8]
"""(frames, height, width, 3)."""
Reward = Callable[[Observation], float]


class Playable(Protocol):
    """A world that an agent steps through: `SteppedWorld` or `PlayedWorld`."""

    @property
    def seconds(self) -> float:
        """Of its time, since it began."""

    @property
    def view(self) -> View:
        """The session as it is now."""

    def hold(self, *actions: str) -> None:
        """These are held from now on, and no others."""

    def frames(self, n: int) -> list[Frame]:
        """The next frames."""

    def close(self) -> None:
        """Ends it."""


class World(gymnasium.Env):  # type: ignore[misc]
    """See the module."""

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012 (gymnasium's form)

    def __init__(
        self,
        prompt: str = "",
        *,
        model: str | Model = DEFAULT,
        settings: Settings | None = None,
        call_seconds: float = 0.5,
        url: str | None = None,
        token_file: str | Path | None = None,
        fingerprint: str | None = None,
        actions: Sequence[str] = ACTIONS,
        frames: int = 4,
        reward: Reward | None = None,
        render_mode: str | None = None,
    ) -> None:
        """model: a name, or one that is loaded, for virtual time. call_seconds: see the module. url: plays a world of that server in
        real time instead. actions: that can be held. frames: of an observation. reward: of an observation; None: always 0."""
        self._settings = settings if settings is not None else Settings(prompt)
        self._call_seconds, self._actions, self._frames, self._reward = call_seconds, tuple(actions), frames, reward
        self._model: Model | None = None
        self._world: Playable | None = None
        self._url, self._token_file, self._fingerprint = url, token_file, fingerprint
        self.render_mode = render_mode
        self._image: Frame | None = None
        if url is None:
            self._model = model if isinstance(model, Model) else loader(model, LoadOptions())(lambda stage, share: None)
            spec = self._model.spec
        else:
            first = self._connected(self._settings)
            spec, self._world = first.spec, first
        self.action_space = gymnasium.spaces.MultiBinary(len(self._actions))
        shape = (frames, spec.height, spec.width, 3)
        self.observation_space = gymnasium.spaces.Box(0, 255, shape, np.uint8)

    def _connected(self, settings: Settings) -> PlayedWorld:
        assert self._url is not None
        return connect(self._url, self._token_file, settings=settings, fingerprint=self._fingerprint)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """A new world. seed: of all noise; None: that of the settings. options: may have a `prompt`."""
        super().reset(seed=seed)
        wanted = replace(
            self._settings,
            seed=self._settings.seed if seed is None else seed,
            prompt=(options or {}).get("prompt", self._settings.prompt),
        )
        if self._world is not None:
            self._world.close()
        if self._model is not None:
            self._world = SteppedWorld(self._model, wanted, self._call_seconds)
        else:
            self._world = self._connected(wanted)
        return self._next(), self._info()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Holds what the action says while the next frames play. An episode has no end of its own."""
        assert self._world is not None, "reset comes first"
        held = [a for a, wanted in zip(self._actions, np.asarray(action, bool), strict=True) if wanted]
        self._world.hold(*held)
        seen = self._next()
        return seen, float(self._reward(seen)) if self._reward is not None else 0.0, False, False, self._info()

    def render(self) -> Frame | None:
        """The last frame of the last observation."""
        return self._image

    def close(self) -> None:
        """Ends the world."""
        if self._world is not None:
            self._world.close()
            self._world = None

    def _next(self) -> Observation:
        assert self._world is not None
        seen = np.stack(self._world.frames(self._frames))
        self._image = seen[-1]
        return seen

    def _info(self) -> dict[str, Any]:
        """seconds: of the world's time; L50: median latency of what was done, or None; stalls: so far."""
        assert self._world is not None
        view = self._world.view
        return {"seconds": self._world.seconds, "L50": view.L50, "stalls": view.stalls}


gymnasium.register("foreland/World-v0", entry_point="engine.gym:World")
