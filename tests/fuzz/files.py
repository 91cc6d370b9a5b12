"""One good file of every kind that the program reads, and every way to break it."""

from __future__ import annotations

import io
import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

DEEP = "[" * 100_000
HUGE = "9" * 5000
ODD: tuple[Any, ...] = (
    *(None, True, False, -1, 0, 2**63, 10**30, -(10**30), 0.5, 1e308, -1e308, "", "x", "\x00", "\x1b[31m", "\u202e"),
    *("../../etc/passwd", "/dev/zero", "x" * 20_000, [], {}, [[]], {"": {}}, ["a"] * 1000, {"a": {"b": {"c": 1}}}),
)
RAW = ("NaN", "Infinity", "-Infinity", "1e999", "1" + "0" * 400, HUGE, '"\\ud800"', DEEP, '{"a":' * 50_000, "")
"""What Python's json does not write."""
MARK = '"\\u0001raw"'


def good_documents() -> dict[str, Any]:
    """By kind."""
    event = [{"t": 1.0, "key": "D", "action": "down"}, {"t": 2.0, "prompt": "desert"}]
    index = {"_class_name": "WanPipeline", "transformer": ["diffusers", "WanTransformer3DModel"]}
    return {
        "script": {"schema_version": 1, "prompt": "snow", "seconds": 2.0, "events": event},
        "score": [{"t": 0.0, "prompt": "a", "seconds": 1.0}, {"t": 3.0, "prompt": "b"}],
        "keymap": {"W": "forward", "S": "back"},
        "world": {"name": "Lake", "prompt": "snow", "seed": 3, "model": "pocket", "begin": "lake.png"},
        "preferences": {"theme": "dark", "volume": 0.5, "prompts": ["a"], "keys": {"W": "forward"}, "draft": "x"},
        "words": {"forward": "moving on", "left": "moving left"},
        "mark": {"model": "wan2.1-t2v-1.3b", "size": [64, 32], "head_dim": 8, "scale": {"num_layers": 1}},
        "index": index,
        "rows": {"mine": {"title": "Mine", "family": "wan", "fps": 16, "spans": [1, 4], "size": [832, 480]}},
        "summary": {"frames_shown": 48, "fps": 16.0},
        "shards": {"metadata": {}, "weight_map": {"a": "a.safetensors", "b": "b.safetensors"}},
        "config": {"_class_name": "WanTransformer3DModel", "num_layers": 1, "num_attention_heads": 2},
    }


def good_log(folder: Path) -> list[Any]:
    """The lines of a short session."""
    from engine.runtime.explore import explore_virtual
    from engine.runtime.script import Script, ScriptEvent
    from engine.runtime.settings import Settings
    from tests.toy import SPEC, toy

    script = Script("a", 2.0, (ScriptEvent(0.5, "down", "forward"), ScriptEvent(1.0, "prompt", "b")))
    explore_virtual(toy(), SPEC, Settings(), script, folder, lambda *x: None, lambda *x: None, 0.3)
    return [json.loads(x) for x in (folder / "events.jsonl").read_text().splitlines()]


def good_media() -> dict[str, bytes]:
    """Pictures, films and weights, by the ends of their names."""
    import av
    import numpy as np
    import torch
    from PIL import Image
    from safetensors.torch import save

    pixels = np.random.default_rng(0).integers(0, 255, (24, 32, 3), np.uint8)
    made = {}
    for kind in ("png", "jpeg", "gif", "webp", "tiff", "bmp", "avif"):
        data = io.BytesIO()
        Image.fromarray(pixels).save(data, kind)
        made[f".{kind}"] = data.getvalue()
    for kind, codec in (("mp4", "libx264"), ("matroska", "ffv1"), ("avi", "mpeg4"), ("mpegts", "mpeg2video")):
        data = io.BytesIO()
        with av.open(data, "w", format=kind) as box:
            s: Any = box.add_stream(codec, rate=25)
            s.width, s.height, s.pix_fmt = 32, 24, "yuv420p"
            for _ in range(8):
                box.mux(s.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
            box.mux(s.encode(None))
        made[{"matroska": ".mkv", "mpegts": ".ts"}.get(kind, f".{kind}")] = data.getvalue()
    tensors = {f"blocks.{i}.attn.weight": torch.ones(4, 4) for i in range(3)}
    made[".safetensors"] = save(tensors)
    for end, zipped in ((".pt", True), (".pth", False)):
        data = io.BytesIO()
        torch.save({"generator": tensors}, data, _use_new_zipfile_serialization=zipped)
        made[end] = data.getvalue()
    return made


# -- breaking ----------------------------------------------------------------------------------------------------------


def broken_value(r: random.Random, value: Any) -> Any:
    """The same with one place changed, at any depth."""
    if isinstance(value, dict) and value and r.random() < 0.85:
        key = r.choice(list(value))
        how = r.random()
        if how < 0.1:
            return {k: v for k, v in value.items() if k != key}
        if how < 0.2:
            return {**value, r.choice(("zzz", "", "\x00", "k" * 5000, "schema_version")): r.choice(ODD)}
        return {**value, key: broken_value(r, value[key])}
    if isinstance(value, list) and value and r.random() < 0.85:
        i = r.randrange(len(value))
        return [*value[:i], broken_value(r, value[i]), *value[i + 1 :]]
    return "\x01raw" if r.random() < 0.3 else r.choice(ODD)


def broken_text(r: random.Random, document: Any) -> bytes:
    """A document as bytes, broken in its values or as a text."""
    how = r.random()
    if how < 0.65:
        text = json.dumps(broken_value(r, document)).replace(MARK, r.choice(RAW) or '""', 1)
        return text.encode("utf-8", "surrogatepass")
    whole = json.dumps(document).encode()
    return r.choice(
        (
            lambda: whole[: r.randrange(len(whole))],
            lambda: b"\xef\xbb\xbf" + whole,
            lambda: whole.decode().encode("utf-16"),
            lambda: flipped(r, whole),
            lambda: b"",
            lambda: json.dumps({f"k{i}": i for i in range(200_000)}).encode(),
            lambda: b" " * 5_000_000 + whole,
            lambda: DEEP.encode(),
            lambda: b"\xff\xfe\x00" * 9,
            lambda: whole + whole,
        )
    )()


def flipped(r: random.Random, data: bytes) -> bytes:
    """A few bytes changed."""
    out = bytearray(data)
    for _ in range(r.randrange(1, 8)):
        out[r.randrange(len(out))] = r.randrange(256)
    return bytes(out)


def broken_bytes(r: random.Random, data: bytes) -> bytes:
    """A file that is no text, broken."""
    how = r.random()
    if how < 0.5:
        return flipped(r, data)
    if how < 0.7:
        return data[: r.randrange(len(data))]
    if how < 0.8:
        at = r.randrange(len(data))
        return data[:at] + bytes(r.randrange(256) for _ in range(r.randrange(1, 200))) + data[at:]
    if how < 0.9:
        at = r.randrange(len(data))
        return data[:at] + data[min(len(data), at + r.randrange(1, 200)) :]
    return r.choice((b"", b"text", b"\x00" * 1000, b"\x80\x04\x95" + data[:50], data[::-1]))


def place(r: random.Random, file: Path, data: bytes) -> str:
    """Puts data at a path, or now and then something else that is no file; what it is, in a word."""
    how = r.random()
    special: tuple[tuple[str, Callable[[], None]], ...] = (
        ("pipe", lambda: os.mkfifo(file)),
        ("folder", file.mkdir),
        ("endless", lambda: file.symlink_to("/dev/zero")),
        ("dangling", lambda: file.symlink_to("/nowhere")),
        ("loop", lambda: file.symlink_to(file)),
        ("device", lambda: file.symlink_to("/dev/null")),
        ("missing", lambda: None),
    )
    if how < 0.08:
        name, make = r.choice(special)
        make()
        return name
    file.write_bytes(data)
    return "file"
