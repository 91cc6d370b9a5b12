"""A GPU without a GPU: torch's fake tensors on a device of their own, so that real models run at real size, without arithmetic.

Operations over two devices raise, as on a GPU. Bytes that live on the device, their peak, and kernels are counted. What the device
cannot say is time, and what a kernel needs inside (torch's fused attention keeps next to nothing).
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import numpy as np
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode, unset_fake_temporarily
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

NAME = "fakegpu"
NOT_RUN = ("aten.empty", "aten.new_empty", "aten.detach", "aten._reshape_alias", "aten.set_", "prim.device")
"""Operators that allocate or look, and run nothing."""


class Counts(TorchDispatchMode):
    """What lives on the device, and what ran."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: dict[int, int] = {}
        self.live = 0
        """Bytes."""
        self.peak = 0
        self.kernels: Counter[str] = Counter()
        """By operator. A view runs nothing; an operator of torch that a GPU runs as one kernel is one."""

    def begin(self) -> None:
        """Peak and kernels from now on."""
        self.peak = self.live
        self.kernels.clear()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        tensors = [t for t in pytree.tree_leaves(out) if isinstance(t, torch.Tensor)]
        here = [t for t in tensors if t.device.type == NAME]
        new = [self._track(t) for t in here]
        name = str(func)
        if here and not name.startswith(NOT_RUN) and (any(new) or func._schema.is_mutable):
            self.kernels[name] += 1
        return out

    def _track(self, tensor: torch.Tensor) -> bool:
        """Whether the tensor's memory was not known."""
        storage = tensor.untyped_storage()
        key = storage._cdata
        if key in self._seen:
            return False
        n = storage.nbytes()
        self._seen[key] = n
        self.live += n
        self.peak = max(self.peak, self.live)

        def gone() -> None:
            self.live -= self._seen.pop(key, 0)

        weakref.finalize(storage, gone)
        return True


def device() -> torch.device:
    """The fake GPU."""
    if torch._C._get_privateuse1_backend_name() != NAME:
        _setup_privateuseone_for_python_backend(NAME)
    return torch.device(NAME, 0)


@contextmanager
def fake_gpu() -> Iterator[Counts]:
    """Everything inside runs on fake tensors. Tensors that were made before are taken as they are."""
    device()
    counts = Counts()
    made = torch.tensor

    def tensor(data: Any, *more: Any, device: Any = None, **how: Any) -> torch.Tensor:
        out = made(data, *more, **how)
        return out if device is None else torch.empty(out.shape, dtype=out.dtype, device=device)

    torch.tensor = tensor  # type: ignore[assignment]
    torch.Tensor.numpy = as_array  # type: ignore[method-assign]
    listed, FakeTensor.tolist = FakeTensor.tolist, lambda tensor: as_array(tensor).tolist()  # type: ignore[method-assign]
    to, nn.Module.to = nn.Module.to, moved  # type: ignore[method-assign]
    try:
        with FakeTensorMode(allow_non_fake_inputs=True), counts:
            yield counts
    finally:
        torch.tensor, nn.Module.to, FakeTensor.tolist = made, to, listed  # type: ignore[method-assign]
        del torch.Tensor.numpy


def moved(module: nn.Module, *where: Any, **more: Any) -> nn.Module:
    """`nn.Module.to`, which takes tensors without data for tensors that others hold."""
    device, dtype, *_ = torch._C._nn._parse_to(*where, **more)
    for part in module.modules():
        for held in (part._parameters, part._buffers):
            for name, x in held.items():
                if x is not None:
                    y = x.detach().to(device or x.device, dtype if dtype and x.is_floating_point() else x.dtype)
                    held[name] = nn.Parameter(y, requires_grad=False) if isinstance(x, nn.Parameter) else y
    return module


def as_array(tensor: torch.Tensor, **how: Any) -> np.ndarray:
    """An array of zeros for a tensor without data, which must be on the CPU."""
    if not isinstance(tensor, FakeTensor):
        return torch._C.TensorBase.numpy(tensor, **how)
    if tensor.device.type != "cpu":
        raise TypeError(f"a tensor on {tensor.device} is no array: copy it to the CPU first")
    with unset_fake_temporarily():
        return np.zeros(tuple(tensor.shape), torch.empty(0, dtype=tensor.dtype).numpy().dtype)


def really(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, computed on the CPU as it is without a fake GPU."""

    @wraps(function)
    def run(*inputs: Any, **more: Any) -> Any:
        with unset_fake_temporarily():
            return function(*inputs, **more)

    return run


def on(where: torch.device, model: nn.Module, dtype: torch.dtype) -> Any:
    """A model on the meta device, moved: in `dtype` but for what it keeps in float32."""
    full = getattr(model, "_keep_in_fp32_modules", None) or []
    for name, value in [*model.named_parameters(), *model.named_buffers()]:
        owner = model.get_submodule(name.rpartition(".")[0])
        exact = any(part in name.split(".") for part in full) or not value.is_floating_point()
        moved = torch.empty(value.shape, device=where, dtype=value.dtype if exact else dtype)
        if isinstance(value, nn.Parameter):
            setattr(owner, name.rpartition(".")[2], nn.Parameter(moved, requires_grad=False))
        else:
            owner.register_buffer(name.rpartition(".")[2], moved, persistent=False)
    return model.eval()
