"""Ctrl+C, SIGTERM and SIGHUP close the windows, as their button does."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from PySide6.QtCore import QSocketNotifier

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def closed_by_signals(close: Callable[[], None]) -> Iterator[list[int]]:
    """Meanwhile a signal calls `close`, once, from Qt's loop: never in the middle of a slot. Yields the signals that came."""
    came: list[int] = []
    ours, theirs = socket.socketpair()
    for end in (ours, theirs):
        end.setblocking(False)
    handlers = {number: signal.signal(number, lambda number, frame: None) for number in SIGNALS}
    before = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
    notifier = QSocketNotifier(ours.fileno(), QSocketNotifier.Type.Read)

    def woken() -> None:
        first = not came
        came.extend(number for number in ours.recv(64) if number in SIGNALS)
        if first and came:
            close()

    notifier.activated.connect(woken)
    try:
        yield came
    finally:
        notifier.setEnabled(False)
        signal.set_wakeup_fd(before)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        ours.close()
        theirs.close()
