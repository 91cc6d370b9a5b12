"""How a Wan checkpoint is sampled, as data: `recipe` of its row in the catalogue."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SamplingConfig:
    """See `engine.models.schedulers` for the solvers."""

    solver: str = "dmd"
    shift: float = 5.0
    """Of the noise schedule: sigma' = shift * sigma / (1 + (shift - 1) * sigma)."""
    guidance: float = 1.0
    """Scale of classifier-free guidance; 1 for distilled weights, which then run one forward a step."""
    negative: str = ""
    """Negative prompt, where there is guidance."""
    history: int = 18
    """Latents of the prefix at most."""
    context: int | None = None
    """Latents of prefix and window together that the weights were trained on; None: any number."""
    sink: int = 3
    """Of them, those that are the session's first."""
    sink_stays: bool = False
    """Whether these keep the positions that they were made at; else they stand right before the others, however far these have come."""
    block: int = 3
    """Latents that a clean prefill takes at once, as in training."""
    context_noise: float = 0.0
    """Noise level told to the model of retained latents."""
    keys: str = "words"
    """How held keys act: as a 'camera' (PRoPE), as 'rays' of a camera, as 'buttons' or as 'words' of the prompt."""
    buttons: tuple[str, ...] = ()
    """The actions that have a button, in the order in which the model takes them."""
    opens_with_start: bool = False
    """Whether what a world begins with is a clean part of its first block, not a block of its own before it."""
    registers: tuple[int, ...] = ()
    """(slots, side): squares of empty tokens that the first block is sampled with and every later one sees, in place of pictures of a
    figure that nobody gives; none: the model has no such tokens."""
    image: str | None = None
    """How an image conditions: 'clamp', as a clean first latent; 'channels', as extra input channels of every latent, the first of which
    is sampled too; None, not at all."""
    keyframes: int = 2
    """Retained latents of the latent-input policy."""
    boundary: float | None = None
    """Noise level from which the first of two experts works; below it the second does."""
    to_boundary: bool = False
    """Whether the first expert was distilled to predict the sample at `boundary`, not the clean one."""
    levels: tuple[float, ...] = ()
    """Timesteps (of 1000, before `shift`) that the weights were distilled at; none: evenly spaced."""
    first: int = 0
    """Latents of a session's first block, where it is shorter than the others in training or has levels of its own; 0: it is not."""
    first_levels: tuple[float, ...] = ()
    """Of the first block that is sampled, as `levels`, and so how many steps it takes at least; none: those of the others."""

    def __post_init__(self) -> None:
        for name in ("levels", "first_levels", "buttons", "registers"):
            object.__setattr__(self, name, tuple(getattr(self, name)))

    def reach(self, window: int) -> int:
        """Latents of the prefix of a call of `window` latents: no more than training had with them, but at least one block."""
        if self.context is None:
            return self.history
        return max(min(self.block, self.history), min(self.history, self.context - window))
