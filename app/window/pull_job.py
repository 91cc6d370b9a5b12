"""A pull beside the window: a thread that loads, and what it says of itself."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from engine.models import hub
from engine.models.catalogue import Entry


@dataclass(frozen=True)
class PullState:
    """stage in words; share in [0, 1]; plan once the hub was asked; over: nothing more will happen; error, or '' for none."""

    stage: str = "asking the hub"
    share: float = 0.0
    plan: hub.Plan | None = None
    over: bool = False
    error: str = ""


class PullJob:
    """Asks the hub what a pull takes; `agree` then loads. The state is replaced as a whole and may be read from any thread."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.state = PullState()
        self._agreed = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="foreland-pull", daemon=True)
        self._thread.start()

    def agree(self) -> None:
        """Size and licence were accepted: load."""
        self._agreed.set()

    def cancel(self) -> None:
        """Stops at the next piece; what was loaded is kept."""
        self._stop.set()
        self._agreed.set()

    def wait(self, seconds: float) -> None:
        self._thread.join(seconds)

    def _run(self) -> None:
        try:
            plan = hub.plan(self.entry)
            self.state = PullState("size and licence", 0.0, plan)
            self._agreed.wait()
            if self._stop.is_set():
                raise hub.Cancelled("nothing was loaded")

            def report(name: str, done: int, total: int) -> bool:
                share = done / total if total else 1.0
                self.state = PullState(f"{name or 'checking'}: {hub.gb(done)} of {hub.gb(total)}", share, plan)
                return not self._stop.is_set()

            hub.pull(plan, report)
            self.state = PullState("complete", 1.0, plan, True)
        except hub.HubError as e:
            self.state = PullState("stopped", self.state.share, self.state.plan, True, str(e))
        except Exception as e:  # a thread must not end silently
            self.state = PullState("stopped", self.state.share, self.state.plan, True, f"{type(e).__name__}: {e}")
