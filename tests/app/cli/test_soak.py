"""The soak's judgement, which is pure."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from app.cli.soak import Figures, Minute, judge

GOOD = Figures(
    minutes=[Minute(i, 500 + min(i, 3), 0.7, 0.0, 12, 10.0) for i in range(1, 21)],
    drift_ms=1.0,
    late=[0.002] * 100,
    deeds={},
    errors=[],
)
SUMMARY: dict[str, Any] = {"groups": {"predicted": 10, "delivered": 5, "revoked": 3, "cached": 2}, "stall_seconds": 0.1}


def test_a_good_hour_is_ok() -> None:
    assert judge(GOOD, SUMMARY, "", 1200.0)["ok"]


@pytest.mark.parametrize(
    ("what", "change"),
    [
        ("memory", lambda f, s: f.minutes.__setitem__(-1, Minute(20, 600, 0.7, 0.0, 12, 10.0))),
        ("l50_change", lambda f, s: f.minutes.__setitem__(slice(-7, None), [Minute(20, 503, 0.9, 0.0, 12, 10.0)] * 7)),
        ("late_p95_ms", lambda f, s: f.late.extend([0.03] * 100)),
        ("stall_share", lambda f, s: s.update(stall_seconds=60.0)),
        ("drift_ms", lambda f, s: setattr(f, "drift_ms", 25.0)),
        ("groups_conserved", lambda f, s: s["groups"].update(revoked=4)),
        ("threads", lambda f, s: f.minutes.__setitem__(-1, Minute(20, 503, 0.7, 0.0, 30, 10.0))),
        ("errors", lambda f, s: f.errors.append("x")),
    ],
)
def test_each_aim_can_be_missed(what: str, change: Any) -> None:
    figures, summary = deepcopy(GOOD), deepcopy(SUMMARY)
    change(figures, summary)
    report = judge(figures, summary, "", 1200.0)
    assert not report["ok"] and not report[what]["ok"]
    assert [n for n, r in report.items() if isinstance(r, dict) and not r["ok"]] == [what]


def test_a_log_that_does_not_replay_is_not_ok() -> None:
    assert not judge(GOOD, SUMMARY, "line 3: ...", 1200.0)["ok"]


def test_kept_latents_do_not_count_as_memory_that_grows() -> None:
    figures = deepcopy(GOOD)
    figures.minutes[-1] = Minute(20, 700, 0.7, 0.0, 12, 207.0)
    assert judge(figures, SUMMARY, "", 1200.0)["memory"]["ok"]
