"""A gamepad: sticks and buttons to the same actions as the keys, through pygame-ce where that is installed."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from typing import Any, Protocol

from app.input.held_keys import Keyboard

log = logging.getLogger(__name__)

ON, OFF = 0.5, 0.35
"""Of a stick's way at which a direction begins and ends."""
AXES: tuple[tuple[int, int, str], ...] = (
    (1, -1, "forward"),
    (1, 1, "back"),
    (0, -1, "left"),
    (0, 1, "right"),
    (2, -1, "turn_left"),
    (2, 1, "turn_right"),
    (3, -1, "look_up"),
    (3, 1, "look_down"),
)
"""Axis, sign and action: left stick moves, right stick looks."""
BUTTONS: dict[int, str] = {4: "sink", 5: "rise", 0: "rise", 1: "sink"}
HATS: dict[tuple[int, int], str] = {(0, 1): "forward", (0, -1): "back", (-1, 0): "turn_left", (1, 0): "turn_right"}
SOURCE = "gamepad"


class GamepadError(RuntimeError):
    """Gamepads cannot be used here; the message says what to install."""


@dataclass(frozen=True)
class PadState:
    """axes in [-1, 1]; buttons that are down; the hat's direction."""

    axes: tuple[float, ...]
    buttons: frozenset[int]
    hat: tuple[int, int] = (0, 0)


class Reader(Protocol):
    """Reads the first gamepad."""

    def read(self) -> PadState | None:
        """None while there is none."""

    def close(self) -> None: ...


class PygameReader:
    """SDL's gamepads; sees one that is plugged in later."""

    def __init__(self) -> None:
        """Raises GamepadError."""
        os.environ.setdefault("SDL_JOYSTICK_ALLOW_BACKGROUND_EVENTS", "0")
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
        try:
            import pygame
        except ImportError as e:
            raise GamepadError("gamepads need the package pygame-ce: pip install 'foreland[gamepad]'") from e
        self._pygame: Any = pygame
        os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
        try:
            pygame.display.init()  # its events are where plugging in is heard of
            pygame.joystick.init()
        except pygame.error as e:
            raise GamepadError(f"gamepads cannot be read here: {e}") from e
        self._pad: Any = None

    def read(self) -> PadState | None:
        for event in self._pygame.event.get():
            if event.type == self._pygame.JOYDEVICEREMOVED:
                self._pad = None
        if self._pad is None:
            if not self._pygame.joystick.get_count():
                return None
            self._pad = self._pygame.joystick.Joystick(0)
        pad = self._pad
        buttons = frozenset(i for i in range(pad.get_numbuttons()) if pad.get_button(i))
        hat = pad.get_hat(0) if pad.get_numhats() else (0, 0)
        return PadState(tuple(pad.get_axis(i) for i in range(pad.get_numaxes())), buttons, hat)

    def close(self) -> None:
        self._pygame.joystick.quit()
        self._pygame.display.quit()


def actions_of(state: PadState | None, before: frozenset[str]) -> frozenset[str]:
    """What a gamepad holds; a stick near its threshold does not flutter. A pad that went away holds nothing."""
    if state is None:
        return frozenset()
    out = {BUTTONS[b] for b in state.buttons if b in BUTTONS}
    for axis, sign, action in AXES:
        if axis < len(state.axes) and state.axes[axis] * sign > (OFF if action in before else ON):
            out.add(action)
    x, y = state.hat
    for (hx, hy), action in HATS.items():
        if (hx and x == hx) or (hy and y == hy):
            out.add(action)
    return frozenset(out)


class Gamepad:
    """Polled by the window; `poll` costs some microseconds."""

    def __init__(self, keyboard: Keyboard, reader: Reader) -> None:
        self._keyboard, self._reader = keyboard, reader
        self._held: frozenset[str] = frozenset()
        self.there = False

    def poll(self, listening: bool = True) -> None:
        """listening: whether the world has the person's attention; if not, everything is let go."""
        try:
            state = self._reader.read()
        except Exception as e:
            log.warning("the gamepad cannot be read: %s", e)
            state = None
        self.there = state is not None
        held = actions_of(state, self._held) if listening else frozenset()
        if held != self._held:
            self._held = held
            self._keyboard.hold(SOURCE, held)

    def close(self) -> None:
        self._keyboard.hold(SOURCE, frozenset())
        self._reader.close()
