"""What the server's log says of updates, and when their pictures were seen here: latency from end to end."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import Any

from engine.runtime.metrics import percentile
from engine.runtime.view import UpdateKind, UpdateMark, UpdatePhase

LATEST = 200
"""Updates that L50 is of."""
WAITING = 64
"""Updates whose pictures are waited for, at most."""


@dataclass(frozen=True)
class _Applied:
    version: int
    arrival: float
    at: float
    R: float
    C: float
    Q: float


class Arrivals:
    """Times are of the server's clock, seconds. Thread-safe: the line's thread tells of receipts, the window's of pictures."""

    def __init__(self, fps: float) -> None:
        self._fps = fps
        self._lock = threading.Lock()
        self._taken: dict[float, float] = {}
        self._kinds: dict[int, tuple[UpdateKind, str]] = {}
        self._seen: dict[tuple[int, int], tuple[float, int]] = {}
        self._open: dict[tuple[int, int], _Applied] = {}
        self.marks: dict[int, UpdateMark] = {}
        """Updates that were seen here, by version."""
        self.last: UpdateMark | None = None
        """The newest one that a person made."""

    def took(self, at: float, taken: float) -> None:
        """What happened at `at` reached the engine at `taken`."""
        with self._lock:
            self._taken[at] = taken
            for old in list(self._taken)[:-WAITING]:
                del self._taken[old]

    def condition(self, version: int, kind: UpdateKind, prompt: str) -> None:
        """What a version came from."""
        with self._lock:
            self._kinds[version] = kind, prompt

    def prompt(self, version: int) -> str:
        """That a version was made under; '' where that is not known."""
        with self._lock:
            return self._kinds.get(version, (UpdateKind.START, ""))[1]

    def applied(self, epoch: int, receipt: dict[str, Any]) -> None:
        """A Receipt of the log: `position` of a world began to play at the server, with this update in it."""
        with self._lock:
            got = {name: float(receipt[name]) for name in ("arrival", "at", "wait", "generate", "queue")}
            update = _Applied(
                int(receipt["version"]), got["arrival"], got["at"], got["wait"], got["generate"], got["queue"]
            )
            self._open[epoch, int(receipt["position"])] = update
            for old in list(self._open)[:-WAITING]:
                del self._open[old]
            self._match()

    def seen(self, epoch: int, position: int, at: float, frame: int) -> None:
        """A group's first picture was shown here."""
        with self._lock:
            self._seen[epoch, position] = at, frame
            for old in list(self._seen)[:-WAITING]:
                del self._seen[old]
            self._match()

    def _match(self) -> None:
        for key in [k for k in self._open if k in self._seen]:
            update, (at, frame) = self._open.pop(key), self._seen[key]
            kind, prompt = self._kinds.get(update.version, (UpdateKind.START, ""))
            line = max(0.0, self._taken.get(update.arrival, update.arrival) - update.arrival)
            mark = UpdateMark(
                update.version,
                kind,
                prompt,
                frame / self._fps,
                frame,
                UpdatePhase.LIVE,
                max(0.0, update.R - line),
                update.C,
                update.Q,
                min(line, update.R),
                max(0.0, at - update.at),
            )
            self.marks[update.version] = mark
            if kind is not UpdateKind.START:
                self.last = mark

    @property
    def latencies(self) -> list[float]:
        """L of what a person did, oldest first, seconds."""
        with self._lock:
            return [m.L for m in self.marks.values() if m.kind is not UpdateKind.START]

    @property
    def median(self) -> float | None:
        """L50 of the latest."""
        return percentile(self.latencies[-LATEST:], 0.5)

    def summary(self, theirs: dict[str, Any], frames: int, stalls: int, stall_seconds: float) -> dict[str, Any]:
        """The server's summary as things were seen here."""
        updates = []
        for update in theirs.get("updates", []):
            mark = self.marks.get(update.get("version"))
            if mark is not None and update.get("L") is not None:
                parts = {name: round(getattr(mark, name), 6) for name in ("R", "C", "Q", "line", "display", "L")}
                update = {**update, **parts}
            updates.append(update)
        played, latencies = frames / self._fps, self.latencies
        return {
            **theirs,
            "updates": updates,
            "L50": percentile(latencies, 0.5),
            "L95": percentile(latencies, 0.95),
            "frames_shown": frames,
            "media_seconds": round(played, 4),
            "stalls": stalls,
            "stall_seconds": round(stall_seconds, 4),
            "stall_share": round(stall_seconds / (played + stall_seconds), 6) if played + stall_seconds else 0.0,
        }

    def own(self, mark: UpdateMark) -> UpdateMark:
        """The server's mark of an update with the times of this end, where they are known."""
        mine = self.marks.get(mark.version)
        return mark if mine is None else replace(mark, R=mine.R, line=mine.line, display=mine.display)
