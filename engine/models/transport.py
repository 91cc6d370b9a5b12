"""Messages between the engine and its ranks: a JSON header and tensors, framed on a pipe. Nothing is unpickled.

What a model's conditions and groups are made of is the model's business: see `engine.models.interface.Transport`.
"""

from __future__ import annotations

import json
from multiprocessing.connection import Connection

from engine.models.interface import Header, Tensors


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
