"""What a Wan model takes, part by part, and what it gives up first where that is too much. Imports no torch.

The formulas are counted, not guessed: `tests/engine/models/test_fit.py` runs the real sampler and decoder at real size on a fake
device and holds their peaks against these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from engine.models.catalogue import Entry
from engine.models.fit import FIXED, FREELY, RATE, Fit, Plan, Wish, first_that_fits, with_text
from engine.models.interface import HistoryPolicy, ModelSpec
from engine.models.load_options import LoadOptions
from engine.models.wan.sampling_config import SamplingConfig

ELEMENT = {"bf16": 2, "fp16": 2, "fp32": 4}
TEXT_PARAMETERS = 5.7e9
"""Of UMT5-XXL's encoder."""
CONTEXT = 512
"""Tokens of a text."""
IMAGE_POLICIES = (HistoryPolicy.BOUNDARY_IMAGE, HistoryPolicy.LATENT_INPUT)
PIXELS = 832 * 480
"""Of the frame that the decoder's figures are for; they grow with it."""


@dataclass(frozen=True)
class DecoderCost:
    """Bytes of a decoder at 832x480 in two-byte elements, as the fake device counts them."""

    weights: float
    state: float
    """Of one state that can be gone back to."""
    work: float
    """While a latent is decoded, beside states that are kept; of the last one the new is made in its place, part by part."""
    encoding: float
    """While a picture is encoded, in four-byte elements."""


DECODERS = {
    ("vae", 16): DecoderCost(0.36e9, 1.889e9, 1.85e9, 1.55e9),
    ("vae in tiles", 16): DecoderCost(0.36e9, 3.13e9, 0.5e9, 1.55e9),
    ("tiny", 16): DecoderCost(0.235e9, 0.067e9, 0.45e9, 1.55e9),
    ("vae", 48): DecoderCost(1.709e9, 1.425e9, 1.95e9, 0.783e9),
    ("tiny", 48): DecoderCost(0.62e9, 0.017e9, 0.12e9, 0.783e9),
}
"""By kind and by channels of a latent. The encoder, in four-byte elements, is there beside the tiny decoder as well. Tiles overlap, so
their states are larger together than one for the whole picture: where states are kept, tiles save nothing,
and no plan takes them by itself."""
BUTTON_CHANNELS = 4 * 8192
"""That the convolution of a `ButtonAdapter` reads, patch included."""
RAY_FEATURES = 6 * 256
"""That the rays of a token are; see `engine.models.rays`."""
MOST_SNAPSHOTS, LEAST_SNAPSHOTS = FREELY, 2


@dataclass(frozen=True)
class Network:
    """Shapes of a Wan transformer."""

    layers: int
    width: int
    ffn: int
    channels: int
    patch: int
    cameras: bool = False

    @property
    def parameters(self) -> float:
        """Of one transformer: attention and cross-attention, feed-forward, embeddings."""
        block = 8 * self.width**2 + 2 * self.width * self.ffn + 20 * self.width + self.cameras * self.width**2
        return self.layers * block + (2 + 6) * self.width**2 + 4096 * self.width

    def tokens(self, spec: ModelSpec) -> int:
        """Of one latent."""
        ratio = 16 if self.channels == 48 else 8
        return spec.height // ratio // self.patch * (spec.width // ratio // self.patch)

    def flops(self, tokens: int, prefix: int) -> float:
        """Of one forward over `tokens` after `prefix` ones."""
        linear = 2 * tokens * (6 * self.width**2 + 2 * self.width * self.ffn)
        attention = 4 * tokens * (tokens + prefix) * self.width + 4 * tokens * CONTEXT * self.width
        return self.layers * (linear + attention)


def network_of(config: Mapping[str, Any]) -> Network:
    """From the settings of a diffusers transformer."""
    return Network(
        int(config["num_layers"]),
        int(config["num_attention_heads"]) * int(config["attention_head_dim"]),
        int(config["ffn_dim"]),
        int(config["out_channels"]),
        int(tuple(config.get("patch_size", (1, 2, 2)))[1]),
    )


def plan(
    spec: ModelSpec,
    config: SamplingConfig,
    networks: Sequence[Network],
    options: LoadOptions,
    wish: Wish,
    dtype: str,
    snapshots: int = MOST_SNAPSHOTS,
) -> Plan:
    """What these options take with this K. options.history_latents: the prefix, where it is not the model's own."""
    e, net, k = ELEMENT[dtype], networks[0], wish.window
    n = net.tokens(spec)
    image = spec.history[0] in IMAGE_POLICIES
    own = config.reach(k)
    history = own if options.history_latents is None else min(own, options.history_latents)
    share = 1 / wish.gpus
    weights = sum(x.parameters for x in networks) * e
    if config.keys == "buttons":
        weights += (BUTTON_CHANNELS + 18 * net.width) * net.width * e
    if config.keys == "rays":
        weights += (net.layers * 4 * net.width + 2 * net.width + RAY_FEATURES) * net.width * e
    if options.offload:
        weights = 2 * weights / net.layers / len(networks) + 0.1e9
    branches = 2 if config.guidance != 1 else 1
    one = 2 * net.layers * net.width * n * e * share
    # the longest prefix, what a branch may still go back to, the call's own latents when it ends; the keys of the first ones once more,
    # rotated (with PRoPE of all)
    longest = min(config.history, options.history_latents or config.history)
    latents = longest + 2 * k + (longest if config.keys == "camera" else config.sink) / 2
    if config.registers:
        slots, side = config.registers
        latents += 1.5 * slots * side**2 / n  # their keys are rotated for each call
    prefix = 0.0 if image else one * latents * len(networks) * branches
    work = k * n * e * (2 * net.ffn + 4 * net.width) * share + 2 * net.layers * CONTEXT * net.width * e * branches
    decoder = "tiny" if options.decoder is not None else "vae in tiles" if options.tiled else "vae"
    cost = DECODERS.get((decoder, net.channels), DECODERS[decoder, 16])
    area = spec.width * spec.height / PIXELS * e / 2
    if image:  # each call encodes a picture, in float32
        work = max(work, cost.encoding * spec.width * spec.height / PIXELS)
    parts = {
        "weights": weights,
        "prefix": prefix,
        "work": work,
        "vae": cost.weights * e / 2,
        "decoding": cost.work * area,
        "snapshots": snapshots * cost.state * area,
        "text": TEXT_PARAMETERS * e if options.text == "device" else 0.0,
    }
    forwards = (wish.steps + (0 if image else 1)) * branches
    tokens, past = k * n, (0 if image else history * n)
    seconds = forwards * (FIXED + net.flops(tokens, past) / RATE / wish.gpus)
    played = (k - 1 if image else k) * spec.spans[1] / spec.fps
    return Plan(
        dtype,
        k,
        wish.steps,
        None if image else history,
        options.offload,
        decoder,
        snapshots,
        wish.gpus,
        {name: x for name, x in parts.items() if x},
        seconds,
        played,
    )


def plans(
    spec: ModelSpec,
    config: SamplingConfig,
    networks: Sequence[Network],
    options: LoadOptions,
    wish: Wish,
    dtype: str,
    can_offload: bool,
) -> Iterator[Plan]:
    """The wanted plan, then what is given up, the cheapest first: decoder states, history, K, and at last blocks that wait on the CPU,
    which costs time at every step."""

    def made(options: LoadOptions = options, wish: Wish = wish, snapshots: int = LEAST_SNAPSHOTS) -> Plan:
        return plan(spec, config, networks, options, wish, dtype, snapshots)

    for snapshots in range(options.snapshots or MOST_SNAPSHOTS, LEAST_SNAPSHOTS - 1, -1):
        yield made(snapshots=snapshots)
    shorter: list[int] = []
    if spec.history[0] not in IMAGE_POLICIES and options.history_latents is None:
        shorter = list(range(config.reach(wish.window) - config.block, config.block - 1, -config.block))
    for latents in shorter:
        yield made(replace(options, history_latents=latents))
    if can_offload:
        for most in (None, *shorter):
            yield made(replace(options, offload=True, history_latents=most or options.history_latents))
    least = replace(options, offload=can_offload or options.offload)
    if shorter:
        least = replace(least, history_latents=shorter[-1])
    for k in range(wish.window - 1, spec.windows[0] - 1, -1):
        yield made(least, replace(wish, window=k))


def fit(
    spec: ModelSpec,
    config: SamplingConfig,
    networks: Sequence[Network],
    options: LoadOptions,
    wish: Wish,
    free: float,
    kind: str,
) -> Fit:
    """See `engine.models.fit.Plans`."""
    dtype = options.dtype if options.dtype != "auto" else "fp32" if kind == "cpu" else "bf16"
    offload = kind == "cuda" and not options.offload and wish.gpus == 1
    found = first_that_fits(plans(spec, config, networks, options, wish, dtype, offload), free)
    snapshots = options.snapshots or MOST_SNAPSHOTS
    return with_text(found, options, kind, lambda more: plan(spec, config, networks, more, wish, dtype, snapshots))


def published(entry: Entry) -> list[Network]:
    """The networks of a row that was not pulled. Raises ValueError where the row does not say them."""
    if not entry.network:
        raise ValueError(f"{entry.name}: the catalogue does not say how large its network is: pull it first")
    facts = dict(entry.network)
    count = int(facts.pop("transformers", 1))
    return [Network(**facts)] * count
