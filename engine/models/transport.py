"""Messages between the engine and its ranks: a JSON header and tensors, framed on a pipe. Nothing is unpickled.

What a model's conditions and groups are made of is the model's business: a `Wire` takes them apart and puts them together.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any, Protocol

from torch import Tensor

from engine.models.interface import Group

Header = dict[str, Any]
Tensors = dict[str, Tensor]


def send(pipe: Connection, header: Header, tensors: Tensors | None = None) -> None:
    """Raises OSError when the other side is gone."""
    from safetensors.torch import save

    data = save({k: v.detach().cpu().contiguous() for k, v in (tensors or {}).items()}, {"header": json.dumps(header)})
    pipe.send_bytes(data)


def receive(pipe: Connection) -> tuple[Header, Tensors]:
    """Blocks. Raises EOFError when the other side is gone."""
    from safetensors.torch import load

    data = pipe.recv_bytes()
    size = int.from_bytes(data[:8], "little")
    about = json.loads(data[8 : 8 + size])
    return json.loads(about["__metadata__"]["header"]), load(data)


class Wire(Protocol):
    """How one family's conditions and groups cross a pipe."""

    def prepared_out(self, prepared: Any, known: set[str]) -> tuple[Header, Tensors]:
        """known: names of large things that the ranks have; what is sent is added."""

    def prepared_in(self, header: Header, tensors: Tensors) -> Any:
        """The inverse, on a rank; it remembers what `known` says."""

    def groups_out(self, groups: Sequence[Group], known: set[str] | None = None) -> tuple[Header, Tensors]:
        """All groups of one call. known: as above, where the other side may not have what they refer to."""

    def groups_in(self, header: Header, tensors: Tensors) -> list[Group]:
        """The inverse, on either side."""
