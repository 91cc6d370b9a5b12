"""Lines over WebSockets: what passes `ssh -L` and proxies. One binary message of the socket is one of ours."""

from __future__ import annotations

import logging
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI
from websockets.sync.client import connect
from websockets.sync.connection import Connection
from websockets.sync.server import Server, ServerConnection, serve

from engine.remote.line import Dial, Heard, LineError
from engine.remote.lobby import Lobby
from engine.remote.protocol import LARGEST_FROM_CLIENT, LARGEST_FROM_SERVER
from engine.runtime.clock import Inbox, SystemClock

log = logging.getLogger(__name__)

OPEN_SECONDS = 5.0
"""That opening a line may take, and that the first message may take."""
CONGESTION = getattr(socket, "TCP_CONGESTION", None)


class WebSocketLine:
    """One end. A thread of its own sends, so that nobody waits for the network."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._out: Inbox[bytes | None] = Inbox(SystemClock())
        tune(connection.socket)
        threading.Thread(target=self._write, name="foreland-send", daemon=True).start()

    def send(self, data: bytes) -> None:
        """See `Line.send`."""
        self._out.put(data)

    def close(self) -> None:
        """See `Line.close`."""
        self._out.put(None)

    def _write(self) -> None:
        try:
            while self._out.wait():
                data = self._out.take()
                if data is None:
                    break
                self._connection.send(data)
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


def read(connection: Connection, heard: Heard) -> None:
    """Hands on what comes until the line is lost. Text is no message of ours: it ends the line."""
    try:
        for data in connection:
            if not isinstance(data, bytes):
                break
            heard(data)
    except (ConnectionClosed, OSError):
        pass
    finally:
        heard(None)


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
        except (OSError, InvalidHandshake, InvalidURI, TimeoutError, EOFError) as e:
            raise LineError(f"{url} does not answer ({e})") from e
        if check is not None:
            try:
                check(connection)
            except LineError:
                connection.close()
                raise
        line = WebSocketLine(connection)
        threading.Thread(target=read, args=(connection, heard), name="foreland-read", daemon=True).start()
        return line

    return dial


def listen(lobby: Lobby, host: str, port: int, context: ssl.SSLContext | None = None, clients: int = 16) -> Server:
    """A server that is not running yet: `serve_forever`, and `shutdown` from another thread. clients: lines at once, at most.

    No page of a browser may come in: what names an origin is refused. Raises OSError.
    """
    room = threading.BoundedSemaphore(clients)

    def handle(connection: ServerConnection) -> None:
        if not room.acquire(blocking=False):
            connection.close(1013, "too many clients")
            return
        try:
            _attend(lobby, connection)
        finally:
            room.release()

    return serve(
        handle,
        host,
        port,
        ssl=context,
        origins=[None],
        compression=None,
        open_timeout=OPEN_SECONDS,
        close_timeout=1,
        max_size=LARGEST_FROM_CLIENT,
    )


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
    except LineError as e:
        log.info("a client was turned away: %s", e)
        host = None
    if host is None:
        line.close()  # after the answer
        with suppress(ConnectionClosed, OSError):
            for _ in connection:
                pass
        return
    read(connection, host.heard_from(line))
