"""What is wrong with a wish or a file, and not with the program."""

from __future__ import annotations


class Refused(ValueError):
    """What a person wants cannot be done. The message says why in one line; nothing was changed."""
