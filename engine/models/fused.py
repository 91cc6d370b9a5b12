"""The elementwise parts of a transformer block, each as one operator that a GPU runs as one kernel.

As operators of torch they have an eager form, which is what they mean and which every device runs, and on CUDA a compiled one
(`torch.compile`, once for all shapes). Where compiling fails, which needs Triton and on Windows a compiler, the eager form runs and the
log says so once. Arithmetic is in float32 and rounded where diffusers' block rounds.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import layer_norm, rms_norm

log = logging.getLogger(__name__)
LIBRARY = torch.library.Library("foreland", "DEF")


class Compiled:
    """A function that is compiled at its first use, and runs as it is where that cannot be."""

    failed: str | None = None
    """Why compiling did not work, for all of them: one reason is enough."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._compiled: Callable[..., Any] | None = None

    def __call__(self, *inputs: Any) -> Any:
        if Compiled.failed is None:
            try:
                if self._compiled is None:
                    self._compiled = torch.compile(self._function, dynamic=True)
                return self._compiled(*inputs)
            except torch.OutOfMemoryError:
                raise
            except Exception as e:  # whatever the compiler raises, the eager form is right
                Compiled.failed = f"{type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}"
                log.warning("the transformer runs without fused kernels, which is slower: %s", Compiled.failed)
        return self._function(*inputs)


def operator(
    schema: str, shapes: Callable[..., Any], compiled: Callable[..., Any] | None = None
) -> Callable[[Callable[..., Any]], Any]:
    """Makes a function an operator of torch. shapes: its outputs' shapes and dtypes, for tensors without data. compiled: the same numbers
    in a form that compiles to one kernel, where the function's own does not."""

    def made(function: Callable[..., Any]) -> Any:
        name = LIBRARY.define(schema)
        LIBRARY.impl(name, function, "CompositeExplicitAutograd")
        LIBRARY.impl(name, Compiled(compiled or function), "CUDA")
        torch.library.register_fake(f"foreland::{name}", shapes, lib=LIBRARY)
        return getattr(torch.ops.foreland, name)

    return made


def modulated_norm_formula(x: Tensor, scale: Tensor, shift: Tensor, eps: float) -> Tensor:
    """Layer norm, then times `scale` and plus `shift`. x: (b, latents * tokens, d); scale, shift: (latents or 1, d) in float32."""
    y = layer_norm(x.float(), x.shape[-1:], eps=eps).unflatten(1, (scale.shape[0], -1))
    return (y * scale[:, None] + shift[:, None]).flatten(1, 2).type_as(x)


modulated_norm = operator(
    "modulated_norm(Tensor x, Tensor scale, Tensor shift, float eps) -> Tensor",
    lambda x, scale, shift, eps: torch.empty_like(x),
)(modulated_norm_formula)


def gated_add_formula(x: Tensor, y: Tensor, gate: Tensor) -> Tensor:
    """x + y * gate. x, y: (b, latents * tokens, d); gate: (latents or 1, d) in float32."""
    y = y.float().unflatten(1, (gate.shape[0], -1)) * gate[:, None]
    return (x.float() + y.flatten(1, 2)).type_as(x)


gated_add = operator("gated_add(Tensor x, Tensor y, Tensor gate) -> Tensor", lambda x, y, gate: torch.empty_like(x))(
    gated_add_formula
)


@operator(
    "add_norm(Tensor x, Tensor y, Tensor? gate, Tensor scale, Tensor shift, float eps) -> (Tensor, Tensor)",
    lambda x, y, gate, scale, shift, eps: (torch.empty_like(x), torch.empty_like(x)),
)
def add_norm(
    x: Tensor, y: Tensor, gate: Tensor | None, scale: Tensor, shift: Tensor, eps: float
) -> tuple[Tensor, Tensor]:
    """x + y, or x + y * gate, and `modulated_norm` of it."""
    total = x + y if gate is None else gated_add_formula(x, y, gate)
    return total, modulated_norm_formula(total, scale, shift, eps)


@operator("scaled_rms_norm(Tensor x, Tensor weight, float eps) -> Tensor", lambda x, weight, eps: torch.empty_like(x))
def scaled_rms_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """Root mean square norm of the last dimension."""
    return rms_norm(x, x.shape[-1:], weight.type_as(x), eps)


def rotate_formula(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary embedding of (b, tokens, heads, d) by (b or 1, tokens, 1, d / 2) in float32."""
    a, b = x.unflatten(-1, (-1, 2)).unbind(-1)
    return torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2).type_as(x)


def rotate_in_place_of_pairs(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """`rotate_formula` without putting halves together, for which compilers make a kernel each."""
    pairs = x.unflatten(-1, (-1, 2)).float()
    sign = torch.arange(2, device=x.device, dtype=torch.float32) * 2 - 1
    return (pairs * cos[..., None] + pairs.flip(-1) * sin[..., None] * sign).flatten(-2).type_as(x)


rotate = operator(
    "rotate(Tensor x, Tensor cos, Tensor sin) -> Tensor",
    lambda x, cos, sin: torch.empty_like(x),
    rotate_in_place_of_pairs,
)(rotate_formula)


def rms_rotate_formula(
    x: Tensor,
    weight: Tensor,
    eps: float,
    cos: Tensor,
    sin: Tensor,
    heads: int,
    turn: Callable[[Tensor, Tensor, Tensor], Tensor] = rotate_formula,
) -> Tensor:
    """`scaled_rms_norm` over all heads of (b, tokens, heads * d), then `rotate`: (b, tokens, heads, d)."""
    return turn(rms_norm(x, x.shape[-1:], weight.type_as(x), eps).unflatten(-1, (heads, -1)), cos, sin)


rms_rotate = operator(
    "rms_rotate(Tensor x, Tensor weight, float eps, Tensor cos, Tensor sin, int heads) -> Tensor",
    lambda x, weight, eps, cos, sin, heads: x.new_empty(*x.shape[:2], heads, x.shape[2] // heads),
    partial(rms_rotate_formula, turn=rotate_in_place_of_pairs),
)(rms_rotate_formula)


@operator(
    "merge(Tensor a, Tensor lse_a, Tensor b, Tensor lse_b) -> (Tensor, Tensor)",
    lambda a, lse_a, b, lse_b: (torch.empty_like(a), torch.empty_like(lse_a)),
)
def merge(a: Tensor, lse_a: Tensor, b: Tensor, lse_b: Tensor) -> tuple[Tensor, Tensor]:
    """Attention over two sets of keys from that over each, (b, n, h, d), and their log-sum-exps, (b, n, h); with that of both."""
    weight = torch.sigmoid(lse_a - lse_b)[..., None]
    return (b + (a.float() - b) * weight).type_as(a), torch.logaddexp(lse_a, lse_b)
