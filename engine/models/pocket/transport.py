"""The pocket world's conditions and groups on a pipe."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from engine.models.interface import Group, Header, Tensors
from engine.models.pocket.memory import Place
from engine.models.pocket.soundscape import Hearing
from engine.models.pocket.state import GroupState, PocketInputs


class PocketTransport:
    """See `engine.models.interface.Transport`."""

    def prepared_out(self, prepared: PocketInputs, known: set[str]) -> tuple[Header, Tensors]:
        commands = torch.from_numpy(np.stack((prepared.held, prepared.first)))
        return {}, {"attributes": prepared.attributes, "commands": commands}

    def prepared_in(self, header: Header, tensors: Tensors) -> PocketInputs:
        held, first = tensors["commands"].numpy()
        return PocketInputs(tensors["attributes"], held, first)

    def groups_out(self, groups: Sequence[Group], known: set[str] | None = None) -> tuple[Header, Tensors]:
        states: list[GroupState] = [g.state for g in groups]
        places = [[s.place.x, s.place.y, s.place.z, s.place.yaw, s.place.pitch] for s in states]
        header = {"positions": [g.position for g in groups], "pitch": [s.pitch for s in states], "places": places}
        tensors = {
            "latents": torch.stack([g.latent for g in groups]),
            "motion": torch.from_numpy(np.stack([s.motion for s in states])),
        }
        tensors["hearing"] = torch.from_numpy(np.stack([s.hearing.vector() for s in states]))
        if states[0].attributes is not None:
            tensors["attributes"] = states[0].attributes
        if states[0].before is not None:
            tensors["before"] = states[0].before
        return header, tensors

    def groups_in(self, header: Header, tensors: Tensors) -> list[Group]:
        out = []
        for i, p in enumerate(header["positions"]):
            motion = tensors["motion"][i].numpy()
            before = tensors.get("before") if i == 0 else None
            place, hearing = Place(*header["places"][i]), Hearing.of(tensors["hearing"][i].numpy())
            state = GroupState(motion, header["pitch"][i], place, tensors.get("attributes"), before, hearing)
            out.append(Group(p, tensors["latents"][i].clone(), state))
        return out
