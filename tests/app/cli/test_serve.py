"""`foreland serve` and `--connect`: what is refused, and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.cli.main import main


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
