"""Loads the second pocket world.

`load` gives what a session's model is made of: sampler, decoder and a short name of the weights.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

# of the project, outside of this family
from engine.models.interface import ModelSpec
from engine.models.pocket.prompt_reader import Reader, Words
from engine.models.pocket2.drawing import Drawer, LayerDrawer, Textures
from engine.models.pocket2.model import POCKET2, PocketDecoder, PocketSampler
from engine.models.pocket2.network import GroundNet, NetworkConfig

FILE = "pocket.safetensors"
Progress = Callable[[str, float], None]


class WeightsError(RuntimeError):
    """The weights are missing, truncated or of another make. The message says which file and what to do."""


def shipped() -> Path:
    """The folder of the weights that come with the program."""
    return Path(__file__).parents[3] / "assets" / "pocket2"


class Weights:
    """Everything that was trained, and the card that tells how."""

    def __init__(
        self,
        net: GroundNet,
        drawer: Drawer,
        textures: Textures,
        reader: Reader,
        card: dict[str, Any],
        palettes: torch.Tensor | None = None,
    ) -> None:
        """palettes: colours of pictures of all lands, times and weathers; see `start.likeness`."""
        self.palettes = palettes
        self.net, self.drawer, self.textures, self.reader, self.card = net, drawer, textures, reader, card
        for module in (net, drawer, textures, reader):
            module.eval().requires_grad_(False)

    @classmethod
    def load(cls, folder: Path) -> Weights:
        """Raises WeightsError."""
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        file = folder / FILE
        try:
            card = json.loads((folder / "card.json").read_text())
            state = load_file(str(file))
        except FileNotFoundError as e:
            raise WeightsError(f"{e.filename or file} is missing: restore the folder {folder} and start again") from e
        except (SafetensorError, ValueError, OSError) as e:
            raise WeightsError(f"{file} cannot be read ({e}): restore the folder {folder} and start again") from e
        config: dict[str, Any] = card.get("network", {})
        made: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in config.items()}
        net = GroundNet(NetworkConfig(**made))
        parts = {"net": net, "drawer": Drawer(), "textures": Textures(), "reader": Reader()}
        for name, module in parts.items():
            try:
                module.load_state_dict(
                    {k[len(name) + 1 :]: v.float() for k, v in state.items() if k.startswith(name + ".")}
                )
            except RuntimeError as e:
                raise WeightsError(
                    f"{file} does not fit this version of Foreland: {str(e).splitlines()[-1].strip()}"
                ) from e
        net.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        parts["drawer"].to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        palettes = state.get("palettes")
        return cls(net, parts["drawer"], parts["textures"], parts["reader"], card, palettes)  # type: ignore[arg-type]

    def save(self, folder: Path) -> None:
        """Writes half precision."""
        from safetensors.torch import save_file

        state = {}
        for name in ("net", "drawer", "textures", "reader"):
            for k, v in getattr(self, name).state_dict().items():
                state[f"{name}.{k}"] = v.detach().contiguous().half()
        if self.palettes is not None:
            state["palettes"] = self.palettes.half()
        folder.mkdir(parents=True, exist_ok=True)
        save_file(state, str(folder / FILE))
        (folder / "card.json").write_text(json.dumps(self.card, indent=2) + "\n")

    def sampler(self) -> PocketSampler:
        words: list[Words] = []

        def reader(text: str) -> list[list[float]]:
            if not words:
                words.append(Words())
            with torch.inference_mode():
                return [x.softmax(1)[0].tolist() for x in self.reader(*words[0].embed([text]))]

        return PocketSampler(self.net, reader, self.palettes)

    def decoder(self) -> PocketDecoder:
        return PocketDecoder(self.textures.atlas(), LayerDrawer(self.drawer))


def load(
    spec: ModelSpec = POCKET2, progress: Progress = lambda text, share: None, folder: Path | None = None
) -> tuple[PocketSampler, PocketDecoder, str]:
    """Sampler, decoder and identity of the weights in a folder; None: those that are shipped. Raises WeightsError."""
    folder = folder or shipped()
    progress("reading the pocket weights", 0.3)
    weights = Weights.load(folder)
    progress("drawing what stands in it", 0.6)
    sampler, decoder = weights.sampler(), weights.decoder()
    sampler.spec = spec
    progress("preparing the pocket world", 0.9)
    digest = hashlib.sha256((folder / FILE).read_bytes()).hexdigest()[:16]
    return sampler, decoder, f"pocket2-{digest}"


__all__ = ["POCKET2", "Weights", "WeightsError", "load", "shipped"]
