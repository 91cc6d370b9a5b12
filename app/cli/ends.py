"""How the program ends when it is not by itself: signals, output that nobody takes, threads that cannot be stopped."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Ends that are asked for from outside, beside Ctrl+C: by the system, by log-out, by a terminal that is closed."""


class Ended(BaseException):
    """A signal asked the program to end; what is open is closed on the way up, as after Ctrl+C."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.status = 128 + number
        """As shells have it."""


def _end(number: int, frame: FrameType | None) -> NoReturn:
    for each in SIGNALS:
        signal.signal(each, signal.SIG_IGN)  # closing is not interrupted by a second one
    raise Ended(number)


@contextlib.contextmanager
def ended_by_signals() -> Iterator[None]:
    """Meanwhile a signal of `SIGNALS` raises Ended on the main thread. Nothing on other threads."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # what is ignored (nohup) stays so
    before = {number: signal.getsignal(number) for number in SIGNALS if signal.getsignal(number) is signal.SIG_DFL}
    for number in before:
        signal.signal(number, _end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def set_up_output() -> None:
    """What a terminal cannot show is written as an escape, and does not end the program."""
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")


def drop_output() -> None:
    """Nobody reads the output any more, or there is no room for it: what is still waiting is given up."""
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def leave(status: int) -> int:
    """The status to exit with. Where a thread is still inside a step that cannot be interrupted, the process ends here: at the usual
    exit of the interpreter such a thread would abort it."""
    if not any(t.name.startswith("foreland") and t.is_alive() for t in threading.enumerate()):
        return status
    for child in multiprocessing.active_children():
        child.kill()
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(status)
