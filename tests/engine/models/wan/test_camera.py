"""Camera poses by keys, PRoPE attention against its definition, and keys as words."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from engine.control.conditions import Condition
from engine.models.action_words import action_words
from engine.models.attention import Projections, WindowCall, camera_attention, grid_rotary_embedding
from engine.models.interface import Model
from engine.models.wan import camera
from engine.models.wan.tiny import HEAD_DIM, HEADS, transformer


def test_steps_are_the_authors() -> None:
    """0.08 units and 3 degrees a latent; x right, y down, z forward."""
    pose = camera.onward(camera.start_pose(), ["forward"])
    assert pose[:3, 3] == pytest.approx([0, 0, 0.08])
    assert camera.onward(camera.start_pose(), ["right"])[:3, 3] == pytest.approx([0.08, 0, 0])
    assert camera.onward(camera.start_pose(), ["rise"])[:3, 3] == pytest.approx([0, -0.08, 0])
    turned = camera.onward(camera.start_pose(), ["turn_right"])
    assert turned[:3, :3] @ [0, 0, 1] == pytest.approx([np.sin(np.deg2rad(3)), 0, np.cos(np.deg2rad(3))])
    up = camera.onward(camera.start_pose(), ["look_up"])
    assert (up[:3, :3] @ [0, 0, 1])[1] < 0  # y points down
    both = camera.onward(turned, ["forward"])
    assert both[:3, 3] == pytest.approx(0.08 * (turned[:3, :3] @ [0, 0, 1]))


def test_an_hour_of_turning_stays_a_rotation() -> None:
    pose = camera.start_pose()
    for i in range(14_400):
        pose = camera.onward(pose, ["turn_right", "look_up"] if i % 2 else ["turn_left", "forward"])
    assert pose[:3, :3] @ pose[:3, :3].T == pytest.approx(np.eye(3), abs=1e-9)
    assert np.linalg.det(pose[:3, :3]) == pytest.approx(1.0)


def by_definition(q, k, v, matrices, tokens):  # type: ignore[no-untyped-def]
    """PRoPE as its paper writes it, token by token: each 4 features of q by P^T, of k and v by P^-1, of the output by P."""
    n, heads, dim = q.shape
    p = np.stack([matrices[i // tokens] for i in range(n)])
    tile = [np.kron(np.eye(dim // 4), m) for m in p]
    out = np.zeros_like(q)
    for h in range(heads):
        qq = np.stack([tile[i].T @ q[i, h] for i in range(n)])
        kk = np.stack([np.linalg.inv(tile[i]) @ k[i, h] for i in range(n)])
        vv = np.stack([np.linalg.inv(tile[i]) @ v[i, h] for i in range(n)])
        w = np.exp(qq @ kk.T / np.sqrt(dim))
        mixed = (w / w.sum(1, keepdims=True)) @ vv
        out[:, h] = np.stack([tile[i] @ mixed[i] for i in range(n)])
    return out


def walk(n: int) -> list[camera.Pose]:
    poses, pose = [], camera.start_pose()
    for i in range(n):
        pose = camera.onward(pose, ["forward", "turn_right"] if i % 2 else ["left", "look_up"])
        poses.append(pose)
    return poses


def test_attention_by_camera_is_prope(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    tokens, latents, heads, dim = 3, 4, 2, 8
    q, k, v = (rng.normal(size=(tokens * latents, heads, dim)) for _ in range(3))
    poses = walk(latents)
    lift = np.diag([*camera.FOCAL, 1, 1])
    matrices = [lift @ np.linalg.inv(p) for p in poses]
    expected = by_definition(q, k, v, matrices, tokens)
    tensors = [torch.from_numpy(x).float()[None] for x in (q, k, v)]
    whole = camera.projections(poses, [], tokens, torch.device("cpu"))
    call = WindowCall(None, cameras=whole)  # type: ignore[arg-type]
    ours = camera_attention(call, 0, *tensors, None)[0].numpy()
    assert np.allclose(ours, expected, atol=1e-4)
    # the first latent as retained prefix: the later ones see the same
    later = camera.projections(poses[1:], poses[:1], tokens, torch.device("cpu"))
    prefix = [(tensors[1][:, :tokens], tensors[2][:, :tokens])]
    call = WindowCall(None, prefix=prefix, cameras=later)  # type: ignore[arg-type]
    split = camera_attention(call, 0, *(x[:, tokens:] for x in tensors), None)[0].numpy()
    assert np.allclose(split, expected[tokens:], atol=1e-4)


def test_only_relative_poses_count() -> None:
    far = np.eye(4)
    far[:3, 3] = [4000.0, -20.0, 900.0]
    poses = walk(3)
    a = camera.projections(poses, [], 2, torch.device("cpu"))
    b = camera.projections([far @ p for p in poses], [], 2, torch.device("cpu"))
    assert torch.allclose(a.query, b.query, atol=1e-5) and torch.allclose(a.content, b.content, atol=1e-5)


def test_a_silent_camera_projection_changes_nothing() -> None:
    """prope_o starts at zero: a model without training of it is the plain one."""
    torch.manual_seed(0)
    model = transformer()
    from engine.models.wan.backbone import WanBackbone

    z, text = torch.randn(1, 16, 2, 4, 4), torch.randn(1, 512, 32)
    plain = WanBackbone(model)
    rotation = grid_rotary_embedding(torch.arange(2), torch.arange(2), torch.arange(2), HEAD_DIM)
    with torch.no_grad():
        without = plain.velocity(z, [0.5, 0.5], 0.0, text, WindowCall(rotation))
        for block in model.blocks:
            block.attn1.prope_o = torch.nn.Linear(HEADS * HEAD_DIM, HEADS * HEAD_DIM)
            torch.nn.init.zeros_(block.attn1.prope_o.weight)
            torch.nn.init.zeros_(block.attn1.prope_o.bias)
        cameras: Projections = camera.projections(walk(2), [], 4, torch.device("cpu"))
        silent = plain.velocity(z, [0.5, 0.5], 0.0, text, WindowCall(rotation, cameras=cameras))
        torch.nn.init.normal_(model.blocks[0].attn1.prope_o.weight, std=0.1)
        loud = plain.velocity(z, [0.5, 0.5], 0.0, text, WindowCall(rotation, cameras=cameras))
    assert torch.equal(without, silent)
    assert not torch.allclose(without, loud, atol=1e-3)


def test_keys_become_words_where_there_is_no_camera(load: Callable[..., Model], tmp_path: Path) -> None:
    mine = tmp_path / "words.json"
    mine.write_text(json.dumps({"forward": "we fly on"}))
    sampler = load("wan2.1-t2v-1.3b-self-forcing", words=mine).sampler
    said = sampler.prepare(Condition(1, "a forest.", ("forward", "turn_left")))
    assert said.text.words == "a forest. we fly on, the camera pans left"
    assert sampler.prepare(Condition(2, "a forest")).text.words == "a forest"
    camera_model = load("minwm-wan2.1-1.3b-action").sampler
    assert camera_model.prepare(Condition(1, "a forest", ("forward",))).text.words == "a forest"


def test_a_broken_table_of_words_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{")
    with pytest.raises(ValueError, match="not JSON"):
        action_words(tmp_path / "a.json")
    (tmp_path / "a.json").write_text('{"forward": 3}')
    with pytest.raises(ValueError, match="forward: 3 is not a text"):
        action_words(tmp_path / "a.json")
