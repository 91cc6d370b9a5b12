"""What goes wrong by a person's hand: one line on stderr and status 2."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

BAD_INPUT = 2
FAILED = 1


class UserError(click.ClickException):
    """One clear line for the person: what happened, what was kept, what is allowed."""

    exit_code = BAD_INPUT


@contextmanager
def as_user_error(*kinds: type[Exception]) -> Iterator[None]:
    """Errors of these kinds are the person's to mend: their message becomes a UserError."""
    try:
        yield
    except kinds as e:
        raise UserError(str(e)) from e
