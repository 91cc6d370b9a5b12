"""Joint models' conditions and groups on a pipe. A prompt's tensors are sent once; the words stand for them afterwards."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from engine.models.audio_video.call import JointState, groups_of
from engine.models.audio_video.conditions import Conditions, Prepared
from engine.models.interface import Group
from engine.models.transport import Header, Tensors


class JointWire:
    """See `engine.models.transport.Wire`."""

    def __init__(self, conditions: Conditions, device: torch.device) -> None:
        """conditions: this side's, which remember the texts. device: where this side wants its tensors."""
        self._conditions, self._device = conditions, device

    def prepared_out(self, prepared: Prepared, known: set[str]) -> tuple[Header, Tensors]:
        if prepared.words in known:
            return {"words": prepared.words}, {}
        known.add(prepared.words)
        return {"words": prepared.words}, {f"text:{k}": v for k, v in prepared.tensors.items()}

    def prepared_in(self, header: Header, tensors: Tensors) -> Prepared:
        parts = {k[5:]: v.to(self._device) for k, v in tensors.items() if k.startswith("text:")}
        if parts:
            return self._conditions.remember(Prepared(header["words"], parts))
        return self._conditions.text(header["words"])

    def groups_out(self, groups: Sequence[Group], known: set[str] | None = None) -> tuple[Header, Tensors]:
        state: JointState = groups[0].state
        call = state.call
        header = {"first": call.first, "overlap": call.overlap, "spans": list(call.spans)}
        return header, {"video": call.video, "audio": call.audio}

    def groups_in(self, header: Header, tensors: Tensors) -> list[Group]:
        video, audio = (tensors[k].to(self._device) for k in ("video", "audio"))
        return groups_of(video, audio, header["first"], header["overlap"], header["spans"])
