"""Random revocations: every frame once, none missing, whatever the policy; and whole sessions, headless and in the window."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from app.cli.main import main
from engine.control.conditions import Condition
from engine.models.attention import KeyValue, RotaryEmbedding, WindowCall
from engine.models.interface import Group, HistoryPolicy, ModelSpec, Request
from engine.models.text_embeddings import EmbeddingCache, PromptEncoder
from engine.models.wan.camera import onward, start_pose
from engine.models.wan.conditions import WanConditions
from engine.models.wan.decoding import StreamDecoder
from engine.models.wan.sampler import WanDecoder, WanSampler
from engine.models.wan.sampling_config import SamplingConfig
from engine.models.wan.vae import State
from tests.logs import log_lines

POLICIES = list(HistoryPolicy)


class Numbers:
    """A transformer and VAE of numbers: a latent's value says which noise it came from; its frames say which latent, and how
    many were decoded before it since the decoder's start."""

    channels = inputs = 1
    heads, head_dim, layers = 1, 6, 1
    device = torch.device("cpu")
    dtype = torch.float32
    ratio = 8

    def tokens(self, height: int, width: int) -> tuple[int, int]:
        return 1, 1

    def velocity(self, z: Tensor, sigmas: list[float], after: float, text: Tensor, call: WindowCall) -> Tensor:
        return torch.zeros_like(z)

    def keep(self, z: Tensor, sigma: float, text: Tensor, call: WindowCall) -> list[KeyValue]:
        return [(torch.zeros(1, z.shape[2], 1, 6), torch.zeros(1, z.shape[2], 1, 6))]

    def rotated(self, keys: Tensor, rotary: RotaryEmbedding) -> Tensor:
        return keys

    def step(self, latent: Tensor, state: State, spend: bool = False) -> tuple[Tensor, State]:
        index = 0 if state is None else state
        n = 1 if index == 0 else 4
        frames = torch.full((n, 3, 1, 1), float(latent.flatten()[0]))
        return frames, index + 1

    def nbytes(self, state: State) -> int:
        return 1

    def encode(self, frames: np.ndarray) -> Tensor:
        return torch.full((1, 1, 1, 1), float(frames[-1].flat[0]) / 127.5 - 1)


def session(limit: int = 1 << 30) -> tuple[WanSampler, StreamDecoder]:
    numbers: Any = Numbers()
    history = tuple(HistoryPolicy)
    spec = ModelSpec("numbers", 8, 8, 16.0, (1, 4), (1, 21), 7, 2, history)
    config = SamplingConfig(solver="euler", image="clamp", history=9, sink=2, block=3)
    encoder = PromptEncoder(lambda: (None, None), EmbeddingCache(None, "x"), torch.device("cpu"), torch.float32)
    encoder.encode = lambda text: torch.zeros(1, 1, 1)  # type: ignore[method-assign]
    sampler = WanSampler(spec, [numbers], WanConditions(spec, config, encoder, {}), numbers, config, numbers)
    few = limit if limit < 100 else None
    return sampler, WanDecoder(numbers, sampler.frames, snapshot_bytes=limit, snapshots=few)


@pytest.mark.parametrize("policy", POLICIES, ids=[p.value for p in POLICIES])
def test_frames_are_continuous_over_random_revocations(policy: HistoryPolicy) -> None:
    """40 sequences a policy: 200 in all. What is delivered is the decode of the timeline as it was when it played."""
    for seed in range(40):
        rng = np.random.default_rng([seed, POLICIES.index(policy)])
        sampler, decoder = session(int(rng.choice([2, 4, 1 << 20])))
        timeline: dict[int, Group] = {}
        delivered = decoded = 0
        played: list[tuple[int, int]] = []
        for call in range(8):
            end = max(timeline, default=-1) + 1
            branch = int(rng.integers(delivered, end + 1)) if end else 0
            k = int(rng.integers(4, 9))
            prepared = sampler.prepare(
                Condition(call, "x", tuple(rng.permutation(["forward", "turn_left"])[: rng.integers(3)]))
            )
            groups = sampler.sample(Request(branch, k, 2, seed, call, prepared, policy), lambda a, b: True)
            sampler.prefill_chunk(groups, policy)
            assert [g.position for g in groups] == list(range(branch, branch + len(groups)))
            sampler.extend(groups)
            timeline = {p: g for p, g in timeline.items() if p < branch} | {g.position: g for g in groups}
            while sampler.prefill_step(delivered, policy):
                pass
            if decoded > branch:
                decoder.rewind(branch)
                decoded = branch
            until = int(rng.integers(max(delivered, decoded), max(timeline) + 2))
            for p in range(decoded, until):
                frames = decoder.decode(timeline[p])
                assert len(frames) == sampler.spec.span(p)
            decoded = max(decoded, until)
            for p in range(delivered, int(rng.integers(delivered, decoded + 1))):
                played.append((p, sampler.spec.span(p)))
                delivered = p + 1
                sampler.evict_before(delivered)
                decoder.evict_before(delivered)
        assert [p for p, _ in played] == list(range(delivered))
        assert sum(n for _, n in played) == (1 + 4 * (delivered - 1) if delivered else 0)


def test_a_boundary_frame_is_the_last_one_before_the_branch() -> None:
    sampler, decoder = session()
    prepared = sampler.prepare(Condition(0, "x"))
    groups = sampler.sample(Request(0, 6, 2, 1, 0, prepared, HistoryPolicy.BOUNDARY_IMAGE), lambda a, b: True)
    sampler.extend(groups)
    with_worker = [decoder.decode(g)[-1] for g in groups]
    seen: list[float] = []
    inner = sampler._vae.encode
    sampler._vae.encode = lambda frames: (seen.append(float(frames[-1].flat[0])), inner(frames))[1]  # type: ignore[method-assign, func-returns-value]
    sampler.sample(Request(4, 4, 2, 1, 0, prepared, HistoryPolicy.BOUNDARY_IMAGE), lambda a, b: True)
    assert seen[-1] == float(with_worker[3].flat[0])
    sampler.frames.clear()  # nobody has decoded it: the sampler does
    sampler.sample(Request(4, 4, 2, 1, 0, prepared, HistoryPolicy.BOUNDARY_IMAGE), lambda a, b: True)
    assert seen[-1] == float(with_worker[3].flat[0])


def test_a_revocation_rewinds_the_pose() -> None:
    sampler, _ = session()
    sampler.config = SamplingConfig(solver="euler", keys="camera")
    still, going = (sampler.prepare(Condition(i, "x", k)) for i, k in enumerate([("turn_right",), ("forward",)]))
    groups = sampler.sample(Request(0, 6, 2, 1, 0, still, HistoryPolicy.KV_REUSE), lambda a, b: True)
    sampler.extend(groups)
    after = sampler.sample(Request(3, 2, 2, 1, 0, going, HistoryPolicy.KV_REUSE), lambda a, b: True)
    pose = start_pose()
    for actions in (["turn_right"], ["turn_right"], ["forward"]):
        pose = onward(pose, actions)
    assert np.allclose(after[0].state.control, pose)


def test_a_tap_moves_the_first_latent_only() -> None:
    sampler, _ = session()
    sampler.config = SamplingConfig(solver="euler", keys="camera")
    prepared = sampler.prepare(Condition(0, "x", (), ("forward",)))
    groups = sampler.sample(Request(0, 4, 2, 1, 0, prepared, HistoryPolicy.KV_REUSE), lambda a, b: True)
    sampler.extend(groups)
    after = sampler.sample(Request(4, 3, 2, 1, 0, prepared, HistoryPolicy.KV_REUSE), lambda a, b: True)
    depth = [g.state.control[2, 3] for g in after]
    assert depth[0] == pytest.approx(0.08) and depth[1:] == pytest.approx([0.08, 0.08])


# -- headless, as a person runs it ---------------------------------------------------------------------------------------


@pytest.fixture
def script(tmp_path: Path) -> Path:
    file = tmp_path / "script.json"
    events = [
        {"t": 0.3, "key": "D", "action": "down"},
        {"t": 0.7, "key": "D", "action": "up"},
        {"t": 0.8, "prompt": "desert at dusk"},
    ]
    file.write_text(json.dumps({"prompt": "snow forest", "seconds": 1.5, "events": events}))
    return file


@pytest.mark.parametrize(
    ("name", "history"),
    [
        ("wan2.1-t2v-1.3b-self-forcing", "kv-reuse"),
        ("longlive-1.3b", "recache"),
        ("wan2.1-t2v-1.3b", "boundary-image"),
        ("wan2.1-t2v-1.3b", "latent-input"),
        ("minwm-wan2.1-1.3b-action", "clean-prefill"),
    ],
)
def test_explore_plays_a_small_checkpoint(
    name: str,
    history: str,
    checkpoints: Callable[[str], Path],
    script: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The log names the policy; the film has every frame; equal runs give equal frames."""
    monkeypatch.setenv("FORELAND_HOME", str(tmp_path / "home"))
    raw = []
    for run in range(2):
        out = tmp_path / f"{run}"
        words = [
            "explore",
            "--model",
            str(checkpoints(name)),
            "--device",
            "cpu",
            "--threads",
            "1",
            "--script",
            str(script),
        ]
        words += ["--history", history, "--steps", "2", "--window", "5", "--assume-call", "0.3", "--seed", "3"]
        words += [
            "--size",
            "48x32",
            "--out",
            str(out / "f.mp4"),
            "--session",
            str(out / "s"),
            "--raw",
            str(out / "f.npy"),
        ]
        assert main(words) == 0
        raw.append(np.load(out / "f.npy"))
        lines = log_lines(out / "s")
        calls = [x for x in lines if x["kind"] == "call"]
        assert len(calls) > 2 and all(c["history"] == history and not c["error"] for c in calls)
    assert raw[0].shape[0] == 24
    assert np.array_equal(*raw)
    assert main(["replay", str(tmp_path / "0" / "s"), "--check"]) == 0


def test_speculative_and_chunk_commitment_show_the_same_while_nothing_changes(
    checkpoints: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORELAND_HOME", str(tmp_path / "home"))
    (tmp_path / "s.json").write_text(json.dumps({"prompt": "snow", "seconds": 1.5, "events": []}))
    raw = []
    for commit in ("speculative", "chunk"):
        words = [
            "explore",
            "--model",
            str(checkpoints("wan2.1-t2v-1.3b-self-forcing")),
            "--device",
            "cpu",
            "--commit",
            commit,
        ]
        words += [
            "--script",
            str(tmp_path / "s.json"),
            "--out",
            str(tmp_path / "f.mp4"),
            "--raw",
            str(tmp_path / "f.npy"),
        ]
        assert main([*words, "--assume-call", "0.3", "--steps", "2", "--threads", "1"]) == 0
        raw.append(np.load(tmp_path / "f.npy"))
    assert np.array_equal(*raw)


def test_live_boundary_images_come_from_the_decode_worker(
    checkpoints: Callable[[str], Path], script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In real time, on threads; the prompt is encoded beside the call."""
    monkeypatch.setenv("FORELAND_HOME", str(tmp_path / "home"))
    words = [
        "explore",
        "--model",
        str(checkpoints("wan2.1-t2v-1.3b")),
        "--device",
        "cpu",
        "--script",
        str(script),
        "--steps",
        "2",
    ]
    words += ["--window", "9", "--out", str(tmp_path / "f.mp4"), "--session", str(tmp_path / "s"), "--threads", "1"]
    assert main(words) == 0
    summary = json.loads((tmp_path / "s" / "summary.json").read_text())
    assert summary["frames_shown"] >= 24 and summary["history"] == "boundary-image"
    assert main(["replay", str(tmp_path / "s"), "--check"]) == 0


@pytest.mark.parametrize(("what", "frames"), [("image", 1), ("clip", 9)])
def test_a_world_begins_from_a_picture_or_a_film(
    what: str, frames: int, checkpoints: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first frames shown are those of the picture as the VAE sees them."""
    import av
    from PIL import Image

    monkeypatch.setenv("FORELAND_HOME", str(tmp_path / "home"))
    picture = np.zeros((90, 150, 3), np.uint8)
    picture[:, 75:] = 255
    file = tmp_path / ("p.png" if what == "image" else "p.mp4")
    if what == "image":
        Image.fromarray(picture).save(file)
    else:
        with av.open(str(file), "w") as box:
            stream = box.add_stream("libx264", rate=16)
            stream.width, stream.height, stream.pix_fmt = 150, 90, "yuv420p"
            for _ in range(20):
                box.mux(stream.encode(av.VideoFrame.from_ndarray(picture)))
            box.mux(stream.encode(None))
    (tmp_path / "s.json").write_text(json.dumps({"prompt": "snow", "seconds": 1, "events": []}))
    words = [
        "explore",
        "--model",
        str(checkpoints("wan2.1-t2v-1.3b-self-forcing")),
        "--device",
        "cpu",
        f"--{what}",
        str(file),
    ]
    words += [
        "--script",
        str(tmp_path / "s.json"),
        "--out",
        str(tmp_path / "f.mp4"),
        "--window",
        "4",
        "--steps",
        "2",
        "--threads",
        "1",
    ]
    assert (
        main([*words, "--assume-call", "0.1", "--raw", str(tmp_path / "f.npy"), "--session", str(tmp_path / "s")]) == 0
    )
    shown = np.load(tmp_path / "f.npy").astype(int)
    assert shown.shape == (16, 64, 96, 3)
    calls = log_lines(tmp_path / "s")
    assert not any(c["error"] for c in calls if c["kind"] == "call")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--model", "wan9"], "unknown model 'wan9'"),
        (["--model", "wan2.1-t2v-1.3b"], "is not on this machine: `foreland models pull"),
        (["--model", "TINY", "--window", "40"], "K = 40 is out of range"),
        (["--model", "TINY", "--history", "boundary-image"], "does not know the history policy boundary-image"),
        (["--model", "TINY", "--size", "100x64"], "is not a size"),
        (["--model", "TINY", "--size", "big"], "is not a size"),
        (["--model", "TINY", "--device", "cuda"], "there is no CUDA device"),
        (["--model", "TINY", "--image", "/nowhere.png"], "/nowhere.png cannot be read: No such file"),
        (["--model", "TINY", "--image", "SCRIPT"], "cannot be read as a picture"),
        (["--model", "pocket", "--size", "832x480"], "pocket is 128x80"),
        (["--model", "TINY", "--like", "nothing"], "unknown model 'nothing'"),
    ],
)
def test_bad_choices_are_refused_in_one_line(
    words: list[str],
    message: str,
    checkpoints: Callable[[str], Path],
    script: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    names = {"TINY": str(checkpoints("wan2.1-t2v-1.3b-self-forcing")), "SCRIPT": str(script)}
    words = [names.get(w, w) for w in words]
    assert main(["explore", *words, "--script", str(script), "--out", str(tmp_path / "f.mp4")]) == 2
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("foreland: ")]
    assert message in said[-1]
