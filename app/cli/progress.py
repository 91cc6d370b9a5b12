"""Progress on the terminal."""

from __future__ import annotations

import sys

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn


class ProgressLine:
    """A progress bar on a terminal; elsewhere one plain line for each stage. Both on stderr."""

    def __init__(self) -> None:
        self._stage = ""
        self._bar: Progress | None = None
        if sys.stderr.isatty():
            columns = (TextColumn("{task.description:<28}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
            self._bar = Progress(*columns, console=Console(stderr=True))
            self._task = self._bar.add_task("", total=1.0)
            self._bar.start()

    def __call__(self, stage: str, share: float) -> None:
        """stage: in words; share: of it or of everything that is done, in [0, 1]."""
        if self._bar is not None:
            self._bar.update(self._task, description=stage, completed=share)
        elif stage != self._stage:
            click.echo(f"{stage} ...", err=True)
        self._stage = stage

    def end(self) -> None:
        """Leaves the bar as it is; needed also after an error."""
        if self._bar is not None:
            self._bar.stop()
