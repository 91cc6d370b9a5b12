"""`foreland doctor`: what works on this machine, found by trying it."""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum

import click

from app.cli.display import display_problem, try_qt
from app.cli.errors import FAILED, as_user_error
from app.cli.parameters import Whole
from app.logs import log_file
from app.storage.paths import data_folder
from engine.errors import Refused
from engine.models.gpu import finding
from engine.models.load_options import MOST_RANKS


class Need(Enum):
    """What it means when a thing does not work."""

    REQUIRED = "required"
    """The program cannot do without."""
    USEFUL = "useful"
    """Something is missing that most people want."""
    OPTIONAL = "optional"
    """Nothing has to be done."""

    @property
    def mark(self) -> str:
        """Before the line of a thing that does not work."""
        return "info" if self is Need.OPTIONAL else "no  "


@dataclass(frozen=True)
class Check:
    """One finding, and what to do where it does not work."""

    name: str
    works: bool
    finding: str
    advice: str
    need: Need


def _try(name: str, probe: Callable[[], str], advice: str, need: Need) -> Check:
    try:
        return Check(name, True, probe(), advice, need)
    except (Exception, SystemExit) as e:  # what a library does when it is broken is its own
        text = str(e).strip().splitlines()
        return Check(name, False, text[0] if text else type(e).__name__, advice, need)


def _torch() -> str:
    import torch

    return f"torch {torch.__version__}, {torch.get_num_threads()} threads"


def _gpu() -> Check:
    found = finding()
    advice = found.advice or "the pocket world needs none; large models need an NVIDIA GPU"
    # a GPU that is there and not used is something that most people want mended
    return Check("gpu", found.works, found.text, advice, Need.USEFUL if found.advice else Need.OPTIONAL)


def _sound() -> Check:
    silent = "the world plays in silence"
    try:
        import sounddevice
    except Exception:  # OSError without PortAudio
        return Check("sound", False, "PortAudio is missing", f"install libportaudio2; without it {silent}", Need.USEFUL)
    try:
        device = sounddevice.query_devices(kind="output")
    except Exception:
        return Check("sound", False, "there is no output device", f"attach one; without it {silent}", Need.USEFUL)
    return Check("sound", True, str(device["name"]), "", Need.USEFUL)


def _encoder() -> str:
    import av

    av.Codec("libx264", "w")
    return f"H.264 by PyAV {av.__version__}"


def _keys() -> Check:
    name, own = "global keys", "the window has its own keys"
    if importlib.util.find_spec("pynput") is None:
        return Check(name, False, "pynput is missing", f"install the extra `keys`; {own}", Need.OPTIONAL)
    try:
        import pynput.keyboard  # noqa: F401
    except Exception:  # pynput raises what its backends raise
        return Check(name, False, "there is no display that gives them", f"X11 does; {own}", Need.OPTIONAL)
    return Check(name, True, "pynput works here (off by default)", "", Need.OPTIONAL)


def _weights() -> str:
    from engine.models.pocket2.family import WEIGHTS
    from engine.models.registry import pocket_folder

    files = [folder / "pocket.safetensors" for folder in (WEIGHTS, pocket_folder())]
    return ", ".join(f"{f} ({f.stat().st_size / 1e6:.1f} MB)" for f in files)


def _data() -> str:
    folder = data_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        return str(folder)


def _words() -> str:
    from engine.models.pocket.prompt_reader import Words

    return f"{len(Words().tokens('snowy mountains at noon'))} tokens read from a test prompt"


def checks() -> Iterator[Check]:
    """All findings, one after another."""
    version = ".".join(map(str, sys.version_info[:3]))
    yield Check("python", sys.version_info >= (3, 11), version, "install Python 3.11 or newer", Need.REQUIRED)
    yield _try("torch", _torch, "run python packaging/dev.py run once: it installs it", Need.REQUIRED)
    yield _gpu()
    if problem := display_problem():
        yield Check("display", False, problem, "`foreland explore` needs none", Need.USEFUL)
    else:
        libs = "install libegl1 libgl1 libxkbcommon-x11-0 libxcb-cursor0 libdbus-1-3 (Debian names)"
        yield _try("display", try_qt, libs, Need.USEFUL)
    yield _try("encoder", _encoder, "install the package av again", Need.REQUIRED)
    yield _sound()
    yield _keys()
    yield _try("prompts", _words, "install the packages wordllama and tokenizers again", Need.REQUIRED)
    yield _try("pocket world", _weights, "restore the folders assets/pocket and assets/pocket2", Need.REQUIRED)
    kept = "make it writable, or set FORELAND_HOME to another one: nothing is kept otherwise"
    yield _try("data folder", _data, kept, Need.USEFUL)
    yield Check("log", True, str(log_file()), "", Need.OPTIONAL)


@click.command()
@click.option("--cluster", metavar="ray://HOST", help="Measure the hosts of this Ray cluster instead.")
@click.option("--gpus", type=Whole(2, MOST_RANKS), default=2, metavar="N", help="With --cluster: how many to take.")
def doctor(cluster: str | None, gpus: int) -> int:
    """Say what works on this machine and what to install.

    Status 1 when something is missing that the program cannot do without. With --cluster: how fast its hosts reach each other, and
    whether one world pays over them.
    """
    if cluster is not None:
        from engine.measure.hosts import findings, measure

        with as_user_error(Refused, RuntimeError):
            for line in findings(measure(cluster, gpus)):
                click.echo(line)
        return 0
    failed = False
    for check in checks():
        click.echo(f"{'ok  ' if check.works else check.need.mark} {check.name}: {check.finding}")
        if not check.works:
            click.echo(f"      {check.advice}")
            failed |= check.need is Need.REQUIRED
    return FAILED if failed else 0
