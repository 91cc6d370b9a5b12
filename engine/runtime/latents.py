"""What a group's latent is made of, for the session's files: its arrays by name, and a checksum by which a replay is compared."""

from __future__ import annotations

import dataclasses
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]


def arrays(latent: Any) -> Arrays:
    """The arrays of a tensor or an array under the empty name, of a dataclass under its fields' names; what is neither is left out."""
    if dataclasses.is_dataclass(latent) and not isinstance(latent, type):
        named = {f.name: _array(getattr(latent, f.name)) for f in dataclasses.fields(latent)}
    else:
        named = {"": _array(latent)}
    return {name: value for name, value in named.items() if value is not None}


def fingerprint(latent: Any) -> int:
    """CRC-32 over the arrays as 32-bit floats, in the order of their names; 0 where there is none."""
    crc = 0
    for _, value in sorted(arrays(latent).items()):
        crc = zlib.crc32(np.ascontiguousarray(value, np.float32).tobytes(), crc)
    return crc


def _array(value: Any) -> NDArray[Any] | None:
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        return np.asarray(value.float().numpy() if value.is_floating_point() else value.numpy())
    if isinstance(value, (np.ndarray, int, float)):
        return np.asarray(value)
    return None
