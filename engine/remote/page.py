"""The page of a served world for browsers, from the same port: three files, and who may ask for them and for a line."""

from __future__ import annotations

import re
from html import escape
from http import HTTPStatus
from urllib.parse import urlsplit

from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection

from engine.assets import FOLDER
from engine.remote.trust import LOOPBACK

TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
HOST = re.compile(r"[\w.:\[\]-]{1,255}", re.ASCII)


class Page:
    """Answers what is no WebSocket. From any thread."""

    def __init__(self, guarded: bool, prompt: str = "") -> None:
        """guarded: whether clients need a token, which the page then asks for. prompt: what a world begins with there."""
        self._guarded = guarded
        self._files = {f.name: f.read_bytes() for f in (FOLDER / "page").iterdir() if f.suffix in TYPES}
        body = f'<body data-prompt="{escape(prompt)}"{" data-token" if guarded else ""}><main>'
        self._files["index.html"] = self._files["index.html"].replace(b"<main>", body.encode(), 1)

    def answer(self, connection: ServerConnection, request: Request) -> Response | None:
        """A file of the page, or why not; None: a line may be opened.

        A page may open a line to where it came from and nowhere else. Where there is no token that place has to be named as this machine:
        any name can be made to lead here.
        """
        try:
            host, origin = request.headers.get("Host", ""), request.headers.get("Origin")
            named = urlsplit(f"//{host}").hostname if HOST.fullmatch(host) else None
        except (ValueError, LookupError):  # more than one of a kind
            named = None
        if named is None or not (self._guarded or named in LOOPBACK):
            return connection.respond(HTTPStatus.FORBIDDEN, "This server is not known by that name.\n")
        if request.headers.get("Upgrade", "").lower() == "websocket":
            if origin is None or urlsplit(origin).netloc == host:
                return None
            return connection.respond(HTTPStatus.FORBIDDEN, "This page comes from somewhere else.\n")
        name = "index.html" if (path := request.path.partition("?")[0]) == "/" else path[1:]
        if name not in self._files:
            return connection.respond(HTTPStatus.NOT_FOUND, "There is no such page.\n")
        response = connection.respond(HTTPStatus.OK, self._files[name].decode())
        del response.headers["Content-Type"]
        response.headers["Content-Type"] = f"{TYPES['.' + name.rpartition('.')[2]]}; charset=utf-8"
        response.headers["Content-Security-Policy"] = (
            f"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' ws://{host} wss://{host}; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["Cache-Control"] = "no-store"
        return response
