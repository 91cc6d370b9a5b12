"""The session's decoder for Wan models: groups in order, exact after a rewind, within a bound of memory."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

import torch

from engine.models.interface import Group
from engine.models.loading import empty_cache
from engine.models.wan.state import ConditioningLatents
from engine.models.wan.vae import State, VideoDecoder, to_pictures
from engine.playback.player import Frame

log = logging.getLogger(__name__)

SNAPSHOT_BYTES = 6 << 30
"""Memory for decoder states, all together; at least two are kept (the newest, and one that no branch goes back before)."""


WARM = 12
"""Latents that a decoder sees before one that it is to go on after; its memory of earlier ones is faint."""


class StreamDecoder:
    """Decodes groups of one session.

    Before each group the state is that after the group before it. After a revocation it goes back to a snapshot and, where
    snapshots had to be thinned, decodes the latents in between again (their frames are thrown away).
    Groups of image-conditioned calls carry how their call began (see `engine.models.wan.state`): there the state starts anew.
    """

    def __init__(
        self, decoder: VideoDecoder, snapshot_bytes: int = SNAPSHOT_BYTES, snapshots: int | None = None
    ) -> None:
        """snapshots: states at most, at least two, beside the limit of bytes."""
        self._decoder = decoder
        self._limit, self._most = snapshot_bytes, snapshots
        self._floor = 0
        self._stream: torch.cuda.Stream | None = None
        self.reset()

    def reset(self) -> None:
        self._states: dict[int, tuple[Group, State]] = {}
        self._groups: dict[int, Group] = {}
        self._floor = 0

    def rewind(self, position: int) -> None:
        self._states = {p: x for p, x in self._states.items() if p < position}
        self._groups = {p: g for p, g in self._groups.items() if p < position}

    @torch.inference_mode()
    def resume(self, groups: Sequence[Group]) -> None:
        """See `Decoder.resume`. Exact where the first of the groups began a session or a call; otherwise the decoder warms up on the
        last WARM of them."""
        self.reset()
        if not groups:
            return
        last = groups[-1]
        conditioning = getattr(last.state, "conditioning", None)
        begin = conditioning.position if conditioning is not None else 0
        past = [g for g in groups if g.position >= begin][-WARM:]
        # on the stream that `decode` goes on with: another one would neither wait for this state nor keep its memory
        with self._beside(last.latent):
            state = self._opening(conditioning) if past[0].position == begin else None
            for g in past:
                _, state = self._decoder.step(g.latent, state)
        self._groups[last.position], self._states[last.position] = last, (last, state)
        self._floor = last.position + 1

    def evict_before(self, position: int) -> None:
        """Positions below were delivered: no branch goes back before them. From any thread."""
        self._floor = position

    @torch.inference_mode()
    def decode(self, group: Group) -> list[Frame]:
        try:
            return self._decoded(group)
        except torch.OutOfMemoryError:
            pass  # and what its frames held is let go before it is tried again
        self._most = 2  # the fewest that a branch can go back to; what lies between is decoded again
        self._make_room(group.position)
        empty_cache(group.latent.device)
        log.warning("the device's memory ran out while decoding: fewer decoder states are kept from now on")
        return self._decoded(group)

    def _decoded(self, group: Group) -> list[Frame]:
        with self._beside(group.latent):
            state = self._before(group)
            frames, state = self._decoder.step(group.latent, state, self._make_room(group.position - 1))
            self._groups[group.position] = group
            self._states[group.position] = (group, state)
            self._thin()
            pictures = to_pictures(frames)
        pictures.flags.writeable = False
        return list(pictures)

    def _beside(self, latent: torch.Tensor) -> AbstractContextManager[object]:
        """On a GPU, a stream of its own, so that decoding overlaps with the next call's sampling. Latents are complete when
        they come here: the sampler has waited for its device."""
        if latent.device.type != "cuda":
            return nullcontext()
        if self._stream is None:
            # ahead of sampling: who waits for a picture waits for this
            self._stream = torch.cuda.Stream(latent.device, priority=-1)
        return torch.cuda.stream(self._stream)

    def _before(self, group: Group) -> State:
        """The state in which a group is decoded."""
        p = group.position
        start = 0
        conditioning = getattr(group.state, "conditioning", None)
        if conditioning is not None:
            start = conditioning.position
        if p > start:
            known = max((q for q in self._states if q < p), default=None)
            if known is None or known < start:
                known = None
            first = start if known is None else known + 1
            missing = [q for q in range(first, p) if q not in self._groups]
            if missing:
                raise KeyError(f"group {missing[0]} was not decoded and is not kept: groups come in order")
            state = self._opening(conditioning) if known is None else self._states[known][1]
            for q in range(first, p):
                _, state = self._decoder.step(self._groups[q].latent, state)
            return state
        return self._opening(conditioning)

    def _make_room(self, before: int) -> bool:
        """Forgets states so that one more can be kept. Whether that after `before` was among them: the next may then be made in its place,
        which is the largest part of a small card's memory."""
        if self._most is None:
            return False
        anchor = max((p for p in self._states if p < self._floor), default=min(self._states, default=-1))
        spare = [p for p in sorted(self._states) if p != anchor]
        while spare and len(self._states) >= self._most:
            del self._states[spare.pop(0)]
        return before not in self._states

    def _opening(self, conditioning: ConditioningLatents | None) -> State:
        """The state at the start of a session, or of a call that begins with given latents whose frames are not shown."""
        state: State = None
        if conditioning is not None:
            for latent in conditioning.latents:
                _, state = self._decoder.step(latent, state)
        return state

    def _thin(self) -> None:
        """Forgets what no branch needs, then the middle of what is too much."""
        anchor = max((p for p in self._states if p < self._floor), default=None)
        if anchor is not None:
            self._states = {p: x for p, x in self._states.items() if p >= anchor}
        oldest = min(self._states)
        self._groups = {p: g for p, g in self._groups.items() if p >= oldest}
        while len(self._states) > 2 and self.nbytes > self._limit:
            del self._states[sorted(self._states)[1]]

    @property
    def nbytes(self) -> int:
        """Memory of all snapshots."""
        return sum(self._decoder.nbytes(s) for _, s in self._states.values())
