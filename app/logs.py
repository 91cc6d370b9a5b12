"""Where log messages go: a file in the data folder, and the terminal."""

from __future__ import annotations

import copy
import logging
import logging.handlers
import os
import re
import sys
from pathlib import Path
from typing import Any

from app.storage.paths import data_folder
from engine.files import PRIVATE, PRIVATE_FOLDER

LEVELS = ("debug", "info", "warning", "error")
FILE_BYTES, FILES = 1_000_000, 3
TERMINAL, FILE = "foreland-terminal", "foreland-file"
"""Names of the two handlers."""
SECRETS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
"""Environment variables whose values are never written."""


def log_file() -> Path:
    """The newest log; older ones lie beside it with .1 and .2 after the name."""
    return data_folder() / "logs" / "foreland.log"


def newest_lines(most: int = 200_000) -> str:
    """The last lines of the newest log, of about so many characters; a sentence where there is none."""
    try:
        with log_file().open("rb") as log:
            log.seek(max(0, log_file().stat().st_size - most))
            return log.read(most).decode("utf-8", "replace")
    except OSError as e:
        return f"There is no log yet ({e.strerror})."


class WithoutSecrets(logging.Formatter):
    """Formats a record, and leaves out tokens and what is in the environment's secrets."""

    def __init__(self, form: str, traces: bool = True) -> None:
        """traces: whether tracebacks are written; a person at a terminal is told in a line, and finds them in the file."""
        super().__init__(form)
        self._traces = traces

    def format(self, record: logging.LogRecord) -> str:
        if not self._traces:
            record = copy.copy(record)
            record.exc_info = record.exc_text = record.stack_info = None
        text = re.sub(
            r"\bhf_\w{8,}|(?i:bearer )\S+|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)", "[secret]", super().format(record)
        )
        for name in SECRETS:
            if value := os.environ.get(name):
                text = text.replace(value, "[secret]")
        return text


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, PRIVATE)


class QuietFile(logging.handlers.RotatingFileHandler):
    """The log file, made at the first message. Where it cannot be written there is none: the program goes on."""

    def _open(self) -> Any:
        return open(self.baseFilename, self.mode, encoding=self.encoding, opener=_private)

    def emit(self, record: logging.LogRecord) -> None:
        if self.stream is None:
            try:
                Path(self.baseFilename).parent.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
            except OSError:
                return
        super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """A full disk is said by what wanted to write there, not by the log."""


def set_up_logs(level: str) -> None:
    """Sends messages of `level` to the terminal, and those of Foreland from info on to the file, which rotates.

    May be called again: the handlers are replaced.
    """
    root = logging.getLogger()
    for handler in [h for h in root.handlers if h.name in (TERMINAL, FILE)]:
        root.removeHandler(handler)
        handler.close()
    terminal = logging.StreamHandler(sys.stderr)
    terminal.set_name(TERMINAL)
    terminal.setLevel(level.upper())
    terminal.setFormatter(WithoutSecrets("%(name)s: %(message)s", traces=level in ("debug", "info")))
    file = QuietFile(log_file(), maxBytes=FILE_BYTES, backupCount=FILES - 1, encoding="utf-8", delay=True)
    file.set_name(FILE)
    file.setLevel("DEBUG" if level == "debug" else "INFO")
    file.setFormatter(WithoutSecrets("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    for handler in (terminal, file):
        root.addHandler(handler)
    for name in ("app", "engine", "foreland"):
        logging.getLogger(name).setLevel("DEBUG" if level == "debug" else "INFO")
