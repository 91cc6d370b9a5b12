"""The figures of the overlay: their names and values, laid out so that none is ever cut."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QFontMetricsF, QPainter

from app.language import marked, tr
from engine.control.controller import State
from engine.control.events import Commit
from engine.runtime.view import View

INK, DIM = QColor("#eceef3"), QColor("#a9b0bd")
GAP = 18.0
Figure = tuple[str, str]
"""Name and value."""
STATES = {State.PRODUCE: marked("produce"), State.CONSUME: marked("consume"), State.CLOSED: marked("closed")}
COMMITS = {Commit.SPECULATIVE: marked("speculative"), Commit.CHUNK: marked("chunk")}


def seconds(x: float | None) -> str:
    """'-' where it is not known."""
    return "-" if x is None else f"{x:.2f} s"


def figures(view: View) -> list[Figure]:
    """In the order they are shown: what the method is about comes first."""
    state = tr("loading") if view.state is None else tr(STATES.get(view.state, str(view.state)))
    last = "-"
    if (u := view.last) is not None:
        last = f"{u.L:.2f} = {u.R:.2f} + {u.C:.2f} + {u.Q:.2f} s"
    away = u is not None and (u.line or u.display)
    return [
        ("L = R + C + Q", last),
        *([(tr("of which the line"), f"{u.line:.2f} + {u.display:.2f} s")] if u is not None and away else []),
        ("L50", seconds(view.L50)),
        (tr("revoked"), f"{view.discarded:.0%}"),
        (tr("cache"), tr("{n} groups, {seconds} s", n=view.cached, seconds=f"{view.cached_seconds:.2f}")),
        ("K", str(view.window)),
        ("C", seconds(view.C)),
        (tr("state"), state + (" " + tr("(paused)") if view.paused else "")),
        (tr("commit"), tr(COMMITS.get(view.commit, str(view.commit)))),
        (tr("stalls"), f"{view.stalls} ({view.stall_seconds:.2f} s)"),
        *([(tr("shared with"), str(view.shared))] if view.shared else []),
    ]


def compact_figures(view: View) -> list[Figure]:
    """The three that a person asks for."""
    latency = view.last.L if view.last is not None else None
    return [
        (tr("latency"), seconds(latency)),
        (tr("cache"), f"{view.cached_seconds:.2f} s"),
        (tr("revoked"), f"{view.discarded:.0%}"),
    ]


def _width(metrics: QFontMetricsF, figure: Figure) -> float:
    return max(metrics.horizontalAdvance(text) for text in figure) + GAP


def rows(metrics: QFontMetricsF, width: float, shown: Sequence[Figure]) -> list[list[Figure]]:
    """As many figures in a row as fit into `width`."""
    out: list[list[Figure]] = [[]]
    left = width
    for figure in shown:
        need = _width(metrics, figure)
        if out[-1] and need - GAP > left:
            out.append([])
            left = width
        out[-1].append(figure)
        left -= need
    return out


def paint_figures(p: QPainter, area: QRectF, placed: Sequence[Sequence[Figure]]) -> None:
    """`rows` from the top of `area` on, each figure's name above its value."""
    metrics = QFontMetricsF(p.font())
    y = area.top() + metrics.ascent()
    for row in placed:
        x = area.left()
        for name, value in row:
            p.setPen(DIM)
            p.drawText(QPointF(x, y), name)
            p.setPen(INK)
            p.drawText(QPointF(x, y + metrics.height()), value)
            x += _width(metrics, (name, value))
        y += 2.2 * metrics.height()


def line_of(shown: Sequence[Figure]) -> str:
    """All in one line."""
    return "   ·   ".join(f"{name} {value}" for name, value in shown)
