"""How the two ends know each other: a secret in a file of one person's."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from engine.files import PRIVATE, FileError

SHORTEST = 16
"""Characters of a token."""
LONGEST = 256


def token_of(file: Path, make: bool = False) -> str:
    """The secret in a file. make: writes a new one, readable by its owner only, where there is no file. Raises FileError."""
    try:
        if make and not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            with os.fdopen(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE), "w") as f:
                f.write(secrets.token_urlsafe(32) + "\n")
        if make and os.name == "posix" and file.stat().st_mode & 0o077:
            raise FileError(f"others can read the token in {file}: chmod 600 {file}")
        token = file.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as e:
        raise FileError(f"the token file {file} cannot be used ({getattr(e, 'strerror', None) or e})") from e
    if not SHORTEST <= len(token) <= LONGEST:
        raise FileError(f"the token in {file} has {len(token)} characters: {SHORTEST} to {LONGEST} are wanted")
    return token
