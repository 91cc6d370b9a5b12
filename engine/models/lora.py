"""LoRA files: what is in them, and weights with them merged in.

Read are peft's names (with `adapter_config.json` or metadata beside them), kohya's, diffusers' old ones, DoRA, and the full corrections
that some distilled adapters carry (`.diff`, `.diff_b`, `.diff_m`, `.set_weight`). Names are translated by the model's family. Nothing is
passed over: a key that has no use, or that fits no weight, is an error that names it.
"""

from __future__ import annotations

import json
import logging
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.models.weight_files import LayoutError, all_finite, listed, read_file, read_json

log = logging.getLogger(__name__)

Names = Callable[[str], list[str]]
"""What a key of a LoRA file may be called in the model, besides what it is called in the file."""

PREFIXES = (
    "base_model.model.",
    "transformer.",
    "diffusion_model.",
    "model.",
    "dit.",
    "unet.",
    "lora_unet_",
    "lora_transformer_",
)
"""That trainers put before the names of modules, one or several."""
SCALED_BY_NOTHING = "fastvideo-lora-v2"
"""A format whose low-rank part is added as it is, whatever else its metadata say."""


class Role(Enum):
    """What a tensor of a LoRA file is of its module."""

    DOWN = r"(?:\.lora_A(?:\.[\w-]+)?|\.lora_down|[._]lora\.down|\.lora_linear_layer\.down)\.weight"
    UP = r"(?:\.lora_B(?:\.[\w-]+)?|\.lora_up|[._]lora\.up|\.lora_linear_layer\.up)\.weight"
    UP_BIAS = r"\.lora_B(?:\.[\w-]+)?\.bias"
    ALPHA = r"\.(?:lora_)?alpha"
    MAGNITUDE = r"\.(?:dora_scale|lora_magnitude_vector(?:\.[\w-]+)?)"
    DIFFERENCE = r"\.diff"
    BIAS_DIFFERENCE = r"\.diff_b"
    MODULATION_DIFFERENCE = r"\.diff_m"
    VALUE = r"\.set_weight"


ENDINGS = {role: re.compile(role.value + "$") for role in Role}


@dataclass
class Module:
    """What a file has for one module: its tensors, and their keys."""

    tensors: dict[Role, Tensor] = field(default_factory=dict)
    keys: dict[Role, str] = field(default_factory=dict)


@dataclass
class Lora:
    """A LoRA file."""

    source: Path
    modules: dict[str, Module]
    """By the names of the file."""
    settings: dict[str, Any]
    """What peft keeps beside weights: `lora_alpha`, `alpha_pattern`, `use_rslora`."""
    used: set[str] = field(default_factory=set)
    """Modules that were merged."""

    def merged(self, weights: Mapping[str, Tensor], names: Names = lambda key: []) -> Iterator[tuple[str, Tensor]]:
        """The weights that change, as they are afterwards, each on its device and in its dtype. Call `check_used` at the end.

        weights: those of a model, or of one of several that the file is for. Raises LayoutError.
        """
        find = Finder(weights, names)
        for name, module in self.modules.items():
            changed = dict(self._changes(name, module, find))
            if changed:
                self.used.add(name)
            for key, (delta, replaces) in changed.items():
                before = weights[key]
                after = delta if replaces else before.float() + delta.to(before.device)
                if (magnitude := module.tensors.get(Role.MAGNITUDE)) is not None and after.ndim > 1:
                    after = self._rescaled(name, after, magnitude.to(after.device).float())
                yield key, after.to(before.device, before.dtype)

    def check_used(self) -> None:
        """Raises LayoutError that names what fitted no weight."""
        left = [k for name, module in self.modules.items() if name not in self.used for k in module.keys.values()]
        if left:
            hint = ""
            if any("to_gate_compress" in k for k in left):
                hint = "; it is for sparse attention (VSA), which is not run here: use the dense variant"
            raise LayoutError(f"{self.source}: {listed(left)} fits no weight of the model it is laid on{hint}")
        log.info("%s is merged into %d weights", self.source.name, len(self.used))

    def _changes(self, name: str, module: Module, find: Finder) -> Iterator[tuple[str, tuple[Tensor, bool]]]:
        """Key of a weight to what is added to it, in float32, or what it becomes."""
        have = module.tensors
        weight = find.weight(name)
        if (down := have.get(Role.DOWN)) is not None:
            if weight is not None:
                delta = self._fitting(name, self._product(name, down, have[Role.UP]), weight, find)
                if (difference := have.get(Role.DIFFERENCE)) is not None:
                    delta = delta + self._fitting(name, difference.float(), weight, find)
                yield weight, (delta, False)
        elif (difference := have.get(Role.DIFFERENCE)) is not None and weight is not None:
            yield weight, (self._fitting(name, difference.float(), weight, find), False)
        if (value := have.get(Role.VALUE)) is not None and weight is not None:
            yield weight, (self._fitting(name, value.float(), weight, find), True)
        if (difference := have.get(Role.MODULATION_DIFFERENCE)) is not None:
            table = find.weight(f"{name}.modulation")
            if table is not None:
                yield table, (self._fitting(name, difference.float(), table, find), False)
        shift = have.get(Role.BIAS_DIFFERENCE)
        if (up_bias := have.get(Role.UP_BIAS)) is not None:
            shift = self.scale(name, have[Role.DOWN].shape[0]) * up_bias.float()
        if shift is None:
            return
        if (bias := find.bias(name)) is not None:
            yield bias, (self._fitting(name, shift.float(), bias, find), False)
        elif weight is not None:
            raise LayoutError(
                f"{self.source}: {name} has a correction of a bias, which the model's {weight} has none of"
            )

    def _product(self, name: str, down: Tensor, up: Tensor) -> Tensor:
        """scale * up @ down, flat behind the first dimension."""
        rank = down.shape[0] if down.ndim > 1 else 0
        if not rank or up.ndim < 2 or up.shape[1] != rank:
            raise LayoutError(
                f"{self.source}: {name} has parts of shapes {tuple(down.shape)} and {tuple(up.shape)}, which do not go together"
            )
        return self.scale(name, rank) * (up.float().flatten(1) @ down.float().flatten(1))

    def _fitting(self, name: str, delta: Tensor, key: str, find: Finder) -> Tensor:
        shape = find.weights[key].shape
        if delta.numel() != shape.numel() or (delta.ndim and shape and delta.shape[0] != shape[0]):
            raise LayoutError(
                f"{self.source}: {name} is for a weight of another size than {key} ({tuple(shape)}): it was made for another model"
            )
        return delta.reshape(shape)

    def _rescaled(self, name: str, weight: Tensor, magnitude: Tensor) -> Tensor:
        """DoRA: the length of each row, or, where the magnitudes lie in one row, of each column, is the file's."""
        by_column = magnitude.ndim > 1 and magnitude.shape[0] == 1 and magnitude.shape[-1] == weight.shape[1]
        over = tuple(i for i in range(weight.ndim) if i != (1 if by_column else 0))
        length = torch.linalg.vector_norm(weight, dim=over, keepdim=True)
        if magnitude.numel() != length.numel():
            raise LayoutError(f"{self.source}: the magnitudes of {name} do not fit its weight {tuple(weight.shape)}")
        return weight * magnitude.reshape(length.shape) / length

    def scale(self, name: str, rank: int) -> float:
        """What the low-rank part is multiplied by: alpha / rank, where the file or what lies beside it says alpha."""
        alpha: float | None = None
        if (tensor := self.modules[name].tensors.get(Role.ALPHA)) is not None:
            if tensor.numel() != 1:
                raise LayoutError(f"{self.source}: the alpha of {name} has {tensor.numel()} numbers instead of one")
            alpha = float(tensor)
        elif self.settings.get("lora_alpha") is not None:
            patterns = self.settings.get("alpha_pattern") or {}
            fits = (a for p, a in patterns.items() if name == p or re.search(rf"(?:^|\.)(?:{p})$", name))
            alpha = float(next(fits, self.settings["lora_alpha"]))
        if alpha is None:
            return 1.0
        return alpha / (math.sqrt(rank) if self.settings.get("use_rslora") else rank)


class Finder:
    """Finds the weight that a module of a file means."""

    def __init__(self, weights: Mapping[str, Tensor], names: Names) -> None:
        self.weights, self._names = weights, names
        self._flat = {k.replace(".", "_"): k for k in weights}

    def weight(self, module: str) -> str | None:
        return self._find(f"{module}.weight") or self._find(module)

    def bias(self, module: str) -> str | None:
        return self._find(f"{module}.bias")

    def _find(self, key: str) -> str | None:
        for name in _shorter(key.replace(".processor.", ".")):
            for said in (name, name.replace(".to_out.weight", ".to_out.0.weight"), *self._names(name)):
                if said in self.weights:
                    return said
                if (dotted := self._flat.get(said.replace(".", "_"))) is not None:
                    return dotted
        return None


def _shorter(key: str) -> Iterator[str]:
    """A key, and what is left of it without one prefix after another."""
    yield key
    for _ in PREFIXES:
        prefix = next((p for p in PREFIXES if key.startswith(p)), None)
        if prefix is None:
            return
        key = key.removeprefix(prefix)
        yield key


def read_lora(file: Path, convert: Callable[[dict[str, Tensor]], dict[str, Tensor]] = lambda state: state) -> Lora:
    """A LoRA file, or a folder of peft's with `adapter_model.safetensors`.

    convert: by which a family turns layouts that renaming cannot reach (fused projections) into diffusers' names. Raises LayoutError.
    """
    files = weights_in(file)
    if len(files) > 1:
        raise LayoutError(f"{file} holds a pair of LoRA files, which is for a model with two transformers")
    (file,) = files
    state = read_file(file)
    if broken := [k for k, v in state.items() if not all_finite(v)]:
        raise LayoutError(f"{file}: {listed(broken)} holds numbers that are not finite: the file is damaged")
    try:
        state = convert(state)
    except (ValueError, KeyError, AttributeError) as e:
        raise LayoutError(f"{file} is not a LoRA of this model: {str(e).splitlines()[0]}") from e
    return parsed(state, file, settings_beside(file))


def weights_in(file: Path) -> list[Path]:
    """The files with the weights of a LoRA: itself, what peft puts into a folder, or, for a model with two transformers, the pair in a
    folder, that of the high noise levels first."""
    if not file.is_dir():
        return [file]
    names = ("adapter_model.safetensors", "adapter_model.bin")
    there = [file / n for n in names if (file / n).exists()]
    if there:
        return there[:1]
    halves = [sorted(f for f in file.glob("*.safetensors") if half in f.name.lower()) for half in ("high", "low")]
    if all(len(h) == 1 for h in halves):
        return [h[0] for h in halves]
    return [file / names[0]]


def parsed(state: Mapping[str, Tensor], source: Path, settings: dict[str, Any] | None = None) -> Lora:
    """The tensors of a file by module. Raises LayoutError for keys of no known form, and for one half of a pair."""
    modules: dict[str, Module] = {}
    unknown = []
    for key, tensor in state.items():
        role = next((r for r, ending in ENDINGS.items() if ending.search(key)), None)
        if role is None:
            unknown.append(key)
            continue
        module = modules.setdefault(ENDINGS[role].sub("", key), Module())
        module.tensors[role], module.keys[role] = tensor, key
    if unknown:
        raise LayoutError(
            f"{source}: {listed(unknown)} is of no known form: nothing of the file is merged (LoRA, DoRA, .diff, .diff_b, .set_weight "
            "are read; LoKr, LoHa and others are not)"
        )
    if not modules:
        raise LayoutError(f"{source} does not hold a LoRA")
    for module in modules.values():
        have = module.tensors
        if (Role.DOWN in have) != (Role.UP in have) or (Role.UP_BIAS in have and Role.DOWN not in have):
            raise LayoutError(f"{source}: {listed(module.keys.values())} lacks its other half")
        if Role.MAGNITUDE in have and Role.DOWN not in have and Role.DIFFERENCE not in have:
            raise LayoutError(f"{source}: {listed(module.keys.values())} is a magnitude (DoRA) without a direction")
    return Lora(source, modules, settings or {})


def settings_beside(file: Path) -> dict[str, Any]:
    """peft's settings: of adapter_config.json beside the file, or of the file's own metadata."""
    metadata = metadata_of(file)
    if metadata.get("format") == SCALED_BY_NOTHING:
        return {}
    beside = file.parent / "adapter_config.json"
    if beside.exists():
        return read_json(beside)
    if "lora_adapter_metadata" in metadata:
        # diffusers: one object whose keys have the name of the component before them
        try:
            said = json.loads(metadata["lora_adapter_metadata"])
        except ValueError:
            said = {}
        return {k.rpartition(".")[2]: v for k, v in said.items()} if isinstance(said, dict) else {}
    alpha = metadata.get("lora_alpha", metadata.get("alpha"))
    try:
        return {} if alpha is None else {"lora_alpha": float(alpha)}
    except ValueError:
        return {}


def metadata_of(file: Path) -> dict[str, str]:
    """Of a safetensors file; none of any other."""
    if file.suffix != ".safetensors":
        return {}
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(file), framework="pt") as opened:
            return dict(opened.metadata() or {})
    except (SafetensorError, OSError):
        return {}
