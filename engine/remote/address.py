"""What an address of a server means: which line leads there, and who has to be at its other end."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from engine.errors import Refused
from engine.remote.line import Dial
from engine.remote.trust import LOOPBACK, KnownServers, client_context
from engine.remote.websocket_line import dialler, pinned

log = logging.getLogger(__name__)


class AddressError(Refused):
    """That is no address that can be dialled. The message says what is wanted instead."""


def dial_to(url: str, known: Path, fingerprint: str | None = None, say: Callable[[str], None] = log.warning) -> Dial:
    """Dials ws://HOST:PORT on this machine and wss://HOST:PORT anywhere. known: the file of `KnownServers`; fingerprint: that the
    person says the server has; say: told of a first visit. Raises AddressError."""
    try:
        scheme, host, port = (parts := urlsplit(url)).scheme, parts.hostname, parts.port
    except ValueError:
        scheme, host, port = "", None, None
    if scheme not in ("ws", "wss") or not host:
        raise AddressError(f"{url} is not the address of a server: give ws://HOST:PORT or wss://HOST:PORT")
    if scheme == "wss":
        return dialler(url, client_context(), pinned(f"{host}:{port or 443}", KnownServers(known), fingerprint, say))
    if host not in LOOPBACK:
        raise AddressError(
            f"{url} would send keys and token over a line that anyone can read: use wss://, or come in by ssh -L"
        )
    if fingerprint is not None:
        raise AddressError("a fingerprint belongs to wss://: ws:// has no certificate")
    return dialler(url)
