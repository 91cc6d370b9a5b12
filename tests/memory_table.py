"""What each model of the catalogue takes of a GPU, by its plans: the figures of the catalogue and the table of docs/models.md.

`python -m tests.memory_table` writes both; a test says when they are not what the plans say.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from engine.models.audio_video import fit as of_sound
from engine.models.catalogue import Entry, load_catalogue
from engine.models.fit import GB, Plan, Wish
from engine.models.load_options import LoadOptions
from engine.models.wan import fit as of_wan
from engine.models.wan.sampling_config import SamplingConfig

ROOT = Path(__file__).resolve().parents[1]
CATALOGUE, PAGE = ROOT / "assets" / "models.json", ROOT / "docs" / "models.md"
BEGIN = "| name | least | as trained | as trained, tiny decoder | blocks one by one, least |"
FIGURE = re.compile(r'("memory_gb": )[\d.]+')
TINY = Path("taehv.pth")


def pulled() -> list[Entry]:
    """Rows that are downloaded."""
    return [e for e in load_catalogue().values() if e.repo]


def plans(entry: Entry, options: LoadOptions) -> Iterator[Plan]:
    """On one GPU at the row's own size and K, the wanted plan first."""
    spec = entry.spec()
    wish = Wish(spec.window, spec.steps)
    if entry.family == "wan":
        found = of_wan.plans(spec, SamplingConfig(**entry.recipe), of_wan.published(entry), options, wish, "bf16", True)
    else:
        found = of_sound.plans(of_sound.Network(**entry.network), spec, options, wish, "bf16", True)
    return (p for p in found if p.window == spec.window)


def usual(entry: Entry) -> LoadOptions:
    """With the decoder that comes with the row."""
    return LoadOptions(decoder=TINY if any(Path(f).name.startswith("tae") for f in entry.files) else None)


def least(entry: Entry, offload: bool = False) -> float:
    """Gigabytes of the smallest plan that changes neither size nor K."""
    return min(p.total for p in plans(entry, usual(entry)) if p.offload == offload) / GB


def as_trained(entry: Entry, options: LoadOptions | None = None) -> float:
    """Gigabytes of the plan that gives nothing up."""
    return next(plans(entry, options or LoadOptions())).total / GB


def row(entry: Entry) -> str:
    """Of the table."""
    tiny = f"{as_trained(entry, replace(usual(entry), decoder=TINY)):.1f}" if entry.family == "wan" else "none"
    return f"| `{entry.name}` | {least(entry):.1f} | {as_trained(entry):.1f} | {tiny} | {least(entry, True):.1f} |"


def table() -> str:
    """In gigabytes."""
    return "\n".join((BEGIN, "| --- | --- | --- | --- | --- |", *(row(e) for e in pulled())))


def figures() -> dict[str, int]:
    """Of the catalogue: the least with all blocks on the GPU, rounded up."""
    return {e.name: math.ceil(least(e)) for e in pulled()}


def write() -> None:
    """Puts the figures and the table where they belong."""
    text = CATALOGUE.read_text("utf-8")
    for name, gb in figures().items():
        at = text.index(f'"{name}": {{')
        text = text[:at] + FIGURE.sub(rf"\g<1>{gb}", text[at:], count=1)
    CATALOGUE.write_text(text, "utf-8")
    page = PAGE.read_text("utf-8")
    at = page.index(BEGIN)
    end = page.index("\n\n", at)
    PAGE.write_text(page[:at] + table() + page[end:], "utf-8")


if __name__ == "__main__":
    write()
