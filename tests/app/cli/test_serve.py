"""`foreland serve` and `--connect`: what is refused, and why."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli.main import main
from engine.remote.address import dial_to
from engine.remote.client import RemoteWorld
from engine.remote.line import LineError
from engine.remote.trust import token_of


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["serve", "--host", "0.0.0.0"], "--token-file"),
        (["serve", "--host", "0.0.0.0", "--tls"], "ssh -L"),
        (["serve", "--model", "no-such-model"], "no-such-model"),
        (["explore", "--connect", "http://x"], "ws://HOST:PORT"),
        (["explore", "--connect", "ws://[x"], "ws://HOST:PORT"),
        (["explore", "--connect", "ws://192.0.2.1:7420"], "wss://"),
        (["explore", "--connect", "ws://127.0.0.1:9", "--fingerprint", "SHA256:x"], "belongs to wss://"),
        (["explore", "--fingerprint", "SHA256:x"], "needs --connect"),
        (["explore", "--connect", "ws://127.0.0.1:9"], "does not answer"),
        (["explore", "--connect", "wss://127.0.0.1:9"], "does not answer"),
        (["explore", "--connect", "ws://127.0.0.1:9", "--gpus", "2"], "the server chose the model"),
        (["explore", "--token-file", "x"], "needs --connect"),
        (["explore", "--connect", "ws://127.0.0.1:9", "--token-file", "none"], "token file"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(
    arguments: list[str],
    words: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    said = capsys.readouterr().err.strip()
    assert words in said and len(said.splitlines()) == 1


@pytest.mark.integration
def test_what_it_prints_is_what_lets_a_client_in(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "app",
        "serve",
        "--tls",
        "--port",
        "0",
        "--token-file",
        str(tmp_path / "token"),
        "--worlds",
        "2",
    ]
    env = {**os.environ, "FORELAND_HOME": str(tmp_path / "home"), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as server:
        assert server.stdout is not None
        try:
            words = server.stdout.readline().split()
            page = server.stdout.readline()
            url, token, pin = (
                words[words.index(option) + 1] for option in ("--connect", "--token-file", "--fingerprint")
            )
            world = RemoteWorld.at("there", dial_to(url, tmp_path / "known.json", pin), token_of(Path(token)))
            assert world.spec.name
            assert url.startswith("wss://127.0.0.1:") and url.replace("wss", "https") in page and "#watch=" in page
            with pytest.raises(LineError, match="not SHA256:another"):
                RemoteWorld.at("there", dial_to(url, tmp_path / "known.json", "SHA256:another"), "")
        finally:
            server.terminate()
