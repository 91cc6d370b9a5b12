"""What a session is judged by, as pure functions of receipts and counts. Definitions: see `Summary`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.control.controller import Counts
from engine.control.events import Outcome, Receipt
from engine.runtime.view import UpdateKind


def percentile(values: Sequence[float], share: float) -> float | None:
    """The linear-interpolated quantile, or None of nothing."""
    return float(np.quantile(values, share)) if len(values) else None


@dataclass(frozen=True, slots=True)
class UpdateRecord:
    """One ended update. Times in seconds; only an applied update has position, R, C, Q and L."""

    version: int
    """Of the condition that it made; counts from 0, which is the start."""
    kind: UpdateKind
    arrival: float
    """Since the session began, by its clock."""
    arrival_media: float
    """Media time at the arrival."""
    outcome: Outcome
    position: int | None
    """Of the first group that was made under it."""
    R: float | None
    """From the arrival until the call is launched."""
    C: float | None
    """From the launch until that call's first group is decoded."""
    Q: float | None
    """Until that group plays, behind those that were locked."""
    L: float | None
    """R + C + Q: from the input to the first picture that obeys it."""

    @classmethod
    def of(cls, r: Receipt, kind: UpdateKind, t0: float, media: float) -> UpdateRecord:
        """From the controller's receipt. t0: when the session began, by the same clock; media: media time at the arrival."""
        if r.outcome is not Outcome.APPLIED:
            return cls(r.version, kind, r.arrival - t0, media, r.outcome, None, None, None, None, None)
        return cls(
            r.version, kind, r.arrival - t0, media, r.outcome, r.position, r.wait, r.generate, r.queue, r.latency
        )

    def as_dict(self) -> dict[str, Any]:
        """For JSON; times to a microsecond."""
        return {
            k: round(v, 6) if isinstance(v, float) else v
            for k, v in ((f, getattr(self, f)) for f in self.__dataclass_fields__)
        }


def latencies(updates: Sequence[UpdateRecord]) -> list[float]:
    """L of the applied updates; the start of the world is none."""
    return [u.L for u in updates if u.L is not None and u.kind is not UpdateKind.START]


def discarded_share(predicted: int, revoked: int) -> float:
    """w: predicted groups that were revoked before use."""
    return revoked / predicted if predicted else 0.0


def summary(
    *,
    updates: Sequence[UpdateRecord],
    counts: Counts,
    cached: int,
    frames: int,
    fps: float,
    stall_seconds: float,
    stalls: int,
    first_groups: Sequence[float],
    facts: dict[str, Any],
) -> dict[str, Any]:
    """The contents of summary.json. facts: what is fixed (model, seed, commit, K, ...)."""
    ls = latencies(updates)
    played = frames / fps
    return {
        **facts,
        "frames_shown": frames,
        "fps": fps,
        "media_seconds": round(played, 4),
        "stall_seconds": round(stall_seconds, 4),
        "stalls": stalls,
        "stall_share": round(stall_seconds / (played + stall_seconds), 6) if played + stall_seconds else 0.0,
        "groups": {
            "predicted": counts.predicted,
            "delivered": counts.delivered,
            "revoked": counts.revoked,
            "cached": cached,
        },
        "discarded_share": round(discarded_share(counts.predicted, counts.revoked), 6),
        "updates": [u.as_dict() for u in updates],
        "L50": percentile(ls, 0.5),
        "L95": percentile(ls, 0.95),
        "C_median": percentile(first_groups, 0.5),
    }
