"""`foreland serve`: worlds on this machine for windows on others."""

from __future__ import annotations

import threading
from pathlib import Path

import click

from app.cli.errors import UserError, as_user_error
from app.cli.model_options import model_options
from app.cli.parameters import FILE, Whole
from app.options import ChoiceError, ModelOptions
from engine.files import FileError
from engine.runtime.live_engine import LiveEngine
from engine.runtime.settings import Settings

PORT = 7420
LOOPBACK = ("127.0.0.1", "::1", "localhost")


@click.command()
@model_options
@click.option("--host", default="127.0.0.1", metavar="ADDRESS", help="Address to listen at.")
@click.option("--port", type=Whole(0, 65535), default=PORT, help="Port to listen at; 0 for a free one.")
@click.option(
    "--token-file", type=FILE, metavar="FILE", help="Secret that clients have to know; made when it is not there."
)
@click.option(
    "--worlds", type=Whole(1, 64), default=1, metavar="N", help="Worlds at once, each with a model of its own."
)
def serve(model: ModelOptions, host: str, port: int, token_file: Path | None, worlds: int) -> int:
    """Run worlds for windows elsewhere: `foreland run --connect ws://HOST:PORT`.

    Only this machine can connect: come in by `ssh -L 7420:localhost:7420 HOST`.
    """
    from engine.remote.lobby import Lobby
    from engine.remote.trust import token_of
    from engine.remote.websocket_line import listen
    from engine.runtime.clock import SystemClock

    if host not in LOOPBACK:
        raise UserError(
            f"--host {host} would let other machines in over a line that anyone can read: leave it out, and connect through "
            f"`ssh -L {port}:localhost:{port} THIS_MACHINE`"
        )
    with as_user_error(ChoiceError, FileError):
        choice = model.choose()
        token = token_of(token_file, make=True) if token_file is not None else ""
    clock = SystemClock()

    def make(settings: Settings, folder: Path) -> LiveEngine:
        return choice.engine(settings, folder, clock)

    lobby = Lobby(make, choice.spec, clock, worlds, token)
    try:
        server = listen(lobby, host, port)
    except OSError as e:
        raise UserError(f"{host}:{port} cannot be used ({e.strerror or e}): choose another --port") from e
    port = server.socket.getsockname()[1]
    more = f" --token-file {token_file}" if token_file is not None else ""
    click.echo(f"{choice.name} is served: foreland run --connect ws://{host}:{port}{more}")
    try:
        server.serve_forever()
    finally:
        lobby.close()
        server.shutdown()
        for thread in threading.enumerate():
            if thread.name == "foreland-host":
                thread.join(3)
    return 0
