"""An adversary for training: a small convolutional critic, after the hinge loss of SAGAN with the projection of Miyato and Koyama.

A mean of squares makes a network answer with the mean of all pictures that fit, which is soft; a critic that tells its answers from
true ones makes it choose one.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import leaky_relu
from torch.nn.utils.parametrizations import spectral_norm


class Critic(nn.Module):
    """Scores of places: (n, channels, rows, columns) to (n, places), high where it looks true.

    widths: of its layers; halved: which of them halve the picture; conditions: of the vector that says what it should be, or 0.
    """

    def __init__(self, channels: int, widths: Sequence[int], halved: Sequence[bool], conditions: int = 0) -> None:
        super().__init__()
        self.layers = nn.ModuleList()
        before = channels
        for width, half in zip(widths, halved, strict=True):
            self.layers.append(spectral_norm(nn.Conv2d(before, width, 4 if half else 3, 2 if half else 1, 1)))
            before = width
        self.score = spectral_norm(nn.Conv2d(before, 1, 1))
        self.fits = spectral_norm(nn.Linear(conditions, before, bias=False)) if conditions else None

    def forward(self, x: Tensor, condition: Tensor | None = None) -> Tensor:
        for layer in self.layers:
            x = leaky_relu(layer(x), 0.2)
        score = self.score(x)[:, 0]
        if self.fits is not None and condition is not None:
            score = score + torch.einsum("nchw,nc->nhw", x, self.fits(condition))
        return score.flatten(1)


def critic_loss(true: Tensor, made: Tensor) -> Tensor:
    """The hinge that the critic lowers."""
    return (1 - true).relu().mean() + (1 + made).relu().mean()


class Balance:
    """Adds the gradient of an adversarial loss to that of a plain one so that it is `share` times as long.

    Lengths are smoothed over steps. The plain loss's gradient stays what it is.
    """

    def __init__(self, parameters: Sequence[nn.Parameter], share: float) -> None:
        self._parameters, self._share = list(parameters), share
        self._plain = self._adverse = 0.0

    def _take(self) -> tuple[list[Tensor | None], float]:
        gradients = [p.grad for p in self._parameters]
        for p in self._parameters:
            p.grad = None
        norm = sum((float(g.square().sum()) for g in gradients if g is not None), 0.0) ** 0.5
        return gradients, norm

    def backward(self, plain: Tensor, adverse: Tensor | None) -> float:
        """Sets the parameters' gradients; returns the factor on the adversarial loss."""
        self._take()
        plain.backward(retain_graph=adverse is not None)
        if adverse is None:
            return 0.0
        mine, norm = self._take()
        self._plain = norm if self._plain == 0 else 0.95 * self._plain + 0.05 * norm
        adverse.backward()
        other, norm = self._take()
        self._adverse = norm if self._adverse == 0 else 0.95 * self._adverse + 0.05 * norm
        factor = self._share * self._plain / max(self._adverse, 1e-12)
        for p, a, b in zip(self._parameters, mine, other, strict=True):
            p.grad = a if b is None else factor * b if a is None else a + factor * b
        return factor
