"""Wan's conditions and groups on a pipe. A prompt's embedding is sent once; the words stand for it afterwards."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from engine.models.interface import Group, Header, Tensors
from engine.models.wan.conditions import Text, WanConditions, WanInputs
from engine.models.wan.state import ConditioningLatents, WanState


class WanTransport:
    """See `engine.models.interface.Transport`."""

    def __init__(self, conditions: WanConditions, device: torch.device) -> None:
        """conditions: this side's, which remember the texts. device: where this side wants its tensors."""
        self._conditions, self._device = conditions, device

    def prepared_out(self, prepared: WanInputs, known: set[str]) -> tuple[Header, Tensors]:
        tensors: Tensors = {}
        for name, text in (("text", prepared.text), ("negative", prepared.negative)):
            if text is not None and text.words not in known:
                tensors[name] = text.embedding
                known.add(text.words)
        negative = None if prepared.negative is None else prepared.negative.words
        header = {
            "words": prepared.text.words,
            "negative": negative,
            "held": list(prepared.held),
            "first": list(prepared.first),
        }
        return header, tensors

    def prepared_in(self, header: Header, tensors: Tensors) -> WanInputs:
        for name, key in (("text", "words"), ("negative", "negative")):
            if name in tensors:
                self._conditions.remember(Text(header[key], tensors[name].to(self._device)))
        negative = None if header["negative"] is None else self._conditions.text(header["negative"])
        return WanInputs(
            self._conditions.text(header["words"]), negative, tuple(header["held"]), tuple(header["first"])
        )

    def groups_out(self, groups: Sequence[Group], known: set[str] | None = None) -> tuple[Header, Tensors]:
        state: WanState = groups[0].state
        header = {
            "positions": [g.position for g in groups],
            "words": state.text.words,
            "start": state.start,
            "conditioning": None,
        }
        tensors = {
            "chunk": torch.stack(list(state.chunk)),
            "controls": torch.from_numpy(np.stack([g.state.control for g in groups])),
        }
        if known is not None and state.text.words not in known:
            tensors["text"] = state.text.embedding
            known.add(state.text.words)
        if state.conditioning is not None:
            header["conditioning"] = state.conditioning.position
            tensors["conditioning"] = torch.stack(list(state.conditioning.latents))
        return header, tensors

    def groups_in(self, header: Header, tensors: Tensors) -> list[Group]:
        chunk = tuple(z.to(self._device) for z in tensors["chunk"].unbind())
        conditioning = None
        if header["conditioning"] is not None:
            conditioning = ConditioningLatents(
                header["conditioning"], tuple(z.to(self._device) for z in tensors["conditioning"].unbind())
            )
        if "text" in tensors:
            self._conditions.remember(Text(header["words"], tensors["text"].to(self._device)))
        text = self._conditions.text(header["words"])
        out = []
        for i, p in enumerate(header["positions"]):
            state = WanState(tensors["controls"][i].numpy(), text, header["start"], chunk, conditioning)
            out.append(Group(p, chunk[p - header["start"]], state))
        return out
