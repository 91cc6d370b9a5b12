"""What happens when a device's memory runs out: less is taken, and the world goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.control.conditions import Condition
from engine.models.interface import HistoryPolicy, Model, Request
from engine.models.wan.sampler import WanSampler

FLOW = "wan2.1-t2v-1.3b-self-forcing"
POLICY = HistoryPolicy.KV_REUSE


class Host:
    def __init__(self) -> None:
        self.said: list[str] = []

    def notify(self, message: str) -> None:
        self.said.append(message)

    def decode_until(self, position: int) -> None:
        return


def test_a_call_that_finds_no_memory_goes_on_with_a_shorter_history(
    load: Callable[..., Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    sampler = load(FLOW, (32, 32)).sampler
    assert isinstance(sampler, WanSampler)
    host = Host()
    sampler.attach(host)
    prepared = sampler.prepare(Condition(0, "snow"))
    groups = sampler.sample(Request(0, 12, 1, 1, 0, prepared, POLICY), lambda a, b: True)
    sampler.extend(groups)
    backbone: Any = sampler._experts[0]
    run, failures = backbone.velocity, [2]

    def velocity(*inputs: Any) -> Tensor:
        if failures[0]:
            failures[0] -= 1
            raise torch.OutOfMemoryError("no memory")
        return run(*inputs)

    monkeypatch.setattr(backbone, "velocity", velocity)
    after = sampler.sample(Request(12, 3, 2, 1, 0, prepared, POLICY), lambda a, b: True)
    assert [g.position for g in after] == [12, 13, 14]
    assert sampler.config.history == 4 and len(host.said) == 2
    assert "the history is 4 latents from now on, and the world goes on" in host.said[-1]
    failures[0] = 3
    with pytest.raises(torch.OutOfMemoryError):  # there is nothing left to give up
        sampler.sample(Request(12, 3, 2, 1, 1, prepared, POLICY), lambda a, b: True)


def test_a_decoder_that_finds_no_memory_keeps_fewer_states(
    load: Callable[..., Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = load(FLOW, (32, 32))
    decoder: Any = model.decoder
    prepared = model.sampler.prepare(Condition(0, "snow"))
    groups = model.sampler.sample(Request(0, 6, 1, 1, 0, prepared, POLICY), lambda a, b: True)
    frames = [decoder.decode(g) for g in groups]
    decoder.reset()
    step, failures = decoder._decoder.step, []

    def once(*inputs: Any) -> Any:
        if len(decoder._states) == 3 and not failures:
            failures.append(True)
            raise torch.OutOfMemoryError("no memory")
        return step(*inputs)

    monkeypatch.setattr(decoder._decoder, "step", once)
    again = [decoder.decode(g) for g in groups]
    assert failures and len(decoder._states) <= 2
    assert all((a[i] == b[i]).all() for a, b in zip(frames, again, strict=True) for i in range(len(a)))
