"""The renderer as an oracle, the training pairs, and the whole training road on a thimble of data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from engine.models.interface import Group, HistoryPolicy, Request
from engine.models.pocket import camera
from engine.models.pocket import sampling_config as play
from engine.models.pocket.camera import command
from engine.models.pocket.codec import CHANNELS
from engine.models.pocket.depth import DepthNet
from engine.models.pocket.memory import Place
from engine.models.pocket.network import ATTRIBUTES, HISTORY, NetworkConfig, PocketNet
from engine.models.pocket.reprojection import encoded
from engine.models.pocket.sampler import GroupState, PocketInputs, PocketSampler, PocketWeights
from engine.models.schedulers import make_solver, noise
from engine.training import data, evaluate, pack, polish, refine, train, world
from engine.training.captions import HELD_OUT, WORDS, caption
from engine.training.critic import Balance, Critic, critic_loss
from engine.training.judge import Judge, expansion, horizontal_shift, sharpness


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
    for _ in range(15):
        batch = train.draw(clips, rng, 4, 2, 6, 0, len(clips))
        assert batch.history.shape[1:] == (2, CHANNELS, 10, 16)
        assert batch.window.shape[1:] == (6, CHANNELS, 10, 16)
        weights = batch.weight.numpy()
        assert np.all(np.diff(weights, axis=1) <= 0), "groups count up to the edit and not after it"
        assert np.all(weights[:, 0] == 1)


@pytest.mark.slow  # trains every part, 100 s: of the first make, which does not change any more
def test_the_whole_training_road_ends_in_weights_that_load_and_can_be_judged(folder: Path, tmp_path: Path) -> None:
    torch.set_num_threads(2)
    codec = data.load_transform(folder / "codec.pt")
    short, long = (train.Clips(folder / f"{n}.npz", 0) for n in ("short", "long"))
    config = train.TrainConfig(batch_tokens=400, minutes=0.08, bf16=False)
    depth = DepthNet().eval()
    torch.save(depth.state_dict(), folder / "depth.pt")
    train.train(config, NetworkConfig(), codec, depth, short, long, folder / "net.pt", None)
    frames = np.concatenate([refine._frames(s) for s in range(12)])
    gain, sharp = refine.train(codec, frames, 0.05, batch=4)
    assert np.isfinite(gain) and 0.3 < sharp < 3
    torch.save(codec.refiner.state_dict(), folder / "refiner.pt")
    shipped = PocketWeights.load(evaluate_folder())
    torch.save(shipped.reader.state_dict(), folder / "reader.pt")
    pack.pack(folder, tmp_path / "w", {"made": "by a test"})
    weights = PocketWeights.load(tmp_path / "w")
    assert weights.card["made"] == "by a test"
    assert weights.starts.shape == (pack.VARIANTS, *ATTRIBUTES, CHANNELS, 10, 16)
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
    before = {k: v.clone() for k, v in weights.net.state_dict().items()}
    walk = polish.PolishConfig(minutes=0.03, groups=4, bf16=False)
    polish.polish(
        walk, weights.net.requires_grad_(True), codec, depth, short, long, folder / "walked.pt", torch.device("cpu")
    )
    after = torch.load(folder / "walked.pt", weights_only=True)
    assert any(not torch.equal(before[k], v) for k, v in after.items())
    assert all(torch.isfinite(v).all() for v in after.values())
    assert set(evaluate.judge_prompts(bench, Judge().eval(), 1)) == {"biome", "time", "weather"}


def test_a_critic_learns_to_tell_two_kinds_apart_and_by_what_they_should_be() -> None:
    torch.manual_seed(0)
    critic = Critic(3, (16, 16), (False, True), 2)
    opt = torch.optim.AdamW(critic.parameters(), lr=5e-3)
    said = torch.eye(2).repeat(8, 1)

    def pictures() -> torch.Tensor:
        """What is said to be 0 is bright, what is said to be 1 is dark."""
        return torch.randn(16, 3, 8, 8) * 0.3 + (1 - 2 * said[:, 1])[:, None, None, None]

    for _ in range(80):
        opt.zero_grad()
        critic_loss(critic(pictures(), said), critic(-pictures(), said)).backward()
        opt.step()
    assert (critic(pictures(), said).mean(1) > critic(-pictures(), said).mean(1)).all()


def test_the_adversarial_gradient_is_as_long_as_it_is_told_to_be() -> None:
    p = torch.nn.Parameter(torch.tensor([1.0, 1.0]))
    factor = Balance([p], 0.5).backward(4 * p[0], 100 * p[1])
    assert factor == pytest.approx(0.02)
    assert p.grad is not None and p.grad.tolist() == pytest.approx([4.0, 2.0])
    assert Balance([p], 0.5).backward(4 * p[0], None) == 0
    assert p.grad.tolist() == [4.0, 0.0]


def test_worlds_that_are_walked_in_training_go_on_from_their_own_groups(folder: Path) -> None:
    long = train.Clips(folder / "long.npz", 0)
    rng = np.random.default_rng(0)
    walks = polish.Walks(long, rng, 4)
    rows = walks.take(3)
    assert all(walks.left[rows] >= 1) and walks.latents[rows].abs().sum() > 0
    motion, poses, pitch = polish.next_motion(walks, rows, 2, rng)
    assert motion.shape == (3, 2, 4, 5) and poses.shape == (3, 8, 5) and pitch.shape == (3, 2)
    before, since = walks.latents[rows].clone(), walks.since[rows].copy()
    made = torch.randn(3, 2, CHANNELS, 10, 16)
    walks.onward(rows, motion, pitch, made)
    assert torch.equal(walks.latents[rows][:, :-2], before[:, 2:])
    assert torch.equal(walks.latents[rows][:, -2:], made)
    assert np.array_equal(walks.pitch[rows][:, -1], pitch[:, -1])
    assert np.array_equal(walks.since[rows], since + 2)
    codec, depth = data.load_transform(folder / "codec.pt"), DepthNet().eval()
    walks.since[rows] = 99
    turned = np.zeros((3, 8, 5), np.float32)
    turned[:, :, 3] = np.linspace(0.2, 1.6, 8)
    seen = polish.ahead(codec, depth, walks.latents[rows][:, -1], walks.pitch[rows][:, -1], turned)
    filled = polish.surrounded(codec, depth, seen, long, walks, rows, turned, rng)
    assert torch.equal(filled[0][:, 0, :, :, 20:100], seen[0][:, 0, :, :, 20:100]), "what the boundary covers stays"
    assert filled[1][:, -1].mean() > seen[1][:, -1].mean(), "a turn finds something"
    pairs, *facts = polish.true_pairs(long, rng, 20)
    assert pairs.shape[1:] == (2 * CHANNELS, 10, 16) and len(polish.told(*facts)) == len(pairs) > 0


def test_a_window_that_is_walked_in_training_is_the_window_of_play(folder: Path) -> None:
    torch.manual_seed(1)
    long = train.Clips(folder / "long.npz", 0)
    codec, depth, net = (
        data.load_transform(folder / "codec.pt"),
        DepthNet().eval(),
        PocketNet(NetworkConfig(128, 2, stem=32)).eval(),
    )
    walks = polish.Walks(long, np.random.default_rng(1), 2, edits=0)
    rows = walks.take(1)
    keys = ("forward", "turn_right")
    motion = camera.integrate(walks.motion[rows[0], -1, -1], np.tile(command(keys), (12, 1)))
    pose, _ = camera.relative_pose(motion, float(walks.pitch[rows[0], -1]))
    after = (walks.pitch[rows, -1:] + pose[None, 3::4, 4]).astype(np.float32)
    said = play.EMPHASIS * torch.from_numpy(train.one_hot(walks.labels[rows], np.random.default_rng(0), 0.0))
    pure = torch.stack([noise((CHANNELS, 10, 16), 7, HISTORY + i, 0) for i in range(3)])[None]
    sigmas = make_solver("euler", 4, play.SHIFT, play.EASE).sigmas
    with torch.no_grad():
        seen = polish.ahead(codec, depth, walks.latents[rows][:, -1], walks.pitch[rows][:, -1], pose[None])
        control = encoded(codec, seen)
        made = polish.walked(net, walks, rows, motion.reshape(1, 3, 4, 5), after, control, said, pure, sigmas, 3, False)
    weights = PocketWeights(net, codec, None, depth, torch.zeros(0, *ATTRIBUTES, CHANNELS, 10, 16), {})  # type: ignore[arg-type]
    sampler = PocketSampler(weights)
    pitch, past = walks.pitch[rows[0]], walks.motion[rows[0]]
    states = [GroupState(past[g], float(pitch[g]), Place(pitch=float(pitch[g + 1])), said[0]) for g in range(HISTORY)]
    sampler.extend([Group(g, walks.latents[rows[0], g], states[g]) for g in range(HISTORY)])
    prepared = PocketInputs(said[0], command(keys), command(keys))
    groups = sampler.sample(Request(HISTORY, 3, 4, 7, 0, prepared, HistoryPolicy.CLEAN_PREFILL), lambda a, b: True)
    assert torch.allclose(torch.stack([g.latent for g in groups]), made[0], atol=1e-4)


def test_what_is_covered_is_held_until_detail_is_decided() -> None:
    control = torch.randn(1, 2, CHANNELS + 1, 10, 16)
    control[:, :, CHANNELS:] = 1
    clean = torch.randn(1, 2, CHANNELS, 10, 16)
    firm = play.firmness(torch.tensor([[0.0, 99.0]]))
    assert firm.tolist() == [[0.0, pytest.approx(play.HOLD)]]
    out = play.held(clean, control, 1.0, firm)
    assert torch.equal(out[:, 0], clean[:, 0])
    assert torch.allclose(out[:, 1], clean[:, 1] * (1 - play.HOLD) + control[:, 1, :CHANNELS] * play.HOLD, atol=1e-6)
    assert torch.equal(play.held(clean, control, 0.2, firm), clean), "detail is the network's"


def test_the_recipe_runs_every_stage_once_and_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.training import recipe

    ran: list[str] = []

    def fake(command: tuple[str, ...], check: bool) -> None:
        ran.append(command[2].rsplit(".", 1)[1])
        made = next(s.makes for s in recipe.stages(tmp_path / "r", tmp_path / "w", 0.01) if s.arguments == command[3:])
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_text("")

    monkeypatch.setattr(recipe.subprocess, "run", fake)
    recipe.run(tmp_path / "r", tmp_path / "w", 0.01)
    assert ran == ["data", "data", "depth", "refine", "train", "polish", "pack"]
    ran.clear()
    (tmp_path / "r" / "net.pt").unlink()
    recipe.run(tmp_path / "r", tmp_path / "w", 0.01)
    assert ran == ["polish", "pack"]


def evaluate_folder() -> Path:
    from engine.models.registry import pocket_folder

    return pocket_folder()
