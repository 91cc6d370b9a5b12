"""Causal rollouts as their authors' code makes them, written anew from it: one sequence, a mask in place of caches.

Source: thu-ml/Causal-Forcing `pipeline/causal_inference.py` and `utils/scheduler.py` (@1fc7bbc19a), from which the others come. What a
cache keeps of a clean block is what the block gives when it is run once more beside the noisy one, at t = 0 and blind to what follows;
so a step is one forward over [clean blocks | noisy block]. Exact as long as nothing was dropped from the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

Forward = Callable[[Tensor, Tensor, Sequence[int]], Tensor]
"""(latents (n, z, h, w), timesteps (n,), latents of each block) to velocities (n, z, h, w)."""


@dataclass(frozen=True)
class Block:
    """Latents that are denoised together."""

    latents: int
    steps: Sequence[int]
    """`denoising_step_list`, before it is warped."""
    clean: Tensor | None = None
    """In place of its first latents, (n, z, h, w), at t = 0 in every step (`first_frame_latents`)."""


class FlowMatch:
    """FlowMatchScheduler(shift, sigma_min=0, extra_one_step=True).set_timesteps(1000)."""

    def __init__(self, shift: float) -> None:
        sigmas = torch.linspace(1.0, 0.0, 1001)[:-1]
        self.sigmas = shift * sigmas / (1 + (shift - 1) * sigmas)
        self.timesteps = self.sigmas * 1000

    def clearing(self, t: Tensor) -> Tensor:
        """The noise level at which x_0 is taken of a prediction at `t`."""
        return self.sigmas[(self.timesteps - t).abs().argmin()]

    def noising(self, t: Tensor) -> Tensor:
        """That to which noise is put back before the step at `t`."""
        return self.clearing(t)


class UniPcTable(FlowMatch):
    """robbyant/lingbot-world-v2 `wan/utils/fm_solvers_unipc.py` FlowUniPCMultistepScheduler(shift=1).set_timesteps(1000, shift=shift), its
    `add_noise` and `index_for_timestep`, and `wan/image2video.py` `_convert_flow_pred_to_x0` (@2648877f76)."""

    def __init__(self, shift: float) -> None:
        first = float(torch.linspace(1, 1 / 1000, 1000).flip(0).neg().add(1)[0])
        sigmas = torch.linspace(first, 0, 1001, dtype=torch.float64)[:-1]
        sigmas = shift * sigmas / (1 + (shift - 1) * sigmas)
        self.sigmas, self.timesteps = sigmas.float(), (sigmas * 1000).to(torch.int64)

    def noising(self, t: Tensor) -> Tensor:
        same = (self.timesteps == t).nonzero()
        return self.sigmas[same[1 if len(same) > 1 else 0]]


def rollout(
    blocks: Sequence[Block], scheduler: FlowMatch, forward: Forward, noise: Callable[[int, int], Tensor]
) -> Tensor:
    """All latents (n, z, h, w). noise: of a position, and of the start (0) or after a step (1, 2, ...)."""
    table = torch.cat((scheduler.timesteps, torch.zeros(1, dtype=scheduler.timesteps.dtype)))
    made: list[Tensor] = []
    sizes: list[int] = []
    for block in blocks:
        first, n = sum(sizes), block.latents
        given = 0 if block.clean is None else len(block.clean)
        told = table[1000 - torch.tensor(block.steps)]
        x = torch.stack([noise(first + i, 0) for i in range(n)])
        sizes.append(n)
        for index, t in enumerate(told):
            if block.clean is not None:
                x[:given] = block.clean
            times = torch.full((n,), float(t))
            times[:given] = 0
            flow = forward(torch.stack([*made, *x]), torch.cat((torch.zeros(first), times)), sizes)[first:]
            x0 = x - scheduler.clearing(t) * flow
            if index + 1 < len(told):
                s = scheduler.noising(told[index + 1])
                x = (1 - s) * x0 + s * torch.stack([noise(first + i, index + 1) for i in range(n)])
            else:
                x = x0
        if block.clean is not None:
            x[:given] = block.clean
        made += list(x)
    return torch.stack(made)


def unipc_rollout(
    blocks: Sequence[Block], shift: float, forward: Forward, noise: Callable[[int, int], Tensor], steps: int = 4
) -> Tensor:
    """As `rollout`, by UniPC of order 2 (`bh2`, data prediction, lower order at the end) as NVlabs/LongLive's
    `pipeline/causal_diffusion_inference.py` and `wan_5b/utils/fm_solvers_unipc.py` have it (@7860ad9685). `Block.steps` is not used."""
    s = torch.linspace(0.999, 0, steps + 1, dtype=torch.float64)[:-1]
    s = shift * s / (1 + (shift - 1) * s)
    told, rate = (s * 1000).to(torch.int64), ((1 - s) / s).log()
    made: list[Tensor] = []
    sizes: list[int] = []
    for block in blocks:
        first, n = sum(sizes), block.latents
        given = 0 if block.clean is None else len(block.clean)
        x = torch.stack([noise(first + i, 0) for i in range(n)])
        sizes.append(n)
        data: list[Tensor] = []
        before, order = x, 0
        for i in range(steps):
            if block.clean is not None:
                x[:given] = block.clean
            times = torch.full((n,), float(told[i]))
            times[:given] = 0
            flow = forward(torch.stack([*made, *x]), torch.cat((torch.zeros(first), times)), sizes)[first:]
            data.append(x - s[i].float() * flow)
            if i > 0:  # the corrector, of the order of the step before
                h = float(rate[i] - rate[i - 1])
                b = torch.tensor(-h).expm1()
                change = 0.5 * (data[i] - data[i - 1])
                if order == 2:
                    r = float(rate[i - 2] - rate[i - 1]) / h
                    phi = float(b) / -h - 1
                    wanted = torch.tensor([phi / b, (phi / -h - 0.5) * 2 / b])
                    a, c = torch.linalg.solve(torch.tensor([[1.0, 1.0], [r, 1.0]]), wanted)
                    change = a * (data[i - 2] - data[i - 1]) / r + c * (data[i] - data[i - 1])
                x = (s[i] / s[i - 1]).float() * before - (1 - s[i]).float() * b * (data[i - 1] + change)
            order = min(2, steps - i, i + 1)
            before = x
            if i == steps - 1:
                x = data[i]
                break
            h = float(rate[i + 1] - rate[i])
            b = torch.tensor(-h).expm1()
            ahead = data[i]
            if order == 2:
                ahead = ahead + 0.5 * (data[i - 1] - data[i]) / (float(rate[i - 1] - rate[i]) / h)
            x = (s[i + 1] / s[i]).float() * x - (1 - s[i + 1]).float() * b * ahead
        if block.clean is not None:
            x[:given] = block.clean
        made += list(x)
    return torch.stack(made)


def causal_mask(sizes: Sequence[int], tokens: int, kept: tuple[int, int] | None = None) -> Tensor:
    """(n, n) bool: a token sees its own block and those before it. kept: (latents of a cache, those of them that are the first)."""
    block = torch.arange(len(sizes)).repeat_interleave(torch.tensor(sizes))
    mask = block[:, None] >= block[None]
    if kept is not None:
        size, sink = kept
        end, latent = torch.tensor(sizes).cumsum(0)[block], torch.arange(len(block))
        mask &= (latent[None] < sink) | (latent[None] >= end[:, None] - (size - sink))
    return mask.repeat_interleave(tokens, 0).repeat_interleave(tokens, 1)


# -- cameras -------------------------------------------------------------------------------------------------------------


def plucker(poses: Tensor, intrinsics: Sequence[float], height: int, width: int) -> Tensor:
    """(latents, 384, height / 8, width / 8) of one absolute pose a latent, as `compute_relative_poses(framewise=True)`,
    `get_plucker_embeddings` and the folding in `wan/image2video.py` make it. intrinsics: fx, fy, cx, cy for 832x480."""
    relative = torch.cat((torch.eye(4)[None], torch.linalg.inv(poses[:-1]) @ poses[1:]))
    relative[:, :3, 3] /= relative[:, :3, 3].norm(dim=-1).max()
    fx, cx = (intrinsics[i] * width / 832 for i in (0, 2))
    fy, cy = (intrinsics[i] * height / 480 for i in (1, 3))
    y, x = torch.meshgrid(torch.arange(height) + 0.5, torch.arange(width) + 0.5, indexing="ij")
    ways = torch.stack(((x - cx) / fx, (y - cy) / fy, torch.ones_like(x)), -1)
    ways = ways / ways.norm(dim=-1, keepdim=True)
    turned = torch.einsum("nij,hwj->nhwi", relative[:, :3, :3], ways)
    both = torch.cat((relative[:, None, None, :3, 3].expand_as(turned), turned), -1)
    return both.reshape(len(poses), height // 8, 8, width // 8, 8, 6).permute(0, 5, 2, 4, 1, 3).flatten(1, 3)


# -- the transformer, from the published keys ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Transformer:
    """A causal Wan of original keys, in its authors' own terms: amap-cvlab/ABot-World `wan/modules/causal_model.py` (@e260168d3f), whose
    `_forward_inference` is that of Self-Forcing and Causal-Forcing with control planes and reference tokens."""

    state: dict[str, Tensor]
    head_dim: int
    text: Tensor
    """(tokens, dim), not padded."""
    references: tuple[int, int] = (0, 0)
    """(slots, side): reference tokens, all masked out by `ref_mask` = 0."""
    planes: Tensor | None = None
    """`act_context`, (latents, 32, height, width) in pixels."""
    image: Tensor | None = None
    """`y`, (latents, 20, h, w): mask and encoded image."""
    plucker: Tensor | None = None
    """`c2ws_plucker_emb`, (latents, 384, h, w): robbyant/lingbot-world-v2 `wan/modules/model_fast.py` (@2648877f76)."""
    kept: tuple[int, int] | None = None
    """`local_attn_size` and `sink_size`, in latents."""

    def __call__(self, z: Tensor, times: Tensor, sizes: Sequence[int]) -> Tensor:
        s, n = self.state, len(z)
        if self.image is not None:
            z = torch.cat((z, self.image[:n]), 1)
        x = torch.nn.functional.conv2d(z, s["patch_embedding.weight"][:, :, 0], s["patch_embedding.bias"], stride=2)
        if self.planes is not None:
            x = x + self._adapted(self.planes[:n])
        rows, columns = x.shape[2:]
        x = x.flatten(2).transpose(1, 2).flatten(0, 1)
        e = self._times(times)
        e0 = self._linear("time_projection.1", torch.nn.functional.silu(e)).unflatten(1, (6, -1))
        e0 = e0.repeat_interleave(rows * columns, 0)
        rope = self._rope(torch.arange(n), rows, columns)
        mask = causal_mask(sizes, rows * columns, self.kept)
        rays = None if self.plucker is None else self._rays(self.plucker[:n])
        slots, side = self.references
        if m := slots * side * side:
            x = torch.cat((x.new_zeros(m, x.shape[1]), x))
            zero = torch.nn.functional.silu(self._times(torch.zeros(1)))
            e0 = torch.cat((self._linear("time_projection.1", zero).unflatten(1, (6, -1)).expand(m, -1, -1), e0))
            away = torch.tensor([-(slots - i) * max(side * side, 256) for i in range(slots)])
            rope = torch.cat((self._rope(away, side, side), rope))
            whole = torch.ones(m + len(mask), m + len(mask), dtype=torch.bool)
            whole[m:, m:] = mask
            whole[:m, m + sizes[0] * rows * columns :] = False
            mask = whole
        context = self._linear(
            "text_embedding.2",
            torch.nn.functional.gelu(self._linear("text_embedding.0", self._padded()), approximate="tanh"),
        )
        layer = 0
        while f"blocks.{layer}.modulation" in s:
            x = self._block(f"blocks.{layer}.", x, e0, rope, mask, context, rays)
            layer += 1
        x = x[m:]
        shift, scale = (s["head.modulation"] + e[:, None]).repeat_interleave(rows * columns, 0).unbind(1)
        x = self._linear("head.head", self._norm(x) * (1 + scale) + shift)
        return x.reshape(n, rows, columns, 2, 2, -1).permute(0, 5, 1, 3, 2, 4).flatten(4).flatten(2, 3)

    def _block(
        self, at: str, x: Tensor, e: Tensor, rope: Tensor, mask: Tensor, context: Tensor, rays: Tensor | None
    ) -> Tensor:
        e = (self.state[at + "modulation"] + e).unbind(1)
        y = self._norm(x) * (1 + e[1]) + e[0]
        x = x + self._attention(at + "self_attn.", y, y, rope, mask) * e[2]
        if rays is not None:
            y = self._linear(at + "cam_injector_layer1", rays)
            y = self._linear(at + "cam_injector_layer2", torch.nn.functional.silu(y)) + rays
            x = (1 + self._linear(at + "cam_scale_layer", y)) * x + self._linear(at + "cam_shift_layer", y)
        y = self._norm(x) * self.state[at + "norm3.weight"] + self.state[at + "norm3.bias"]
        x = x + self._attention(at + "cross_attn.", y, context, None, None)
        y = self._linear(at + "ffn.0", self._norm(x) * (1 + e[4]) + e[3])
        return x + self._linear(at + "ffn.2", torch.nn.functional.gelu(y, approximate="tanh")) * e[5]

    def _attention(self, at: str, x: Tensor, over: Tensor, rope: Tensor | None, mask: Tensor | None) -> Tensor:
        def rms(name: str, y: Tensor) -> Tensor:
            return y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6) * self.state[at + name + ".weight"]

        q, k = rms("norm_q", self._linear(at + "q", x)), rms("norm_k", self._linear(at + "k", over))
        q, k, v = (y.unflatten(1, (-1, self.head_dim)) for y in (q, k, self._linear(at + "v", over)))
        if rope is not None:
            q, k = (
                torch.view_as_real(torch.view_as_complex(y.double().unflatten(-1, (-1, 2))) * rope[:, None])
                .flatten(2)
                .float()
                for y in (q, k)
            )
        score = torch.einsum("qhd,khd->hqk", q, k) / self.head_dim**0.5
        if mask is not None:
            score = score.masked_fill(~mask, -torch.inf)
        return self._linear(at + "o", torch.einsum("hqk,khd->qhd", score.softmax(-1), v).flatten(1))

    def _rays(self, plucker: Tensor) -> Tensor:
        n, c, h, w = plucker.shape
        x = plucker.reshape(n, c, h // 2, 2, w // 2, 2).permute(0, 2, 4, 1, 3, 5).reshape(n * h * w // 4, 4 * c)
        x = self._linear("patch_embedding_wancamctrl", x)
        y = torch.nn.functional.silu(self._linear("c2ws_hidden_states_layer1", x))
        return x + self._linear("c2ws_hidden_states_layer2", y)

    def _adapted(self, planes: Tensor) -> Tensor:
        at, conv = "act_control_adapter.", torch.nn.functional.conv2d
        s = self.state
        x = torch.nn.functional.pixel_unshuffle(planes, 16)
        x = conv(x, s[at + "conv.weight"], s[at + "conv.bias"], stride=2)
        at += "residual_blocks.0."
        y = conv(x, s[at + "conv1.weight"], s[at + "conv1.bias"], padding=1).relu()
        return x + conv(y, s[at + "conv2.weight"], s[at + "conv2.bias"], padding=1)

    def _times(self, t: Tensor) -> Tensor:
        half = self.state["time_embedding.0.weight"].shape[1] // 2
        angle = torch.outer(t.double(), 10000 ** (-torch.arange(half).double() / half))
        sinusoid = torch.cat((angle.cos(), angle.sin()), 1).float()
        return self._linear("time_embedding.2", torch.nn.functional.silu(self._linear("time_embedding.0", sinusoid)))

    def _rope(self, frames: Tensor, rows: int, columns: int) -> Tensor:
        d = self.head_dim
        parts = []
        for places, width in (
            (frames, d - 4 * (d // 6)),
            (torch.arange(rows), 2 * (d // 6)),
            (torch.arange(columns), 2 * (d // 6)),
        ):
            angle = torch.outer(places.double(), 10000 ** (-torch.arange(0, width, 2).double() / width))
            parts.append(torch.polar(torch.ones_like(angle), angle))
        f, h, w = parts
        shape = (len(f), len(h), len(w), -1)
        grid = (f[:, None, None].expand(shape), h[None, :, None].expand(shape), w[None, None].expand(shape))
        return torch.cat(grid, -1).flatten(0, 2)

    def _padded(self) -> Tensor:
        return torch.cat((self.text, self.text.new_zeros(512 - len(self.text), self.text.shape[1])))

    def _linear(self, name: str, x: Tensor) -> Tensor:
        return x @ self.state[name + ".weight"].T + self.state[name + ".bias"]

    @staticmethod
    def _norm(x: Tensor) -> Tensor:
        return torch.nn.functional.layer_norm(x, x.shape[-1:], eps=1e-6)
