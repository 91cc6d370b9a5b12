"""Noise, few-step schedules and their solvers, and the denoising loop that all samplers share.

Solvers work on velocities of a flow-matching model: x_s = (1 - s) x_0 + s noise. `dmd`: predict x_0, put fresh noise back, as
Self-Forcing, Causal-Forcing and minWM sample. `flowmap`: the model is told both ends of a step and predicts the mean velocity,
as AnyFlow. `euler`: plain flow matching. `unipc`: diffusers' scheduler, for models that were not distilled. `table-dmd`, `wan-unipc`:
the noise levels of Wan's own schedulers, with whole timesteps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from engine.models.interface import StepCallback, Stopped

SOLVERS = ("dmd", "table-dmd", "flowmap", "euler", "unipc", "wan-unipc")
TRAIN_STEPS = 1000
TABLE_TOP = 0.999
"""The first noise level of Wan's own schedulers, before their shift."""


def shifted(u: float, shift: float) -> float:
    """The noise level at a time u in [0, 1]: shift u / (1 + (shift - 1) u)."""
    return shift * u / (1 + (shift - 1) * u)


class Solver(Protocol):
    """sigmas: noise levels before each step and after the last, falling from 1 to 0. timesteps: what the model is told of them."""

    sigmas: list[float]
    timesteps: list[float]

    def step(self, i: int, sample: Tensor, velocity: Tensor, fresh: Callable[[], Tensor]) -> Tensor:
        """The sample after step i. fresh: new noise of the sample's shape, for solvers that put noise back."""


class _Uniform:
    def __init__(self, steps: int, shift: float, ease: float = 1.0) -> None:
        """ease: above 1, levels lie closer together towards the end, where fine detail is decided."""
        self.sigmas = [shifted(float(u) ** ease, shift) for u in np.linspace(1, 0, steps + 1)]
        self.timesteps = self.sigmas


class Dmd:
    """x_0, then noise again. With 4 steps and shift 5 the levels are those of the timesteps 1000, 750, 500, 250.

    Where two experts share the levels (FastVideo's CausalWan2.2), the first predicts the sample at the level `boundary` instead of x_0,
    noise is put back from there, and none when the second takes over.
    """

    def __init__(
        self,
        steps: int,
        shift: float,
        ease: float = 1.0,
        levels: Sequence[float] = (),
        boundary: float | None = None,
    ) -> None:
        """levels: timesteps before `shift` that the weights were distilled at; other numbers of steps lie between them. boundary: a
        noise level."""
        times = np.linspace(1, 0, steps + 1) ** ease
        if levels:
            known = np.array((*levels, 0.0)) / TRAIN_STEPS
            times = np.interp(np.linspace(0, len(levels), steps + 1), np.arange(len(known)), known)
        self.sigmas = [shifted(float(u), shift) for u in times]
        self.timesteps = self.sigmas
        self._boundary = boundary

    def step(self, i: int, sample: Tensor, velocity: Tensor, fresh: Callable[[], Tensor]) -> Tensor:
        before, after, bound = self.sigmas[i], self.sigmas[i + 1], self._boundary
        if bound is not None and before >= bound:
            at_bound = sample - (before - bound) * velocity
            if after < bound:
                return at_bound
            kept = (1 - after) / (1 - bound)
            return kept * at_bound + (after**2 - (kept * bound) ** 2) ** 0.5 * fresh()
        clean = sample - before * velocity
        return clean if after == 0 else (1 - after) * clean + after * fresh()


class TableDmd:
    """As `Dmd`, with levels out of a table of 1000 whose timesteps are whole numbers (robbyant/lingbot-world-v2 `wan/image2video.py`
    `_convert_flow_pred_to_x0`, `wan/utils/fm_solvers_unipc.py` `set_timesteps` and `add_noise`, @2648877f76).

    Where several levels have the same timestep, x_0 is taken at the first of them, and noise put back to the second.
    """

    def __init__(self, steps: int, shift: float, levels: Sequence[float]) -> None:
        """levels: as of `Dmd`; evenly spaced where there are none."""
        known = np.array((*(levels or (1000, 750, 500, 250)), 0.0))
        at = TRAIN_STEPS - np.interp(np.linspace(0, len(known) - 1, steps + 1), np.arange(len(known)), known)[:-1]
        table = [shifted(float(u), shift) for u in np.linspace(TABLE_TOP, 0, TRAIN_STEPS + 1)[:-1]]
        told = np.floor(np.array(table) * TRAIN_STEPS)
        same = [np.flatnonzero(told == told[round(i)]) for i in at]
        self.sigmas = [*(table[s[min(1, len(s) - 1)]] for s in same), 0.0]
        self.timesteps = [*(float(told[s[0]]) / TRAIN_STEPS for s in same), 0.0]
        self._cleared = [table[s[0]] for s in same]

    def step(self, i: int, sample: Tensor, velocity: Tensor, fresh: Callable[[], Tensor]) -> Tensor:
        clean, after = sample - self._cleared[i] * velocity, self.sigmas[i + 1]
        return clean if after == 0 else (1 - after) * clean + after * fresh()


class Euler(_Uniform):
    """Straight on along the velocity; with a mean velocity this is the flow map."""

    def step(self, i: int, sample: Tensor, velocity: Tensor, fresh: Callable[[], Tensor]) -> Tensor:
        return sample - (self.sigmas[i] - self.sigmas[i + 1]) * velocity


class UniPC:
    """diffusers' UniPC with flow predictions."""

    def __init__(self, steps: int, shift: float) -> None:
        from diffusers import UniPCMultistepScheduler

        scheduler: Any = UniPCMultistepScheduler
        self._scheduler = scheduler(
            prediction_type="flow_prediction", use_flow_sigmas=True, flow_shift=shift, num_train_timesteps=TRAIN_STEPS
        )
        self._scheduler.set_timesteps(steps)
        self.sigmas = [float(s) for s in self._scheduler.sigmas]
        # the scheduler's timesteps are whole numbers, and models were run with them
        self.timesteps = [float(t) / TRAIN_STEPS for t in self._scheduler.timesteps] + [0.0]

    def step(self, i: int, sample: Tensor, velocity: Tensor, fresh: Callable[[], Tensor]) -> Tensor:
        return self._scheduler.step(velocity, self._scheduler.timesteps[i], sample, return_dict=False)[0]


class WanUniPC(UniPC):
    """The same steps at the levels of Wan's own `FlowUniPCMultistepScheduler.set_timesteps` (NVlabs/LongLive
    `wan_5b/utils/fm_solvers_unipc.py` @7860ad9685): from 0.999 of the noise, and whole timesteps, rounded down."""

    def __init__(self, steps: int, shift: float) -> None:
        super().__init__(steps, shift)
        levels = np.array([shifted(float(u), shift) for u in np.linspace(TABLE_TOP, 0, steps + 1)])
        self._scheduler.sigmas = torch.from_numpy(levels).float()
        self._scheduler.timesteps = torch.from_numpy(levels[:-1] * TRAIN_STEPS).to(torch.int64)
        self.sigmas = levels.tolist()
        self.timesteps = [*(float(t) / TRAIN_STEPS for t in self._scheduler.timesteps), 0.0]


def make_solver(
    name: str,
    steps: int,
    shift: float,
    ease: float = 1.0,
    levels: Sequence[float] = (),
    boundary: float | None = None,
) -> Solver:
    """A solver for one call. levels, boundary: of `Dmd`. Raises ValueError for an unknown name."""
    if name == "dmd":
        return Dmd(steps, shift, ease, levels, boundary)
    if name == "table-dmd":
        return TableDmd(steps, shift, levels)
    if name in ("flowmap", "euler"):
        return Euler(steps, shift, ease)
    if name == "unipc":
        return UniPC(steps, shift)
    if name == "wan-unipc":
        return WanUniPC(steps, shift)
    raise ValueError(f"unknown solver {name!r}; known: {', '.join(SOLVERS)}")


def denoise(
    solver: Solver,
    sample: Tensor,
    velocity: Callable[[int, Tensor], Tensor],
    fresh: Callable[[int], Tensor],
    report: StepCallback,
    done: int = 0,
    total: int | None = None,
    wait: Callable[[], None] = lambda: None,
) -> Tensor:
    """The whole schedule. velocity: (step, sample) to the velocity; fresh: new noise of a step; wait: until the device has
    finished, so that steps are reported when they are done. Raises Stopped when `report` answers no before the last step.

    done, total: steps that the call has taken before this, and takes in all.
    """
    steps = len(solver.sigmas) - 1
    total = done + steps if total is None else total
    for i in range(steps):
        sample = solver.step(i, sample, velocity(i, sample), lambda i=i: fresh(i))  # type: ignore[misc]
        wait()
        if not report(done + i + 1, total) and done + i + 1 < total:
            raise Stopped
    return sample


def noise(shape: Sequence[int], seed: int, position: int, attempt: int, step: int = 0) -> Tensor:
    """Noise of a group: a function of these numbers and nothing else, on every device, so that a session can be replayed.

    step: 0 for the start, i + 1 for the noise that step i puts back.
    """
    key = [seed & (2**63 - 1), position, attempt, *([step] if step else [])]
    state = np.random.SeedSequence(key).generate_state(2, np.uint32)
    g = torch.Generator().manual_seed(int(state[0]) | int(state[1]) << 32 & (2**63 - 1))
    return torch.randn(tuple(shape), generator=g)
