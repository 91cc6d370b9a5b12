"""The last update as a story: what the overlay showed from just before it came until it was seen, with words for each moment."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from app.language import tr
from engine.runtime.view import UpdateKind, UpdateMark, UpdatePhase, View

KEPT_SECONDS = 20.0
BEFORE, AFTER = 0.4, 0.8
"""Seconds of media before an update came and after it was seen that belong to its story."""


@dataclass(frozen=True)
class Moment:
    """What the overlay showed. media: seconds at the playhead; now: of the engine's clock."""

    view: View
    media: float
    now: float


@dataclass(frozen=True)
class Tale:
    """An update with its moments, the first of which is before it came."""

    update: UpdateMark
    """As it was at the end."""
    moments: tuple[Moment, ...]
    fps: float

    def words(self, i: int) -> str:
        """What happens at moment `i`."""
        moment = self.moments[i]
        view, u = moment.view, self.update
        now = next((x for x in view.updates if x.version == u.version), None)
        what = tr("You changed the prompt.") if u.kind is UpdateKind.PROMPT else tr("You pressed or released a key.")
        if now is None:
            return tr(
                "Groups right of the line are sampled already. The outlined ones will play whatever you do; the others can be replaced."
            )
        if now.phase is UpdatePhase.LIVE and moment.media * self.fps >= u.frame:
            return tr(
                "The change is on the screen after {L} s: {R} s until its call began, {C} s of sampling, {Q} s until what was "
                "locked before it had played.",
                L=f"{u.L:.2f}",
                R=f"{u.R:.2f}",
                C=f"{u.C:.2f}",
                Q=f"{u.Q:.2f}",
            )
        if now.phase is UpdatePhase.LIVE:
            return tr("The first changed group is there. It plays as soon as the groups before it have played.")
        flight = view.flight
        revoked = sum(1 for g in view.revoked if g.at >= self.moments[0].now)
        if flight is not None and flight.version >= u.version:
            text = tr(
                "A call samples {n} groups under the new condition: step {step} of {steps}. Locked groups play meanwhile.",
                n=flight.window,
                step=flight.step,
                steps=flight.steps,
            )
        else:
            text = tr("Its call begins as soon as the sampler is free.")
        if revoked:
            gone = tr("{n} groups that were sampled under the old condition are revoked.", n=revoked)
            return f"{what} {gone} {text}"
        return f"{what} {text}"


class Story:
    """Told what the overlay shows; keeps the last seconds."""

    def __init__(self) -> None:
        self._moments: deque[Moment] = deque()

    def clear(self) -> None:
        """Another world."""
        self._moments.clear()

    def add(self, view: View, media: float, now: float) -> None:
        """A moment; one that shows nothing new is left out."""
        if self._moments and (media < self._moments[-1].media or now < self._moments[-1].now):
            self._moments.clear()  # a new world, or one that went back
        if self._moments and self._moments[-1].view == view and self._moments[-1].media == media:
            return
        self._moments.append(Moment(view, media, now))
        while now - self._moments[0].now > KEPT_SECONDS:
            self._moments.popleft()

    def last(self) -> Tale | None:
        """Of the newest update that was seen from before it came; None while there is none."""
        moments = tuple(self._moments)
        if not moments:
            return None
        view = moments[-1].view
        ended = [
            u for u in view.updates if u.phase is UpdatePhase.LIVE and u.kind is not UpdateKind.START and u.frame >= 0
        ]
        for u in sorted(ended, key=lambda u: -u.version):
            seen = u.frame / view.fps
            if moments[0].media <= u.arrival <= seen <= moments[-1].media:
                return Tale(u, _between(moments, u.arrival - BEFORE, seen + AFTER), view.fps)
        return None


def _between(moments: Sequence[Moment], first: float, last: float) -> tuple[Moment, ...]:
    return tuple(m for m in moments if first <= m.media <= last)
