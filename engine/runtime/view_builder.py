"""Keeps what a view shows: marks of updates, the ribbon of groups, revoked suffixes, the call in progress."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from engine.control.conditions import Condition
from engine.control.controller import Controller, Counts
from engine.control.events import Launch, Outcome, Prediction, Reason, Receipt
from engine.models.interface import ModelSpec
from engine.playback.shared_player import SharedPlayer
from engine.runtime.messages import Message, NewWorld, Pause, Press, Release, ReleaseAll, Rewind, SetPrompt
from engine.runtime.metrics import discarded_share, percentile
from engine.runtime.takes import Kept
from engine.runtime.view import REVOKED_SECONDS, Fate, FlightMark, GroupMark, UpdateKind, UpdateMark, UpdatePhase, View

RIBBON_PAST = 24
"""Delivered groups that a view still shows."""
REVOKED_KEPT = 96
"""Revoked groups that a view shows at most while they fade."""
ENDED_KEPT = 12
"""Marks of updates that are over."""
LATEST = 200
"""Updates that L50 is of."""
OPEN_PHASES = (UpdatePhase.RECEIVED, UpdatePhase.GENERATING)


class ViewBuilder:
    """Told by the session what happens; `view` is the picture of it."""

    def __init__(self, spec: ModelSpec, player: SharedPlayer) -> None:
        """player: whose media clock the marks are in."""
        self._spec, self._player = spec, player
        self._marks: dict[int, UpdateMark] = {}
        self._ribbon: deque[GroupMark] = deque(maxlen=RIBBON_PAST)
        self._revoked: deque[GroupMark] = deque(maxlen=REVOKED_KEPT)
        self._flight: FlightMark | None = None
        self._stopped: FlightMark | None = None
        self._last: UpdateMark | None = None

    def clear(self) -> None:
        """A world is left."""
        self._marks.clear()
        self._ribbon.clear()
        self._revoked.clear()
        self._stopped = None

    # -- updates -------------------------------------------------------------------------------------------------------

    def received(self, condition: Condition, kind: UpdateKind, arrival: float) -> None:
        """A condition is in force from now on. arrival: seconds of the session's clock."""
        media = self._player.media_time(arrival)
        mark = UpdateMark(condition.version, kind, condition.prompt, media, -1, UpdatePhase.RECEIVED)
        self._marks[condition.version] = mark

    def launched(self, version: int) -> None:
        """A call took in this version and all before it."""
        for v, m in self._marks.items():
            if v <= version and m.phase is UpdatePhase.RECEIVED:
                self._marks[v] = replace(m, phase=UpdatePhase.GENERATING)

    def ended(self, r: Receipt, controller: Controller) -> UpdateMark | None:
        """An update ended; returns its mark as it was before, None when it is not known any more."""
        mark = self._marks.get(r.version)
        if mark is None:
            return None
        if r.outcome is Outcome.APPLIED:
            frame = self._start_of(r.position, controller)
            live = replace(mark, phase=UpdatePhase.LIVE, frame=frame, R=r.wait, C=r.generate, Q=r.queue)
            self._marks[r.version] = live
            if mark.kind is not UpdateKind.START:
                self._last = live
        else:
            self._marks[r.version] = replace(mark, phase=UpdatePhase(r.outcome.value))
        over = [v for v, m in self._marks.items() if m.phase not in OPEN_PHASES]
        for v in over[:-ENDED_KEPT]:
            del self._marks[v]
        return mark

    def knows(self, version: int) -> bool:
        """Whether a version is of the world on show."""
        return version in self._marks

    # -- groups and calls ----------------------------------------------------------------------------------------------

    def delivered(self, group: Prediction) -> None:
        """A group begins to play."""
        self._ribbon.append(_mark_of(group, Fate.DELIVERED))

    def revoked(self, groups: Sequence[Prediction], at: float) -> None:
        """These will not play."""
        self._revoked.extend(_mark_of(g, Fate.REVOKED, at) for g in groups)

    def resumed(self, path: Sequence[Kept]) -> None:
        """The world goes on after these groups."""
        self._ribbon.extend(
            GroupMark(k.position, k.start, k.span, k.version, Fate.DELIVERED) for k in path[-RIBBON_PAST:]
        )

    def step(self, launch: Launch, start: int, step: int, steps: int, window: int) -> None:
        """A call has done so many of its steps. start: the media frame that it begins at; window: K of a refill."""
        at = (launch.call, launch.branch, launch.window, start, launch.version, step, steps)
        self._flight = FlightMark(*at, answer=launch.reason is Reason.UPDATE and launch.window < window)

    def preempted(self, at: float) -> None:
        """The call that is sampled was stopped for a newer condition."""
        if self._flight is not None:
            self._stopped = replace(self._flight, stopped=at)

    def landed(self, call: int) -> None:
        """A call is not sampled any more."""
        if self._flight is not None and self._flight.call == call:
            self._flight = None

    def _start_of(self, position: int, controller: Controller) -> int:
        """The media frame of a position that was delivered or is cached."""
        if position >= controller.delivered:
            return controller.start(position)
        for mark in reversed(self._ribbon):
            if mark.position == position:
                return mark.start
        return controller.start(controller.delivered) - self._spec.span(position)

    # -- the picture ---------------------------------------------------------------------------------------------------

    def view(
        self,
        now: float,
        controller: Controller,
        condition: Condition,
        counts: Counts,
        latest: Sequence[float],
        first_group: float | None,
        message: str,
    ) -> View:
        """A picture of the session; cheap. counts: over all its worlds; latest: L of the last
        LATEST updates, first_group: C of the last call, both in seconds."""
        c, fps = controller, self._spec.fps
        while self._revoked and now - self._revoked[0].at > REVOKED_SECONDS:
            self._revoked.popleft()
        cached = [_mark_of(e, Fate.LOCKED if e.position < c.locked else Fate.CACHED) for e in c.cache]
        answer_window, answer_seconds = c.next_answer()
        return View(
            state=c.state,
            groups=(*self._ribbon, *cached),
            revoked=tuple(self._revoked),
            flight=self._flight,
            stopped=_fading(self._stopped, now),
            updates=tuple(self._marks.values()),
            delivered=c.delivered,
            locked=c.locked,
            end=c.end,
            cached=len(c.cache),
            cached_seconds=sum(e.span for e in c.cache) / fps,
            window=c.policy.window,
            commit=c.policy.commit,
            fps=fps,
            C=first_group,
            answer_window=answer_window if c.counts.predicted else 0,
            answer_seconds=answer_seconds,
            last=self._last,
            L50=percentile(latest, 0.5),
            stalls=self._player.total_stalls,
            stall_seconds=self._player.stall_seconds(now),
            discarded=discarded_share(counts.predicted, counts.revoked),
            prompt=condition.prompt,
            keys=condition.keys,
            version=c.shown_version,
            paused=self._player.paused,
            failures=c.failures,
            message=message,
            epoch=self._player.epoch,
        )


def brought_up_to_date(view: View, player: SharedPlayer, waiting: Sequence[Message], now: float) -> View:
    """The picture that the engine thread published last, with what the player has done since then and what a person did that the
    engine thread has not taken in yet. waiting: its inbox. From any thread; cheap."""
    if view.state is None or view.epoch != player.epoch:
        return view
    keys, marks = _with_waiting(view, player, waiting)
    shown = max(view.delivered, player.next_position)
    if shown > view.delivered:
        groups = tuple(replace(g, fate=Fate.DELIVERED) if g.position < shown else g for g in view.groups)
        left = [g for g in groups if g.fate is not Fate.DELIVERED]
        view = replace(
            view,
            groups=groups,
            delivered=shown,
            locked=max(view.locked, shown),
            cached=len(left),
            cached_seconds=sum(g.span for g in left) / view.fps,
        )
    return replace(
        view,
        keys=keys,
        updates=(*view.updates, *marks),
        revoked=tuple(g for g in view.revoked if now - g.at <= REVOKED_SECONDS),
        stopped=_fading(view.stopped, now),
        stalls=player.total_stalls,
        stall_seconds=player.stall_seconds(now),
        paused=player.paused,
    )


def _with_waiting(
    view: View, player: SharedPlayer, waiting: Sequence[Message]
) -> tuple[tuple[str, ...], list[UpdateMark]]:
    """The keys that a person holds, and marks of what was done and not taken in yet."""
    keys, prompt = set(view.keys), view.prompt
    marks: list[UpdateMark] = []
    newest = max((u.version for u in view.updates), default=view.version)

    def mark(kind: UpdateKind, at: float) -> None:
        media = player.media_time(at)
        marks.append(UpdateMark(newest + len(marks) + 1, kind, prompt, media, -1, UpdatePhase.RECEIVED))

    for message in waiting:
        match message:
            case Press(action, at) if action not in keys:
                keys.add(action)
                mark(UpdateKind.KEY, at)
            case Release(action, at) if action in keys:
                keys.discard(action)
                mark(UpdateKind.KEY, at)
            case ReleaseAll(at) | Pause(at) if keys:
                keys.clear()
                mark(UpdateKind.KEY, at)
            case SetPrompt(said, at) if said != prompt:
                prompt = said
                mark(UpdateKind.PROMPT, at)
            case NewWorld() | Rewind():
                keys.clear()
            case _:
                pass
    return tuple(sorted(keys)), marks


def _fading(stopped: FlightMark | None, now: float) -> FlightMark | None:
    """A stopped call, as long as it is shown."""
    gone = stopped is None or stopped.stopped is None or now - stopped.stopped > REVOKED_SECONDS
    return None if gone else stopped


def _mark_of(group: Prediction, fate: Fate, at: float = 0.0) -> GroupMark:
    return GroupMark(group.position, group.start, group.span, group.version, fate, at)
