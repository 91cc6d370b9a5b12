"""NaN is not played: a call that made none-numbers has failed, and says of what it may come."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from engine.models.finite import NotFinite, check_finite
from engine.models.interface import Group, Model, Request, StepCallback
from engine.runtime.clock import VirtualClock
from engine.runtime.engine import Engine
from engine.runtime.replay import read_session
from engine.runtime.settings import Settings
from tests.engine.runtime.tensor_toy import TensorDecoder, TensorSampler
from tests.engine.runtime.test_engine import Play
from tests.toy import SPEC


@pytest.mark.parametrize("broken", [float("nan"), float("inf")])
def test_one_number_of_any_latent_is_enough(broken: float) -> None:
    whole, damaged = torch.zeros(2, 3), torch.zeros(2, 3)
    damaged[1, 2] = broken
    check_finite([Group(0, whole, None), Group(1, (whole, whole.int()), None), Group(2, np.zeros(2), None)])
    for latent in (damaged, [whole, damaged.half()]):
        with pytest.raises(NotFinite, match="weights or a LoRA are damaged"):
            check_finite([Group(0, whole, None), Group(1, latent, None)])


class Damaged(TensorSampler):
    """Its third call makes NaN."""

    def sample(self, request: Request, report: StepCallback) -> list[Group]:
        groups = super().sample(request, report)
        return [replace(g, latent=g.latent * float("nan")) for g in groups] if self.calls == 3 else groups


def test_a_call_that_makes_nan_is_tried_again_and_never_played(tmp_path: Path) -> None:
    clock = VirtualClock()
    sampler = Damaged(seconds=0.3, sleep=clock.sleep)
    model = Model(sampler, TensorDecoder(), "toy-0")
    engine = Engine(lambda progress: model, SPEC, Settings(prompt="a"), tmp_path, clock)
    engine.start()
    Play(engine).frames_more(80)
    engine.close()
    assert engine.error is None and sampler.calls > 4
    notes = [x for x in read_session(tmp_path) if "not finite" in str(x)]
    assert notes, "the log has the reason"
