"""A hub on the loopback that lies, and a cache of it that somebody broke: what `models pull` and `models verify` are told."""

from __future__ import annotations

import json
import os
import random
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.fuzz import files

MOST_LINES = 16
"""`verify` says one of each file."""
MODELS = ("wan2.1-t2v-1.3b-self-forcing", "wan2.1-t2v-1.3b", "pocket", "ltx-2.3", "no-such-model")
COMMIT = "0123456789abcdef0123456789abcdef01234567"
ETAGS = ('"abc"', '""', "", '"../../x"', '"' + "e" * 4000 + '"', '"a/b"', 'W/"abc"', '"\u00e9"')


def place_cache(r: random.Random, repo: str, cache: Path) -> None:
    """What is there of a repository already, none of it as the library would leave it."""
    folder = cache / f"models--{repo.replace('/', '--')}"
    snapshot = folder / "snapshots" / r.choice((COMMIT, "main", ".."))
    for file in (
        folder / "refs" / "main",
        folder / "blobs" / "abc.part",
        folder / "blobs" / "abc",
        snapshot / "config.json",
        snapshot / "model_index.json",
        snapshot / "checkpoints" / "self_forcing_dmd.pt",
    ):
        if r.random() < 0.5:
            file.parent.mkdir(parents=True, exist_ok=True)
            if not file.exists() and not file.is_symlink():
                files.place(r, file, r.choice((COMMIT.encode(), b"", b"../../..", b"\xff" * 50, b"x" * 5000)))


def serve(r: random.Random, repos: dict[str, list[str]]) -> str:
    """Its address. repos: file names by repository."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: Any) -> None:
            return

        def do_HEAD(self) -> None:
            self.answer(False)

        def do_GET(self) -> None:
            self.answer(True)

        def answer(self, body: bool) -> None:
            try:
                self._answer(body)
            except (OSError, ValueError):  # whoever asked went away, or a header that no library sends
                self.close_connection = True

        def _answer(self, body: bool) -> None:
            path = self.path.split("?")[0]
            repo = next((x for x in repos if x in path), "")
            if path.startswith("/api/"):
                data = _info(r, repo, repos.get(repo, []))
                return self.send(
                    r.choice((200,) * 9 + (401, 403, 404)), data, {"Content-Type": "application/json"}, body
                )
            data = b"weights" * r.randrange(3)
            head = {"ETag": r.choice(ETAGS), "X-Repo-Commit": r.choice((COMMIT, "", "../..", "x" * 300))}
            if r.random() < 0.2:
                head["Content-Length"] = r.choice(("0", "3", "99", "-1", "9" * 30, "x"))
            if r.random() < 0.1:
                del head["ETag"]
            return self.send(r.choice((200,) * 9 + (206, 404)), data, head, body)

        def send(self, status: int, data: bytes, head: dict[str, str], body: bool) -> None:
            self.send_response(status)
            for key, value in ({"Content-Length": str(len(data))} | head).items():
                self.send_header(key, value)
            self.end_headers()
            if body:
                self.wfile.write(data)
            self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def _info(r: random.Random, repo: str, names: list[str]) -> bytes:
    odd = ("../../etc/x", "/etc/x", "a\x00b", "x" * 5000, "", "checkpoints", "a//b", "con", "\ud800")
    rows: list[Any] = [{"rfilename": n, "size": r.choice((7, 0, -1, 2**63))} for n in names]
    rows += [{"rfilename": r.choice(odd), "size": 7, "lfs": {"sha256": "0" * 64, "size": 7, "pointerSize": 9}}]
    good = {"id": repo, "modelId": repo, "sha": COMMIT, "siblings": rows, "cardData": {"license": "\x1b[31mmit\n" * 9}}
    return json.dumps(good).encode() if r.random() < 0.4 else files.broken_text(r, good)


def case(r: random.Random) -> tuple[str, Callable[[Path], Any]]:
    """A command line, and what runs it."""
    name, verb = r.choice(MODELS), r.choice((("pull", "--yes"), ("pull",), ("verify",), ("path",)))

    def run(home: Path) -> Any:
        from huggingface_hub import constants

        from app.cli.main import main
        from engine.models.catalogue import load_catalogue

        known = load_catalogue()
        entry = known.get(name)
        repos: dict[str, list[str]] = {}
        for e in [] if entry is None else [entry, *([known[entry.base]] if entry.base else [])]:
            repos[e.repo] = [*e.files, "model_index.json", "vae/config.json", "transformer/config.json"]
        cache = home / "hub"
        for repo in repos:
            place_cache(r, repo, cache)
        address = serve(r, repos)
        os.environ |= {"HF_ENDPOINT": address, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1", "HF_HUB_OFFLINE": "0"}
        constants.HF_HUB_CACHE, constants.HF_HUB_OFFLINE = str(cache), False
        before = sorted(p for p in home.parent.glob("*") if p.name in ("etc", "x"))
        status = main(["models", verb[0], name, *verb[1:]])
        assert sorted(p for p in home.parent.glob("*") if p.name in ("etc", "x")) == before, (
            "a file outside of the cache"
        )
        return status

    return f"models {' '.join(verb)} of {name} from a hub that lies", run
