"""Whether a call made numbers. Damaged weights, a wrong LoRA or half precision that overflows make NaN, which plays as a black world."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.models.interface import Group


class NotFinite(RuntimeError):
    """A call made NaN or infinity. The message says of what it may come."""


def check_finite(groups: Iterable[Group]) -> None:
    """Raises NotFinite."""
    for group in groups:
        if not _finite(group.latent):
            raise NotFinite(
                "the model made numbers that are not finite: its weights or a LoRA are damaged, or --dtype fp16 overflows (take "
                "--dtype bf16)"
            )


def _finite(latent: Any) -> bool:
    """Of tensors, of several together, and of what is neither, which counts as finite."""
    if isinstance(latent, (tuple, list)):
        return all(map(_finite, latent))
    if hasattr(latent, "is_floating_point"):
        return not latent.is_floating_point() or bool(latent.isfinite().all())
    return True
