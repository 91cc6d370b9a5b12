"""Makes the film in README: `python packaging/film.py [FILE]`.

A person walks, turns, and writes a prompt, in virtual time, in the world and with the weights that ship; the overlay is
the window's own, drawn over the frames that the program shows.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtGui import QGuiApplication

from app.window.overlay import Form, drawing
from engine.loading import loader
from engine.models.catalogue import find
from engine.playback.player import Frame, Samples
from engine.runtime.explore import explore_virtual
from engine.runtime.script import Script, ScriptEvent
from engine.runtime.settings import Settings
from engine.runtime.view import View

FILE = Path("docs/pictures/film.webp")
SCALE, RATE, QUALITY = 2, 8, 38
"""Size over the world's, frames a second, and of the WebP."""
CALL_SECONDS = 0.3
"""What every call is said to take: a little longer than on two cores that do nothing else."""
SEED = 3
SCRIPT = Script(
    "meadow at noon",
    11.0,
    (
        ScriptEvent(0.5, "down", "forward"),
        ScriptEvent(2.5, "down", "turn_right"),
        ScriptEvent(3.2, "up", "turn_right"),
        ScriptEvent(4.4, "prompt", "meadow at dusk, rain"),
        ScriptEvent(7.2, "prompt", "snowy mountains at night, snowfall"),
        ScriptEvent(9.0, "up", "forward"),
    ),
)


def frames() -> list[Image.Image]:
    """Of the film, with the overlay."""
    spec = find("pocket2").spec()
    out: list[Image.Image] = []
    looks: list[tuple[Callable[[float], View], Callable[[], float]]] = []
    every = round(spec.fps / RATE)
    shown = 0

    def show(frame: Frame, sound: Samples | None) -> None:
        nonlocal shown
        if shown % every == 0:
            view, clock = looks[0]
            pixels = np.asarray(frame).repeat(SCALE, 0).repeat(SCALE, 1).copy()
            drawing(view(clock()), shown / spec.fps, clock(), Form(full=False, legend=False))(pixels)
            out.append(Image.fromarray(pixels))
        shown += 1

    settings = Settings(seed=SEED, answer=False, preempt=False)  # whole chunks, as README explains the method
    explore_virtual(
        loader(spec.name),
        spec,
        settings,
        SCRIPT,
        None,
        show,
        lambda stage, share: None,
        CALL_SECONDS,
        lambda view, clock: looks.append((view, clock)),
    )
    return out


def main(file: Path) -> None:
    """Writes the film."""
    application = QGuiApplication([])
    first, *rest = frames()
    file.parent.mkdir(parents=True, exist_ok=True)
    first.save(file, save_all=True, append_images=rest, duration=round(1000 / RATE), loop=0, quality=QUALITY, method=4)
    application.quit()
    print(f"{file}: {file.stat().st_size / 1e6:.1f} MB, {1 + len(rest)} frames")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FILE)
