"""`foreland serve`: worlds on this machine for windows on others."""

from __future__ import annotations

import shlex
import socket
import ssl
import threading
from pathlib import Path

import click

from app.cli.errors import UserError, as_user_error
from app.cli.explore import load_script
from app.cli.model_options import model_options
from app.cli.parameters import FILE, Whole
from app.options import ChoiceError, ModelOptions
from app.storage.paths import data_folder
from engine.files import FileError
from engine.runtime.live_engine import LiveEngine
from engine.runtime.settings import Settings

PORT = 7420


@click.command()
@model_options
@click.option("--host", default="127.0.0.1", metavar="ADDRESS", help="Address to listen at.")
@click.option("--tls", is_flag=True, help="Encrypt on loopback too; elsewhere it is always done.")
@click.option("--port", type=Whole(0, 65535), default=PORT, help="Port to listen at; 0 for a free one.")
@click.option(
    "--token-file", type=FILE, metavar="FILE", help="Secret that clients have to know; made when it is not there."
)
@click.option(
    "--worlds",
    type=Whole(1, 64),
    default=1,
    metavar="N",
    help="Worlds at once: each has the model in memory; they take turns to sample.",
)
def serve(model: ModelOptions, host: str, tls: bool, port: int, token_file: Path | None, worlds: int) -> int:
    """Run worlds for windows elsewhere: `foreland run --connect ws://HOST:PORT`.

    Only this machine can connect: come in by `ssh -L 7420:localhost:7420 HOST`. With `--host 0.0.0.0 --token-file FILE` other
    machines can too, over TLS, with the token and the fingerprint that is printed.
    """
    from engine.remote.lobby import Lobby
    from engine.remote.trust import LOOPBACK, Certificate, token_of
    from engine.remote.websocket_line import listen
    from engine.runtime.clock import SystemClock
    from engine.runtime.shared_sampler import SharedSampler

    if host not in LOOPBACK and token_file is None:
        raise UserError(
            f"--host {host} lets other machines in: give --token-file FILE too, or leave --host out and connect through "
            f"`ssh -L {port}:localhost:{port} THIS_MACHINE`"
        )
    with as_user_error(ChoiceError, FileError):
        choice = model.choose()
        token = token_of(token_file, make=True) if token_file is not None else ""
        certificate = Certificate.of(data_folder() / "server") if tls or host not in LOOPBACK else None
        context = certificate.context() if certificate is not None else None
        pin = f" --fingerprint {certificate.fingerprint}" if certificate is not None else ""
    clock = SystemClock()

    shared = SharedSampler(clock) if worlds > 1 else None

    def make(settings: Settings, folder: Path) -> LiveEngine:
        return choice.engine(settings, folder, clock, shared=shared)

    lobby = Lobby(make, choice.spec, clock, worlds, token, _say, lambda: None if shared is None else shared.too_many)
    try:
        server = listen(lobby, host, port, context, prompt=load_script(None).prompt)
    except OSError as e:
        raise UserError(f"{host}:{port} cannot be used ({e.strerror or e}): choose another --port") from e
    port = server.socket.getsockname()[1]
    more = f" --token-file {shlex.quote(str(token_file))}" if token_file is not None else ""
    click.echo(f"{choice.name} is served: foreland run --connect {_address(host, port, context)}{more}{pin}")
    page = _address(host, port, context).replace("ws", "http", 1)
    click.echo(f"in a browser: {page}/ ; to look on without doing anything: {page}/#watch={lobby.watch_key}")
    try:
        server.serve_forever()
    finally:
        lobby.close()
        server.shutdown()
        for thread in threading.enumerate():
            if thread.name == "foreland-host":
                thread.join(3)
    return 0


def _address(host: str, port: int, context: ssl.SSLContext | None) -> str:
    """What a client says."""
    name = socket.gethostname() if host in ("", "0.0.0.0", "::") else host
    return f"{'ws' if context is None else 'wss'}://{f'[{name}]' if ':' in name else name}:{port}"


def _say(sentence: str) -> None:
    click.echo(f"foreland: {sentence}", err=True)
