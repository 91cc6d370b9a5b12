"""The options that play a world at the other end of a line, shared by `foreland run` and `foreland explore`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from app.cli.errors import UserError, as_user_error
from app.cli.parameters import FILE
from app.options import ChoiceError, ModelOptions, WorldChoice
from app.storage.paths import data_folder
from engine.errors import Refused

OPTIONS = (
    click.option("--connect", metavar="URL", help="Play a world of `foreland serve` there: ws:// or wss://HOST:PORT."),
    click.option("--token-file", type=FILE, metavar="FILE", help="Secret of that server."),
    click.option(
        "--fingerprint", metavar="SHA256:...", help="Certificate of that server.  [default: the one of the first visit]"
    ),
)


@dataclass(frozen=True)
class Place:
    """Where a world is played: here, or at a server."""

    url: str | None = None
    token_file: Path | None = None
    fingerprint: str | None = None

    def choose(self, model: ModelOptions, window: int | None = None) -> WorldChoice:
        """The model of this machine, or the server's. window: K of the session, where that is chosen. Raises UserError."""
        if self.url is None:
            for option, value in (("--token-file", self.token_file), ("--fingerprint", self.fingerprint)):
                if value is not None:
                    raise UserError(f"{option} needs --connect: name the server")
            with as_user_error(ChoiceError):
                return model.choose(window)
        if model != ModelOptions():
            raise UserError(
                "the server chose the model and how it runs: with --connect leave --model and its options out"
            )
        from engine.remote.address import dial_to
        from engine.remote.client import RemoteWorld
        from engine.remote.line import LineError
        from engine.remote.trust import KNOWN, token_of

        with as_user_error(Refused, LineError):
            token = token_of(self.token_file) if self.token_file is not None else ""
            dial = dial_to(self.url, data_folder() / KNOWN, self.fingerprint, _say)
            return RemoteWorld.at(self.url, dial, token)

    def another(self, model: ModelOptions, name: str) -> WorldChoice:
        """Another model, by its name, folder or file. Raises ChoiceError."""
        if self.url is not None:
            raise ChoiceError(f"{self.url} serves one model: another one needs another `foreland serve`")
        return model.another(name).choose()


def connect_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds them; the command gets them as `place`, a Place."""

    @functools.wraps(command)
    def collected(connect: str | None, token_file: Path | None, fingerprint: str | None, **values: Any) -> Any:
        return command(place=Place(connect, token_file, fingerprint), **values)

    for option in reversed(OPTIONS):
        collected = option(collected)
    return collected


def _say(sentence: str) -> None:
    click.echo(f"foreland: {sentence}", err=True)
