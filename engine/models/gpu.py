"""Whether an NVIDIA GPU can be computed on here and, where it cannot, which of the causes it is and the command that mends it.

Asked of the driver and of the files of torch, without importing torch: the window is up before that.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

NVIDIA = "0x10de"
"""The maker's number on the PCI bus."""
DISPLAY = "0x03"
"""First digits of the class of graphics adapters there."""
DRIVERS = {13: 580, 12: 525}
"""Least driver by the major version of CUDA that torch is built for (NVIDIA's table of CUDA compatibility)."""
TURING = (7, 5)
"""Least compute capability that builds for CUDA 13 have code for."""
OLDER = "cu126"
"""The build of torch for drivers and GPUs that CUDA 13 does not know."""


class Cause(Enum):
    """Why there is no GPU to compute on, or that there is one."""

    WORKS = "works"
    METAL = "metal"
    NONE = "no GPU"
    NO_DRIVER = "no driver"
    CPU_BUILD = "torch for the CPU alone"
    OLD_DRIVER = "driver too old"
    OLD_GPU = "GPU too old"


@dataclass(frozen=True)
class Machine:
    """What was found. gpus: name and compute capability of each; driver: its version, '' where none answers."""

    gpus: tuple[tuple[str, tuple[int, int]], ...] = ()
    driver: str = ""
    on_bus: bool = False
    """Whether a graphics adapter of NVIDIA's is on the bus, driver or not."""
    cuda: str | None = None
    """Version of CUDA that torch is built for."""
    metal: bool = False


@dataclass(frozen=True)
class Finding:
    """cause, in words, and what to do about it ('' for nothing)."""

    cause: Cause
    text: str
    advice: str = ""

    @property
    def works(self) -> bool:
        return self.cause in (Cause.WORKS, Cause.METAL)


def finding() -> Finding:
    """Of this machine."""
    return judged(machine())


def judged(m: Machine) -> Finding:
    """What a machine can do."""
    if m.metal:
        return Finding(Cause.METAL, "Apple GPU (Metal)")
    if not m.gpus:
        if m.on_bus or m.driver:
            text = "an NVIDIA GPU is here, but its driver is not or does not answer: models run on the CPU"
            return Finding(Cause.NO_DRIVER, text, _driver(max(DRIVERS.values())))
        return Finding(Cause.NONE, "no NVIDIA GPU here: models run on the CPU")
    names = ", ".join(name for name, _ in m.gpus)
    if m.cuda is None:
        text = f"{names} is here, but torch is a build for the CPU alone: models run on the CPU"
        old = _number(m.driver) < DRIVERS[13] or min(c for _, c in m.gpus) < TURING
        return Finding(Cause.CPU_BUILD, text, _torch(OLDER if old else "cu130"))
    major = int(m.cuda.partition(".")[0])
    need = DRIVERS.get(major, 0)
    if _number(m.driver) < need:
        text = (
            f"{names} has driver {m.driver}, CUDA {m.cuda} of this torch needs {need} or newer: models run on the CPU"
        )
        advice = _torch(OLDER) if _number(m.driver) >= DRIVERS[12] else _driver(need)
        return Finding(Cause.OLD_DRIVER, text, advice)
    if major >= 13 and max(c for _, c in m.gpus) < TURING:
        text = f"{names} is older than this torch has code for (RTX 20 and newer): models run on the CPU"
        return Finding(Cause.OLD_GPU, text, _torch(OLDER))
    return Finding(Cause.WORKS, f"{names} (driver {m.driver}, CUDA {m.cuda})")


def machine() -> Machine:
    """This one."""
    if sys.platform == "darwin":
        return Machine(metal=True)
    gpus, driver = _by_driver()
    return Machine(gpus, driver or _kernel_module(), _on_bus(), cuda_of_torch())


def _by_driver() -> tuple[tuple[tuple[str, tuple[int, int]], ...], str]:
    """GPUs and version of the driver, as it says itself."""
    try:
        import pynvml
    except ImportError:
        return (), ""
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return (), ""
    try:
        found = []
        for i in range(pynvml.nvmlDeviceGetCount()):
            handle = pynvml.nvmlDeviceGetHandleByIndex(i)
            found.append((str(pynvml.nvmlDeviceGetName(handle)), pynvml.nvmlDeviceGetCudaComputeCapability(handle)))
        return tuple((name, (int(a), int(b))) for name, (a, b) in found), str(pynvml.nvmlSystemGetDriverVersion())
    except pynvml.NVMLError:
        return (), ""
    finally:
        pynvml.nvmlShutdown()


def _kernel_module(file: Path = Path("/proc/driver/nvidia/version")) -> str:
    """Version of a driver that is loaded, though its library does not answer."""
    try:
        said = re.search(r"(\d+\.\d+(?:\.\d+)?)\s", file.read_text())
    except OSError:
        return ""
    return said[1] if said else ""


def _on_bus(devices: Path = Path("/sys/bus/pci/devices")) -> bool:
    for device in devices.glob("*"):
        try:
            vendor, kind = ((device / name).read_text() for name in ("vendor", "class"))
        except OSError:
            continue
        if vendor.startswith(NVIDIA) and kind.startswith(DISPLAY):
            return True
    return False


def cuda_of_torch() -> str | None:
    """Version of CUDA that the installed torch is built for, read off its files; None for a build without."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return None
    try:
        text = (Path(spec.origin).parent / "version.py").read_text("utf-8")
    except OSError:
        return None
    said = re.search(r"^cuda\b.*?=\s*'([\d.]+)'", text, re.MULTILINE)
    return said[1] if said else None


def _number(driver: str) -> int:
    said = re.match(r"\d+", driver)
    return int(said[0]) if said else 0


def _torch(build: str) -> str:
    """The command that puts another build of the installed torch into this environment."""
    from importlib.metadata import version

    release = version("torch").partition("+")[0]
    return (
        f"{sys.executable} -m pip install --force-reinstall torch=={release} "
        f"--index-url https://download.pytorch.org/whl/{build}"
    )


def _driver(least: int) -> str:
    if sys.platform == "win32":
        return f"install NVIDIA's driver {least} or newer (nvidia.com/drivers)"
    return f"install NVIDIA's driver {least} or newer, on Ubuntu: sudo ubuntu-drivers install"
