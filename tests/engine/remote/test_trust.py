"""TLS with a certificate of the server's own, and who is known by its fingerprint."""

from __future__ import annotations

import json
import socket
import struct
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from engine.files import FileError
from engine.remote.client import RemoteWorld
from engine.remote.line import LineError
from engine.remote.lobby import Lobby
from engine.remote.trust import Certificate, KnownServers, client_context, fingerprint
from engine.remote.websocket_line import dialler, listen, pinned
from engine.runtime.clock import SystemClock
from tests.engine.remote.test_remote_world import LARGE

TOKEN = "a token that is long enough"


@contextmanager
def server(certificate: Certificate, port: int = 0) -> Iterator[int]:
    def make(*wanted: object) -> None:
        raise AssertionError("nobody begins a world here")

    lobby = Lobby(make, LARGE, SystemClock(), token=TOKEN)  # type: ignore[arg-type]
    listening = listen(lobby, "127.0.0.1", port, certificate.context())
    thread = threading.Thread(target=listening.serve_forever)
    thread.start()
    yield listening.socket.getsockname()[1]
    listening.shutdown()
    thread.join()


@pytest.mark.integration
def test_a_server_is_pinned_at_the_first_visit_and_refused_when_it_is_another(tmp_path: Path) -> None:
    mine, other = Certificate.of(tmp_path / "mine"), Certificate.of(tmp_path / "other")
    assert mine.fingerprint == Certificate.of(tmp_path / "mine").fingerprint != other.fingerprint
    assert [f.stat().st_mode & 0o077 for f in (mine.file, mine.key, mine.file.parent)] == [0, 0, 0]
    said: list[str] = []
    known = KnownServers(tmp_path / "known.json")

    def visit(port: int, expected: str | None = None) -> RemoteWorld:
        check = pinned("here", known, expected, said.append)
        return RemoteWorld.at("there", dialler(f"wss://127.0.0.1:{port}", client_context(), check), TOKEN)

    with server(mine) as port:
        with pytest.raises(LineError, match="not SHA256:else"):
            visit(port, "SHA256:else")
        assert visit(port).spec == LARGE
        assert len(said) == 1 and mine.fingerprint in said[0]
        assert visit(port).spec == LARGE and len(said) == 1, "it is known now"
        with pytest.raises(LineError, match="does not answer"):
            RemoteWorld.at("there", dialler(f"ws://127.0.0.1:{port}"), TOKEN)
        with socket.create_connection(("127.0.0.1", port)) as rude:  # says something and resets before it is answered
            rude.sendall(b"GET / HTTP/1.1\r\n\r\n")
            rude.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        assert visit(port).spec == LARGE
        shown = subprocess.run(
            ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-no_tls1_3"],
            input=b"",
            capture_output=True,
            timeout=30,
        )
        assert shown.returncode != 0, "nothing older than TLS 1.3 is spoken"
    with server(other) as port:
        with pytest.raises(LineError, match="has changed") as e:
            visit(port)
        assert mine.fingerprint in str(e.value) and "--fingerprint" in str(e.value)
        assert visit(port, other.fingerprint).spec == LARGE, "the person says that it was set up anew"
        assert visit(port).spec == LARGE


def test_the_fingerprint_is_the_one_that_openssl_shows(tmp_path: Path) -> None:
    made = Certificate.of(tmp_path)
    shown = subprocess.run(
        ["openssl", "x509", "-in", str(made.file), "-noout", "-fingerprint", "-sha256"],
        capture_output=True,
        text=True,
        check=True,
    )
    digest = bytes.fromhex(shown.stdout.strip().split("=")[1].replace(":", ""))
    import base64

    assert made.fingerprint == "SHA256:" + base64.b64encode(digest).decode().rstrip("=")
    assert fingerprint(b"") != made.fingerprint


def test_a_broken_list_of_servers_and_a_broken_certificate_are_said_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "known.json"
    for text in ("[1]", "{", "[" * 50_000):
        file.write_text(text)
        with pytest.raises(LineError, match="delete it"):
            KnownServers(file).check("here", "SHA256:x")
    file.unlink()
    assert KnownServers(file).check("here", "SHA256:x") and not KnownServers(file).check("here", "SHA256:x")
    assert json.loads(file.read_text()) == {"here": "SHA256:x"} and file.stat().st_mode & 0o077 == 0
    (tmp_path / "certificate.pem").write_text("no")
    (tmp_path / "key.pem").write_text("no")
    with pytest.raises(FileError):
        Certificate.of(tmp_path).context()
    with pytest.raises(FileError):
        _ = Certificate.of(tmp_path).fingerprint
    monkeypatch.setenv("PATH", "")
    with pytest.raises(FileError, match="install it"):
        Certificate.of(tmp_path / "new")
