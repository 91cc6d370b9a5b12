"""What loading any model needs: a device, a precision, room in memory, blocks that wait on the CPU, a name for its weights."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from engine.models.cores import default_threads
from engine.models.load_options import LoadOptions

DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}
IDENTITY_BYTES = 1 << 20
"""Read at either end of a file of weights to name them."""


class MemoryNeeded(RuntimeError):
    """The model cannot fit. The message says what it needs, what there is and what would make it smaller."""


def torch_device(options: LoadOptions) -> torch.device:
    """Raises ValueError for a device that is not there."""
    name = options.device
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError as e:
        raise ValueError(f"{name!r} is not a device: use cpu, cuda, cuda:0 or mps") from e
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ValueError("there is no CUDA device: use --device cpu, or see `foreland doctor`")
    return device


def torch_dtype(options: LoadOptions, device: torch.device) -> torch.dtype:
    """The chosen precision; 'auto' is bf16 on a GPU and fp32 on a CPU."""
    if options.dtype == "auto":
        return torch.float32 if device.type == "cpu" else torch.bfloat16
    return DTYPES[options.dtype]


def set_threads(options: LoadOptions) -> None:
    """Sets torch's threads for a large model."""
    torch.set_num_threads(options.threads or default_threads())


def offload_blocks(model: Any, device: torch.device) -> None:
    """Leaves a diffusers model on the CPU, with hooks that bring each block to the device when its turn comes."""
    from diffusers.hooks import apply_group_offloading

    apply_group_offloading(
        model,
        onload_device=device,
        offload_device=torch.device("cpu"),
        offload_type="block_level",
        num_blocks_per_group=1,
        use_stream=device.type == "cuda",
    )


def free_memory(device: torch.device) -> float | None:
    """Free bytes of a device; None where nobody says."""
    if device.type == "cuda":
        return float(torch.cuda.mem_get_info(device)[0])
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable"):
                return float(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def empty_cache(device: torch.device) -> None:
    """Gives back what torch keeps of a device's memory for later."""
    if device.type == "cuda":
        torch.cuda.empty_cache()
    elif device.type == "mps":
        torch.mps.empty_cache()


def identity(files: Sequence[Path]) -> str:
    """A short name of weights: of sizes and the first and last megabyte, since hashing 100 GB at every start is too slow."""
    h = hashlib.sha256()
    for file in files:
        size = file.stat().st_size
        with file.open("rb") as f:
            h.update(str(size).encode() + f.read(IDENTITY_BYTES))
            f.seek(max(0, size - IDENTITY_BYTES))
            h.update(f.read())
    return h.hexdigest()[:16]
