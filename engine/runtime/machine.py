"""What of a machine decides over the last bits of a sample: kept in the session log, compared at a replay."""

from __future__ import annotations

import platform
import sys
from typing import Any


def facts() -> dict[str, Any]:
    """Versions, threads and devices, by name, for JSON. Imports nothing: what is not loaded cannot have mattered."""
    out: dict[str, Any] = {
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
    }
    torch = sys.modules.get("torch")
    if torch is not None:
        out["torch"] = str(torch.__version__)
        out["threads"] = int(torch.get_num_threads())
        out["capability"] = str(torch.backends.cpu.get_cpu_capability())
        if torch.cuda.is_available():
            out["gpu"] = str(torch.cuda.get_device_name())
    return out


def differences(then: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """In words, what of `then` is not the same `now`; empty when nothing differs."""
    return [f"{k} was {then[k]}, is {now.get(k)}" for k in then if then[k] != now.get(k)]
