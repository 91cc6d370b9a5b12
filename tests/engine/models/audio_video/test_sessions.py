"""Joint models in sessions: no frame and no sample twice or missing over 200 random revocations; sound is revoked with the picture."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from app.cli.main import main
from engine.control.conditions import Condition
from engine.models.audio_video import sampler as audio_video_sampler
from engine.models.audio_video.call import Call, CallState, ConditioningLatents
from engine.models.audio_video.conditions import AudioVideoConditions, AudioVideoInputs, between
from engine.models.audio_video.decoding import FADE_SECONDS, AudioVideoDecoder, repeating
from engine.models.audio_video.minimax_h3 import SPANS
from engine.models.audio_video.sampler import AudioVideoSampler
from engine.models.boundary_frames import BoundaryFrames
from engine.models.interface import Group, HistoryPolicy, ModelSpec, Request, Stopped
from engine.models.text_embeddings import EmbeddingCache
from engine.playback.player import sample_at

CPU = torch.device("cpu")


class Counting:
    """A family whose frames and samples say which call and which instant of it they are."""

    device = CPU

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.latent = (1, 2, 2)
        self.calls = itertools.count(1)
        self.fps, self.rate = 24.0, 32_000 if kind == "h3" else 24_000

    def spans(self, window: int) -> tuple[int, ...]:
        return repeating(SPANS, window) if self.kind == "h3" else (1, *(8 for _ in range(window - 1)))

    def audio_shape(self, window: int) -> tuple[int, ...]:
        return (4,)

    def encode(self, frame: NDArray[np.uint8]) -> Tensor:
        return torch.zeros(self.latent)

    def retained(self, state: CallState) -> ConditioningLatents | None:
        if self.kind != "h3":
            return None
        first = state.index // 5 * 5
        return ConditioningLatents(tuple(state.call.video[:, i] for i in range(first, state.index + 1)))

    def denoise(
        self,
        prepared: AudioVideoInputs,
        conditioning: ConditioningLatents | None,
        video: Tensor,
        audio: Tensor,
        steps: int,
        report: Callable[[int, int], None],
    ):  # type: ignore[no-untyped-def]
        for i in range(steps):
            report(i + 1, steps)
        number = next(self.calls)
        return torch.full_like(video, number), torch.full((4,), float(number))

    def modules(self) -> list[object]:
        return []

    def pictures(self, call: Call) -> object:
        class Pictures:
            def group(self, index: int) -> NDArray[np.uint8]:
                out = np.zeros((call.spans[index], 2, 2, 3), np.uint8)
                out[..., 0] = int(call.video.flatten()[0]) % 251
                out[..., 1] = (call.begin(index) + np.arange(call.spans[index]))[:, None, None] % 256
                return out

        return Pictures()

    def waveform(self, audio: Tensor) -> NDArray[np.float32]:
        n = sample_at(200, self.fps, self.rate)
        ramp = np.arange(n, dtype=np.float32) / n
        return np.stack((np.full(n, float(audio[0]) / 512, np.float32), ramp), 1)


def world(kind: str) -> tuple[AudioVideoSampler, AudioVideoDecoder, ModelSpec, Counting]:
    family = Counting(kind)
    spec = ModelSpec(
        kind,
        32,
        32,
        24.0,
        SPANS[:2] if kind == "h3" else (1, 8),
        (7, 42) if kind == "h3" else (2, 33),
        7,
        2,
        (HistoryPolicy.BOUNDARY_IMAGE, HistoryPolicy.LATENT_INPUT),
        sound_rate=family.rate,
        grid=(5, 2) if kind == "h3" else (1, 0),
    )
    conditions = AudioVideoConditions(
        spec, lambda w: {"text": torch.zeros(1, 3, 4)}, lambda: None, EmbeddingCache(None, "x"), {}, CPU
    )
    sampler = AudioVideoSampler(spec, family, conditions)  # type: ignore[arg-type]
    decoder = AudioVideoDecoder(24.0, family.rate, family.pictures, family.waveform, sampler.frames)  # type: ignore[arg-type]
    return sampler, decoder, spec, family


def sample(sampler: AudioVideoSampler, branch: int, k: int, history: HistoryPolicy) -> list[Group]:
    prepared = sampler.prepare(Condition(0, "x"))
    return sampler.sample(Request(branch, k, 2, 0, 0, prepared, history), lambda a, b: True)


@pytest.mark.parametrize("kind", ["h3", "ltx"])
@pytest.mark.parametrize("history", [HistoryPolicy.BOUNDARY_IMAGE, HistoryPolicy.LATENT_INPUT])
def test_over_random_revocations_no_frame_and_no_sample_is_lost_or_repeated(kind: str, history: HistoryPolicy) -> None:
    for seed in range(50):  # four kinds: 200 in all
        rng = np.random.default_rng(seed)
        sampler, decoder, _, family = world(kind)
        lengths = [7, 12, 22] if kind == "h3" else [2, 3, 9]
        timeline: dict[int, Group] = {}
        played, start, samples = 0, 0, 0
        before: tuple[Call, int] | None = None
        for _ in range(6):
            cached = max(timeline, default=-1) + 1
            branch = int(rng.integers(played, cached + 1)) if cached > played else played
            while branch and (branch - 1) >= played:  # what is locked is decoded before the branch
                if branch - 1 - played > 4:
                    branch -= 1
                    continue
                break
            for p in range(played, branch):
                start, samples, before = play(decoder, timeline[p], start, samples, before, family)
                played = p + 1
                sampler.evict_before(played)
            decoder.rewind(branch)
            groups = sample(sampler, branch, int(rng.choice(lengths)), history)
            assert [g.position for g in groups] == list(range(branch, branch + len(groups)))
            sampler.extend(groups)
            timeline = {p: g for p, g in timeline.items() if p < branch} | {g.position: g for g in groups}
            ahead = int(rng.integers(1, len(groups) + 1))
            for p in range(played, min(branch + ahead, max(timeline) + 1)):
                start, samples, before = play(decoder, timeline[p], start, samples, before, family)
                played = p + 1
                sampler.evict_before(played)
        assert samples == sample_at(start, 24.0, family.rate)


def play(
    decoder: AudioVideoDecoder,
    group: Group,
    start: int,
    samples: int,
    before: tuple[Call, int] | None,
    family: Counting,
):  # type: ignore[no-untyped-def]
    """Decodes one group and checks it against the one before; the frame after which the next begins, and samples so far."""
    frames, sound = decoder.decode(group), decoder.sound(group, start)
    call, index = group.state.call, group.state.index
    assert [int(f[0, 0, 1]) for f in frames] == [(call.begin(index) + i) % 256 for i in range(call.spans[index])]
    if before is not None and before[0] is call:
        assert before[1] == index - 1, "the call's groups follow each other"
    elif before is not None:
        assert index == call.overlap, "a call is entered at its first played group"
    assert len(sound) == sample_at(start + len(frames), 24.0, family.rate) - sample_at(start, 24.0, family.rate)
    tone = float(call.audio[0]) / 512
    m = round(FADE_SECONDS * family.rate)
    assert np.allclose(sound[m:, 0], tone, atol=1e-5), "what is heard is the call's own"
    if before is not None and before[0] is not call:
        old = float(before[0].audio[0]) / 512
        assert np.isclose(sound[0, 0], old, atol=2e-3), "and begins where the old one was"
        assert np.abs(np.diff(sound[:, 0])).max() < abs(tone - old) / m * 1.5 + 1e-5, "without a click"
    return start + len(frames), samples + len(sound), (call, index)


def test_sound_and_picture_of_an_hour_of_calls_stay_together() -> None:
    """The samples of every group begin where its frames do, to half a sample, however many there were."""
    sampler, decoder, _, family = world("h3")
    start, position, worst = 0, 0, 0.0
    while start < 3600 * 24:
        groups = sample(sampler, position, 42, HistoryPolicy.BOUNDARY_IMAGE)
        sampler.extend(groups)
        for g in groups:
            sound = decoder.sound(g, start)
            begin = g.state.call.begin(g.state.index)
            heard_at = sound[-1, 1] * sample_at(200, 24.0, family.rate) - (len(sound) - 1)
            worst = max(worst, abs(heard_at / family.rate - begin / 24.0))
            start += g.span
        sampler.evict_before(groups[-1].position)
        decoder.decode(groups[-1])
        position = groups[-1].position + 1
    assert worst < 0.04


def test_a_stopped_call_leaves_nothing_behind() -> None:
    sampler, _, _, _ = world("h3")
    prepared = sampler.prepare(Condition(0, "x"))
    with pytest.raises(Stopped):
        sampler.sample(Request(0, 7, 2, 0, 0, prepared, HistoryPolicy.BOUNDARY_IMAGE), lambda step, steps: False)
    assert sampler._groups == {}


def test_after_going_back_the_frame_before_the_branch_is_there_again() -> None:
    sampler, decoder, _, _ = world("ltx")
    groups = sample(sampler, 0, 9, HistoryPolicy.BOUNDARY_IMAGE)
    sampler.extend(groups)
    for g in groups:
        decoder.decode(g)
    sampler.reset()
    sampler.extend(groups[:5])
    decoder.resume(groups[:5])
    assert [g.position for g in sample(sampler, 5, 3, HistoryPolicy.BOUNDARY_IMAGE)] == [5, 6]


class Host:
    def __init__(self) -> None:
        self.said: list[str] = []

    def notify(self, message: str) -> None:
        self.said.append(message)

    def decode_until(self, position: int) -> None:
        return


@pytest.mark.parametrize(("kind", "k", "then"), [("h3", 37, [17, 7]), ("ltx", 16, [8, 4])])
def test_a_call_that_finds_no_memory_is_made_shorter_and_so_are_later_ones(
    kind: str, k: int, then: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    sampler, _, _, family = world(kind)
    host = Host()
    sampler.attach(host)
    run, failures = family.denoise, [2]

    def denoise(*inputs: Any) -> Any:
        if failures[0]:
            failures[0] -= 1
            raise torch.OutOfMemoryError("no memory")
        return run(*inputs)

    monkeypatch.setattr(family, "denoise", denoise)
    policy = HistoryPolicy.BOUNDARY_IMAGE
    assert len(sample(sampler, 0, k, policy)) == then[-1] == len(sample(sampler, 0, k, policy))
    assert host.said == [f"the device's memory ran out: K is {n} from now on, and the world goes on" for n in then]
    failures[0] = 9
    with pytest.raises(torch.OutOfMemoryError):
        sample(sampler, 0, k, policy)


@pytest.mark.parametrize("kind", ["h3", "ltx"])
def test_a_step_is_reported_when_the_device_has_done_it(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    monkeypatch.setattr(audio_video_sampler, "wait_for", lambda device: order.append("wait"))
    sampler, _, _, _ = world(kind)
    prepared = sampler.prepare(Condition(0, "x"))
    request = Request(0, 7, 2, 0, 0, prepared, HistoryPolicy.BOUNDARY_IMAGE)
    sampler.sample(request, lambda step, steps: order.append("report") is None)
    assert order == ["wait", "report"] * 2


def test_decoding_that_finds_no_memory_lets_earlier_calls_go(monkeypatch: pytest.MonkeyPatch) -> None:
    sampler, decoder, _, _ = world("ltx")
    calls = [sample(sampler, 0, 4, HistoryPolicy.BOUNDARY_IMAGE) for _ in range(2)]
    before = [decoder.decode(groups[0]) for groups in calls]
    decoder.reset()
    decoder.decode(calls[0][0])
    pictures, failures = decoder._pictures, [1]

    def once(call: Call) -> Any:
        made = pictures(call)
        group = made.group

        def failing(index: int) -> Any:
            if failures:
                failures.clear()
                raise torch.OutOfMemoryError("no memory")
            return group(index)

        made.group = failing  # type: ignore[method-assign]
        return made

    monkeypatch.setattr(decoder, "_pictures", once)
    frames = decoder.decode(calls[1][0])
    assert not failures and len(decoder._open) == 1
    assert all((a == b).all() for a, b in zip(frames, before[1], strict=True))


def test_a_transition_between_prompts_of_one_shape_is_mixed() -> None:
    a, b = AudioVideoInputs("a", {"text": torch.zeros(1, 2, 3)}), AudioVideoInputs("b", {"text": torch.ones(1, 2, 3)})
    assert torch.allclose(between(a, b, 0.25).tensors["text"], torch.full((1, 2, 3), 0.25))
    c = AudioVideoInputs("c", {"text": torch.ones(1, 5, 3)})
    assert between(a, c, 0.25).tensors is a.tensors and between(a, c, 0.75).tensors is c.tensors


def test_frames_of_another_version_are_not_taken_for_the_boundary() -> None:
    shelf = BoundaryFrames()
    old, new = Group(3, None, None), Group(3, None, None)
    shelf.put(old, np.zeros((2, 2, 3), np.uint8))
    assert shelf.get(old) is not None
    assert shelf.get(new) is None


@pytest.mark.parametrize(("name", "k"), [("h3", 7), ("ltx", 3)])
def test_exploring_end_to_end_writes_a_film_with_sound(
    name: str, k: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    import av

    folder = request.getfixturevalue(f"{name}_folder")
    out = tmp_path / "world.mp4"
    words = ["explore", "--model", str(folder), "--device", "cpu", "--seconds", "1", "--window", str(k), "--steps", "1"]
    assert (
        main([*words, "--threads", "1", "--assume-call", "0.4", "--out", str(out), "--session", str(tmp_path / "s")])
        == 0
    )
    with av.open(str(out)) as box:
        video = sum(1 for _ in box.decode(video=0))
    with av.open(str(out)) as box:
        heard = np.concatenate([f.to_ndarray() for f in box.decode(audio=0)], 1)
        rate = box.streams.audio[0].rate
    assert video == 24
    assert abs(heard.shape[1] / rate - 1.0) < 0.1
    assert main(["replay", str(tmp_path / "s")]) == 0
