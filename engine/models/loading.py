"""What loading any model needs: a device, a precision, room in memory, blocks that wait on the CPU, a name for its weights."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from engine.models.attention_kernels import AMPERE, capability
from engine.models.cores import default_threads
from engine.models.interface import SamplerHost
from engine.models.load_options import LoadOptions

log = logging.getLogger(__name__)

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
    return DTYPES[with_dtype(options, device).dtype]


def with_dtype(options: LoadOptions, device: torch.device, fp16: bool = False) -> LoadOptions:
    """With a precision by name in place of 'auto'. fp16: whether the model computes in it as well; GPUs before Ampere then do, since
    they have no fused attention in bf16 and the plain one keeps all scores."""
    if options.dtype != "auto":
        return options
    if fp16 and device.type == "cuda" and capability(device) < AMPERE:
        return replace(options, dtype="fp16")
    return replace(options, dtype="fp32" if device.type == "cpu" else "bf16")


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


def say_less(host: SamplerHost | None, what: str) -> None:
    """In one sentence, to the log and to the person: the device's memory ran out, and what is less from now on."""
    message = f"the device's memory ran out: {what} from now on, and the world goes on"
    log.warning("%s", message)
    if host is not None:
        host.notify(message)


def wait_for(device: torch.device) -> None:
    """Until a GPU has done what it was given."""
    if device.type == "cuda":
        torch.cuda.current_stream(device).synchronize()


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
