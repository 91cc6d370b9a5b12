"""Figures for a person and for a machine: Markdown tables and JSON files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from app.cli.errors import UserError
from engine.files import write_whole


def write_json(file: Path, data: object) -> None:
    """Makes the folder too. Raises UserError."""
    try:
        write_whole(file, (json.dumps(data, indent=2) + "\n").encode(), 0o644)
    except OSError as e:
        raise UserError(f"cannot write {file}: {e.strerror}") from e


def markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows of the same keys as a Markdown table; numbers with 4 digits."""
    names = list(rows[0])
    lines = ["| " + " | ".join(names) + " |", "| " + " | ".join("---" for _ in names) + " |"]
    for row in rows:
        cells = (f"{row[n]:.4g}" if isinstance(row[n], float) else str(row[n]) for n in names)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)
