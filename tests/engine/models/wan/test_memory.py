"""What groups hold of a device's memory; and what happens when it runs out: less is taken, and the world goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.control.conditions import Condition
from engine.models.interface import Group, HistoryPolicy, Model, Request
from engine.models.wan.sampler import WanSampler
from engine.runtime.takes import Kept, Takes, resume_sampler, whole

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
    failures[0] = 2
    on = Request(15, 12, 2, 1, 0, prepared, POLICY)
    sampler.extend(after)
    assert len(sampler.sample(on, lambda a, b: True)) == 6, "the history is 3 latents, then K is half"
    assert "the history is 3 latents" in host.said[-2] and "K is 6 from now on, and the world goes on" in host.said[-1]
    failures[0] = 3
    with pytest.raises(torch.OutOfMemoryError):  # at K = 6, 3 and 1: there is nothing left to give up
        sampler.sample(on, lambda a, b: True)
    assert len(sampler.sample(on, lambda a, b: True)) == 1


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


def stored(tensor: Tensor) -> int:
    return tensor.untyped_storage().nbytes()


def delivered(takes: Takes, group: Group) -> Group:
    return takes.deliver(Kept(group, 0, 4, 0, 0, "")).group


def test_a_kept_group_holds_its_own_bytes_not_those_of_its_call(load: Callable[..., Model]) -> None:
    sampler = load(FLOW, (32, 32)).sampler
    assert isinstance(sampler, WanSampler)
    prepared = sampler.prepare(Condition(0, "snow"))
    groups = sampler.sample(Request(0, 21, 1, 1, 0, prepared, POLICY), lambda a, b: True)
    takes = Takes()
    kept = delivered(takes, groups[5])
    assert stored(kept.latent) + sum(map(stored, kept.state.chunk)) == groups[5].latent.nbytes == takes.nbytes
    sampler.prefill_chunk(groups, POLICY)
    sampler.extend(groups)
    store = sampler._stores[0, 0]
    store.evict([4])
    assert all(stored(x) == x.nbytes for pair in store.latest for x in pair)


@pytest.mark.parametrize("policy", [HistoryPolicy.CLEAN_PREFILL, HistoryPolicy.KV_REUSE])
def test_what_was_kept_of_a_call_is_gone_on_from_with_the_same_numbers(
    load: Callable[..., Model], policy: HistoryPolicy
) -> None:
    sampler = load(FLOW, (32, 32)).sampler
    prepared = sampler.prepare(Condition(0, "snow"))
    takes, there = Takes(), []
    for branch in (0, 5):
        groups = sampler.sample(Request(branch, 5, 1, 1, 0, prepared, policy), lambda a, b: True)
        sampler.extend(groups)
        there += [takes.deliver(Kept(g, 0, 4, branch, 0, "")) for g in groups]
    on = Request(10, 3, 2, 1, 0, prepared, policy)
    before = sampler.sample(on, lambda a, b: True)
    resume_sampler(sampler, whole(there))
    after = sampler.sample(on, lambda a, b: True)
    assert all(torch.equal(a.latent, b.latent) for a, b in zip(before, after, strict=True))
