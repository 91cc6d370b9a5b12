"""Kinds of values on the command line: numbers in a range, lists, sizes of pictures."""

from __future__ import annotations

import errno
import math
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem


class FilePath(click.Path):
    """A file or folder. Whether it is there is asked where it is used: the answer then says what it was for. A name that no file can
    have is refused at once."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            os.lstat(value)
        except OSError as e:
            if e.errno == errno.ENAMETOOLONG:
                self.fail(f"{str(value)[:80]}... is too long for a file's name", param, ctx)
        except ValueError as e:
            self.fail(f"{str(value)[:80]!r} is not a file name ({e})", param, ctx)
        if not str(value):
            self.fail("the name of the file is empty", param, ctx)
        return super().convert(value, param, ctx)


FILE = FilePath(path_type=Path)


class Number(click.FloatRange):
    """A number in a range; nan and inf are none."""

    name = "x"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number: float = click.FLOAT.convert(value, param, ctx)
        _in_range(self, number, param, ctx)
        return number


class Whole(click.IntRange):
    """A whole number in a range."""

    name = "n"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        number: int = click.INT.convert(value, param, ctx)
        _in_range(self, number, param, ctx)
        return number


def _in_range(kind: Number | Whole, number: float, param: click.Parameter | None, ctx: click.Context | None) -> None:
    """Fails in the words of all other messages of the program."""
    low, high = kind.min, kind.max
    if (low is not None and (number <= low if kind.min_open else number < low)) or (high is not None and number > high):
        pass
    elif math.isfinite(number):
        return
    least = "" if low is None else f"more than {low:g}" if kind.min_open else f"at least {low:g}"
    if high is None:
        allowed = least or "any finite number"
    else:
        allowed = f"{low:g} to {high:g}" if low is not None and not kind.min_open else f"{least}, at most {high:g}"
    kind.fail(f"{number:g} is out of range: {allowed}", param, ctx)


class Listed(click.ParamType[list[Any]]):
    """Values of one kind, separated by commas."""

    def __init__(self, kind: click.ParamType[Any]) -> None:
        self.kind, self.name = kind, f"{kind.name},..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[Any]:
        if isinstance(value, list):
            return value
        return [self.kind.convert(part.strip(), param, ctx) for part in str(value).split(",")]


class Size(click.ParamType[tuple[int, int]]):
    """A picture's size as WxH."""

    name = "WxH"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        if isinstance(value, tuple):
            return value
        if not (m := re.fullmatch(r"([0-9]{1,6})x([0-9]{1,6})", value)):
            self.fail(f"{value[:40]} is not a size: give one like 832x480.", param, ctx)
        return int(m[1]), int(m[2])


class Gpus(click.ParamType[Any]):
    """A number of ranks, or auto for all GPUs."""

    name = "N"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "auto" or isinstance(value, int):
            return value
        if not re.fullmatch("[0-9]{1,2}", value) or not 1 <= int(value) <= 64:
            self.fail(f"{value[:40]} is not a number of GPUs: give 1 to 64, or auto.", param, ctx)
        return int(value)


def completing(names: Callable[[], list[str]]) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """Completes an option by names that are asked for at the key press."""
    return lambda ctx, param, begun: [CompletionItem(n) for n in names() if n.startswith(begun)]
