"""What MiniMax-H3 and LTX-2.3 take, part by part. Imports no torch.

Parameters are those of diffusers' classes; what a forward and a decode take was counted on a fake GPU at real size, as rows of the
catalogue say it (`network`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from engine.models.catalogue import Entry
from engine.models.fit import GB, Fit, Plan, Wish, first_that_fits, with_text
from engine.models.interface import ModelSpec
from engine.models.load_options import LoadOptions

ELEMENT = {"bf16": 2, "fp16": 2, "fp32": 4}


@dataclass(frozen=True)
class Network:
    """Of a row. Bytes are for two-byte elements."""

    parameters: float
    """Of the transformer."""
    outside: float
    """Of them, those that are not in its blocks."""
    layers: int
    autoencoders_gb: float
    """Of video and sound, with what belongs to them."""
    token_bytes: float
    """That a forward takes for each token of the packed sequence, beside the weights."""
    pixels: int
    """Of a frame's side that one token covers."""
    decode_gb: float
    """While frames of 832x480 are decoded: of a clip, or of one latent where a call is decoded whole."""
    whole: bool = False
    """Whether a call is decoded whole."""
    text_gb: float = 0.0
    """Of the text encoder and what belongs to it."""

    def of_blocks(self, layers: int) -> Network:
        """The same with another number of blocks."""
        inside = (self.parameters - self.outside) * layers / self.layers
        return replace(self, parameters=inside + self.outside, layers=layers)


def plan(network: Network, spec: ModelSpec, options: LoadOptions, wish: Wish, dtype: str) -> Plan:
    """What these options take on the fullest GPU: the last one, which decodes beside its rank."""
    e = ELEMENT[dtype] / 2
    tokens = wish.window * (spec.height // network.pixels) * (spec.width // network.pixels)
    weights = network.parameters * 2 * e
    if options.offload:
        # one block works while the next one comes
        blocks = 2 * (network.parameters - network.outside) / network.layers
        weights = (network.outside + blocks) * 2 * e
    spread = wish.gpus > 1
    parts = {
        "weights": weights,
        "vae": network.autoencoders_gb
        * GB
        * e
        * (2 if spread else 1),  # the rank encodes, the engine's process decodes
        "work": network.token_bytes * tokens * e / wish.gpus,
        "decoding": network.decode_gb
        * GB
        * e
        * spec.width
        * spec.height
        / (832 * 480)
        * (wish.window if network.whole else 1),
        "text": network.text_gb * GB * e if options.text == "device" else 0.0,
    }
    span = sum(spec.spans) + spec.spans[1] * (wish.window - 2)
    return Plan(
        dtype,
        wish.window,
        wish.steps,
        None,
        options.offload,
        "vae in tiles" if options.tiled else "vae",
        0,
        wish.gpus,
        {name: x for name, x in parts.items() if x},
        None,
        span / spec.fps,
    )


def plans(
    network: Network, spec: ModelSpec, options: LoadOptions, wish: Wish, dtype: str, can_offload: bool
) -> Iterator[Plan]:
    """The wanted plan, then what is given up: blocks wait on the CPU, then K."""
    least = replace(options, offload=can_offload or options.offload)
    yield plan(network, spec, options, wish, dtype)
    if can_offload:
        yield plan(network, spec, least, wish, dtype)
    for k in range(wish.window - 1, spec.windows[0] - 1, -1):
        if spec.nearest_window(k) == k:
            yield plan(network, spec, least, replace(wish, window=k), dtype)


def fit(entry: Entry, spec: ModelSpec, options: LoadOptions, wish: Wish, free: float, kind: str) -> Fit:
    """See `engine.models.fit.Plans`. Raises ValueError for a row that does not say how large its network is."""
    if not entry.network:
        raise ValueError(f"{entry.name}: the catalogue does not say how large its network is")
    dtype = options.dtype if options.dtype != "auto" else "fp32" if kind == "cpu" else "bf16"
    offload = kind == "cuda" and not options.offload and wish.gpus == 1
    network = Network(**entry.network)
    found = first_that_fits(plans(network, spec, options, wish, dtype, offload), free)
    return with_text(found, options, kind, lambda more: plan(network, spec, more, wish, dtype))
