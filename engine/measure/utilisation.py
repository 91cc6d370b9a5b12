"""How busy the hardware is while something runs: GPU kernel activity through NVML where there is a GPU, else CPU time."""

from __future__ import annotations

import threading
import time
from types import TracebackType

PERIOD = 0.1
"""Seconds between two samples of a GPU: NVML itself averages over 1/6 s to 1 s."""


class Activity:
    """Use as a context; the figures are there when it is left."""

    def __init__(self) -> None:
        self.cpu = 0.0
        """Cores that this process used, on average."""
        self.gpu: list[float] = []
        """Share of time with a kernel active, in [0, 1], of each device; empty without a GPU or NVML's binding."""
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._samples: list[list[int]] = []

    def __enter__(self) -> Activity:
        import torch

        self._wall, self._used = time.monotonic(), time.process_time()
        if torch.cuda.is_available():
            self._thread = threading.Thread(target=self._sample, name="foreland-nvml", daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        wall = max(1e-6, time.monotonic() - self._wall)
        self.cpu = (time.process_time() - self._used) / wall
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        if self._samples:
            self.gpu = [sum(column) / len(column) / 100 for column in zip(*self._samples, strict=True)]

    def _sample(self) -> None:
        import torch

        devices = range(torch.cuda.device_count())
        while not self._stop.wait(PERIOD):
            try:
                self._samples.append([torch.cuda.utilization(i) for i in devices])
            except (RuntimeError, ModuleNotFoundError):
                return  # NVML's Python binding is not there: CPU time has to do
