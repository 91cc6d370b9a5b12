"""A gamepad: sticks and buttons to the same actions as the keys, through SDL (pygame-ce) where that is installed.

SDL's controller mapping names the axes and buttons of every pad that it knows. Raw joystick axes are in an order of the
driver's own: on an Xbox pad axis 2 is a trigger, which rests at -1.
"""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from typing import Any, Protocol

from app.input.held_keys import HeldKeys
from app.language import marked, tr

log = logging.getLogger(__name__)

ON, OFF = 0.5, 0.35
"""Share of a stick's range at which a direction begins and ends."""
AXIS_RANGE = 32767
"""SDL's sticks are in [-32768, 32767], its triggers in [0, 32767]."""
STICKS: tuple[tuple[str, int, str], ...] = (
    ("left_y", -1, "forward"),
    ("left_y", 1, "back"),
    ("left_x", -1, "left"),
    ("left_x", 1, "right"),
    ("right_x", -1, "turn_left"),
    ("right_x", 1, "turn_right"),
    ("right_y", -1, "look_up"),
    ("right_y", 1, "look_down"),
)
"""Axis, sign and action: the left stick moves, the right stick looks."""
BUTTONS: dict[str, str] = {
    "a": "rise",
    "b": "sink",
    "right_shoulder": "rise",
    "left_shoulder": "sink",
    "dpad_up": "forward",
    "dpad_down": "back",
    "dpad_left": "turn_left",
    "dpad_right": "turn_right",
}
"""By SDL's names, which follow an Xbox pad: a is the lower button."""
SOURCE = marked("gamepad")


class GamepadError(RuntimeError):
    """Gamepads cannot be used here; the message says what to install."""


@dataclass(frozen=True)
class PadState:
    """Sticks in [-1, 1], x to the right, y down; names of the buttons that are held."""

    left_x: float = 0.0
    left_y: float = 0.0
    right_x: float = 0.0
    right_y: float = 0.0
    buttons: frozenset[str] = frozenset()


class Reader(Protocol):
    """Reads the first gamepad."""

    def read(self) -> PadState | None:
        """None while there is none."""

    def close(self) -> None: ...


class SdlReader:
    """SDL's controllers; sees one that is plugged in later. A joystick that SDL has no mapping for is not read."""

    def __init__(self) -> None:
        """Raises GamepadError."""
        os.environ.setdefault("SDL_JOYSTICK_ALLOW_BACKGROUND_EVENTS", "0")
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
        try:
            import pygame
            from pygame._sdl2 import controller
        except ImportError as e:
            raise GamepadError(tr("gamepads need the package pygame-ce: pip install 'foreland[gamepad]'")) from e
        os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
        self._pygame: Any = pygame
        self._controllers: Any = controller
        try:
            pygame.display.init()  # its event queue reports pads that come and go
            controller.init()
        except pygame.error as e:
            raise GamepadError(tr("gamepads cannot be read here: {error}", error=e)) from e
        self._buttons = {name: getattr(pygame, f"CONTROLLER_BUTTON_{_sdl_name(name)}") for name in BUTTONS}
        self._axes = {name: getattr(pygame, f"CONTROLLER_AXIS_{_sdl_name(name)}") for name, _, _ in STICKS}
        self._pad: Any = None

    def read(self) -> PadState | None:
        self._pygame.event.pump()
        if self._pad is None or not self._pad.attached():
            self._pad = self._first()
        if self._pad is None:
            return None
        axes = {name: max(-1.0, self._pad.get_axis(i) / AXIS_RANGE) for name, i in self._axes.items()}
        return PadState(**axes, buttons=frozenset(name for name, i in self._buttons.items() if self._pad.get_button(i)))

    def _first(self) -> Any:
        for i in range(self._controllers.get_count()):
            if self._controllers.is_controller(i):
                return self._controllers.Controller(i)
        return None

    def close(self) -> None:
        self._controllers.quit()
        self._pygame.display.quit()


def _sdl_name(name: str) -> str:
    """left_x is LEFTX and right_shoulder RIGHTSHOULDER, but dpad_up is DPAD_UP."""
    return name.upper() if name.startswith("dpad") else name.upper().replace("_", "")


def actions_of(state: PadState | None, before: frozenset[str]) -> frozenset[str]:
    """What a gamepad holds; a stick near its threshold does not flutter. A pad that went away holds nothing."""
    if state is None:
        return frozenset()
    out = {BUTTONS[name] for name in state.buttons if name in BUTTONS}
    for axis, sign, action in STICKS:
        if getattr(state, axis) * sign > (OFF if action in before else ON):
            out.add(action)
    return frozenset(out)


class Gamepad:
    """Polled by the window; `poll` costs some microseconds."""

    def __init__(self, keys: HeldKeys, reader: Reader) -> None:
        self._keys, self._reader = keys, reader
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
            self._keys.hold(SOURCE, held)

    def close(self) -> None:
        self._keys.hold(SOURCE, frozenset())
        self._reader.close()
