"""Whether a window can be opened here. Qt aborts the process where it cannot, so it is asked before Qt is."""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import socket
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path

WITHOUT_SCREEN = ("offscreen", "minimal", "vnc")
"""Platforms of Qt that need no display."""
LIBRARIES = {
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libEGL.so.1": "libegl1",
}
"""What Qt's X11 platform loads from the system, and what Debian calls it."""
X11_SECONDS, QT_SECONDS = 5.0, 60.0
SERVER, LIBRARY = 3, 4
"""Statuses of the child that tries the display."""


def display_problem() -> str:
    """Why no window can be opened, in a few words; '' where one can."""
    if sys.platform in ("win32", "darwin") or os.environ.get("QT_QPA_PLATFORM", "") in WITHOUT_SCREEN:
        return ""
    x11, wayland = os.environ.get("DISPLAY", ""), os.environ.get("WAYLAND_DISPLAY", "")
    if wayland and not _wayland_problem(wayland):
        if x11 and _x11_problem(x11):
            os.environ.setdefault("QT_QPA_PLATFORM", "wayland")  # Qt would take the display that does not answer
        return ""
    if x11:
        return _x11_problem(x11)
    return _wayland_problem(wayland) if wayland else "neither DISPLAY nor WAYLAND_DISPLAY is set"


def _wayland_problem(name: str) -> str:
    path = Path(os.environ.get("XDG_RUNTIME_DIR", "/")) / name
    try:
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(X11_SECONDS)
            s.connect(str(path))
    except OSError as e:
        return f"the Wayland display {name} does not answer ({e.strerror or e})"
    return ""


def _x11_problem(name: str) -> str:
    """In a child: a server that hangs, or a library that aborts, takes only that with it."""
    for library, package in LIBRARIES.items():
        try:
            ctypes.CDLL(library)
        except OSError:
            return f"{library} is missing (Debian has it in {package})"
    child = os.fork()
    if child == 0:
        os._exit(_try_x11())
    end = time.monotonic() + X11_SECONDS
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return "" if status == 0 else f"the display {name} does not answer"
        time.sleep(0.01)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return f"the display {name} did not answer within {X11_SECONDS:g} s"


def _try_x11() -> int:
    try:
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError:
        return LIBRARY
    xcb.xcb_connect.restype = ctypes.c_void_p
    xcb.xcb_connection_has_error.argtypes = [ctypes.c_void_p]
    return SERVER if xcb.xcb_connection_has_error(xcb.xcb_connect(None, None)) else 0


# -- Qt itself, for doctor ---------------------------------------------------------------------------------------------


def try_qt() -> str:
    """Opens Qt's display in a process of its own; what it found. Raises RuntimeError."""
    context = multiprocessing.get_context("spawn")
    mine, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_open_qt, args=(theirs,), daemon=True)
    child.start()
    theirs.close()
    try:
        if mine.poll(QT_SECONDS):
            return str(mine.recv())
    except EOFError:
        child.join(5)
        raise RuntimeError(f"Qt cannot open it and ended with status {child.exitcode}") from None
    finally:
        child.kill()
        child.join()
        mine.close()
    raise RuntimeError(f"Qt did not open it within {QT_SECONDS:g} s")


def _open_qt(answer: Connection) -> None:
    with contextlib.suppress(OSError):  # what Qt prints before it aborts is said in one line instead
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
    from PySide6.QtGui import QGuiApplication

    app = QGuiApplication([])
    screen = app.primaryScreen()
    size = screen.size()
    answer.send(f"{app.platformName()}, {size.width()}x{size.height()} at scale {screen.devicePixelRatio():g}")
