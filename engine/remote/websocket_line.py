"""Lines over WebSockets: what passes `ssh -L` and proxies. One binary message of the socket is one of ours."""

from __future__ import annotations

import errno
import logging
import socket
import ssl
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.sync.client import connect
from websockets.sync.connection import Connection
from websockets.sync.server import Server, ServerConnection, serve

from engine.remote.line import Dial, Heard, LineError
from engine.remote.lobby import Lobby
from engine.remote.page import Page
from engine.remote.protocol import LARGEST_FROM_CLIENT, LARGEST_FROM_SERVER, LARGEST_HEADER
from engine.remote.trust import KnownServers, fingerprint
from engine.runtime.clock import Inbox, SystemClock

log = logging.getLogger(__name__)

OPEN_SECONDS = 5.0
"""That opening a line may take, and that the first message may take."""
CLOSE_SECONDS = 3.0
"""That the other end may take to read what it is still sent; then the line is cut."""
MOST_WAITING = 64 << 20
"""Bytes that an end which does not read may leave waiting; beyond them the line is cut."""
MOST_LINES = 64
"""Connections at once, with those that have not said who they are."""
CONGESTION = getattr(socket, "TCP_CONGESTION", None)


class WebSocketLine:
    """One end. A thread of its own sends, so that nobody waits for the network."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._out: Inbox[bytes | None] = Inbox(SystemClock())
        self._lock = threading.Lock()
        self._waiting = 0
        self._closed = False
        tune(connection.socket)
        threading.Thread(target=self._write, name="foreland-send", daemon=True).start()

    def send(self, data: bytes) -> None:
        """See `Line.send`."""
        with self._lock:
            self._waiting += len(data)
            fits = self._waiting <= MOST_WAITING
        if fits:
            self._out.put(data)
        else:
            self._cut()

    def close(self) -> None:
        """See `Line.close`. Safe to call twice; also when the line is lost, for the thread that sends."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self._out.put(None)
        late = threading.Timer(CLOSE_SECONDS, self._cut)
        late.daemon = True
        late.start()

    def _cut(self) -> None:
        """Ends it at once, also for a thread that waits in it."""
        with suppress(OSError):
            self._connection.socket.shutdown(socket.SHUT_RDWR)

    def _write(self) -> None:
        try:
            while self._out.wait():
                data = self._out.take()
                if data is None:
                    break
                self._connection.send(data)
                with self._lock:
                    self._waiting -= len(data)
        except (ConnectionClosed, OSError):
            pass
        finally:
            self._connection.close()


def tune(sock: socket.socket) -> None:
    """Small messages leave at once; BBR, where the kernel has it, keeps the line's queues short (an eighth of the age of a group at
    1 % loss: docs/serving.md)."""
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if CONGESTION is not None:
            sock.setsockopt(socket.IPPROTO_TCP, CONGESTION, b"bbr")
    except OSError:
        pass


def read(connection: Connection, line: WebSocketLine, heard: Heard) -> None:
    """Hands on what comes until the line is lost, and closes it. Text is no message of ours: it ends the line."""
    try:
        for data in connection:
            if not isinstance(data, bytes):
                break
            heard(data)
    except (ConnectionClosed, OSError):
        pass
    finally:
        line.close()
        heard(None)


def pinned(
    place: str, known: KnownServers, expected: str | None = None, say: Callable[[str], None] = log.warning
) -> Callable[[Connection], None]:
    """A `check` of `dialler`: the server at HOST:PORT is who it was. say: told of a first visit."""

    def check(connection: Connection) -> None:
        sock = connection.socket
        der = sock.getpeercert(binary_form=True) if isinstance(sock, ssl.SSLSocket) else None
        if der is None:
            raise LineError(f"{place} shows no certificate")
        if known.check(place, found := fingerprint(der), expected) and expected is None:
            say(f"first visit to {place}: its certificate is {found}, which has to be what `foreland serve` says there")

    return check


def dialler(url: str, context: ssl.SSLContext | None = None, check: Callable[[Connection], None] | None = None) -> Dial:
    """Dials a server. url: ws:// or wss://. check: looks at a new connection before anything is said; raises LineError."""

    def dial(heard: Heard) -> WebSocketLine:
        try:
            connection = connect(
                url,
                ssl=context,
                compression=None,
                open_timeout=OPEN_SECONDS,
                close_timeout=1,
                max_size=LARGEST_FROM_SERVER,
                proxy=None,
                legacy=True,  # the connection itself: a thread of its own reads it to the end
            )
        except (OSError, WebSocketException, EOFError) as e:
            raise LineError(f"{url} does not answer ({e})") from e
        if check is not None:
            try:
                check(connection)
            except LineError:
                connection.close()
                raise
        line = WebSocketLine(connection)
        threading.Thread(target=read, args=(connection, line, heard), name="foreland-read", daemon=True).start()
        return line

    return dial


def listen(
    lobby: Lobby,
    host: str,
    port: int,
    context: ssl.SSLContext | None = None,
    lines: int = MOST_LINES,
    prompt: str = "",
) -> Server:
    """A server that is not running yet: `serve_forever`, and `shutdown` from another thread. lines: at once, at most; what comes
    beyond them is closed before it has said anything. prompt: what worlds of the page begin with.

    It serves the page for browsers too. Raises OSError.
    """
    room = threading.BoundedSemaphore(lines)
    server = serve(
        lambda connection: _attend(lobby, connection),
        sock=_listening(host, port),
        process_request=Page(lobby.guarded, prompt).answer,
        compression=None,
        open_timeout=OPEN_SECONDS,
        close_timeout=1,
        max_size=LARGEST_HEADER + 4,  # until it has said who it is
        max_queue=4,
    )
    accepted = server.handler

    def handle(sock: socket.socket, address: Any) -> None:
        if not room.acquire(blocking=False):
            with server.lock:
                server.handler_threads.discard(threading.current_thread())
            sock.close()
            return
        try:
            accepted(_encrypted(sock, context), address)
        except OSError:
            with server.lock:
                server.handler_threads.discard(threading.current_thread())
            sock.close()
        finally:
            room.release()

    server.handler = handle
    return server


class _Listening(socket.socket):
    """What one connection does, or a lack of files, does not end the listening."""

    def accept(self) -> tuple[socket.socket, Any]:
        """See `socket.accept`. Raises OSError when this socket is closed."""
        while True:
            try:
                return super().accept()
            except OSError as e:
                if e.errno in (errno.EBADF, errno.EINVAL, errno.ENOTSOCK):
                    raise
                time.sleep(0.1)


def _listening(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    sock = _Listening(family, kind, protocol)
    try:
        if sys.platform != "win32":
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.listen(MOST_LINES)
    except OSError:
        sock.close()
        raise
    return sock


def _encrypted(sock: socket.socket, context: ssl.SSLContext | None) -> socket.socket:
    """On the connection's own thread: who only opens one keeps nobody else waiting. Raises OSError."""
    if context is None:
        return sock
    sock.settimeout(OPEN_SECONDS)
    encrypted = context.wrap_socket(sock, server_side=True)
    encrypted.settimeout(None)
    return encrypted


def _attend(lobby: Lobby, connection: ServerConnection) -> None:
    try:
        first = connection.recv(timeout=OPEN_SECONDS)
    except (TimeoutError, ConnectionClosed):
        return
    if not isinstance(first, bytes):
        return
    line = WebSocketLine(connection)
    try:
        host = lobby.enter(line, first)
    except LineError:
        host = None
    if host is None:
        line.close()  # after the answer
        with suppress(ConnectionClosed, OSError):
            for _ in connection:
                pass
        return
    connection.protocol.max_message_size = LARGEST_FROM_CLIENT
    read(connection, line, host.heard_from(line))
