"""The renderer as an oracle, the training pairs, and the whole training road on a thimble of data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from engine.pocket import camera, data, evaluate, pack, refine, train, world
from engine.pocket.captions import HELD_OUT, WORDS, caption
from engine.pocket.depth import DepthNet
from engine.pocket.judge import Judge, expansion, horizontal_shift, sharpness
from engine.pocket.model import PocketWeights
from engine.pocket.network import ATTRIBUTES, HISTORY, NetworkConfig


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A codec and two files of clips."""
    f = tmp_path_factory.mktemp("data")
    clips = [data.clip(i, 6) for i in range(6)]
    groups = np.stack([c.frames for c in clips]).reshape(-1, 4, 80, 128, 3)
    codec = data.Codec.fit(groups)
    torch.save({k: v for k, v in codec.state_dict().items() if not k.startswith("refiner")}, f / "codec.pt")
    data.build(100, 3, 14, f / "codec.pt", f / "short.npz", 1)
    data.build(200, 1, 26, f / "codec.pt", f / "long.npz", 1)
    return f


def test_a_clip_is_a_function_of_its_seed() -> None:
    a, b, c = data.clip(5, 6), data.clip(5, 6), data.clip(6, 6)
    assert np.array_equal(a.frames, b.frames)
    assert not np.array_equal(a.frames, c.frames)


def test_a_mirrored_clip_turns_the_other_way() -> None:
    c = data.clip(5, 6)
    m = data.mirrored(c)
    assert np.array_equal(m.frames[:, :, ::-1], c.frames)
    assert np.array_equal(m.motion[..., 2], -c.motion[..., 2])
    assert np.array_equal(m.motion[..., 0], c.motion[..., 0])


def walk(axis: int, sign: int, frames: int = 8, seed: int = 3) -> list[np.ndarray]:
    scene = world.Ground.make(seed).scene("meadow", "noon", "clear")
    walker = world.Walker(np.random.default_rng(seed), scene)
    command = np.zeros(5, np.float32)
    command[axis] = sign
    walker.velocity = command.copy()
    out = [walker.see(scene)]
    for _ in range(frames):
        walker.move(scene, command)
        out.append(walker.see(scene))
    return out


@pytest.mark.parametrize("sign", [1, -1])
def test_a_true_turn_is_an_exact_shift_and_is_measured_so(sign: int) -> None:
    frames = walk(2, sign)
    shift, correlation = horizontal_shift(frames[0], frames[4])
    assert shift == -sign * round(4 * camera.YAW_STEP * camera.FOCAL)
    assert correlation > 0.9


def test_true_forward_motion_expands_and_backward_shrinks() -> None:
    ahead = [expansion(f[0], f[6]) for f in (walk(0, 1, seed=s) for s in range(8))]
    back = [expansion(f[0], f[6]) for f in (walk(0, -1, seed=s) for s in range(8))]
    assert np.mean(np.array(ahead) > 1.005) >= 0.75
    assert np.mean(np.array(back) < 0.995) >= 0.75


def test_a_blurred_picture_is_less_sharp() -> None:
    f = walk(0, 1, 1)[0]
    soft = f.astype(float)
    soft[1:-1, 1:-1] = (soft[:-2, 1:-1] + soft[2:, 1:-1] + soft[1:-1, :-2] + soft[1:-1, 2:]) / 4
    assert sharpness(soft.astype(np.uint8)) < 0.8 * sharpness(f)


def test_captions_are_labelled_and_held_out_wordings_are_not_trained_on() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        text, labels = caption(rng)
        assert text
        assert all(0 <= x <= n for x, n in zip(labels, ATTRIBUTES, strict=True))
    for trained, held in zip(WORDS, HELD_OUT, strict=True):
        for a, b in zip(trained, held, strict=True):
            assert not set(a) & set(b)


def test_a_training_window_never_reaches_from_an_old_condition_into_a_new_one_unseen(folder: Path) -> None:
    clips = train.Clips(folder / "short.npz", 0)
    rng = np.random.default_rng(0)
    for _ in range(60):
        batch = train.draw(clips, rng, 4, 2, 6, 0, len(clips))
        assert batch.history.shape[1:] == (2, 32, 10, 16)
        assert batch.window.shape[1:] == (6, 32, 10, 16)
        weights = batch.weight.numpy()
        assert np.all(np.diff(weights, axis=1) <= 0), "groups count up to the edit and not after it"
        assert np.all(weights[:, 0] == 1)


def test_the_whole_training_road_ends_in_weights_that_load_and_can_be_judged(folder: Path, tmp_path: Path) -> None:
    torch.set_num_threads(2)
    codec = data.load_transform(folder / "codec.pt")
    short, long = (train.Clips(folder / f"{n}.npz", 0) for n in ("short", "long"))
    config = train.TrainConfig(batch_tokens=400, minutes=0.08, bf16=False)
    depth = DepthNet().eval()
    torch.save(depth.state_dict(), folder / "depth.pt")
    train.train(config, NetworkConfig(), codec, depth, short, long, folder / "net.pt", None)
    frames = np.concatenate([refine._frames(s) for s in range(12)])
    gain = refine.train(codec, frames, 0.05, batch=4)
    assert np.isfinite(gain)
    torch.save(codec.refiner.state_dict(), folder / "refiner.pt")
    shipped = PocketWeights.load(evaluate_folder())
    torch.save(shipped.reader.state_dict(), folder / "reader.pt")
    pack.pack(folder, tmp_path / "w", {"made": "by a test"})
    weights = PocketWeights.load(tmp_path / "w")
    assert weights.card["made"] == "by a test"
    assert weights.starts.shape == (pack.VARIANTS, *ATTRIBUTES, 32, 10, 16)
    bench = evaluate.Bench(weights)
    scores = evaluate.judge_control(bench, 1, 2)
    assert 0 <= scores["turn_sign"] <= 1
    assert scores["turning_groups"] >= 2
    batch = train.draw(short, np.random.default_rng(1), 2, 3, 4, 0, len(short))
    on = train.went_on(weights.net, codec, depth, batch, 2, np.random.default_rng(2), False)
    assert (on.history.shape[1], on.window.shape[1]) == (HISTORY, 2)
    assert torch.equal(on.history[:, :3], batch.history)
    assert not torch.equal(on.history[:, 3:], batch.window[:, :2]), "the last two are the network's own"
    assert torch.equal(on.window, batch.window[:, 2:])
    assert set(evaluate.judge_prompts(bench, Judge().eval(), 1)) == {"biome", "time", "weather"}


def test_the_recipe_runs_every_stage_once_and_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.pocket import recipe

    ran: list[str] = []

    def fake(command: tuple[str, ...], check: bool) -> None:
        ran.append(command[2].rsplit(".", 1)[1])
        made = next(s.makes for s in recipe.stages(tmp_path / "r", tmp_path / "w", 0.01) if s.arguments == command[3:])
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_text("")

    monkeypatch.setattr(recipe.subprocess, "run", fake)
    recipe.run(tmp_path / "r", tmp_path / "w", 0.01)
    assert ran == ["data", "data", "depth", "refine", "train", "pack"]
    ran.clear()
    (tmp_path / "r" / "net.pt").unlink()
    recipe.run(tmp_path / "r", tmp_path / "w", 0.01)
    assert ran == ["train", "pack"]


def evaluate_folder() -> Path:
    from engine.models import pocket_folder

    return pocket_folder()
