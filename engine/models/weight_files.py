"""Files of weights, to tensors by name.

Read as data only: nothing in a file is run. Dictionaries of training code and the prefixes of wrappers are undone, quantised weights
are multiplied out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.files import FileError, read_text
from engine.models.quantised import dequantised, read_gguf

WRAPPERS = ("generator_ema", "generator", "generator_lora", "model_state_dict", "state_dict", "model", "module")
"""Dictionaries that hold the weights one level down, in the order in which they are looked for."""
ANYWHERE = re.compile(r"_fsdp_wrapped_module\.|_orig_mod\.|_checkpoint_wrapped_module\.")
FIRST = re.compile(r"^(?:model\.diffusion_model\.|module\.|model\.)+")
"""Prefixes that wrappers leave in keys: wherever they stand, and at the beginning."""
INDEX = ".safetensors.index.json"
"""Ending of the file that names the shards of weights."""
DEEPEST = 8
"""Dictionaries inside one another that are looked into."""
MOST_SETTINGS = 64_000_000
"""Bytes of a JSON file beside weights; indices of shards of the largest published models have some 10 MB."""
NAMED = 4
"""Keys that a message names before it counts the rest."""


class LayoutError(RuntimeError):
    """A checkpoint that cannot be read as what it should be. The message names the file, the keys and the likely cause."""


def read_json(file: Path) -> dict[str, Any]:
    """Raises LayoutError."""
    if not file.exists():
        raise LayoutError(
            f"{file} is missing: the download is not complete; `foreland models verify` says what else is"
        )
    try:
        data = json.loads(read_text(file, MOST_SETTINGS))
    except FileError as e:
        raise LayoutError(str(e)) from e
    except (ValueError, RecursionError) as e:
        raise LayoutError(f"{file} cannot be read: {e}") from e
    if not isinstance(data, dict):
        raise LayoutError(f"{file} holds no settings")
    return data


def read_file(file: Path, inside: str = "") -> dict[str, Tensor]:
    """The tensors of one .safetensors, .gguf, .pt or .pth, unwrapped, without training prefixes, and none quantised.

    inside: of a dictionary of training code, the name of the weights that are meant. Raises LayoutError.
    """
    if not file.is_file():
        raise LayoutError(f"{file} is missing: pull the model again, or give the folder that holds it")
    if file.suffix == ".gguf":
        return stripped(_plain(file, lambda: read_gguf(file)))
    if file.suffix == ".safetensors":
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        try:
            state = stripped(load_file(str(file)))
        except (SafetensorError, OSError) as e:
            raise LayoutError(
                f"{file} cannot be read ({e}): it may be cut short; `foreland models verify` checks its size"
            ) from e
        return _plain(file, lambda: dequantised(state))
    try:
        data = torch.load(file, map_location="cpu", weights_only=True, mmap=True)
    except Exception as e:  # torch raises many kinds, UnpicklingError among them, for files that hold more than tensors
        reason = str(e).splitlines()[0]
        raise LayoutError(
            f"{file} cannot be read as weights alone ({reason}); files that hold code are not opened"
        ) from e
    state = stripped(unwrapped(data, file, inside))
    return _plain(file, lambda: dequantised(state))


def unwrapped(data: Any, file: Path, inside: str = "") -> dict[str, Tensor]:
    """The dictionary of tensors inside what training code saves. inside: the name to look for first. Raises LayoutError."""
    order = (inside, *WRAPPERS) if inside else WRAPPERS
    seen: list[str] = []
    while isinstance(data, dict) and len(seen) < DEEPEST:
        found = next((w for w in order if isinstance(data.get(w), dict)), None)
        if found is None:
            break
        seen.append(found)
        data = data[found]
    if not isinstance(data, dict) or not any(isinstance(v, Tensor) for v in data.values()):
        there = ", ".join(map(str, list(data)[:NAMED])) if isinstance(data, dict) else type(data).__name__
        raise LayoutError(
            f"{file} holds no weights that are known: looked into {seen or 'the top level'}, found {there}"
        )
    return {str(k): v for k, v in data.items() if isinstance(v, Tensor)}


def stripped(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Without the prefixes that wrappers leave in keys."""
    return {FIRST.sub("", ANYWHERE.sub("", key)): value for key, value in state.items()}


def read_folder(folder: Path, name: str = "diffusion_pytorch_model") -> dict[str, Tensor]:
    """The weights of a diffusers or transformers folder, of one file or of shards with an index. Raises LayoutError."""
    index = folder / f"{name}{INDEX}"
    if index.exists():
        files = sorted(_shards(index))
        missing = [f for f in files if not (folder / f).exists()]
        if missing:
            raise LayoutError(f"{folder} lacks {listed(missing)} of its {len(files)} shards: pull the model again")
        state: dict[str, Tensor] = {}
        for f in files:
            state |= read_file(folder / f)
        return state
    for f in (f"{name}.safetensors", f"{name}.bin"):
        if (folder / f).exists():
            return read_file(folder / f)
    raise LayoutError(f"{folder} has neither {name}.safetensors nor an index of shards: pull the model again")


def _shards(index: Path) -> set[str]:
    """File names in an index of shards."""
    named = read_json(index).get("weight_map")
    if not isinstance(named, dict) or not all(isinstance(f, str) and f == Path(f).name for f in named.values()):
        raise LayoutError(f"{index} names no files of weights: pull the model again")
    return set(named.values())


def _plain(file: Path, read: Callable[[], dict[str, Tensor]]) -> dict[str, Tensor]:
    """What `engine.models.quantised` reads, or a LayoutError."""
    try:
        return read()
    except ValueError as e:
        raise LayoutError(f"{file}: {e}") from e


def all_finite(tensor: Tensor) -> bool:
    """Whether no number is NaN or infinite. Numbers of the meta device count as finite."""
    if tensor.is_meta or not tensor.is_floating_point() or not tensor.numel():
        return True
    if tensor.element_size() == 1:  # float8 has no comparisons; what has no room for infinity has one NaN
        tensor = tensor.to(torch.float16)
    # a NaN is both the least and the largest
    return all(torch.isfinite(x).item() for x in torch.aminmax(tensor))


def listed(names: Iterable[str]) -> str:
    """The first NAMED names, and how many more there are."""
    names = list(names)
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
