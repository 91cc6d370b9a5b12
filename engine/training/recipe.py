"""Trains the pocket world from nothing: one command, reproducible from its seeds up to the order of floating-point sums.

    python -m engine.training.recipe runs assets/pocket [--scale 1.0]

Every stage leaves a file in the folder; a stage whose file is there is not run again, so that a recipe that was stopped goes on. A GPU
is used where there is one and not needed. scale: of the number of clips and of the minutes; 0.01 runs the whole road in some minutes and
gives nothing to look at.
"""

from __future__ import annotations

import argparse
import logging
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Stage:
    """module, arguments: what is run; makes: the file that says it was."""

    module: str
    arguments: tuple[str, ...]
    makes: Path


def stages(folder: Path, out: Path, scale: float) -> list[Stage]:
    """In order. The codec is fitted by the first stage that needs it."""
    codec = folder / "codec.pt"

    def number(x: float) -> str:
        return str(max(2, round(x * scale)))

    def minutes(x: float) -> str:
        return f"{max(0.05, x * scale):g}"

    return [
        Stage(
            "data",
            (
                f"{folder}/short.npz",
                "--codec",
                f"{codec}",
                "--seed",
                "1000000",
                "--clips",
                number(3600),
                "--groups",
                "14",
            ),
            folder / "short.npz",
        ),
        Stage(
            "data",
            (
                f"{folder}/long.npz",
                "--codec",
                f"{codec}",
                "--seed",
                "2000000",
                "--clips",
                number(700),
                "--groups",
                "26",
            ),
            folder / "long.npz",
        ),
        Stage("depth", (f"{folder}/depth.pt", "--minutes", minutes(20), "--worlds", number(1100)), folder / "depth.pt"),
        Stage(
            "refine",
            (f"{codec}", f"{folder}/refiner.pt", "--minutes", minutes(12), "--clips", number(800)),
            folder / "refiner.pt",
        ),
        Stage("train", (f"{folder}", f"{folder}/net_plain.pt", "--minutes", minutes(180)), folder / "net_plain.pt"),
        Stage(
            "polish",
            (f"{folder}", f"{folder}/net.pt", "--resume", f"{folder}/net_plain.pt", "--minutes", minutes(80)),
            folder / "net.pt",
        ),
        Stage("pack", (f"{folder}", f"{out}"), out / "card.json"),
    ]


def run(folder: Path, out: Path, scale: float) -> None:
    """Raises subprocess.CalledProcessError where a stage fails; what was made is kept."""
    folder.mkdir(parents=True, exist_ok=True)
    for stage in stages(folder, out, scale):
        if stage.makes.exists() and stage.module != "pack":
            log.info("%s is there", stage.makes)
            continue
        command: Sequence[str] = (sys.executable, "-m", f"engine.pocket.{stage.module}", *stage.arguments)
        log.info("%s", " ".join(command[2:]))
        subprocess.run(command, check=True)


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder", type=Path)
    p.add_argument("out", type=Path)
    p.add_argument("--scale", type=float, default=1.0)
    a = p.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    run(a.folder, a.out, a.scale)


if __name__ == "__main__":
    main()
