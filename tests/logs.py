"""The lines of a session log, also of one that is being written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from engine.runtime.log_rows import RowReader
from engine.runtime.session_log import LOG


def log_lines(folder: Path) -> list[dict[str, Any]]:
    """All whole lines of `folder`/events.jsonl as objects."""
    reader = RowReader()
    return [reader.line(json.loads(x)) for x in (folder / LOG).read_text("utf-8").split("\n")[:-1]]
