"""From a gamepad to actions: the mapping by itself, and SDL's own controller mapping on a virtual pad."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.input.gamepad import PadState, SdlReader, actions_of

XPAD = (
    "a:b0,b:b1,x:b2,y:b3,leftshoulder:b4,rightshoulder:b5,back:b6,start:b7,guide:b8,"
    "dpup:h0.1,dpright:h0.2,dpdown:h0.4,dpleft:h0.8,"
    "leftx:a0,lefty:a1,lefttrigger:a2,rightx:a3,righty:a4,righttrigger:a5,"
)
"""How Linux's xpad driver numbers an Xbox pad."""
LOW, HIGH = -32768, 32767


class VirtualPad:
    """An Xbox pad that SDL sees, numbered as xpad does: triggers are axes 2 and 5 and rest at their lowest value."""

    def __init__(self, sdl: Any) -> None:
        self._sdl = sdl
        self._index = sdl.SDL_JoystickAttachVirtual(1, 6, 11, 1)
        assert self._index >= 0
        sdl.SDL_GameControllerMappingForDeviceIndex.restype = ctypes.c_char_p
        guid = sdl.SDL_GameControllerMappingForDeviceIndex(self._index).decode().split(",")[0]
        assert sdl.SDL_GameControllerAddMapping(f"{guid},Xbox pad,{XPAD}".encode()) >= 0
        sdl.SDL_JoystickOpen.restype = ctypes.c_void_p
        self._pad = ctypes.c_void_p(sdl.SDL_JoystickOpen(self._index))
        for axis, value in enumerate((0, 0, LOW, 0, 0, LOW)):
            self.axis(axis, value)

    def axis(self, index: int, value: int) -> None:
        assert self._sdl.SDL_JoystickSetVirtualAxis(self._pad, index, ctypes.c_int16(value)) == 0

    def button(self, index: int, down: bool) -> None:
        assert self._sdl.SDL_JoystickSetVirtualButton(self._pad, index, ctypes.c_uint8(down)) == 0

    def hat(self, value: int) -> None:
        assert self._sdl.SDL_JoystickSetVirtualHat(self._pad, 0, ctypes.c_uint8(value)) == 0

    def unplug(self) -> None:
        assert self._sdl.SDL_JoystickDetachVirtual(self._index) == 0


@pytest.fixture
def reader() -> Iterator[SdlReader]:
    pytest.importorskip("pygame")
    reader = SdlReader()
    yield reader
    reader.close()


@pytest.fixture
def pad(reader: SdlReader) -> VirtualPad:
    maps = Path("/proc/self/maps")
    libraries = {x.split()[-1] for x in maps.read_text().splitlines() if "libSDL2" in x} if maps.exists() else set()
    if not libraries:
        pytest.skip("the SDL that pygame brings is looked up as Linux lists it")
    return VirtualPad(ctypes.CDLL(min(libraries)))


def held(reader: SdlReader, before: frozenset[str] = frozenset()) -> frozenset[str]:
    return actions_of(reader.read(), before)


def test_sticks_move_and_look() -> None:
    assert actions_of(PadState(left_x=0.9, left_y=-0.9), frozenset()) == {"right", "forward"}
    assert actions_of(PadState(right_x=-0.9, right_y=0.9), frozenset()) == {"turn_left", "look_down"}


def test_a_direction_ends_nearer_the_middle_than_it_begins() -> None:
    assert actions_of(PadState(left_y=-0.4), frozenset()) == frozenset()
    assert actions_of(PadState(left_y=-0.4), frozenset({"forward"})) == {"forward"}
    assert actions_of(PadState(left_y=-0.3), frozenset({"forward"})) == frozenset()


def test_buttons_by_name_and_no_pad_at_all() -> None:
    assert actions_of(PadState(buttons=frozenset({"dpad_left", "a", "start"})), frozenset()) == {"turn_left", "rise"}
    assert actions_of(None, frozenset({"forward"})) == frozenset()


def test_an_xbox_pad_at_rest_holds_nothing(reader: SdlReader, pad: VirtualPad) -> None:
    assert reader.read() == PadState()
    assert held(reader) == frozenset()


def test_an_xbox_pad_is_read_by_the_names_of_its_parts(reader: SdlReader, pad: VirtualPad) -> None:
    pad.axis(3, HIGH)
    assert held(reader) == {"turn_right"}
    pad.axis(3, 0)
    pad.axis(4, LOW)
    pad.axis(1, LOW)
    assert held(reader) == {"look_up", "forward"}
    pad.axis(4, 0)
    pad.axis(1, 0)
    pad.axis(2, HIGH)
    assert held(reader) == frozenset(), "a trigger does nothing"
    pad.button(5, True)
    pad.hat(8)
    assert held(reader) == {"rise", "turn_left"}


def test_a_pad_may_come_and_go(reader: SdlReader, pad: VirtualPad) -> None:
    assert reader.read() is not None
    pad.unplug()
    assert reader.read() is None


def test_without_any_pad_nothing_is_read(reader: SdlReader) -> None:
    assert reader.read() is None
