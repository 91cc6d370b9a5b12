"""Which attention kernel runs: by what the device can do, the fastest first.

On Hopper and newer cuDNN's is the fastest that torch brings (600 TFLOP/s and more on an H100, against 350 to 400 of its FlashAttention 2);
before it FlashAttention 2; before Ampere, which has no bfloat16 kernels, the memory-efficient one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

HOPPER, AMPERE = (9, 0), (8, 0)
HALVES = (torch.float16, torch.bfloat16)


@cache
def capability(device: torch.device) -> tuple[int, int]:
    """Of a CUDA device; (0, 0) for any other."""
    return torch.cuda.get_device_capability(device) if device.type == "cuda" else (0, 0)


def order(of: tuple[int, int]) -> list[SDPBackend]:
    """Kernels that torch is to try on a device of this capability, the best first."""
    flash, cudnn, efficient = (
        SDPBackend.FLASH_ATTENTION,
        SDPBackend.CUDNN_ATTENTION,
        SDPBackend.EFFICIENT_ATTENTION,
    )
    if of >= HOPPER:
        return [cudnn, flash, efficient, SDPBackend.MATH]
    if of >= AMPERE:
        return [flash, cudnn, efficient, SDPBackend.MATH]
    return [efficient, SDPBackend.MATH]


@contextmanager
def preferred(device: torch.device) -> Iterator[None]:
    """Torch's attention tries the kernels in our order, on a CUDA device; elsewhere nothing changes."""
    if device.type != "cuda":
        yield
        return
    with sdpa_kernel(order(capability(device)), set_priority=True):
        yield


def attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    """Plain attention by torch, on one device. (batch, tokens, heads, head dim) each."""
    q, k, v = (x.transpose(1, 2) for x in (query, key, value))
    return scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2)


def attend_lse(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Attention and the log-sum-exp of its scores: (b, n, h, d) inputs to (b, n, h, d) and (b, n, h) in float32."""
    q, k, v = (x.transpose(1, 2) for x in (query, key, value))
    aten = torch.ops.aten
    if q.device.type == "cpu":
        out, lse = aten._scaled_dot_product_flash_attention_for_cpu(q, k, v)[:2]
    elif q.dtype in HALVES and q.device.type == "cuda" and capability(q.device) >= HOPPER:
        out, lse = aten._scaled_dot_product_cudnn_attention(q, k, v, None, True)[:2]
    elif q.dtype in HALVES and (q.device.type != "cuda" or capability(q.device) >= AMPERE):
        out, lse = aten._scaled_dot_product_flash_attention(q, k, v)[:2]
    else:
        out, lse = aten._scaled_dot_product_efficient_attention(q, k, v, None, True)[:2]
    # cuDNN's log-sum-exp has a last dimension of one; the efficient kernel pads its queries
    lse = lse.reshape(*lse.shape[:2], -1)[:, :, : q.shape[2]]
    return out.transpose(1, 2), lse.transpose(1, 2).float()
