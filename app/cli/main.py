"""The command line. A command's module is imported when it is asked for, and heavy things by the command that needs them."""

from __future__ import annotations

import importlib
import logging
import os
import sys
import traceback
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import click

from app.cli.ends import Ended, drop_output, ended_by_signals, set_up_output
from app.cli.errors import BAD_INPUT, FAILED
from app.logs import LEVELS, log_file, set_up_logs

LONGEST_LINE = 1200
STOPPED = 130
"""Status after Ctrl+C, as shells have it."""
DEFAULT = "run"
COMMANDS = {
    "run": ("app.cli.run", "Open the window (the default)."),
    "explore": ("app.cli.explore", "Explore without a window, by a key script."),
    "serve": ("app.cli.serve", "Run worlds here for windows elsewhere: see --connect of run and explore."),
    "replay": ("app.cli.replay", "Feed a session's log to the controller again, or make its world again."),
    "models": ("app.cli.models", "List, pull, verify, check and locate models; write small ones to try."),
    "evaluate": ("app.cli.evaluate", "Judge the pocket world against its renderer."),
    "simulate": ("app.cli.simulate", "The controller in virtual time, against theory and the paper."),
    "bench": ("app.cli.bench", "Live measurements on this machine."),
    "soak": ("app.cli.run", "Stress test: the real window under random input."),
    "schema": ("app.cli.schema", "Print what a script, a score or a world may hold, as JSON schema."),
    "doctor": ("app.cli.doctor", "Say what works on this machine and what to install."),
}
"""Name to module, where the command has the same name, and what the list of commands says of it."""
EPILOG = """\
Options without a command are those of `run`: `foreland --model NAME`.

\b
Completion in the shell (bash, zsh or fish), in its start file:
  eval "$(_FORELAND_COMPLETE=bash_source foreland)"
  eval "$(_FORELAND_COMPLETE=zsh_source foreland)"
  _FORELAND_COMPLETE=fish_source foreland | source

\b
Environment:
  FORELAND_HOME     folder for sessions, films, settings and logs
  FORELAND_PRIVATE  1: neither prompts nor keys are written to logs and preferences
  FORELAND_LOG      what the terminal is told: debug, info, warning (default), error
"""


class Commands(click.Group):
    """Sub-commands by name, imported on use; what begins with an option of no other place is `run`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(importlib.import_module(COMMANDS[cmd_name][0]), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Without importing one."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = {name for option in self.get_params(ctx) for name in option.opts}
        at = next((i for i, word in enumerate(args) if word not in own), len(args))
        asked = ctx.resilient_parsing or set(args[:at]) & {"--help", "-h", "--version"}
        if not asked and (at == len(args) or args[at].startswith("-")):
            args = [*args[:at], DEFAULT, *args[at:]]
        return super().parse_args(ctx, args)


def _version() -> str:
    try:
        return version("foreland")
    except PackageNotFoundError:
        return "of a checkout that is not installed"


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True, "max_content_width": 100},
    epilog=EPILOG,
)
@click.option("--verbose", "-v", is_flag=True, help="Say more on the terminal: FORELAND_LOG=info.")
@click.version_option(_version(), message="foreland %(version)s")
def cli(verbose: bool) -> None:
    """Explore worlds that a video diffusion model makes up as you go."""
    level = os.environ.get("FORELAND_LOG", "info" if verbose else "warning").lower()
    if level not in LEVELS:
        raise click.UsageError(f"FORELAND_LOG={level} is not a log level: {', '.join(LEVELS)}")
    set_up_logs(level)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit status."""
    set_up_output()
    try:
        with ended_by_signals():
            status: Any = cli.main(
                list(sys.argv[1:] if arguments is None else arguments), prog_name="foreland", standalone_mode=False
            )
            if sys.stdout is not None:
                sys.stdout.flush()
    except Ended as e:
        click.echo(f"foreland: stopped by {e}; what was recorded is kept", err=True)
        return e.status
    except click.exceptions.Abort:
        click.echo("foreland: stopped; what was recorded is kept", err=True)
        return STOPPED
    except click.ClickException as e:
        click.echo(f"foreland: {_line(e)}", err=True)
        return BAD_INPUT
    except OSError as e:  # a pipe that nobody reads any more is click's: status 1, without a word
        if not _of_output(e):
            return _own_error(e)
        drop_output()
        click.echo(f"foreland: the output cannot be written: {e.strerror}", err=True)
        return BAD_INPUT
    except Exception as e:
        return _own_error(e)
    return status if isinstance(status, int) else 0


def _of_output(e: OSError) -> bool:
    """Whether an error is of writing to the standard output, by where it was raised: not another file's."""
    where = traceback.extract_tb(e.__traceback__)[-1].filename
    return e.filename is None and where in (click.utils.__file__, __file__)


def _own_error(e: Exception) -> int:
    logging.getLogger("foreland").error("the program ended by an error of its own", exc_info=e)
    click.echo(
        f"foreland: an error in the program: {_one_line(str(e)) or type(e).__name__}; the log is {log_file()}", err=True
    )
    return FAILED


def _one_line(text: str) -> str:
    """Without line breaks and other signs that move a terminal's cursor, and not longer than a person reads."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= LONGEST_LINE else line[:LONGEST_LINE] + " ..."


def _line(e: click.ClickException) -> str:
    """The message in one line; what was said wrongly gets a pointer to the help."""
    text = _one_line(e.format_message())
    if isinstance(e, click.UsageError) and e.ctx is not None:
        text += f" (see `{e.ctx.command_path} --help`)"
    return text
