"""Progress on the terminal."""

from __future__ import annotations

import sys
import time


class ProgressLine:
    """A progress bar on a terminal; single lines elsewhere."""

    def __init__(self) -> None:
        self._stage, self._last = "", 0.0
        self._live = sys.stderr.isatty()

    def __call__(self, stage: str, share: float) -> None:
        now = time.monotonic()
        if stage == self._stage and (not self._live or (now - self._last < 0.1 and share < 1)):
            return
        self._stage, self._last = stage, now
        if self._live:
            bar = "#" * round(30 * share)
            print(f"\r{stage:<28} [{bar:<30}] {share:4.0%}", end="", file=sys.stderr, flush=True)
        else:
            print(f"{stage} ...", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self._live:
            print(file=sys.stderr)
