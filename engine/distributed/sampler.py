"""A sampler over several ranks, as the engine sees it: one sampler like any other.

It keeps the session's groups, call by call, so that a group of ranks that was lost is started again and goes on from them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from engine.control.conditions import Condition
from engine.distributed.group import RankError, RankGroup
from engine.models.family import Frontend
from engine.models.interface import (
    Group,
    Header,
    HistoryPolicy,
    ModelSpec,
    Request,
    Sampler,
    SamplerHost,
    StepCallback,
    Stopped,
    Tensors,
)

log = logging.getLogger(__name__)

RETAINED = 96
"""Positions behind the delivered ones whose calls are kept for a rebuild: more than any history."""
SINK = 16
"""The session's first positions are kept as well."""


class ParallelSampler(Sampler[Any]):
    """Used from one thread, but for `prepare`."""

    def __init__(self, spec: ModelSpec, frontend: Frontend, start: Callable[[], RankGroup]) -> None:
        """start: starts a group. Raises RankError."""
        self.spec, self.prepares_slowly = spec, frontend.prepares_slowly
        self.frames = frontend.frames
        self._prepare, self._transport, self._keyframes = frontend.prepare, frontend.transport, frontend.keyframes
        self._start = start
        self._group: RankGroup | None = start()
        self._known: set[str] = set()
        self._calls: list[tuple[list[Group], int]] = []
        self._made: list[Group] = []
        self._start_file: Path | None = None
        self._calling = False
        self._later: list[Header] = []
        self.restarts = 0

    def prepare(self, condition: Condition) -> Any:
        return self._prepare(condition)

    def set_start(self, file: Path | None) -> None:
        self._start_file = file
        self._tell({"op": "set_start", "file": str(file) if file else None})

    def sample(self, request: Request, report: StepCallback) -> list[Group]:
        self.spec.check_window(request.window)
        group = self._living()
        header, tensors = self._transport.prepared_out(request.prepared, self._known)
        r = {
            "branch": request.branch,
            "window": request.window,
            "steps": request.steps,
            "seed": request.seed,
            "attempt": request.attempt,
            "history": request.history.value,
        }
        tensors = tensors | self._boundary(request)
        self._calling = True
        try:
            group.tell({"op": "sample", "prepared": header, "request": r}, tensors)
            while True:
                answer, parts = group.answers("step")
                if answer["op"] == "step":
                    go_on = report(answer["step"], answer["steps"])
                    group.tell({"op": "continue", "go_on": go_on})
                    continue
                if answer["op"] == "stopped":
                    raise Stopped
                self._made = self._transport.groups_in(answer["groups"], parts)
                return self._made
        except RankError as e:
            self._lost(e)
            raise
        finally:
            self._calling = False
            later, self._later = self._later, []
            for message in later:
                self._tell(message)

    def extend(self, groups: Sequence[Group]) -> None:
        first = groups[0].position
        kept = [(made, min(count, first - made[0].position)) for made, count in self._calls if made[0].position < first]
        self._calls = [*kept, (list(groups), len(groups))]
        mine = len(groups) == len(self._made) and all(a is b for a, b in zip(groups, self._made, strict=True))
        if mine:
            self._tell({"op": "extend", "made": True, "count": len(groups)})
        else:
            self._send_groups(list(groups), len(groups))

    def prefill_chunk(self, groups: Sequence[Group], history: HistoryPolicy) -> None:
        self._together({"op": "prefill_chunk", "history": history.value})

    def prefill_step(self, locked: int, history: HistoryPolicy) -> bool:
        if self._group is None:
            # rebuilt when nothing runs, so that the next call finds it there
            self._living()
            return True
        answer = self._together({"op": "prefill_step", "locked": locked, "history": history.value})
        return bool(answer.get("more"))

    def attach(self, host: SamplerHost) -> None:
        super().attach(host)
        if self.frames is not None:
            self.frames.ask = host.decode_until

    def lose_boundary_frame(self, group: Group) -> None:
        if self.frames is not None:
            self.frames.lose(group)

    def evict_before(self, position: int) -> None:
        self._calls = [
            (made, count)
            for made, count in self._calls
            if made[0].position + count > position - RETAINED or made[0].position < SINK
        ]
        self._tell({"op": "evict_before", "position": position})

    def reset(self) -> None:
        self._calls.clear()
        self._made = []
        if self.frames is not None:
            self.frames.clear()
        self._tell({"op": "reset"})

    def close(self) -> None:
        if self._group is not None:
            self._group.close()
        self._group = None

    # ------------------------------------------------------------------------------------------------------------------

    @property
    def pids(self) -> list[int]:
        """Of the ranks that run now."""
        return [] if self._group is None else self._group.pids

    def _boundary(self, request: Request) -> Tensors:
        """Frames before the branch that an image-conditioned call may begin with."""
        images = (HistoryPolicy.BOUNDARY_IMAGE, HistoryPolicy.LATENT_INPUT)
        if self.frames is None or request.history not in images or request.branch == 0:
            return {}
        groups = {g.position: g for made, count in self._calls for g in made[:count]}
        back = (
            {0}
            if request.history is HistoryPolicy.BOUNDARY_IMAGE
            else {min(m, request.branch - 1) for m in range(self._keyframes + 1)}
        )
        out: Tensors = {}
        for m in back:
            p = request.branch - 1 - m
            frame = self.frames.get(groups[p]) if p in groups else None
            if frame is not None:
                out[f"frame:{p}"] = torch.from_numpy(frame.copy())
        return out

    def _tell(self, header: Header) -> None:
        """Something that has no answer. A group that is lost hears of it when it is rebuilt. Between the steps of a call the
        ranks wait for whether to go on, and nothing else: it is told afterwards."""
        if self._group is None:
            return
        if self._calling:
            self._later.append(header)
            return
        try:
            self._group.tell(header)
        except RankError as e:
            self._lost(e)

    def _together(self, header: Header) -> Header:
        if self._group is None:
            return {}
        try:
            self._group.tell(header)
            return self._group.answers()[0]
        except RankError as e:
            self._lost(e)
            return {}

    def _send_groups(self, groups: list[Group], count: int) -> None:
        if self._group is None:
            return
        header, tensors = self._transport.groups_out(groups, self._known)
        try:
            self._group.tell({"op": "extend", "groups": header, "count": count}, tensors)
        except RankError as e:
            self._lost(e)

    def _lost(self, error: RankError) -> None:
        self._group = None
        self._made = []
        self._notify(f"{error}; what is cached plays on, the workers are started again from the retained latents")

    def _living(self) -> RankGroup:
        """The group, rebuilt and told what it had been told if it was lost. Raises RankError."""
        if self._group is None:
            self._group = self._start()
            self._known.clear()
            self.restarts += 1
            if self._start_file is not None:
                self._tell({"op": "set_start", "file": str(self._start_file)})
            for made, count in self._calls:
                self._send_groups(made, count)
            self._notify("the workers were restarted")
        if self._group is None:
            raise RankError("the group of ranks could not be started again")
        return self._group

    def _notify(self, message: str) -> None:
        if self.host is not None:
            self.host.notify(message)
