"""A download beside the window: a thread, and how far it has come."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from app.language import tr
from engine.models import hub
from engine.models.catalogue import Entry


@dataclass(frozen=True)
class DownloadState:
    """How far a download has come."""

    stage: str = ""
    share: float = 0.0
    """In [0, 1]."""
    plan: hub.Plan | None = None
    """Size and licence, once the hub was asked."""
    asking: bool = False
    """Waits for agreement to the plan."""
    over: bool = False
    """Nothing more will happen."""
    error: str = ""
    """'' for none."""


class DownloadJob:
    """Asks the hub what a download takes; `agree` then starts it.

    The state is replaced as a whole and may be read from any thread.
    """

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.state = DownloadState(tr("asking the hub"))
        self._agreed = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="foreland-download", daemon=True)
        self._thread.start()

    def agree(self) -> None:
        """Size and licence were accepted: download."""
        self._agreed.set()

    def cancel(self) -> None:
        """Stops at the next piece; what was downloaded is kept."""
        self._stop.set()
        self._agreed.set()

    def wait(self, seconds: float) -> None:
        self._thread.join(seconds)

    def _run(self) -> None:
        try:
            plan = hub.plan(self.entry)
            self.state = DownloadState(tr("size and licence"), plan=plan, asking=True)
            self._agreed.wait()
            if self._stop.is_set():
                raise hub.Cancelled(tr("nothing was downloaded"))

            def report(name: str, done: int, total: int) -> bool:
                share = done / total if total else 1.0
                parts = {"name": name or tr("checking"), "done": hub.gb(done), "total": hub.gb(total)}
                text = tr("{name}: {done} of {total}", **parts)
                self.state = DownloadState(text, share, plan)
                return not self._stop.is_set()

            hub.pull(plan, report)
            self.state = DownloadState(tr("complete"), 1.0, plan, over=True)
        except hub.HubError as e:
            self.state = DownloadState(tr("stopped"), self.state.share, self.state.plan, over=True, error=str(e))
        except Exception as e:  # a thread must not end silently
            message = f"{type(e).__name__}: {e}"
            self.state = DownloadState(tr("stopped"), self.state.share, self.state.plan, over=True, error=message)
