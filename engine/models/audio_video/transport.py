"""Joint models' conditions and groups on a pipe. A prompt's tensors are sent once; the words stand for them afterwards."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from engine.models.audio_video.call import CallState, groups_of
from engine.models.audio_video.conditions import AudioVideoConditions, AudioVideoInputs
from engine.models.interface import Group, Header, Tensors


class AudioVideoTransport:
    """See `engine.models.interface.Transport`."""

    def __init__(self, conditions: AudioVideoConditions, device: torch.device) -> None:
        """conditions: this side's, which remember the texts. device: where this side wants its tensors."""
        self._conditions, self._device = conditions, device

    def prepared_out(self, prepared: AudioVideoInputs, known: set[str]) -> tuple[Header, Tensors]:
        if prepared.words in known:
            return {"words": prepared.words}, {}
        known.add(prepared.words)
        return {"words": prepared.words}, {f"text:{k}": v for k, v in prepared.tensors.items()}

    def prepared_in(self, header: Header, tensors: Tensors) -> AudioVideoInputs:
        parts = {k[5:]: v.to(self._device) for k, v in tensors.items() if k.startswith("text:")}
        if parts:
            return self._conditions.remember(AudioVideoInputs(header["words"], parts))
        return self._conditions.text(header["words"])

    def groups_out(self, groups: Sequence[Group], known: set[str] | None = None) -> tuple[Header, Tensors]:
        state: CallState = groups[0].state
        call = state.call
        header = {"first": call.first, "overlap": call.overlap, "spans": list(call.spans)}
        return header, {"video": call.video, "audio": call.audio}

    def groups_in(self, header: Header, tensors: Tensors) -> list[Group]:
        video, audio = (tensors[k].to(self._device) for k in ("video", "audio"))
        return groups_of(video, audio, header["first"], header["overlap"], header["spans"])
