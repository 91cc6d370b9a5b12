"""How a model is loaded: where it computes, in what precision, from what it begins. Plain data, checked once."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

DTYPES = ("auto", "bf16", "fp16", "fp32")
TEXT_PLACES = ("cpu", "device", "release")


@dataclass(frozen=True)
class LoadOptions:
    """device, dtype: 'auto' takes a GPU where there is one, and bf16 there. text: where the text encoder lives ('release':
    nowhere between two new prompts). offload: transformer blocks come to the GPU one by one. tiled: the VAE works in tiles.
    decoder: a TAEHV file to decode with instead of the VAE. lora: a LoRA file to merge into
    the transformer. image, clip: what the world begins with. words: the user's table
    for keys without a camera. embeddings: folder of cached prompt embeddings, or none. base: folder with text encoder and
    VAE. threads: of torch. start_image: the pocket world begins after one of its start images. gpus: ranks that one world is spread
    over (processes, on a CPU); split: Ulysses x ring, or None for the best."""

    device: str = "auto"
    dtype: str = "auto"
    text: str = "cpu"
    offload: bool = False
    tiled: bool = False
    decoder: Path | None = None
    lora: Path | None = None
    image: Path | None = None
    clip: Path | None = None
    words: Path | None = None
    embeddings: Path | None = None
    base: Path | None = None
    threads: int | None = None
    start_image: bool = True
    gpus: int = 1
    split: str | None = None

    def checked(self) -> LoadOptions:
        """Raises ValueError with what is allowed, or names the file that is not there."""
        if self.dtype not in DTYPES:
            raise ValueError(f"unknown dtype {self.dtype!r}; known: {', '.join(DTYPES)}")
        if self.text not in TEXT_PLACES:
            raise ValueError(f"unknown place for the text encoder {self.text!r}; known: {', '.join(TEXT_PLACES)}")
        if self.threads is not None and self.threads < 1:
            raise ValueError(f"threads = {self.threads} is out of range: at least 1")
        if not 1 <= self.gpus <= 64:
            raise ValueError(f"gpus = {self.gpus} is out of range: 1 to 64")
        if self.image is not None and self.clip is not None:
            raise ValueError("a world begins from an image or from a clip, not from both")
        for file in (self.decoder, self.lora, self.image, self.clip, self.base):
            if file is not None and not file.exists():
                raise ValueError(f"{file} is not there")
        return replace(self)

    def to_json(self) -> dict[str, Any]:
        """For a rank: what `from_json` reads."""
        return {k: str(v) if isinstance(v, Path) else v for k, v in asdict(self).items()}


def from_json(data: dict[str, Any]) -> LoadOptions:
    paths = {f.name for f in fields(LoadOptions) if "Path" in str(f.type)}
    values: dict[str, Any] = {k: Path(v) if k in paths and v is not None else v for k, v in data.items()}
    return LoadOptions(**values)
