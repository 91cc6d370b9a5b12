"""Pulling from a stand-in for the hub on the loopback: size and licence first, resuming, cancelling, verifying, offline."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import close_session, constants

from app.cli.main import main
from engine.models import hub
from engine.models.catalogue import find, load_catalogue

COMMIT = "0123456789abcdef0123456789abcdef01234567"
ROOT = Path(__file__).resolve().parents[3]


class Hub:
    """Serves folders as repositories. cut: names whose first download breaks off in the middle."""

    def __init__(self, repos: dict[str, Path]) -> None:
        self.repos, self.cut = repos, set()  # type: ignore[var-annotated]
        self.ranges: list[str] = []
        self.gets: list[str] = []
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args: Any) -> None:
                return

            def do_HEAD(self) -> None:
                self.answer(False)

            def do_GET(self) -> None:
                self.answer(True)

            def answer(self, body: bool) -> None:
                path = self.path.split("?")[0]
                if m := re.match(r"/api/models/([^/]+/[^/]+)(/revision/[^/]+)?$", path):
                    return self.info(m[1])
                if m := re.match(r"/([^/]+/[^/]+)/resolve/[^/]+/(.+)$", path):
                    return self.file(m[1], m[2], body)
                self.send_error(404)

            def info(self, repo: str) -> None:
                if repo not in hub.repos:
                    return self.missing()
                files = sorted(p for p in hub.repos[repo].rglob("*") if p.is_file())
                siblings = []
                for p in files:
                    entry: dict[str, Any] = {"rfilename": str(p.relative_to(hub.repos[repo])), "size": p.stat().st_size}
                    if p.suffix in (".safetensors", ".pt"):
                        sha = hashlib.sha256(p.read_bytes()).hexdigest()
                        entry["lfs"] = {"sha256": sha, "size": p.stat().st_size, "pointerSize": 130}
                    siblings.append(entry)
                data = {
                    "id": repo,
                    "modelId": repo,
                    "sha": COMMIT,
                    "siblings": siblings,
                    "cardData": {"license": "apache-2.0"},
                }
                self.send(200, json.dumps(data).encode(), {"Content-Type": "application/json"})

            def missing(self) -> None:
                self.send(404, b"{}", {"X-Error-Code": "RepoNotFound", "Content-Type": "application/json"})

            def file(self, repo: str, name: str, body: bool) -> None:
                path = hub.repos.get(repo, Path("/nowhere")) / name
                if not path.is_file():
                    return self.missing()
                data = path.read_bytes()
                head = {
                    "ETag": f'"{hashlib.sha256(data).hexdigest()}"',
                    "X-Repo-Commit": COMMIT,
                    "Accept-Ranges": "bytes",
                }
                status, part = 200, data
                if (r := self.headers.get("Range")) and (m := re.match(r"bytes=(\d+)-", r)):
                    hub.ranges.append(name)
                    status, part = 206, data[int(m[1]) :]
                    head["Content-Range"] = f"bytes {m[1]}-{len(data) - 1}/{len(data)}"
                if not body:
                    return self.send(status, None, head | {"Content-Length": str(len(data))})
                hub.gets.append(name)
                if name in hub.cut and status == 200:
                    hub.cut.discard(name)
                    self.send_response(200)
                    for k, v in (head | {"Content-Length": str(len(data))}).items():
                        self.send_header(k, v)
                    self.end_headers()
                    self.wfile.write(data[: len(data) // 2])
                    self.wfile.flush()
                    self.close_connection = True
                    self.connection.shutdown(2)
                    return
                self.send(status, part, head)

            def send(self, status: int, data: bytes | None, head: dict[str, str]) -> None:
                self.send_response(status)
                for k, v in head.items():
                    self.send_header(k, v)
                if "Content-Length" not in head:
                    self.send_header("Content-Length", str(len(data or b"")))
                self.end_headers()
                if data:
                    self.wfile.write(data)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def served(checkpoints: Callable[[str], Path]) -> Iterator[Hub]:
    known = load_catalogue()
    flow = checkpoints("wan2.1-t2v-1.3b-self-forcing")
    hub = Hub(
        {
            known["wan2.1-t2v-1.3b-self-forcing"].repo: flow,
            known["wan2.1-t2v-1.3b"].repo: checkpoints("wan2.1-t2v-1.3b"),
        }
    )
    yield hub
    hub.server.shutdown()


def process(hub: Hub, cache: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, as the library reads its variables when it is imported."""
    environment = {**os.environ, "HF_ENDPOINT": hub.url, "HF_HUB_CACHE": str(cache), "HF_HUB_DISABLE_XET": "1", **more}
    environment["NO_PROXY"] = environment["no_proxy"] = "127.0.0.1"
    command = [sys.executable, "-m", "app", *words]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=180)


@dataclass
class Ended:
    """What a command left behind."""

    returncode: int
    stdout: str
    stderr: str


def foreland(hub: Hub, cache: Path, *words: str, offline: bool = False) -> Ended:
    """The command in this process, with the library's variables as a start of their own would find them."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        for name, value in (("HF_ENDPOINT", hub.url), ("NO_PROXY", "127.0.0.1"), ("no_proxy", "127.0.0.1")):
            patch.setenv(name, value)
        patch.setenv("FORELAND_HOME", str(cache / "home"))
        patch.setenv("HF_HUB_OFFLINE", "1" if offline else "0")
        patch.setattr(constants, "HF_HUB_OFFLINE", offline)
        patch.setattr(constants, "HF_HUB_CACHE", str(cache))
        close_session()
        status = main([*words])
    close_session()
    return Ended(status, out.getvalue(), err.getvalue())


def test_pull_shows_size_and_licence_then_loads_base_and_weights(served: Hub, tmp_path: Path) -> None:
    name = "wan2.1-t2v-1.3b-self-forcing"
    asked = foreland(served, tmp_path, "models", "pull", name)
    assert asked.returncode == 2 and "--yes" in asked.stderr and not served.gets
    assert "apache-2.0" in asked.stdout and "free)" in asked.stdout
    done = process(served, tmp_path, "models", "pull", name, "--yes")
    assert done.returncode == 0, done.stderr
    assert "checkpoints/self_forcing_dmd.pt" in served.gets
    assert not any(g.startswith("transformer/") for g in served.gets)  # the base's own transformer is not needed
    where = foreland(served, tmp_path, "models", "path", name, offline=True)
    assert (Path(where.stdout.strip()) / "checkpoints/self_forcing_dmd.pt").exists()
    assert foreland(served, tmp_path, "models", "verify", name).returncode == 0
    again = foreland(served, tmp_path, "models", "pull", name, "--yes")
    assert again.returncode == 0 and served.gets.count("checkpoints/self_forcing_dmd.pt") == 1
    listed = json.loads(foreland(served, tmp_path, "models", "list", "--json", offline=True).stdout)
    assert {r["name"]: r["here"] for r in listed}[name] is True


@pytest.mark.slow  # pulls, and plays in a process of its own: a minute beside other tests
def test_a_pulled_name_runs_from_the_cache(served: Hub, tmp_path: Path) -> None:
    """By name, from the hub's cache, offline; the small files keep their published layout."""
    name = "wan2.1-t2v-1.3b"
    assert process(served, tmp_path, "models", "pull", name, "--yes").returncode == 0
    folder = process(served, tmp_path, "models", "path", name, HF_HUB_OFFLINE="1").stdout.strip()
    script = tmp_path / "s.json"
    script.write_text(json.dumps({"prompt": "snow", "seconds": 0.5, "events": []}))
    words = ["explore", "--model", folder, "--device", "cpu", "--script", str(script), "--out", str(tmp_path / "f.mp4")]
    done = process(
        served, tmp_path, *words, "--steps", "1", "--window", "4", "--assume-call", "0.1", HF_HUB_OFFLINE="1"
    )
    assert done.returncode == 0, done.stderr


def test_a_broken_download_goes_on_where_it_stopped(served: Hub, tmp_path: Path) -> None:
    name = "wan2.1-t2v-1.3b-self-forcing"
    large = tmp_path / "large" / "checkpoints" / "self_forcing_dmd.pt"  # the library writes in pieces of 10 MB
    large.parent.mkdir(parents=True)
    large.write_bytes(os.urandom(32 << 20))
    served.repos[load_catalogue()[name].repo] = tmp_path / "large"
    served.cut.add("checkpoints/self_forcing_dmd.pt")
    for _ in range(3):
        done = foreland(served, tmp_path, "models", "pull", name, "--yes")
        if done.returncode == 0:
            break
        assert "kept" in done.stderr
    assert done.returncode == 0, done.stderr
    assert "checkpoints/self_forcing_dmd.pt" in served.ranges
    assert foreland(served, tmp_path, "models", "verify", name).returncode == 0


def test_verify_finds_what_is_wrong(served: Hub, tmp_path: Path) -> None:
    name = "wan2.1-t2v-1.3b-self-forcing"
    foreland(served, tmp_path, "models", "pull", name, "--yes")
    file = next(tmp_path.rglob("self_forcing_dmd.pt")).resolve()
    data = bytearray(file.read_bytes())
    data[1000] ^= 255
    file.write_bytes(data)
    found = foreland(served, tmp_path, "models", "verify", name)
    assert found.returncode == 1 and "another checksum" in found.stdout
    file.write_bytes(data[:-10])
    assert "bytes instead of" in foreland(served, tmp_path, "models", "verify", name).stdout


def test_offline_unreachable_and_unknown_are_said_in_one_line(served: Hub, tmp_path: Path) -> None:
    name = "wan2.1-t2v-1.3b"
    off = foreland(served, tmp_path, "models", "pull", name, "--yes", offline=True)
    assert off.returncode == 2 and "offline mode is on" in off.stderr and len(off.stderr.strip().splitlines()) == 1
    served.repos.clear()
    gone = foreland(served, tmp_path, "models", "pull", name, "--yes")
    assert gone.returncode == 2 and "not on the hub" in gone.stderr
    served.server.shutdown()
    served.server.server_close()
    dead = foreland(served, tmp_path, "models", "pull", name, "--yes")
    assert dead.returncode == 2 and "could not be reached" in dead.stderr
    assert "unknown model" in foreland(served, tmp_path, "models", "pull", "wan9").stderr


def test_a_full_disk_and_a_cancel_keep_what_there_is(
    served: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plan is asked of the stand-in, the disk is said to be full, the person stops."""
    for name, value in (("HF_ENDPOINT", served.url), ("NO_PROXY", "127.0.0.1"), ("no_proxy", "127.0.0.1")):
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    close_session()
    plan = hub.plan(find("wan2.1-t2v-1.3b-self-forcing"))
    with pytest.raises(hub.HubError, match="HF_HUB_CACHE"):
        hub.pull(replace(plan, free=10), lambda *a: True)
    seen: list[str] = []

    def report(name: str, done: int, total: int) -> bool:
        seen.append(name)
        return len(seen) < 4

    with pytest.raises(hub.Cancelled, match=r"^stopped:.*next pull goes on"):
        hub.pull(plan, report)
    assert str(hub.pull(plan, lambda *a: True)).endswith(COMMIT)
    close_session()
