"""The messages of `engine.models.transport` over TCP, between the engine and ranks on other hosts, with a heartbeat both ways.

A dead cable says nothing: whoever was not heard of for a while counts as gone. Nobody waits for the network: a thread sends, and a
thread reads.
"""

from __future__ import annotations

import hmac
import os
import queue
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from engine.models.interface import Header, Tensors
from engine.models.transport import receive, send

BEAT = b"beat"
"""Not a message: it takes no imports to make or to read, which may last while a rank starts."""
BEAT_SECONDS = 0.5
HELLO_SECONDS = 5.0
"""For a rank to say who it is, once it has connected."""
KEY_BYTES = 32
Message = tuple[Header, Tensors]


class Pipe:
    """A connection on which several threads send. In place of a `multiprocessing` one."""

    def __init__(self, sock: socket.socket) -> None:
        """Takes the socket over."""
        sock.settimeout(None)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._sock = sock
        self._connection = Connection(os.dup(sock.fileno()))
        self._lock = threading.Lock()
        self.heard_at = time.monotonic()
        """When something came, a beat or a message."""

    def send_bytes(self, data: bytes) -> None:
        """Raises OSError."""
        with self._lock:
            self._connection.send_bytes(data)

    def beat(self) -> None:
        """Says that this end is alive. Raises OSError."""
        self.send_bytes(BEAT)

    def recv_bytes(self) -> bytes:
        """The next message; from one thread. Raises OSError, EOFError."""
        while True:
            data = self._connection.recv_bytes()
            self.heard_at = time.monotonic()
            if data != BEAT:
                return data

    def cut(self) -> None:
        """Ends it, also for threads that wait in it. Safe to call twice."""
        with suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)
        self._sock.close()


def keep_beating(pipe: Pipe, patience: float, gone: Callable[[], None]) -> None:
    """Starts a thread that says every half second that this end is alive. gone: called when the connection ends, and when nothing was
    heard of the other end for `patience` seconds."""

    def beat() -> None:
        with suppress(OSError):
            while time.monotonic() - pipe.heard_at < patience:
                pipe.beat()
                time.sleep(BEAT_SECONDS)
        gone()

    threading.Thread(target=beat, name="foreland-beat", daemon=True).start()


class Wire:
    """The engine's end of a rank. Used from one thread; reads and sends on its own."""

    def __init__(self, sock: socket.socket, heard: Callable[[Message | Exception], None]) -> None:
        """heard: takes each message, and at the end why there is no other; from a thread of its own."""
        self._pipe = Pipe(sock)
        self._out: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._heard = heard
        for work in (self._read, self._write):
            threading.Thread(target=work, name="foreland-wire", daemon=True).start()

    @property
    def heard_at(self) -> float:
        """When something came, seconds of `time.monotonic`."""
        return self._pipe.heard_at

    def send(self, header: Header, tensors: Tensors | None = None) -> None:
        """Returns at once."""
        self._out.put((header, {k: v.detach().clone() for k, v in (tensors or {}).items()}))

    def cut(self) -> None:
        """Ends it at once. Safe to call twice."""
        self._out.put(None)
        self._pipe.cut()

    def _read(self) -> None:
        while True:
            try:
                message = receive(self._pipe)  # type: ignore[arg-type]
            except Exception as e:  # the end, or what is no message: nothing after it can be trusted
                self._heard(e)
                return
            self._heard(message)

    def _write(self) -> None:
        with suppress(OSError):
            while True:
                try:
                    message = self._out.get(timeout=BEAT_SECONDS)
                except queue.Empty:
                    self._pipe.beat()
                    continue
                if message is None:
                    return
                send(self._pipe, *message)  # type: ignore[arg-type]


class Meeting:
    """Where ranks connect to the engine: a port, and a secret that they show first."""

    def __init__(self, address: str) -> None:
        """address: of this machine, as the other hosts reach it. Raises OSError."""
        self.key = os.urandom(KEY_BYTES)
        self._server = socket.create_server((address, 0))
        self.address: tuple[str, int] = self._server.getsockname()[:2]

    def next(self, seconds: float) -> tuple[int, socket.socket] | None:
        """A rank that has come, or None; whoever does not know the secret is sent away."""
        self._server.settimeout(seconds)
        try:
            sock, _ = self._server.accept()
        except TimeoutError:
            return None
        sock.settimeout(HELLO_SECONDS)
        said = b""
        with suppress(OSError):
            while len(said) < KEY_BYTES + 1 and (more := sock.recv(KEY_BYTES + 1 - len(said))):
                said += more
        if len(said) <= KEY_BYTES or not hmac.compare_digest(said[:KEY_BYTES], self.key):
            sock.close()
            return None
        return said[KEY_BYTES], sock

    def close(self) -> None:
        """Nobody else comes."""
        self._server.close()


def meet(address: tuple[str, int], key: bytes, rank: int, seconds: float) -> Pipe:
    """The rank's side of a `Meeting`. Raises OSError."""
    sock = socket.create_connection(address, timeout=seconds)
    sock.sendall(key + bytes([rank]))
    return Pipe(sock)


def store_at(address: str) -> Any:
    """A store of torch.distributed on a port of this address alone: by itself it would listen on every network of the machine, and it
    asks nobody for a secret. Raises OSError, RuntimeError."""
    import torch.distributed as dist

    server = socket.create_server((address, 0))
    port = server.getsockname()[1]
    return dist.TCPStore(address, port, is_master=True, wait_for_workers=False, master_listen_fd=server.detach())


def address_towards(host: str) -> str:
    """This machine's address, as that host sees it. Raises OSError."""
    family, kind, _, _, where = socket.getaddrinfo(host, 9, type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, kind) as sock:
        sock.connect(where)  # sends nothing
        return str(sock.getsockname()[0])
